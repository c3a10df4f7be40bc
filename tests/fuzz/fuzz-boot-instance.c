/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever the kernel's command line is: a name that is taken from it is one part of a path, and inside of its word.
 *
 * Input: the command line.
 */

#include "fuzz.h"
#include "meta/event-choice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *text = fuzz_text(data, n_data);
        size_t n_words = 0;

        for (const char *s = text; *s; s = boot_instance_next_word(s)) {
                size_t n = boot_instance_parse(s), n_word = strcspn(s, " \t\r\n");
                const char *name = s + strlen(BOOT_INSTANCE_WORD);

                FUZZ_CHECK(n_words++ <= n_data);
                if (n == 0)
                        continue;
                FUZZ_CHECK(n <= BOOT_INSTANCE_NAME_MAX && strlen(BOOT_INSTANCE_WORD) + n < n_word);
                FUZZ_CHECK(!memchr(name, '/', n) && *name != '.');
        }
        return 0;
}
