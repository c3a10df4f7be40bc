/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What arming would write, as shell lines, beside what it does write. */

#include <fcntl.h>
#include <semaphore.h>

#include "daemon/tracefs/control.h"
#include "fake-kernel.h"
#include "types-builder.h"

/* The lines of a dry run with "/T" for tracefs; that nothing was written is checked. */
static char *script(FakeKernel *k, Controller *c, SessionMeta *m) {
        _cleanup_free_ char *before = fake_dump(k);
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_plan_ Plan plan = {};
        _cleanup_buf_ Buf out = BUF_INIT;
        unsigned n_steps = k->n_steps;
        size_t n_arm = 0;
        int r;

        r = controller_rehearse(c, &plan, &n_arm, m, false, &refusal);
        ck_assert_msg(r == 0, "%i: %s", r, r > 0 ? refusal_message(&refusal) : "");
        ck_assert_uint_eq(k->n_steps, n_steps);
        fake_expect_all(k, before);
        script_write(&out, &plan,
                     &(ScriptInfo){ .session = m->name,
                                    .kernel = "6.12.57",
                                    .tracefs = "/T",
                                    .warnings = &m->warnings,
                                    .n_arm = n_arm,
                                    .waits = controller_waits_for_start(&m->spec) });
        return TEXT_OF(out);
}

static void refuse(Controller *c, SessionMeta *m, RefusalKind kind, const char *part) {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_plan_ Plan plan = {};
        size_t n_arm;

        ck_assert_int_eq(controller_rehearse(c, &plan, &n_arm, m, false, &refusal), REFUSED);
        ck_assert_int_eq((int) refusal.kind, (int) kind);
        ck_assert_ptr_nonnull(strstr(refusal_message(&refusal), part));
        ck_assert_uint_eq(plan.n, 0);
}

/* Says what the plan's steps come to in the words of the fake's log. */
static void write_log(Strv *ret, const Plan *p) {
        static const char *const dirs[] = { [PLAN_MKDIR] = "mkdir", [PLAN_RMDIR] = "rmdir" };

        for (size_t i = 0; i < p->n; i++) {
                const PlanStep *s = &p->steps[i];
                _cleanup_free_ char *text = NULL;
                _cleanup_strv_ Strv words = {};
                bool is_list = control_is_list(s->file);
                char *line;

                if (s->kind == PLAN_MKDIR || s->kind == PLAN_RMDIR) {
                        ck_assert_int_ge(asprintf(&line, "%s %s", dirs[s->kind], s->file), 0);
                        ck_assert_int_eq(strv_take(ret, line), 0);
                        continue;
                }
                if (s->kind == PLAN_CLOSE)
                        continue;
                if (is_list && s->kind == PLAN_SET) {
                        ck_assert_int_ge(asprintf(&line, "truncate %s", s->file), 0);
                        ck_assert_int_eq(strv_take(ret, line), 0);
                }
                if (s->kind == PLAN_LINE)
                        text = strdup(s->value);
                else
                        ck_assert_int_eq(control_text(s->file, s->text ?: s->value, &text), 0);
                ck_assert_int_eq(strv_split(&words, text, "\n"), 0);
                for (size_t w = 0; w < words.n; w++) {
                        ck_assert_int_ge(asprintf(&line, "write %s %s%s", s->file,
                                                  s->kind == PLAN_REMOVE ? "!" : "",
                                                  words.items[w]),
                                         0);
                        ck_assert_int_eq(strv_take(ret, line), 0);
                }
        }
}

/* What a session of @m does after arming, before its triggers fire. */
static void begin(Tracer *t, const SessionMeta *m) {
        bool waits = controller_waits_for_start(&m->spec);

        if (!waits)
                ck_assert_int_eq(tracer_set_recording(t, true), 0);
        for (size_t i = 0; i < m->spec.triggers.n; i++) {
                _cleanup_trigger_ Trigger trigger = {};
                char why[TRIGGER_WHY_MAX];
                int on;

                ck_assert_int_eq(trigger_parse(&trigger, m->spec.triggers.items[i], why), 0);
                on = tracer_switch_of(&m->spec, &trigger);
                if (on >= 0 && trigger.does[TRIGGER_START] == waits)
                        ck_assert_int_eq(tracer_put_switch(t, i, &trigger, on > 0), 0);
        }
}

