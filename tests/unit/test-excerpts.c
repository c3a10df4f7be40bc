/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/stat.h>

#include "encode/excerpts.h"
#include "scratch.h"
#include "unit.h"

#define MAKEFILE "# comment\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n"

typedef struct Asked {
        const char *file;
        uint32_t line;
        const char *defined;
} Asked;

static Excerpts *source(const Scratch *s) {
        Excerpts *e = NULL;

        scratch_put(s, "Makefile", MAKEFILE);
        ck_assert_int_eq(excerpts_new(&e, s->path), 0);
        return e;
}

/* The JSON, which the caller frees. */
static char *write_asked(Excerpts *e, const Asked *asked, size_t n, ExcerptsCount *ret) {
        _cleanup_buf_ Buf out = BUF_INIT;
        ExcerptsCount count;
        char *text;
        size_t file;

        for (size_t i = 0; i < n; i++)
                ck_assert_int_eq(excerpts_add(e, asked[i].file, asked[i].line, asked[i].defined,
                                              asked[i].defined ? strlen(asked[i].defined) : 0,
                                              &file),
                                 0);
        ck_assert_int_eq(excerpts_write(e, &out, ret ?: &count), 0);
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        return text;
}
#define WRITE(e, ret, ...)                                                                         \
        write_asked((e), (const Asked[]){ __VA_ARGS__ },                                           \
                    sizeof((const Asked[]){ __VA_ARGS__ }) / sizeof(Asked), (ret))

/* "line 1\nline 2\n..." */
static void put_lines(const Scratch *s, const char *path, unsigned n) {
        _cleanup_buf_ Buf text = BUF_INIT;
        _cleanup_free_ char *all = NULL;

        for (unsigned i = 1; i <= n; i++)
                buf_printf(&text, "line %u\n", i);
        ck_assert_int_eq(buf_take_string(&text, &all), 0);
        scratch_put(s, path, all);
}

SCRATCH_TEST(lines_around_what_was_asked_for_are_there_once_in_each_file) {
        _cleanup_(excerpts_freep) Excerpts *e = source(s);
        _cleanup_free_ char *text = NULL;
        ExcerptsCount n;

        put_lines(s, "net/a.c", 100);
        put_lines(s, "b.h", 3);
        text = WRITE(e, &n, { "net/a.c", 50 }, { "b.h", 2 }, { "net/a.c", 5 }, { "net/a.c", 50 },
                     { "net/a.c", 13 });
        ck_assert_str_eq(
                text,
                "[{\"name\":\"net/a.c\",\"n\":100,\"parts\":[1,\"line 1\\nline 2\\nline 3\\nline 4"
                "\\nline 5\\nline 6\\nline 7\\nline 8\\nline 9\\nline 10\\nline 11\\nline "
                "12\\nline 13"
                "\\nline 14\\nline 15\\nline 16\\n\","
                "46,\"line 46\\nline 47\\nline 48\\nline 49\\nline 50\\nline 51\\nline 52\\nline "
                "53\\n\"]"
                ",\"other\":[]},\n"
                "{\"name\":\"b.h\",\"n\":3,\"parts\":[1,\"line 1\\nline 2\\nline "
                "3\\n\"],\"other\":[]}]");
        ck_assert_uint_eq(n.n_files, 2);
        ck_assert_uint_eq(n.n_without + n.n_other + n.n_left_out, 0);
}

