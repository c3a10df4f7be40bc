/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One reading of a range; a number that is none, or is too large, is CPU_RANGE_END.
 */

#include <errno.h>
#include <string.h>

#include "base/cpu-list.h"

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

static bool parse(const char *s, const char *end, unsigned *ret_first, unsigned *ret_last) {
        const char *dash = memchr(s, '-', (size_t) (end - s));

        *ret_first = parse_cpu(s, dash ?: end);
        *ret_last = dash ? parse_cpu(dash + 1, end) : *ret_first;
        return *ret_last < CPU_RANGE_END && *ret_first <= *ret_last;
}

void cpu_range_parse(const char *s, unsigned *ret_first, unsigned *ret_last) {
        (void) parse(s, s + strlen(s), ret_first, ret_last);
}

bool cpu_range_is_valid(const char *s) {
        unsigned first, last;

        return parse(s, s + strlen(s), &first, &last);
}

int cpu_list_next(const char **list, unsigned *ret_first, unsigned *ret_last) {
        const char *s = *list, *end = s + strcspn(s, ",\n");

        if (*s == 0 || *s == '\n')
                return 0;
        if (!parse(s, end, ret_first, ret_last) || (*end == ',' && end[1] == 0))
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
