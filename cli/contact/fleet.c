/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One process for each host or gateway, of which FLEET_AT_ONCE run.  Their output comes through pipes, is
 * kept up to a bound, and is printed when all of it is there; of fetch it is written to a file here: ssh
 * itself may end well although the disk was full for the last of it.
 *
 * On a gateway what a host said is not printed but passed on, and a file is spooled without a name
 * meanwhile.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/name.h"
#include "base/now.h"
#include "cli/contact/fleet.h"
#include "cli/contact/gateway.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"

#define HOSTS_BYTES_MAX ((size_t) 1 << 20)
#define OUTPUT_MODE 0640
#define READ_BYTES ((size_t) 64 << 10)
#define SILENT_LOOK_MS 1000
#define LOOK_MS 20 /* whether a process that writes no more has ended */

/* A host of --via, and which part of the list it has. */
typedef struct Gate {
        const char *name;
        RemoteHost host;
        size_t first; /* this member, and each number-of-gates-th behind it */
} Gate;

/* A process. */
typedef struct Runner {
        Fleet *fleet;
        pid_t pid;      /* 0: none */
        Member *member; /* or, if it is NULL: */
        const Gate *gate;
        Gateway gateway;
        Buf said; /* by a gateway, on standard error */
        int out_fd, err_fd;
        uint64_t heard_ns; /* CLOCK_MONOTONIC */
        bool is_bad;       /* a gateway whose answer is of no use */
} Runner;

