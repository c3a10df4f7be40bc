/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "spaces/spaces.h"
#include "unit.h"

#define COMMON                                                                                     \
        "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"            \
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define NUMBER(name, at, size) "\tfield:u64 " name ";\toffset:" at ";\tsize:" size ";\tsigned:0;\n"
#define TEXT(name, at) "\tfield:__data_loc char[] " name ";\toffset:" at ";\tsize:4;\tsigned:1;\n"

static const char maps[] = "name: m\nID: 20\n" COMMON NUMBER("__probe_ip", "8", "8")
        NUMBER("at_0", "16", "8") NUMBER("at_1", "24", "8") NUMBER("at_2", "32", "8")
                NUMBER("d_tgid", "40", "4") NUMBER("x_start", "48", "8") NUMBER("x_end", "56", "8")
                        NUMBER("u_pgoff", "64", "8") NUMBER("at_3", "72", "8")
                                NUMBER("dev_dev", "80", "4") NUMBER("u_ino", "88", "8")
                                        TEXT("p0_file", "96") TEXT("p1_file", "100"),
                  forks[] = "name: f\nID: 21\n" COMMON NUMBER("child_pid", "8", "4"),
                  execs[] = "name: e\nID: 22\n" COMMON NUMBER("pid", "8", "4");

typedef struct Map {
        uint64_t common, ip, at_0, mm, owner;
        uint32_t tgid, gap;
        uint64_t start, end, pgoff, file;
        uint32_t dev, gap_2;
        uint64_t ino;
        uint32_t p0, p1;
        char name[16];
} Map;

static Formats formats;
static uint64_t now_ns;

static Spaces *spaces_with(const char *text) {
        Spaces *s;

        now_ns = 100;
        ck_assert_int_eq(spaces_new(&s, &formats), 0);
        ck_assert_int_eq(spaces_load(s, text), 0);
        ck_assert_int_eq(spaces_add_event(s, "ftraced_0123456789abcdef_m0", maps, false), 0);
        ck_assert_int_eq(spaces_add_event(s, "sched_process_fork", forks, false), 0);
        ck_assert_int_eq(spaces_add_event(s, "sched_process_exec", execs, true), 0);
        return s;
}

static int note(Spaces *s, uint16_t id, int32_t pid, const void *payload, size_t n) {
        return spaces_note(s, &(Event){ .kind = EVENT_OTHER,
                                        .id = id,
                                        .pid = pid,
                                        .timestamp_ns = now_ns += 10,
                                        .payload = payload,
                                        .n_bytes = (uint32_t) n });
}

/* Two pages at @start, from the file's second page on. */
static void maps_file(Spaces *s, int32_t tgid, uint64_t mm, uint64_t start, const char *name) {
        Map m = { .at_0 = 0xffff888000000001,
                  .mm = 0xffff888000000000 + mm,
                  .owner = 0xffff888000000002,
                  .tgid = (uint32_t) tgid,
                  .start = start,
                  .end = start + 0x2000,
                  .pgoff = 1,
                  .file = 0xffff888000000003,
                  .dev = 254 << 20 | 1,
                  .ino = 1000 + (unsigned char) name[0],
                  .p0 = (uint32_t) (strlen(name) + 1) << 16 | offsetof(Map, name),
                  .p1 = 2 << 16 | (offsetof(Map, name) + 14) };

        strcpy(m.name, name);
        m.name[14] = '/';
        ck_assert_int_eq(note(s, 20, tgid, &m, sizeof(m)), 1);
}

static void forks_child(Spaces *s, int32_t pid, uint32_t child) {
        uint32_t record[3] = { 0, 0, child };

        ck_assert_int_eq(note(s, 21, pid, record, sizeof(record)), 1);
}

static void execs_program(Spaces *s, int32_t pid) {
        uint32_t record[3] = { 0, 0, (uint32_t) pid };

        ck_assert_int_eq(note(s, 22, pid, record, sizeof(record)), SPACES_ASKED);
}

