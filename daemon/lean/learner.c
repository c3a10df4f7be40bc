/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The worker's status says whether what it wrote into a file counts.  Whoever is too slow is ended; who says too much
 * is by the sandbox.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/lean/lean.h"
#include "daemon/process/spawn.h"
#include "daemon/symbols/kernel-symbols.h"

struct Learner {
        LearnerDone done;
        void *userdata;
        sd_event_source *child, *timer;
        int answer_fd;
};

Learner *learner_free(Learner *l) {
        if (!l)
                return NULL;
        (void) sd_event_source_disable_unref(l->child);
        (void) sd_event_source_disable_unref(l->timer);
        (void) safe_close(l->answer_fd);
        return mfree(l);
}

static void finish(Learner *l, int error) {
        _cleanup_lean_tree_ LeanTree counts = {};
        _cleanup_free_ char *text = NULL;

        l->child = sd_event_source_disable_unref(l->child);
        l->timer = sd_event_source_disable_unref(l->timer);
        if (error >= 0 && lseek(l->answer_fd, 0, SEEK_SET) < 0)
                error = ORIGIN(-errno);
        if (error >= 0)
                error = fd_read(l->answer_fd, &text, NULL, LEARN_WORKER_MAX_OUT);
        if (error >= 0)
                error = learner_read(&counts, text);
        if (error == LEARNER_E_INVALID)
                error = ORIGIN(-EBADMSG);
        l->done(error < 0 ? NULL : &counts, error, l->userdata);
}

static int on_child(sd_event_source *source, const siginfo_t *si, void *userdata) {
        finish(userdata, si->si_code == CLD_EXITED && si->si_status == EXIT_SUCCESS ? 0 : -EIO);
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        finish(userdata, -ETIME);
        return 0;
}

/* A memfd with the job, or -errno. */
static int write_job(const LearnerJob *job) {
        _cleanup_close_ int fd = memfd_create("job", MFD_CLOEXEC);
        LearnWorkerJob j = { .n_sources = (uint32_t) job->n_fds,
                             .page_bytes = job->page_bytes,
                             .n_format = (uint32_t) strlen(job->format) + 1,
                             .from_ns = job->from_ns,
                             .to_ns = job->to_ns };
        const char *exit_format = job->exit_format ?: "";
        int r;

        if (fd < 0)
                return ORIGIN(-errno);
        if (strlen(job->field) >= sizeof(j.field))
                return ORIGIN(-EINVAL);
        memcpy(j.field, job->field, strlen(job->field));
        r = write_full(fd, &j, sizeof(j))
                    ?: write_full(fd, job->format, j.n_format)
                    ?: write_full(fd, exit_format, strlen(exit_format));
        if (r < 0)
                return r;
        return lseek(fd, 0, SEEK_SET) < 0 ? ORIGIN(-errno) : TAKE_FD(fd);
}

/* The worker's descriptors in their order. */
static int spawn_job(Learner *l, const LearnerJob *job, pid_t *ret) {
        static const char *const self[] = { "/proc/self/exe", LEARN_WORKER_OPTION, NULL };
        _cleanup_close_ int job_fd = write_job(job),
                            null_fd = open("/dev/null", O_RDWR | O_CLOEXEC),
                            symbols_fd = open(kernel_symbols_path("/proc/kallsyms"),
                                              O_RDONLY | O_CLOEXEC);
        _cleanup_free_ int *fds = calloc(LEARN_WORKER_FD_PAGES + job->n_fds, sizeof(*fds));

        if (job_fd < 0)
                return job_fd;
        if (null_fd < 0 || symbols_fd < 0 || !fds)
                return ORIGIN(-errno);
        fds[LEARN_WORKER_FD_JOB] = job_fd;
        fds[LEARN_WORKER_FD_OUT] = l->answer_fd;
        fds[LEARN_WORKER_FD_NULL] = null_fd;
        fds[LEARN_WORKER_FD_SYMBOLS] = symbols_fd;
        memcpy(fds + LEARN_WORKER_FD_PAGES, job->fds, job->n_fds * sizeof(*fds));
        return spawn_worker(ret, self, fds, LEARN_WORKER_FD_PAGES + job->n_fds);
}

