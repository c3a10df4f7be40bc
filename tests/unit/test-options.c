/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "cli/options/options.h"
#include "unit.h"

#define PARSE(o, ...)                                                                              \
        ({                                                                                         \
                static const char *_argv[] = { "ftracectl", __VA_ARGS__, NULL };                   \
                options_parse((o), (int) ELEMENTSOF(_argv) - 1, (char **) _argv);                  \
        })

/* Messages are other tests' business. */
static void be_silent(void) {
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
        close(fd);
        unsetenv("FTRACED_SOCKET");
        unsetenv("FTRACED_STORE");
}

TEST(options_may_stand_anywhere_but_behind_the_command) {
        _cleanup_options_ Options o = {}, run = {}, none = {};

        be_silent();
        ck_assert_int_eq(PARSE(&o, "--depth=3", "start", "-n", "x", "udp_sendmsg", "--buffer-size",
                               "1M", "udp_recvmsg", "-q"),
                         STATUS_OK);
        ck_assert_str_eq(o.verb, "start");
        ck_assert_uint_eq(o.words.n, 2);
        ck_assert_str_eq(o.words.items[1], "udp_recvmsg");
        ck_assert_str_eq(o.name, "x");
        ck_assert_uint_eq(o.spec.depth, 3);
        ck_assert_uint_eq(o.spec.buffer_bytes, 1 << 20);
        ck_assert(o.quiet);
        ck_assert_int_eq(PARSE(&run, "run", "f", "--", "ls", "--depth=2", "-q", "--", "x"),
                         STATUS_OK);
        ck_assert_uint_eq(run.words.n, 1);
        ck_assert_uint_eq(run.n_command, 5);
        ck_assert_str_eq(run.command[3], "--");
        ck_assert_ptr_null(run.command[5]);
        ck_assert(!run.quiet && run.spec.depth == 0);
        /* Of a verb without a command they are words. */
        ck_assert_int_eq(PARSE(&none, "start", "f", "--", "-n", "g"), STATUS_OK);
        ck_assert_int_eq(options_join_words(&none, &(Verb){}), STATUS_OK);
        ck_assert_uint_eq(none.n_command, 0);
        ck_assert_uint_eq(none.words.n, 3);
        ck_assert_str_eq(none.words.items[1], "-n");
        ck_assert_ptr_null(none.name);
}

TEST(lists_take_commas_and_repetitions_and_names_may_have_commas) {
        _cleanup_options_ Options o = {};

        be_silent();
        ck_assert_int_eq(PARSE(&o, "start", "f", "--notrace=a,b", "--notrace", "c", "-p1",
                               "--pid=2,3", "--comm=a,b", "--comm", "c", "--cpus=0-3,8",
                               "--only=g,h", "--clock=boot", "--clock=tai", "--flat",
                               "--slower=5ms", "--event=a:b:x ~ \"1,2\"", "--event", "a:c",
                               "--args", "--retval=g,h", "--set=MaxCPU=20%", "--set=NoIRQs=yes"),
                         STATUS_OK);
        ck_assert_uint_eq(o.spec.notrace.n, 3);
        ck_assert_str_eq(o.spec.notrace.items[2], "c");
        ck_assert_uint_eq(o.spec.pids.n, 3);
        ck_assert_uint_eq(o.spec.comms.n, 2);
        ck_assert_str_eq(o.spec.comms.items[0], "a,b");
        ck_assert_uint_eq(o.spec.cpus.n, 2);
        ck_assert_uint_eq(o.spec.hooked.n, 2);
        ck_assert_str_eq(o.spec.clock, "tai");
        ck_assert_uint_eq(o.spec.slower_ns, 5000000);
        ck_assert_uint_eq(o.spec.events.n, 2);
        ck_assert_str_eq(o.spec.events.items[0], "a:b:x ~ \"1,2\"");
        ck_assert(o.spec.flat && o.spec.args && !o.spec.retval);
        ck_assert_uint_eq(o.spec.retval_functions.n, 2);
        ck_assert_uint_eq(json_object_size(o.settings), 2);
        ck_assert_int_eq(json_integer_value(json_object_get(o.settings, "max_cpu_ppm")), 200000);
}

TEST(a_verb_refuses_options_of_others_and_words_that_it_has_no_use_for) {
        Verb list = { .name = "list", .synopsis = "", .groups = OPTIONS_JSON },
             show = { .name = "show", .synopsis = "", .min_words = 1, .max_words = 1 };
        _cleanup_options_ Options o = {}, two = {};

        be_silent();
        ck_assert_int_eq(PARSE(&o, "list", "--depth=3"), STATUS_OK);
        ck_assert_int_eq(options_check(&o, &list), STATUS_USAGE);
        list.groups = OPTIONS_RECORD;
        ck_assert_int_eq(options_check(&o, &list), STATUS_OK);
        ck_assert_int_eq(PARSE(&two, "show", "a", "b"), STATUS_OK);
        ck_assert_int_eq(options_check(&two, &show), STATUS_USAGE);
        show.max_words = 2;
        ck_assert_int_eq(options_check(&two, &show), STATUS_OK);
        show.min_words = 3;
        ck_assert_int_eq(options_check(&two, &show), STATUS_USAGE);
}

