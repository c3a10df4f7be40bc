/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <check.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

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
                ck_assert_int_eq(background_run(j->background, job_run, j->then), 0);
        background_leave();
        (void) sem_wait(&j->may_return);
        background_return();
        note(j->returned);
}

#define JOB(a, b) (&(Job){ .began = (a), .returned = (b) })

static Job *job_init(Job *j, Background *a, unsigned permits) {
        j->background = a;
        ck_assert_int_eq(sem_init(&j->may_return, 0, permits), 0);
        return j;
}

static void setup(sd_event **event, Background **a) {
        story[0] = 0;
        ck_assert_int_ge(sd_event_new(event), 0);
        ck_assert_int_eq(background_new(a, *event), 0);
        background_open(*a);
}

static void teardown(sd_event *event, Background *a) {
        a = background_free(a);
        (void) sd_event_unref(event);
}

static void run_until_idle(sd_event *event, Background *a) {
        while (background_is_busy(a))
                ck_assert_int_ge(sd_event_run(event, 10000000), 0);
}

START_TEST(the_loop_goes_on_between_leaving_and_returning_only)
        {
                sd_event *event;
                Background *a;
                Job *j = JOB('a', 'b');

                setup(&event, &a);
                ck_assert_int_eq(background_run(a, job_run, job_init(j, a, 0)), 0);
                note('-'); /* it has begun, and left */
                ck_assert(background_is_busy(a));
                (void) sem_post(&j->may_return);
                ck_assert_str_eq(story, "a-"); /* it wants to go on, and may not yet */
                run_until_idle(event, a);
                ck_assert_str_eq(story, "a-b");
                teardown(event, a);
        }
END_TEST

START_TEST(tasks_run_one_after_the_other)
        {
                sd_event *event;
                Background *a;
                Job *j = JOB('a', 'b'), *k = JOB('c', 'd');

                setup(&event, &a);
                ck_assert_int_eq(background_run(a, job_run, job_init(j, a, 0)), 0);
                ck_assert_int_eq(background_run(a, job_run, job_init(k, a, 1)), 0);
                ck_assert_str_eq(story, "a");
                (void) sem_post(&j->may_return);
                run_until_idle(event, a);
                ck_assert_str_eq(story, "abcd");
                teardown(event, a);
        }
END_TEST

START_TEST(a_task_that_a_task_begins_comes_after_it)
        {
                sd_event *event;
                Background *a;
                Job *j = JOB('a', 'b'), *k = JOB('c', 'd');

                setup(&event, &a);
                j->then = job_init(k, a, 1);
                ck_assert_int_eq(background_run(a, job_run, job_init(j, a, 1)), 0);
                run_until_idle(event, a);
                ck_assert_str_eq(story, "abcd");
                teardown(event, a);
        }
END_TEST

START_TEST(settling_ends_all_of_them_without_the_loop)
        {
                sd_event *event;
                Background *a;
                Job *j = JOB('a', 'b'), *k = JOB('c', 'd');

                setup(&event, &a);
                ck_assert_int_eq(background_run(a, job_run, job_init(j, a, 0)), 0);
                ck_assert_int_eq(background_run(a, job_run, job_init(k, a, 1)), 0);
                (void) sem_post(&j->may_return);
                background_settle(a);
                ck_assert(!background_is_busy(a));
                ck_assert_str_eq(story, "abcd");
                ck_assert_int_eq(sd_event_run(event, 0),
                                 1); /* that it wanted to go on is no news */
                ck_assert_int_eq(sd_event_run(event, 0), 0);
                teardown(event, a);
        }
END_TEST

START_TEST(a_task_that_settles_waits_for_nobody)
        {
                sd_event *event;
                Background *a;
                Job *j = JOB('a', 'b');

                setup(&event, &a);
                j->settles = true;
                ck_assert_int_eq(background_run(a, job_run, job_init(j, a, 1)), 0);
                run_until_idle(event, a);
                ck_assert_str_eq(story, "ab");
                teardown(event, a);
        }
