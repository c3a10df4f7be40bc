/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * ssh hands one line to the shell there, so every word is quoted for it.  What -o names is written
 * here: there it becomes "-o -", and arrives as ssh's output.  What reaches a terminal or a file goes through
 * cli/contact/remote-output.h.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/remote-output.h"
#include "cli/contact/remote.h"
#include "cli/terminal/outfile.h"

#define PROGRAM "ftracectl"
#define OUTPUT_MODE 0640

/* --- where ------------------------------------------------------------------------------------ */

/* What ssh could take for an option, or a shell for something else, is no host. */
static bool is_where(const char *s) {
        const char *host = strchr(s, '@') ? strchr(s, '@') + 1 : s;

        return *s && *s != '-' && *host && *host != '-' &&
               s[strspn(s,
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@.:_-%+")] ==
                       0;
}

int remote_host_parse(RemoteHost *ret, const char *text) {
        _cleanup_remote_host_ RemoteHost h = {};
        const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
        const char *colon = close ? close + 1 : strrchr(text, ':');
        uint64_t port;

        if (open && (!close || (*colon && *colon != ':')))
                return REMOTE_E_INVALID;
        if (close && *colon == 0)
                colon = NULL;
        /* Two colons without brackets: an address of IPv6 alone. */
        if (!close && colon && strchr(text, ':') != colon)
                colon = NULL;
        if (colon && (parse_u64(colon + 1, 65535, &port) < 0 || port == 0))
                return REMOTE_E_INVALID;
        h.port = colon ? strdup(colon + 1) : NULL;
        if (close) {
                if (asprintf(&h.where, "%.*s%.*s", (int) (open - text), text,
                             (int) (close - open - 1), open + 1) < 0)
                        h.where = NULL;
        } else
                h.where = colon ? strndup(text, (size_t) (colon - text)) : strdup(text);
        if (!h.where || (colon && !h.port))
                return -ENOMEM;
        if (!is_where(h.where))
                return REMOTE_E_INVALID;
        *ret = TAKE(h, (RemoteHost){});
        return 0;
}

void remote_host_done(RemoteHost *h) {
        free(h->where);
        free(h->port);
        *h = (RemoteHost){};
}

/* --- what ------------------------------------------------------------------------------------- */

/* ' becomes '\'' */
static void add_quoted(Buf *out, const char *word) {
        buf_adds(out, " '");
        for (const char *c = word; *c; c++)
                if (*c == '\'')
                        buf_adds(out, "'\\''");
                else
                        buf_add(out, c, 1);
        buf_adds(out, "'");
}

/* A terminal's pager would be there, and what it does with the screen is not let through here. */
static int make_line(char **ret, const Options *o, bool with_terminal) {
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_strv_ Strv said = {};
        bool is_run = o->n_command > 0;

        if (options_said(&said, o, UINT64_MAX, OPTIONS_REMOTE) < 0)
                return -ENOMEM;
        buf_adds(&out, PROGRAM);
        add_quoted(&out, o->verb ?: "status");
        for (size_t i = 0; i < said.n; i++)
                if (!startswith(said.items[i], "--output="))
                        add_quoted(&out, said.items[i]);
        if (with_terminal && !o->no_pager)
                add_quoted(&out, "--no-pager");
        if (o->output)
                add_quoted(&out, "--output=-");
        if (!is_run && o->words.n > 0)
                buf_adds(&out, " --");
        for (size_t i = 0; i < o->words.n; i++)
                add_quoted(&out, o->words.items[i]);
        if (is_run)
                buf_adds(&out, " --");
        for (size_t i = 0; i < o->n_command; i++)
                add_quoted(&out, o->command[i]);
        return buf_take_string(&out, ret);
}

int remote_command(Strv *ret, const Options *o, const RemoteHost *h, bool with_terminal) {
        const char *ssh = getenv("FTRACED_SSH") ?: getenv("SYSTEMD_SSH");
        char *line = NULL;
        int r = strv_add(ret, ssh && *ssh ? ssh : "ssh")
                        ?: strv_add(ret, with_terminal ? "-xt" : "-xT");

        if (r >= 0 && h->port)
                r = strv_add(ret, "-p");
        if (r >= 0 && h->port)
                r = strv_add(ret, h->port);
        if (r >= 0)
                r = strv_add(ret, "--");
        if (r >= 0)
                r = strv_add(ret, h->where);
        if (r >= 0)
                r = make_line(&line, o, with_terminal);
        return r < 0 ? r : strv_take(ret, line);
}

/* --- running it ------------------------------------------------------------------------------- */

pid_t remote_spawn(const Strv *command, int in_fd, int out_fd, int err_fd) {
        pid_t parent = getpid(), pid = fork();
        sigset_t none;

        if (pid != 0)
                return pid < 0 ? ORIGIN(-errno) : pid;
        (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        (void) signal(SIGPIPE, SIG_DFL);
        (void) signal(SIGXFSZ, SIG_DFL);
        if (getppid() != parent || dup2(in_fd, STDIN_FILENO) < 0 ||
            dup2(out_fd, STDOUT_FILENO) < 0 || dup2(err_fd, STDERR_FILENO) < 0)
                _exit(REMOTE_SSH_FAILED);
        (void) execvp(command->items[0], command->items);
        log_error_errno(ORIGIN(-errno), "Cannot execute %s, which -H needs: %m", command->items[0]);
        _exit(REMOTE_SSH_FAILED);
}

int remote_wait(pid_t pid) {
        int status;

        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return STATUS_FAILED;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(const Options *o, const RemoteHost *h, int out_fd, bool with_terminal) {
        RemoteOutput outputs[] = { REMOTE_OUTPUT_INIT, REMOTE_OUTPUT_INIT };
        const int targets[] = { out_fd, STDERR_FILENO };
        int fds[ELEMENTSOF(outputs)] = { out_fd, STDERR_FILENO };
        _cleanup_strv_ Strv command = {};
        pid_t pid;
        int r = remote_command(&command, o, h, with_terminal), status;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(outputs); i++)
                r = remote_output_open(&outputs[i], targets[i], &fds[i]);
        pid = r < 0 ? (pid_t) r : remote_spawn(&command, STDIN_FILENO, fds[0], fds[1]);
        for (size_t i = 0; i < ELEMENTSOF(outputs); i++)
                if (fds[i] != targets[i])
                        safe_close(fds[i]);
        if (pid > 0)
                remote_output_pass(outputs, ELEMENTSOF(outputs), pid);
        for (size_t i = 0; i < ELEMENTSOF(outputs); i++)
                remote_output_done(&outputs[i]);
        if (pid < 0)
                return failed_errno((int) pid, "Failed to execute %s: %m",
                                    command.items[0] ?: "ssh");
        status = remote_wait(pid);
        if (outputs[0].error < 0)
                return failed_errno(outputs[0].error, "Failed to write %s: %m",
                                    o->output ?: "to standard output");
        if (status == REMOTE_SSH_FAILED)
                return failed(STATUS_FAILED, "Cannot reach %s; see ssh's message above.", o->host);
        if (status == STATUS_NO_COMMAND && o->n_command == 0)
                return failed(STATUS_FAILED, "there is no ftracectl on %s.", o->host);
        return status;
}

int remote_run(const Options *o) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_remote_host_ RemoteHost h = {};
        int r = remote_host_parse(&h, o->host), status;

        if (r > 0)
                return failed(STATUS_USAGE, "-H: \"%s\" is not a host like [user@]host[:port].",
                              NAME_QUOTED(o->host));
        if (r == 0 && o->output && !streq(o->output, "-"))
                r = outfile_open(&f, o->output, OUTPUT_MODE);
        if (r < 0)
                return failed_errno(r, "Failed to write %s: %m", o->output ?: "");
        if (f.fd < 0)
                return run(o, &h, STDOUT_FILENO,
                           isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !o->output);
        status = run(o, &h, f.fd, false);
        if (!remote_is_good(status))
                return status;
        r = outfile_commit(&f);
        if (r < 0)
                return failed_errno(r, "Failed to write %s: %m", o->output);
        return status;
}