/* Those of set_graph_function and set_graph_notrace, or all others: arming makes the two kinds side by
 * side. */
static char *join_some(const Strv *lines, bool of_graph) {
        _cleanup_strv_ Strv some = {};
        char *text;

        for (size_t i = 0; i < lines->n; i++)
                if ((strstr(lines->items[i], "set_graph_") != NULL) == of_graph)
                        ck_assert_int_eq(strv_add(&some, lines->items[i]), 0);
        text = strv_join(&some, "\n");
        ck_assert_ptr_nonnull(text);
        return text;
}

/* Arms and disarms for real and compares each write with the dry run's. */
static void expect_same(FakeKernel *k, Controller *c, SessionMeta *m) {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_strv_ Strv lines = {};
        _cleanup_plan_ Plan plan = {};
        size_t n_arm;
        Tracer *t;

        ck_assert_int_eq(controller_rehearse(c, &plan, &n_arm, m, false, &refusal), 0);
        write_log(&lines, &plan);
        strv_done(&k->log);
        ck_assert_int_eq(fake_admit_and_arm(c, &t, m, false, &refusal), 0);
        begin(t, m);
        ck_assert_int_eq(tracer_disarm(t), 0);
        for (int of_graph = 0; of_graph <= 1; of_graph++) {
                _cleanup_free_ char *wanted = join_some(&lines, of_graph),
                                    *got = join_some(&k->log, of_graph);

                ck_assert_str_eq(wanted, got);
        }
}

#define HEAD(name)                                                                                 \
        "#!/bin/sh\n"                                                                              \
        "# What session " name " writes on Linux 6.12.57.  Nothing has been written.\n"
#define NEW_DIR                                                                                    \
        "# The instance is not there yet: what its files say before is what the kernel gives a "   \
        "new one.\n"
#define CD "set -e\ncd /T\n\n"
#define ENTER "\n# It records now.  Enter puts everything back.\nread -r answer || :\nset +e\n\n"

/* check's own message has no room for both. */
static void expect_script(FakeKernel *k, Controller *c, SessionMeta *m, const char *wanted) {
        _cleanup_free_ char *text = script(k, c, m);

        ck_assert_msg(streq(text, wanted), "these are the lines:\n%s", text);
}

/* clang-format off */
/* What begins a session in an instance. */
#define MKDIR(name)                                                                                \
        "mkdir instances/ftraced-" name "\n" \
        "echo 0 > instances/ftraced-" name "/tracing_on                 # was 1, in a new instance\n" \
        "echo mono > instances/ftraced-" name "/trace_clock             # was local, in a new instance\n" \
        "echo 8192 > instances/ftraced-" name "/buffer_size_kb          # was 1408, in a new instance\n" \
        "echo 25 > instances/ftraced-" name "/buffer_percent            # was 50, in a new instance\n"
/* A trigger that the daemon hears. */
#define BELL(n)                                                                                    \
        "mkdir instances/ftraced.bell-x-" n "\n" \
        "echo 16 > instances/ftraced.bell-x-" n "/buffer_size_kb     # was 1408, in a new instance\n" \
        "echo 0 > instances/ftraced.bell-x-" n "/buffer_percent      # was 50, in a new instance\n"

