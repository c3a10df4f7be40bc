/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * SIGPIPE is ignored (cli/main.c), so that a reader that leaves shows as EPIPE
 * where we can still end what we began.  The pager replaces descriptor 1
 * itself: whoever draws needs not know that there is one.
 */

#include <langinfo.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <fcntl.h>

#include "base/io.h"
#include "cli/terminal/terminal.h"

void talk(const Options *o, const char *format, ...) {
        _cleanup_buf_ Buf line = BUF_INIT, folded = BUF_INIT;
        char *text = NULL;
        va_list ap;

        if (o->quiet)
                return;
        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);
        if (!text)
                return;
        buf_add_plain(&line, text, strlen(text), PLAIN_WORD);
        free(text);
        buf_adds(&line, "\n");
        buf_add_folded(&folded, line.data, line.n_data, terminal_width(STDERR_FILENO), SIZE_MAX);
        (void) fwrite(folded.data, 1, folded.n_data, stderr);
}

char *terminal_json(const json_t *value, size_t flags) {
        _cleanup_free_ char *text = json_dumps(value, flags);
        _cleanup_buf_ Buf out = BUF_INIT;
        char *ret = NULL;

        if (text)
                buf_add_plain(&out, text, strlen(text), PLAIN_JSON);
        return text && buf_take_string(&out, &ret) >= 0 ? ret : NULL;
}

json_t *terminal_json_text(const char *s, size_t n) {
        _cleanup_buf_ Buf out = BUF_INIT;

        if (!s)
                return json_null();
        for (size_t i = 0, length; i < n; i += length) {
                uint32_t c;

                length = utf8_decode(s + i, n - i, &c);
                if (length > 0) {
                        buf_add(&out, s + i, length);
                        continue;
                }
                buf_adds(&out, "\xef\xbf\xbd");
                length = 1;
        }
        return out.error < 0 ? NULL : json_stringn(out.data ?: "", out.n_data);
}

json_t *terminal_json_string(const char *s) {
        return terminal_json_text(s, s ? strlen(s) : 0);
}

json_t *terminal_json_list(const Strv *list) {
        json_t *ret = json_array();

        for (size_t i = 0; i < list->n; i++)
                (void) json_array_append_new(ret, terminal_json_string(list->items[i]));
        return ret;
}

bool terminal_has_colours(const Options *o) {
        const char *e = getenv("NO_COLOR");

        if (o->color == COLOR_NEVER)
                return false;
        if (o->color == COLOR_ALWAYS)
                return true;
        if (e && *e)
                return false;
        return isatty(STDOUT_FILENO) && !streq_ptr(getenv("TERM"), "dumb");
}

void terminal_add(Buf *out, const Options *o, Colour c, const char *text) {
        static const char *const codes[] = {
                [COLOUR_GOOD] = "\033[32m",
                [COLOUR_WARNING] = "\033[33m",
                [COLOUR_BAD] = "\033[31m",
                [COLOUR_BOLD] = "\033[1m",
        };
        bool is_coloured = terminal_has_colours(o);

        if (is_coloured)
                buf_add_code(out, codes[c]);
        buf_add_plain(out, text, strlen(text), PLAIN_WORD);
        if (is_coloured)
                buf_add_code(out, "\033[0m");
}

bool terminal_is_utf8(void) {
        return streq(nl_langinfo(CODESET), "UTF-8");
}

