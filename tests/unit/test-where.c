/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/views/views.h"
#include "step-builder.h"
#include "unit.h"

static const Frame with_arguments = {
        .args = "(sk=0xffff888003d5c000, msg=0xffffc900001bbd88, len=0x5dc)"
};
static const Frame without = {};
static Stack task = { .pid = 812 }, nobody = { .pid = -1 };
static const Call sent = {
        .frame = &with_arguments,
        .stack = &task,
        .has_retval = true,
        .retval = 0xffffffa6, /* -90 of an int */
        .duration_ns = 5000000,
        .self_ns = 1000,
        .has_end = true,
        .cpu = 3,
};
static const Call bare = { .frame = &without, .stack = &nobody, .duration_ns = 10, .self_ns = 10 };

static bool matches(const char *text, const Call *c) {
        _cleanup_free_ Where *w = NULL;
        char why[WHERE_WHY_MAX];

        ck_assert_msg(where_parse(&w, text, why) == 0, "%s: %s", text, why);
        return where_matches(w, c);
}

TEST(a_condition_lets_through_what_it_says) {
        static const char *const yes[] = {
                "ret < 0 && len > 1400",
                "ret<0&&len>1400",
                "ret == -90",
                "ret == -EMSGSIZE",
                "ret != -EAGAIN",
                "len == 1500",
                "len == 0x5dc",
                "len & 4",
                "sk == 0xffff888003d5c000",
                "sk > 0",
                "duration >= 5ms",
                "duration == 5000000 && self <= 1us",
                "self < 1.5us",
                "cpu == 3 && pid == 812",
                "ret > 0 || cpu == 3",
                "ret > 0 && cpu == 0 || pid == 812",
                "!(ret >= 0)",
                "!ret >= 0",
                "! ! (cpu==3)",
                "((((ret < 0))))",
        };
        static const char *const no[] = {
                "ret >= 0",     "ret == 0xffffffa6",    "len > 1500",
                "len & 3",      "cpu == 3 && pid == 1", "cpu == 3 && (pid == 1 || len < 10)",
                "no_such == 0", "no_such != 0",         "le == 1500",
                "n == 1500",
        };

        for (size_t i = 0; i < ELEMENTSOF(yes); i++)
                ck_assert_msg(matches(yes[i], &sent), "%s", yes[i]);
        for (size_t i = 0; i < ELEMENTSOF(no); i++)
                ck_assert_msg(!matches(no[i], &sent), "%s", no[i]);
}

TEST(a_name_that_no_call_has_is_told) {
        _cleanup_free_ Where *w = NULL;
        char why[WHERE_WHY_MAX];

        ck_assert_int_eq(where_parse(&w, "ret < 0 || !(lem == 1) && cpu == 3", why), 0);
        ck_assert_str_eq(where_unmet(w), "ret");
        (void) where_matches(w, &bare);
        (void) where_matches(w, &sent);
        ck_assert_str_eq(where_unmet(w), "lem");
        free(TAKE_PTR(w));
        ck_assert_int_eq(where_parse(&w, "len == 1 && cpu == 0", why), 0);
        (void) where_matches(w, &sent);
        ck_assert_ptr_null(where_unmet(w));
}

TEST(what_a_call_does_not_have_compares_with_nothing) {
        ck_assert(!matches("ret == 0", &bare));
        ck_assert(!matches("ret != 0", &bare));
        ck_assert(matches("!(ret == 0)", &bare));
        ck_assert(!matches("cpu == 0", &bare));
        ck_assert(!matches("pid < 0", &bare));
        ck_assert(matches("duration == 10", &bare));
}

TEST(numbers_have_the_sign_that_is_drawn) {
        Frame frame = {};
        Call c = { .frame = &frame, .stack = &nobody, .has_retval = true };

        c.retval = (uint64_t) -11;
        ck_assert(matches("ret == -11", &c));
        c.retval = UINT64_C(0xffff888003d5c000); /* a pointer */
        ck_assert(matches("ret > 0", &c));
        c.retval = 0x7fffffff;
        ck_assert(matches("ret == 2147483647", &c));
        frame.args = "(fd=-1, how=-2 [BAD], p=(STRUCT)[0x1:0x2], q=?0x10)";
        ck_assert(matches("fd == -1 && how < 0 && q == 16", &c));
        ck_assert(!matches("p == 1", &c));
        ck_assert(!matches("p != 1", &c));
}

