/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The worker's end is the end of the pipe that it writes to; its status then says whether the
 * answer counts.  Whoever is too slow, or says too much, is ended.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/lean/learner.h"
#include "daemon/process/spawn.h"
#include "daemon/symbols/kernel-symbols.h"

struct Learner {
        LearnerDone done;
        void *userdata;
        sd_event_source *io, *timer;
        pid_t pid;
        int fd;
        Buf answer;
};

Learner *learner_free(Learner *l) {
        if (!l)
                return NULL;
        (void) sd_event_source_disable_unref(l->io);
        (void) sd_event_source_disable_unref(l->timer);
        if (l->pid > 0) {
                (void) kill(l->pid, SIGKILL);
                (void) waitpid(l->pid, NULL, 0);
        }
        (void) safe_close(l->fd);
        buf_done(&l->answer);
        return mfree(l);
}

static void finish(Learner *l, int error) {
        LearnerDone done = l->done;
        void *userdata = l->userdata;
        _cleanup_free_ char *text = NULL;
        int status = 0;

        l->io = sd_event_source_disable_unref(l->io);
        l->timer = sd_event_source_disable_unref(l->timer);
        if (error < 0)
                (void) kill(l->pid, SIGKILL);
        if (waitpid(TAKE(l->pid, 0), &status, 0) < 0 && error >= 0)
                error = ORIGIN(-errno);
        if (error >= 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS))
                error = -EIO;
        if (error >= 0)
                error = buf_take_string(&l->answer, &text);
        done(error < 0 ? NULL : text, error < 0 ? error : 0, userdata);
}

static int on_answer(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Learner *l = userdata;
        char *room = buf_reserve(&l->answer, 65536);
        ssize_t n;

        if (!room) {
                finish(l, -ENOMEM);
                return 0;
        }
        n = read(fd, room, 65536);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n > 0) {
                l->answer.n_data += (size_t) n;
                if (l->answer.n_data > LEARN_WORKER_MAX_OUT)
                        finish(l, -EFBIG);
                return 0;
        }
        finish(l, n < 0 ? ORIGIN(-errno) : 0);
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
        r = write_full(fd, &j, sizeof(j));
        if (r >= 0)
                r = write_full(fd, job->format, j.n_format);
        if (r >= 0)
                r = write_full(fd, exit_format, strlen(exit_format));
        if (r < 0)
                return r;
        return lseek(fd, 0, SEEK_SET) < 0 ? ORIGIN(-errno) : TAKE_FD(fd);
}

/* The worker's descriptors in their order. */
static int spawn_job(Learner *l, const LearnerJob *job, int out_fd) {
        static const char *const self[] = { "/proc/self/exe", LEARN_WORKER_OPTION, NULL };
        _cleanup_close_ int job_fd = write_job(job), null_fd = -EBADF, symbols_fd = -EBADF;
        _cleanup_free_ int *fds = calloc(LEARN_WORKER_FD_PAGES + job->n_fds, sizeof(*fds));

        if (job_fd < 0)
                return job_fd;
        null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null_fd < 0)
                return ORIGIN(-errno);
        symbols_fd = open(kernel_symbols_path("/proc/kallsyms"), O_RDONLY | O_CLOEXEC);
        if (symbols_fd < 0)
                return ORIGIN(-errno);
        if (!fds)
                return -ENOMEM;
        fds[LEARN_WORKER_FD_JOB] = job_fd;
        fds[LEARN_WORKER_FD_OUT] = out_fd;
        fds[LEARN_WORKER_FD_NULL] = null_fd;
        fds[LEARN_WORKER_FD_SYMBOLS] = symbols_fd;
        for (size_t i = 0; i < job->n_fds; i++)
                fds[LEARN_WORKER_FD_PAGES + i] = job->fds[i];
        return spawn_worker(&l->pid, self, fds, LEARN_WORKER_FD_PAGES + job->n_fds);
}

int learner_start(Learner **ret, sd_event *event, const LearnerJob *job, LearnerDone done,
                  void *userdata) {
        _cleanup_(learner_freep) Learner *l = calloc(1, sizeof(*l));
        _cleanup_close_ int out_fd = -EBADF;
        int pipe_fds[2], r;

        if (!l)
                return -ENOMEM;
        *l = (Learner){ .done = done, .userdata = userdata, .fd = -EBADF, .answer = BUF_INIT };
        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        l->fd = pipe_fds[0];
        out_fd = pipe_fds[1];
        if (fcntl(l->fd, F_SETFL, O_NONBLOCK) < 0)
                return ORIGIN(-errno);
        r = spawn_job(l, job, out_fd);
        if (r >= 0)
                r = sd_event_add_io(event, &l->io, l->fd, EPOLLIN, on_answer, l);
        if (r >= 0)
                r = sd_event_add_time_relative(event, &l->timer, CLOCK_MONOTONIC,
                                               LEARNER_MAX_SECONDS * UINT64_C(1000000), 0, on_timer,
                                               l);
        if (r < 0)
                return r;
        log_debug("lean", "worker %i counts in %zu files", (int) l->pid, job->n_fds);
        *ret = TAKE_PTR(l);
        return 0;
}

/* A function's name, up to white space; how many characters, 0: there is none. */
static size_t take_name(const char *s, char ret[static 256]) {
        size_t n = strcspn(s, " \n");

        if (n > 255)
                return 0;
        memcpy(ret, s, n);
        ret[n] = 0;
        return n;
}

int learner_next(const char **text, LearnerLine *ret) {
        uint64_t *const numbers[] = { &ret->n_calls, &ret->n_own, &ret->is_leaf, &ret->total_ns };
        const char *s = *text;
        size_t n;

        if (*s == 0)
                return LEARNER_E_END;
        n = take_name(s, ret->name);
        if (n == 0)
                return LEARNER_E_INVALID;
        s += n;
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                char *end;

                if (*s != ' ' || s[1] < '0' || s[1] > '9')
                        return LEARNER_E_INVALID;
                errno = 0;
                *numbers[i] = strtoull(s + 1, &end, 10);
                if (errno != 0)
                        return LEARNER_E_INVALID;
                s = end;
        }
        if (*s != '\n')
                return LEARNER_E_INVALID;
        *text = s + 1;
        return 0;
}

int learner_next_caller(const char **text, char ret_name[static 256]) {
        size_t n;

        if (**text != ' ')
                return LEARNER_E_END;
        n = take_name(*text + 1, ret_name);
        if (n == 0 || (*text)[1 + n] != '\n')
                return LEARNER_E_INVALID;
        *text += n + 2;
        return 0;
}
