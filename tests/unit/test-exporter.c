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
        _cleanup_(export_freep) Export *e = NULL;
        char *text;

        ck_assert_int_eq(export_new(&e, exporter, &info, &out), 0);
        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(export_step(e, &steps[i]), 0);
        ck_assert_int_eq(export_finish(e), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        return text;
}

START_TEST(every_format_takes_an_empty_recording_and_hostile_names)
        {
                const Step steps[] = { step_enter(&hostile, 0), step_leaf(&hostile, 1, 30),
                                       step_of(STEP_LOST, NULL, 0), step_leave(&hostile, 0, 100) };

                for (const Exporter *const *p = exporters; *p; p++) {
                        _cleanup_free_ char *none = export(*p, NULL, 0);
                        _cleanup_free_ char *some = export(*p, steps, ELEMENTSOF(steps));

                        ck_assert_ptr_eq(exporter_find((*p)->name), *p);
                        ck_assert_ptr_nonnull(none);
                        if (startswith(some, "<?xml") || startswith(some, "<!DOC") ||
                            some[0] == '{')
                                ck_assert_ptr_null(strstr(some, "</script>\""));
                }
                ck_assert_ptr_null(exporter_find("no-such-format"));
        }
END_TEST

START_TEST(csv_has_a_row_for_each_call_with_its_caller)
        {
                const Step steps[] = { step_enter(&step_root, 0), step_leaf(&step_module, 1, 30),
                                       step_leave(&step_root, 0, 100) };
                _cleanup_free_ char *text = export(&exporter_csv, steps, ELEMENTSOF(steps));

                ck_assert_str_eq(
                        text,
                        "id,parent,start_ns,duration_ns,self_ns,blocked_ns,irq_ns,cpu,pid,task,"
                        "depth,function,module,root,cut,retval\n"
                        "2,1,1000000000,30,30,0,0,0,17,client,1,leaf,mod,root,0,\n"
                        "1,,1000000000,100,70,0,0,0,17,client,0,root,,root,0,\n");
        }
END_TEST

START_TEST(tsv_has_the_names_of_columns_once_and_rows_by_tree)
        {
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
                ck_assert_ptr_nonnull(strstr(text, "\ta\\tb\\\\\troot\t\troot\t0\t\\N\t\t1\n"));
        }
END_TEST

START_TEST(times_beyond_what_doubles_hold_are_exact)
        {
                Step leaf = step_leaf(&step_root, 0, 7);
                _cleanup_free_ char *json = NULL, *lines = NULL, *chrome = NULL;

                leaf.timestamp_ns = (UINT64_C(1) << 60) + 1;
                leaf.has_retval = true;
                leaf.retval = (uint64_t) -11;
                json = export(&exporter_json, &leaf, 1);
                ck_assert_ptr_nonnull(strstr(json, "\"begin_ns\":\"1152921504606846977\""));
                ck_assert_ptr_nonnull(strstr(json, "\"start_ns\":0,"));
                ck_assert_ptr_nonnull(strstr(json, "\"retval\":\"-11\""));
                lines = export(&exporter_ndjson, &leaf, 1);
                ck_assert_ptr_nonnull(strstr(lines, "\"start_ns\":1152921504606846977,"));
                ck_assert_ptr_nonnull(strstr(lines, "\"retval\":-11}\n"));
                chrome = export(&exporter_chrome, &leaf, 1);
                ck_assert_ptr_nonnull(strstr(chrome, "\"ts\":0.007}"));
        }
END_TEST

START_TEST(a_profile_of_speedscope_is_a_task)
        {
                Step steps[] = { step_enter(&step_root, 0), step_leaf(&step_child, 0, 5),
                                 step_leave(&step_root, 0, 100) };
                _cleanup_free_ char *text = NULL;

                steps[1].pid = 18;
                steps[1].comm = "other";
                text = export(&exporter_speedscope, steps, ELEMENTSOF(steps));
                ck_assert_ptr_nonnull(
                        strstr(text, "\"name\":\"client 17\",\"unit\":\"nanoseconds\""));
                ck_assert_ptr_nonnull(strstr(text, "{\"type\":\"O\",\"frame\":0,\"at\":0},\n"
                                                   "{\"type\":\"C\",\"frame\":0,\"at\":5}"));
                ck_assert_ptr_nonnull(strstr(text, "\"name\":\"other 18\""));
                ck_assert_ptr_nonnull(strstr(text, "\"activeProfileIndex\":1"));
        }
END_TEST

START_TEST(the_page_begins_with_the_sentence_that_it_is_given)
        {
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
                ck_assert_ptr_nonnull(
                        strstr(text, "<main>\n<p id=\"cause\">root: &lt;b&gt; is slow</p>"));
                none = export(&exporter_html, steps, ELEMENTSOF(steps));
                ck_assert_ptr_null(strstr(none, "id=\"cause\""));
        }
END_TEST

UNIT_MAIN("exporter", every_format_takes_an_empty_recording_and_hostile_names,
          csv_has_a_row_for_each_call_with_its_caller,
          tsv_has_the_names_of_columns_once_and_rows_by_tree,
          times_beyond_what_doubles_hold_are_exact, a_profile_of_speedscope_is_a_task,
          the_page_begins_with_the_sentence_that_it_is_given)
