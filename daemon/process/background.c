/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Tasks have a thread, and one word says whose turn it is.  Whoever gives it away waits until it comes
 * back, but for a task that has left: that one asks for it through an eventfd, which the loop gets to
 * when it is done with what it is at.
 *
 * The thread lives as long as there may be tasks: what a task forks and is to die with the daemon would
 * die with the thread (PR_SET_PDEATHSIG).
 */

#include <assert.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/process/background.h"
#include "daemon/process/thread.h"

#define FEED_S 1               /* less than any WatchdogSec= of use */
#define EXTENDED_US "30000000" /* of the start or the stop, from each time on */
#define LONG_S 300             /* that something hangs is not kept secret for longer */

typedef struct Task Task;
struct Task {
        Task *next;
        BackgroundTask run;
        void *userdata;
};

typedef enum Turn {
        TURN_LOOP,
        TURN_ASKED, /* the loop's, and the task has returned */
        TURN_TASK,
} Turn;

struct Background {
        sd_event_source *asked;
        int fd;             /* eventfd of it */
        Task *first, **end; /* the first is under way */
        pthread_t thread;
        bool is_open, has_thread;
        pthread_mutex_t lock; /* of all below */
        pthread_cond_t changed;
        Turn turn;
        bool has_ended;   /* the task that had the last turn */
        bool is_settling; /* nobody leaves */
        bool quits;       /* the thread is to end */
};

static _Thread_local Background *own; /* in a task's thread */
static _Thread_local bool is_away;    /* likewise, between leaving and returning */

/* --- in the task's thread --------------------------------------------------------------------- */

void background_leave(void) {
        if (!own)
                return;
        assert(!is_away);
        (void) pthread_mutex_lock(&own->lock);
        is_away = !own->is_settling;
        if (is_away) {
                own->turn = TURN_LOOP;
                (void) pthread_cond_broadcast(&own->changed);
        }
        (void) pthread_mutex_unlock(&own->lock);
}

void background_return(void) {
        if (!own || !is_away)
                return;
        is_away = false;
        (void) pthread_mutex_lock(&own->lock);
        own->turn = TURN_ASKED;
        (void) pthread_cond_broadcast(&own->changed);
        (void) eventfd_write(own->fd, 1);
        while (own->turn != TURN_TASK)
                (void) pthread_cond_wait(&own->changed, &own->lock);
        (void) pthread_mutex_unlock(&own->lock);
}

/* Until there is a task, and it has its first turn; false: there will be none. */
static bool wait_for_task(Background *a) {
        bool quits;

        (void) pthread_mutex_lock(&a->lock);
        while (a->turn != TURN_TASK && !a->quits)
                (void) pthread_cond_wait(&a->changed, &a->lock);
        quits = a->quits;
        (void) pthread_mutex_unlock(&a->lock);
        return !quits;
}

static void *thread_run(void *userdata) {
        Background *a = userdata;

        (void) pthread_setname_np(pthread_self(), "background");
        own = a;
        while (wait_for_task(a)) {
                origin_forget();
                a->first->run(a->first->userdata);
                (void) pthread_mutex_lock(&a->lock);
                a->turn = TURN_LOOP;
                a->has_ended = true;
                (void) pthread_mutex_unlock(&a->lock);
                (void) pthread_cond_broadcast(&a->changed);
        }
        return NULL;
}

/* --- in the loop's ---------------------------------------------------------------------------- */

/*
 * The loop stands still, and that may be for what the kernel takes long over: whoever watches the daemon is told that it
 * is at work, for as long as that may be.  @since_ns: from when on.
 */
static void wait_for_change(Background *a, uint64_t since_ns) {
        struct timespec at;

        (void) clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec += FEED_S;
        if (pthread_cond_timedwait(&a->changed, &a->lock, &at) == ETIMEDOUT &&
            now_ns(CLOCK_MONOTONIC) - since_ns < LONG_S * NSEC_PER_SEC)
                (void) sd_notify(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=" EXTENDED_US);
}

/* Lets the first task run until it leaves or ends; whether it has ended.  @was_away: it has left before, and comes
 * back. */
static bool give_turn(Background *a, bool was_away) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        bool has_ended;

        (void) pthread_mutex_lock(&a->lock);
        while (was_away && a->turn == TURN_LOOP)
                wait_for_change(a, since_ns);
        a->turn = TURN_TASK;
        a->has_ended = false;
        (void) pthread_mutex_unlock(&a->lock);
        (void) pthread_cond_broadcast(&a->changed); /* without the lock: who wakes would wait for it */
        (void) pthread_mutex_lock(&a->lock);
        while (a->turn == TURN_TASK)
                wait_for_change(a, since_ns);
        has_ended = a->has_ended;
        (void) pthread_mutex_unlock(&a->lock);
        return has_ended;
}

