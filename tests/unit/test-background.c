/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <semaphore.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/process/background.h"
#include "unit.h"

/* What happened, a letter each. */
static char story[64];

static void note(char c) {
        size_t n = strlen(story);

        ck_assert_uint_lt(n + 1, sizeof(story));
        story[n] = c;
        story[n + 1] = 0;
}

typedef struct Job {
        char began, returned; /* what it notes */
        sem_t may_return;
        Background *background;
        struct Job *then; /* is begun in the middle of it */
        bool settles;
} Job;

static void job_run(void *userdata) {
        Job *j = userdata;

        note(j->began);
        if (j->settles)
                background_settle(j->background);
        if (j->then)
                background_run(j->background, job_run, j->then);
        background_leave();
        (void) sem_wait(&j->may_return);
        background_return();
        note(j->returned);
}

#define JOB(a, b) (&(Job){ .began = (a), .returned = (b) })

static Job *job_init(Job *j, Background *background, unsigned permits) {
        j->background = background;
        ck_assert_int_eq(sem_init(&j->may_return, 0, permits), 0);
        return j;
}

static sd_event *event;
static Background *a;

static int setup(void) {
        story[0] = 0;
        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(background_new(&a, event), 0);
        background_open(a);
        return 0;
}

static void teardown(const int *unused) {
        a = background_free(a);
        event = sd_event_unref(event);
}

#define CASE _cleanup_(teardown) int is_set_up __attribute__((unused)) = setup()
#define CASE_TEST(name) TEST_WITH(name, (void), CASE, )

/* Begins @j, which may return as often. */
static void begin(Job *j, unsigned permits) {
        background_run(a, job_run, job_init(j, a, permits));
}

static void run_until_idle(void) {
        while (background_is_busy(a))
                ck_assert_int_ge(sd_event_run(event, 10000000), 0);
}

CASE_TEST(the_loop_goes_on_between_leaving_and_returning_only) {
        Job *j = JOB('a', 'b');

        begin(j, 0);
        note('-'); /* it has begun, and left */
        ck_assert(background_is_busy(a));
        (void) sem_post(&j->may_return);
        ck_assert_str_eq(story, "a-"); /* it wants to go on, and may not yet */
        run_until_idle();
        ck_assert_str_eq(story, "a-b");
}

CASE_TEST(tasks_run_one_after_the_other) {
        Job *j = JOB('a', 'b'), *k = JOB('c', 'd');

        begin(j, 0);
        begin(k, 1);
        ck_assert_str_eq(story, "a");
        (void) sem_post(&j->may_return);
        run_until_idle();
        ck_assert_str_eq(story, "abcd");
}

CASE_TEST(a_task_that_a_task_begins_comes_after_it) {
        Job *j = JOB('a', 'b'), *k = JOB('c', 'd');

        j->then = job_init(k, a, 1);
        begin(j, 1);
        run_until_idle();
        ck_assert_str_eq(story, "abcd");
}

CASE_TEST(what_has_not_begun_can_be_dropped) {
        Job *j = JOB('a', 'b'), *k = JOB('c', 'd'), *l = JOB('e', 'f'), *m = JOB('g', 'h');

        background_drop(NULL, j);
        background_drop(a, j); /* there is none */
        begin(j, 0);
        begin(k, 1);
        begin(l, 1);
        begin(k, 1);
        background_drop(a, k);
        background_drop(a, j); /* which has begun */
        begin(m, 1);           /* behind what is left */
        (void) sem_post(&j->may_return);
        run_until_idle();
        ck_assert_str_eq(story, "abefgh");
}

CASE_TEST(settling_ends_all_of_them_without_the_loop) {
        Job *j = JOB('a', 'b'), *k = JOB('c', 'd');

        begin(j, 0);
        begin(k, 1);
        (void) sem_post(&j->may_return);
        background_settle(a);
        ck_assert(!background_is_busy(a));
        ck_assert_str_eq(story, "abcd");
        ck_assert_int_eq(sd_event_run(event, 0), 1); /* that it wanted to go on is no news */
        ck_assert_int_eq(sd_event_run(event, 0), 0);
}

CASE_TEST(a_task_that_settles_waits_for_nobody) {
        Job *j = JOB('a', 'b');

        j->settles = true;
        begin(j, 1);
        run_until_idle();
        ck_assert_str_eq(story, "ab");
}

