/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kill-every: dies after every system call of arming and disarming, and looks what is left
 *
 * A child arms a session and another one beside it, records for a moment, and disarms both, while
 * this process follows its threads with ptrace() and kills it with SIGKILL when its k-th system call
 * has returned; then what the next daemon would do is done, and all control files are compared with what
 * they said before.  For k = 1 until a child comes to its end.  The putting back is killed as well,
 * now and then, after a system call that moves with k, and done again.
 *
 * A call that only looks, reading a file for one, leaves nothing behind, so that dying after it is
 * dying after the one before it: such calls are not counted.
 *
 * Everything that need not be made anew each time (the list of functions, above all) is there before
 * the child is forked, or a guest would take hours.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/tracer/controller.h"

#define RESTORE_EVERY 4  /* so often the putting back is killed, too */
#define RESTORE_CALLS 31 /* within so many calls */
#define MAX_FDS 1024
#define MAX_THREADS 8
#define TRACEFS_MAGIC 0x74726163 /* linux/magic.h */

typedef struct Setting {
        const char *tracefs;
        int ledger_fd;
        Controller *controller; /* that knows the functions and has changed nothing */
        const char *root, *other_root, *hooked;
        bool is_fake; /* plain files, which are empty between open() and write() */
} Setting;

/* --- what is done ----------------------------------------------------------------------------- */

static Tracer *arm(const Setting *s, const char *name, const char *root) {
        _cleanup_(admission_freep) Admission *admission = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        SessionMeta *m;
        Tracer *t;
        int r;

        if (session_meta_new(&m) < 0)
                _exit(3);
        free(m->name);
        m->name = strdup(name);
        m->spec.buffer_bytes = 64 << 10;
        m->spec.lean = streq(s->hooked, "-") ? LEAN_AUTO : LEAN_OFF;
        m->spec.no_irqs = true; /* from which nothing is learned, which would fork */
        if (strv_add(&m->spec.functions, root) < 0 ||
            (m->spec.lean == LEAN_OFF && strv_add(&m->spec.hooked, s->hooked) < 0))
                _exit(3);
        r = controller_admit(s->controller, &admission, m, false, false, &refusal);
        if (r == 0)
                r = controller_arm(s->controller, &t, m, admission, &refusal);
        if (r == 0)
                return t;
        if (r < 0 || refusal.kind != REFUSAL_BUSY) {
                printf("# arming %s: %s\n", name, r < 0 ? strerror(-r) : refusal_message(&refusal));
                (void) fflush(stdout);
                _exit(3);
        }
        return NULL;
}

static void record(Tracer *t) {
        int fd = instance_open_raw(tracer_instance(t), 0);

        (void) tracer_set_recording(t, true);
        (void) tracer_set_recording(t, false);
        safe_close(fd);
}

/* Where there is one buffer the second session is refused. */
static void arm_and_disarm(const Setting *s) {
        Tracer *first = arm(s, "first", s->root), *second = arm(s, "second", s->other_root);

        if (!first)
                _exit(3);
        record(first);
        if (second)
                record(second);
        (void) tracer_disarm(first);
        if (second)
                (void) tracer_disarm(second);
}

static void put_back(const Setting *s) {
        Controller *c;

        if (controller_new(&c, s->tracefs, s->ledger_fd, s->ledger_fd, false, -EBADF) < 0)
                _exit(3);
        (void) controller_free(c);
}

/* --- which calls matter ----------------------------------------------------------------------- */

/* A thread of it. */
typedef struct Follower {
        pid_t tid;                           /* 0: none */
        bool in_call, is_opening, is_change; /* the call that it is in */
} Follower;

/* A child that is followed. */
typedef struct Victim {
        pid_t pid;
        Follower threads[MAX_THREADS];
        bool is_fake;
        bool is_written[MAX_FDS]; /* descriptors that may be written to */
} Victim;