/* "NAME+OFFSET", "none" or "unknown". */
static void is_at(Spaces *s, int32_t tgid, uint64_t address, const char *expected) {
        SpacePlace p;
        char text[64];

        spaces_find(s, tgid, address, now_ns, &p);
        (void) snprintf(text, sizeof(text), "%s+%llx", p.file ? p.file->name : "",
                        (unsigned long long) p.at);
        ck_assert_str_eq(p.file ? text : p.is_known ? "none" : "unknown", expected);
}

static const char look[] = "look 40 50\nprocess 5\n"
                           "map 1000-2000 0 8:1 7 abcd /usr/bin/a\n"
                           "map 7000-9000 1000 8:1 8 - /usr/lib/x y.so (deleted)\n"
                           "map f000-f800 0 0:0 0 - [vdso]\n"
                           "look 290 300\nprocess 6\n"
                           "map 1000-2000 0 8:1 7 - /usr/bin/a\n";

TEST(a_look_tells_from_its_time_on) {
        _cleanup_(spaces_freep) Spaces *s = spaces_with(look);
        SpacePlace p;

        is_at(s, 5, 0x1000, "a+0");
        is_at(s, 5, 0x1fff, "a+fff");
        is_at(s, 5, 0x2000, "none");
        is_at(s, 5, 0x7004, "x y.so+1004");
        is_at(s, 5, 0xf004, "vdso+4");
        is_at(s, 6, 0x1000, "unknown");
        is_at(s, 7, 0x1000, "unknown");
        now_ns = 400;
        spaces_find(s, 6, 0x1000, now_ns, &p);
        ck_assert_ptr_null(p.file->build_id);
        spaces_find(s, 5, 0x1000, now_ns, &p);
        ck_assert_str_eq(p.file->build_id, "abcd");
        ck_assert_str_eq(p.file->path, "/usr/bin/a");
}

TEST(what_is_no_line_is_passed_over) {
        _cleanup_(spaces_freep) Spaces *s =
                spaces_with("map 1000-2000 0 8:1 7 - /of/nobody\n"
                            "look 50\nlook 60 50\nlook 40 50 \nprocess 5\n"
                            "map 1000-2000 0 8:1 7 - /of/no/look\n"
                            "look 40 50\nprocess 5\n"
                            "map 2000-1000 0 8:1 7 - /turned\n"
                            "map 3000-4000 ffffffffffffffff 8:1 7 - /beyond\n"
                            "map 10000000000000000-20000000000000000 0 8:1 7 - /large\n"
                            "map 3000-4000 0 8:1 7 XY /no/build/id\n"
                            "map 3000-4000 0 8:1 7 - \n"
                            "map 5000-6000 0 8:1 7 - /b\n"
                            "map 6000-7000 0 8:1 9 - /cut");

        for (uint64_t at = 0x1000; at < 0x5000; at += 0x1000)
                is_at(s, 5, at, "none");
        is_at(s, 5, 0x5000, "b+0");
        is_at(s, 5, 0x6000, "none");
}

TEST(the_latest_mapping_counts) {
        _cleanup_(spaces_freep) Spaces *s = spaces_with(look);

        maps_file(s, 5, 1, 0x8000, "new");
        is_at(s, 5, 0x7fff, "x y.so+1fff");
        is_at(s, 5, 0x8000, "new+1000");
        is_at(s, 5, 0x9fff, "new+2fff");
        maps_file(s, 5, 1, 0x1000, "over");
        is_at(s, 5, 0x1000, "over+1000");
        maps_file(s, 5, 1, 0x1800, "amid");
        is_at(s, 5, 0x17ff, "over+17ff");
        is_at(s, 5, 0x1800, "amid+1000");
        maps_file(s, 5, 1, 0x0800, "low");
        is_at(s, 5, 0x27ff, "low+2fff");
        is_at(s, 5, 0x2800, "amid+2000");
}

TEST(an_exec_leaves_only_what_it_has_mapped) {
        _cleanup_(spaces_freep) Spaces *s = spaces_with(look);

        maps_file(s, 5, 1, 0x20000, "lib");
        maps_file(s, 5, 2, 0x30000, "program");
        is_at(s, 5, 0x1000, "a+0");
        execs_program(s, 5);
        is_at(s, 5, 0x1000, "none");
        is_at(s, 5, 0x20000, "none");
        is_at(s, 5, 0x30000, "program+1000");
        maps_file(s, 5, 2, 0x40000, "loader");
        maps_file(s, 5, 1, 0x50000, "again");
        execs_program(s, 5);
        is_at(s, 5, 0x30000, "none");
        is_at(s, 5, 0x50000, "again+1000");
}

