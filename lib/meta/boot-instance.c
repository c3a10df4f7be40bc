/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/cleanup.h"
#include "meta/boot-instance.h"

#define WHITE " \t\r\n"

size_t boot_instance_parse(const char *word) {
        const char *s = startswith(word, BOOT_INSTANCE_WORD);
        size_t n_name, n_all;

        if (!s)
                return 0;
        n_name = strcspn(s, "^@=," WHITE);
        n_all = strcspn(s, "," WHITE);
        if (n_name == 0 || n_name > BOOT_INSTANCE_NAME_MAX || s[n_name] == '=' || *s == '.')
                return 0;
        for (size_t i = 0; i < n_name; i++)
                if (s[i] == '/' || (unsigned char) s[i] < ' ' || s[i] == 127)
                        return 0;
        return memchr(s, '@', n_all) ? n_name : 0;
}

const char *boot_instance_next_word(const char *s) {
        s += strcspn(s, WHITE);
        return s + strspn(s, WHITE);
}
