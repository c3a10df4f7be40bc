/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Steps made of bytes: quicker than any file, and of any order
 *
 *      "STEPS"  and for each step
 *      0   kind (three bits), task (two), CPU (one), whether it has a name or a return value (two)
 *      1   depth; from 192 on the levels that kernels seldom have
 *      2   function (three bits), how far calltime and record are apart (five, as a power of two)
 *      3   how much time goes by (four bits), how long it took (four), as powers of 16
 */

#include "calls/step.h"
#include "fuzz.h"

#define FUZZ_STEPS_MAGIC "STEPS"
#define FUZZ_STEP_BYTES 4
#define FUZZ_SLACK "\0_______________________________"

typedef struct FuzzSteps {
        const uint8_t *p, *end;
        uint64_t now_ns;
} FuzzSteps;

#define FUZZ_FUNCTION(i, name, n, n_all)                                                           \
        { .address = i, .label = name FUZZ_SLACK, .n_label = n_all, .n_name = n, .root = -1, }

static inline bool fuzz_steps_open(FuzzSteps *s, const uint8_t *data, size_t n) {
        size_t n_magic = strlen(FUZZ_STEPS_MAGIC);

        if (n < n_magic || memcmp(data, FUZZ_STEPS_MAGIC, n_magic) != 0)
                return false;
        *s = (FuzzSteps){ .p = data + n_magic, .end = data + n, .now_ns = 1000 };
        return true;
}

static inline int fuzz_steps_next(FuzzSteps *s, Step *ret) {
        static const Function functions[] = {
                FUZZ_FUNCTION(1, "vfs_read", 8, 8),
                FUZZ_FUNCTION(2, "schedule", 8, 8),
                FUZZ_FUNCTION(3, "smp_apic_timer_interrupt", 24, 24),
                FUZZ_FUNCTION(4, "try_to_wake_up", 14, 14),
                FUZZ_FUNCTION(5, "ovl_open [overlay]", 8, 18),
                FUZZ_FUNCTION(6, "\"a\\,b;<\xff>\"", 10, 10),
                FUZZ_FUNCTION(7, "do_softirq", 10, 10),
                FUZZ_FUNCTION(8, "_raw_spin_lock", 14, 14),
        };
        static const char *const texts[] = {
                "sched_switch: prev_comm=a prev_pid=17 prev_prio=120 prev_state=S ==> next_comm=b "
                "next_pid=18 next_prio=120",
                "sched_switch: prev_comm=b prev_pid=18 prev_prio=120 prev_state=R ==> next_comm=a "
                "next_pid=17 next_prio=120",
                "sched_waking: comm=a pid=17 prio=120 target_cpu=001",
                "sched_wakeup: comm=b pid=18 prio=120 target_cpu=000",
        };
        static const int32_t pids[] = { 17, 18, 0, INT32_MIN };
        const uint8_t *p = s->p;
        uint32_t cpu;
        int32_t pid;

        if (s->end - p < FUZZ_STEP_BYTES)
                return 0;
        s->p += FUZZ_STEP_BYTES;
        s->now_ns += (UINT64_C(1) << (4 * (p[3] & 15))) - 1;
        cpu = p[0] >> 5 & 1;
        pid = pids[p[0] >> 3 & 3];
        *ret = (Step){
                .kind = (StepKind) ((p[0] & 7) % (STEP_TASK + 1)),
                .cpu = cpu,
                .pid = pid == INT32_MIN ? STEP_PID_UNKNOWN(cpu) : pid,
                .depth = p[1] < 192 ? p[1] % 8 : (p[1] - 191) * 15,
                .timestamp_ns = s->now_ns,
                .comm = p[0] & 64 ? "na\"me" : NULL,
                .has_retval = p[0] >> 7,
                .retval = p[3],
                .calltime = s->now_ns - (UINT64_C(1) << (p[2] >> 3)),
        };
        ret->rettime = ret->calltime + (UINT64_C(1) << (4 * (p[3] >> 4)));
        if (step_is_call(ret))
                ret->function = &functions[p[2] & 7];
        if (ret->kind == STEP_OTHER)
                ret->text = texts[p[2] & 3];
        if (ret->kind == STEP_LOST)
                ret->n_lost = p[2];
        if (ret->kind == STEP_TASK)
                ret->pid = pid > 0 ? pid : 17;
        return 1;
}
