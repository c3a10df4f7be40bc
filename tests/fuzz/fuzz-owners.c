/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whose tasks were, by whatever a recording says: each task has an owner at any time, whose words have an end.
 *
 * Input: tracing/owners, up to the first NUL; then events, of each the kind, the pid, how much of the record is there, and
 * the record.
 */

#include "fuzz.h"
#include "owner/owners.h"

#define RECORD_BYTES 48

#define FIELD(name, at, size) "\tfield:u64 " name ";\toffset:" at ";\tsize:" size ";\tsigned:0;\n"
#define TEXT(name) "\tfield:__data_loc char[] " name ";\toffset:16;\tsize:4;\tsigned:0;\n"

static const struct {
        const char *name, *format;
} events[] = {
        { "ftraced_0123456789abcdef_w0", "\nID: 10\n" FIELD("a0", "8", "4") FIELD("a1", "12", "4")
                                                 FIELD("a2", "16", "4") FIELD("a3", "24", "8") },
        { "ftraced_0123456789abcdef_u0", "\nID: 11\n" FIELD("a0", "8", "4") },
        { "cgroup_attach_task",
          "\nID: 12\n" FIELD("dst_root", "8", "4") FIELD("pid", "12", "4") TEXT("dst_path") },
        { "cgroup_mkdir",
          "\nID: 13\n" FIELD("root", "8", "4") FIELD("id", "24", "8") TEXT("path") },
        { "sched_process_fork", "\nID: 14\n" FIELD("child_pid", "8", "4") },
};

static void look_up(Owners *o, int32_t pid, uint64_t at_ns) {
        const Owner *w = owners_of(o, pid, at_ns);

        FUZZ_CHECK(w && w == owners_of(o, pid, at_ns));
        FUZZ_CHECK(strlen(w->cgroup) < OWNERS_PATH_MAX && strlen(w->unit) < CGROUP_WORD_MAX &&
                   strlen(w->container) < CGROUP_WORD_MAX && strlen(w->pod) < CGROUP_WORD_MAX);
        for (OwnerWord i = 0; i < _OWNER_WORD_N; i++)
                FUZZ_CHECK(owner_word(w, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const Formats formats = {};
        _cleanup_(owners_freep) Owners *o = NULL;
        _cleanup_(tasks_freep) Tasks *tasks = NULL;
        _cleanup_free_ char *text = fuzz_text(data, size);
        size_t at = strlen(text) + 1;
        const char *line = text;
        uint64_t ns = 0;
        OwnerLine l;

        FUZZ_CHECK(tasks_new(&tasks, "5 web\n") == 0 && owners_new(&o, tasks, &formats) == 0);
        FUZZ_CHECK(owners_load(o, text) == 0);
        for (size_t i = 0; i < ELEMENTSOF(events); i++)
                FUZZ_CHECK(owners_add_event(o, events[i].name, events[i].format, false) == 0);
        if (size > 0 && data[0] == '\n')
                owners_set_partial(o);
        for (; at + 6 < size; at += RECORD_BYTES) {
                size_t n = MIN(size - at - 6, (size_t) data[at + 5] % RECORD_BYTES);
                uint8_t *record = fuzz_copy(data + at + 6, n);
                Event e = { .kind = EVENT_OTHER,
                            .id = 10 + data[at] % ELEMENTSOF(events),
                            .timestamp_ns = ns += data[at + 4],
                            .payload = record,
                            .n_bytes = (uint32_t) n };

                memcpy(&e.pid, data + at + 1, 2);
                FUZZ_CHECK(owners_note(o, &e) == 1);
                look_up(o, e.pid, ns);
                free(record);
        }
        while (owner_line_next(&line, &l)) {
                FUZZ_CHECK(line <= text + strlen(text));
                if (l.kind == OWNER_HIERARCHY)
                        continue;
                FUZZ_CHECK(l.text >= text && l.text + l.n_text < line && l.n_text > 0 &&
                           l.n_text < OWNERS_PATH_MAX && strlen(l.container) <= CONTAINER_ID_CHARS);
                if (l.kind == OWNER_TASK) {
                        look_up(o, l.pid, MAX(ns, l.at_ns));
                        look_up(o, l.tgid, MAX(ns, l.since_ns));
                }
        }
        return 0;
}