FAKE_TEST(the_top_level_is_programmed_and_put_back_by_these_lines, false) {
        SessionMeta *m = fake_session("x", "udp_*");

        fake_put(k, "buffer_size_kb", "7 (expanded: 1408)\n");
        fake_put(k, "set_graph_notrace", "vfs_write\nkfree\n");
        m->spec.depth = 5;
        expect_script(k, c, m, HEAD("x") CD
"echo 0 > tracing_on                                     # was 1\n"
"echo mono > trace_clock                                 # was local\n"
"echo 8192 > buffer_size_kb                              # was 7 (expanded: 1408)\n"
"echo 25 > buffer_percent                                # was 50\n"
"echo 5 > max_graph_depth                                # was 0\n"
"echo > set_graph_notrace                                # was vfs_write kfree\n"
"echo udp_recvmsg udp_sendmsg > set_graph_function       # was #### all functions enabled ####\n"
"echo function_graph > current_tracer                    # was nop\n"
"echo 1 > tracing_on                                     # was 0\n"
ENTER
"echo 0 > tracing_on\n"
"echo nop > current_tracer\n"
"echo 50 > buffer_percent\n"
"echo 1408 > buffer_size_kb\n"
"echo local > trace_clock\n"
"echo 1 > tracing_on\n"
"echo > set_graph_function\n"
"echo vfs_write kfree > set_graph_notrace\n"
"echo 0 > max_graph_depth\n");
}

FAKE_TEST(an_instance_is_made_beside_those_of_others_by_these_lines, true) {
        SessionMeta *m = fake_session("y", "tcp_sendmsg udp_recvmsg"),
                                                  *other = fake_session("a", "udp_recvmsg");

        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        fake_put_root(k, "proc/700/task/701/comm", "x\n");
        (void) fake_start(c, other, false);
        ck_assert_int_eq(strv_add(&m->spec.pids, "700"), 0);
        ck_assert_int_eq(strv_split(&m->spec.hooked, "kfree_* udp_* vfs_read", " "), 0);
        expect_script(k, c, m, HEAD("y") NEW_DIR CD
MKDIR("y")
"# Lines of available_filter_functions, which hold until a module comes or goes, for 5:\n"
"# kfree_skb, tcp_sendmsg, udp_recvmsg and 2 more\n"
"echo 7 4 2 1 8 > instances/ftraced-y/set_ftrace_filter  # was #### all functions enabled ####, in a new instance\n"
"echo 700 701 > instances/ftraced-y/set_ftrace_pid       # was no pid, in a new instance\n"
"echo 1 > instances/ftraced-y/options/function-fork      # was 0, in a new instance\n"
"exec 3>> set_graph_function # which acts when it is closed\n"
"echo tcp_sendmsg >&3                                    # was udp_recvmsg\n"
"echo $$ >> instances/ftraced-a/set_ftrace_pid           # was no pid\n"
"echo $$ >> instances/ftraced-a/set_ftrace_pid\n"
"exec 3>&-\n"
"echo > instances/ftraced-a/set_ftrace_pid\n"
"echo function_graph > instances/ftraced-y/current_tracer  # was nop\n"
"echo 1 > instances/ftraced-y/tracing_on                 # was 0\n"
ENTER
"echo 0 > instances/ftraced-y/tracing_on\n"
"echo nop > instances/ftraced-y/current_tracer\n"
"rmdir instances/ftraced-y\n"
"exec 3>> set_graph_function # which acts when it is closed\n"
"echo '!tcp_sendmsg' >&3\n"
"echo $$ >> instances/ftraced-a/set_ftrace_pid           # was no pid\n"
"echo $$ >> instances/ftraced-a/set_ftrace_pid\n"
"exec 3>&-\n"
"echo > instances/ftraced-a/set_ftrace_pid\n");
}

