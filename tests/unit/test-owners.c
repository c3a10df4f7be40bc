/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "owner/owners.h"
#include "unit.h"

#define FIELD(name, at, size) "\tfield:u64 " name ";\toffset:" at ";\tsize:" size ";\tsigned:0;\n"
#define TEXT(name) "\tfield:__data_loc char[] " name ";\toffset:16;\tsize:4;\tsigned:0;\n"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char begins[] = "name: w\nID: 10\nformat:\n" FIELD("a0", "8", "4")
        FIELD("a1", "12", "4") FIELD("a2", "16", "4") FIELD("a3", "24", "8"),
                  user[] = "name: u\nID: 11\nformat:\n" FIELD("a0", "8", "4"),
                  moves[] = "name: m\nID: 12\nformat:\n" FIELD("dst_root", "8", "4")
                          FIELD("pid", "12", "4") TEXT("dst_path"),
                  group[] = "name: g\nID: 13\nformat:\n" FIELD("root", "8", "4")
                          FIELD("id", "24", "8") TEXT("path"),
                  forks[] = "name: f\nID: 14\nformat:\n" FIELD("child_pid", "8", "4");

typedef struct Fields {
        uint64_t common;
        uint32_t at_8, at_12, at_16, at_20;
        uint64_t at_24;
        char text[32];
} Fields;

static Tasks *tasks;
static Formats formats;

static Owners *owners_with(const char *text) {
        Owners *o;

        if (!tasks)
                ck_assert_int_eq(tasks_new(&tasks, "5 web\n"), 0);
        ck_assert_int_eq(owners_new(&o, tasks, &formats), 0);
        ck_assert_int_eq(owners_load(o, text), 0);
        ck_assert_int_eq(owners_add_event(o, "ftraced_0123456789abcdef_w0", begins, false), 0);
        ck_assert_int_eq(owners_add_event(o, "ftraced_0123456789abcdef_u0", user, false), 0);
        ck_assert_int_eq(owners_add_event(o, "cgroup_attach_task", moves, true), 0);
        ck_assert_int_eq(owners_add_event(o, "cgroup_mkdir", group, false), 0);
        ck_assert_int_eq(owners_add_event(o, "sched_process_fork", forks, false), 0);
        return o;
}

static int note(Owners *o, uint16_t id, int32_t pid, uint64_t at_ns, Fields f) {
        Event e = { .kind = EVENT_OTHER,
                    .id = id,
                    .pid = pid,
                    .timestamp_ns = at_ns,
                    .payload = &f,
                    .n_bytes = sizeof(f) };

        if (*f.text)
                f.at_16 = (uint32_t) (strlen(f.text) + 1) << 16 | offsetof(Fields, text);
        return owners_note(o, &e);
}

static void is(Owners *o, int32_t pid, uint64_t at_ns, const char *expected) {
        const Owner *w = owners_of(o, pid, at_ns);
        char text[512];

        ck_assert_ptr_nonnull(w);
        (void) snprintf(text, sizeof(text), "%s %s %s %s", w->process, w->user, w->unit,
                        w->container);
        ck_assert_str_eq(text, expected);
}

static const char looks[] = "hierarchy 0\ncgroup 70 /system.slice/b.service\n"
                            "name " ID " shop\n"
                            "task 100 10 5 5 0 /system.slice/a.service\n"
                            "task 100 10 6 5 0 /system.slice/a.service\n"
                            "task 100 50 7 7 4294967294 /docker/" ID "\n"
                            "task 900 10 8 8 0 /\n"
                            "task 900 500 9 9 0 /system.slice/c.service\n";

TEST(looks_tell_whose_tasks_are) {
        _cleanup_(owners_freep) Owners *o = owners_with(looks);

        is(o, 5, 20, "web-5 root a.service ");
        is(o, 6, 800, "web-5 root a.service ");
        is(o, 7, 60, "<...>-7 uid 4294967294  shop");
        is(o, 7, 40, "unknown unknown unknown unknown"); /* it began later */
        is(o, 9, 499, "unknown unknown unknown unknown");
        is(o, 9, 500, "<...>-9 root c.service ");
        is(o, 8, 500, "<...>-8 root  ");
        is(o, 0, 500, "<idle>-0 root  ");
        is(o, 4, 500, "unknown unknown unknown unknown");
        ck_assert_ptr_eq(owners_of(o, 5, 500), owners_of(o, 6, 600));
}

