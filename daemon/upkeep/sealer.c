/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A queue of sessions, whose segments are listed when it comes to them: one may have tens of thousands.
 * One worker runs at a time; in between the loop is free:
 *
 *      next job -> open, make the temporary -> worker ... ends -> check -> rename -> next job
 *
 * The temporary lies beside the segment as .SSSSSSSS.sealing; who removes a session removes it, too.
 * The worker has synced it, so that after a crash the segment's name is that of either, and both are whole.  Only
 * the loop removes segments and sessions: one that has gone meanwhile does not come back.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "daemon/process/spawn.h"
#include "daemon/upkeep/upkeep.h"
#include "store/sealed.h"
#include "store/tracing.h"

#define RETRY_US (60 * UINT64_C(1000000))
#define HELD_US UINT64_C(200000)
#define TEMPORARY_MAX 24
#define WORDS_MAX 16

struct Sealer {
        SealerConfig config;
        Strv sessions;
        SegmentPlace *places; /* of the first */
        size_t i_place, n_places;
        bool is_listed; /* they are known */
        sd_event_source *next, *retry, *child;
        bool is_waiting; /* for space, until the retry */
        bool is_said;    /* that there is none */

        /* while a worker runs, for the first segment */
        SessionDir *dir;
        int cpu_fd, out_fd, formats_fd;
        SegmentHeader header;
        struct stat before; /* of the segment */
        char name[SEGMENT_NAME_MAX], temporary[TEMPORARY_MAX];
};

/* --- the queue -------------------------------------------------------------------------------- */

static const char *first_session(const Sealer *s) {
        return s->sessions.items[0];
}

/* The segment whose turn it is; of a session that is to be listed all 0. */
static SegmentPlace first_place(const Sealer *s) {
        return s->i_place < s->n_places ? s->places[s->i_place] : (SegmentPlace){};
}

/* The first session is over, or a segment of it. */
static void finish_first(Sealer *s) {
        if (s->i_place + 1 < s->n_places)
                s->i_place++;
        else {
                free(TAKE_PTR(s->places));
                s->i_place = s->n_places = 0;
                s->is_listed = false;
                free(strv_take_first(&s->sessions));
        }
        if (s->sessions.n > 0)
                (void) sd_event_source_set_enabled(s->next, SD_EVENT_ONESHOT);
}

int sealer_add_session(Sealer *s, const char *session) {
        int r;

        for (size_t i = s->is_listed; i < s->sessions.n; i++)
                if (streq(s->sessions.items[i], session))
                        return 0;
        r = strv_add(&s->sessions, session);
        if (r >= 0 && !s->child && !s->is_waiting)
                (void) sd_event_source_set_enabled(s->next, SD_EVENT_ONESHOT);
        return r;
}

bool sealer_is_busy(const Sealer *s) {
        return s->sessions.n > 0;
}

/* --- beginning -------------------------------------------------------------------------------- */

/* One that is missing is not needed. */
static int gather_format(void *userdata, const char *path, TracingFormat kind) {
        const Sealer *s = userdata;
        _cleanup_free_ char *text = NULL;
        size_t n;

        if (session_dir_read_tracing(s->dir, path, &text, &n) < 0)
                return 0;
        return write_full(s->formats_fd, text, n + 1);
}

static int on_child(sd_event_source *source, const siginfo_t *si, void *userdata);

