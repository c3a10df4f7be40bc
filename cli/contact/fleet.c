/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One process for each host, of which FLEET_AT_ONCE run.  Their output comes through pipes, is kept
 * up to a bound, and is printed when all of it is there; of fetch it goes straight into a file.
 */

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/name.h"
#include "cli/contact/fleet.h"
#include "cli/contact/remote.h"
#include "cli/terminal/outfile.h"
#include "cli/terminal/terminal.h"

#define HOSTS_BYTES_MAX ((size_t) 1 << 20)
#define SAID_BYTES_MAX ((size_t) 4 << 20) /* of one host */
#define OUTPUT_MODE 0640

typedef struct Member {
        const char *name;
        RemoteHost host;
        pid_t pid; /* 0: not begun, or done */
        int out_fd, err_fd;
        Buf out, err;
        Outfile file;
        int status;
} Member;

typedef struct Fleet {
        const Options *o;
        Member *members;
        size_t n, n_begun, n_running;
        json_t *results;
} Fleet;

int fleet_read(Strv *ret, const char *text) {
        _cleanup_strv_ Strv lines = {};
        int r = strv_split(&lines, text, "\n");

        for (size_t i = 0; r >= 0 && i < lines.n; i++) {
                lines.items[i][strcspn(lines.items[i], "#")] = 0;
                r = strv_split(ret, lines.items[i], " \t\r,");
        }
        return r;
}

static int read_hosts(Strv *ret, const Options *o) {
        _cleanup_free_ char *text = NULL;
        int r;

        r = streq(o->hosts, "-") ? fd_read(STDIN_FILENO, &text, NULL, HOSTS_BYTES_MAX)
                                 : file_read(AT_FDCWD, o->hosts, &text, NULL, HOSTS_BYTES_MAX);
        if (r >= 0)
                r = fleet_read(ret, text);
        if (r < 0)
                return failed_errno(r, "--hosts: Failed to read %s: %m", o->hosts);
        if (ret->n > 0)
                return STATUS_OK;
        return failed(STATUS_USAGE, "--hosts: %s names no host; write one per line.", o->hosts);
}

/* --- one host --------------------------------------------------------------------------------- */

static int open_output(Member *m, const Options *o) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/%s.dat", o->output, m->name) < 0)
                return -ENOMEM;
        return outfile_open(&m->file, path, OUTPUT_MODE);
}