TEST(events_tell_of_who_comes_and_moves) {
        _cleanup_(owners_freep) Owners *o = owners_with(looks);

        ck_assert_int_eq(note(o, 10, 5, 200, (Fields){ .at_8 = 50, .at_12 = 50, .at_24 = 70 }), 1);
        is(o, 50, 200, "<...>-50 root b.service ");
        ck_assert_int_eq(note(o, 11, 50, 210, (Fields){ .at_8 = 4294967294 }), 1);
        is(o, 50, 210, "<...>-50 uid 4294967294 b.service ");
        ck_assert_int_eq(note(o, 10, 50, 220, (Fields){ .at_8 = 51, .at_12 = 51, .at_24 = 71 }), 1);
        is(o, 51, 220, "<...>-51 root unknown unknown");
        ck_assert_int_eq(note(o, 13, 1, 230, (Fields){ .at_24 = 71, .text = "/x.service" }), 1);
        ck_assert_int_eq(note(o, 10, 50, 240, (Fields){ .at_8 = 51, .at_12 = 51, .at_24 = 71 }), 1);
        is(o, 51, 240, "<...>-51 root x.service ");
        /* Both threads of 5, and nobody else. */
        ck_assert_int_eq(note(o, 12, 1, 300, (Fields){ .at_12 = 5, .text = "/y.service" }),
                         OWNERS_ASKED);
        is(o, 5, 300, "web-5 root y.service ");
        is(o, 6, 300, "web-5 root y.service ");
        is(o, 51, 300, "<...>-51 root x.service ");
        /* Of another hierarchy. */
        ck_assert_int_eq(note(o, 12, 1, 310, (Fields){ .at_8 = 3, .at_12 = 5, .text = "/z" }),
                         OWNERS_ASKED);
        is(o, 5, 310, "web-5 root y.service ");
        ck_assert_int_eq(note(o, 14, 1, 320, (Fields){ .at_8 = 5 }), 1);
        is(o, 5, 320, "unknown unknown unknown unknown");
        ck_assert_int_eq(note(o, 15, 1, 330, (Fields){}), 0);
}

TEST(what_two_looks_say_differently_is_known_by_the_event_alone) {
        static const char text[] =
                "hierarchy 0\ntask 100 10 5 5 0 /a.service\ntask 900 10 5 5 0 /b.service\n";
        _cleanup_(owners_freep) Owners *all = owners_with(text), *part = owners_with(text);

        owners_set_partial(part);
        is(all, 5, 500, "web-5 root a.service ");
        is(part, 5, 500, "unknown unknown unknown unknown");
        ck_assert_int_eq(note(part, 12, 1, 600, (Fields){ .at_12 = 5, .text = "/b.service" }),
                         OWNERS_ASKED);
        is(part, 5, 900, "web-5 root b.service ");
}

TEST(what_is_cut_or_wild_is_passed_over) {
        _cleanup_(owners_freep) Owners *o =
                owners_with("task 1\ntask 1 2 3 4 5\ntask 1 2 99999999999 4 5 /\ntask -1 2 3 4 5 "
                            "/\ncgroup x /\n"
                            "name 12 x\nhierarchy 99999999999\n\n\ntask 1 2 3 4 5 /cut");
        Fields f = { .at_12 = 5, .at_16 = 0xffff0020 };
        Event e = { .kind = EVENT_OTHER, .id = 12, .payload = &f, .n_bytes = sizeof(f) };

        is(o, 3, 5, "unknown unknown unknown unknown");
        ck_assert_int_eq(owners_note(o, &e), OWNERS_ASKED);
        e.n_bytes = 10;
        ck_assert_int_eq(owners_note(o, &e), OWNERS_ASKED);
        e.payload = NULL;
        ck_assert_int_eq(owners_note(o, &e), OWNERS_ASKED);
        ck_assert_int_eq(owners_add_event(o, "cgroup_mkdir", "name: g\nID: 70000\n", false),
                         FORMATS_E_INVALID);
        ck_assert_int_eq(owners_add_event(o, "cgroup_mkdir", "name: g\nID: 7\n", false),
                         FORMATS_E_INVALID);
}
