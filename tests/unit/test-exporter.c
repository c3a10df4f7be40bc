/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "export/exporter.h"
#include "step-builder.h"
#include "unit.h"

static const Function hostile = {
        .label = "</script>\",;\\ [m\n]" SLACK, .n_label = 18, .n_name = 13, .root = -1
};
static const ExportInfo info = {
        .title = "a \"title\" </title>", .recording = "a-1", .host = "h\"1", .kernel = "6.12"
};

/* A text that the caller frees; perhaps with NULs in it, but ended by one. */
static char *export(const Exporter *exporter, const Step *steps, size_t n) {
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_(export_freep) Export *e = MADE(Export, export_new, exporter, &info, &out);
        char *text;

        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(export_step(e, &steps[i]), 0);
        ck_assert_int_eq(export_finish(e), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        return text;
}

TEST(every_format_takes_an_empty_recording_and_hostile_names) {
        const Step steps[] = { step_enter(&hostile, 0), step_leaf(&hostile, 1, 30),
                               step_of(STEP_LOST, NULL, 0), step_leave(&hostile, 0, 100) };

        for (const Exporter *const *p = exporters; *p; p++) {
                _cleanup_free_ char *none = export(*p, NULL, 0);
                _cleanup_free_ char *some = export(*p, steps, ELEMENTSOF(steps));

                ck_assert_ptr_eq(exporter_find((*p)->name), *p);
                ck_assert_ptr_nonnull(none);
                if (startswith(some, "<?xml") || startswith(some, "<!DOC") || some[0] == '{')
                        ck_assert_ptr_null(strstr(some, "</script>\""));
        }
        ck_assert_ptr_null(exporter_find("no-such-format"));
}

TEST(csv_has_a_row_for_each_call_with_its_caller) {
        _cleanup_free_ Object *o = object_made("dport=53, file=/a");
        Step steps[] = { step_enter(&step_root, 0), step_leaf(&step_module, 1, 30),
                         step_leave(&step_root, 0, 100) };
        _cleanup_free_ char *text = NULL, *json = NULL;

        steps[1].object = o;
        text = export(&exporter_csv, steps, ELEMENTSOF(steps));

        ck_assert_str_eq(text,
                         "id,parent,start_ns,duration_ns,self_ns,blocked_ns,irq_ns,cpu,pid,task,"
                         "tgid,user,unit,container,depth,function,module,root,cut,retval,what,callers,stack,not_hooked_below\n"
                         "2,1,1000000000,30,30,0,0,0,17,client,,,,,1,leaf,mod,root,0,,\"dport=53, file=/a\",,,0\n"
                         "1,,1000000000,100,70,0,0,0,17,client,,,,,0,root,,root,0,,,,,0\n");
        json = export(&exporter_ndjson, steps, ELEMENTSOF(steps));
        ck_assert(strstr(json, "\"retval\":null,\"what\":\"dport=53, file=/a\",\"callers\":null,\"stack\":null,\"not_hooked"));
        ck_assert(strstr(json, "\"retval\":null,\"what\":null,\"callers\":null,\"stack\":null,\"not_hooked"));
}

static size_t n_of(const char *text, const char *word) {
        size_t n = 0;

        for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
                n++;
        return n;
}

/* A name is escaped once, and so is that of a task as long as it runs. */
TEST(rows_have_the_names_of_their_own_functions_tasks_and_roots) {
        static const Function other = {
                .label = "a\",\\b" SLACK, .n_label = 5, .n_name = 5, .root = -1
        };
        Step steps[] = { step_enter(&step_root, 0),      step_leaf(&other, 1, 30),
                         step_leaf(&step_module, 1, 30), step_leaf(&other, 1, 30),
                         step_leave(&step_root, 0, 100), step_leaf(&other, 0, 7),
                         step_leaf(&other, 0, 7),        step_leaf(&step_root, 0, 7) };
        _cleanup_free_ char *csv = NULL, *json = NULL, *lines = NULL, *tsv = NULL;

        steps[5].pid = 18;
        steps[5].comm = "<&\xff\",=\"\x1b";
        steps[6].pid = 19;
        steps[6].comm = "client";
        steps[7].pid = 20;
        steps[7].comm = "=1+1";
        steps[7].has_retval = true;
        steps[7].retval = (uint64_t) INT64_MIN;
        csv = export(&exporter_csv, steps, ELEMENTSOF(steps));
        ck_assert_str_eq(strchr(csv, '\n') + 1,
                         "2,1,1000000000,30,30,0,0,0,17,client,,,,,1,\"a\"\",\\b\",,root,0,,,,,0\n"
                         "3,1,1000000000,30,30,0,0,0,17,client,,,,,1,leaf,mod,root,0,,,,,0\n"
                         "4,1,1000000000,30,30,0,0,0,17,client,,,,,1,\"a\"\",\\b\",,root,0,,,,,0\n"
                         "1,,1000000000,100,10,0,0,0,17,client,,,,,0,root,,root,0,,,,,0\n"
                         "5,,1000000000,7,7,0,0,0,18,\"<&\xef\xbf\xbd\"\",=\"\"\xef\xbf\xbd\",,,,,0,"
                         "\"a\"\",\\b\",,\"a\"\",\\b\",0,,,,,0\n"
                         "6,,1000000000,7,7,0,0,0,19,client,,,,,0,"
                         "\"a\"\",\\b\",,\"a\"\",\\b\",0,,,,,0\n"
                         "7,,1000000000,7,7,0,0,0,20,\"'=1+1\",,,,,0,root,,root,0,"
                         "-9223372036854775808,,,,0\n");
        json = export(&exporter_json, steps, ELEMENTSOF(steps));
        lines = export(&exporter_ndjson, steps, ELEMENTSOF(steps));
        for (int i = 0; i < 2; i++) {
                const char *text = i == 0 ? json : lines;

                ck_assert_uint_eq(n_of(text, "\"function\":\"a\\\",\\\\b\",\"module\":null,"), 4);
                ck_assert_uint_eq(n_of(text, "\"root\":\"a\\\",\\\\b\""), 2);
                ck_assert_uint_eq(n_of(text, "\"root\":\"root\""), 5);
                ck_assert_uint_eq(n_of(text, "\"module\":\"mod\""), 1);
                ck_assert_uint_eq(n_of(text, "\"task\":\"client\""), 5);
                ck_assert_ptr_nonnull(strstr(text,
                                             "\"pid\":18,\"task\":\"\\u003c\\u0026\xef\xbf\xbd\\\","
                                             "=\\\"\\u001b\",\"tgid\":null,\"user\":null,\"unit\":null,"
                                             "\"container\":null,\"depth\":0,"));
        }
        ck_assert_ptr_nonnull(strstr(json, "\"retval\":\"-9223372036854775808\","));
        ck_assert_uint_eq(n_of(lines, "{\"recording\":\"a-1\",\"host\":\"h\\\"1\",\"id\":"), 7);
        tsv = export(&exporter_tsv, steps, ELEMENTSOF(steps));
        ck_assert_uint_eq(n_of(tsv, "\ta\",\\\\b\t"), 6);
        ck_assert_uint_eq(n_of(tsv, "\t\\x3D1+1\t"), 1);
        ck_assert_uint_eq(n_of(tsv, "\tclient\t"), 5);
}

TEST(rows_of_roots_tell_who_called_them) {
        static char above[] = "callers: sys_a < b", stack[] = "stack: main [a\"b] < send";
        static const Callers callers = { .root = &step_root, .text = above },
                             program = { .root = &step_root, .text = stack, .is_program = true };
        const Step steps[] = { step_enter(&step_root, 0),
                               { .kind = STEP_OTHER, .pid = 17, .callers = &program },
                               { .kind = STEP_OTHER, .pid = 17, .callers = &callers },
                               step_leaf(&step_module, 1, 30),
                               step_leave(&step_root, 0, 100),
                               step_enter(&step_root, 0),
                               { .kind = STEP_OTHER, .pid = 17, .callers = &program },
                               step_leave(&step_root, 0, 10) };
        _cleanup_free_ char *csv = export(&exporter_csv, steps, ELEMENTSOF(steps));
        _cleanup_free_ char *json = export(&exporter_json, steps, ELEMENTSOF(steps));
        _cleanup_free_ char *tsv = export(&exporter_tsv, steps, ELEMENTSOF(steps));

        ck_assert_ptr_nonnull(strstr(csv, ",leaf,mod,root,0,,,,,0\n"));
        ck_assert_uint_eq(n_of(csv, ",root,,root,0,,,sys_a < b,\"main [a\"\"b] < send\",0\n"), 1);
        ck_assert_uint_eq(n_of(csv, ",root,,root,0,,,,\"main [a\"\"b] < send\",0\n"), 1);
        ck_assert_uint_eq(n_of(json, "\"callers\":null,\"stack\":null,"), 1);
        ck_assert_uint_eq(n_of(json, "\"callers\":\"sys_a \\u003c b\",\"stack\":\"main [a\\\"b] \\u003c send\","), 1);
        ck_assert_uint_eq(n_of(tsv, "\tsys_a < b\tmain [a\"b] < send\t"), 1);
        ck_assert_uint_eq(n_of(tsv, "\t\tmain [a\"b] < send\t"), 1);
}

TEST(a_flame_graph_gives_callers_no_time_of_their_own) {
        static const Function send = { .label = "send [a]" SLACK,
                                       .n_label = 8,
                                       .n_name = 4,
                                       .root = -1,
                                       .kind = FUNCTION_OF_PROGRAM };
        static char text[] = "stack: send [a]";
        static const Callers program = {
                .root = &step_root, .text = text, .is_program = true, .n = 1, .functions = { &send }
        };
        const Step steps[] = { step_enter(&step_root, 0),
                               { .kind = STEP_OTHER, .pid = 17, .callers = &program },
                               step_leave(&step_root, 0, 100) };
        _cleanup_free_ char *flame = export(&exporter_flame, steps, ELEMENTSOF(steps));

        ck_assert_ptr_nonnull(strstr(flame, ">send [a]\ntotal 0.100 us (100.00 %)</title>"));
        ck_assert_ptr_nonnull(strstr(flame, ">root\ntotal 0.100 us (100.00 %)\nself 0.100 us"));
}

TEST(tsv_has_the_names_of_columns_once_and_rows_by_tree) {
        static const Function odd = {
                .label = "a\tb\\" SLACK, .n_label = 4, .n_name = 4, .root = -1
        };
        const Step steps[] = { step_enter(&step_root, 0), step_leaf(&odd, 1, 30),
                               step_leave(&step_root, 0, 100) };
        _cleanup_free_ char *none = export(&exporter_tsv, NULL, 0);
        _cleanup_free_ char *text = export(&exporter_tsv, steps, ELEMENTSOF(steps));
        size_t n_tabs = 0;

        ck_assert_str_eq(strchr(none, '\n'), "\n");
        ck_assert_int_eq(strncmp(text, none, strlen(none)), 0);
        ck_assert_int_eq(strncmp(text, "host\tmachine_id\t", 16), 0);
        for (const char *p = none; *p; p++)
                n_tabs += *p == '\t';
        for (const char *line = text + strlen(none); *line; line = strchr(line, '\n') + 1) {
                size_t n = 0;

                for (const char *p = line; *p != '\n'; p++)
                        n += *p == '\t';
                ck_assert_uint_eq(n, n_tabs);
        }
        ck_assert_ptr_nonnull(strstr(text, "h\"1\t\t\ta-1\t6.12\t1\t1\t2\t\\N\t1\t"));
        ck_assert_ptr_nonnull(strstr(text, "h\"1\t\t\ta-1\t6.12\t1\t2\t2\t1\t2\t"));
        ck_assert_ptr_nonnull(strstr(text, "\ta\\tb\\\\\troot\t\troot\t0\t\\N\t\t\t\t\t\t1\t0\n"));
}

TEST(times_beyond_what_doubles_hold_are_exact) {
        Step leaf = step_leaf(&step_root, 0, 7);
        _cleanup_free_ char *json = NULL, *lines = NULL;

        leaf.timestamp_ns = (UINT64_C(1) << 60) + 1;
        leaf.has_retval = true;
        leaf.retval = (uint64_t) -11;
        json = export(&exporter_json, &leaf, 1);
        ck_assert_ptr_nonnull(strstr(json, "\"begin_ns\":\"1152921504606846977\""));
        ck_assert_ptr_nonnull(strstr(json, "\"start_ns\":0,"));
        ck_assert_ptr_nonnull(strstr(json, "\"retval\":\"-11\""));
        lines = export(&exporter_ndjson, &leaf, 1);
        ck_assert_ptr_nonnull(strstr(lines, "\"start_ns\":1152921504606846977,"));
        ck_assert_ptr_nonnull(strstr(lines, "\"retval\":-11,\"what\":null,\"callers\":null,\"stack\":null,\"not_hooked_below\":0}\n"));
}

TEST(the_page_begins_with_the_sentence_that_it_is_given) {
        const Step steps[] = { step_enter(&step_root, 0), step_leave(&step_root, 0, 100) };
        ExportInfo with = info;
        _cleanup_free_ char *text = NULL, *none = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_(export_freep) Export *e = NULL;

        with.sentence = "root: <b> is slow";
        ck_assert_int_eq(export_new(&e, &exporter_html, &with, &out), 0);
        for (size_t i = 0; i < ELEMENTSOF(steps); i++)
                ck_assert_int_eq(export_step(e, &steps[i]), 0);
        ck_assert_int_eq(export_finish(e), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        ck_assert_ptr_nonnull(strstr(text, "<main>\n<p id=\"cause\">root: &lt;b&gt; is slow</p>"));
        none = export(&exporter_html, steps, ELEMENTSOF(steps));
        ck_assert_ptr_null(strstr(none, "id=\"cause\""));
}

#define TRACE_A "0af7651916cd43dd8448eb211c80319c"

static Step step_says(const char *text, uint64_t at_ns) {
        Step s = step_of(STEP_OTHER, NULL, 0);

        s.text = text;
        s.timestamp_ns = at_ns;
        return s;
}

static Step at(Step s, uint64_t at_ns) {
        s.timestamp_ns = at_ns;
        return s;
}

TEST(a_row_has_the_request_of_its_tree) {
        const Step steps[] = {
                at(step_leaf(&step_root, 0, 5), 50),
                step_says("traceparent=00-" TRACE_A "-b7ad6b7169203331-01", 100),
                at(step_enter(&step_root, 0), 200),
                at(step_leaf(&step_child, 1, 30), 210),
                at(step_leave(&step_root, 0, 80), 290),
                step_says("traceparent=-", 400),
                at(step_leaf(&step_root, 0, 5), 500),
        };
        _cleanup_free_ char *text = export(&exporter_tsv, steps, ELEMENTSOF(steps));

        ck_assert_uint_eq(n_of(text, "\n"), 5);
        ck_assert_uint_eq(n_of(text, "\t" TRACE_A "\t"), 2);
}

TEST(another_recording_knows_nothing_of_the_first_ones_requests) {
        const Step says = step_says("traceparent=00-" TRACE_A "-b7ad6b7169203331-01", 100);
        const Step leaf = at(step_leaf(&step_root, 0, 5), 200);
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_(export_freep) Export *e = MADE(Export, export_new, &exporter_tsv, &info, &out);
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(export_step(e, &says), 0);
        ck_assert_int_eq(export_step(e, &leaf), 0);
        ck_assert_int_eq(export_next(e, &info), 0);
        ck_assert_int_eq(export_step(e, &leaf), 0);
        ck_assert_int_eq(export_finish(e), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        ck_assert_uint_eq(n_of(text, "\n"), 3);
        ck_assert_uint_eq(n_of(text, TRACE_A), 1);
}
