/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Following tasks by name or control group: the daemon is woken when somebody may have joined them
 * or left (daemon/instances/instance.h), and looks.  Who is born into a control group tells nobody, so that
 * is looked at once a second, too.  The event of a new name comes before the name is there (linux
 * 6.1 fs/exec.c, __set_task_comm()), so that every event is followed by a second look.  A look may
 * walk through all of /proc: between two of them passes ten times what one takes, whatever is going
 * on.
 */

#include "base/now.h"
#include "base/unit.h"
#include "daemon/instances/instance.h"
#include "daemon/session/session-tasks.h"
#include "daemon/watch/health.h"

#define LOOK_GAP_MIN_US (UINT64_C(2) * 1000)
#define LOOK_GAP_FACTOR 10
#define LOOK_SETTLED_US (UINT64_C(50) * 1000)
#define LOOK_CGROUP_US USEC_PER_SEC
#define LOOK_NAME_US (10 * USEC_PER_SEC) /* in case that an event was lost */
#define DRAIN_BYTES 65536
#define DRAINS_MAX 64 /* at once: the rest wakes again */

struct Following {
        SessionMeta *meta;
        Tracer *tracer;
        sd_event_source *io, *timer;
        int fd;
        uint64_t next_us; /* CLOCK_MONOTONIC: no look before */
        bool has_failed;
};

static void look(Following *f) {
        uint64_t before = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC, after;
        int r = tracer_follow(f->tracer, &f->meta->spec);

        if (r < 0 && !f->has_failed)
                health_warn(f->meta,
                            "the recorded tasks could not be looked up: %s; those that joined "
                            "since are missing, and it is tried again",
                            origin_text(r));
        f->has_failed = r < 0;
        after = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
        f->next_us = after + MAX(LOOK_GAP_MIN_US, LOOK_GAP_FACTOR * (after - before));
}

static int set_timer(Following *f, uint64_t us) {
        int r = sd_event_source_set_time_relative(f->timer, us);

        return r < 0 ? r : sd_event_source_set_enabled(f->timer, SD_EVENT_ONESHOT);
}

static int look_again_later(Following *f) {
        return set_timer(f, f->meta->spec.cgroups.n > 0 ? LOOK_CGROUP_US : LOOK_NAME_US);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Following *f = userdata;

        look(f);
        return look_again_later(f);
}

/* What it says is of no interest, only that it says something. */
static bool drain(int fd) {
        _cleanup_free_ char *room = malloc(DRAIN_BYTES);
        ssize_t n = 1;

        for (unsigned i = 0; room && i < DRAINS_MAX && n > 0; i++)
                n = read(fd, room, DRAIN_BYTES);
        return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static int on_event(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Following *f = userdata;
        uint64_t now;

        if (!drain(fd)) { /* somebody has removed it; the timer goes on */
                f->io = sd_event_source_disable_unref(f->io);
                return 0;
        }
        now = now_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC;
        if (now < f->next_us)
                return set_timer(f, f->next_us - now);
        look(f);
        return set_timer(f, LOOK_SETTLED_US);
}

Following *following_free(Following *f) {
        if (!f)
                return NULL;
        (void) sd_event_source_disable_unref(f->io);
        (void) sd_event_source_disable_unref(f->timer);
        (void) safe_close(f->fd);
        return mfree(f);
}

int following_new(Following **ret, sd_event *event, SessionMeta *m, Tracer *t) {
        _cleanup_(following_freep) Following *f = NULL;
        int r;

        *ret = NULL;
        if (!task_filter_follows(&m->spec))
                return 0;
        f = NEW(Following, .meta = m, .tracer = t, .fd = tracer_open_tasks(t));
        if (!f)
                return -ENOMEM;
        if (f->fd < 0)
                return f->fd;
        r = sd_event_add_io(event, &f->io, f->fd, EPOLLIN, on_event, f);
        if (r >= 0)
                r = sd_event_add_time_relative(event, &f->timer, CLOCK_MONOTONIC, LOOK_CGROUP_US,
                                               1000, on_timer, f);
        if (r < 0)
                return r;
        (void) drain(f->fd);
        look(f);
        r = look_again_later(f);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(f);
        return 0;
}
