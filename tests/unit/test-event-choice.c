/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "meta/event-choice.h"
#include "unit.h"

TEST(what_follows_the_second_colon_is_the_filter) {
        char path[EVENT_PATH_MAX];
        EventChoice e;

        ck_assert(event_choice_parse(&e, "sched:sched_switch"));
        ck_assert_str_eq(e.system, "sched");
        ck_assert_str_eq(e.name, "sched_switch");
        ck_assert_ptr_null(e.filter);
        ck_assert(event_choice_parse(&e, "net:net_dev_queue:name ~ \"a:b,c*\" && len > 5"));
        ck_assert_str_eq(e.filter, "name ~ \"a:b,c*\" && len > 5");
        event_choice_path(path, &e, "enable");
        ck_assert_str_eq(path, "events/net/net_dev_queue/enable");
}

TEST(nothing_but_two_words_and_a_filter_is_an_event) {
        static const char *const bad[] = {
                "",         ":",      "sched",          "sched:",  ":sched_switch",
                "a:b:",     "a:b:  ", "..:..",          "a/b:c",   "a:b/../../x",
                "a:b:x\ny", "a:b c",  "*:sched_switch", "sched:*", "a:b:\t",
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(!event_choice_is_valid(bad[i]), "\"%s\"", bad[i]);
}

TEST(the_longest_words_fit_their_path) {
        char text[2 * EVENT_WORD_MAX + 2], path[EVENT_PATH_MAX];
        EventChoice e;

        memset(text, 'a', sizeof(text));
        text[EVENT_WORD_MAX] = ':';
        text[sizeof(text) - 1] = 0;
        ck_assert(event_choice_parse(&e, text));
        event_choice_path(path, &e, "trigger");
        ck_assert_uint_eq(strlen(path), EVENT_PATH_MAX - 1);
        ck_assert_str_eq(path + strlen(path) - 8, "/trigger");
        text[EVENT_WORD_MAX] = 'a';
        text[EVENT_WORD_MAX + 1] = ':';
        ck_assert(!event_choice_parse(&e, text));
}

TEST(the_path_of_a_format_names_its_event) {
        static const char *const bad[] = { "",
                                           "events/header_page",
                                           "events/sched/sched_switch",
                                           "events/sched/sched_switch/format/x",
                                           "events/sched/sched_switch/enable",
                                           "events/../x/format",
                                           "events//x/format",
                                           "saved_cmdlines" };
        EventChoice e;

        ck_assert(event_choice_from_path(&e, "events/sched/sched_switch/format"));
        ck_assert_str_eq(e.system, "sched");
        ck_assert_str_eq(e.name, "sched_switch");
        ck_assert_ptr_null(e.filter);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(!event_choice_from_path(&e, bad[i]), "\"%s\"", bad[i]);
}
