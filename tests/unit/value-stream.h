/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Value stream: a page of calls and of events that tell their values, as kernels write them
 *
 * begin() empties the page, and the others put one record into it, 10 ns after the last, of the task `pid` and the
 * function `func`.  @flags are the context: TASK, OFF (interrupts are off), IRQ, SOFTIRQ.
 *
 *      enter(TASK, 0);                   a call at depth 0
 *      value(TASK, TO_GRAPH, -90);       a return probe's event
 *      leave(TASK, 0, 20);               its end, which says that it took 20 ns
 *      given(TASK, 7);                   an entry probe's event: the first argument is 7
 *      stacked(TASK);                    that of one that has its stack recorded
 *      stack(TASK, n, {F_LEAF, ...});    the stack
 *      user_stack(TASK, n, {0x1004});    a program's
 */

#include "kernel-format.h"
#include "player.h"

static const Layout *const layout = &layouts[LAYOUT_6_12];

#define PROBE_ID 1529
#define TO_GRAPH 0xffffffff81000280  /* return_to_handler */
#define TO_CALLER 0xffffffff81000110 /* in ip_make_skb */
#define TO_ITSELF 0xffffffff81000010 /* in udp_sendmsg */

/* Contexts, as common_flags has them. */
enum { TASK = 0, OFF = 1, IRQ = 1 | 8, SOFTIRQ = 16 };

static const char probe_format[] =
        "name: it\nID: 1529\n" COMMON_FIELDS
        "\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:s32 ret;\toffset:24;\tsize:4;\tsigned:1;\n"
        "\n"
        "print fmt: \"(%lx <- %lx) ret=%d\", REC->__probe_func, REC->__probe_ret_ip, REC->ret\n";

static const char entry_format[] =
        "name: it\nID: 1530\n" COMMON_FIELDS
        "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:u64 a0;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:u64 a1;\toffset:24;\tsize:8;\tsigned:0;\n"
        "\n"
        "print fmt: \"(%lx) a0=0x%Lx a1=0x%Lx\", REC->__probe_ip, REC->a0, REC->a1\n";

/* The same record, whose numbers are an object's, or one of each. */
static const char object_format[] =
        "name: it\nID: 1530\n" COMMON_FIELDS
        "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:u64 u_n;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\n"
        "print fmt: \"(%lx) u_n=%Lu\", REC->__probe_ip, REC->u_n\n";

static const char both_format[] =
        "name: it\nID: 1530\n" COMMON_FIELDS
        "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:u64 a0;\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:u64 u_n;\toffset:24;\tsize:8;\tsigned:0;\n"
        "\n"
        "print fmt: \"(%lx) a0=0x%Lx u_n=%Lu\", REC->__probe_ip, REC->a0, REC->u_n\n";

static const char stacked_format[] =
        "name: it\nID: 1531\n" COMMON_FIELDS
        "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\n"
        "print fmt: \"(%lx)\", REC->__probe_ip\n";

static const char stack_format[] =
        "name: kernel_stack\nID: 4\n" COMMON_FIELDS
        "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
        "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"
        "\n"
        "print fmt: \"\\t=> %ps\", (void *)REC->caller[0]\n";

static const char user_stack_format[] =
        "name: user_stack\nID: 12\n" COMMON_FIELDS
        "\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
        "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"
        "\n"
        "print fmt: \"\\t=> %ps\", (void *)REC->caller[0]\n";

#define USER_STACK_ID 12
#define STACKED_ID 1531
#define STACKED "ftraced_af63f54c86021707_c0"
#define STACK_ID 4
#define ENTRY_ID 1530
#define ENTRY "ftraced_af63f54c86021707_e0"
#define FPROBE "ftraced_af63f54c86021707_f0"
#define KRETPROBE "ftraced_af63f54c86021707_r0"

static Page page;
static uint64_t now;
static int32_t pid = 17;
static uint64_t func = F_ROOT;

static inline void begin(void) {
        now = 100000;
        pid = 17;
        func = F_ROOT;
        page_begin(&page, layout, now);
}

static inline void put_record(uint16_t id, uint8_t flags, uint8_t record[static 64], size_t n) {
        memcpy(record, &id, sizeof(id));
        record[2] = flags;
        memcpy(record + 4, &pid, sizeof(pid));
        now += 10;
        page_record(&page, now, record, n);
}

static inline void enter(uint8_t flags, int32_t depth) {
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &depth, 4);
        put_record(layout->entry_id, flags, record, layout->n_entry);
}

static inline void leave(uint8_t flags, int32_t depth, uint64_t duration_ns) {
        uint64_t end_ns = now + 10, begin_ns = end_ns - duration_ns;
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &depth, 4);
        memcpy(record + 24, &begin_ns, 8);
        memcpy(record + 32, &end_ns, 8);
        put_record(layout->exit_id, flags, record, layout->n_exit);
}

static inline void value(uint8_t flags, uint64_t to, int32_t v) {
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &to, 8);
        memcpy(record + 24, &v, 4);
        put_record(PROBE_ID, flags, record, 28);
}

static inline void given(uint8_t flags, uint64_t v) {
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        memcpy(record + 16, &v, 8);
        put_record(ENTRY_ID, flags, record, 32);
}

static inline void stacked(uint8_t flags) {
        uint8_t record[64] = {};

        memcpy(record + 8, &func, 8);
        put_record(STACKED_ID, flags, record, 16);
}

/* At most six addresses. */
static inline void stack(uint8_t flags, int32_t n, const uint64_t *addresses) {
        uint8_t record[64] = {};

        memcpy(record + 8, &n, 4);
        memcpy(record + 16, addresses, (size_t) n * 8);
        put_record(STACK_ID, flags, record, 16 + (size_t) n * 8);
}

/* Of process 5: at most five addresses. */
static inline void user_stack(uint8_t flags, size_t n, const uint64_t *addresses) {
        uint8_t record[80] = {};
        uint32_t tgid = 5;

        memcpy(record + 8, &tgid, 4);
        memcpy(record + 16, addresses, n * 8);
        put_record(USER_STACK_ID, flags, record, 80);
}