FAKE_SESSION_TEST(triggers_are_hung_by_these_lines_and_taken_down_again, true, "x") {
        fake_put_root(k, "proc/sys/kernel/osrelease", "6.12.57\n");
        ck_assert_int_eq(strv_add(&m->spec.triggers, "start function:kfree_skb"), 0);
        ck_assert_int_eq(strv_add(&m->spec.triggers,
                                  "stop event:sched:sched_switch:prev_comm==\"x\""), 0);
        expect_script(k, c, m, HEAD("x") NEW_DIR CD
BELL("0")
"# Lines of available_filter_functions, which hold until a module comes or goes, for 1:\n"
"# kfree_skb\n"
"echo 7 > instances/ftraced.bell-x-0/set_ftrace_filter   # was #### all functions enabled ####, in a new instance\n"
"echo function > instances/ftraced.bell-x-0/current_tracer  # was nop, in a new instance\n"
BELL("1")
"echo 'prev_comm==\"x\"' >> instances/ftraced.bell-x-1/events/sched/sched_switch/filter\n"
"echo 1 > instances/ftraced.bell-x-1/events/sched/sched_switch/enable  # was 0, in a new instance\n"
MKDIR("x")
"echo udp_sendmsg > instances/ftraced-x/set_ftrace_filter  # was #### all functions enabled ####, in a new instance\n"
"echo udp_sendmsg > set_graph_function                   # was #### all functions enabled ####\n"
"echo function_graph > instances/ftraced-x/current_tracer  # was nop\n"
"echo kfree_skb:traceon:1 >> instances/ftraced-x/set_ftrace_filter\n"
"\n"
"# It is armed now: when a trigger fires, tracing_on becomes 1, and what the roots call is hooked if it\n"
"# was not.  Enter puts everything back.\n"
"read -r answer || :\n"
"set +e\n"
"\n"
"echo nop > instances/ftraced-x/current_tracer\n"
"echo '!kfree_skb:traceon:1' >> instances/ftraced-x/set_ftrace_filter\n"
"echo 0 > instances/ftraced.bell-x-1/events/sched/sched_switch/enable\n"
"rmdir instances/ftraced-x\n"
"rmdir instances/ftraced.bell-x-1\n"
"rmdir instances/ftraced.bell-x-0\n"
"echo > set_graph_function\n");
}

FAKE_SESSION_TEST(probes_of_values_are_made_by_these_lines_and_removed_again, true, "x") {
        fake_put_root(k, "proc/sys/kernel/osrelease", "6.12.57\n");
        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        fake_put(k, "README", "\tf[:[<group>/][<event>]] <func-name>[%return] [<args>]\n");
        m->spec.retval = true;
        ck_assert_int_eq(strv_add(&m->spec.retval_functions, "kfree"), 0);
        expect_script(k, c, m, HEAD("x") NEW_DIR CD
"echo 'f1024:ftraced/ftraced_af63f54c86021707_f0 kfree%return ret=$retval' >> dynamic_events\n"
"echo 'f1024:ftraced/ftraced_af63f54c86021707_f1 udp_sendmsg%return ret=$retval' >> dynamic_events\n"
MKDIR("x")
"echo 1 > instances/ftraced-x/events/ftraced/ftraced_af63f54c86021707_f0/enable  # was 0, in a new instance\n"
"echo 1 > instances/ftraced-x/events/ftraced/ftraced_af63f54c86021707_f1/enable  # was 0, in a new instance\n"
"echo udp_sendmsg > set_graph_function                   # was #### all functions enabled ####\n"
"echo function_graph > instances/ftraced-x/current_tracer  # was nop\n"
"echo 1 > instances/ftraced-x/tracing_on                 # was 0\n"
ENTER
"echo 0 > instances/ftraced-x/tracing_on\n"
"echo nop > instances/ftraced-x/current_tracer\n"
"echo 0 > instances/ftraced-x/events/ftraced/ftraced_af63f54c86021707_f1/enable\n"
"echo 0 > instances/ftraced-x/events/ftraced/ftraced_af63f54c86021707_f0/enable\n"
"echo -:ftraced/ftraced_af63f54c86021707_f1 >> dynamic_events\n"
"echo -:ftraced/ftraced_af63f54c86021707_f0 >> dynamic_events\n"
"rmdir instances/ftraced-x\n"
"echo > set_graph_function\n");
}

/* struct sock_common { __be16 skc_dport; u16 skc_family; }; struct sock { u64 flags; struct sock_common __sk_common; };
 * udp_sendmsg(struct sock *sk, u64 len) */
