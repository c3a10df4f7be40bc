/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Allow lists only: a character that nobody thought of is a refused one. */

#include <pwd.h>

#include "base/buf.h"
#include "base/name.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define USERS_MAX 4096

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

bool syscall_is_nearer(const char *function, const char *name, size_t *best) {
        /* linux 6.1 arch/{x86,arm64,s390,riscv}/include/asm/syscall_wrapper.h, include/linux/syscalls.h; SyS_ before
         * 4.17 */
        static const char *const prefixes[] = { "__x64_sys_",   "__arm64_sys_", "__s390x_sys_",
                                                "__riscv_sys_", "__se_sys_",    "SyS_",
                                                "sys_" };

        for (size_t i = 0; i < MIN(*best, ELEMENTSOF(prefixes)); i++)
                if (streq_ptr(startswith(function, prefixes[i]), name)) {
                        *best = i;
                        return true;
                }
        return false;
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

/* --- CPUs and releases ------------------------------------------------------------------------ */

/* CPU_RANGE_END: it is none, or too large. */
static unsigned parse_cpu(const char *s, const char *end) {
        unsigned n = 0;

        if (s == end)
                return CPU_RANGE_END;
        for (; s < end; s++) {
                if (*s < '0' || *s > '9')
                        return CPU_RANGE_END;
                n = n * 10 + (unsigned) (*s - '0');
                if (n >= CPU_RANGE_END)
                        return CPU_RANGE_END;
        }
        return n;
}

static bool parse_range(const char *s, const char *end, unsigned *ret_first, unsigned *ret_last) {
        const char *dash = memchr(s, '-', (size_t) (end - s));

        *ret_first = parse_cpu(s, dash ?: end);
        *ret_last = dash ? parse_cpu(dash + 1, end) : *ret_first;
        return *ret_last < CPU_RANGE_END && *ret_first <= *ret_last;
}

void cpu_range_parse(const char *s, unsigned *ret_first, unsigned *ret_last) {
        (void) parse_range(s, s + strlen(s), ret_first, ret_last);
}

bool cpu_range_is_valid(const char *s) {
        unsigned first, last;

        return parse_range(s, s + strlen(s), &first, &last);
}

int cpu_list_next(const char **list, unsigned *ret_first, unsigned *ret_last) {
        const char *s = *list, *end = s + strcspn(s, ",\n");

        if (*s == 0 || *s == '\n')
                return 0;
        if (!parse_range(s, end, ret_first, ret_last) || (*end == ',' && end[1] == 0))
                return -EINVAL;
        *list = end + (*end == ',');
        return 1;
}

bool cpu_list_has(const char *list, unsigned cpu) {
        unsigned first, last;

        while (cpu_list_next(&list, &first, &last) > 0)
                if (cpu >= first && cpu <= last)
                        return true;
        return false;
}

/* Distributions write what they like behind the second number. */
Release release_compare(const char *release, unsigned major, unsigned minor) {
        unsigned a, b;

        if (!release || sscanf(release, "%u.%u", &a, &b) != 2)
                return RELEASE_UNKNOWN;
        return a < major || (a == major && b < minor) ? RELEASE_BEFORE : RELEASE_SINCE;
}

/* --- which was meant -------------------------------------------------------------------------- */

#define BEGINNING_MIN 3

/* The usual table of distances between beginnings, of which three rows are needed at a time. */
size_t typo_distance(const char *a, const char *b, size_t limit) {
        size_t rows[3][FUNCTION_NAME_MAX + 2], n_a = strlen(a), n_b = strlen(b);

        if (n_a > FUNCTION_NAME_MAX || n_b > FUNCTION_NAME_MAX ||
            (n_a > n_b ? n_a - n_b : n_b - n_a) > limit)
                return limit + 1;
        for (size_t j = 0; j <= n_b; j++)
                rows[0][j] = j;
        for (size_t i = 1; i <= n_a; i++) {
                size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], least = i;
                const size_t *above2 = rows[(i + 1) % 3];

                row[0] = i;
                for (size_t j = 1; j <= n_b; j++) {
                        size_t d = above[j - 1] + (a[i - 1] != b[j - 1]);

                        d = MIN(d, above[j] + 1);
                        d = MIN(d, row[j - 1] + 1);
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                d = MIN(d, above2[j - 2] + 1);
                        row[j] = d;
                        least = MIN(least, d);
                }
                if (least > limit)
                        return limit + 1;
        }
        return MIN(rows[n_a % 3][n_b], limit + 1);
}

size_t typo_limit(const char *word) {
        return MAX(strlen(word) / 4, (size_t) 2);
}

const char *typo_nearest(const char *word, const char *const *words, size_t n) {
        size_t best = typo_limit(word) + 1, shortest = SIZE_MAX;
        const char *like = NULL;

        for (size_t i = 0; i < n && strlen(word) >= BEGINNING_MIN; i++)
                if (startswith(words[i], word) && strlen(words[i]) < shortest) {
                        shortest = strlen(words[i]);
                        like = words[i];
                }
        if (like)
                return like;
        for (size_t i = 0; i < n; i++) {
                size_t d = typo_distance(word, words[i], best);

                if (d < best) {
                        best = d;
                        like = words[i];
                }
        }
        return like;
}

const char *format_user(char ret[USER_TEXT_MAX], uid_t uid) {
        _cleanup_fclose_ FILE *f = fopen("/etc/passwd", "re");
        const struct passwd *user;

        (void) snprintf(ret, USER_TEXT_MAX, "uid %u", (unsigned) uid);
        for (size_t n = 0; f && n < USERS_MAX && (user = fgetpwent(f)); n++)
                if (user->pw_uid == uid && strlen(user->pw_name) < USER_TEXT_MAX) {
                        (void) strcpy(ret, user->pw_name);
                        break;
                }
        return ret;
}
