/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever claims to be a kernel's types, and whatever is asked of it: an expression is taken or refused with a sentence,
 * and what is found can be written for the kernel's probes.
 *
 * Input: a function's name, NUL, an expression, NUL, the file.
 */

#include "types/members.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(prototypes_freep) Prototypes *p = NULL;
        const char *function = (const char *) data, *expression;
        char why[MEMBER_WHY_MAX] = "", text[MEMBER_PLACE_MAX];
        size_t n = strnlen(function, size);
        Member m;
        int r;

        expression = function + n + 1;
        if (n + 1 >= size || strnlen(expression, size - n - 1) == size - n - 1)
                return 0;
        n += strlen(expression) + 2;
        r = prototypes_new(&p, fuzz_copy(data + n, size - n), size - n);
        FUZZ_CHECK(r == 0 || r == PROTOTYPES_E_INVALID);
        if (r != 0)
                return 0;
        r = member_find(&m, p, function, expression, why);
        FUZZ_CHECK(r == 0 || r == MEMBER_E_NONE || (r == MEMBER_E_REFUSED && *why));
        if (r == 0)
                FUZZ_CHECK(strlen(member_place(&m, text)) < MEMBER_PLACE_MAX);
        if (member_of_struct(&m, p, "sock") == 0)
                (void) member_walk(&m, p, expression, why);
        return 0;
}
