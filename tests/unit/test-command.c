/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/wait.h>

#include "cli/record/record.h"
#include "unit.h"

static char *const touch[] = { (char *) "touch", (char *) "began", NULL };

static void enter_directory(void) {
        char path[] = "/tmp/test-command.XXXXXX";

        ck_assert_ptr_nonnull(mkdtemp(path));
        ck_assert_int_eq(chdir(path), 0);
}

static bool has_begun(void) {
        return access("began", F_OK) == 0;
}

static void leave_directory(void) {
        _cleanup_free_ char *path = getcwd(NULL, 0);

        (void) unlink("began");
        ck_assert_int_eq(rmdir(path), 0);
}

START_TEST(it_does_not_begin_before_it_is_released)
        {
                _cleanup_command_ Command c = COMMAND_INIT;
                int status;

                enter_directory();
                ck_assert_int_eq(command_hold(&c, touch), 0);
                usleep(50000);
                ck_assert(!has_begun());
                ck_assert_int_eq(command_reap(&c, &status, false), 0);
                ck_assert_int_eq(command_release(&c), 0);
                ck_assert_int_eq(command_reap(&c, &status, true), 1);
                ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
                ck_assert(has_begun());
                leave_directory();
        }
END_TEST

START_TEST(it_never_begins_if_it_is_not_released)
        {
                Command c = COMMAND_INIT;

                enter_directory();
                ck_assert_int_eq(command_hold(&c, touch), 0);
                command_done(&c);
                ck_assert_int_eq(c.pid, 0);
                ck_assert(!has_begun());
                leave_directory();
        }
END_TEST

START_TEST(what_cannot_be_executed_says_why)
        {
                _cleanup_command_ Command c = COMMAND_INIT;
                char *const argv[] = { (char *) "/nonexistent/program", NULL };

                ck_assert_int_eq(command_hold(&c, argv), 0);
                ck_assert_int_eq(command_release(&c), -ENOENT);
                ck_assert_int_eq(c.pid, 0);
        }
END_TEST

START_TEST(how_it_ended_is_told)
        {
                _cleanup_command_ Command c = COMMAND_INIT;
                char *const argv[] = { (char *) "sh", (char *) "-c", (char *) "exit 7", NULL };
                int status;

                ck_assert_int_eq(command_hold(&c, argv), 0);
                ck_assert_int_eq(command_release(&c), 0);
                ck_assert_int_eq(command_reap(&c, &status, true), 1);
                ck_assert_int_eq(WEXITSTATUS(status), 7);
                ck_assert_int_eq(command_reap(&c, &status, true), 0);
        }
END_TEST

UNIT_SUITE("command", it_does_not_begin_before_it_is_released,
           it_never_begins_if_it_is_not_released, what_cannot_be_executed_says_why,
           how_it_ended_is_told)
