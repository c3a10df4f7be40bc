/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A queue of segments and of sessions, whose segments are put into the queue when it comes to them.
 * One worker runs at a time; in between the loop is free:
 *
 *      next job -> open, make the temporary -> worker ... ends -> check -> rename -> next job
 *
 * The temporary lies beside the segment as .SSSSSSSS.sealing; who removes a session removes it, too.
 * It changes places with the segment in one step, which fails if the segment has gone meanwhile: so
 * nothing that was removed comes back.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/seal-worker.h"
#include "daemon/sealer.h"
#include "daemon/spawn.h"
#include "store/sealed.h"

#define RETRY_US (60 * UINT64_C(1000000))
#define WHOLE_SESSION UINT32_MAX /* as a job's cpu */
#define TEMPORARY_MAX 24

typedef struct Job {
        char *session;
        uint32_t cpu;
        uint64_t sequence;
} Job;

struct Sealer {
        SealerConfig config;
        Job *jobs; /* a ring: n of n_room from i_first on */
        size_t i_first, n, n_room;
        sd_event_source *next, *retry, *child;
        bool is_waiting; /* for space, until the retry */
        bool is_said;    /* that there is none */

        /* while a worker runs, for the first job */
        SessionDir *dir;
        int cpu_fd, out_fd;
        SegmentHeader header;
        struct stat before; /* of the segment */
        char name[SEGMENT_NAME_MAX], temporary[TEMPORARY_MAX];
};

static const char *const format_paths[] = {
        "events/ftrace/funcgraph_entry/format",
        "events/ftrace/funcgraph_exit/format",
        "events/ftrace/funcgraph_retaddr_entry/format",
        "events/ftrace/fgraph_retaddr_entry/format",
        "events/ftrace/function/format",
        "events/ftrace/print/format",
};

/* --- the queue -------------------------------------------------------------------------------- */

static Job *first_job(Sealer *s) {
        return &s->jobs[s->i_first];
}

static void tell_moved(Sealer *s, const char *session) {
        if (s->config.moved)
                s->config.moved(session, s->config.userdata);
}

/* Returns whose it was; the caller frees. */
static char *drop_first(Sealer *s) {
        char *session = first_job(s)->session;

        s->i_first = (s->i_first + 1) % s->n_room;
        s->n--;
        return session;
}

/* The first job is over. */
static void finish_first(Sealer *s) {
        _cleanup_free_ char *session = drop_first(s);

        if (s->n > 0)
                (void) sd_event_source_set_enabled(s->next, SD_EVENT_ONESHOT);
        tell_moved(s, session);
}

static int make_room(Sealer *s) {
        size_t n_room = MAX(s->n_room * 2, (size_t) 16);
        Job *jobs;

        if (s->n < s->n_room)
                return 0;
        jobs = calloc(n_room, sizeof(*jobs));
        if (!jobs)
                return -ENOMEM;
        for (size_t i = 0; i < s->n; i++)
                jobs[i] = s->jobs[(s->i_first + i) % s->n_room];
        free(s->jobs);
        s->jobs = jobs;
        s->n_room = n_room;
        s->i_first = 0;
        return 0;
}

static int add_job(Sealer *s, const char *session, uint32_t cpu, uint64_t sequence) {
        char *name;
        int r = make_room(s);

        if (r < 0)
                return r;
        name = strdup(session);
        if (!name)
                return -ENOMEM;
        s->jobs[(s->i_first + s->n++) % s->n_room] = (Job){ name, cpu, sequence };
        if (!s->child && !s->is_waiting)
                (void) sd_event_source_set_enabled(s->next, SD_EVENT_ONESHOT);
        return 0;
}

int sealer_add(Sealer *s, const char *session, uint32_t cpu, uint64_t sequence) {
        return add_job(s, session, cpu, sequence);
}

int sealer_add_session(Sealer *s, const char *session) {
        for (size_t i = 0; i < s->n; i++) {
                const Job *job = &s->jobs[(s->i_first + i) % s->n_room];

                if (job->cpu == WHOLE_SESSION && streq(job->session, session))
                        return 0;
        }
        return add_job(s, session, WHOLE_SESSION, 0);
}

