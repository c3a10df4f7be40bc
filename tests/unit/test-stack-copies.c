/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <linux/perf_event.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "scratch.h"
#include "spaces/stack-copies.h"

#define SP UINT64_C(0x7fff00001000)
#define PC UINT64_C(0x401234)

static const StacksHeader header = { .magic = STACKS_MAGIC,
                                     .version = STACKS_VERSION,
                                     .machine = 62,
                                     .registers = UINT64_C(0xff01ff),
                                     .n_bytes = 64 };

/* A sample as linux 6.12 writes it, with 17 registers and @n_copied of 64 bytes of stack. */
static void put_sample(Buf *out, uint32_t tgid, uint32_t tid, uint64_t ns, uint64_t abi,
                       uint64_t n_copied) {
        uint64_t registers[17] = { [6] = 0x66, [7] = SP, [8] = PC, [13] = 0x1212 };
        uint8_t stack[64];
        struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .misc = 1 };
        uint32_t ids[2] = { tgid, tid };
        uint64_t cpu = 3, n = sizeof(stack);

        for (size_t i = 0; i < sizeof(stack); i++)
                stack[i] = (uint8_t) i;
        h.size = (uint16_t) (sizeof(h) + sizeof(ids) + 3 * 8 + (abi > 0 ? sizeof(registers) : 0) +
                             8 + sizeof(stack) + 8);
        buf_add(out, (const char *) &h, sizeof(h));
        buf_add(out, (const char *) ids, sizeof(ids));
        buf_add(out, (const char *) &ns, 8);
        buf_add(out, (const char *) &cpu, 8);
        buf_add(out, (const char *) &abi, 8);
        if (abi > 0)
                buf_add(out, (const char *) registers, sizeof(registers));
        buf_add(out, (const char *) &n, 8);
        buf_add(out, (const char *) stack, sizeof(stack));
        buf_add(out, (const char *) &n_copied, 8);
}

static void put_lost(Buf *out, uint64_t n) {
        struct perf_event_header h = { .type = PERF_RECORD_LOST, .size = sizeof(h) + 16 };
        uint64_t data[2] = { 7, n };

        buf_add(out, (const char *) &h, sizeof(h));
        buf_add(out, (const char *) data, sizeof(data));
}

static void write_file(const Scratch *s, const char *name, uint32_t cpu, const Buf *records) {
        StacksHeader h = header;
        _cleanup_buf_ Buf all = BUF_INIT;
        char path[64];

        h.cpu = cpu;
        buf_add(&all, (const char *) &h, sizeof(h));
        buf_add(&all, records->data, records->n_data);
        ck_assert_int_eq(dir_make(s->fd, STACKS_DIR, 0700), 0);
        (void) snprintf(path, sizeof(path), STACKS_DIR "/%s", name);
        ck_assert_int_eq(file_replace(s->fd, path, all.data, all.n_data, 0600), 0);
}

TEST(a_copy_is_found_by_cpu_task_and_time) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_(stack_copies_freep) StackCopies *copies = NULL;
        _cleanup_buf_ Buf first = BUF_INIT, second = BUF_INIT;
        StackCopy c;

        put_sample(&first, 10, 11, 3000, 2, 64);
        put_lost(&first, 5);
        put_sample(&first, 10, 11, 1000, 2, 48); /* of another event of the same ring */
        put_sample(&second, 10, 12, 5000, 2, 64);
        write_file(&s, "cpu3-0", 3, &first);
        write_file(&s, "cpu3-1", 3, &second);
        ck_assert_int_eq(stack_copies_open(&copies, s.fd), 0);
        ck_assert_uint_eq(stack_copies_n_lost(copies), 5);
        ck_assert_int_eq(stack_copies_find(copies, 3, 11, 900, 1000, &c), 1);
        ck_assert_uint_eq(c.timestamp_ns, 1000);
        ck_assert_uint_eq(c.n_stack, 48);
        ck_assert_int_eq(c.tgid, 10);
        ck_assert_uint_eq(c.pc, PC);
        ck_assert_uint_eq(c.sp, SP);
        ck_assert_uint_eq(c.registers[6], 0x66);
        ck_assert_uint_eq(c.registers[12], 0x1212);
        ck_assert_uint_eq(c.stack[47], 47);
        ck_assert_int_eq(stack_copies_find(copies, 3, 11, 1001, 2999, &c), 0);
        ck_assert_int_eq(stack_copies_find(copies, 3, 12, 0, 4999, &c), 0);
        ck_assert_int_eq(stack_copies_find(copies, 3, 12, 0, UINT64_MAX, &c), 1);
        ck_assert_int_eq(stack_copies_find(copies, 2, 11, 0, UINT64_MAX, &c), 0);
}

TEST(of_damaged_files_what_is_before_the_damage_counts) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_buf_ Buf records = BUF_INIT;

        put_sample(&records, 10, 11, 1000, 2, 64);
        put_sample(&records, 10, 11, 2000, 2, 64);
        for (size_t n = records.n_data; n-- > 0;) {
                _cleanup_(stack_copies_freep) StackCopies *copies = NULL;
                Buf part = { .data = records.data, .n_data = n };
                StackCopy c;

                write_file(&s, "cpu3-0", 3, &part);
                ck_assert_int_eq(stack_copies_open(&copies, s.fd), 0);
                ck_assert_int_eq(copies && stack_copies_find(copies, 3, 11, 0, 1500, &c) == 1,
                                 n >= records.n_data / 2);
                ck_assert(!copies || stack_copies_find(copies, 3, 11, 1500, UINT64_MAX, &c) == 0);
        }
}

TEST(there_may_be_more_files_than_anybody_may_open) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_(stack_copies_freep) StackCopies *copies = NULL;
        struct rlimit before, few;
        StackCopy c;

        for (unsigned i = 0; i < 100; i++) {
                _cleanup_buf_ Buf records = BUF_INIT;
                char name[STACKS_NAME_MAX];

                put_sample(&records, 10, 11, i, 2, 64);
                (void) snprintf(name, sizeof(name), "cpu3-%u", i);
                write_file(&s, name, 3, &records);
        }
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        few = before;
        few.rlim_cur = 50;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        ck_assert_int_eq(stack_copies_open(&copies, s.fd), 0);
        for (unsigned i = 0; i < 100; i++)
                ck_assert_int_eq(stack_copies_find(copies, 3, 11, i, i, &c), 1);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(what_cannot_be_unwound_is_no_copy) {
        _cleanup_buf_ Buf kernel = BUF_INIT, narrow = BUF_INIT, much = BUF_INIT;
        StackCopy c;

        put_sample(&kernel, 1, 1, 1, PERF_SAMPLE_REGS_ABI_NONE, 0);
        ck_assert(!stack_copy_parse(&c, &header, (uint8_t *) kernel.data, kernel.n_data));
        put_sample(&narrow, 1, 1, 1, PERF_SAMPLE_REGS_ABI_32, 64);
        ck_assert(!stack_copy_parse(&c, &header, (uint8_t *) narrow.data, narrow.n_data));
        put_sample(&much, 1, 1, 1, PERF_SAMPLE_REGS_ABI_64, UINT64_MAX);
        ck_assert(stack_copy_parse(&c, &header, (uint8_t *) much.data, much.n_data));
        ck_assert_uint_eq(c.n_stack, 64);
}