static int begin(Member *m, const Options *o) {
        _cleanup_close_ int in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        int out[2] = { -EBADF, -EBADF }, err[2] = { -EBADF, -EBADF }, r = 0;
        _cleanup_strv_ Strv command = {};

        if (in_fd < 0 || pipe2(err, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
                r = ORIGIN(-errno);
        if (r >= 0 && o->output)
                r = open_output(m, o);
        if (r >= 0)
                r = remote_command(&command, o, &m->host, false);
        if (r >= 0)
                m->pid = remote_spawn(&command, in_fd, o->output ? m->file.fd : out[1], err[1]);
        if (r >= 0 && m->pid < 0)
                r = (int) TAKE(m->pid, 0);
        safe_close(out[1]);
        safe_close(err[1]);
        if (r < 0) {
                safe_close(out[0]);
                safe_close(err[0]);
                return r;
        }
        m->out_fd = out[0];
        m->err_fd = err[0];
        return 0;
}

/* Whether there may be more. */
static bool pump(int *fd, Buf *b) {
        char data[4096];
        ssize_t n = read(*fd, data, sizeof(data));

        if (n < 0 && errno == EINTR)
                return true;
        if (n > 0) {
                if (b->n_data < SAID_BYTES_MAX)
                        buf_add(b, data, (size_t) n);
                return true;
        }
        *fd = safe_close(*fd);
        return false;
}

/* The first line, or the last, without its end; the caller frees. */
static char *line_of(Buf *b, bool is_last) {
        _cleanup_free_ char *text = NULL;
        char *line = NULL;

        if (buf_take_string(b, &text) < 0)
                return NULL;
        if (is_last) {
                text[strlen(text) - (strlen(text) > 0 && text[strlen(text) - 1] == '\n')] = 0;
                line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
        } else {
                text[strcspn(text, "\n")] = 0;
                line = text;
        }
        return strdup(line);
}

static void say(const Member *m, const char *line, const char *more) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        buf_printf(&out, "%s: %s%s\n", m->name, line, more);
        (void) buf_flush(&out);
}

static void end(Member *m, Fleet *f) {
        _cleanup_free_ char *line = NULL;
        json_t *result;
        int r = 0;

        m->status = remote_wait(TAKE(m->pid, 0));
        if (m->status == REMOTE_SSH_FAILED)
                m->status = STATUS_FAILED;
        f->n_running--;
        if (f->o->output && remote_is_good(m->status)) {
                r = outfile_commit(&m->file);
                if (r < 0) {
                        buf_printf(&m->err, "Failed to write %s: %s\n", m->file.path,
                                   origin_text(r));
                        m->status = STATUS_FAILED;
                } else
                        buf_printf(&m->out, "%s/%s.dat\n", f->o->output, m->name);
        }
        if (f->o->json != JSON_OFF) {
                json_t *said = json_loadb(m->out.data ?: "", m->out.n_data, 0, NULL);

                line = line_of(&m->err, true);
                result = json_pack("{s:s, s:i, s:o, s:o}", "host", m->name, "status", m->status,
                                   "output", said ?: json_null(), "error",
                                   remote_is_good(m->status) || !line
                                           ? json_null()
                                           : terminal_json_text(line, strlen(line)));
                (void) json_array_append_new(f->results, result);
                return;
        }
        line = remote_is_good(m->status) ? line_of(&m->out, false) : line_of(&m->err, true);
        say(m,
            line && *line               ? line
            : remote_is_good(m->status) ? "done"
                                        : "failed",
            m->status == STATUS_INCOMPLETE ? " (incomplete)" : "");
}

static void fail_to_begin(Member *m, Fleet *f, int r) {
        m->status = STATUS_FAILED;
        if (f->o->json != JSON_OFF)
                (void) json_array_append_new(
                        f->results, json_pack("{s:s, s:i, s:n, s:s}", "host", m->name, "status",
                                              m->status, "output", "error", origin_text(r)));
        else
                say(m, origin_text(r), "");
}

/* --- all of them ------------------------------------------------------------------------------ */

static void wait_for_some(Fleet *f) {
        struct pollfd *polls = calloc(2 * f->n_begun + 1, sizeof(*polls));
        size_t n = 0;

        if (!polls)
                return;
        for (size_t i = 0; i < f->n_begun; i++) {
                polls[n++] = (struct pollfd){ .fd = f->members[i].out_fd, .events = POLLIN };
                polls[n++] = (struct pollfd){ .fd = f->members[i].err_fd, .events = POLLIN };
        }
        if (poll(polls, n, -1) > 0)
                for (size_t i = 0; i < f->n_begun; i++) {
                        Member *m = &f->members[i];

                        if (m->pid == 0)
                                continue;
                        if (polls[2 * i].revents)
                                (void) pump(&m->out_fd, &m->out);
                        if (polls[2 * i + 1].revents)
                                (void) pump(&m->err_fd, &m->err);
                        if (m->out_fd < 0 && m->err_fd < 0)
                                end(m, f);
                }
        free(polls);
}

static void run_all(Fleet *f) {
        while (f->n_begun < f->n || f->n_running > 0) {
                while (f->n_begun < f->n && f->n_running < FLEET_AT_ONCE) {
                        Member *m = &f->members[f->n_begun++];
                        int r = begin(m, f->o);

                        if (r < 0)
                                fail_to_begin(m, f, r);
                        else
                                f->n_running++;
                }
                if (f->n_running > 0)
                        wait_for_some(f);
        }
}

static int sum_up(const Fleet *f) {
        size_t n_bad = 0;
        int status = f->members[0].status;

        for (size_t i = 0; i < f->n; i++) {
                n_bad += !remote_is_good(f->members[i].status);
                if (f->members[i].status != status)
                        status = status == STATUS_OK ? f->members[i].status : STATUS_FAILED;
        }
        talk(f->o, "%zu of %zu hosts%s.", f->n - n_bad, f->n,
             n_bad > 0 ? "; the others failed" : "");
        return status;
}

static int check(const Fleet *f, const Strv *names) {
        struct stat st;

        for (size_t i = 0; i < names->n; i++) {
                int r = remote_host_parse(&f->members[i].host, names->items[i]);

                if (r == 0)
                        continue;
                return failed(STATUS_USAGE,
                              "--hosts: \"%s\" is not a host like [user@]host[:port].",
                              NAME_QUOTED(names->items[i]));
        }
        if (f->o->output && (stat(f->o->output, &st) < 0 || !S_ISDIR(st.st_mode)))
                return failed(STATUS_USAGE,
                              "-o: with many hosts, each writes HOST.dat into a directory; %s is "
                              "not one.",
                              f->o->output);
        return STATUS_OK;
}

int fleet_run(const Options *o) {
        _cleanup_strv_ Strv names = {};
        Fleet f = { .o = o };
        int status = read_hosts(&names, o);

        if (status != STATUS_OK)
                return status;
        f.n = names.n;
        f.results = json_array();
        f.members = calloc(f.n, sizeof(*f.members));
        for (size_t i = 0; f.members && i < f.n; i++)
                f.members[i] = (Member){ .name = names.items[i],
                                         .out_fd = -EBADF,
                                         .err_fd = -EBADF,
                                         .out = BUF_INIT,
                                         .err = BUF_INIT,
                                         .file = OUTFILE_INIT };
        status = f.members && f.results ? check(&f, &names) : STATUS_FAILED;
        if (status == STATUS_OK) {
                run_all(&f);
                status = sum_up(&f);
                if (o->json != JSON_OFF && stdout_json(o, json_incref(f.results)) != STATUS_OK)
                        status = STATUS_FAILED;
        }
        for (size_t i = 0; f.members && i < f.n; i++) {
                remote_host_done(&f.members[i].host);
                buf_done(&f.members[i].out);
                buf_done(&f.members[i].err);
                outfile_done(&f.members[i].file);
        }
        free(f.members);
        json_decref(f.results);
        return status;
}
