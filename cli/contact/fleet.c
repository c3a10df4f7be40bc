/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One process for each host, of which FLEET_AT_ONCE run.  Their output comes through pipes, is kept up to a
 * bound, and is printed when all of it is there; of fetch it is written to a file here: ssh itself may end well
 * although the disk was full for the last of it.  The end is the process's, not that of its output: ssh may leave
 * one behind that shares its connection (ControlPersist) and keeps standard error.
 *
 * Each host has a clock that what it sends winds up again: silence, a byte each few seconds and output without end,
 * which has bounds, all come to an end.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "pages/dat-file.h"

#define GIVEN_UP_NS (5 * NSEC_PER_SEC) /* for ssh to end by itself */
#define HOSTS_BYTES_MAX ((size_t) 1 << 20)
#define OUTPUT_MODE 0640
#define READ_BYTES ((size_t) 64 << 10)
#define TICK_MS 1000

int fleet_read(Strv *ret, const char *text) {
        _cleanup_strv_ Strv lines = {};
        int r = strv_split(&lines, text, "\n");

        for (size_t i = 0; r >= 0 && i < lines.n; i++) {
                lines.items[i][strcspn(lines.items[i], "#")] = 0;
                r = strv_split(ret, lines.items[i], " \t\r,");
        }
        return r;
}

