/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Calls as a well-behaved peer makes them; what the service says of itself is system/test-wire.sh's. */

#include <sys/socket.h>

#include "server-fixture.h"

SERVER_TEST(a_call_is_answered_and_a_refusal_keeps_its_words) {
        _cleanup_client_ Client *c = connect_client();
        json_t *answer = NULL;

        check_alive();
        check_refused(c, "Refuse", NULL, REFUSAL_BUSY, "message", "session boot is recording");
        check_refused(c, "Refuse", NULL, REFUSAL_BUSY, "holder", "boot");
        check_refused(c, "Fail", NULL, REFUSAL_SYSTEM_ERROR, NULL, NULL);
        check_refused(c, "Forget", NULL, REFUSAL_SYSTEM_ERROR, NULL, NULL);
        check_refused(c, "Nothing", NULL, REFUSAL_METHOD_NOT_FOUND, "method",
                      "org.ftraced.Nothing");
        check_refused(c, "org.nowhere.Nothing", NULL, REFUSAL_INTERFACE_NOT_FOUND, "interface",
                      "org.nowhere");
        check_refused(c, "Echo", json_pack("{s:i}", "other", 1), REFUSAL_INVALID_PARAMETER,
                      "parameter", "other");
        check_refused(c, "Who", json_pack("{s:i}", "other", 1), REFUSAL_INVALID_PARAMETER,
                      "parameter", "other");
        check_refused(c, "Stream", NULL, REFUSAL_EXPECTED_MORE, NULL, NULL);
        answer = call(c, "Who");
        ck_assert_int_eq(json_integer_value(json_object_get(answer, "pid")), getpid());
        ck_assert_int_eq(json_integer_value(json_object_get(answer, "uid")), geteuid());
        json_decref(answer);
}

SERVER_TEST(a_stream_ends_with_the_reply_that_does_not_continue) {
        _cleanup_client_ Client *c = connect_client();
        bool continues = true;

        ck_assert_int_eq(client_send(c, "Stream", NULL, true), 0);
        for (int i = 0; i < 4; i++) {
                json_t *answer;

                ck_assert(continues);
                ck_assert_int_eq(
                        client_receive(c, &answer, NULL, &continues, NULL, -EBADF, PATIENCE_MS), 0);
                ck_assert_int_eq(json_integer_value(json_object_get(answer, "i")), i);
                json_decref(answer);
        }
        ck_assert(!continues);
}

SERVER_TEST(descriptors_come_with_the_reply) {
        _cleanup_client_ Client *c = connect_client();
        int fds[FRAME_FDS_MAX];

        ck_assert_int_eq(client_call(c, "Descriptors", NULL, NULL, fds, NULL), 0);
        ck_assert_int_ge(fds[0], 0);
        ck_assert_int_ge(fds[1], 0);
        ck_assert_int_lt(fds[2], 0);
        close(fds[0]);
        close(fds[1]);
        /* Who does not want them does not get them. */
        ck_assert_int_eq(client_call(c, "Descriptors", NULL, NULL, NULL, NULL), 0);
}

SERVER_TEST(pipelined_calls_are_answered_in_order_also_behind_a_kept_one) {
        char text[4096];
        int fd;

        fd = connect_raw();
        put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"n\":1}}");
        put_text(fd, "{\"method\":\"org.ftraced.Keep\"}");
        put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"n\":2},"
                     "\"oneway\":true}");
        put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"n\":3}}");
        ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
        ck_assert_str_eq(text, "{\"parameters\":{\"n\":1}}");
        {
                _cleanup_client_ Client *c = connect_client();

                release_kept(c);
        }
        ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
        ck_assert_str_eq(text, "{\"parameters\":{\"released\":\"yes\"}}");
        ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
        ck_assert_str_eq(text, "{\"parameters\":{\"n\":3}}");
        close(fd);
}

SERVER_TEST(upgrade_is_refused) {
        char text[500];
        int fd;

        fd = connect_raw();
        put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"upgrade\":true}");
        ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
        ck_assert_ptr_nonnull(strstr(text, "\"org.varlink.service.InvalidParameter\""));
        close(fd);
}
