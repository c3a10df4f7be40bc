/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The formats are those of Debian's 6.12.117, the expected texts what the kernel prints. */

#include "decode/foreign.h"
#include "kernel-format.h"
#include "unit.h"

#define STATES "(0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010)"
#define SWITCH_FORMAT                                                                              \
        "name: sched_switch\nID: 314\n" COMMON_FIELDS                                              \
        "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                            \
        "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"                                \
        "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"                                 \
        "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"                               \
        "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"                           \
        "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"                                \
        "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"                               \
        "print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s "     \
        "next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "              \
        "(REC->prev_state & ((" STATES " + 1) << 1) - 1) ? __print_flags(REC->prev_state & "       \
        "(((" STATES " + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }) : "   \
        "\"R\", REC->prev_state & ((" STATES " + 1) << 1) ? \"+\" : \"\", REC->next_comm, "        \
        "REC->next_pid, REC->next_prio\n"

#define IRQ_ENTRY                                                                                  \
        "name: irq_handler_entry\nID: 150\n" COMMON_FIELDS                                         \
        "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"                                        \
        "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\n"                      \
        "print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n"

#define SOFTIRQ                                                                                    \
        "name: softirq_entry\nID: 151\n" COMMON_FIELDS                                             \
        "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n\n"                             \
        "print fmt: \"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, "  \
        "{ 1, \"TIMER\" }, { 3, \"NET_RX\" })\n"

#define POINTER                                                                                    \
        "name: kfree\nID: 152\n" COMMON_FIELDS                                                     \
        "\tfield:const void * ptr;\toffset:8;\tsize:8;\tsigned:0;\n\n"                             \
        "print fmt: \"ptr=%p\", REC->ptr\n"

#define SYS_ENTER                                                                                  \
        "name: sys_enter\nID: 153\n" COMMON_FIELDS                                                 \
        "\tfield:unsigned long args[2];\toffset:8;\tsize:16;\tsigned:0;\n\n"                       \
        "print fmt: \"(%lx, %lx)\", REC->args[0], REC->args[1]\n"

#define SYS_ENTER_WILD                                                                             \
        "name: sys_enter\nID: 154\n" COMMON_FIELDS                                                 \
        "\tfield:unsigned long args[2];\toffset:8;\tsize:16;\tsigned:0;\n\n"                       \
        "print fmt: \"%lx\", REC->args[4096]\n"

#define ARRAY                                                                                      \
        "name: bytes\nID: 155\n" COMMON_FIELDS "\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n"   \
        "\tfield:__data_loc u8[] data;\toffset:12;\tsize:4;\tsigned:0;\n\n"                        \
        "print fmt: \"%s\", __print_hex(__get_dynamic_array(data), REC->n)\n"

#define PRINT                                                                                      \
        "name: print\nID: 5\n" COMMON_FIELDS                                                       \
        "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"                               \
        "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"                                  \
        "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n"

static const char *print(Foreign *f, uint16_t id, const void *data, size_t n) {
        _cleanup_free_ uint8_t *at = malloc(n + 1);

        /* As long as it is, so that a sanitizer sees what reads beyond. */
        memcpy(at, data, n);
        at[n] = 0;
        return foreign_print(
                f,
                &(Event){ .kind = EVENT_OTHER, .id = id, .n_bytes = (uint32_t) n, .payload = at });
}

/* Words of 32 bits, of a little-endian machine. */
static const char *print_words(Foreign *f, uint16_t id, const uint32_t *words, size_t n) {
        uint32_t data[8];

        ck_assert_uint_le(n, sizeof(data));
        for (size_t i = 0; i < n / 4; i++)
                data[i] = htole32(words[i]);
        return print(f, id, data, n);
}

static Foreign *knowing_of(const char *system, const char *format, bool big_endian) {
        Foreign *f = MADE(Foreign, foreign_new, big_endian);

        ck_assert_int_eq(foreign_add(f, system, format), 0);
        return f;
}

static Foreign *knowing(const char *system, const char *format) {
        return knowing_of(system, format, false);
}

typedef struct Switch {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        char prev_comm[16];
        int32_t prev_pid, prev_prio;
        int64_t prev_state;
        char next_comm[16];
        int32_t next_pid, next_prio;
} Switch;

TEST(a_task_switch_reads_as_the_kernel_has_it) {
        _cleanup_(foreign_freep) Foreign *f = knowing_of("sched", SWITCH_FORMAT, HOST_BIG_ENDIAN);
        Switch s = { .type = 314,
                     .prev_comm = "client",
                     .prev_pid = 17,
                     .prev_prio = 120,
                     .prev_state = 1,
                     .next_comm = "swapper/0",
                     .next_prio = 120 };

        ck_assert_str_eq(print(f, 314, &s, sizeof(s)),
                         "sched_switch: prev_comm=client prev_pid=17 prev_prio=120 "
                         "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120");
        s.prev_state = 0;
        ck_assert_ptr_nonnull(strstr(print(f, 314, &s, sizeof(s)), "prev_state=R ==>"));
        s.prev_state = 0x40;
        ck_assert_ptr_nonnull(strstr(print(f, 314, &s, sizeof(s)), "prev_state=R+ ==>"));
}

static SchedEvent sched_of(Foreign *f, const Switch *s, size_t n) {
        _cleanup_free_ uint8_t *at = malloc(n);

        memcpy(at, s, n);
        return foreign_sched(
                f,
                &(Event){ .kind = EVENT_OTHER, .id = 314, .n_bytes = (uint32_t) n, .payload = at });
}

static void check_sched(const SchedEvent *e, int32_t pid, const char *comm, int32_t left_pid,
                        char left_state) {
        ck_assert_int_eq(e->kind, SCHED_SWITCH);
        ck_assert_int_eq(e->pid, pid);
        ck_assert_str_eq(e->comm, comm);
        ck_assert_int_eq(e->left_pid, left_pid);
        ck_assert_int_eq(e->left_state, left_state);
}

static const Switch a_switch = { .type = 314,
                                 .prev_comm = " prev_state=X ",
                                 .prev_pid = 17,
                                 .prev_state = 1,
                                 .next_comm = "next",
                                 .next_pid = 18 };

TEST(a_task_switch_tells_without_its_text_what_the_text_says) {
        static const struct {
                int64_t state;
                char letter;
        } states[] = { { 1, 'S' },    { 0, 'R' }, { 2, 'D' }, { 3, 'S' },
                       { 0x40, 'R' }, { 1, 'S' }, { 2, 'D' } };
        _cleanup_(foreign_freep) Foreign *f = knowing_of("sched", SWITCH_FORMAT, HOST_BIG_ENDIAN);
        _cleanup_(foreign_freep) Foreign *other =
                knowing_of("sched", SWITCH_FORMAT, !HOST_BIG_ENDIAN);
        Switch s = a_switch;
        SchedEvent e;

        for (size_t i = 0; i < ELEMENTSOF(states); i++) {
                s.prev_state = states[i].state;
                e = sched_of(f, &s, sizeof(s));
                check_sched(&e, 18, "next", 17, states[i].letter);
        }
        memcpy(s.prev_comm, "0123456789abcdef", 16);
        memcpy(s.next_comm, "0123456789abcdef", 16);
        s.prev_state = 0x10;
        e = sched_of(f, &s, sizeof(s));
        check_sched(&e, 18, "0123456789abcde", 17, '0');
        s.type = __builtin_bswap16(314);
        s.prev_pid = (int32_t) __builtin_bswap32(17);
        s.next_pid = (int32_t) __builtin_bswap32(18);
        s.prev_state = (int64_t) __builtin_bswap64(2);
        e = sched_of(other, &s, sizeof(s));
        check_sched(&e, 18, "0123456789abcde", 17, 'D');
}

TEST(a_record_that_its_text_would_tell_otherwise_tells_nothing) {
        _cleanup_(foreign_freep) Foreign *f = knowing_of("sched", SWITCH_FORMAT, HOST_BIG_ENDIAN);
        Switch cases[] = { a_switch, a_switch, a_switch, a_switch };

        cases[0].next_pid = -1;
        cases[1].prev_pid = -1;
        cases[2].next_comm[2] = '\n';
        cases[3].prev_state = 257;
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_int_eq(sched_of(f, &cases[i], sizeof(Switch)).kind, SCHED_NONE);
        for (size_t n = 0; n < sizeof(Switch); n++)
                ck_assert_int_eq(sched_of(f, &a_switch, n).kind, SCHED_NONE);
        ck_assert_int_eq(sched_of(f, &a_switch, sizeof(Switch)).kind, SCHED_SWITCH);
        ck_assert_int_eq(foreign_sched(f, &(Event){ .id = 314, .n_bytes = sizeof(Switch) }).kind,
                         SCHED_NONE);
        ck_assert_int_eq(foreign_sched(f, &(Event){ .id = 315 }).kind, SCHED_NONE);
}

TEST(of_odd_formats_only_the_text_tells) {
        static const struct {
                const char *from, *to;
        } cases[] = {
                { "name: sched_switch", "name: sched_swatch" },
                { "pid_t next_pid;\toffset:56;\tsize:4", "pid_t next_pid;\toffset:56;\tsize:8" },
                { "pid_t prev_pid;", "pid_t prev_pod;" },
                { "pid_t next_pid;", "pid_t next_pid[1];" },
                { "char next_comm[16];\toffset:40;\tsize:16",
                  "char next_comm[8];\toffset:40;\tsize:8" },
                { "char next_comm[16]", "int next_comm[4]" },
                { "long prev_state;\toffset:32;\tsize:8", "long prev_state;\toffset:32;\tsize:4" },
                { "print fmt: \"prev_comm", "print fmt: \"comm" },
                { "prev_prio, (REC->prev_state", "prev_prio, (REC->next_prio" },
                { "\"D\"", "\"D prev_pid=9\"" },
                { "\"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio",
                  "\"+\" : \"\", REC->prev_comm, REC->next_pid, REC->next_prio" },
                { "REC->next_prio\n", "REC->next_prio + 1\n" },
        };
        static const char known[] = SWITCH_FORMAT;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(foreign_freep) Foreign *f = MADE(Foreign, foreign_new, HOST_BIG_ENDIAN);
                const char *at = strstr(known, cases[i].from);
                _cleanup_free_ char *format = NULL;

                ck_assert_ptr_nonnull(at);
                ck_assert_int_gt(asprintf(&format, "%.*s%s%s", (int) (at - known), known,
                                          cases[i].to, at + strlen(cases[i].from)),
                                 0);
                ck_assert_int_eq(foreign_add(f, "sched", format), 0);
                ck_assert_int_eq(sched_of(f, &a_switch, sizeof(a_switch)).kind, SCHED_NONE);
                ck_assert_ptr_nonnull(print(f, 314, &a_switch, sizeof(a_switch)));
        }
}

TEST(symbols_strings_elements_and_pointers_read_as_the_kernel_has_them) {
        static const struct {
                const char *format, *text;
                uint32_t words[8]; /* the first is its ID */
        } cases[] = {
                { IRQ_ENTRY,
                  "irq_handler_entry: irq=4 name=ttyS0",
                  { 150, 17, 4, 6 << 16 | 16, 'S' << 24 | 'y' << 16 | 't' << 8 | 't', '0' } },
                { SOFTIRQ, "softirq_entry: vec=3 [action=NET_RX]", { 151, 17, 3 } },
                { SOFTIRQ, "softirq_entry: vec=9 [action=0x9]", { 151, 17, 9 } },
                { POINTER, "kfree: ptr=ffff888003d5c000", { 152, 17, 0x03d5c000, 0xffff8880 } },
                { SYS_ENTER, "sys_enter: (7, 8)", { 153, 17, 7, 0, 8, 0 } },
                { PRINT,
                  "hello",
                  { 5, 17, 0, 0, 'l' << 24 | 'l' << 16 | 'e' << 8 | 'h', '\n' << 8 | 'o' } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const uint32_t *words = cases[i].words;
                _cleanup_(foreign_freep) Foreign *f =
                        knowing(words[0] == 5 ? "ftrace" : "x", cases[i].format);

                ck_assert_str_eq(print_words(f, (uint16_t) words[0], words, sizeof(cases[i].words)),
                                 cases[i].text);
        }
}

TEST(what_a_record_says_of_itself_is_not_believed) {
        _cleanup_(foreign_freep) Foreign *f = knowing("irq", IRQ_ENTRY);
        uint32_t far[] = { 150, 17, 4, 6 << 16 | 4000, 0, 0 };
        uint32_t longer[] = { 150, 17, 4, 9 << 16 | 16, 0, 0 };
        uint32_t endless[] = { 150, 17, 4, 8 << 16 | 16, 0x41414141, 0x41414141 };

        ck_assert_ptr_null(print_words(f, 150, far, sizeof(far)));
        ck_assert_ptr_null(print_words(f, 150, longer, sizeof(longer)));
        ck_assert_str_eq(print_words(f, 150, endless, sizeof(endless)),
                         "irq_handler_entry: irq=4 name=AAAAAAAA");
        for (uint32_t n = 0; n < 16; n += 4)
                ck_assert_ptr_null(print_words(f, 150, far, n));
}

TEST(an_expression_without_bounds_is_printed_as_fields) {
        _cleanup_(foreign_freep) Foreign *array = knowing("x", ARRAY),
                                         *wild = knowing("x", SYS_ENTER_WILD);
        uint32_t data[] = { 155, 17, 1 << 30, 4 << 16 | 16, 0x01020304 };
        uint32_t args[] = { 154, 17, 7, 0, 8, 0 };

        ck_assert_ptr_nonnull(strstr(print_words(array, 155, data, sizeof(data)), "bytes:  n="));
        ck_assert_ptr_nonnull(strstr(print_words(wild, 154, args, sizeof(args)), "args="));
}

TEST(an_unknown_event_has_no_text_and_a_bad_format_is_refused) {
        _cleanup_(foreign_freep) Foreign *f = knowing("irq", SOFTIRQ);
        _cleanup_free_ char *deep = malloc(10000);
        uint32_t data[] = { 99, 17, 1 };

        ck_assert_ptr_null(print_words(f, 99, data, sizeof(data)));
        ck_assert_int_eq(foreign_add(f, "x", ""), FORMATS_E_INVALID);
        ck_assert_int_eq(foreign_add(f, "x", "name: y\nID: nothing\n"), FORMATS_E_INVALID);
        memset(deep, '(', 9999);
        deep[9999] = 0;
        ck_assert_int_eq(foreign_add(f, "x", deep), FORMATS_E_INVALID);
}

#define TRACER(name, id, fields)                                                                   \
        "name: " name "\nID: " #id "\n" COMMON_FIELDS fields "\n\nprint fmt: \"\"\n"
#define TRACER_PRINT(name, fields, print)                                                          \
        "name: " name "\nID: 7\n" COMMON_FIELDS fields "\nprint fmt: " print "\n"
#define WORD(name, at) "\tfield:unsigned long " name ";\toffset:" #at ";\tsize:8;\tsigned:0;\n"

static bool find(void *userdata, uint64_t address, uint64_t timestamp_ns, Symbol *ret) {
        if (address < 0x1000 || address >= 0x3000)
                return false;
        *ret = (Symbol){ .address = address & ~UINT64_C(0xfff), .name = "f1_f2_", .n_name = 2 };
        if (address >= 0x2000)
                ret->name += 3;
        return true;
}

TEST(what_tracers_record_has_names) {
        static const struct {
                const char *format, *text;
                size_t n;
                uint64_t words[6]; /* the first begins with its ID */
        } cases[] = {
                { TRACER("function", 1, WORD("ip", 8) WORD("parent_ip", 16)),
                  "function: f1 <-- f2",
                  24,
                  { 1, 0x1004, 0x2345 } },
                { TRACER("kernel_stack", 4,
                         "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
                         "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"),
                  "kernel_stack: <stack trace > => f1 => 0x77",
                  40,
                  { 4, 2, 0x1004, 0x77, 0x2345 } },
                { TRACER("raw_data", 18,
                         "\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
                         "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n"),
                  "raw_data: # 77 01 02 00 00",
                  16,
                  { 18, UINT64_C(0x20100000077) } },
                { TRACER("bputs", 14, WORD("ip", 8) WORD("str", 16)),
                  "bputs: f1: hi",
                  24,
                  { 14, 0x1000, 0xa0 } },
                { TRACER("bprint", 6,
                         WORD("ip", 8) WORD("fmt", 16) "\tfield:u32 buf[];\toffset:24;"
                                                       "\tsize:0;\tsigned:0;\n"),
                  "bprint: f2: n=7 in f1+0x8",
                  40,
                  { 6, 0x2000, 0xb0, 7, 0x1008 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(foreign_freep) Foreign *f = knowing("ftrace", cases[i].format);
                uint64_t words[ELEMENTSOF(cases[i].words)];
                uint16_t id = (uint16_t) cases[i].words[0];

                for (size_t k = 0; k < ELEMENTSOF(words); k++)
                        words[k] = htole64(cases[i].words[k]);
                ck_assert_int_eq(
                        foreign_set_printk(f, "0xa0 : \"hi\\n\"\n0xb0 : \"n=%ld in %pS\\n\"\n"), 0);
                foreign_set_names(f, find, NULL);
                ck_assert_str_eq(print(f, id, words, cases[i].n), cases[i].text);
                for (size_t n = 0; n < cases[i].n; n++)
                        ck_assert_ptr_nonnull(print(f, id, words, n));
        }
}

TEST(a_format_that_is_needed_later_prints_the_same) {
        _cleanup_(foreign_freep) Foreign *now = knowing("irq", SOFTIRQ), *later = NULL;
        uint32_t data[] = { 151, 17, 3 }, bad[] = { 156, 17, 3 };
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(foreign_new(&later, false), 0);
        ck_assert_int_eq(foreign_add_later(later, "x", "name: y\nID: 156\n"), 0);
        ck_assert_int_eq(foreign_add_later(later, "x", "no format"), 0);
        ck_assert_int_eq(foreign_add_later(later, "irq", SOFTIRQ), 0);
        text = strdup(print_words(now, 151, data, sizeof(data)));
        for (size_t i = 0; i < 2; i++) {
                ck_assert_str_eq(print_words(later, 151, data, sizeof(data)), text);
                ck_assert_ptr_null(print_words(later, 156, bad, sizeof(bad)));
                ck_assert_ptr_null(print_words(later, 99, bad, sizeof(bad)));
        }
}

#define FIELD(type, at) "\tfield:" type ";\toffset:" #at ";\tsize:8;\tsigned:0;\n"

static bool find_place(void *userdata, uint64_t address, uint64_t timestamp_ns, Symbol *ret) {
        if (!find(userdata, address, timestamp_ns, ret)) {
                *ret = (Symbol){ .name = "percpu", .n_name = 6, .type = 'A' };
                return address == 0;
        }
        if (address < 0x2000)
                ret->n_bytes = 0x123;
        else {
                ret->module = "m]";
                ret->n_module = 1;
        }
        return true;
}

TEST(an_event_reads_as_the_kernel_has_it) {
        static const struct {
                const char *system, *format, *text;
                uint64_t words[3];
        } cases[] = {
                { "skb",
                  TRACER_PRINT("consume_skb", FIELD("void * p", 8) FIELD("void * q", 16),
                               "\"%pS %pS\", REC->p, REC->q"),
                  "consume_skb: f1+0x4/0x123 f2+0x345 [m]",
                  { 7, 0x1004, 0x2345 } },
                { "workqueue",
                  TRACER_PRINT("work", FIELD("void * p", 8) FIELD("void * q", 16),
                               "\"%ps %pS\", REC->p, REC->q"),
                  "work: f2 [m] 0x0",
                  { 7, 0x2000, 0 } },
                { "timer",
                  TRACER_PRINT("timer_start", FIELD("unsigned long flags", 8),
                               "\"flags=%s zero=%#lx\", __print_flags(REC->flags & (4 | 8), \"|\", "
                               "{ 1 << 2, \"M\" }, { (gfp_t)(8), \"D\" }), REC->flags & 2"),
                  "timer_start: flags=D zero=0x0",
                  { 7, 0x1009 } },
                { "rcu",
                  TRACER_PRINT("rcu_utilization", FIELD("const char * s", 8), "\"%s\", REC->s"),
                  "rcu_utilization: Start scheduler-tick",
                  { 7, 0xa0 } },
                { "kprobes",
                  TRACER_PRINT("mine",
                               FIELD("unsigned long __probe_func", 8)
                                       FIELD("unsigned long __probe_ret_ip", 16),
                               "\"(%lx <- %lx)\", REC->__probe_func, REC->__probe_ret_ip"),
                  "mine: (f1+0x10/0x123 <- f2)",
                  { 7, 0x2000, 0x1010 } },
                { "syscalls",
                  TRACER_PRINT("sys_enter_access",
                               FIELD("const char * name", 8) FIELD("int mode", 16),
                               "\"name: 0x%08lx, mode: 0x%08lx\", ((unsigned long)(REC->name)), "
                               "((unsigned long)(REC->mode))"),
                  "sys_access(name: 7ffff7ff42a0, mode: 4)",
                  { 7, 0x7ffff7ff42a0, 4 } },
                { "syscalls", TRACER_PRINT("sys_enter_getpid", , "\"\""), "sys_getpid()", { 7 } },
                { "syscalls",
                  TRACER_PRINT("sys_exit_access", FIELD("long ret", 8), "\"0x%lx\", REC->ret"),
                  "sys_access -> 0xfffffffffffffffe",
                  { 7, UINT64_C(-2) } },
                { "ftrace",
                  TRACER_PRINT("user_stack", FIELD("unsigned long caller[8]", 8), "\"\""),
                  "user_stack: <user stack trace > => 0x7ffff7e75353",
                  { 7, 0x7ffff7e75353, 0 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(foreign_freep) Foreign *f = knowing(cases[i].system, cases[i].format);
                uint64_t words[ELEMENTSOF(cases[i].words)];

                for (size_t k = 0; k < ELEMENTSOF(words); k++)
                        words[k] = htole64(cases[i].words[k]);
                ck_assert_int_eq(foreign_set_printk(f, "0xa0 : \"Start scheduler-tick\"\n"), 0);
                foreign_set_names(f, find_place, NULL);
                ck_assert_str_eq(print(f, 7, words, sizeof(words)), cases[i].text);
        }
}

#define DATA(name, at) "\tfield:__data_loc char[] " name ";\toffset:" #at ";\tsize:4;\tsigned:0;\n"

/* Words of 64 bits, then one of 32: where what the pointer points to is, and how long, behind it. */
static const char *print_call(Foreign *f, const uint64_t *words, size_t n_words, const char *what,
                              size_t n_what) {
        uint8_t record[512] = { 7 };
        size_t at = 16 + n_words * 8;
        uint32_t word = htole32((uint32_t) (at + 4) | (uint32_t) n_what << 16);

        for (size_t i = 0; i < n_words; i++) {
                uint64_t w = htole64(words[i]);

                memcpy(record + 16 + i * 8, &w, 8);
        }
        memcpy(record + at, &word, 4);
        memcpy(record + at + 4, what, n_what);
        return print(f, 7, record, at + 4 + n_what);
}

TEST(calls_of_the_system_read_as_new_kernels_have_them) {
        _cleanup_(foreign_freep) Foreign *old = NULL, *new = NULL;
        _cleanup_(foreign_freep) Foreign *call =
                knowing("syscalls",
                        TRACER_PRINT("sys_enter_write",
                                     FIELD("unsigned int fd", 16) FIELD("const char * buf", 24)
                                             FIELD("size_t count", 32) DATA("__buf_val", 40),
                                     "\"fd: 0x%08lx, buf: 0x%08lx (%s), count: 0x%08lx\", REC->fd, "
                                     "REC->buf, __print_dynamic_array(__buf_val, 1), REC->count"));
        _cleanup_(foreign_freep) Foreign *text = knowing(
                "syscalls",
                TRACER_PRINT("sys_enter_access",
                             FIELD("const char * filename", 16) FIELD("int mode", 24)
                                     DATA("__filename_val", 32),
                             "\"filename: 0x%08lx \\\"%s\\\", mode: 0x%08lx\", REC->filename, "
                             "__get_str(__filename_val), REC->mode"));
        _cleanup_(foreign_freep) Foreign *open = knowing(
                "syscalls",
                TRACER_PRINT("sys_enter_openat",
                             FIELD("int dfd", 16) FIELD("const char * filename", 24)
                                     FIELD("int flags", 32) FIELD("umode_t mode", 40)
                                             DATA("__filename_val", 48),
                             "\"dfd: 0x%08lx, filename: 0x%08lx \\\"%s\\\", flags: %s%s, mode: "
                             "0%03o\", ((unsigned long)(REC->dfd)), ((unsigned "
                             "long)(REC->filename)), __get_str(__filename_val), (REC->flags & "
                             "~3) && !(REC->flags & 3) ? \"O_RDONLY|\" : \"\",  REC->flags ? "
                             "__print_flags(REC->flags, \"|\", { 0x1, \"O_WRONLY\" }, { 0x2, "
                             "\"O_RDWR\" }, { 0x40, \"O_CREAT\" }, { 0x10000, \"O_DIRECTORY\" }, "
                             "{ 0x80000, \"O_CLOEXEC\" }) : \"O_RDONLY\",  ((unsigned "
                             "long)(REC->mode))"));
        const char *close = TRACER_PRINT("sys_enter_close", FIELD("unsigned int fd", 16),
                                         "\"fd: 0x%08lx\", ((unsigned long)(REC->fd))");

        ck_assert_str_eq(print_call(call, (uint64_t[]){ 1, 0x5000, 3 }, 3, "h\"\n", 3),
                         "sys_write(fd: 1, buf: 0x5000 (68:22:0a) \"h\".\", count: 3)");
        ck_assert_str_eq(print_call(call, (uint64_t[]){ 10, 9, 400 }, 3, "h\377", 2),
                         "sys_write(fd: 0xa, buf: 9 (68:ff, ...) \"h.\"..., count: 0x190)");
        ck_assert_str_eq(print_call(call, (uint64_t[]){ 1, 0, 0 }, 3, "", 0),
                         "sys_write(fd: 1, buf: 0 (), count: 0)");
        ck_assert_str_eq(print_call(call, (uint64_t[]){ 1, 0, 1 }, 3, "\0", 1),
                         "sys_write(fd: 1, buf: 0 (00), count: 1)");
        ck_assert_str_eq(print_call(text, (uint64_t[]){ 0x7000, 4 }, 2, "/a\n\0b", 5),
                         "sys_access(filename: 0x7000 \"/a.\", mode: 4)");
        ck_assert_str_eq(print_call(open, (uint64_t[]){ 4294967196, 4096, 0x80000, 0 }, 4, "/b", 3),
                         "sys_openat(dfd: 4294967196, filename: 4096 \"/b\", flags: "
                         "O_RDONLY|O_CLOEXEC)");
        ck_assert_str_eq(
                print_call(open, (uint64_t[]){ 3, 4096, 0x41, 0640 }, 4, ", mode: 1", 10),
                "sys_openat(dfd: 3, filename: 4096 \", mode: 1\", flags: O_WRONLY|O_CREAT, "
                "mode: 0640)");
        ck_assert_str_eq(print_call(open, (uint64_t[]){ 3, 4096, 0x410002, 0600 }, 4, "/", 2),
                         "sys_openat(dfd: 3, filename: 4096 \"/\", flags: O_TMPFILE|O_RDWR, mode: "
                         "0600)");

        ck_assert_int_eq(foreign_new(&old, false), 0);
        ck_assert_int_eq(foreign_new(&new, false), 0);
        foreign_set_release(old, "6.12.1");
        foreign_set_release(new, "6.18.2");
        ck_assert_int_eq(foreign_add(old, "syscalls", close), 0);
        ck_assert_int_eq(foreign_add(new, "syscalls", close), 0);
        ck_assert_str_eq(print_call(old, (uint64_t[]){ 10 }, 1, "", 0), "sys_close(fd: a)");
        ck_assert_str_eq(print_call(new, (uint64_t[]){ 10 }, 1, "", 0), "sys_close(fd: 0xa)");
}

/* libtraceevent looks for it as it lies in the record, in this machine's byte order. */
TEST(a_string_of_the_kernel_is_found_in_either_byte_order) {
        uint64_t little[] = { htole64(7), htole64(0xa0) },
                 big[] = { htobe64(UINT64_C(7) << 48), htobe64(0xa0) };

        for (int is_big = 0; is_big < 2; is_big++) {
                _cleanup_(foreign_freep) Foreign *f = MADE(Foreign, foreign_new, is_big);

                ck_assert_int_eq(
                        foreign_add(f, "rcu",
                                    TRACER_PRINT("rcu_utilization", FIELD("const char * s", 8),
                                                 "\"%s\", REC->s")),
                        0);
                ck_assert_int_eq(foreign_set_printk(f, "0xa0 : \"Start context switch\"\n"), 0);
                ck_assert_str_eq(print(f, 7, is_big ? big : little, sizeof(little)),
                                 "rcu_utilization: Start context switch");
        }
}