static bool is_change(const Victim *v, uint64_t nr, const uint64_t *args, bool *ret_opening) {
        static const int looks[] = {
                SYS_read,
                SYS_pread64,
                SYS_readlinkat,
                SYS_getdents64,
                SYS_fstat,
                SYS_newfstatat,
                SYS_statx,
                SYS_lseek,
                SYS_fcntl,
                SYS_faccessat,
                SYS_faccessat2,
                SYS_mmap,
                SYS_munmap,
                SYS_brk,
                SYS_getpid,
                SYS_gettid,
                SYS_getuid,
                SYS_uname,
                SYS_clock_gettime,
                SYS_rt_sigprocmask,
                SYS_futex,
                SYS_mprotect,
                SYS_fstatfs,
                SYS_nanosleep,
                SYS_clock_nanosleep,
                SYS_clone,
                SYS_clone3,
                SYS_rseq,
                SYS_set_robust_list,
                SYS_exit,
                SYS_madvise,
#ifdef SYS_stat /* architectures younger than openat() lack these */
                SYS_access,
                SYS_lstat,
                SYS_readlink,
                SYS_stat,
#endif
        };

        *ret_opening = nr == SYS_openat && (args[2] & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY;
        if (nr == SYS_openat)
                return *ret_opening && !v->is_fake;
        if (nr == SYS_close)
                return args[0] < MAX_FDS && v->is_written[args[0]];
        if (nr == SYS_write)
                return args[0] > STDERR_FILENO;
        for (size_t i = 0; i < ELEMENTSOF(looks); i++)
                if (nr == (uint64_t) looks[i])
                        return false;
        return true;
}

/* In the child: a stop at each call. */
static int stop_at_calls(void) {
        struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE) };
        const struct sock_fprog filter = { .len = ELEMENTSOF(code), .filter = code };

        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                               prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0
                       ? -errno
                       : 0;
}

/* At a stop before a call, or after one that matters.  1: one that may change something has returned. */
static int look_at_call(Victim *v, Follower *t) {
        struct __ptrace_syscall_info info;

        if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info) < 0)
                return -errno;
        if (info.op == PTRACE_SYSCALL_INFO_SECCOMP) {
                t->is_change = is_change(v, info.seccomp.nr, info.seccomp.args, &t->is_opening);
                t->in_call = t->is_change || t->is_opening;
                return 0;
        }
        if (info.op != PTRACE_SYSCALL_INFO_EXIT || !t->in_call)
                return 0;
        t->in_call = false;
        if (t->is_opening && info.exit.rval >= 0 && info.exit.rval < MAX_FDS)
                v->is_written[info.exit.rval] = true;
        return t->is_change;
}

/* One that has not been seen yet is new; NULL: there are too many. */
static Follower *find_thread(Victim *v, pid_t tid, bool *ret_new) {
        Follower *empty = NULL;

        *ret_new = false;
        for (size_t i = 0; i < MAX_THREADS; i++) {
                if (v->threads[i].tid == tid)
                        return &v->threads[i];
                if (v->threads[i].tid == 0 && !empty)
                        empty = &v->threads[i];
        }
        if (empty)
                *empty = (Follower){ .tid = tid };
        *ret_new = true;
        return empty;
}

/* --- death ------------------------------------------------------------------------------------ */

/* Threads before the process itself, as it must be.  Whether it has died of the signal, or -1. */
static int kill_victim(const Victim *v) {
        int status = 0;
        pid_t tid;

        (void) kill(v->pid, SIGKILL);
        do
                tid = waitpid(-1, &status, __WALL);
        while (tid >= 0 && (tid != v->pid || WIFSTOPPED(status)));
        return tid == v->pid && WIFSIGNALED(status) ? 1 : -1;
}

