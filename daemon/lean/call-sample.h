/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Call sample: who calls which functions, recorded for a moment
 *
 * The function tracer runs in an instance of its own, with these functions.  What it recorded is handed out
 * as pages: counting is for whoever may look into them (daemon/lean/learner.h).
 *
 * All tasks' calls are recorded: with set_ftrace_pid the function tracer leaves out what is called between
 * the decision to switch tasks and the switch, switch_mm_irqs_off() for one (linux 6.1 to 7.2
 * kernel/trace/ftrace.c, ftrace_pid_func()).
 */

#include "daemon/instances/instance.h"

#define CALL_SAMPLE_MS 100
#define CALL_SAMPLE_KB                                                                             \
        2048 /* of each CPU's buffer, or less on many: 80,000 calls; then the oldest go */

typedef struct CallSample {
        char *format; /* of the event ftrace/function, whose field "ip" is the function */
        int fd;       /* a memfd of whole pages */
        uint32_t page_bytes;
        uint64_t from_ns, to_ns; /* on the clock "mono": in between no call is missing */
        uint64_t n_calls;        /* with those that are missing; UINT64_MAX: not known */
        uint64_t n_own_events;   /* that came into the other buffer meanwhile */
} CallSample;

#define CALL_SAMPLE_INIT ((CallSample){ .fd = -EBADF })

/*
 * call_sample_take()
 * @hooks:   which functions; some
 * @own_dir: of the buffer whose events are counted meanwhile
 *
 * Everything is put back when it returns, or at the next start of a daemon.  A task.
 * Return: 0 or -errno: -EOPNOTSUPP (there is no function tracer), -EINVAL (no functions).
 */
int call_sample_take(CallSample *ret, Ledger *l, const Hooks *hooks, const char *own_dir);
void call_sample_done(CallSample *s);
#define _cleanup_call_sample_ _cleanup_(call_sample_done)