TEST(fields_of_objects_compare_as_numbers_and_as_texts) {
        static const char *const yes[] = {
                "dport == 53",
                "dport == 0x35 && dport < 54 && dport & 1",
                "file == \"/log/x y\"",
                "file != /log/x",
                "daddr == 127.0.0.1 && dport == 53",
                "(daddr==fe80::1)||(daddr==127.0.0.1)",
                "comm == 812",
                "dport != http",
                "len == 64 && file != \"\"",
                "!(file == \"a && b\")",
        };
        static const char *const no[] = {
                "dport != 53",        "file == /log/x", "daddr == 127.0.0.2", "daddr == 127",
                "daddr != 127.0.0.1", "comm < 900",     "dport == \"x\"",     "port == 53",
                "file == \"\"",       "comm & 4",
        };
        _cleanup_free_ Object *o =
                object_made("dport=53, daddr=127.0.0.1, file=/log/x y, comm=812");
        Frame frame = { .args = "(len=0x40, dport=0x1)", .object = o };
        Call c = { .frame = &frame, .stack = &nobody };

        o->fields[3].is_number = false;
        for (size_t i = 0; i < ELEMENTSOF(yes); i++)
                ck_assert_msg(matches(yes[i], &c), "%s", yes[i]);
        for (size_t i = 0; i < ELEMENTSOF(no); i++)
                ck_assert_msg(!matches(no[i], &c), "%s", no[i]);
        for (size_t i = 0; i < ELEMENTSOF(yes); i++) /* but for a "!", and what is not there */
                ck_assert_msg(*yes[i] == '!' || !matches(yes[i], &bare), "%s", yes[i]);
}

TEST(a_text_in_arguments_is_no_argument) {
        Frame frame = { .args = "(file=\"a, len=0x40, \", n=0x2)" };
        Call c = { .frame = &frame, .stack = &nobody };

        ck_assert(!matches("len == 64", &c));
        ck_assert(matches("n == 2", &c));
}

TEST(what_is_no_condition_is_refused_with_the_place) {
        static const struct {
                const char *text, *why;
        } cases[] = {
                { "", "there is no name at \"its end\"" },
                { "ret", "there is none of == != < <= > >= & at \"its end\"" },
                { "ret = 0", "there is none of" },
                { "ret <", "there is no number" },
                { "ret < x", "no number, nor the name of an error, at \"x\"" },
                { "ret < 5ms", "no number" },
                { "duration < -5ms", "no number" },
                { "ret < 0 &", "there is more at \"&\"" },
                { "ret < 0 &&", "there is no name" },
                { "ret == x", "no number" },
                { "file < x", "no number, nor the name of an error, at \"x\"" },
                { "file == \"x", "there is no second \" at \"\"x\"" },
                { "file ==", "no number" },
                { "file == \"x\"y", "there is more at \"y\"" },
                { "(ret < 0", "there is no \")\"" },
                { "ret < 0)", "there is more" },
                { "7 < ret", "there is no name" },
                { "ret < 99999999999999999999", "no number" },
                { "ret < 0x", "no number" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char why[WHERE_WHY_MAX] = "";
                Where *w = NULL;

                ck_assert_msg(where_parse(&w, cases[i].text, why) == WHERE_E_INVALID, "%s",
                              cases[i].text);
                ck_assert_msg(strstr(why, cases[i].why), "%s: %s", cases[i].text, why);
        }
}

TEST(no_condition_is_too_much_for_the_stack) {
        char why[WHERE_WHY_MAX];

        for (int n = 60; n < 100000; n *= 10) {
                _cleanup_buf_ Buf b = BUF_INIT;
                _cleanup_free_ char *text = NULL;
                Where *w = NULL;
                int r;

                for (int i = 0; i < n; i++)
                        buf_adds(&b, "(");
                buf_adds(&b, "ret<0");
                for (int i = 0; i < n; i++)
                        buf_adds(&b, ")");
                ck_assert_int_eq(buf_take_string(&b, &text), 0);
                r = where_parse(&w, text, why);
                ck_assert_int_eq(r, n > 60 ? WHERE_E_INVALID : 0);
                free(w);
        }
        for (int n = 100; n < 1000; n += 800) {
                _cleanup_buf_ Buf b = BUF_INIT;
                _cleanup_free_ char *text = NULL;
                Where *w = NULL;

                for (int i = 0; i < n; i++)
                        buf_adds(&b, "ret<0||");
                buf_adds(&b, "ret<0");
                ck_assert_int_eq(buf_take_string(&b, &text), 0);
                ck_assert_int_eq(where_parse(&w, text, why), n > 100 ? WHERE_E_INVALID : 0);
                free(w);
        }
}