/* Until @n calls have returned or it has ended: 1, or how it ended: 0, -1. */
static int follow(Victim *v, unsigned n) {
        unsigned n_calls = 0;
        pid_t tid = v->pid;
        int status = 0;

        for (;;) {
                bool is_new;
                Follower *t = find_thread(v, tid, &is_new);
                int signal = WSTOPSIG(status);

                if (!t)
                        return -1;
                /* A thread begins with a SIGSTOP; stops with bit 7 and events are ptrace()'s own. */
                if (is_new || signal == (SIGTRAP | 0x80) || status >> 16 != 0)
                        signal = 0;
                if (signal == 0 && !is_new)
                        n_calls += look_at_call(v, t) > 0;
                if (n_calls >= n)
                        return 1;
                if (ptrace(t->in_call ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL, signal) < 0 &&
                    errno != ESRCH)
                        return -1;
                while ((tid = waitpid(-1, &status, __WALL)) >= 0 && !WIFSTOPPED(status)) {
                        if (tid == v->pid)
                                return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
                        find_thread(v, tid, &is_new)->tid = 0;
                }
                if (tid < 0)
                        return -1;
        }
}

/* Runs @f in a child that dies after @n system calls; 0: it does not.  Whether it died so, or -1. */
static int run_until(const Setting *s, void (*f)(const Setting *), unsigned n) {
        int status, r;
        pid_t pid = fork();
        Victim v = { .pid = pid, .is_fake = s->is_fake };

        if (pid < 0)
                return -1;
        if (pid == 0) {
                if (n > 0 && ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
                        _exit(4);
                if (n > 0)
                        (void) raise(SIGSTOP);
                if (n > 0 && stop_at_calls() < 0)
                        _exit(4);
                f(s);
                _exit(0);
        }
        if (waitpid(pid, &status, n > 0 ? WUNTRACED : 0) != pid)
                return -1;
        if (!WIFSTOPPED(status))
                return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
        (void) ptrace(PTRACE_SETOPTIONS, pid, NULL,
                      PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                              PTRACE_O_EXITKILL);
        r = follow(&v, n);
        return r > 0 ? kill_victim(&v) : r;
}

/* --- what is left ----------------------------------------------------------------------------- */

/* Data, endless, or the same for ever; opening free_buffer would free it. */
static bool is_control(const char *name) {
        static const char *const others[] = {
                "free_buffer",    "trace",
                "trace_pipe",     "snapshot",
                "trace_marker",   "trace_marker_raw",
                "README",         "saved_cmdlines",
                "saved_tgids",    "stack_trace",
                "printk_formats", "touched_functions",
                "kprobe_profile", "uprobe_profile",
                "trace_stat",     "buffer_total_size_kb",
        };

        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                if (streq(others[i], name))
                        return false;
        return !startswith(name, "available_") && !startswith(name, "dyn_ftrace");
}

static int by_name(const struct dirent **a, const struct dirent **b) {
        return strcmp((*a)->d_name, (*b)->d_name);
}

/* All control files in @dir of tracefs, and the names of its directories. */
static void dump_dir(Buf *out, const char *tracefs, const char *dir) {
        char path[PATH_MAX];
        struct dirent **entries;
        int n;

        (void) snprintf(path, sizeof(path), "%s/%s", tracefs, dir);
        n = scandir(path, &entries, NULL, by_name);
        for (int i = 0; i < n; i++) {
                const char *name = entries[i]->d_name;
                _cleanup_free_ char *text = NULL;
                struct stat st;
                int r;

                (void) snprintf(path, sizeof(path), "%s/%s%s", tracefs, dir, name);
                if (name[0] != '.' && lstat(path, &st) >= 0) {
                        buf_printf(out, "%s%s:", dir, name);
                        if (S_ISREG(st.st_mode) && is_control(name) && (st.st_mode & 0400)) {
                                r = file_read(AT_FDCWD, path, &text, NULL, 1 << 20);
                                buf_printf(out, " %s", r < 0 ? strerror(-r) : text);
                        }
                        buf_adds(out, "\n");
                }
                free(entries[i]);
        }
        if (n >= 0)
                free(entries);
}

static char *dump(const char *tracefs) {
        _cleanup_buf_ Buf out = BUF_INIT;
        char *text;

        dump_dir(&out, tracefs, "");
        dump_dir(&out, tracefs, "options/");
        dump_dir(&out, tracefs, "instances/");
        return buf_take_string(&out, &text) < 0 ? NULL : text;
}

static void print_difference(unsigned k, const char *before, const char *after) {
        while (*before && *after) {
                size_t n = strcspn(before, "\n"), m = strcspn(after, "\n");

                if (n != m || memcmp(before, after, n) != 0) {
                        printf("# call %u: \"%.*s\" became \"%.*s\"\n", k, (int) MIN(n, 100U),
                               before, (int) MIN(m, 100U), after);
                        return;
                }
                before += n + (before[n] != 0);
                after += m + (after[m] != 0);
        }
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Whether all is as before a death after call @k, put back in two goes; *@ret_end: it came to its end. */
static bool survives(const Setting *s, unsigned k, const char *before, bool *ret_end) {
        _cleanup_free_ char *after = NULL;
        int r = run_until(s, arm_and_disarm, k);

        *ret_end = r <= 0;
        if (r >= 0 && k % RESTORE_EVERY == 0)
                r = run_until(s, put_back, 1 + k % RESTORE_CALLS);
        if (r >= 0)
                r = run_until(s, put_back, 0);
        after = dump(s->tracefs);
        if (r >= 0 && after && streq(before, after) &&
            faccessat(s->ledger_fd, "ledger", F_OK, 0) < 0)
                return true;
        if (r < 0)
                printf("# call %u: a child failed\n", k);
        if (after)
                print_difference(k, before, after);
        (void) fflush(stdout);
        return false;
}

static int usage(void) {
        fprintf(stderr,
                "usage: kill-every TRACEFS LEDGER-DIR ROOT OTHER-ROOT HOOKED EVERY [SECONDS]\n"
                "HOOKED: a function, so that arming is quick; -: all but ordinary ones.\n"
                "EVERY: 1: after every call; n: after every n-th.  After SECONDS no more.\n");
        return 2;
}

int main(int argc, char **argv) {
        _cleanup_(controller_freep) Controller *c = NULL;
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *before = NULL;
        unsigned k, every, n_deaths = 0, n_bad = 0;
        uint64_t end_ns = UINT64_MAX;
        bool has_ended = false;
        struct statfs fs;
        Setting s;

        if (argc < 7)
                return usage();
        log_setup("kill-every");
        log_set_max_priority(LOG_ERR);
        every = (unsigned) atoi(argv[6]);
        if (argc > 7)
                end_ns = now_ns(CLOCK_MONOTONIC) + (uint64_t) atoi(argv[7]) * NSEC_PER_SEC;
        fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (every == 0 || fd < 0 || controller_new(&c, argv[1], fd, fd, false, -EBADF) < 0)
                return usage();
        (void) controller_has_instances(c);
        safe_close(controller_list_functions(c, NULL));
        s = (Setting){ .tracefs = argv[1],
                       .ledger_fd = fd,
                       .controller = c,
                       .root = argv[3],
                       .other_root = argv[4],
                       .hooked = argv[5],
                       .is_fake = statfs(argv[1], &fs) < 0 || fs.f_type != TRACEFS_MAGIC };
        /* What the kernel keeps of a first use is there afterwards. */
        if (run_until(&s, arm_and_disarm, 0) != 0) {
                printf("# nothing can be armed\n");
                return 1;
        }
        before = dump(argv[1]);
        for (k = 1; before && !has_ended && now_ns(CLOCK_MONOTONIC) < end_ns; k += every) {
                n_bad += !survives(&s, k, before, &has_ended);
                n_deaths += !has_ended;
        }
        printf("deaths %u of %u calls, bad %u%s\n", n_deaths, k - every, n_bad,
               has_ended ? "" : ", out of time");
        return n_bad > 0 || !has_ended ? 1 : 0;
}
