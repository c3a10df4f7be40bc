/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dwarf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <ucontext.h>

#include "programs/programs-private.h"
#include "unit.h"

#if defined(HAVE_ELFUTILS) && defined(__x86_64__)

#define DEPTH 5
#define COPY_MAX 16384 /* a sanitizer has larger frames */

typedef struct Taken {
        StackCopy copy;
        uint8_t stack[COPY_MAX];
        void *expected[32];
        int n_expected, first; /* of take()'s caller: a sanitizer has a backtrace() of its own */
} Taken;

/* As another process would, for a sanitizer forbids to read what lies between variables.  Returns how much there is. */
static ssize_t read_stack(uint64_t at, uint8_t *ret) {
        int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        ssize_t n = pread(fd, ret, COPY_MAX, (off_t) at);

        ck_assert_int_gt(n, 0);
        (void) close(fd);
        return n;
}

__attribute__((noinline)) static int take(Taken *t, int depth);
/* The compiler's own unwinder says what is right. */
static int take(Taken *t, int depth) {
        static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15 };
        static ucontext_t u; /* not in each frame */

        if (depth > 0)
                return take(t, depth - 1) + 1;
        t->n_expected = backtrace(t->expected, ELEMENTSOF(t->expected));
        while (t->first < 2 && t->expected[t->first] != __builtin_return_address(0))
                t->first++;
        (void) getcontext(&u);
        t->copy = (StackCopy){ .machine = 62, .known = 0xffff };
        for (size_t i = 0; i < ELEMENTSOF(order); i++)
                t->copy.registers[i] = (uint64_t) u.uc_mcontext.gregs[order[i]];
        t->copy.pc = (uint64_t) u.uc_mcontext.gregs[REG_RIP];
        t->copy.sp = t->copy.begin = t->copy.registers[7];
        t->copy.stack = t->stack;
        t->copy.n_stack = (uint32_t) read_stack(t->copy.sp, t->stack);
        return 0;
}

/* Where in this program's file @address is; false: in another one. */
static bool find_at(uint64_t address, uint64_t *ret) {
        _cleanup_(fclosep) FILE *f = fopen("/proc/self/maps", "re");
        char line[512], own[256] = "";
        uint64_t start, end, offset;

        ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
        while (fgets(line, sizeof(line), f))
                if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
                    address >= start && address < end && strstr(line, own)) {
                        *ret = address - start + offset;
                        return true;
                }
        return false;
}

static rlim_t least; /* that was asked for */

/* In the place of the C library's, to be looked at. */
int setrlimit(__rlimit_resource_t what, const struct rlimit *limit) {
        least = what == (__rlimit_resource_t) RLIMIT_DATA ? MIN(least, limit->rlim_cur) : least;
        return (int) syscall(SYS_setrlimit, what, limit);
}

/* What libdwfl unpacks may be of any size: 3 GB of zeros are 450 KB in a section of a program, or in its place. */
TEST(what_is_compressed_is_no_program_and_memory_has_a_limit) {
        _cleanup_(program_image_freep) ProgramImage *i = NULL;
        struct rlimit before, after;
        const char *problem;
        char path[] = "/tmp/ftraced-test.XXXXXX", command[64];
        int fd = mkstemp(path);

        ck_assert_int_eq(getrlimit(RLIMIT_DATA, &before), 0);
        least = RLIM_INFINITY;
        ck_assert_int_eq(program_image_open(&i, open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                                            "/nowhere", &problem),
                         0);
        ck_assert_uint_lt(least, RLIM_INFINITY);
        ck_assert_int_eq(getrlimit(RLIMIT_DATA, &after), 0);
        ck_assert_uint_eq(before.rlim_cur, after.rlim_cur);
        i = program_image_free(i);
        (void) snprintf(command, sizeof(command), "xz -0 </proc/%d/exe >%s", getpid(), path);
        ck_assert_int_eq(system(command), 0);
        ck_assert_int_eq(program_image_open(&i, fd, "/nowhere", &problem), PROGRAM_IMAGE_E_INVALID);
        ck_assert_str_eq(problem, "is no ELF file");
        ck_assert_int_eq(unlink(path), 0);
}

/* Each is copied into memory, and whoever is on a stack says how many there are. */
TEST(of_too_many_bytes_of_programs_no_function_has_a_name) {
        char own[256] = "";
        struct stat st;
        SpacePlace place = { .is_known = true };
        MappedFile file = { .path = own, .name = "own" };

        ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
        ck_assert_int_eq(stat(own, &st), 0);
        file.inode = st.st_ino;
        file.major = major(st.st_dev);
        file.minor = minor(st.st_dev);
        place.file = &file;
        ck_assert(find_at((uint64_t) (uintptr_t) find_at, &place.at));
        for (int fits = 0; fits <= 1; fits++) {
                ProgramsOf of = { .is_host = true,
                                  .realtime_ns = UINT64_MAX,
                                  .max_bytes = (uint64_t) st.st_size - !fits };
                _cleanup_(programs_freep) Programs *p = NULL;
                ProgramFrame frame = {};

                ck_assert_int_eq(programs_new(&p, &of), 0);
                programs_name(p, &place, &frame);
                ck_assert_int_eq(frame.n_name > 0, fits);
                ck_assert_uint_eq(programs_lacking(p)->n, !fits);
        }
}