static void put_types(FakeKernel *k) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_buf_ Buf b = BUF_INIT;
        const char *data;
        Types t;

        types_init(&t, 0);
        add_type(&t, "u16", 1, 0, 2, (uint32_t[]){ 16 }, 1); /* 1 */
        add_type(&t, "u64", 1, 0, 8, (uint32_t[]){ 64 }, 1); /* 2 */
        add_type(&t, "__be16", 8, 0, 1, NULL, 0); /* 3 */
        add_type(&t, "sock_common", 4, 2, 4, (uint32_t[]){ name_at(&t, "skc_dport"), 3, 0, name_at(&t, "skc_family"), 1, 16 }, 6); /* 4 */
        add_type(&t, "sock", 4, 2, 16, (uint32_t[]){ name_at(&t, "flags"), 2, 0, name_at(&t, "__sk_common"), 4, 64 }, 6); /* 5 */
        add_type(&t, "", 2, 0, 5, NULL, 0); /* 6 */
        add_type(&t, "", 13, 2, 2, (uint32_t[]){ name_at(&t, "sk"), 6, name_at(&t, "len"), 2 }, 4); /* 7 */
        add_type(&t, "udp_sendmsg", 12, 1, 7, NULL, 0);
        add_part(&b, "vmlinux", &t);
        buf_done(&t.types);
        buf_done(&t.names);
        fake_put_root(k, "sys/kernel/btf/vmlinux", "");
        fd = openat(k->root_fd, "sys/kernel/btf/vmlinux", O_WRONLY | O_CLOEXEC);
        data = (const char *) memchr(b.data, '\n', b.n_data) + 1;
        ck_assert_int_eq(write(fd, data, b.n_data - (size_t) (data - b.data)), (ssize_t) (b.n_data - (size_t) (data - b.data)));
}

FAKE_SESSION_TEST(fields_and_objects_are_recorded_by_these_lines, true, "x") {
        fake_put_root(k, "proc/sys/kernel/osrelease", "6.12.57\n");
        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        fake_put(k, "README", "\tf[:[<group>/][<event>]] <func-name>[%return] [<args>]\n");
        put_types(k);
        m->spec.what = true;
        ck_assert_int_eq(strv_add(&m->spec.args_functions, "udp_sendmsg(sk.flags, n=len:x)"), 0);
        expect_script(k, c, m, HEAD("x") NEW_DIR CD
"echo 'f:ftraced/ftraced_af63f54c86021707_e0 udp_sendmsg x_n=$arg2:x64 at_0=$arg1:x64 u_flags=+0($arg1):u64 fam_family=+10($arg1):u16 be_dport=+8($arg1):u16' >> dynamic_events\n"
MKDIR("x")
"echo 1 > instances/ftraced-x/events/ftraced/ftraced_af63f54c86021707_e0/enable  # was 0, in a new instance\n"
"echo udp_sendmsg > set_graph_function                   # was #### all functions enabled ####\n"
"echo function_graph > instances/ftraced-x/current_tracer  # was nop\n"
"echo 1 > instances/ftraced-x/tracing_on                 # was 0\n"
ENTER
"echo 0 > instances/ftraced-x/tracing_on\n"
"echo nop > instances/ftraced-x/current_tracer\n"
"echo 0 > instances/ftraced-x/events/ftraced/ftraced_af63f54c86021707_e0/enable\n"
"echo -:ftraced/ftraced_af63f54c86021707_e0 >> dynamic_events\n"
"rmdir instances/ftraced-x\n"
"echo > set_graph_function\n");
}

FAKE_TEST(wrong_fields_are_refused_with_those_that_there_are, true) {
        static const struct {
                const char *choice, *why;
        } cases[] = {
                { "udp_sendmsg(sk.flag)", "struct sock has no member \"flag\"; it has flags, __sk_common" },
                { "udp_sendmsg(sk.__sk_common)", "\"__sk_common\" is no number and no text" },
                { "udp_sendmsg(len, len)", "two fields are called len" },
                { "udp_sendmsg(len:path)", "\"len\" cannot be read as path" },
                { "udp_sendmsg(len:float)", "\"float\" is no type" },
                { "kfree(x)", "do not have this function" },
        };

        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        for (size_t i = 0; i <= ELEMENTSOF(cases); i++) {
                SessionMeta *m = fake_session("x", "udp_sendmsg");
                size_t n = i > 0 ? i - 1 : 0;

                if (i == 1)
                        put_types(k);
                ck_assert_int_eq(strv_add(&m->spec.args_functions, cases[n].choice), 0);
                if (i == 0)
                        fake_refuse(c, m, false, REFUSAL_NOT_SUPPORTED, "/sys/kernel/btf/vmlinux is missing");
                else
                        fake_refuse(c, m, false, REFUSAL_INVALID_SPEC, cases[n].why);
        }
}

