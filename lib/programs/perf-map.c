/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines are sorted by where they begin, and of those that begin at the same byte the last one stays. */

#include <ctype.h>

#include "programs/programs-private.h"

#define ITEMS_MAX ((size_t) 1 << 20)

static int compare_items(const void *pa, const void *pb) {
        const PerfMapItem *a = pa, *b = pb;

        return CMP(a->start, b->start) ?: CMP(b->order, a->order);
}

/* A hexadecimal number and the blank behind it. */
static bool take_hex(char **p, uint64_t *ret) {
        char *end;

        if (!isxdigit((unsigned char) **p))
                return false;
        errno = 0;
        *ret = strtoull(*p, &end, 16);
        if (errno != 0 || *end != ' ')
                return false;
        *p = end + 1;
        return true;
}

int perf_map_read(PerfMap *ret, char *text) {
        PerfMap m = { .text = text };
        size_t n;

        for (char *line = text, *next; *line && m.n < ITEMS_MAX; line = next) {
                PerfMapItem item = { .order = (uint32_t) m.n };
                char *end = line + strcspn(line, "\n");

                next = end + (*end == '\n');
                if (!take_hex(&line, &item.start) || !take_hex(&line, &item.n_bytes) ||
                    line >= end || item.n_bytes == 0 || item.n_bytes > UINT64_MAX - item.start)
                        continue;
                item.name = line;
                item.n_name = (uint32_t) MIN((size_t) (end - line), (size_t) PROGRAM_NAME_MAX);
                if (!ARRAY_ADD(m.items, m.n, item)) {
                        perf_map_done(&m);
                        return -ENOMEM;
                }
        }
        SORT(m.items, m.n, compare_items);
        n = m.n;
        m.n = 0;
        for (size_t i = 0; i < n; i++)
                if (m.n == 0 || m.items[m.n - 1].start != m.items[i].start)
                        m.items[m.n++] = m.items[i];
        *ret = m;
        return 0;
}

const PerfMapItem *perf_map_find(const PerfMap *m, uint64_t address) {
        size_t i = BISECT(0, m->n, k, m->items[k].start <= address);

        return i > 0 && address - m->items[i - 1].start < m->items[i - 1].n_bytes ? &m->items[i - 1]
                                                                                  : NULL;
}

void perf_map_done(PerfMap *m) {
        free(m->items);
        free(m->text);
        *m = (PerfMap){};
}