static int start_worker(Sealer *s, int in_fd) {
        static const char *const self[] = { "/proc/self/exe", SEAL_WORKER_OPTION, NULL };
        const char *const *command = s->config.worker ?: self;
        const char *words[WORDS_MAX + 1] = {};
        _cleanup_close_ int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        size_t n = 0;
        pid_t pid;
        int r;

        s->formats_fd = memfd_create("formats", MFD_CLOEXEC);
        if (null_fd < 0 || s->formats_fd < 0)
                return ORIGIN(-errno);
        r = tracing_formats_walk(NULL, gather_format, s);
        if (r < 0)
                return r;
        (void) lseek(s->formats_fd, 0, SEEK_SET);
        if (session_dir_read_meta(s->dir, &meta) != 0)
                return ORIGIN(-ENODATA);
        for (; command[n] && n < WORDS_MAX - 1; n++)
                words[n] = command[n];
        words[n] = meta->big_endian ? "big" : "little";
        r = spawn_worker(&pid, words, (const int[]){ in_fd, s->out_fd, null_fd, s->formats_fd }, 4);
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

static void leave_segment(Sealer *s) {
        if (s->cpu_fd >= 0)
                (void) unlinkat(s->cpu_fd, s->temporary, 0);
        s->cpu_fd = safe_close(s->cpu_fd);
        s->out_fd = safe_close(s->out_fd);
        s->formats_fd = safe_close(s->formats_fd);
        s->dir = session_dir_free(s->dir);
}

enum { SEGMENT_STARTED = 1 };

/* SEGMENT_STARTED, 0: nothing to be done, -errno. */
static int start_segment(Sealer *s) {
        const SegmentPlace place = first_place(s);
        _cleanup_close_ int in_fd =
                session_dir_open_segment_file(s->dir, place.cpu, place.sequence);
        int r;

        if (in_fd < 0)
                return in_fd;
        s->cpu_fd = session_dir_make_cpu(s->dir, place.cpu);
        if (s->cpu_fd < 0)
                return s->cpu_fd;
        (void) segment_format_name(s->name, place.sequence);
        (void) snprintf(s->temporary, sizeof(s->temporary), ".%08" PRIx32 ".sealing",
                        (uint32_t) place.sequence);
        (void) unlinkat(s->cpu_fd, s->temporary,
                        0); /* what a daemon that died has left half sealed */
        r = segment_read_header(in_fd, &s->header);
        if (r != 0 || s->header.state != SEGMENT_STATE_CLOSED)
                return MIN(r, 0); /* sealed, damaged, or still written: not ours */
        s->out_fd = openat(s->cpu_fd, s->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                           STORE_FILE_MODE);
        if (s->out_fd < 0 || fstat(in_fd, &s->before) < 0)
                return ORIGIN(-errno);
        r = start_worker(s, in_fd);
        return r < 0 ? r : SEGMENT_STARTED;
}

/* --- ending ----------------------------------------------------------------------------------- */

static void retry_in(Sealer *s, uint64_t usec) {
        (void) sd_event_source_set_time_relative(s->retry, usec);
        (void) sd_event_source_set_enabled(s->retry, SD_EVENT_ONESHOT);
}

#define NOT_SEALED "Cannot seal segment cpu%" PRIu32 "/%08" PRIx64 ".seg of session \"%s\": %s; "

static void say_failure(const Sealer *s, const char *why) {
        const SegmentPlace place = first_place(s);

        log_error(NOT_SEALED "it stays as it is.", place.cpu, place.sequence, first_session(s),
                  why);
}

static void wait_for_space(Sealer *s, const char *why) {
        const SegmentPlace place = first_place(s);

        if (!s->is_said)
                log_warning(NOT_SEALED "it stays as it is and is tried again every minute.",
                            place.cpu, place.sequence, first_session(s), why);
        s->is_waiting = s->is_said = true;
        retry_in(s, RETRY_US);
}

/* True if the segment was removed while the worker read it. */
static bool is_gone(const Sealer *s) {
        struct stat now, dir;

        if (fstatat(s->cpu_fd, s->name, &now, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT;
        /* Who removes the session clears its directory at this moment. */
        if (fstatat(store_sessions_fd(s->config.store), first_session(s), &now,
                    AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT;
        return fstat(session_dir_fd(s->dir), &dir) >= 0 && now.st_ino != dir.st_ino;
}

/* What the worker says is not believed on its word alone. */
static bool output_is_ours(const Sealer *s) {
        SealedHeader h;

        return sealed_header_read(&h, s->out_fd) == 0 && h.cpu == s->header.cpu &&
               h.sequence == s->header.sequence && h.n_pages == s->header.n_pages &&
               h.page_bytes == s->header.page_bytes &&
               memcmp(h.session_id, s->header.session_id, sizeof(h.session_id)) == 0;
}

/* NULL, or why the worker's file does not take the segment's place. */
static const char *finish_segment(Sealer *s) {
        const struct timespec times[] = { s->before.st_atim, s->before.st_mtim };
        const SegmentPlace place = first_place(s);
        struct stat after;

        if (!output_is_ours(s))
                return "what the worker wrote is not this segment";
        (void) futimens(s->out_fd, times); /* it is as old as what is in it */
        if (fstat(s->out_fd, &after) < 0 ||
            renameat(s->cpu_fd, s->temporary, s->cpu_fd, s->name) < 0)
                return strerror(errno);
        s->is_said = false;
        log_debug("sealer", "cpu%" PRIu32 "/%s of session \"%s\" sealed: %lld bytes for %lld.",
                  place.cpu, s->name, first_session(s), (long long) after.st_size,
                  (long long) s->before.st_size);
        if (s->config.done)
                s->config.done(first_session(s), place.cpu, place.sequence,
                               (uint64_t) s->before.st_blocks * 512,
                               (uint64_t) after.st_blocks * 512, s->config.userdata);
        return NULL;
}

/* True if the first job is to be tried again in a moment. */
static bool wait_for_reader(Sealer *s) {
        if (!s->config.is_held || !s->config.is_held(first_session(s), s->config.userdata))
                return false;
        retry_in(s, HELD_US);
        return true;
}

static int on_child(sd_event_source *source, const siginfo_t *si, void *userdata) {
        Sealer *s = userdata;
        bool is_exit = si->si_code == CLD_EXITED;
        const char *why = is_exit ? seal_worker_problem(si->si_status) : NULL;
        char text[80];

        s->child = sd_event_source_disable_unref(s->child);
        if (wait_for_reader(s)) {
                leave_segment(s);
                return 0;
        }
        if (is_gone(s))
                why = NULL;
        else if (is_exit && si->si_status == SEAL_WORKER_DONE)
                why = finish_segment(s);
        else if (!why) {
                (void) snprintf(text, sizeof(text),
                                is_exit ? "the worker ended with status %i%s"
                                        : "the worker was killed by signal %i (%s)",
                                si->si_status, is_exit ? "" : strsignal(si->si_status));
                why = text;
        }
        leave_segment(s);
        if (why && is_exit && si->si_status == SEAL_WORKER_E_NO_SPACE) {
                wait_for_space(s, why);
                return 0;
        }
        if (why)
                say_failure(s, why);
        finish_first(s);
        return 0;
}

/* One job a turn of the loop, so that it never waits for us. */
static int on_next(sd_event_source *source, uint64_t usec, void *userdata) {
        Sealer *s = userdata;
        bool is_listing = !s->is_listed;
        int r;

        if (s->sessions.n == 0 || s->child || wait_for_reader(s))
                return 0;
        r = store_open_session(s->config.store, first_session(s), &s->dir);
        if (r >= 0)
                r = is_listing ? session_dir_list_places(s->dir, &s->places, &s->n_places)
                               : start_segment(s);
        s->is_listed = s->is_listed || r >= 0;
        if (r == SEGMENT_STARTED)
                return 0;
        leave_segment(s);
        if (r == -ENOSPC || r == -EDQUOT || r == -EROFS) {
                wait_for_space(s, origin_text(r));
                return 0;
        }
        if (r < 0 && r != -ENOENT && !is_listing)
                say_failure(s, origin_text(r));
        if (r >= 0 && is_listing && s->n_places > 0)
                (void) sd_event_source_set_enabled(s->next, SD_EVENT_ONESHOT);
        else
                finish_first(s);
        return 0;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Sealer *s = userdata;

        s->is_waiting = false;
        return on_next(source, usec, s);
}

int sealer_new(Sealer **ret, const SealerConfig *config) {
        _cleanup_(sealer_freep) Sealer *s = NULL;
        int r;

        s = NEW(Sealer, .config = *config, .cpu_fd = -EBADF, .out_fd = -EBADF,
                .formats_fd = -EBADF);
        if (!s)
                return -ENOMEM;
        r = sd_event_add_time(config->event, &s->next, CLOCK_MONOTONIC, 0, 0, on_next, s);
        if (r >= 0)
                r = sd_event_source_set_enabled(s->next, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time(config->event, &s->retry, CLOCK_MONOTONIC, UINT64_MAX, 0,
                                      on_retry, s);
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
        leave_segment(s);
        free(s->places);
        strv_done(&s->sessions);
        return mfree(s);
}