TEST(a_child_begins_with_its_parents_mappings) {
        _cleanup_(spaces_freep) Spaces *s = spaces_with(look);

        ck_assert_int_eq(spaces_note_thread(s, 15, 5, now_ns), 0);
        maps_file(s, 5, 1, 0x20000, "lib");
        forks_child(s, 15, 30);
        maps_file(s, 5, 1, 0x30000, "later");
        is_at(s, 30, 0x1000, "a+0");
        is_at(s, 30, 0x20000, "lib+1000");
        is_at(s, 30, 0x30000, "none");
        is_at(s, 5, 0x30000, "later+1000");
        maps_file(s, 30, 3, 0x40000, "own");
        is_at(s, 5, 0x40000, "none");
        is_at(s, 30, 0x40000, "own+1000");
        /* Whose thread the parent is is told behind the event. */
        forks_child(s, 16, 31);
        is_at(s, 31, 0x1000, "unknown");
        ck_assert_int_eq(spaces_note_thread(s, 16, 5, now_ns), 0);
        is_at(s, 31, 0x1000, "a+0");
        is_at(s, 31, 0x30000, "later+1000");
        /* The number comes again. */
        forks_child(s, 99, 31);
        is_at(s, 31, 0x1000, "unknown");
}

TEST(after_a_loss_nothing_is_known_until_it_is_told) {
        _cleanup_(spaces_freep) Spaces *s = spaces_with(look);

        maps_file(s, 5, 1, 0x20000, "lib");
        execs_program(s, 5);
        forks_child(s, 5, 30);
        ck_assert_int_eq(spaces_note_thread(s, 5, 5, now_ns), 0);
        is_at(s, 30, 0x20000, "lib+1000");
        spaces_lose(s, now_ns);
        is_at(s, 5, 0x20000, "unknown");
        is_at(s, 30, 0x20000, "unknown");
        ck_assert_uint_ne(spaces_state(s, 5, now_ns), 0);
        maps_file(s, 5, 1, 0x30000, "more"); /* the same address space */
        is_at(s, 5, 0x20000, "lib+1000");
        is_at(s, 5, 0x30000, "more+1000");
        maps_file(s, 30, 9, 0x30000, "other");
        is_at(s, 30, 0x20000, "none");
        is_at(s, 30, 0x30000, "other+1000");
}

TEST(a_later_look_confirms_what_was_there) {
        _cleanup_(spaces_freep) Spaces *s = spaces_with("look 40 50\nprocess 5\n"
                                                        "map 1000-2000 0 8:1 7 - /usr/bin/a\n"
                                                        "map 3000-4000 0 8:1 9 - /usr/lib/gone\n"
                                                        "look 890 900\nprocess 5\n"
                                                        "map 1000-2000 0 8:1 7 - /usr/bin/a\n"
                                                        "map 3000-4000 0 8:1 10 - /usr/lib/came\n");

        is_at(s, 5, 0x3000, "gone+0");
        spaces_lose(s, now_ns);
        is_at(s, 5, 0x1000, "a+0");
        is_at(s, 5, 0x3000, "unknown");
        now_ns = 900;
        is_at(s, 5, 0x3000, "came+0");
}

TEST(what_says_the_same_has_the_same_state) {
        _cleanup_(spaces_freep) Spaces *s = spaces_with(look);
        uint64_t before = spaces_state(s, 5, now_ns);

        ck_assert_uint_eq(spaces_state(s, 7, now_ns), 0);
        ck_assert_uint_ne(before, 0);
        ck_assert_uint_eq(spaces_state(s, 5, now_ns + 5), before);
        maps_file(s, 5, 1, 0x20000, "lib");
        ck_assert_uint_ne(spaces_state(s, 5, now_ns), before);
        before = spaces_state(s, 5, now_ns);
        spaces_lose(s, now_ns);
        ck_assert_uint_ne(spaces_state(s, 5, now_ns), before);
}
