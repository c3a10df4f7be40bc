/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A tracefs that behaves, for tests of the controller
 *
 * Plain files under a scratch directory; the test program is linked with
 * --wrap for the few system calls that change them, so that they act as the
 * kernel's do: a list takes one word for each write() and is installed at close(), an unknown
 * function is refused, a tracer whose pipe is open is busy, a new instance is full of files.
 *
 * Where there are instances, it is also the kernel that does not wait for those who look into the graph
 * filter (daemon/instances/instance.h): changing it while a tracer in an instance records anybody but the caller, or
 * before its CPUs were waited for, ends the process the same way.
 *
 * Each such call is a step.  A test may let one fail, come short, or be the last thing the process
 * does.  After every step the rule is checked that an empty set_graph_function never meets a
 * function_graph that is on; breaking it ends the process with FAKE_BROKEN.
 */

#include "base/array.h"
#include "daemon/tracer/controller.h"
#include "scratch.h"

#define FAKE_DIED 77
#define FAKE_BROKEN 99

typedef enum FakeFault { FAKE_NONE, FAKE_FAIL, FAKE_SHORT, FAKE_DIE } FakeFault;

typedef struct FakeKernel {
        Scratch scratch;
        char tracefs[PATH_MAX];
        int tracefs_fd, root_fd, ledger_fd; /* root_fd: what stands for "/" */
        bool has_instances;                 /* function_graph may run in one */
        bool shares_options;                /* function_graph's, between instances */
        bool is_busy;                       /* somebody holds a pipe of every buffer open */
        bool waits_for_cpus;                /* itself, so that nobody need be quiesced */
        bool has_waited; /* the CPUs were waited for, since all tracers were quiesced */
        FakeFault fault;
        unsigned fault_at, n_steps; /* steps count from 1 */
        SessionMeta *metas[8];      /* fake_session()'s */
        size_t n_metas;
        char *before; /* fake_dump() at the first fake_start() */
        Strv log;     /* "write FILE TEXT", "truncate FILE" (a list), "mkdir DIR", "rmdir DIR" */
} FakeKernel;

/* One at a time. */
FakeKernel *fake_kernel_new(bool has_instances);
void fake_kernel_free(FakeKernel *k);
/* The same as a cleanup. */
static inline void fake_kernel_freep(FakeKernel **k) {
        fake_kernel_free(*k);
}
#define _cleanup_fake_kernel_ _cleanup_(fake_kernel_freep)

/* A kernel and the controller on it, until the end of the block. */
#define FAKE_CASE(k, c, has_instances)                                                             \
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(has_instances);                      \
        _cleanup_(controller_freep) Controller *c = fake_controller(k)
/* A test with them, @k and @c; FAKE_TESTS: one that is run without and with @instances. */
#define FAKE_TEST(name, has_instances)                                                             \
        TEST_WITH(name, (FakeKernel * k, Controller * c), FAKE_CASE(k, c, has_instances), k, c)
/* The same with a session that could be begun, of udp_sendmsg: @m. */
#define FAKE_SESSION_TEST(name, has_instances, session)                                            \
        TEST_WITH(name, (FakeKernel * k, Controller * c, SessionMeta * m),                         \
                  FAKE_CASE(k, c, has_instances);                                                  \
                  SessionMeta *m = fake_session(session, "udp_sendmsg"), k, c, m)
#define FAKE_TESTS(name)                                                                           \
        static void name##_on(FakeKernel *k, Controller *c, bool instances);                       \
        TEST(name) {                                                                               \
                for (int instances = 0; instances < 2; instances++) {                              \
                        FAKE_CASE(k, c, instances);                                                \
                        name##_on(k, c, instances);                                                \
                }                                                                                  \
        }                                                                                          \
        static void name##_on(FakeKernel *k, Controller *c, bool instances)

/* One on it, that keeps nothing of a predecessor's; controller_free() it. */
Controller *fake_controller_at(FakeKernel *k, int ledger_fd); /* daemon/tracefs/ledger.h */
#define fake_controller(k) fake_controller_at((k), (k)->ledger_fd)
/* Admits and arms, as a start does. */
int fake_admit_and_arm(Controller *c, Tracer **ret, SessionMeta *m, bool force, Refusal *refusal);
/* Sets a control file, or a file of the fake "/", behind everybody's back. */
void fake_put(FakeKernel *k, const char *path, const char *text);
void fake_put_root(FakeKernel *k, const char *path, const char *text);
/* Content of a control file; the caller frees. */
char *fake_get(FakeKernel *k, const char *path);
void fake_expect(FakeKernel *k, const char *path, const char *text); /* that it is @text */
/* All control files and their contents in one text; the caller frees. */
char *fake_dump(FakeKernel *k);
/* That they are as they were when fake_dump() returned @before. */
void fake_expect_all(FakeKernel *k, const char *before);

/*
 * fake_survive() - @story in a child with @fault at step @at, and then the next controller
 *
 * Which must find or make all as it was.  Return: false: the story ended before that step.
 */
bool fake_survive(FakeKernel *k, FakeFault fault, unsigned at, void (*story)(FakeKernel *k));

/* Of session @name, for the functions in @functions, separated by spaces; the caller frees. */
SessionMeta *fake_meta(const char *name, const char *functions);
/* The same, which ends with the kernel. */
SessionMeta *fake_session(const char *name, const char *functions);
/* Admits and arms it, which must succeed; with @force others' tracers are overridden. */
Tracer *fake_start(Controller *c, SessionMeta *m, bool force);
/* Disarms it, with which all control files are as they were before the first of these. */
void fake_end(Tracer *t);
/* That it is refused, with a message that has @part in it, and that all control files stay as they are. */
void fake_refuse(Controller *c, SessionMeta *m, bool force, RefusalKind kind, const char *part);