static void note_thread(void *userdata) {
        pid_t *tid = userdata;

        *tid = gettid();
}

CASE_TEST(all_tasks_have_one_thread_which_is_not_the_loop_s) {
        pid_t first = 0, second = 0;

        background_run(a, note_thread, &first);
        background_run(a, note_thread, &second);
        ck_assert_int_eq(first, second);
        ck_assert_int_ne(first, gettid());
}

TEST(before_it_is_open_a_task_is_a_call_by_the_same_thread) {
        pid_t tid = 0;

        ck_assert_int_ge(sd_event_new(&event), 0);
        ck_assert_int_eq(background_new(&a, event), 0);
        background_run(a, note_thread, &tid);
        ck_assert_int_eq(tid, gettid());
        ck_assert(!background_is_busy(a));
        teardown(NULL);
}

TEST(without_an_aside_a_task_is_a_call) {
        Job *j = JOB('a', 'b');

        story[0] = 0;
        background_run(NULL, job_run, job_init(j, NULL, 1));
        ck_assert_str_eq(story, "ab");
        ck_assert(!background_is_busy(NULL));
        background_settle(NULL);
}

static void run_elsewhere_and_leave(void *userdata) {
        Job *j = userdata;
        pid_t tid;

        background_run(j->background, note_thread, &tid);
        ck_assert_int_eq(tid, gettid());
        note(j->began);
        background_leave();
        (void) sem_wait(&j->may_return);
        background_return();
        note(j->returned);
}

CASE_TEST(a_task_leaves_after_it_has_run_one_of_somebody_else_s_itself) {
        Background *closed = MADE(Background, background_new, event);
        Job *j = JOB('a', 'b');

        background_run(a, run_elsewhere_and_leave, job_init(j, closed, 0));
        ck_assert_str_eq(story, "a");
        (void) sem_post(&j->may_return);
        run_until_idle();
        ck_assert_str_eq(story, "ab");
        closed = background_free(closed);
}

/* Whether another one's task sees that this is under way. */
static void ask_for_a(void *userdata) {
        *(bool *) userdata = background_is_busy(a);
}

CASE_TEST(a_task_of_somebody_else_s_sees_that_one_is_under_way) {
        Background *other = MADE(Background, background_new, event);
        Job *j = JOB('a', 'b');
        bool is_busy = false;

        background_open(other);
        background_run(a, job_run, job_init(j, a, 0));
        background_run(other, ask_for_a, &is_busy);
        ck_assert(is_busy);
        (void) sem_post(&j->may_return);
        run_until_idle();
        background_run(other, ask_for_a, &is_busy);
        ck_assert(!is_busy);
        other = background_free(other);
}

/* The kernel takes as long as it takes the watchdog to be fed. */
static void wait_for_feed(void *userdata) {
        struct pollfd p = { .fd = *(int *) userdata, .events = POLLIN };
        char text[256] = "";

        background_leave();
        (void) poll(&p, 1, 60000);
        (void) recv(p.fd, text, sizeof(text) - 1, MSG_DONTWAIT);
        background_return();
        note(strstr(text, "WATCHDOG=1") ? 'f' : '-');
}

CASE_TEST(the_watchdog_is_fed_while_the_loop_waits_for_a_task) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct sockaddr_un address = { .sun_family = AF_UNIX }; /* in no directory */
        int n = snprintf(address.sun_path, sizeof(address.sun_path), "@ftraced-%i", (int) getpid());

        ck_assert_int_eq(setenv("NOTIFY_SOCKET", address.sun_path, 1), 0);
        address.sun_path[0] = 0;
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &address,
                              (socklen_t) (offsetof(struct sockaddr_un, sun_path) + (size_t) n)),
                         0);
        background_run(a, wait_for_feed, &fd);
        background_settle(a);
        ck_assert_str_eq(story, "f");
        (void) unsetenv("NOTIFY_SOCKET");
}

static void leave_twice(void *userdata) {
        background_leave();
        (void) usleep(200000); /* until it is settled */
        background_leave();
        background_return();
        background_return();
}

TEST(whoever_leaves_twice_ends_the_process_and_not_in_a_deadlock) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                (void) alarm(100);
                (void) setup();
                background_run(a, leave_twice, NULL);
                background_settle(a);
                _exit(0);
        }
        ck_assert_int_eq(unit_wait(pid), 128 + SIGABRT);
}
