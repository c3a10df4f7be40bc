/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/io.h"
#include "cli/contact/gateway.h"
#include "tests/unit/unit.h"

typedef struct Heard {
        Member member;
        unsigned n_begun, n_ended;
        int status;
        bool had_file;
} Heard;

static Member *begin_member(const char *host, bool has_file, void *userdata) {
        Heard *h = userdata;

        h->n_begun++;
        h->had_file = has_file;
        return streq(host, "known") ? &h->member : NULL;
}

static void end_member(Member *m, int status, void *userdata) {
        Heard *h = userdata;

        h->n_ended++;
        h->status = status;
}

static void init(Heard *h, Gateway *g) {
        *h = (Heard){ .member = { .name = "known",
                                  .out = BUF_INIT,
                                  .err = BUF_INIT,
                                  .file = OUTFILE_INIT,
                                  .spool_fd = -EBADF } };
        *g = (Gateway){ .begin = begin_member, .end = end_member, .userdata = h, .head = BUF_INIT };
}

static void done(Heard *h, Gateway *g) {
        gateway_done(g);
        buf_done(&h->member.out);
        buf_done(&h->member.err);
        safe_close(h->member.file.fd);
        safe_close(h->member.spool_fd);
}

static int memory_file(const char *text) {
        int fd = memfd_create("test", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write_full(fd, text, strlen(text)), 0);
        return fd;
}

/* What is answered with @out, @err and, unless it is NULL, @file; the caller frees. */
static char *answer(const char *out, const char *err, const char *file, int status, size_t *ret_n) {
        int fd = memory_file("");
        char *text = NULL;
        Gateway g;
        Heard h;

        init(&h, &g);
        h.member.status = status;
        buf_adds(&h.member.out, out);
        buf_adds(&h.member.err, err);
        if (file)
                h.member.spool_fd = memory_file(file);
        ck_assert_int_eq(gateway_answer(fd, &h.member), 0);
        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(fd_read(fd, &text, ret_n, 1 << 20), 0);
        safe_close(fd);
        done(&h, &g);
        return text;
}

START_TEST(what_is_answered_is_heard_however_it_is_cut)
        {
                size_t n = 0;
                _cleanup_free_ char *text = answer("a\nb", "\xff{", "file\n", 6, &n);

                for (size_t step = 1; step <= n; step++) {
                        _cleanup_free_ char *got = NULL;
                        Gateway g;
                        Heard h;

                        init(&h, &g);
                        h.member.file.fd = memory_file("");
                        for (size_t at = 0; at < n; at += step)
                                ck_assert_int_eq(gateway_feed(&g, text + at, MIN(step, n - at)), 0);
                        ck_assert_uint_eq(h.n_begun, 1);
                        ck_assert_uint_eq(h.n_ended, 1);
                        ck_assert_int_eq(h.status, 6);
                        ck_assert(h.had_file);
                        ck_assert_uint_eq(h.member.out.n_data, 3);
                        ck_assert_uint_eq(h.member.err.n_data, 2);
                        ck_assert_uint_eq(h.member.n_bytes, 5);
                        ck_assert_int_eq(lseek(h.member.file.fd, 0, SEEK_SET), 0);
                        ck_assert_int_eq(fd_read(h.member.file.fd, &got, NULL, 100), 0);
                        ck_assert_str_eq(got, "file\n");
                        done(&h, &g);
                }
        }
END_TEST

START_TEST(a_host_that_failed_has_no_file)
        {
                size_t n = 0;
                _cleanup_free_ char *text = answer("", "no", "half a fi", 1, &n);
                Gateway g;
                Heard h;

                init(&h, &g);
                ck_assert_int_eq(gateway_feed(&g, text, n), 0);
                ck_assert_uint_eq(h.n_ended, 1);
                ck_assert(!h.had_file);
                done(&h, &g);
        }
END_TEST

START_TEST(what_is_not_valid_is_refused)
        {
                static const char *const texts[] = {
                        "\n",
                        "hello\n",
                        "[]\n",
                        "{\"host\":\"other\",\"status\":0,\"out\":0,\"err\":0,\"file\":-1}\n",
                        "{\"host\":\"known\",\"status\":0,\"out\":-1,\"err\":0,\"file\":-1}\n",
                        "{\"host\":\"known\",\"status\":0,\"out\":4194305,\"err\":0,\"file\":-1}\n",
                        "{\"host\":\"known\",\"status\":256,\"out\":0,\"err\":0,\"file\":-1}\n",
                        "{\"host\":\"known\",\"status\":-1,\"out\":0,\"err\":0,\"file\":-1}\n",
                        "{\"host\":\"known\",\"status\":0,\"out\":\"1\",\"err\":0,\"file\":-1}\n",
                        "{\"host\":\"known\",\"status\":0,\"out\":0,\"file\":-1}\n",
                        "{\"host\":\"known\",\"status\":0,\"out\":0,\"err\":0,\"file\":\"x\"}\n",
                        "{\"host\":1,\"status\":0,\"out\":0,\"err\":0,\"file\":-1}\n",
                };

                for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                        Gateway g;
                        Heard h;

                        init(&h, &g);
                        ck_assert_msg(gateway_feed(&g, texts[i], strlen(texts[i])) ==
                                              GATEWAY_E_INVALID,
                                      "%s", texts[i]);
                        ck_assert_uint_eq(h.n_ended, 0);
                        done(&h, &g);
                }
        }
END_TEST

START_TEST(a_head_without_an_end_takes_no_memory)
        {
                char text[1000];
                Gateway g;
                Heard h;
                int r = 0;

                init(&h, &g);
                memset(text, ' ', sizeof(text));
                for (unsigned i = 0; i <= GATEWAY_HEAD_MAX / sizeof(text); i++)
                        r = r ?: gateway_feed(&g, text, sizeof(text));
                ck_assert_int_eq(r, GATEWAY_E_INVALID);
                ck_assert_uint_le(g.head.n_data, GATEWAY_HEAD_MAX);
                done(&h, &g);
        }
END_TEST

UNIT_SUITE("gateway", what_is_answered_is_heard_however_it_is_cut, a_host_that_failed_has_no_file,
           what_is_not_valid_is_refused, a_head_without_an_end_takes_no_memory)