SCRATCH_TEST(nothing_but_files_below_the_directory_is_read) {
        static const char *const outside[] = { "../secret.c", "net/../../secret.c", "link.c",
                                               "dir/secret.c" };
        _cleanup_(excerpts_freep) Excerpts *e = NULL;
        _cleanup_free_ char *text = NULL, *absolute = NULL;
        char in[PATH_MAX + 8];
        ExcerptsCount n;

        scratch_put(s, "secret.c", "secret\n");
        scratch_put(s, "in/net/a.c", "inside\n");
        scratch_put(s, "in/Makefile", MAKEFILE);
        (void) snprintf(in, sizeof(in), "%s/in", s->path);
        ck_assert_int_eq(excerpts_new(&e, in), 0);
        ck_assert_int_eq(symlinkat("../secret.c", s->fd, "in/link.c"), 0);
        ck_assert_int_eq(symlinkat("..", s->fd, "in/dir"), 0);
        ck_assert_int_eq(symlinkat("net/a.c", s->fd, "in/inner.c"), 0);
        ck_assert_int_eq(mkfifoat(s->fd, "in/fifo.c", 0600), 0);
        ck_assert_int_ge(asprintf(&absolute, "%s/secret.c", s->path), 0);
        text = WRITE(e, &n, { outside[0], 1 }, { outside[1], 1 }, { outside[2], 1 },
                     { outside[3], 1 }, { absolute, 1 }, { "fifo.c", 1 }, { "net", 1 },
                     { "gone.c", 1 }, { "inner.c", 1 });
        ck_assert_ptr_null(strstr(text, "\"secret"));
        for (size_t i = 0; i < ELEMENTSOF(outside); i++) {
                char expected[128];

                (void) snprintf(expected, sizeof(expected),
                                "{\"name\":\"%s\",\"problem\":\"lies outside of the source\"}",
                                outside[i]);
                ck_assert_ptr_nonnull(strstr(text, expected));
        }
        ck_assert_ptr_nonnull(strstr(text, "{\"name\":\"fifo.c\",\"problem\":\"cannot be read\"}"));
        ck_assert_ptr_nonnull(strstr(text, "{\"name\":\"net\",\"problem\":\"cannot be read\"}"));
        ck_assert_ptr_nonnull(
                strstr(text, "{\"name\":\"gone.c\",\"problem\":\"is not in the source\"}"));
        ck_assert_ptr_nonnull(strstr(text, "\"parts\":[1,\"inside\\n\"]"));
        ck_assert_uint_eq(n.n_files, 9);
        ck_assert_uint_eq(n.n_without, 8);
}

SCRATCH_TEST(text_is_escaped_and_what_is_none_is_left_out) {
        static const char binary[] = "int a;\0int b;\n";
        _cleanup_(excerpts_freep) Excerpts *e = source(s);
        _cleanup_free_ char *huge = NULL, *text = NULL;
        char line[400];

        memset(line, 'x', sizeof(line) - 1);
        line[sizeof(line) - 1] = 0;
        scratch_put(s, "odd.c", "\tif (a < 1) // \"</script>\"\xe9\xe2\x80\xae\r");
        scratch_put(s, "long.c", line);
        scratch_put(s, "empty.c", "");
        scratch_write(s->fd, "binary.c", binary, sizeof(binary) - 1);
        huge = calloc(1, EXCERPTS_FILE_MAX + 1);
        memset(huge, '\n', EXCERPTS_FILE_MAX + 1);
        scratch_write(s->fd, "huge.c", huge, EXCERPTS_FILE_MAX + 1);
        text = WRITE(e, NULL, { "odd.c", 1 }, { "long.c", 1 }, { "binary.c", 1 }, { "huge.c", 1 },
                     { "empty.c", 1 }, { "a\"</script>\n", 1 });
        ck_assert_ptr_nonnull(
                strstr(text, "[1,\"\\tif (a \\u003c 1) // \\\"\\u003c/script\\u003e\\\"\\\\xe9"
                             "\\\\xe2\\\\x80\\\\xae\\\\x0d\\n\"]"));
        line[240] = 0;
        ck_assert_ptr_nonnull(strstr(text, line));
        ck_assert_ptr_nonnull(strstr(text, "x...\\n\"]"));
        ck_assert_ptr_nonnull(strstr(text, "\"binary.c\",\"problem\":\"is no text\"}"));
        ck_assert_ptr_nonnull(strstr(text, "\"huge.c\",\"problem\":\"is too large\"}"));
        ck_assert_ptr_nonnull(strstr(text, "\"empty.c\",\"n\":0,\"parts\":[],\"other\":[]}"));
        ck_assert_ptr_nonnull(strstr(text, "\"a\\\"\\u003c/script\\u003e\\u000a\",\"problem\":"));
        ck_assert_ptr_null(strstr(text, "</script>"));
}

SCRATCH_TEST(another_version_is_told_by_names_and_ends) {
        _cleanup_(excerpts_freep) Excerpts *e = source(s);
        _cleanup_free_ char *text = NULL;
        ExcerptsCount n;

        scratch_put(s, "a.c", "1\n2\n3\nSYSCALL_DEFINE1(udp_send, int, fd)\n5\n6\n7\n8\n9\n");
        text = WRITE(e, &n, { "a.c", 7, "__udp_send" }, { "a.c", 8, "__udp_send" },
                     { "a.c", 1, "__udp_send" }, { "a.c", 10 }, { "a.c", 11, "__udp_send" },
                     { "a.c", UINT32_MAX });
        ck_assert_ptr_nonnull(strstr(text, "\"n\":9,\"parts\":[1,"));
        ck_assert_ptr_nonnull(strstr(text, "\"other\":[8]}"));
        ck_assert_uint_eq(n.n_other, 4);
}

