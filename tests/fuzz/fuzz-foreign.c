/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever text claims to be an event's format, and whatever bytes to be its record: the text is
 * taken or refused, and printing reads nothing beyond the record and the NUL behind it.  What a record of the scheduler
 * tells is what its text says.
 *
 * Input: the format, NUL, the record.  An even number of bytes is of a tracer's own event, and its text
 * also what printk_formats holds.
 */

#include "analyze/sched.h"
#include "fuzz.h"

static bool find_symbol(void *userdata, uint64_t address, uint64_t timestamp_ns, Symbol *ret) {
        *ret = (Symbol){ .address = address & ~UINT64_C(15), .name = "name", .n_name = 4 };
        return address % 3;
}

static const char *const systems[] = { "fuzz", "ftrace", "syscalls" };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(foreign_freep) Foreign *f = NULL;
        _cleanup_free_ char *text = fuzz_text(data, size);
        size_t n_text = strlen(text), n = n_text < size ? size - n_text - 1 : 0;
        _cleanup_free_ uint8_t *record = NULL;
        int r;

        record = malloc(n + 1);
        FUZZ_CHECK(record);
        memcpy(record, data + size - n, n);
        record[n] = 0;

        FUZZ_CHECK(foreign_new(&f, false) == 0);
        foreign_set_names(f, find_symbol, NULL);
        FUZZ_CHECK(foreign_set_printk(f, text) == 0);
        foreign_set_release(f, size % 2 ? "6.17" : "6.18");
        r = foreign_add(f, systems[size % ELEMENTSOF(systems)], text);
        FUZZ_CHECK(r == 0 || r == FORMATS_E_INVALID);
        for (uint16_t id = 1; r == 0 && id < 512; id++) {
                const Event event = {
                        .kind = EVENT_OTHER, .id = id, .n_bytes = (uint32_t) n, .payload = record
                };
                SchedEvent told = foreign_sched(f, &event), said;
                const char *line = foreign_print(f, &event);

                FUZZ_CHECK(!line || strlen(line) > 0);
                said = sched_parse(&(Step){ .kind = STEP_OTHER, .text = line });
                FUZZ_CHECK(told.kind == SCHED_NONE ||
                           (told.kind == said.kind && told.pid == said.pid &&
                            streq(told.comm, said.comm) && told.left_pid == said.left_pid &&
                            told.left_state == said.left_state));
        }
        return 0;
}