static int read_hosts(Strv *ret, const char *path) {
        _cleanup_free_ char *text = NULL;
        int r;

        r = streq(path, "-") ? fd_read(STDIN_FILENO, &text, NULL, HOSTS_BYTES_MAX)
                             : file_read(AT_FDCWD, path, &text, NULL, HOSTS_BYTES_MAX);
        if (r >= 0)
                r = fleet_read(ret, text);
        if (r < 0)
                return failed_errno(r, "--hosts: Failed to read %s: %m", path);
        if (ret->n > 0)
                return STATUS_OK;
        return failed(STATUS_USAGE, "--hosts: %s names no host; write one per line.", path);
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

/* What a verb that was well has printed, as a word for what it should be; NULL: it may be that. */
static const char *find_wrong(const Options *o, const char *line, const json_t *said) {
        const char *verb = o->verb ?: "status";

        if (o->json != JSON_OFF)
                return said ? NULL : "JSON";
        if (streq(verb, "start") && !o->dry_run)
                return session_name_is_valid(line) &&
                                       (!o->name || streq(line, o->name) || strstr(line, ".timer"))
                               ? NULL
                               : "name of what was started";
        return *line || (!streq(verb, "status") && !streq(verb, "show")) ? NULL : "answer";
}

static void tell(Fleet *f, Member *m, void *userdata) {
        bool is_good = remote_is_good(m->status);
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *said = json_loadb(m->out.data ?: "", m->out.n_data, 0, NULL);
        _cleanup_free_ char *line = fleet_line(&m->out, false);
        const char *wrong = is_good ? find_wrong(f->o, line ?: "", said) : NULL;

        if (wrong) {
                m->status = STATUS_FAILED;
                m->err.n_data = 0;
                buf_printf(&m->err, "\"%s\" is no %s\n", NAME_QUOTED(line ?: ""), wrong);
        }
        is_good &= !wrong;
        if (!is_good || f->o->json != JSON_OFF) {
                free(line);
                line = fleet_line(&m->err, true);
        }
        if (f->o->json != JSON_OFF) {
                (void) json_array_append_new(
                        f->results,
                        json_pack("{s:s, s:i, s:o, s:o}", "host", m->name, "status", m->status,
                                  "output", said ? json_incref(said) : json_null(), "error",
                                  is_good || !line ? json_null()
                                                   : terminal_json_text(line, strlen(line))));
                return;
        }
        buf_printf(&out, "%s: %s%s\n", m->name,
                   line && *line ? line
                   : is_good     ? "done"
                                 : "failed",
                   m->status == STATUS_INCOMPLETE ? " (incomplete)" : "");
        (void) buf_flush(&out);
}

static void end_member(Fleet *f, Member *m, int status) {
        m->status = status == REMOTE_SSH_FAILED || m->is_given_up ? STATUS_FAILED : status;
        if (m->error >= 0 && m->file.fd >= 0 && remote_is_good(m->status)) {
                _cleanup_buf_ Buf said = BUF_INIT;
                int checked = f->check && m->file.temporary
                                      ? f->check(m->file.fd, m->file.path, &said, &m->is_told)
                                      : STATUS_OK;

                /* What its host says that it lacks goes before what is found here. */
                if (!remote_is_good(checked) || m->status == STATUS_OK) {
                        buf_printf(&m->err, "%.*s\n", (int) said.n_data, said.data ?: "");
                        m->status = checked;
                }
        }
        if (m->error >= 0 && m->file.fd >= 0 && remote_is_good(m->status)) {
                m->error = outfile_commit(&m->file);
                if (m->error >= 0)
                        buf_printf(&m->out, "%s\n", m->file.path);
        }
        if (m->error < 0) {
                m->err.n_data = 0;
                buf_printf(&m->err, "Failed to write %s: %s\n", m->file.path ?: f->asked->output,
                           origin_text(m->error));
                m->status = STATUS_FAILED;
        }
        m->pid_fd = safe_close(m->pid_fd);
        m->out_fd = safe_close(m->out_fd);
        m->err_fd = safe_close(m->err_fd);
        outfile_done(&m->file);
        m->file = OUTFILE_INIT;
        f->ended(f, m, f->userdata);
        buf_done(&m->out);
        buf_done(&m->err);
        m->out = m->err = BUF_INIT;
}

/* --- one process ------------------------------------------------------------------------------ */

/* A pipe of which we read without waiting; the other end. */
static int open_pipe(int *ret_fd) {
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        *ret_fd = fds[0];
        (void) fcntl(fds[0], F_SETFL, O_NONBLOCK);
        return fds[1];
}

static uint64_t patience(const Fleet *f) {
        const char *verb = f->asked->verb ?: "status";

        return streq(verb, "status") || streq(verb, "show")
                       ? FLEET_LOOK_NS
                       : FLEET_WORK_NS + MIN(f->asked->wait_ns, UINT64_MAX / 2);
}

static int begin(Fleet *f, Member *m) {
        _cleanup_close_ int in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), out_fd = -EBADF,
                            err_fd = -EBADF;
        _cleanup_strv_ Strv command = {};
        int r;

        m->error = 0;
        m->is_given_up = false;
        m->n_bytes = m->n_heard = 0;
        m->left_ns = patience(f);
        if (f->asked->output) {
                m->error = outfile_open(&m->file, m->path, OUTPUT_MODE);
                if (m->error < 0)
                        return m->error;
        }
        r = in_fd < 0 ? ORIGIN(-errno) : remote_command(&command, f->asked, m->name, false);
        if (r >= 0)
                r = out_fd = open_pipe(&m->out_fd);
        if (r >= 0)
                r = err_fd = open_pipe(&m->err_fd);
        if (r >= 0)
                r = m->pid = remote_spawn(&command, in_fd, out_fd, err_fd);
        if (r < 0)
                return r;
        m->pid_fd = (int) syscall(SYS_pidfd_open, m->pid, 0);
        return m->pid_fd < 0 ? ORIGIN(-errno) : 0;
}

/* Returns where the reason goes. */
static Buf *give_up(Member *m) {
        (void) kill(m->pid, SIGTERM);
        m->is_given_up = true;
        m->left_ns = GIVEN_UP_NS;
        m->err.n_data = 0;
        return &m->err;
}

