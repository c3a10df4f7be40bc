/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Frames one after the other, so that nothing has to be told apart: a gateway spools what a host sends
 * until it has ended, since before that nobody knows how it ends.
 */

#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cli/contact/gateway.h"

#define COPY_BYTES ((size_t) 64 << 10)

enum { OUT, ERR, BODY };

static bool read_size(const json_t *o, const char *key, uint64_t max, uint64_t *ret) {
        const json_t *value = json_object_get(o, key);
        json_int_t n = json_integer_value(value);

        *ret = (uint64_t) n;
        return json_is_integer(value) && n >= 0 && (uint64_t) n <= max;
}

static int read_head(Gateway *g) {
        json_auto_t *o =
                json_loadb(g->head.data ?: "", g->head.n_data, JSON_REJECT_DUPLICATES, NULL);
        const char *host = json_string_value(json_object_get(o, "host"));
        json_int_t status = json_integer_value(json_object_get(o, "status"));
        bool has_file = json_integer_value(json_object_get(o, "file")) >= 0;

        if (!host || status < 0 || status > 255 ||
            !read_size(o, "out", MEMBER_SAID_MAX, &g->left[OUT]) ||
            !read_size(o, "err", MEMBER_SAID_MAX, &g->left[ERR]))
                return GATEWAY_E_INVALID;
        g->left[BODY] = 0;
        if (has_file && !read_size(o, "file", INT64_MAX, &g->left[BODY]))
                return GATEWAY_E_INVALID;
        g->status = (int) status;
        g->member = g->begin(host, has_file, g->userdata);
        g->head.n_data = 0;
        return g->member ? 0 : GATEWAY_E_INVALID;
}

/* @data: without the newline. */
static int add_to_head(Gateway *g, const char *data, size_t n) {
        if (g->head.n_data + n > GATEWAY_HEAD_MAX)
                return GATEWAY_E_INVALID;
        buf_add(&g->head, data, n);
        return g->head.error;
}

/* Of a file that cannot be written the rest is read all the same: those behind it are not to blame. */
static void add_to_body(Gateway *g, size_t i, const char *data, size_t n) {
        Member *m = g->member;

        if (i == OUT)
                buf_add(&m->out, data, n);
        else if (i == ERR)
                buf_add(&m->err, data, n);
        else if (m->file.fd >= 0 && m->error >= 0) {
                m->n_bytes += n;
                m->error = write_full(m->file.fd, data, n);
        }
}

static void end_if_done(Gateway *g) {
        if (g->member && g->left[OUT] == 0 && g->left[ERR] == 0 && g->left[BODY] == 0)
                g->end(TAKE_PTR(g->member), g->status, g->userdata);
}

int gateway_feed(Gateway *g, const char *data, size_t n) {
        int r = 0;

        while (r == 0 && n > 0) {
                size_t taken, i = g->left[OUT] > 0 ? OUT : g->left[ERR] > 0 ? ERR : BODY;

                if (!g->member) {
                        const char *end = memchr(data, '\n', n);

                        taken = end ? (size_t) (end - data) : n;
                        r = add_to_head(g, data, taken);
                        if (r == 0 && end) {
                                r = read_head(g);
                                taken++;
                        }
                } else {
                        taken = (size_t) MIN((uint64_t) n, g->left[i]);
                        add_to_body(g, i, data, taken);
                        g->left[i] -= taken;
                }
                data += taken;
                n -= taken;
                if (r == 0)
                        end_if_done(g);
        }
        return r;
}

void gateway_done(Gateway *g) {
        buf_done(&g->head);
        *g = (Gateway){};
}

/* --- on the gateway --------------------------------------------------------------------------- */

static int copy_file(int fd, int from, uint64_t n) {
        _cleanup_free_ char *data = malloc(COPY_BYTES);
        uint64_t at = 0;

        if (!data)
                return -ENOMEM;
        while (at < n) {
                ssize_t k =
                        pread_up_to(from, data, (size_t) MIN(n - at, (uint64_t) COPY_BYTES), at);
                int r = k > 0 ? write_full(fd, data, (size_t) k) : k < 0 ? (int) k : -EIO;

                if (r < 0)
                        return r;
                at += (uint64_t) k;
        }
        return 0;
}

int gateway_answer(int fd, Member *m) {
        bool has_file = m->spool_fd >= 0 && remote_is_good(m->status);
        _cleanup_free_ char *head = NULL;
        json_auto_t *o = NULL;
        struct stat st = {};
        int r;

        if (has_file && fstat(m->spool_fd, &st) < 0)
                return -errno;
        o = json_pack("{s:s, s:i, s:I, s:I, s:I}", "host", m->name, "status", m->status, "out",
                      (json_int_t) m->out.n_data, "err", (json_int_t) m->err.n_data, "file",
                      has_file ? (json_int_t) st.st_size : (json_int_t) -1);
        head = o ? json_dumps(o, JSON_COMPACT) : NULL;
        if (!head)
                return -ENOMEM;
        r = write_full(fd, head, strlen(head)) ?: write_full(fd, "\n", 1);
        if (r >= 0 && m->out.n_data > 0)
                r = write_full(fd, m->out.data, m->out.n_data);
        if (r >= 0 && m->err.n_data > 0)
                r = write_full(fd, m->err.data, m->err.n_data);
        return r >= 0 && has_file ? copy_file(fd, m->spool_fd, (uint64_t) st.st_size) : MIN(r, 0);
}
