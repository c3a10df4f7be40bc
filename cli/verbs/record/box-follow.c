/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel's file is at its end whenever nothing more has been recorded, and a reader of texts waits for lines: so
 * one process looks for more, and a child of it draws what comes through a pipe.  What the ring overwrites before it
 * is read the kernel prints as lost.
 */

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/contact/contact.h"
#include "cli/source/reading.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/record/box-follow.h"
#include "cli/views/text-drawing.h"

#define LOOK_INTERVAL_MS 100

typedef struct BoxFollow {
        const Options *o;
        Client *client;
        const char *name;
        int signal_fd, trace_fd;
        int out_fd; /* not blocking */
        pid_t pid;  /* that draws; 0: it has ended, with ... */
        int status; /* ... this one */
} BoxFollow;

static int draw(const Options *o, const char *name, int fd) {
        _cleanup_reading_ Reading reading = {};
        int status = reading_take_text(&reading, o, name, fd);

        return status != STATUS_OK ? status : text_drawing(&reading, o, true);
}

static int start_drawing(BoxFollow *f) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        f->pid = fork();
        if (f->pid == 0) {
                (void) close(ends[1]);
                _exit(draw(f->o, f->name, ends[0]));
        }
        (void) close(ends[0]);
        f->out_fd = ends[1];
        return f->pid < 0 || fcntl(f->out_fd, F_SETFL, O_NONBLOCK) < 0 ? ORIGIN(-errno) : 0;
}

/* Whether it draws no more; with @waits it will not. */
static bool has_drawn(BoxFollow *f, bool waits) {
        int status = 0;

        if (f->pid > 0 && waitpid(f->pid, &status, waits ? 0 : WNOHANG) == f->pid) {
                f->pid = 0;
                f->status = WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
        }
        return f->pid == 0;
}

/* Whether somebody wants us to end, or nobody draws. */
static bool is_over(BoxFollow *f) {
        return signals_want_end(f->signal_fd) || has_drawn(f, false);
}

/* 1: all of it; 0: it is over; -errno. */
static int pass_on(BoxFollow *f, const char *text, size_t n) {
        while (n > 0) {
                struct pollfd fds[] = { { .fd = f->out_fd, .events = POLLOUT },
                                        { .fd = f->signal_fd, .events = POLLIN } };
                ssize_t k = write(f->out_fd, text, n);

                if (k < 0 && errno == EPIPE)
                        return 0;
                if (k < 0 && errno != EAGAIN && errno != EINTR)
                        return ORIGIN(-errno);
                if (k < 0 && poll(fds, ELEMENTSOF(fds), -1) > 0 && is_over(f))
                        return 0;
                text += MAX(k, (ssize_t) 0);
                n -= (size_t) MAX(k, (ssize_t) 0);
        }
        return 1;
}

/* Some of what there is by now; *@ret_n is 0 if that was all.  Likewise. */
static int pass_some(BoxFollow *f, size_t *ret_n) {
        char text[1 << 16];
        ssize_t n;

        *ret_n = 0;
        if (is_over(f))
                return 0;
        n = read(f->trace_fd, text, sizeof(text));
        if (n < 0)
                return errno == EINTR ? 1 : ORIGIN(-errno);
        *ret_n = (size_t) n;
        return pass_on(f, text, (size_t) n);
}

/* An exit status. */
static int watch(BoxFollow *f, bool *ret_ended) {
        int r = client_send(f->client, "Watch", json_pack("{s:s}", "session", f->name), true);
        bool continues = true;
        size_t n = 0;

        for (;;) {
                _cleanup_refusal_ Refusal refusal = {};
                json_auto_t *reply = NULL;

                if (r == 0 && continues)
                        r = client_receive(f->client, &reply, NULL, &continues, &refusal,
                                           f->signal_fd, n > 0 ? 0 : LOOK_INTERVAL_MS);
                if (r != 0 && r != -ETIMEDOUT && r != CLIENT_E_INTERRUPTED)
                        return contact_failure(f->o, r, &refusal);
                r = pass_some(f, &n);
                if (r < 0)
                        return failed_errno(
                                r, "Failed to read what session %s has in the kernel: %m", f->name);
                *ret_ended = !continues && n == 0;
                if (r == 0 || *ret_ended)
                        return STATUS_OK;
                r = 0;
        }
}

static int open_trace(BoxFollow *f) {
        json_auto_t *reply = NULL;
        int fds[FRAME_FDS_MAX], status;

        status = contact_call(f->client, f->o, "OpenTrace", json_pack("{s:s}", "session", f->name),
                              &reply, fds);
        if (status != STATUS_OK)
                return status;
        f->trace_fd = TAKE_FD(fds[0]);
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                safe_close(fds[i]);
        return f->trace_fd < 0
                       ? failed(STATUS_FAILED,
                                "the daemon did not hand out the trace of session %s", f->name)
                       : STATUS_OK;
}

int box_follow(const Options *o, Client *c, const char *name, int signal_fd, bool *ret_ended) {
        BoxFollow f = { .o = o,
                        .client = c,
                        .name = name,
                        .signal_fd = signal_fd,
                        .trace_fd = -EBADF,
                        .out_fd = -EBADF };
        int r, status;

        *ret_ended = false;
        status = open_trace(&f);
        if (status != STATUS_OK)
                return status;
        r = start_drawing(&f);
        status = r < 0 ? failed_errno(r, "Failed to begin to draw: %m") : watch(&f, ret_ended);
        safe_close(f.trace_fd);
        safe_close(f.out_fd);
        (void) has_drawn(&f, true);
        return status ?: f.status;
}