FAKE_SESSION_TEST(a_stopwatch_is_made_by_these_lines_and_removed_again, true, "x") {
        fake_put_root(k, "proc/sys/kernel/osrelease", "6.12.57\n");
        fake_put(k, "dynamic_events", "");
        fake_put(k, "kprobe_events", "");
        fake_put(k, "synthetic_events", "");
        fake_put(k, "events/sched/sched_switch/hist", "");
        ck_assert_int_eq(strv_add(&m->spec.triggers, "stop slower:5ms"), 0);
        expect_script(k, c, m, HEAD("x") NEW_DIR CD
"echo 'p:ftraced/ftraced_af63f54c86021707_0_in0 udp_sendmsg' >> dynamic_events\n"
"echo 'r512:ftraced/ftraced_af63f54c86021707_0_out0 udp_sendmsg' >> dynamic_events\n"
"echo 's:ftraced_af63f54c86021707_0 u64 lat' >> dynamic_events\n"
BELL("0")
"echo 'lat >= 5000' >> instances/ftraced.bell-x-0/events/synthetic/ftraced_af63f54c86021707_0/filter\n"
"echo 1 > instances/ftraced.bell-x-0/events/synthetic/ftraced_af63f54c86021707_0/enable  # was 0, in a new instance\n"
"echo 'hist:keys=common_pid:ts0=common_timestamp.usecs:size=8192' >> instances/ftraced.bell-x-0/events/ftraced/ftraced_af63f54c86021707_0_in0/trigger\n"
"echo 'hist:keys=common_pid:lat0=common_timestamp.usecs-$ts0:onmatch(ftraced.ftraced_af63f54c86021707_0_in0).trace(ftraced_af63f54c86021707_0,$lat0):size=8192' >> instances/ftraced.bell-x-0/events/ftraced/ftraced_af63f54c86021707_0_out0/trigger\n"
MKDIR("x")
"echo udp_sendmsg > set_graph_function                   # was #### all functions enabled ####\n"
"echo function_graph > instances/ftraced-x/current_tracer  # was nop\n"
"echo 1 > instances/ftraced-x/tracing_on                 # was 0\n"
"echo 'traceoff:1 if lat >= 5000' >> instances/ftraced-x/events/synthetic/ftraced_af63f54c86021707_0/trigger\n"
ENTER
"echo 0 > instances/ftraced-x/tracing_on\n"
"echo nop > instances/ftraced-x/current_tracer\n"
"echo '!traceoff:1 if lat >= 5000' >> instances/ftraced-x/events/synthetic/ftraced_af63f54c86021707_0/trigger\n"
"echo '!hist:keys=common_pid:lat0=common_timestamp.usecs-$ts0:onmatch(ftraced.ftraced_af63f54c86021707_0_in0).trace(ftraced_af63f54c86021707_0,$lat0):size=8192' >> instances/ftraced.bell-x-0/events/ftraced/ftraced_af63f54c86021707_0_out0/trigger\n"
"echo '!hist:keys=common_pid:ts0=common_timestamp.usecs:size=8192' >> instances/ftraced.bell-x-0/events/ftraced/ftraced_af63f54c86021707_0_in0/trigger\n"
"echo 0 > instances/ftraced.bell-x-0/events/synthetic/ftraced_af63f54c86021707_0/enable\n"
"echo -:ftraced_af63f54c86021707_0 >> dynamic_events\n"
"echo -:ftraced/ftraced_af63f54c86021707_0_out0 >> dynamic_events\n"
"echo -:ftraced/ftraced_af63f54c86021707_0_in0 >> dynamic_events\n"
"rmdir instances/ftraced-x\n"
"rmdir instances/ftraced.bell-x-0\n"
"echo > set_graph_function\n");
}
/* clang-format on */

