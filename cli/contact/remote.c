/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * ssh hands one line to the shell there, so every word is quoted for it.  What -o names is written here: there it
 * becomes "-o -", and arrives as ssh's output, for ssh ends well although the disk was full for the last of it.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/name.h"
#include "cli/contact/contact.h"

#define PROGRAM "ftracectl"
#define OUTPUT_MODE 0640

/* --- where ------------------------------------------------------------------------------------ */

/* What ssh could take for an option, or a shell for something else, is no host. */
bool remote_host_is_valid(const char *s) {
        const char *host = strchr(s, '@') ? strchr(s, '@') + 1 : s;
        const char *open = strchr(s, '['), *close = strchr(s, ']');

        return *s && *s != '-' && *host && *host != '-' &&
               (open ? open == host && close && (!close[1] || (close[1] == ':' && close[2]))
                     : !close) &&
               s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@.:_-%+["
                           "]")] == 0;
}

/* A port ssh takes in a URI, but not an address in brackets (OpenSSH 9.2 misc.c, parse_uri()); several colons without
 * them are an address of IPv6 alone. */
static int add_destination(Strv *ret, const char *host) {
        const char *open = strchr(host, '['), *close = open ? strchr(open, ']') : NULL;
        const char *colon = strchr(host, ':');

        if (close)
                return (close[1] ? strv_addf(ret, "-p%s", close + 2) : 0)
                               ?: strv_add(ret, "--")
                               ?: strv_addf(ret, "%.*s%.*s", (int) (open - host), host,
                                            (int) (close - open - 1), open + 1);
        return strv_add(ret, "--")
                       ?: strv_addf(ret, "%s%s", colon && !strchr(colon + 1, ':') ? "ssh://" : "",
                                    host);
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

int remote_command(Strv *ret, const Options *o, const char *host, bool with_terminal) {
        const char *ssh = getenv("FTRACED_SSH") ?: getenv("SYSTEMD_SSH");
        char *line = NULL;
        int r = strv_add(ret, ssh && *ssh ? ssh : "ssh")
                        ?: strv_add(ret, with_terminal ? "-xt" : "-xT")
                        ?: strv_add(ret, "-oConnectTimeout=60")
                        ?: strv_add(ret, "-oServerAliveInterval=20")
                        ?: add_destination(ret, host)
                        ?: make_line(&line, o, with_terminal);

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

/* --- what it sends ---------------------------------------------------------------------------- */

/* What ftracectl writes besides text: cli/terminal/terminal.c, render/kernel.c, cli/views/top-view.c. */
static const char *const codes[] = {
        "\r",      "\033[K",   "\033[H\033[J", "\033[0m",  "\033[m",
        "\033[1m", "\033[31m", "\033[32m",     "\033[33m", "\033[1;31m",
};

/* The code that @s begins with; NULL: none.  *@ret_is_part: it may be one when more has come. */
static const char *find_code(const char *s, size_t n, bool *ret_is_part) {
        *ret_is_part = false;
        for (size_t i = 0; i < ELEMENTSOF(codes); i++) {
                size_t n_code = strlen(codes[i]);

                if (memcmp(s, codes[i], MIN(n, n_code)) != 0)
                        continue;
                if (n >= n_code)
                        return codes[i];
                *ret_is_part = true;
        }
        return NULL;
}

/* Bytes at the end that a character begins with of which the rest is to come: UTF-8 has up to four. */
static size_t open_bytes(const char *s, size_t n) {
        for (size_t k = 1; k <= MIN(n, 3U); k++) {
                unsigned char c = (unsigned char) s[n - k];

                if (c >= 0xc0)
                        return k < (c >= 0xf0 ? 4U : c >= 0xe0 ? 3U : 2U) ? k : 0;
                if (c < 0x80)
                        return 0;
        }
        return 0;
}

void remote_text_add(RemoteText *t, Buf *out, const char *data, size_t n, bool is_end) {
        _cleanup_buf_ Buf all = BUF_INIT;
        size_t i = 0;

        buf_add(&all, t->held, t->n_held);
        buf_add(&all, data, n);
        t->n_held = 0;
        while (all.error == 0 && i < all.n_data) {
                const char *s = all.data + i;
                size_t n_left = all.n_data - i, n_text = 0, n_held = 0;
                bool is_part;
                const char *code = find_code(s, n_left, &is_part);

                if (code) {
                        buf_add_code(out, code);
                        i += strlen(code);
                        continue;
                }
                if (is_part && !is_end)
                        n_held = n_left;
                else
                        for (n_text = 1;
                             n_text < n_left && s[n_text] != '\r' && s[n_text] != '\033';)
                                n_text++;
                if (n_text == n_left && !is_end)
                        n_held = open_bytes(s, n_left);
                buf_add(out, s, MIN(n_text, n_left - n_held));
                i += MAX(n_text, n_held);
                if (n_held > 0) {
                        memcpy(t->held, all.data + all.n_data - n_held, n_held);
                        t->n_held = n_held;
                }
        }
}

/* Standard output or error of a process that stands for us there: what goes to a terminal or a file passes here. */
typedef struct Stream {
        int fd;     /* where it goes, borrowed */
        int in_fd;  /* a pipe's end, or -EBADF: there is nothing between */
        int its_fd; /* what the process is given: the other end, or fd */
        bool is_file;
        int error; /* -errno: the file could not be written */
        RemoteText text;
} Stream;

static int stream_open(Stream *s, int fd) {
        struct stat st;
        int fds[2];

        s->fd = s->its_fd = fd;
        s->is_file = fstat(fd, &st) >= 0 && S_ISREG(st.st_mode);
        if (!s->is_file && !isatty(fd))
                return 0;
        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        s->in_fd = fds[0];
        s->its_fd = fds[1];
        return 0;
}

/* Whether there may be more. */
static bool pump(Stream *s) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(s->fd);
        char data[16384];
        ssize_t n = read(s->in_fd, data, sizeof(data));

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return errno == EINTR;
        if (s->is_file)
                s->error = write_full(s->fd, data, (size_t) MAX(n, 0));
        else
                remote_text_add(&s->text, &out, data, (size_t) MAX(n, 0), n <= 0);
        if (buf_flush(&out) >= 0 && s->error >= 0 && n > 0)
                return true;
        s->in_fd = safe_close(s->in_fd); /* a terminal that has gone is one that nobody writes to */
        return false;
}

/* Passes on what comes until the process has ended, which is not waited for.  The end is the process's, not the
 * pipe's: ssh may leave one behind that shares its connection (ControlPersist) and keeps standard error. */
static void pass(Stream streams[static 2], pid_t pid) {
        int r = 0;

        while (r != POLL_CHILD_ENDED) {
                struct pollfd polls[] = { {},
                                          { .fd = streams[0].in_fd, .events = POLLIN },
                                          { .fd = streams[1].in_fd, .events = POLLIN } };

                if (streams[0].in_fd < 0 && streams[1].in_fd < 0)
                        return;
                r = poll_child(pid, polls, ELEMENTSOF(polls), UINT64_MAX);
                if (r < 0)
                        return;
                for (size_t i = 0; i < 2; i++)
                        if (polls[i + 1].revents != 0)
                                (void) pump(&streams[i]);
        }
        for (Stream *s = streams; s < streams + 2; s++) {
                _cleanup_buf_ Buf out = BUF_OF_TEXT(s->fd);

                if (s->in_fd < 0 || fcntl(s->in_fd, F_SETFL, O_NONBLOCK) < 0)
                        continue;
                while (pump(s))
                        ;
                remote_text_add(&s->text, &out, NULL, 0, true); /* if it was left open */
                (void) buf_flush(&out);
        }
}

static int run(const Options *o, int out_fd, bool with_terminal) {
        Stream streams[] = { { .in_fd = -EBADF, .its_fd = -EBADF },
                             { .in_fd = -EBADF, .its_fd = -EBADF } };
        _cleanup_strv_ Strv command = {};
        int r = remote_command(&command, o, o->host, with_terminal)
                        ?: stream_open(&streams[0], out_fd)
                        ?: stream_open(&streams[1], STDERR_FILENO),
            status;
        pid_t pid =
                r < 0 ? (pid_t) r
                      : remote_spawn(&command, STDIN_FILENO, streams[0].its_fd, streams[1].its_fd);

        for (size_t i = 0; i < 2; i++)
                if (streams[i].its_fd != streams[i].fd)
                        safe_close(streams[i].its_fd);
        if (pid > 0)
                pass(streams, pid);
        for (size_t i = 0; i < 2; i++)
                safe_close(streams[i].in_fd);
        if (pid < 0)
                return failed_errno((int) pid, "Failed to execute %s: %m",
                                    command.items[0] ?: "ssh");
        status = remote_wait(pid);
        if (streams[0].error < 0)
                return failed_errno(streams[0].error, "Failed to write %s: %m",
                                    o->output ?: "to standard output");
        if (status == REMOTE_SSH_FAILED)
                return failed(STATUS_FAILED, "Cannot reach %s; see ssh's message above.", o->host);
        if (status == STATUS_NO_COMMAND && o->n_command == 0)
                return failed(STATUS_FAILED, "there is no ftracectl on %s.", o->host);
        return status;
}

int remote_run(const Options *o, SentCheck *check) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_buf_ Buf said = BUF_INIT;
        bool is_told;
        int r = 0, status, checked;

        if (!remote_host_is_valid(o->host))
                return failed(STATUS_USAGE, "-H: \"%s\" is not a host like [user@]host[:port].",
                              NAME_QUOTED(o->host));
        if (o->output && !streq(o->output, "-"))
                r = outfile_open(&f, o->output, OUTPUT_MODE);
        if (r < 0)
                return failed_errno(r, "Failed to write %s: %m", o->output);
        if (f.fd < 0)
                return run(o, STDOUT_FILENO,
                           isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !o->output);
        status = run(o, f.fd, false);
        if (!remote_is_good(status))
                return status;
        checked = check && f.temporary ? check(f.fd, f.path, &said, &is_told) : STATUS_OK;
        if (!remote_is_good(checked))
                return failed(checked, "%s: %.*s", o->host, (int) said.n_data, said.data ?: "");
        if (status == STATUS_OK && checked != STATUS_OK) {
                log_warning("%s: %.*s", o->host, (int) said.n_data, said.data ?: "");
                status = checked;
        }
        r = outfile_commit(&f);
        if (r < 0)
                return failed_errno(r, "Failed to write %s: %m", o->output);
        return status;
}