static int need_thread(Background *a) {
        int r;

        if (!a->is_open)
                return ORIGIN(-EAGAIN);
        if (a->has_thread)
                return 0;
        r = thread_start(&a->thread, 0, thread_run, a);
        a->has_thread = r >= 0;
        return r;
}

static void pop(Background *a) {
        free(POP(a->first));
        if (!a->first)
                a->end = &a->first;
}

static bool set_settling(Background *a, bool is_settling) {
        bool was_settling;

        (void) pthread_mutex_lock(&a->lock);
        was_settling = TAKE(a->is_settling, is_settling);
        (void) pthread_mutex_unlock(&a->lock);
        return was_settling;
}

/* A task that never leaves. */
static void run_here(Background *a) {
        bool was_settling = set_settling(a, true);
        Background *was_own = TAKE(own, a); /* whoever asks for it may be a task of another one */

        a->first->run(a->first->userdata);
        own = was_own;
        (void) set_settling(a, was_settling);
}

/* Runs tasks, the first of which is not begun, until one leaves. */
static void run_tasks(Background *a) {
        while (a->first) {
                int r = need_thread(a);

                if (r < 0) {
                        log_debug("background", "no thread: %s", origin_text(r));
                        run_here(a);
                } else if (!give_turn(a, false))
                        return;
                pop(a);
        }
}

/* The task that has returned goes on, and those behind it. */
static void resume(Background *a) {
        if (!give_turn(a, true))
                return;
        pop(a);
        run_tasks(a);
}

static int on_asked(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Background *a = userdata;
        eventfd_t n;
        bool asks;

        (void) eventfd_read(fd, &n);
        (void) pthread_mutex_lock(&a->lock);
        asks = a->turn == TURN_ASKED;
        (void) pthread_mutex_unlock(&a->lock);
        if (asks) /* it may have been settled meanwhile */
                resume(a);
        return 0;
}

void background_run(Background *a, BackgroundTask run, void *userdata) {
        Task *task = a ? NEW(Task, .run = run, .userdata = userdata) : NULL;

        if (!task) {
                run(userdata);
                return;
        }
        *a->end = task;
        a->end = &task->next;
        if (a->first == task)
                run_tasks(a);
}

void background_drop(Background *a, const void *userdata) {
        if (!a || !a->first)
                return;
        for (a->end = &a->first->next; *a->end;)
                if ((*a->end)->userdata == userdata)
                        free(POP(*a->end));
                else
                        a->end = &(*a->end)->next;
}

bool background_is_busy(const Background *a) {
        return a && own != a && a->first;
}

void background_settle(Background *a) {
        if (!background_is_busy(a))
                return;
        (void) set_settling(a, true);
        while (a->first)
                resume(a);
        (void) set_settling(a, false);
}

int background_new(Background **ret, sd_event *event) {
        _cleanup_(background_freep) Background *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return -ENOMEM;
        (void) pthread_mutex_init(&a->lock, NULL);
        (void) pthread_cond_init(&a->changed, NULL);
        a->end = &a->first;
        a->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (a->fd < 0)
                return ORIGIN(-errno);
        r = sd_event_add_io(event, &a->asked, a->fd, EPOLLIN, on_asked, a);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(a);
        return 0;
}

void background_open(Background *a) {
        a->is_open = true;
}

Background *background_free(Background *a) {
        if (!a)
                return NULL;
        background_settle(a);
        if (a->has_thread) {
                (void) pthread_mutex_lock(&a->lock);
                a->quits = true;
                (void) pthread_cond_broadcast(&a->changed);
                (void) pthread_mutex_unlock(&a->lock);
                (void) pthread_join(a->thread, NULL);
        }
        (void) sd_event_source_disable_unref(a->asked);
        (void) safe_close(a->fd);
        (void) pthread_cond_destroy(&a->changed);
        (void) pthread_mutex_destroy(&a->lock);
        return mfree(a);
}