/* Half the room is for others. */
static void pump_file(Member *m, const char *data, size_t n) {
        size_t n_before = MIN(m->n_bytes, DAT_MAGIC_BYTES),
               n_magic = MIN(n, DAT_MAGIC_BYTES - n_before);
        struct statvfs fs;

        m->n_bytes += n;
        if (memcmp(data, &DAT_MAGIC[n_before], n_magic) != 0)
                buf_adds(give_up(m), "its answer is not a trace.dat\n");
        else if (m->max_bytes > 0 && m->n_bytes > m->max_bytes)
                buf_printf(give_up(m), "it sent more than the %s that its recording can have\n",
                           FORMAT_BYTES(m->max_bytes));
        else if (m->file.temporary && fstatvfs(m->file.fd, &fs) >= 0 &&
                 m->n_bytes / fs.f_frsize > fs.f_bavail)
                buf_printf(give_up(m), "it sent %s, and less space is left for the other hosts\n",
                           FORMAT_BYTES(m->n_bytes));
        else {
                m->error = write_full(m->file.fd, data, n);
                if (m->error < 0)
                        (void) give_up(m);
        }
}

/* Whether there may be more now. */
static bool pump(const Fleet *f, Member *m, int *fd) {
        char data[READ_BYTES];
        ssize_t n = read(*fd, data, sizeof(data));

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return errno == EINTR;
        if (n <= 0) {
                *fd = safe_close(*fd);
                return false;
        }
        if (m->is_given_up)
                return true;
        m->n_heard += (size_t) n;
        m->left_ns = MIN(m->left_ns + (size_t) n * NSEC_PER_SEC / FLEET_BYTES_PER_S, patience(f));
        if (fd == &m->out_fd && m->file.fd >= 0)
                pump_file(m, data, (size_t) n);
        else {
                Buf *said = fd == &m->out_fd ? &m->out : &m->err;

                if (said->n_data + (size_t) n <= MEMBER_SAID_MAX)
                        buf_add(said, data, (size_t) n);
                else
                        buf_printf(give_up(m), "it printed more than %s\n",
                                   FORMAT_BYTES(MEMBER_SAID_MAX));
        }
        return true;
}

/* Who does not end, either, is killed. */
static void lose_patience(const Fleet *f, Member *m) {
        if (m->is_given_up) {
                (void) kill(m->pid, SIGKILL);
                m->left_ns = GIVEN_UP_NS;
        } else if (m->n_heard == 0)
                buf_printf(give_up(m), "no answer for %s\n", FORMAT_DURATION(patience(f)));
        else
                buf_printf(give_up(m), "it sent %s, then too little for %s\n",
                           FORMAT_BYTES(m->n_heard), FORMAT_DURATION(patience(f)));
}