SCRATCH_TEST(a_macro_may_be_given_a_part_of_the_name) {
        _cleanup_(excerpts_freep) Excerpts *e = source(s);
        _cleanup_free_ char *text = NULL;

        scratch_put(s, "show.c", "NETDEVICE_SHOW_RW(mtu, fmt_dec);\n");
        scratch_put(s, "event.h", "static\nTRACE_EVENT(sys_enter,\n");
        scratch_put(s, "call.c", "\treturn get(mtu);\n\tgetMTU(mtu);\n");
        scratch_put(s, "export.c", "EXPORT_SYMBOL(udp);\n");
        scratch_put(s, "short.c", "X(mt)\nX(mtu");
        scratch_put(s, "word.c", "X(show)\nX(tu_show)\nX(mtu_sh)\nX()\n(mtu)\n");
        text = WRITE(e, NULL, { "show.c", 1, "mtu_show" },
                     { "event.h", 2, "trace_event_raw_event_sys_enter" },
                     { "call.c", 1, "mtu_show" }, { "export.c", 1, "udp_sendmsg" },
                     { "short.c", 1, "mt_show" }, { "word.c", 4, "mtu_shows" });
        ck_assert_ptr_nonnull(strstr(text, "RW(mtu, fmt_dec);\\n\"],\"other\":[]}"));
        ck_assert_ptr_nonnull(strstr(text, "EVENT(sys_enter,\\n\"],\"other\":[]}"));
        ck_assert_ptr_nonnull(strstr(text, "getMTU(mtu);\\n\"],\"other\":[1]}"));
        ck_assert_ptr_nonnull(strstr(text, "(udp);\\n\"],\"other\":[1]}"));
        ck_assert_ptr_nonnull(strstr(text, "X(mtu\\n\"],\"other\":[1]}"));
        ck_assert_ptr_nonnull(strstr(text, "(mtu)\\n\"],\"other\":[4]}"));
}

SCRATCH_TEST(all_of_it_is_bounded) {
        _cleanup_(excerpts_freep) Excerpts *e = source(s);
        _cleanup_buf_ Buf out = BUF_INIT;
        ExcerptsCount n;
        size_t file;

        put_lines(s, "a.c", 200000);
        for (uint32_t line = 4; line < 200000; line += 8)
                ck_assert_int_eq(excerpts_add(e, "a.c", line, NULL, 0, &file), 0);
        ck_assert_int_eq(excerpts_write(e, &out, &n), 0);
        ck_assert_uint_eq(n.n_files, 1);
        ck_assert_uint_gt(n.n_left_out, 15000);
        ck_assert_uint_lt(n.n_left_out, 24999);
        ck_assert_uint_ge(out.n_data, EXCERPTS_BYTES_MAX);
        ck_assert_uint_lt(out.n_data, EXCERPTS_BYTES_MAX + 200);
}

SCRATCH_TEST(a_directory_that_is_no_source_is_refused) {
        Excerpts *e = NULL;

        ck_assert_int_eq(excerpts_new(&e, "/no/such/directory"), -ENOENT);
        ck_assert_int_eq(excerpts_new(&e, s->path), EXCERPTS_E_NONE);
        ck_assert_int_eq(symlinkat("/proc/version", s->fd, "Makefile"), 0);
        ck_assert_int_eq(excerpts_new(&e, s->path), -EXDEV);
        ck_assert_int_eq(unlinkat(s->fd, "Makefile", 0), 0);
        scratch_put(s, "Makefile", "all:\n\tVERSION = 6\n");
        ck_assert_int_eq(excerpts_new(&e, s->path), EXCERPTS_E_NONE);
        ck_assert_ptr_null(e);
}

SCRATCH_TEST(a_release_fits_its_version) {
        _cleanup_(excerpts_freep) Excerpts *e = source(s);

        ck_assert_str_eq(excerpts_version(e), "6.12.117");
        ck_assert(excerpts_fit(e, "6.12.117+deb12-amd64"));
        ck_assert(excerpts_fit(e, "6.12.0-56-amd64"));
        ck_assert(!excerpts_fit(e, "6.12.118"));
        ck_assert(!excerpts_fit(e, "6.1.117"));
        ck_assert(!excerpts_fit(e, "7.12.117"));
        ck_assert(!excerpts_fit(e, ""));
}
