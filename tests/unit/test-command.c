/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/wait.h>

#include "cli/record/record.h"
#include "scratch.h"
#include "unit.h"

TEST(it_begins_when_it_is_released_and_never_else) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        char path[PATH_MAX + 16];
        char *const touch[] = { (char *) "touch", path, NULL };
        int status;

        (void) snprintf(path, sizeof(path), "%s/began", s.path);
        for (int is_released = 0; is_released < 2; is_released++) {
                Command c = COMMAND_INIT;

                ck_assert_int_eq(command_hold(&c, touch), 0);
                usleep(50000);
                ck_assert_int_lt(access(path, F_OK), 0);
                ck_assert_int_eq(command_reap(&c, &status, false), 0);
                if (is_released) {
                        ck_assert_int_eq(command_release(&c), 0);
                        ck_assert_int_eq(command_reap(&c, &status, true), 1);
                        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
                }
                command_done(&c);
                ck_assert_int_eq(c.pid, 0);
                ck_assert_int_eq(access(path, F_OK) == 0, is_released);
        }
}

TEST(how_it_ended_or_why_it_never_began_is_told) {
        _cleanup_command_ Command c = COMMAND_INIT, none = COMMAND_INIT;
        char *const argv[] = { (char *) "sh", (char *) "-c", (char *) "exit 7", NULL };
        char *const nowhere[] = { (char *) "/nonexistent/program", NULL };
        int status;

        ck_assert_int_eq(command_hold(&c, argv), 0);
        ck_assert_int_eq(command_release(&c), 0);
        ck_assert_int_eq(command_reap(&c, &status, true), 1);
        ck_assert_int_eq(WEXITSTATUS(status), 7);
        ck_assert_int_eq(command_reap(&c, &status, true), 0);
        ck_assert_int_eq(command_hold(&none, nowhere), 0);
        ck_assert_int_eq(command_release(&none), -ENOENT);
        ck_assert_int_eq(none.pid, 0);
}