TEST(the_environment_names_socket_and_store) {
        _cleanup_options_ Options o = {}, empty = {};

        be_silent();
        setenv("FTRACED_SOCKET", "/s", 1);
        setenv("FTRACED_STORE", "/d", 1);
        ck_assert_int_eq(PARSE(&o, "list", "--socket=/t"), STATUS_OK);
        ck_assert_str_eq(o.socket, "/t");
        ck_assert_str_eq(o.store, "/d");
        setenv("FTRACED_STORE", "", 1);
        ck_assert_int_eq(PARSE(&empty, "-j", "list"), STATUS_OK);
        ck_assert_str_eq(empty.socket, "/s");
        ck_assert_ptr_null(empty.store);
        ck_assert_int_eq(empty.json, JSON_AUTO);
        ck_assert_str_eq(empty.verb, "list");
}

TEST(nonsense_is_wrong_usage) {
        static const char *const bad[][3] = {
                { "start", "--depth=51" },      { "start", "--depth=x" },
                { "start", "--depth=-1" },      { "start", "--duration=0" },
                { "start", "--duration=10xx" }, { "start", "--max-size=" },
                { "start", "--buffer-size=0" }, { "start", "--set=MaxFunctions=0" },
                { "start", "--bogus" },         { "start", "-Z" },
                { "start", "--depth" },         { "start", "-n" },
                { "start", "--name=" },         { "list", "--json=loud" },
                { "list", "--quiet=yes" },      { "start", "--cpus=1-" },
                { "start", "--cpus=," },        { "start", "--comm=" },
                { "start", "--comm=a\nb" },     { "start", "--cgroup=/a/../b" },
                { "start", "--clock=mo no" },   { "start", "--slower=0" },
                { "start", "--slower=999ns" },  { "start", "--flat=1" },
                { "start", "--event=sched" },   { "start", "--event=a:b:" },
                { "start", "--event=../a:b" },  { "start", "--event=" },
                { "start", "--set=Depth=3" },   { "start", "--set=Clock=boot" },
                { "start", "--set=Bogus=1" },   { "start", "--set=" },
        };

        be_silent();
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                _cleanup_options_ Options o = {};
                const char *argv[] = { "ftracectl", bad[i][0], bad[i][1], NULL };

                ck_assert_msg(options_parse(&o, 3, (char **) argv) == STATUS_USAGE, "%s",
                              bad[i][1]);
        }
}

TEST(help_names_every_option_of_a_group_once) {
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_free_ char *text = NULL;
        const char *at;

        ck_assert_uint_eq(options_help(&out, "start", OPTIONS_RECORD, NULL), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        at = strstr(text, "  -n, --name=NAME");
        ck_assert_ptr_nonnull(at);
        ck_assert_ptr_null(strstr(at + 20, "--name="));
        ck_assert_ptr_nonnull(strstr(text, "      --depth=N"));
        ck_assert_ptr_null(strstr(text, "--socket"));
}

TEST(help_is_short_unless_all_is_asked_for_and_has_a_text_for_each_verb) {
        static const struct {
                const char *verb, *expected;
        } cases[] = {
                { "start",
                  "      --max-size=BYTES      stop when BYTES (\"500M\", \"2G\") are stored\n" },
                { "vacuum",
                  "      --max-size=BYTES      until all sessions together take at most BYTES\n" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_buf_ Buf out = BUF_INIT;
                _cleanup_free_ char *text = NULL;

                ck_assert_uint_gt(
                        options_help(&out, cases[i].verb, OPTIONS_RECORD, "ring max-size"), 20);
                text = TEXT_OF(out);
                ck_assert_ptr_nonnull(strstr(text, cases[i].expected));
                ck_assert_ptr_nonnull(strstr(text, "--ring"));
                ck_assert_ptr_null(strstr(text, "--depth"));
        }
}

/* The rules of "ftracectl arm" with these options, joined, or the exit status. */
static void check_rules(char **words, const char *wanted, int wanted_status) {
        _cleanup_options_ Options o = {};
        _cleanup_strv_ Strv rules = {};
        _cleanup_free_ char *got = NULL;
        char *argv[16] = { (char *) "ftracectl", (char *) "arm" };
        int argc = 2;

        for (; *words; words++)
                argv[argc++] = *words;
        ck_assert_int_eq(options_parse(&o, argc, argv), STATUS_OK);
        ck_assert_int_eq(options_rules(&rules, &o), wanted_status);
        got = strv_join(&rules, " | ");
        ck_assert_str_eq(got, wanted);
}

#define RULES(...) ((char *[]){ __VA_ARGS__, NULL })
#define W(s) ((char[]){ s })

TEST(actions_are_for_the_triggers_before_them) {
        be_silent();
        check_rules(RULES(NULL), "start command", STATUS_OK);
        check_rules(RULES(W("--on=signal")), "start signal", STATUS_OK);
        check_rules(RULES(W("--ring"), W("--on=function:x")), "snapshot function:x", STATUS_OK);
        check_rules(RULES(W("--on=event:a:b:x == 1"), W("--do=start"), W("--do=stop:10s")),
                    "start,stop:10s event:a:b:x == 1", STATUS_OK);
        check_rules(RULES(W("--on=signal"), W("--on=command"), W("--do=start"), W("--on=in:1min"),
                          W("--do=stop"), W("--on=at:02:00")),
                    "start signal | start command | stop in:1min | start at:02:00", STATUS_OK);
        check_rules(RULES(W("--do=start"), W("--do=stop:1s")), "start,stop:1s command", STATUS_OK);
}

TEST(triggers_that_make_no_sense_or_are_too_many_are_wrong_usage) {
        be_silent();
        check_rules(RULES(W("--on=sunrise")), "", STATUS_USAGE);
        check_rules(RULES(W("--on=signal"), W("--on=signal"), W("--on=signal"), W("--on=signal"),
                          W("--on=signal"), W("--on=signal"), W("--on=signal"), W("--on=signal"),
                          W("--on=signal")),
                    "", STATUS_USAGE);
}