/* What the process left in the pipe, and no more than that of whoever has its other end. */
static void drain(const Fleet *f, Member *m, int *fd) {
        for (size_t i = 0; i < MEMBER_SAID_MAX / READ_BYTES && pump(f, m, fd); i++)
                ;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* How many of those that run have ended. */
static size_t wait_for_some(Fleet *f) {
        struct pollfd polls[3 * FLEET_AT_ONCE];
        Member *running[FLEET_AT_ONCE];
        size_t n = 0, n_ended = 0;
        uint64_t silent_ns, now;

        for (size_t i = 0; i < f->n; i++) {
                Member *m = &f->members[i];

                if (m->pid_fd < 0)
                        continue;
                polls[3 * n] = (struct pollfd){ .fd = m->out_fd, .events = POLLIN };
                polls[3 * n + 1] = (struct pollfd){ .fd = m->err_fd, .events = POLLIN };
                polls[3 * n + 2] = (struct pollfd){ .fd = m->pid_fd, .events = POLLIN };
                running[n++] = m;
        }
        if (poll(polls, 3 * n, TICK_MS) < 0)
                return 0;
        /* What takes us longer, as to look through what came, is nobody's silence. */
        now = now_ns(CLOCK_MONOTONIC);
        silent_ns = MIN(now - f->looked_ns, TICK_MS * NSEC_PER_MSEC);
        f->looked_ns = now;
        for (size_t i = 0; i < n; i++) {
                Member *m = running[i];

                if (polls[3 * i].revents)
                        (void) pump(f, m, &m->out_fd);
                if (polls[3 * i + 1].revents)
                        (void) pump(f, m, &m->err_fd);
                if (polls[3 * i + 2].revents) {
                        drain(f, m, &m->out_fd);
                        drain(f, m, &m->err_fd);
                        end_member(f, m, remote_wait(m->pid));
                } else if (m->left_ns > silent_ns)
                        m->left_ns -= silent_ns;
                else
                        lose_patience(f, m);
                n_ended += m->pid_fd < 0;
        }
        return n_ended;
}

void fleet_work(Fleet *f) {
        size_t next = 0, n_running = 0;

        f->looked_ns = now_ns(CLOCK_MONOTONIC);
        while (next < f->n || n_running > 0) {
                for (; next < f->n && n_running < FLEET_AT_ONCE; next++) {
                        Member *m = &f->members[next];
                        int r = m->is_chosen ? begin(f, m) : 0;

                        if (r < 0) {
                                m->is_given_up = true;
                                buf_printf(&m->err, "%s\n", origin_text(r));
                                end_member(f, m, STATUS_FAILED);
                        }
                        n_running += m->pid_fd >= 0;
                }
                if (n_running > 0)
                        n_running -= wait_for_some(f);
        }
}

/* --- opening ---------------------------------------------------------------------------------- */

/* A directory that is not there is made. */
static int check_output(const char *path) {
        struct stat st;

        if (!path)
                return STATUS_OK;
        if (!streq(path, "-") &&
            (mkdir(path, 0777) >= 0 || (stat(path, &st) >= 0 && S_ISDIR(st.st_mode))))
                return STATUS_OK;
        return failed(STATUS_USAGE,
                      "-o: with many hosts, each writes a file into a directory; %s is not one.",
                      path);
}

int fleet_open(Fleet *f, const Options *o, const char *prefix) {
        int status;

        *f = (Fleet){ .o = o, .asked = o, .ended = tell, .results = json_array() };
        status = read_hosts(&f->names, o->hosts);
        if (status != STATUS_OK)
                return status;
        f->members = calloc(f->names.n, sizeof(*f->members));
        if (!f->results || !f->members)
                return out_of_memory();
        while (f->n < f->names.n) {
                Member *m = &f->members[f->n];

                *m = (Member){ .name = f->names.items[f->n++],
                               .out = BUF_INIT,
                               .err = BUF_INIT,
                               .file = OUTFILE_INIT,
                               .pid_fd = -EBADF,
                               .out_fd = -EBADF,
                               .err_fd = -EBADF,
                               .is_chosen = true };
                if (!remote_host_is_valid(m->name))
                        return failed(STATUS_USAGE,
                                      "--hosts: \"%s\" is not a host like [user@]host[:port].",
                                      NAME_QUOTED(m->name));
                if (o->output &&
                    text_format(&m->path, "%s/%s%s.dat", o->output, prefix, m->name) < 0)
                        return out_of_memory();
        }
        return check_output(o->output);
}

void fleet_done(Fleet *f) {
        for (size_t i = 0; i < f->n; i++)
                free(f->members[i].path);
        free(f->members);
        strv_done(&f->names);
        json_decref(f->results);
        *f = (Fleet){};
}

int fleet_run(const Options *o, SentCheck *check) {
        _cleanup_fleet_ Fleet f = {};
        int status = fleet_open(&f, o, "");
        size_t n_bad = 0;

        if (status != STATUS_OK)
                return status;
        f.check = check;
        fleet_work(&f);
        for (size_t i = 0; i < f.n; i++) {
                int said = f.members[i].status;

                n_bad += !remote_is_good(said);
                if (said != STATUS_OK)
                        status = status == STATUS_OK || status == said ? said : STATUS_FAILED;
        }
        talk(o, "%zu of %zu hosts%s.", f.n - n_bad, f.n, n_bad > 0 ? "; the others failed" : "");
        if (o->json != JSON_OFF && stdout_json(o, json_incref(f.results)) != STATUS_OK)
                return STATUS_FAILED;
        return status;
}
