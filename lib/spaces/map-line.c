/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A word after the other, each with the one byte that must be behind it. */

#include "base/unit.h"
#include "spaces/spaces.h"

#define BUILD_ID_MAX 128 /* digits */

static int digit_of(char c, unsigned base) {
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;

        return d < (int) base ? d : -1;
}

/* The number at *@p, and @behind, which must follow it. */
static bool take_number(const char **p, unsigned base, uint64_t max, char behind, uint64_t *ret) {
        uint64_t n = 0;
        const char *s = *p;

        for (; digit_of(*s, base) >= 0; s++) {
                uint64_t d = (uint64_t) digit_of(*s, base);

                if (n > (max - d) / base)
                        return false;
                n = n * base + d;
        }
        if (s == *p || *s != behind)
                return false;
        *p = s + 1;
        *ret = n;
        return true;
}

static bool take_mapping(const char **p, MapLine *l) {
        uint64_t major, minor;

        if (!take_number(p, 16, UINT64_MAX, '-', &l->start) ||
            !take_number(p, 16, UINT64_MAX, ' ', &l->end) ||
            !take_number(p, 16, UINT64_MAX, ' ', &l->offset) ||
            !take_number(p, 10, UINT32_MAX, ':', &major) ||
            !take_number(p, 10, UINT32_MAX, ' ', &minor) ||
            !take_number(p, 10, UINT64_MAX, ' ', &l->inode))
                return false;
        l->major = (uint32_t) major;
        l->minor = (uint32_t) minor;
        l->build_id = *p;
        l->n_build_id = strspn(*p, "0123456789abcdef");
        if (l->n_build_id == 0 ? **p != '-' : l->n_build_id > BUILD_ID_MAX)
                return false;
        *p += MAX(l->n_build_id, (size_t) 1);
        return *(*p)++ == ' ' && l->start < l->end && l->offset <= UINT64_MAX - (l->end - l->start);
}

static bool read_line(const char *p, const char *end, MapLine *l) {
        const char *rest;
        uint64_t tgid, begin_ns;

        *l = (MapLine){};
        if ((rest = startswith(p, MAPS_LOOK))) {
                l->kind = MAP_LOOK;
                return take_number(&rest, 10, UINT64_MAX, ' ', &begin_ns) &&
                       take_number(&rest, 10, UINT64_MAX, '\n', &l->at_ns) && begin_ns <= l->at_ns;
        }
        if ((rest = startswith(p, "process "))) {
                l->kind = MAP_PROCESS;
                if (!take_number(&rest, 10, INT32_MAX, '\n', &tgid))
                        return false;
                l->tgid = (int32_t) tgid;
                return true;
        }
        l->kind = MAP_MAPPING;
        if (!(rest = startswith(p, "map ")) || !take_mapping(&rest, l))
                return false;
        l->path = rest;
        l->n_path = rest < end ? (size_t) (end - rest) : 0;
        return l->n_path > 0 && l->n_path < MAPS_PATH_MAX;
}

bool map_line_next(const char **at, MapLine *ret) {
        while (**at) {
                const char *line = *at;
                size_t n = strcspn(line, "\n");

                if (line[n] != '\n') { /* it is cut */
                        *at += n;
                        return false;
                }
                *at += n + 1;
                if (read_line(line, line + n, ret))
                        return true;
        }
        return false;
}
