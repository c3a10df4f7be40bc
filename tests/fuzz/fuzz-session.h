/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A session of a store, all of which is as it should be but for its only segment: that is the input.
 * Its formats are those of Linux 6.1 and 6.12.
 */

#include "fuzz-scratch.h"
#include "store/format.h"
#include "store/session-dir.h"

#define FUZZ_COMMON                                                                                \
        "format:\n"                                                                                \
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
        "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"                             \
        "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"

static inline bool fuzz_is_segment(const uint8_t *data, size_t n) {
        return n >= strlen(SEGMENT_MAGIC) &&
               memcmp(data, SEGMENT_MAGIC, strlen(SEGMENT_MAGIC)) == 0;
}

/* Once its segment is open, nothing is left but what is mapped. */
static inline void fuzz_session_make(FuzzScratch *s, SessionDir **ret, SessionMeta **ret_meta,
                                     const uint8_t *data, size_t n) {
        static const char *const files[][2] = {
                { "events/header_page",
                  "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n" },
                { "events/ftrace/funcgraph_entry/format",
                  "name: funcgraph_entry\nID: 11\n" FUZZ_COMMON
                  "\nprint fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n" },
                { "events/ftrace/funcgraph_exit/format",
                  "name: funcgraph_exit\nID: 10\n" FUZZ_COMMON
                  "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
                  "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
                  "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"
                  "\nprint fmt: \"<-- %ps (%d)\", (void *)REC->func, REC->depth\n" },
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