/* With all that a session overrides set otherwise. */
static void compare_all(bool instances, bool shares_options) {
        _cleanup_fake_kernel_ FakeKernel *k = fake_kernel_new(instances);
        _cleanup_(controller_freep) Controller *c = fake_controller(k);
        _cleanup_(session_meta_freep) SessionMeta *m = fake_meta("x", "udp_*"),
                                                  *n = fake_meta("y", "tcp_* udp_recvmsg"),
                                                  *o = fake_meta("z", "vfs_read"),
                                                  *u = fake_meta("u", "vfs_write"),
                                                  *v = fake_meta("v", "vfs_write");
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        k->shares_options = shares_options;
        fake_put_root(k, "proc/sys/kernel/osrelease", shares_options ? "6.12.57\n" : "7.2.0\n");
        k->waits_for_cpus = shares_options; /* as 6.12 does */
        fake_put(k, "set_graph_function", "tcp_sendmsg\ntcp_recvmsg\n");
        fake_put(k, "set_ftrace_filter", "vfs_read\n");
        fake_put(k, "tracing_thresh", "100\n");
        fake_put(k, "options/sleep-time", "0\n");
        fake_put_root(k, "proc/700/task/700/comm", "x\n");
        (void) controller_has_instances(c);
        ck_assert_int_eq(strv_add(&n->spec.pids, "700"), 0);
        ck_assert_int_eq(strv_add(&o->spec.hooked, "kfree"), 0);
        expect_same(k, c, m);
        expect_same(k, c, n);
        ck_assert_int_eq(strv_add(&u->spec.triggers, "start function:kfree"), 0);
        ck_assert_int_eq(strv_add(&u->spec.triggers, "stop event:sched:sched_switch"), 0);
        ck_assert_int_eq(strv_add(&v->spec.triggers, "stop event:sched:sched_switch:a==b"), 0);
        ck_assert_int_eq(strv_add(&v->spec.triggers, "stop function:udp_sendmsg"), 0);
        ck_assert_int_eq(strv_add(&v->spec.triggers, "stop count:5"), 0);
        expect_same(k, c, u);
        expect_same(k, c, v);
        if (!instances)
                return;
        ck_assert_int_eq(fake_admit_and_arm(c, &t, m, false, &refusal), 0);
        expect_same(k, c, n);
        expect_same(k, c, o);
}

TEST(what_is_printed_is_what_is_written) {
        compare_all(false, false);
        compare_all(true, false);
        compare_all(true, true);
}

TEST(whether_there_are_instances_is_told_by_the_release_without_making_one) {
        static const struct {
                const char *release;
                bool has;
        } releases[] = { { "6.1.0-41-amd64\n", false },
                         { "6.10.9\n", false },
                         { "6.11.0\n", true },
                         { "7.2.0-rc1\n", true },
                         { "unheard of\n", false } };

        for (size_t i = 0; i < ELEMENTSOF(releases); i++) {
                FAKE_CASE(k, c, true);
                SessionMeta *m = fake_session("x", "udp_sendmsg");
                _cleanup_free_ char *text = NULL;

                fake_put_root(k, "proc/sys/kernel/osrelease", releases[i].release);
                text = script(k, c, m);
                ck_assert_int_eq(strstr(text, "mkdir instances/ftraced-x\n") != NULL,
                                 releases[i].has);
        }
}

FAKE_TEST(what_arming_refuses_a_dry_run_refuses, true) {
        SessionMeta *m = fake_session("x", "udp_sendmesg"), *n = fake_session("x", "udp_sendmsg");

        refuse(c, m, REFUSAL_FUNCTION_NOT_FOUND, "udp_sendmesg");
        fake_put(k, "set_graph_function", "kfree\n");
        fake_put(k, "current_tracer", "function_graph\n");
        refuse(c, n, REFUSAL_BUSY, "somebody else");
}

/* As on Linux 5.10: who has no CAP_DAC_OVERRIDE cannot write them.  Tests may have it. */
static void make_read_only(FakeKernel *k, const char *path) {
        ck_assert_int_eq(fchmodat(k->tracefs_fd, path, 0444, 0), 0);
}