END_TEST

static void note_thread(void *userdata) {
        pid_t *tid = userdata;

        *tid = gettid();
}

START_TEST(all_tasks_have_one_thread_which_is_not_the_loop_s)
        {
                pid_t first = 0, second = 0;
                sd_event *event;
                Background *a;

                setup(&event, &a);
                ck_assert_int_eq(background_run(a, note_thread, &first), 0);
                ck_assert_int_eq(background_run(a, note_thread, &second), 0);
                ck_assert_int_eq(first, second);
                ck_assert_int_ne(first, gettid());
                teardown(event, a);
        }
END_TEST

START_TEST(before_it_is_open_a_task_is_a_call_by_the_same_thread)
        {
                pid_t tid = 0;
                sd_event *event;
                Background *a;

                ck_assert_int_ge(sd_event_new(&event), 0);
                ck_assert_int_eq(background_new(&a, event), 0);
                ck_assert_int_eq(background_run(a, note_thread, &tid), 0);
                ck_assert_int_eq(tid, gettid());
                ck_assert(!background_is_busy(a));
                teardown(event, a);
        }
END_TEST

START_TEST(without_an_aside_a_task_is_a_call)
        {
                Job *j = JOB('a', 'b');

                story[0] = 0;
                ck_assert_int_eq(background_run(NULL, job_run, job_init(j, NULL, 1)), 0);
                ck_assert_str_eq(story, "ab");
                ck_assert(!background_is_busy(NULL));
                background_settle(NULL);
        }
END_TEST

static void run_elsewhere_and_leave(void *userdata) {
        Job *j = userdata;
        pid_t tid;

        ck_assert_int_eq(background_run(j->background, note_thread, &tid), 0);
        ck_assert_int_eq(tid, gettid());
        note(j->began);
        background_leave();
        (void) sem_wait(&j->may_return);
        background_return();
        note(j->returned);
}

START_TEST(a_task_leaves_after_it_has_run_one_of_somebody_else_s_itself)
        {
                sd_event *event;
                Background *a, *closed;
                Job *j = JOB('a', 'b');

                setup(&event, &a);
                ck_assert_int_eq(background_new(&closed, event), 0);
                ck_assert_int_eq(background_run(a, run_elsewhere_and_leave, job_init(j, closed, 0)),
                                 0);
                ck_assert_str_eq(story, "a");
                (void) sem_post(&j->may_return);
                run_until_idle(event, a);
                ck_assert_str_eq(story, "ab");
                closed = background_free(closed);
                teardown(event, a);
        }
END_TEST

static void leave_twice(void *userdata) {
        background_leave();
        (void) usleep(200000); /* until it is settled */
        background_leave();
        background_return();
        background_return();
}

START_TEST(whoever_leaves_twice_ends_the_process_and_not_in_a_deadlock)
        {
                int status;
                pid_t pid = fork();

                ck_assert_int_ge(pid, 0);
                if (pid == 0) {
                        sd_event *event;
                        Background *a;

                        (void) alarm(100);
                        setup(&event, &a);
                        (void) background_run(a, leave_twice, NULL);
                        background_settle(a);
                        _exit(0);
                }
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert(WIFSIGNALED(status));
                ck_assert_int_eq(WTERMSIG(status), SIGABRT);
        }
END_TEST

UNIT_SUITE("background", the_loop_goes_on_between_leaving_and_returning_only,
           tasks_run_one_after_the_other, a_task_that_a_task_begins_comes_after_it,
           settling_ends_all_of_them_without_the_loop, a_task_that_settles_waits_for_nobody,
           all_tasks_have_one_thread_which_is_not_the_loop_s,
           before_it_is_open_a_task_is_a_call_by_the_same_thread, without_an_aside_a_task_is_a_call,
           a_task_leaves_after_it_has_run_one_of_somebody_else_s_itself,
           whoever_leaves_twice_ends_the_process_and_not_in_a_deadlock)
