/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Notes are of the machine that they are read on, and so in its byte order. */

#include <stdint.h>
#include <stdio.h>

#include "meta/build-id.h"

#define NOTE_TYPE 3 /* linux/elf.h: NT_GNU_BUILD_ID */
#define NOTE_NAME "GNU"
#define WORD_BUILD_ID 5 /* of a line */

bool build_id_is_valid(const char *s) {
        size_t n = strspn(s, "0123456789abcdef");

        return n > 0 && n <= BUILD_ID_CHARS_MAX && n % 2 == 0 && s[n] == 0;
}

static uint64_t padded(uint32_t n) {
        return ((uint64_t) n + 3) / 4 * 4;
}

bool build_id_find(const void *notes, size_t n, char ret[static BUILD_ID_CHARS_MAX + 1]) {
        const uint8_t *p = notes;
        struct {
                uint32_t n_name, n_desc, type;
        } head;

        while (n >= sizeof(head)) {
                const uint8_t *name = p + sizeof(head), *desc;
                uint64_t n_note;

                memcpy(&head, p, sizeof(head));
                n_note = sizeof(head) + padded(head.n_name) + padded(head.n_desc);
                if (n_note > n)
                        return false;
                desc = name + padded(head.n_name);
                if (head.type == NOTE_TYPE && head.n_name == sizeof(NOTE_NAME) &&
                    memcmp(name, NOTE_NAME, sizeof(NOTE_NAME)) == 0 && head.n_desc > 0 &&
                    head.n_desc <= BUILD_ID_CHARS_MAX / 2) {
                        for (size_t i = 0; i < head.n_desc; i++)
                                (void) snprintf(ret + 2 * i, 3, "%02x", desc[i]);
                        return true;
                }
                p += n_note;
                n -= n_note;
        }
        return false;
}

int build_ids_add_modules(Strv *ids, const char *list) {
        for (const char *line = list; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                _cleanup_strv_ Strv words = {};
                _cleanup_free_ char *copy = strndup(line, strcspn(line, "\n"));
                int r = copy ? strv_split(&words, copy, " ") : -ENOMEM;

                if (r >= 0 && words.n > WORD_BUILD_ID &&
                    build_id_is_valid(words.items[WORD_BUILD_ID]))
                        r = strv_addf(ids, "%s %s", words.items[0], words.items[WORD_BUILD_ID]);
                if (r < 0)
                        return r;
        }
        return 0;
}

const char *build_ids_get(const Strv *ids, const char *module, size_t n_module) {
        const char *found = NULL;

        if (!module) {
                module = BUILD_ID_KERNEL;
                n_module = strlen(module);
        }
        for (size_t i = 0; i < ids->n; i++) {
                const char *id = ids->items[i];

                if (strncmp(id, module, n_module) != 0 || id[n_module] != ' ')
                        continue;
                if (found)
                        return NULL;
                found = id + n_module + 1;
        }
        return found;
}