bool sealer_is_busy(const Sealer *s) {
        return s->n > 0;
}

bool sealer_is_full(const Sealer *s) {
        return s->is_waiting;
}

size_t sealer_n_left(const Sealer *s, const char *session, bool *ret_is_known) {
        size_t n = 0;

        *ret_is_known = true;
        for (size_t i = 0; i < s->n; i++) {
                const Job *job = &s->jobs[(s->i_first + i) % s->n_room];

                if (!streq(job->session, session))
                        continue;
                if (job->cpu == WHOLE_SESSION)
                        *ret_is_known = false;
                n++;
        }
        return n;
}

static char *format_temporary(char ret[static TEMPORARY_MAX], uint64_t sequence) {
        (void) snprintf(ret, TEMPORARY_MAX, ".%08" PRIx32 ".sealing", (uint32_t) sequence);
        return ret;
}

/* --- beginning -------------------------------------------------------------------------------- */

/* Puts the session's segments that are closed into the queue, and removes what a daemon that died
 * has left half sealed.  0 or -errno. */
static int add_segments(Sealer *s, const SessionDir *dir, const char *session) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n;

                r = session_dir_list_segments(dir, cpus[i], &sequences, &n);
                for (size_t k = 0; r >= 0 && k < n; k++) {
                        char path[16 + TEMPORARY_MAX], temporary[TEMPORARY_MAX];

                        (void) snprintf(path, sizeof(path), "cpu%" PRIu32 "/%s", cpus[i],
                                        format_temporary(temporary, sequences[k]));
                        (void) unlinkat(session_dir_fd(dir), path, 0);
                        r = add_job(s, session, cpus[i], sequences[k]);
                }
        }
        return r;
}

/* A descriptor of the formats' texts, or -errno.  Those that are missing are not needed. */
static int gather_formats(const SessionDir *dir) {
        _cleanup_close_ int fd = memfd_create("formats", MFD_CLOEXEC);
        int r;

        if (fd < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(format_paths); i++) {
                _cleanup_free_ char *text = NULL;
                size_t n;

                if (session_dir_read_tracing(dir, format_paths[i], &text, &n) < 0)
                        continue;
                r = write_full(fd, text, n + 1);
                if (r < 0)
                        return r;
        }
        return lseek(fd, 0, SEEK_SET) < 0 ? -errno : TAKE_FD(fd);
}

/* Consumes nothing.  0 or -errno. */
static int spawn(Sealer *s, const int fds[static 4], bool big_endian, pid_t *ret) {
        static const char *const self[] = { "/proc/self/exe", SEAL_WORKER_OPTION, NULL };
        const char *const *command = s->config.worker ?: self;
        const char *words[SPAWN_WORDS_MAX + 1] = {};
        size_t n = 0;

        for (; command[n] && n < SPAWN_WORDS_MAX - 1; n++)
                words[n] = command[n];
        words[n] = big_endian ? "big" : "little";
        return spawn_worker(ret, words, fds, 4);
}

static int on_child(sd_event_source *source, const siginfo_t *si, void *userdata);

static int start_worker(Sealer *s, const SessionDir *dir, int in_fd) {
        _cleanup_close_ int formats_fd = gather_formats(dir),
                            null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        pid_t pid;
        int r;

        if (formats_fd < 0)
                return formats_fd;
        if (null_fd < 0)
                return -errno;
        if (session_dir_read_meta(dir, &meta) != 0)
                return -ENODATA;
        r = spawn(s, (const int[]){ in_fd, s->out_fd, null_fd, formats_fd }, meta->big_endian,
                  &pid);
        if (r < 0)
                return r;
        r = sd_event_add_child(s->config.event, &s->child, pid, WEXITED, on_child, s);
        if (r < 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
                return r;
        }
        (void) sd_event_source_set_child_process_own(s->child, true);
        return 0;
}

