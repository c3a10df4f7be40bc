/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What kernels say of their pages and records. */

#define COMMON_FIELDS                                                                              \
        "format:\n"                                                                                \
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define HEADER_PAGE_6_1                                                                            \
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                 \
        "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"                                \
        "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"                                 \
        "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"

#define ENTRY_6_1                                                                                  \
        "name: funcgraph_entry\nID: 11\n" COMMON_FIELDS                                            \
        "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"                             \
        "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"                                     \
        "\n"                                                                                       \
        "print fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n"

#define EXIT_6_1                                                                                   \
        "name: funcgraph_exit\nID: 10\n" COMMON_FIELDS                                             \
        "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"                             \
        "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"                                     \
        "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"                          \
        "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"                   \
        "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"                    \
        "\n"                                                                                       \
        "print fmt: \"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, "       \
        "REC->depth, REC->calltime, REC->rettime, REC->depth\n"

#define HEADER_PAGE_7_2                                                                            \
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                 \
        "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"                                \
        "\tfield: char overwrite;\toffset:8;\tsize:1;\tsigned:0;\n"                                \
        "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"

#define ENTRY_7_2                                                                                  \
        "name: funcgraph_entry\nID: 11\n" COMMON_FIELDS                                            \
        "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"                             \
        "\tfield:unsigned long depth;\toffset:16;\tsize:8;\tsigned:0;\n"                           \
        "\tfield:unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;\n"                          \
        "\n"                                                                                       \
        "print fmt: \"--> %ps (%lu)\", (void *)REC->func, REC->depth\n"

#define EXIT_7_2                                                                                   \
        "name: funcgraph_exit\nID: 10\n" COMMON_FIELDS                                             \
        "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"                             \
        "\tfield:unsigned int depth;\toffset:16;\tsize:4;\tsigned:0;\n"                            \
        "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"                          \
        "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"                   \
        "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"                    \
        "\n"                                                                                       \
        "print fmt: \"<-- %ps (%u) (start: %llx  end: %llx) over: %u\", (void *)REC->func, "       \
        "REC->depth, REC->calltime, REC->rettime, REC->depth\n"
