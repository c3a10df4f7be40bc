/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Allow lists only: a character that nobody thought of is a refused one. */

#include <string.h>

#include "base/name.h"
#include "base/plain-text.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

bool session_name_is_valid(const char *s) {
        size_t n = strnlen(s, SESSION_NAME_MAX + 1);

        return n > 0 && n <= SESSION_NAME_MAX && strchr(LETTERS DIGITS, s[0]) &&
               strspn(s, LETTERS DIGITS "._-") == n && !strstr(s, "..");
}

bool function_pattern_is_glob(const char *s) {
        return strpbrk(s, "*?[");
}

bool function_name_is_valid(const char *s) {
        return function_pattern_is_valid(s) && !function_pattern_is_glob(s);
}

bool function_pattern_is_valid(const char *s) {
        size_t n = strnlen(s, FUNCTION_NAME_MAX + 1);

        return n > 0 && n <= FUNCTION_NAME_MAX && strspn(s, LETTERS DIGITS "_.$*?[]^-") == n &&
               strpbrk(s, LETTERS DIGITS "_.$");
}

bool clock_name_is_valid(const char *s) {
        size_t n = strnlen(s, 32);

        return n > 0 && n < 32 && strspn(s, "abcdefghijklmnopqrstuvwxyz" DIGITS "_-") == n;
}

static bool has_controls(const char *s) {
        for (; *s; s++)
                if ((unsigned char) *s < ' ' || *s == 127)
                        return true;
        return false;
}

bool comm_is_valid(const char *s) {
        size_t n = strnlen(s, COMM_MAX + 1);

        return n > 0 && n <= COMM_MAX && !has_controls(s) && !strpbrk(s, "\"\\");
}

bool cgroup_path_is_valid(const char *s) {
        size_t n = strnlen(s, CGROUP_PATH_MAX + 1);

        if (n == 0 || n > CGROUP_PATH_MAX || has_controls(s))
                return false;
        while (*s) {
                size_t n_part;

                s += strspn(s, "/");
                n_part = strcspn(s, "/");
                if (n_part == 2 && s[0] == '.' && s[1] == '.')
                        return false;
                s += n_part;
        }
        return true;
}

char *name_quote(char text[static NAME_QUOTE_MAX], const char *s) {
        size_t n = strlen(s), n_out;

        if (plain_copy(text, NAME_QUOTE_MAX, s, n, PLAIN_WORD, &n_out) < n) {
                /* Again, with room for the mark. */
                (void) plain_copy(text, NAME_QUOTE_MAX - 3, s, n, PLAIN_WORD, &n_out);
                memcpy(text + n_out, "...", 4);
        }
        return text;
}
