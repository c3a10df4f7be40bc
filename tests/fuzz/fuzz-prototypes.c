/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever claims to be a kernel's types: it is taken or refused, a function of any name is found or
 * not, and what is found can be drawn in the room that was asked for.
 *
 * Input: a name, NUL, the file.
 */

#include "calls/step.h"
#include "fuzz.h"

static void draw(const Prototype *prototype) {
        static const uint64_t args[6] = { 1, (uint64_t) -1, 0x80000000, 4, 5, 6 };
        const Function function = { .label = "f", .prototype = prototype };

        for (uint32_t n = 0; n <= 6; n++) {
                Step step = { .function = &function, .args = args, .n_args = n };
                size_t n_room = arguments_room(&step);
                char *text = malloc(n_room), *end;

                FUZZ_CHECK(text);
                end = arguments_append(text, &step);
                FUZZ_CHECK((size_t) (end - text) <= n_room);
                free(text);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(prototypes_freep) Prototypes *p = NULL;
        size_t n_name = strnlen((const char *) data, size),
               n = n_name < size ? size - n_name - 1 : 0;
        const Prototype *found;
        int r = prototypes_new(&p, fuzz_copy(data + size - n, n), n);

        FUZZ_CHECK(r == 0 || r == PROTOTYPES_E_INVALID);
        if (r != 0)
                return 0;
        found = prototypes_find(p, (const char *) data, n_name);
        if (found)
                draw(found);
        return 0;
}