static Taken taken;

TEST(a_copied_stack_leads_to_its_callers) {
        _cleanup_(program_image_freep) ProgramImage *i = NULL;
        const char *problem;
        StackCopy c;
        uint64_t at;
        int n = 0;

        ck_assert_int_eq(take(&taken, DEPTH), DEPTH);
        c = taken.copy;
        ck_assert_int_eq(program_image_open(&i, open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                                            "/nowhere", &problem),
                         0);
        ck_assert_int_gt(taken.n_expected, taken.first + DEPTH);
        for (; n <= DEPTH; n++) {
                ck_assert(find_at(c.pc - (n > 0), &at));
                ck_assert_int_eq(unwind_step(&c, program_image_rules(i, at)), UNWIND_CALLED);
                ck_assert_uint_eq(c.pc, (uint64_t) taken.expected[taken.first + n]);
        }
}

TEST(a_short_copy_is_said_to_be_cut) {
        _cleanup_(program_image_freep) ProgramImage *i = NULL;
        const char *problem;
        uint64_t at;

        ck_assert_int_eq(take(&taken, DEPTH), DEPTH);
        ck_assert_int_eq(program_image_open(&i, open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                                            "/nowhere", &problem),
                         0);
        for (size_t n_stack = 0; n_stack < 512; n_stack += 8) {
                StackCopy c = taken.copy;
                UnwindStep step = UNWIND_CALLED;

                c.n_stack = n_stack;
                for (int n = 0; step == UNWIND_CALLED && find_at(c.pc - (n > 0), &at); n++)
                        step = unwind_step(&c, program_image_rules(i, at));
                ck_assert(step == UNWIND_CUT || step == UNWIND_CALLED);
        }
}

/* A file may have any number of them for each register. */
TEST(rules_of_many_operations_are_none) {
        Dwarf_Op ops[65] = { { .atom = DW_OP_breg7, .number = 16 } };
        uint64_t stack[8] = { [1] = 0x400100 };
        UnwindRules rules = { .return_register = 16,
                              .cfa = { .kind = UNWIND_BY_OPS, .n = 64, .ops = ops },
                              .registers[16] = { .kind = UNWIND_BY_OPS, .n = 2 } };
        const Dwarf_Op at_cfa[] = { { .atom = DW_OP_call_frame_cfa },
                                    { .atom = DW_OP_plus_uconst, .number = (Dwarf_Word) -8 } };
        const StackCopy copied = { .machine = 62,
                                   .known = 1 << 7,
                                   .registers[7] = 0x1000,
                                   .pc = 0x400000,
                                   .sp = 0x1000,
                                   .begin = 0x1000,
                                   .stack = (const uint8_t *) stack,
                                   .n_stack = sizeof(stack) };
        StackCopy c = copied;

        for (size_t i = 1; i < ELEMENTSOF(ops); i++)
                ops[i].atom = DW_OP_nop;
        rules.registers[16].ops = at_cfa;
        ck_assert_int_eq(unwind_step(&c, &rules), UNWIND_CALLED);
        ck_assert_uint_eq(c.pc, 0x400100);
        c = copied;
        rules.cfa.n = 65;
        ck_assert_int_eq(unwind_step(&c, &rules), UNWIND_LOST);
}

TEST(without_rules_frame_pointers_lead_on_and_up_alone) {
        uint64_t stack[8] = { [2] = 0x1030, [3] = 0x400100, [6] = 0x1000, [7] = 0x400200 };
        StackCopy c = { .machine = 62,
                        .known = 1 << 6 | 1 << 7,
                        .pc = 0x400000,
                        .sp = 0x1000,
                        .begin = 0x1000,
                        .stack = (const uint8_t *) stack,
                        .n_stack = sizeof(stack) };

        c.registers[6] = 0x1010;
        ck_assert_int_eq(unwind_step(&c, NULL), UNWIND_CALLED);
        ck_assert_uint_eq(c.pc, 0x400100);
        ck_assert_int_eq(unwind_step(&c, NULL), UNWIND_CALLED);
        ck_assert_uint_eq(c.pc, 0x400200);
        ck_assert_int_eq(unwind_step(&c, NULL), UNWIND_LOST); /* back down */
}

#endif