static void leave_job(Sealer *s) {
        if (s->cpu_fd >= 0)
                (void) unlinkat(s->cpu_fd, s->temporary, 0);
        s->cpu_fd = safe_close(s->cpu_fd);
        s->out_fd = safe_close(s->out_fd);
        s->dir = session_dir_free(s->dir);
}

enum { JOB_STARTED = 1 };

/* JOB_STARTED, 0: nothing to be done, -errno. */
static int start_segment(Sealer *s, const Job *job) {
        _cleanup_close_ int in_fd = -EBADF;
        int r;

        in_fd = session_dir_open_segment_file(s->dir, job->cpu, job->sequence);
        if (in_fd < 0)
                return in_fd;
        r = segment_read_header(in_fd, &s->header);
        if (r != 0 || s->header.state != SEGMENT_STATE_CLOSED)
                return MIN(r, 0); /* sealed, damaged, or still written: not ours */
        if (fstat(in_fd, &s->before) < 0)
                return -errno;
        s->cpu_fd = session_dir_make_cpu(s->dir, job->cpu);
        if (s->cpu_fd < 0)
                return s->cpu_fd;
        (void) segment_format_name(s->name, job->sequence);
        (void) format_temporary(s->temporary, job->sequence);
        (void) unlinkat(s->cpu_fd, s->temporary, 0);
        s->out_fd = openat(s->cpu_fd, s->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                           STORE_FILE_MODE);
        if (s->out_fd < 0)
                return -errno;
        r = start_worker(s, s->dir, in_fd);
        return r < 0 ? r : JOB_STARTED;
}

/* --- ending ----------------------------------------------------------------------------------- */

static void wait_for_space(Sealer *s, const char *why) {
        const Job *job = first_job(s);

        if (!s->is_said)
                log_warning("Cannot seal segment cpu%" PRIu32 "/%08" PRIx64
                            ".seg of session '%s': %s; it stays as it is and is tried again every "
                            "minute.",
                            job->cpu, job->sequence, job->session, why);
        s->is_waiting = s->is_said = true;
        (void) sd_event_source_set_time_relative(s->retry, RETRY_US);
        (void) sd_event_source_set_enabled(s->retry, SD_EVENT_ONESHOT);
        tell_moved(s, job->session);
}

static void say_failure(const Job *job, const char *why) {
        log_error("Cannot seal segment cpu%" PRIu32 "/%08" PRIx64
                  ".seg of session '%s': %s; it stays as it is.",
                  job->cpu, job->sequence, job->session, why);
}

