/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One child and its standard output; its complaints are better said by us. */

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/name.h"
#include "cli/options/status.h"
#include "cli/schedule/calendar.h"

#define ANSWER_MAX ((size_t) 64 << 10)
#define NEXT "Next elapse: "
#define NOT_FOUND 127 /* env(1): there is no such program */

char *calendar_read_next(const char *text) {
        const char *next = strstr(text, NEXT), *day;

        if (!next)
                return NULL;
        next += strlen(NEXT);
        day = next + strcspn(next, " \n");
        /* The day of the week is no part of it, and "never" is no time. */
        if (*day != ' ' || strcspn(day + 1, "\n") == 0)
                return NULL;
        return strndup(day + 1, strcspn(day + 1, "\n"));
}

/* What systemd-analyze prints, in no language; its exit status, or -errno. */
static int ask(char **ret, const char *event) {
        _cleanup_free_ char *copy = strdup(event);
        char env[] = "env", locale[] = "LC_ALL=C", tool[] = "systemd-analyze", verb[] = "calendar",
             end[] = "--", *argv[] = { env, locale, tool, verb, end, copy, NULL };
        posix_spawn_file_actions_t actions;
        int r, status, fds[2];
        pid_t pid;

        if (!copy)
                return -ENOMEM;
        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        (void) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        r = -posix_spawnp(&pid, env, &actions, NULL, argv, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        safe_close(fds[1]);
        if (r == 0) {
                r = fd_read(fds[0], ret, NULL, ANSWER_MAX);
                while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                        ;
        }
        safe_close(fds[0]);
        if (r < 0)
                return r;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

enum {
        CALENDAR_E_INVALID = 1,
        CALENDAR_E_NEVER = 2,   /* it lies in the past, for good */
        CALENDAR_E_NO_TOOL = 3, /* there is no systemd-analyze */
};

/* 0, CALENDAR_E_*, -errno. */
static int find_next(char **ret_next, const char *event) {
        _cleanup_free_ char *text = NULL;
        int r = ask(&text, event);

        if (r == -ENOENT || r == NOT_FOUND)
                return CALENDAR_E_NO_TOOL;
        if (r < 0)
                return r;
        if (r > 0)
                return CALENDAR_E_INVALID;
        *ret_next = calendar_read_next(text);
        return *ret_next ? 0 : CALENDAR_E_NEVER;
}

int calendar_check(char **ret_next, const char *event, const char *option) {
        const char *quoted = NAME_QUOTED(event);
        int r = find_next(ret_next, event);

        switch (r) {
        case 0:
                return STATUS_OK;
        case CALENDAR_E_INVALID:
                return failed(STATUS_USAGE,
                              "%s: \"%s\" is not a time that systemd understands, like 'Mon..Fri "
                              "02:00' or hourly; see systemd.time(7).",
                              option, quoted);
        case CALENDAR_E_NEVER:
                return failed(STATUS_USAGE, "%s: \"%s\" has passed, and does not come again.",
                              option, quoted);
        case CALENDAR_E_NO_TOOL:
                return failed(STATUS_UNABLE, "%s needs systemd: there is no systemd-analyze here.",
                              option);
        default:
                return failed_errno(r, "%s: Cannot check \"%s\" with systemd-analyze: %m", option,
                                    quoted);
        }
}