struct Fleet {
        const Options *o;
        Strv names;
        Member *members;
        Gate *gates;
        size_t n, n_gates;
        Runner runners[FLEET_AT_ONCE];
        size_t n_running, n_begun; /* of members or gates */
        const FleetWork *work;
        json_t *results;
        bool is_broken; /* whom this gateway answers is gone */
        int signal_fd;
        bool is_ended; /* by a signal */
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

size_t fleet_size(const Fleet *f) {
        return f->n;
}

Member *fleet_member(Fleet *f, size_t i) {
        return &f->members[i];
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

void fleet_tell(Fleet *f, Member *m) {
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

static void relay(Fleet *f, Member *m) {
        if (!f->is_broken && gateway_answer(STDOUT_FILENO, m) < 0)
                f->is_broken = true;
        m->spool_fd = safe_close(m->spool_fd);
}

static const char *spool_dir(void) {
        return getenv("TMPDIR") ?: "/var/tmp";
}

static void end_member(Fleet *f, Member *m, int status) {
        m->status = status == REMOTE_SSH_FAILED && !f->o->relay ? STATUS_FAILED : status;
        m->is_unknown |= status == REMOTE_SSH_FAILED;
        m->is_over = true;
        if (m->error >= 0 && m->file.fd >= 0 && remote_is_good(m->status)) {
                struct stat st = {};

                m->n_bytes = fstat(m->file.fd, &st) >= 0 ? (uint64_t) st.st_size : 0;
                m->error = outfile_commit(&m->file);
                if (m->error >= 0)
                        buf_printf(&m->out, "%s\n", m->file.path);
        }
        if (m->error < 0) {
                m->err.n_data = 0;
                buf_printf(&m->err, "Failed to write %s%s: %s\n",
                           f->o->relay ? "the gateway's " : "",
                           m->file.path  ? m->file.path
                           : f->o->relay ? spool_dir()
                                         : f->work->o->output,
                           origin_text(m->error));
                m->status = STATUS_FAILED;
        }
        outfile_done(&m->file);
        m->file = OUTFILE_INIT;
        if (f->o->relay)
                relay(f, m);
        else if (f->work->ended)
                f->work->ended(m, f->work->userdata);
        else
                fleet_tell(f, m);
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

/* Where there are no files without a name, one whose name is taken at once. */
static int open_spool(void) {
        int fd = open(spool_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        char path[] = "/var/tmp/ftracectl-relay-XXXXXX";

        if (fd >= 0)
                return fd;
        fd = mkostemp(path, O_CLOEXEC);
        if (fd < 0)
                return ORIGIN(-errno);
        (void) unlink(path);
        return fd;
}

static int open_output(const Fleet *f, Member *m) {
        const FleetWork *w = f->work;
        _cleanup_free_ char *path = NULL;
        int r;

        m->n_bytes = 0;
        if (f->o->relay) {
                m->spool_fd = open_spool();
                return MIN(m->spool_fd, 0);
        }
        if (w->name)
                r = w->name(&path, m->name, w->userdata);
        else
                r = asprintf(&path, "%s/%s.dat", w->o->output, m->name) < 0 ? -ENOMEM : 0;
        return r < 0 ? r : outfile_open(&m->file, path, OUTPUT_MODE);
}

/* The part of @g, one a line. */
static int list_part(const Fleet *f, const Gate *g) {
        int fd = memfd_create("hosts", MFD_CLOEXEC);
        _cleanup_buf_ Buf out = BUF_INIT;
        int r;

        if (fd < 0)
                return ORIGIN(-errno);
        for (size_t i = g->first; i < f->n; i += f->n_gates)
                if (f->members[i].is_chosen)
                        buf_printf(&out, "%s\n", f->members[i].name);
        r = out.error ?: write_full(fd, out.data, out.n_data);
        if (r < 0 || lseek(fd, 0, SEEK_SET) < 0) {
                (void) safe_close(fd);
                return r < 0 ? r : ORIGIN(-errno);
        }
        return fd;
}

static int spawn(Runner *r, int in_fd, int out_fd, int err_fd) {
        const Options *o = r->fleet->work->o;
        _cleanup_strv_ Strv command = {};
        int k = r->member ? remote_command(&command, o, &r->member->host, false)
                          : remote_gateway_command(&command, o, &r->gate->host);

        if (k >= 0)
                r->pid = remote_spawn(&command, in_fd, out_fd, err_fd);
        return k < 0 ? k : r->pid < 0 ? (int) TAKE(r->pid, 0) : 0;
}

static int begin(Runner *r) {
        Fleet *f = r->fleet;
        Member *m = r->member;
        _cleanup_close_ int in_fd =
                m ? open("/dev/null", O_RDONLY | O_CLOEXEC) : list_part(f, r->gate);
        int out[2] = { -EBADF, -EBADF }, err[2] = { -EBADF, -EBADF }, k = MIN(in_fd, 0);

        if (k >= 0 && (pipe2(err, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0))
                k = ORIGIN(-errno);
        if (k >= 0 && m && f->work->o->output)
                k = m->error = open_output(f, m);
        if (k >= 0)
                k = spawn(r, in_fd, out[1], err[1]);
        safe_close(out[1]);
        safe_close(err[1]);
        if (k < 0) {
                safe_close(out[0]);
                safe_close(err[0]);
                return k;
        }
        r->out_fd = out[0];
        r->err_fd = err[0];
        r->heard_ns = now_ns(CLOCK_MONOTONIC);
        return 0;
}

/* What a gateway answers. */
static Member *find_answered(const char *host, bool has_file, void *userdata) {
        Runner *r = userdata;
        Fleet *f = r->fleet;

        for (size_t i = r->gate->first; i < f->n; i += f->n_gates) {
                Member *m = &f->members[i];

                if (!m->is_chosen || m->is_over || !streq(m->name, host))
                        continue;
                if (has_file && !f->work->o->output)
                        return NULL;
                if (has_file)
                        m->error = open_output(f, m);
                return m;
        }
        return NULL;
}

static void end_answered(Member *m, int status, void *userdata) {
        const Runner *r = userdata;

        if (remote_is_good(status) && r->fleet->work->o->output && m->error >= 0 &&
            m->file.fd < 0 && m->spool_fd < 0)
                fail_member(r->fleet, m, "the gateway sent no file");
        else
                end_member(r->fleet, m, status);
}

static void give_up(const Runner *r) {
        if (r->pid > 0)
                (void) kill(r->pid, SIGTERM);
}

static void take_output(Runner *r, const char *data, size_t n) {
        Member *m = r->member;

        if (m && m->file.fd < 0 && m->spool_fd < 0) {
                if (m->out.n_data < MEMBER_SAID_MAX - n)
                        buf_add(&m->out, data, n);
                return;
        }
        if (m) {
                if (m->error < 0)
                        return;
                m->error = write_full(m->file.fd >= 0 ? m->file.fd : m->spool_fd, data, n);
                if (m->error < 0)
                        give_up(r);
                return;
        }
        if (r->is_bad || gateway_feed(&r->gateway, data, n) == 0)
                return;
        r->is_bad = true;
        give_up(r);
}

static void pump(Runner *r, int *fd, bool is_out) {
        char data[READ_BYTES];
        ssize_t n = read(*fd, data, sizeof(data));
        Buf *err = r->member ? &r->member->err : &r->said;

        if (n < 0 && errno == EINTR)
                return;
        r->heard_ns = now_ns(CLOCK_MONOTONIC);
        if (n <= 0)
                *fd = safe_close(*fd);
        else if (is_out)
                take_output(r, data, (size_t) n);
        else if (err->n_data < MEMBER_SAID_MAX - (size_t) n)
                buf_add(err, data, (size_t) n);
}

/* Those of whom it said nothing. */
static void end_gateway(Runner *r) {
        _cleanup_free_ char *line = fleet_line(&r->said, true), *why = NULL;
        Fleet *f = r->fleet;

        if (asprintf(&why, "no answer by way of %s: %s", r->gate->name,
                     r->is_bad       ? "what it sends is not valid"
                     : line && *line ? line
                                     : "it ended") < 0)
                why = NULL;
        for (size_t i = r->gate->first; i < f->n; i += f->n_gates) {
                Member *m = &f->members[i];

                if (!m->is_chosen || m->is_over)
                        continue;
                m->is_unknown = true;
                fail_member(f, m, why ?: "no answer");
        }
        gateway_done(&r->gateway);
        buf_done(&r->said);
}

static void end(Runner *r) {
        Fleet *f = r->fleet;
        int status = remote_wait(TAKE(r->pid, 0));

        if (!r->member)
                end_gateway(r);
        else if (r->member->is_unknown)
                fail_member(f, r->member, "it had not answered when it was too late");
        else
                end_member(f, r->member, status);
        f->n_running--;
}

/* --- all of them ------------------------------------------------------------------------------ */

static bool is_too_late(const Fleet *f) {
        return f->work->until_ns > 0 && now_ns(CLOCK_REALTIME) >= f->work->until_ns;
}

static void give_up_on(Runner *r) {
        if (r->member)
                r->member->is_unknown = true;
        give_up(r);
        r->out_fd = safe_close(r->out_fd);
        r->err_fd = safe_close(r->err_fd);
        end(r);
}

static void give_up_all(Fleet *f) {
        for (size_t i = 0; i < ELEMENTSOF(f->runners); i++)
                if (f->runners[i].pid != 0)
                        give_up_on(&f->runners[i]);
}

static void give_up_silent(Fleet *f) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        for (size_t i = 0; f->work->silent_ns > 0 && i < ELEMENTSOF(f->runners); i++) {
                Runner *r = &f->runners[i];

                if (r->pid != 0 && now - r->heard_ns >= f->work->silent_ns)
                        give_up_on(r);
        }
}

static int wait_ms(const Fleet *f) {
        uint64_t now = now_ns(CLOCK_REALTIME);

        for (size_t i = 0; i < ELEMENTSOF(f->runners); i++)
                if (f->runners[i].pid > 0 && f->runners[i].out_fd < 0)
                        return LOOK_MS;
        if (f->work->silent_ns > 0)
                return SILENT_LOOK_MS;
        return f->work->until_ns == 0 ? -1
               : f->work->until_ns <= now
                       ? 0
                       : (int) MIN((f->work->until_ns - now) / NSEC_PER_MSEC + 1, (uint64_t) 60000);
}

/* The end is the process's, not that of standard error: ssh may leave one behind that shares its connection
 * (ControlPersist) and keeps that. */
static void end_if_over(Runner *r) {
        siginfo_t info = {};

        if (r->out_fd >= 0)
                return;
        if (r->err_fd >= 0 &&
            (waitid(P_PID, (id_t) r->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
             info.si_pid == 0))
                return;
        for (size_t i = 0; i < MEMBER_SAID_MAX / READ_BYTES && r->err_fd >= 0; i++) {
                struct pollfd p = { .fd = r->err_fd, .events = POLLIN };

                if (poll(&p, 1, 0) <= 0)
                        break;
                pump(r, &r->err_fd, false);
        }
        r->err_fd = safe_close(r->err_fd);
        end(r);
}

static void wait_for_some(Fleet *f) {
        struct pollfd polls[2 * FLEET_AT_ONCE + 1];

        for (size_t i = 0; i < FLEET_AT_ONCE; i++) {
                const Runner *r = &f->runners[i];

                polls[2 * i] = (struct pollfd){ .fd = r->pid ? r->out_fd : -1, .events = POLLIN };
                polls[2 * i + 1] =
                        (struct pollfd){ .fd = r->pid ? r->err_fd : -1, .events = POLLIN };
        }
        polls[2 * FLEET_AT_ONCE] = (struct pollfd){ .fd = f->signal_fd, .events = POLLIN };
        if (poll(polls, ELEMENTSOF(polls), wait_ms(f)) < 0)
                return;
        f->is_ended = f->signal_fd >= 0 && signals_want_end(f->signal_fd);
        for (size_t i = 0; i < FLEET_AT_ONCE; i++) {
                Runner *r = &f->runners[i];

                if (r->pid == 0)
                        continue;
                if (polls[2 * i].revents)
                        pump(r, &r->out_fd, true);
                if (polls[2 * i + 1].revents)
                        pump(r, &r->err_fd, false);
                end_if_over(r);
        }
        give_up_silent(f);
}

static bool has_part(const Fleet *f, const Gate *g) {
        for (size_t i = g->first; i < f->n; i += f->n_gates)
                if (f->members[i].is_chosen)
                        return true;
        return false;
}

/* The next host or gateway; there is a runner that has nothing to do. */
static void begin_next(Fleet *f) {
        size_t i = f->n_begun++;
        Runner *r = f->runners;
        int k;

        if (f->n_gates > 0 ? !has_part(f, &f->gates[i]) : !f->members[i].is_chosen)
                return;
        while (r->pid != 0)
                r++;
        *r = (Runner){ .fleet = f, .said = BUF_INIT, .out_fd = -EBADF, .err_fd = -EBADF };
        if (f->n_gates > 0) {
                r->gate = &f->gates[i];
                r->gateway = (Gateway){
                        .begin = find_answered, .end = end_answered, .userdata = r, .head = BUF_INIT
                };
        } else
                r->member = &f->members[i];
        k = begin(r);
        if (k >= 0) {
                f->n_running++;
                return;
        }
        if (r->member)
                fail_member(f, r->member, origin_text(k));
        else {
                buf_adds(&r->said, origin_text(k));
                end_gateway(r);
        }
}

bool fleet_work(Fleet *f, const FleetWork *work) {
        size_t n = f->n_gates > 0 ? f->n_gates : f->n;
        _cleanup_signals_ int signal_fd = work->can_be_ended ? signals_open() : -EBADF;

        f->work = work;
        f->signal_fd = signal_fd;
        f->is_ended = false;
        f->n_begun = 0;
        for (size_t i = 0; i < f->n; i++) {
                f->members[i].is_over = f->members[i].is_unknown = false;
                f->members[i].error = 0;
        }
        while (f->n_begun < n || f->n_running > 0) {
                if (is_too_late(f) || f->is_broken || f->is_ended) {
                        give_up_all(f);
                        break;
                }
                while (f->n_begun < n && f->n_running < FLEET_AT_ONCE)
                        begin_next(f);
                if (f->n_running > 0)
                        wait_for_some(f);
        }
        for (size_t i = 0; i < f->n; i++) {
                Member *m = &f->members[i];

                if (m->is_chosen && !m->is_over)
                        fail_member(f, m, "it was not asked, for it was too late");
                m->is_unknown |= m->is_chosen && f->is_ended && m->status == STATUS_FAILED;
        }
        return !f->is_ended;
}

int fleet_end(Fleet *f) {
        int status = f->members[0].status;
        size_t n_bad = 0;

        if (f->o->relay)
                return STATUS_OK;
        for (size_t i = 0; i < f->n; i++) {
                n_bad += !remote_is_good(f->members[i].status);
                if (f->members[i].status != status)
                        status = status == STATUS_OK ? f->members[i].status : STATUS_FAILED;
        }
        talk(f->o, "%zu of %zu hosts%s.", f->n - n_bad, f->n,
             n_bad > 0 ? "; the others failed" : "");
        if (f->o->json != JSON_OFF && stdout_json(f->o, TAKE_PTR(f->results)) != STATUS_OK)
                return STATUS_FAILED;
        return status;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int parse(RemoteHost *ret, const char *text, const char *option) {
        int r = remote_host_parse(ret, text);

        return r == 0 ? STATUS_OK
                      : failed(STATUS_USAGE, "%s: \"%s\" is not a host like [user@]host[:port].",
                               option, NAME_QUOTED(text));
}

/* A directory that is not there is made. */
static int check_output(const Options *o) {
        struct stat st;

        if (!o->output || o->relay)
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
        f->gates = calloc(o->via.n + 1, sizeof(*f->gates));
        if (!f->results || !f->members || !f->gates)
                return failed_errno(-ENOMEM, "Failed to read the hosts: %m");
        for (; status == STATUS_OK && f->n < f->names.n; f->n++) {
                Member *m = &f->members[f->n];

                *m = (Member){ .name = f->names.items[f->n],
                               .out = BUF_INIT,
                               .err = BUF_INIT,
                               .file = OUTFILE_INIT,
                               .spool_fd = -EBADF,
                               .is_chosen = true };
                status = parse(&m->host, m->name, "--hosts");
        }
        for (; status == STATUS_OK && f->n_gates < o->via.n; f->n_gates++) {
                Gate *g = &f->gates[f->n_gates];

                *g = (Gate){ .name = o->via.items[f->n_gates], .first = f->n_gates };
                status = parse(&g->host, g->name, "--via");
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
        for (size_t i = 0; i < f->n_gates; i++)
                remote_host_done(&f->gates[i].host);
        free(f->members);
        free(f->gates);
        strv_done(&f->names);
        json_decref(f->results);
        return mfree(f);
}

int fleet_run(const Options *o) {
        _cleanup_(fleet_freep) Fleet *f = NULL;
        int status = fleet_open(&f, o);

        if (status != STATUS_OK)
                return status;
        fleet_work(f, &(FleetWork){ .o = o });
        return fleet_end(f);
}
