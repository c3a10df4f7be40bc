/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which characters a field may have is decided here, so that nothing else of a user's reaches a command of the kernel. */

#include <ctype.h>

#include "base/name.h"
#include "types/args-choice.h"

const char *args_choice_fields(const char *s) {
        return strchr(s, '(');
}

char *args_choice_function(const char *s) {
        return strndup(s, strcspn(s, "("));
}

static bool is_balanced(const char *s) {
        size_t depth = 0;

        for (; *s; s++) {
                depth += *s == '(';
                if (*s != ')')
                        continue;
                if (depth == 0 || (--depth == 0 && s[1]))
                        return false;
        }
        return depth == 0;
}

int args_choice_split(Strv *v, const char *s) {
        const char *fields = args_choice_fields(s);
        _cleanup_free_ char *inside =
                fields ? strndup(fields + 1, strlen(fields + 1) - 1) : strdup("");
        _cleanup_strv_ Strv words = {};
        int r = inside ? strv_split_outside(&words, inside, ",") : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < words.n; i++) {
                const char *word = words.items[i] + strspn(words.items[i], " ");
                size_t n = strlen(word);

                while (n > 0 && word[n - 1] == ' ')
                        n--;
                r = strv_addn(v, word, n);
        }
        return r;
}

bool args_choice_is_valid(const char *s) {
        const char *fields = args_choice_fields(s);
        _cleanup_free_ char *function = args_choice_function(s);
        _cleanup_strv_ Strv all = {};

        if (!function || !function_pattern_is_valid(function))
                return false;
        if (!fields)
                return true;
        for (const char *c = fields; *c; c++)
                if (!isalnum((unsigned char) *c) && !strchr("_.,:=<>-()[] ", *c))
                        return false;
        if (!is_balanced(fields) || args_choice_split(&all, s) < 0 || all.n == 0 ||
            all.n > ARGS_CHOICE_FIELDS_MAX)
                return false;
        for (size_t i = 0; i < all.n; i++)
                if (!*all.items[i] || strchr(all.items[i], ' '))
                        return false;
        return true;
}