/* The file that the worker wrote takes the segment's place.  0 or -errno (-ENOENT: it has gone). */
static int replace_segment(Sealer *s) {
        const struct timespec times[] = { s->before.st_atim, s->before.st_mtim };
        struct stat now;

        /* It is as old as what is in it. */
        (void) futimens(s->out_fd, times);
        if (renameat2(s->cpu_fd, s->temporary, s->cpu_fd, s->name, RENAME_EXCHANGE) < 0) {
                if (errno != EINVAL && errno != ENOSYS)
                        return -errno;
                if (fstatat(s->cpu_fd, s->name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
                    renameat(s->cpu_fd, s->temporary, s->cpu_fd, s->name) < 0)
                        return -errno;
        }
        return fsync(s->cpu_fd) < 0 ? -errno : 0;
}

/* What the worker says is not believed on its word alone. */
static bool output_is_ours(const Sealer *s) {
        SealedHeader h;

        return sealed_header_read(&h, s->out_fd) == 0 && h.cpu == s->header.cpu &&
               h.sequence == s->header.sequence && h.n_pages == s->header.n_pages &&
               h.page_bytes == s->header.page_bytes &&
               memcmp(h.session_id, s->header.session_id, sizeof(h.session_id)) == 0;
}

static void finish_segment(Sealer *s) {
        const Job *job = first_job(s);
        struct stat after;
        int r;

        if (!output_is_ours(s) || fstat(s->out_fd, &after) < 0) {
                say_failure(job, "what the worker wrote is not this segment");
                return;
        }
        r = replace_segment(s);
        if (r < 0) {
                if (r != -ENOENT) /* removed meanwhile */
                        say_failure(job, strerror(-r));
                return;
        }
        s->is_said = false;
        log_debug("sealer", "cpu%" PRIu32 "/%s of session '%s' sealed: %lld bytes for %lld.",
                  job->cpu, s->name, job->session, (long long) after.st_size,
                  (long long) s->before.st_size);
        if (s->config.done)
                s->config.done(job->session, job->cpu, job->sequence,
                               (uint64_t) s->before.st_blocks * 512,
                               (uint64_t) after.st_blocks * 512, s->config.userdata);
}

static int on_child(sd_event_source *source, const siginfo_t *si, void *userdata) {
        Sealer *s = userdata;
        bool is_exit = si->si_code == CLD_EXITED, is_full = false;
        char text[80];

        s->child = sd_event_source_disable_unref(s->child);
        if (is_exit && si->si_status == SEAL_WORKER_DONE)
                finish_segment(s);
        else if (is_exit && seal_worker_problem(si->si_status)) {
                is_full = si->si_status == SEAL_WORKER_E_NO_SPACE;
                if (!is_full)
                        say_failure(first_job(s), seal_worker_problem(si->si_status));
        } else {
                if (is_exit)
                        (void) snprintf(text, sizeof(text), "the worker ended with status %i",
                                        si->si_status);
                else
                        (void) snprintf(text, sizeof(text),
                                        "the worker was killed by signal %i (%s)", si->si_status,
                                        strsignal(si->si_status));
                say_failure(first_job(s), text);
        }
        leave_job(s);
        if (is_full) {
                wait_for_space(s, seal_worker_problem(SEAL_WORKER_E_NO_SPACE));
                return 0;
        }
        finish_first(s);
        return 0;
}

/* One job a turn of the loop, so that it never waits for us. */
static int on_next(sd_event_source *source, void *userdata) {
        Sealer *s = userdata;
        Job job;
        int r;

        if (s->n == 0 || s->child)
                return 0;
        job = *first_job(s);
        r = store_open_session(s->config.store, job.session, &s->dir);
        if (r >= 0)
                r = job.cpu == WHOLE_SESSION ? add_segments(s, s->dir, job.session)
                                             : start_segment(s, &job);
        if (r == JOB_STARTED)
                return 0;
        leave_job(s);
        if (r == -ENOSPC || r == -EDQUOT || r == -EROFS) {
                wait_for_space(s, strerror(-r));
                return 0;
        }
        if (r < 0 && r != -ENOENT && job.cpu != WHOLE_SESSION)
                say_failure(&job, strerror(-r));
        finish_first(s);
        return 0;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Sealer *s = userdata;

        s->is_waiting = false;
        return on_next(source, s);
}

int sealer_new(Sealer **ret, const SealerConfig *config) {
        _cleanup_(sealer_freep) Sealer *s = NULL;
        int r;

        s = malloc(sizeof(*s));
        if (!s)
                return -ENOMEM;
        *s = (Sealer){ .config = *config, .cpu_fd = -EBADF, .out_fd = -EBADF };
        r = sd_event_add_defer(config->event, &s->next, on_next, s);
        if (r >= 0)
                r = sd_event_source_set_enabled(s->next, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_source_set_priority(s->next, SD_EVENT_PRIORITY_IDLE);
        if (r >= 0)
                r = sd_event_add_time_relative(config->event, &s->retry, CLOCK_MONOTONIC, RETRY_US,
                                               0, on_retry, s);
        if (r >= 0)
                r = sd_event_source_set_enabled(s->retry, SD_EVENT_OFF);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

Sealer *sealer_free(Sealer *s) {
        if (!s)
                return NULL;
        (void) sd_event_source_disable_unref(s->child); /* kills it and waits */
        (void) sd_event_source_disable_unref(s->next);
        (void) sd_event_source_disable_unref(s->retry);
        leave_job(s);
        while (s->n > 0)
                free(drop_first(s));
        free(s->jobs);
        free(s);
        return NULL;
}
