/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A file of stacks/, whatever is in it: what is found lies within its record, and is of whom was asked for. */

#include "fuzz-scratch.h"
#include "spaces/stack-copies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_fuzz_scratch_ FuzzScratch s = fuzz_scratch_new();
        _cleanup_(stack_copies_freep) StackCopies *copies = NULL;
        StacksHeader h;
        StackCopy c;
        uint64_t ns = 0;

        if (size < sizeof(h))
                return 0;
        memcpy(&h, data, sizeof(h));
        FUZZ_CHECK(dir_make(s.fd, STACKS_DIR, 0700) == 0);
        fuzz_write(&s, STACKS_DIR "/cpu0-0", data, size);
        FUZZ_CHECK(stack_copies_open(&copies, s.fd) == 0);
        for (size_t at = sizeof(h); copies && at + 20 < size; at += 8) {
                int32_t tid;

                memcpy(&tid, data + at + 12, sizeof(tid));
                if (stack_copies_find(copies, h.cpu, tid, ns, UINT64_MAX, &c) == 1) {
                        FUZZ_CHECK(c.tid == tid && c.timestamp_ns >= ns && c.n_stack <= UINT16_MAX);
                        for (size_t i = 0; i < c.n_stack; i++)
                                ns += c.stack[i] == 0x5a; /* it can be read */
                        ns = c.timestamp_ns;
                }
        }
        {
                uint8_t *record = fuzz_copy(data + sizeof(h), size - sizeof(h));

                if (stack_copy_parse(&c, &h, record, size - sizeof(h)))
                        FUZZ_CHECK(c.stack >= record &&
                                   c.stack + c.n_stack <= record + (size - sizeof(h)));
                free(record);
        }
        return 0;
}
