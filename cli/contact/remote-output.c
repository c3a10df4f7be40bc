/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The end is the process's, not the pipe's: ssh may leave one behind that shares its connection
 * (ControlPersist) and keeps standard error.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/poll.h"
#include "cli/contact/remote-output.h"

#define OUTPUTS_MAX 2

/* What ftracectl writes besides text: cli/terminal/terminal.c, render/kernel.c, cli/terminal/progress.c, cli/views/live-top.c. */
static const char *const codes[] = {
        "\r",      "\033[K",   "\033[H\033[J", "\033[0m",  "\033[m",
        "\033[1m", "\033[31m", "\033[32m",     "\033[33m", "\033[1;31m",
};

int remote_output_open(RemoteOutput *o, int fd, int *ret_fd) {
        struct stat st;
        int fds[2];

        *ret_fd = fd;
        o->is_file = fstat(fd, &st) >= 0 && S_ISREG(st.st_mode);
        if (!o->is_file && !isatty(fd))
                return 0;
        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        o->in_fd = fds[0];
        o->out_fd = fd;
        *ret_fd = fds[1];
        return 0;
}

void remote_output_done(RemoteOutput *o) {
        o->in_fd = safe_close(o->in_fd);
}

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

void remote_output_add(RemoteOutput *o, Buf *out, const char *data, size_t n, bool is_end) {
        _cleanup_buf_ Buf all = BUF_INIT;
        size_t i = 0;

        buf_add(&all, o->held, o->n_held);
        buf_add(&all, data, n);
        o->n_held = 0;
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
                        memcpy(o->held, all.data + all.n_data - n_held, n_held);
                        o->n_held = n_held;
                }
        }
}

/* Whether there may be more. */
static bool pump(RemoteOutput *o) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(o->out_fd);
        char data[16384];
        ssize_t n = read(o->in_fd, data, sizeof(data));

        if (n < 0 && errno == EINTR)
                return true;
        if (n < 0 && errno == EAGAIN)
                return false;
        if (o->is_file)
                o->error = write_full(o->out_fd, data, (size_t) MAX(n, 0));
        else
                remote_output_add(o, &out, data, (size_t) MAX(n, 0), n <= 0);
        if (buf_flush(&out) >= 0 && o->error >= 0 && n > 0)
                return true;
        remote_output_done(o); /* a terminal that has gone is one that nobody writes to */
        return false;
}

void remote_output_pass(RemoteOutput outputs[], size_t n, pid_t pid) {
        struct pollfd polls[OUTPUTS_MAX + 1];
        int r = 0;

        while (r != POLL_CHILD_ENDED) {
                bool is_any = false;

                for (size_t i = 0; i < n; i++) {
                        polls[i + 1] = (struct pollfd){ .fd = outputs[i].in_fd, .events = POLLIN };
                        is_any |= outputs[i].in_fd >= 0;
                }
                r = is_any ? poll_child(pid, polls, n + 1, UINT64_MAX) : -EPIPE;
                if (r < 0)
                        return;
                for (size_t i = 0; i < n; i++)
                        if (polls[i + 1].revents != 0)
                                (void) pump(&outputs[i]);
        }
        for (size_t i = 0; i < n; i++) {
                _cleanup_buf_ Buf out = BUF_OF_TEXT(outputs[i].out_fd);

                if (outputs[i].in_fd < 0 || fcntl(outputs[i].in_fd, F_SETFL, O_NONBLOCK) < 0)
                        continue;
                while (pump(&outputs[i]))
                        ;
                remote_output_add(&outputs[i], &out, NULL, 0, true); /* if it was left open */
                (void) buf_flush(&out);
        }
}
