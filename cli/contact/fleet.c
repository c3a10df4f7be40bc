/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One process for each host, of which FLEET_AT_ONCE run.  Their output comes through pipes, is kept up to a
 * bound, and is printed when all of it is there; of fetch it is written to a file here: ssh itself may end
 * well although the disk was full for the last of it.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/name.h"
#include "base/now.h"
#include "base/unit.h"
#include "cli/contact/remote.h"
#include "cli/terminal/terminal.h"

#define HOSTS_BYTES_MAX ((size_t) 1 << 20)
#define OUTPUT_MODE 0640
#define READ_BYTES ((size_t) 64 << 10)
#define SILENT_LOOK_MS 1000
#define LOOK_MS 20 /* whether a process that writes no more has ended */

struct Fleet {
        const Options *o;
        Strv names;
        Member *members;
        size_t n, n_running;
        Member *running[FLEET_AT_ONCE]; /* NULL: none */
        const FleetWork *work;
        json_t *results;
};

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

/* --- what they say ---------------------------------------------------------------------------- */

char *fleet_line(const Buf *b, bool is_last) {
        const char *data = b->data ?: "";
        size_t n = b->n_data, first = 0;

        if (!is_last) {
                const char *end = memchr(data, '\n', n);

                return strndup(data, end ? (size_t) (end - data) : n);
        }
        n -= n > 0 && data[n - 1] == '\n';
        for (size_t i = 0; i < n; i++)
                if (data[i] == '\n')
                        first = i + 1;
        return strndup(data + first, n - first);
}

static void say(const Member *m, const char *line, const char *more) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        buf_printf(&out, "%s: %s%s\n", m->name, line, more);
        (void) buf_flush(&out);
}

static void tell(Fleet *f, const Member *m) {
        bool is_good = remote_is_good(m->status);
        _cleanup_free_ char *line = NULL;

        if (f->o->json != JSON_OFF) {
                json_t *said = json_loadb(m->out.data ?: "", m->out.n_data, 0, NULL);

                line = fleet_line(&m->err, true);
                (void) json_array_append_new(
                        f->results,
                        json_pack("{s:s, s:i, s:o, s:o}", "host", m->name, "status", m->status,
                                  "output", said ?: json_null(), "error",
                                  is_good || !line ? json_null()
                                                   : terminal_json_text(line, strlen(line))));
                return;
        }
        line = is_good ? fleet_line(&m->out, false) : fleet_line(&m->err, true);
        say(m,
            line && *line ? line
            : is_good     ? "done"
                          : "failed",
            m->status == STATUS_INCOMPLETE ? " (incomplete)" : "");
}

static void end_member(Fleet *f, Member *m, int status) {
        m->status = status == REMOTE_SSH_FAILED ? STATUS_FAILED : status;
        if (m->error >= 0 && m->file.fd >= 0 && remote_is_good(m->status)) {
                struct stat st = {};

                m->n_bytes = fstat(m->file.fd, &st) >= 0 ? (uint64_t) st.st_size : 0;
                m->error = outfile_commit(&m->file);
                if (m->error >= 0)
                        buf_printf(&m->out, "%s\n", m->file.path);
        }
        if (m->error < 0) {
                m->err.n_data = 0;
                buf_printf(&m->err, "Failed to write %s: %s\n", m->file.path ?: f->work->o->output,
                           origin_text(m->error));
                m->status = STATUS_FAILED;
        }
        outfile_done(&m->file);
        m->file = OUTFILE_INIT;
        if (f->work->ended)
                f->work->ended(m, f->work->userdata);
        else
                tell(f, m);
        buf_done(&m->out);
        buf_done(&m->err);
        m->out = m->err = BUF_INIT;
}

static void fail_member(Fleet *f, Member *m, const char *why) {
        m->err.n_data = 0;
        buf_printf(&m->err, "%s\n", why);
        end_member(f, m, STATUS_FAILED);
}

/* --- one process ------------------------------------------------------------------------------ */

int fleet_path(char **ret, const char *dir, const char *prefix, const char *host) {
        return asprintf(ret, "%s/%s%s.dat", dir, prefix ?: "", host) < 0 ? -ENOMEM : 0;
}

static int open_output(const FleetWork *w, Member *m) {
        _cleanup_free_ char *path = NULL;
        int r = fleet_path(&path, w->o->output, w->prefix, m->name);

        return r < 0 ? r : outfile_open(&m->file, path, OUTPUT_MODE);
}