TEST(how_full_a_buffer_wakes_is_not_set_where_nobody_may_set_it) {
        for (int has_instances = 0; has_instances <= 1; has_instances++) {
                FAKE_CASE(k, c, has_instances);
                SessionMeta *m = fake_session("x", "udp_sendmsg");
                _cleanup_free_ char *text = NULL;

                make_read_only(k, "buffer_percent");
                text = script(k, c, m);
                ck_assert(strstr(text, "buffer_size_kb"));
                ck_assert_msg(!strstr(text, "buffer_percent"), "it is:\n%s", text);
        }
}

FAKE_SESSION_TEST(sizes_that_could_not_be_put_back_are_a_refusal_with_a_way_out, false, "x") {
        fake_put_root(k, "proc/sys/kernel/osrelease", "5.10.0-46-amd64\n");
        fake_put(k, "buffer_size_kb", "X\n");
        make_read_only(k, "per_cpu/cpu0/buffer_size_kb");
        refuse(c, m, REFUSAL_NOT_SUPPORTED, "> buffer_size_kb");
}

FAKE_SESSION_TEST(steps_are_json_with_what_they_replace, true, "x") {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_plan_ Plan plan = {};
        json_auto_t *steps = NULL;
        const char *operation, *file, *text, *was;
        size_t n_arm;
        int is_new;

        (void) controller_has_instances(c);
        ck_assert_int_eq(controller_rehearse(c, &plan, &n_arm, m, false, &refusal), 0);
        steps = script_steps(&plan, 0, n_arm);
        ck_assert_uint_eq(json_array_size(steps), n_arm);
        ck_assert_int_eq(json_unpack(json_array_get(steps, 2), "{ss ss ss ss sb !}", "op",
                                     &operation, "file", &file, "text", &text, "was", &was, "new",
                                     &is_new),
                         0);
        ck_assert_str_eq(operation, "write");
        ck_assert_str_eq(file, "instances/ftraced-x/trace_clock");
        ck_assert_str_eq(text, "mono");
        ck_assert_str_eq(was, "local");
        ck_assert_int_eq(is_new, 1);
}

/* A task that compares names: until it is told, or for a while. */
typedef struct Comparison {
        sem_t has_left, may_return;
        bool is_told, is_over;
} Comparison;

static void compare_for_a_while(void *userdata) {
        Comparison *c = userdata;

        background_leave();
        (void) sem_post(&c->has_left);
        if (c->is_told)
                while (sem_wait(&c->may_return) < 0)
                        ;
        else
                (void) usleep(100000);
        background_return();
        c->is_over = true;
}

TEST(the_list_of_functions_stays_while_a_task_compares_names_with_it) {
        for (int has_changed = 0; has_changed < 2; has_changed++) {
                FAKE_CASE(k, c, false);
                _cleanup_lean_cache_ LeanCache seen = {};
                _cleanup_strv_ Strv roots = {};
                Comparison comparison = { .is_told = !has_changed };
                sd_event *event = NULL;
                Background *a = NULL;
                int fd;

                ck_assert_int_ge(sd_event_new(&event), 0);
                ck_assert_int_eq(background_new(&a, event), 0);
                background_open(a);
                controller_set_aside(c, a);
                fd = controller_list_functions(c, NULL);
                ck_assert_int_ge(fd, 0);
                safe_close(fd);
                ck_assert_int_ge(strv_add(&roots, "udp_sendmsg"), 0);
                ck_assert_int_eq(sem_init(&comparison.has_left, 0, 0), 0);
                ck_assert_int_eq(sem_init(&comparison.may_return, 0, 0), 0);
                background_run(a, compare_for_a_while, &comparison);
                while (sem_wait(&comparison.has_left) < 0)
                        ;
                if (has_changed)
                        fake_put_root(k, "proc/modules", "veth 1 0 - Live 0x0\n");
                (void) controller_learn(c, &roots, "6.13.0", &seen);
                ck_assert_int_eq(comparison.is_over, 0); /* for that the list of before will do */
                (void) controller_load_functions(c);
                ck_assert_int_eq(comparison.is_over, has_changed);
                (void) sem_post(&comparison.may_return);
                controller_set_aside(c, NULL);
                a = background_free(a);
                (void) sd_event_unref(event);
        }
}
