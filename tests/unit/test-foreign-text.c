/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "import/text-private.h"
#include "unit.h"

static void expect(const char *text, const char *name) {
        const ForeignText *f = foreign_text_find(text, strlen(text));

        if (!name)
                ck_assert_msg(!f, "%s: %s", text, f ? f->name : "");
        else
                ck_assert_msg(f && strstr(f->name, name), "%s: %s", text, f ? f->name : "nothing");
}

TEST(a_line_tells_whose_it_is) {
        expect("# tracer: function", "function tracer");
        expect("  vmstat-371 [000] .... 6412455.216816: do_nanosleep <-hrtimer_nanosleep",
               "function tracer");
        expect("  bash-2042    3d..1    3us : ata_sg_init <-__ata_scsi_queuecmd",
               "function tracer");
        expect("  ls-2 [001]  12.000001: function:             f <-- g", "function tracer");
        expect("  ls-2 [001] d..1. 12.000001: f [ext4] <-g [ext4]", "function tracer");
        expect("  ls-2 [001] ..... 634.783842: p9_fcall_init", "function tracer");
        expect("# tracer: irqsoff", "another tracer");
        expect("  ls-2 [001]  12.000001: sched_switch: prev_comm=ls", "events");
        expect("ls 31244 [001] 10418.334513:     250000 cycles:", "perf script");
        expect("     0.065 ( 0.008 ms): ls/31244 openat(dfd: CWD) = 3", "perf trace");
        expect("# Overhead  Command  Shared Object", "perf report");
        expect("openat(AT_FDCWD, \"/etc\", O_RDONLY) = 3", "strace");
        expect("[pid   412] read(3, \"\", 4096)          = 0", "strace");
        expect("12:00:01.123456 wait4(-1,  <unfinished ...>", "strace");
        expect("ls->malloc(12) = 0x1234", "strace");
        expect("Attaching 2 probes...", "bpftrace");
        expect("@[", "bpftrace");
        expect("     nsecs               : count     distribution", "histogram");
        expect("#   DURATION     |      COUNT | GRAPH                |", "histogram");
        expect("# DURATION     TID     FUNCTION", "uftrace");
        expect("            [  4422] | main() {", "uftrace");
        expect("   1.302 us [  4422] |   netif_rx(1, \"lo\") = 0;", "uftrace");
        expect("1220.654979501   1.000 us [4422] | a();", "uftrace");
        expect("# Function Call Graph for 'a' (session: ba08)", "uftrace");
        expect("  Total time   Self time       Calls  Function", "uftrace");
        expect("[0] ==> 4422/0: ip (main), time (1220654979501)", "uftrace");
        expect("1220.654979501   4422: [entry] main(55767711b050) depth: 0", "uftrace");
        expect("  166.256 us |   6 |       bget()", "OP-TEE");
        expect("main;f;g 12", "folded");
        expect("[   12.000001] Call Trace:", "call trace");
        expect("  ls-2 [001]  12.000001: function:             f", "function tracer");
        expect("  ls-2 [001]  12.000001: funcgraph_entry:      ip=0xffffffff81000000",
               "funcgraph events");
        expect("20:19:36.372607 -> 20:19:36.372682 TID/PID 8346/8346 (ls/ls):", "retsnoop");
        expect("FUNCTION CALL TRACE           RESULT                DURATION", "retsnoop");
        expect("    \xe2\x86\x94 bpf_prog_alloc     [0xffffc9000031e000]   5.539us", "retsnoop");
        expect("\xe2\x86\x90 f args=((struct sk_buff *)skb=0x1) retval=(int)0 cpu=5 "
               "process=(0:swapper/5)",
               "bpfsnoop");
        expect("Tracing function calls slower than 1 ms... Ctrl+C to quit.", "funcslower");
        expect("COMM           PID    LAT(ms)             RVAL FUNC", "funcslower");
}

TEST(talk_is_nobodys) {
        static const char *const texts[] = {
                "",
                " ",
                "-",
                "# a heading",
                "1) first item",
                "the call f(x) was made; it took 3 us",
                "see foo.c:12",
                " 0)   1.302 us    |  f();",
                "   12 ls(2): -> f",
                "a <- b",
                "tcp 6 [412] 1.302 us | f();",
                "see [a] | b",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                expect(texts[i], NULL);
}
