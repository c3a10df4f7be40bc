/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A session of a store, all of which is as it should be but for its only segment: that is the input.
 * Its formats are those of Linux 6.1 and 6.12.
 */

#include "fuzz-scratch.h"
#include "store/format.h"
#include "store/session-dir.h"
#include "tests/unit/kernel-format.h"

static inline bool fuzz_is_segment(const uint8_t *data, size_t n) {
        return n >= strlen(SEGMENT_MAGIC) &&
               memcmp(data, SEGMENT_MAGIC, strlen(SEGMENT_MAGIC)) == 0;
}

/* Once its segment is open, nothing is left but what is mapped. */
static inline void fuzz_session_make(FuzzScratch *s, SessionDir **ret, SessionMeta **ret_meta,
                                     const uint8_t *data, size_t n) {
        static const char *const files[][2] = {
                { "events/header_page", HEADER_PAGE_6_1 },
                { "events/ftrace/funcgraph_entry/format", ENTRY_6_1 },
                { "events/ftrace/funcgraph_exit/format", EXIT_6_1 },
                { "saved_cmdlines", "17 client\n18 a server\n" },
        };
        SessionMeta *m;
        int fd;

        *s = fuzz_scratch_new();
        FUZZ_CHECK(session_dir_create(ret, s->fd, "fuzz") == 0);
        for (size_t i = 0; i < ELEMENTSOF(files); i++)
                FUZZ_CHECK(session_dir_write_tracing(*ret, files[i][0], files[i][1],
                                                     strlen(files[i][1]), false) == 0);
        fd = session_dir_make_cpu(*ret, 0);
        FUZZ_CHECK(fd >= 0);
        fuzz_write(&(FuzzScratch){ .fd = fd }, "00000000.seg", data, n);
        close(fd);

        FUZZ_CHECK(session_meta_new(&m) == 0);
        *ret_meta = m;
        m->name = strdup("fuzz");
        m->id = strdup("0123456789abcdef");
        m->clock = strdup("mono");
        m->kernel = strdup("6.1.0");
        m->state = SESSION_SEALED;
        m->page_bytes = 4096;
        m->n_possible_cpus = 1;
        m->cpus = calloc(1, sizeof(*m->cpus));
        FUZZ_CHECK(m->name && m->id && m->clock && m->kernel && m->cpus);
        m->n_cpus = 1;
}