size_t terminal_width(int fd) {
        const char *said = getenv("COLUMNS");
        struct winsize w = {};
        uint64_t n;

        if (!isatty(fd))
                return 0;
        if (said && parse_u64(said, 65535, &n) >= 0 && n > 0)
                return (size_t) n;
        return ioctl(fd, TIOCGWINSZ, &w) >= 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static size_t paged_columns; /* of the terminal behind a pager; 0: there is none */

size_t terminal_columns(void) {
        return paged_columns ?: terminal_width(STDOUT_FILENO);
}

void terminal_fold(Buf *out, size_t from, size_t indent) {
        size_t width = terminal_columns(), n = out->n_data - MIN(from, out->n_data);
        _cleanup_free_ char *text = width > 0 && n > 0 ? strndup(out->data + from, n) : NULL;

        if (!text)
                return;
        out->n_data = from;
        buf_add_folded(out, text, n, width, indent);
}

_noreturn_ static void pager_child(const char *command, int fd) {
        sigset_t none;

        sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        (void) signal(SIGPIPE, SIG_DFL);
        (void) dup2(fd, STDIN_FILENO);
        (void) setenv("LESS", getenv("SYSTEMD_LESS") ?: "FRSXMK", 1);
        (void) execlp("sh", "sh", "-c", command, (char *) NULL);
        _exit(127);
}

void pager_open(Pager *p, const Options *o, size_t n_lines) {
        const char *command = getenv("SYSTEMD_PAGER") ?: getenv("PAGER") ?: "less";
        struct winsize w = {};
        _cleanup_close_ int saved = -EBADF;
        int fds[2];
        pid_t pid;

        *p = PAGER_INIT;
        if (o->no_pager || !isatty(STDOUT_FILENO) || !*command || streq(command, "cat"))
                return;
        /* A serial line does not know how large what is behind it is: the smallest that is common. */
        (void) ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
        if (n_lines < (w.ws_row > 0 ? w.ws_row : 24))
                return;
        paged_columns = terminal_columns();
        saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        if (saved < 0 || pipe2(fds, O_CLOEXEC) < 0)
                return;
        pid = fork();
        if (pid == 0)
                pager_child(command, fds[0]);
        (void) close(fds[0]);
        if (pid > 0 && dup2(fds[1], STDOUT_FILENO) >= 0)
                *p = (Pager){ .pid = pid, .stdout_fd = TAKE_FD(saved) };
        (void) close(fds[1]);
}

void pager_close(Pager *p) {
        struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

        if (p->pid <= 0)
                return;
        (void) dup2(p->stdout_fd, STDOUT_FILENO); /* and with it the pager sees the end */
        p->stdout_fd = safe_close(p->stdout_fd);
        paged_columns = 0;
        (void) sigaction(SIGINT, &ignore, &before); /* Ctrl-C is the pager's now */
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        (void) sigaction(SIGINT, &before, NULL);
        p->pid = 0;
}

int pager_end(Pager *p, int r) {
        bool is_paged = p->pid > 0;

        pager_close(p);
        return is_paged && r == -EPIPE ? 0 : r;
}

int stdout_status(int r) {
        if (r >= 0)
                return STATUS_OK;
        if (r == -EPIPE)
                return STATUS_PIPE;
        return failed_errno(r, "Cannot write to standard output: %m");
}

int stdout_end(Buf *out) {
        return stdout_status(buf_flush(out));
}

int stdout_folded(Buf *out) {
        terminal_fold(out, 0, SIZE_MAX);
        return stdout_end(out);
}

int stdout_paged(Pager *p, Buf *out, int r) {
        return stdout_status(pager_end(p, r < 0 ? r : buf_flush(out)));
}

int stdout_json(const Options *o, json_t *value) {
        bool pretty = o->json == JSON_PRETTY || (o->json == JSON_AUTO && isatty(STDOUT_FILENO));
        _cleanup_free_ char *text = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        if (value)
                text = terminal_json(value,
                                     JSON_ENCODE_ANY | (pretty ? JSON_INDENT(2) : JSON_COMPACT));
        json_decref(value);
        if (!text)
                return out_of_memory();
        buf_printf(&out, "%s\n", text);
        return stdout_end(&out);
}

/* --- progress: the clock is looked at once for thousands of steps ------------------------------ */

void progress_begin(Progress *ret, const Options *o, const char *what) {
        *ret = (Progress){ .what = what,
                           .is_shown = isatty(STDERR_FILENO) && !o->quiet,
                           .next_ns = now_ns(CLOCK_MONOTONIC) + PROGRESS_AFTER_NS };
}

void progress_write(Progress *p, uint64_t done, uint64_t total) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (!p->is_shown || now < p->next_ns)
                return;
        p->next_ns = now + PROGRESS_EVERY_NS;
        if (total == 0)
                (void) fprintf(stderr, "\r\033[K%s: %s", p->what, FORMAT_COUNT(done));
        else
                (void) fprintf(stderr, "\r\033[K%s: %u %%", p->what,
                               (unsigned) ((double) MIN(done, total) * 100 / (double) total));
        p->is_written = true;
}

void progress_end(Progress *p) {
        if (p->is_written)
                (void) fprintf(stderr, "\r\033[K");
        p->is_written = p->is_shown = false;
}

/* --- signals: what they mean is the affair of the verb that records --------------------------- */

static sigset_t signals_set(void) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGHUP);
        sigaddset(&set, SIGCHLD);
        return set;
}

int signals_open(void) {
        sigset_t set = signals_set();
        int fd;

        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return ORIGIN(-errno);
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? ORIGIN(-errno) : fd;
}

bool signals_next(int fd, struct signalfd_siginfo *ret) {
        return read(fd, ret, sizeof(*ret)) == sizeof(*ret);
}

bool signals_want_end(int fd) {
        struct signalfd_siginfo s;
        bool wanted = false;

        while (signals_next(fd, &s))
                wanted = wanted || s.ssi_signo != SIGCHLD;
        return wanted;
}

void signals_close(int *fd) {
        sigset_t set = signals_set();

        if (*fd < 0)
                return;
        (void) signals_want_end(*fd);
        *fd = safe_close(*fd);
        (void) sigprocmask(SIG_UNBLOCK, &set, NULL);
}