static int spawn(const FleetWork *w, Member *m, int out_fd, int err_fd) {
        _cleanup_close_ int in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        _cleanup_strv_ Strv command = {};
        int r = in_fd < 0 ? ORIGIN(-errno) : remote_command(&command, w->o, &m->host, false);

        if (r < 0)
                return r;
        m->pid = remote_spawn(&command, in_fd, out_fd, err_fd);
        return MIN(m->pid, 0);
}

static int begin(const FleetWork *w, Member *m) {
        int out[2] = { -EBADF, -EBADF }, err[2] = { -EBADF, -EBADF }, r = 0;

        m->error = 0;
        if (w->o->output)
                r = m->error = open_output(w, m);
        if (r >= 0 && (pipe2(err, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0))
                r = ORIGIN(-errno);
        if (r >= 0)
                r = spawn(w, m, out[1], err[1]);
        safe_close(out[1]);
        safe_close(err[1]);
        if (r < 0) {
                safe_close(out[0]);
                safe_close(err[0]);
                return r;
        }
        m->out_fd = out[0];
        m->err_fd = err[0];
        m->heard_ns = now_ns(CLOCK_MONOTONIC);
        return 0;
}

static void take_output(Member *m, const char *data, size_t n) {
        if (m->file.fd < 0) {
                if (m->out.n_data < MEMBER_SAID_MAX - n)
                        buf_add(&m->out, data, n);
                return;
        }
        if (m->error < 0)
                return;
        m->error = write_full(m->file.fd, data, n);
        if (m->error < 0)
                (void) kill(m->pid, SIGTERM);
}

static void pump(Member *m, int *fd) {
        char data[READ_BYTES];
        ssize_t n = read(*fd, data, sizeof(data));

        if (n < 0 && errno == EINTR)
                return;
        m->heard_ns = now_ns(CLOCK_MONOTONIC);
        if (n <= 0)
                *fd = safe_close(*fd);
        else if (fd == &m->out_fd)
                take_output(m, data, (size_t) n);
        else if (m->err.n_data < MEMBER_SAID_MAX - (size_t) n)
                buf_add(&m->err, data, (size_t) n);
}

/* --- all of them ------------------------------------------------------------------------------ */

static void give_up(Fleet *f, Member *m) {
        char why[64];

        (void) snprintf(why, sizeof(why), "no answer for %s", FORMAT_DURATION(f->work->silent_ns));
        (void) kill(m->pid, SIGTERM);
        m->out_fd = safe_close(m->out_fd);
        m->err_fd = safe_close(m->err_fd);
        (void) remote_wait(m->pid);
        fail_member(f, m, why);
}

static bool is_silent(const Fleet *f, const Member *m) {
        return f->work->silent_ns > 0 &&
               now_ns(CLOCK_MONOTONIC) - m->heard_ns >= f->work->silent_ns;
}

/* The end is the process's, not that of standard error: ssh may leave one behind that shares its connection
 * (ControlPersist) and keeps that. */
static bool is_over(Member *m) {
        siginfo_t info = {};

        if (m->out_fd >= 0)
                return false;
        if (m->err_fd >= 0 &&
            (waitid(P_PID, (id_t) m->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
             info.si_pid == 0))
                return false;
        for (size_t i = 0; i < MEMBER_SAID_MAX / READ_BYTES && m->err_fd >= 0; i++) {
                struct pollfd p = { .fd = m->err_fd, .events = POLLIN };

                if (poll(&p, 1, 0) <= 0)
                        break;
                pump(m, &m->err_fd);
        }
        m->err_fd = safe_close(m->err_fd);
        return true;
}

static void wait_for_some(Fleet *f) {
        int wait_ms = f->work->silent_ns > 0 ? SILENT_LOOK_MS : -1;
        struct pollfd polls[2 * FLEET_AT_ONCE];

        for (size_t i = 0; i < FLEET_AT_ONCE; i++) {
                const Member *m = f->running[i];

                polls[2 * i] = (struct pollfd){ .fd = m ? m->out_fd : -1, .events = POLLIN };
                polls[2 * i + 1] = (struct pollfd){ .fd = m ? m->err_fd : -1, .events = POLLIN };
                if (m && m->out_fd < 0)
                        wait_ms = LOOK_MS;
        }
        if (poll(polls, ELEMENTSOF(polls), wait_ms) < 0)
                return;
        for (size_t i = 0; i < FLEET_AT_ONCE; i++) {
                Member *m = f->running[i];

                if (!m)
                        continue;
                if (polls[2 * i].revents)
                        pump(m, &m->out_fd);
                if (polls[2 * i + 1].revents)
                        pump(m, &m->err_fd);
                if (is_over(m))
                        end_member(f, m, remote_wait(m->pid));
                else if (is_silent(f, m))
                        give_up(f, m);
                else
                        continue;
                f->running[i] = NULL;
                f->n_running--;
        }
}

/* There is room for one more. */
static void begin_member(Fleet *f, Member *m) {
        int r = begin(f->work, m);
        size_t i = 0;

        if (r < 0) {
                fail_member(f, m, origin_text(r));
                return;
        }
        while (f->running[i])
                i++;
        f->running[i] = m;
        f->n_running++;
}

void fleet_work(Fleet *f, const FleetWork *work) {
        size_t next = 0;

        f->work = work;
        while (next < f->n || f->n_running > 0) {
                for (; next < f->n && f->n_running < FLEET_AT_ONCE; next++)
                        if (f->members[next].is_chosen)
                                begin_member(f, &f->members[next]);
                if (f->n_running > 0)
                        wait_for_some(f);
        }
}

static int end(Fleet *f) {
        int status = STATUS_OK;
        size_t n_bad = 0;

        for (size_t i = 0; i < f->n; i++) {
                int said = f->members[i].status;

                n_bad += !remote_is_good(said);
                if (said != STATUS_OK)
                        status = status == STATUS_OK || status == said ? said : STATUS_FAILED;
        }
        talk(f->o, "%zu of %zu hosts%s.", f->n - n_bad, f->n,
             n_bad > 0 ? "; the others failed" : "");
        if (f->o->json != JSON_OFF && stdout_json(f->o, TAKE_PTR(f->results)) != STATUS_OK)
                return STATUS_FAILED;
        return status;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int parse_host(Member *m) {
        int r = remote_host_parse(&m->host, m->name);

        return r == 0 ? STATUS_OK
                      : failed(STATUS_USAGE,
                               "--hosts: \"%s\" is not a host like [user@]host[:port].",
                               NAME_QUOTED(m->name));
}

/* A directory that is not there is made. */
static int check_output(const Options *o) {
        struct stat st;

        if (!o->output)
                return STATUS_OK;
        if (!streq(o->output, "-") &&
            (mkdir(o->output, 0777) >= 0 || (stat(o->output, &st) >= 0 && S_ISDIR(st.st_mode))))
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "-o: with many hosts, each writes a file into a directory; %s is not one.",
                      o->output);
}

int fleet_open(Fleet **ret, const Options *o) {
        _cleanup_(fleet_freep) Fleet *f = calloc(1, sizeof(*f));
        int status;

        if (!f)
                return failed_errno(-ENOMEM, "Failed to read the hosts: %m");
        f->o = o;
        status = read_hosts(&f->names, o);
        if (status != STATUS_OK)
                return status;
        f->results = json_array();
        f->members = calloc(f->names.n, sizeof(*f->members));
        if (!f->results || !f->members)
                return failed_errno(-ENOMEM, "Failed to read the hosts: %m");
        for (; status == STATUS_OK && f->n < f->names.n; f->n++) {
                Member *m = &f->members[f->n];

                *m = (Member){ .name = f->names.items[f->n],
                               .out = BUF_INIT,
                               .err = BUF_INIT,
                               .file = OUTFILE_INIT,
                               .is_chosen = true };
                status = parse_host(m);
        }
        if (status == STATUS_OK)
                status = check_output(o);
        if (status == STATUS_OK)
                *ret = TAKE_PTR(f);
        return status;
}

Fleet *fleet_free(Fleet *f) {
        if (!f)
                return NULL;
        for (size_t i = 0; i < f->n; i++) {
                remote_host_done(&f->members[i].host);
                buf_done(&f->members[i].out);
                buf_done(&f->members[i].err);
                outfile_done(&f->members[i].file);
        }
        free(f->members);
        strv_done(&f->names);
        json_decref(f->results);
        return mfree(f);
}

int fleet_run(const Options *o, uint64_t silent_ns) {
        _cleanup_(fleet_freep) Fleet *f = NULL;
        int status = fleet_open(&f, o);

        if (status != STATUS_OK)
                return status;
        fleet_work(f, &(FleetWork){ .o = o, .silent_ns = silent_ns });
        return end(f);
}