int learner_start(Learner **ret, sd_event *event, const LearnerJob *job, LearnerDone done,
                  void *userdata) {
        _cleanup_(learner_freep) Learner *l = NEW(Learner, .done = done, .userdata = userdata,
                                                  .answer_fd = memfd_create("answer", MFD_CLOEXEC));
        pid_t pid;
        int r;

        if (!l || l->answer_fd < 0)
                return ORIGIN(-errno);
        r = spawn_job(l, job, &pid);
        if (r < 0)
                return r;
        r = sd_event_add_child(event, &l->child, pid, WEXITED, on_child, l);
        if (r < 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
                return r;
        }
        (void) sd_event_source_set_child_process_own(l->child, true);
        r = sd_event_add_time_relative(event, &l->timer, CLOCK_MONOTONIC,
                                       LEARNER_MAX_SECONDS * USEC_PER_SEC, 0, on_timer, l);
        if (r < 0)
                return r;
        log_debug("lean", "worker %i counts in %zu files", (int) pid, job->n_fds);
        *ret = TAKE_PTR(l);
        return 0;
}

/* --- its answer ------------------------------------------------------------------------------- */

#define N_NUMBERS 4                         /* of a function */
#define N_READ_MAX (8 * LEAN_MAX_FUNCTIONS) /* of which those are taken that tell most */

/* Up to white space, which follows; NULL: there is none. */
static const char *take_name(const char *s, char ret[static FUNCTION_NAME_MAX + 1]) {
        size_t n = strcspn(s, " \n");

        if (n == 0 || n > FUNCTION_NAME_MAX)
                return NULL;
        memcpy(ret, s, n);
        ret[n] = 0;
        return s + n;
}

static const char *take_numbers(const char *s, uint64_t ret[static N_NUMBERS]) {
        for (size_t i = 0; i < N_NUMBERS; i++) {
                char *end;

                if (*s != ' ' || s[1] < '0' || s[1] > '9')
                        return NULL;
                errno = 0;
                ret[i] = strtoull(s + 1, &end, 10);
                if (errno != 0)
                        return NULL;
                s = end;
        }
        return s;
}

static int add_function(LeanTree *t, const char *name, const uint64_t numbers[static N_NUMBERS]) {
        int r = lean_tree_add(t, name, numbers[2] != 0, 0);

        if (r >= 0) {
                t->functions[t->n - 1].n_calls = numbers[0];
                t->functions[t->n - 1].n_own = numbers[1];
                t->functions[t->n - 1].total_ns = numbers[3];
        }
        return r;
}

int learner_read(LeanTree *ret, const char *answer) {
        _cleanup_lean_tree_ LeanTree t = {};
        bool is_kept = false; /* the last function: its name is one */
        int r = 0;

        for (const char *s = answer; r >= 0 && *s;) {
                bool is_caller = *s == ' ' && s > answer, is_valid;
                char name[FUNCTION_NAME_MAX + 1];
                uint64_t numbers[N_NUMBERS];

                s = take_name(s + is_caller, name);
                if (s && !is_caller)
                        s = take_numbers(s, numbers);
                if (!s || *s++ != '\n' || t.n > N_READ_MAX)
                        return LEARNER_E_INVALID;
                is_valid = function_name_is_valid(name);
                if (!is_caller)
                        is_kept = is_valid;
                if (is_valid && is_kept)
                        r = is_caller ? lean_tree_add_caller(&t, name)
                                      : add_function(&t, name, numbers);
        }
        if (r < 0)
                return r;
        lean_tree_sort(&t);
        *ret = TAKE(t, (LeanTree){});
        return 0;
}
