/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <signal.h>
#include <sys/mman.h>

#include "cli/source/source.h"
#include "page-builder.h"

#define HEADER                                                                                     \
        "# tracer: function_graph\n"                                                               \
        "#\n"                                                                                      \
        "# CPU  DURATION                  FUNCTION CALLS\n"                                        \
        "# |     |   |                     |   |   |   |\n"

/* Two tasks on two CPUs, each in a tree of udp_sendmsg. */
static void fill(Recording *r, const Layout *layout) {
        Page p[2] = {};

        recording_init(r, layout);
        page_begin(&p[0], layout, 1000);
        page_enter(&p[0], 1000, 17, F_ROOT, 0);
        page_enter(&p[0], 1100, 17, F_MODULE, 1);
        page_leave(&p[0], 1200, 17, F_MODULE, 1, 90);
        page_enter(&p[0], 1400, 17, F_CHILD, 1);
        page_enter(&p[0], 1500, 17, F_LEAF, 2);
        page_leave(&p[0], 1600, 17, F_LEAF, 2, 50);
        page_leave(&p[0], 1700, 17, F_CHILD, 1, 300);
        page_leave(&p[0], 23000, 17, F_ROOT, 0, 22000);
        page_begin(&p[1], layout, 1300);
        page_enter(&p[1], 1300, 18, F_ROOT, 0);
        page_leave(&p[1], 1350, 18, F_ROOT, 0, 40);
        recording_add(r, 0, 0, &p[0], 1);
        recording_add(r, 1, 0, &p[1], 1);
}

static char *content(int fd) {
        char *s;

        ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
        ck_assert_int_eq(fd_read(fd, &s, NULL, SIZE_MAX), 0);
        return s;
}

static int draw(const Recording *r, const DrawingOptions *o, int fd, char **problem) {
        _cleanup_drawing_ Drawing d = {};
        _cleanup_strv_ Strv damage = {};

        return drawing_open(&d, r->dir, r->meta, o, fd, problem)
                       ?: drawing_finish(&d, false, &damage);
}

TEST(a_reader_that_leaves_is_told_from_an_error) {
        _cleanup_recording_ Recording r;
        _cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        int fds[2];

        fill(&r, &layouts[0]);
        (void) signal(SIGPIPE, SIG_IGN);
        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        close(fds[0]);
        ck_assert_int_eq(draw(&r, &DRAWING_OPTIONS_DEFAULT, fds[1], NULL), -EPIPE);
        close(fds[1]);
        ck_assert_int_eq(draw(&r, &DRAWING_OPTIONS_DEFAULT, full, NULL), -ENOSPC);
}

TEST(a_live_drawing_ends_up_as_the_whole) {
        _cleanup_recording_ Recording r;
        _cleanup_drawing_ Drawing d = {};
        _cleanup_close_ int fd = memfd_create("drawing", MFD_CLOEXEC);
        _cleanup_close_ int whole_fd = memfd_create("whole", MFD_CLOEXEC);
        _cleanup_free_ char *text = NULL, *half = NULL, *whole = NULL;
        const Layout *layout = &layouts[LAYOUT_7_2];
        DrawingOptions o = DRAWING_OPTIONS_DEFAULT;
        _cleanup_strv_ Strv damage = {};
        Page p = {};

        o.live = true;
        recording_init(&r, layout);
        ck_assert_int_eq(drawing_open(&d, r.dir, r.meta, &o, fd, NULL), 0);
        ck_assert_int_eq(drawing_pump(&d, UINT64_MAX), 0);
        page_begin(&p, layout, 1000);
        page_enter(&p, 1000, 17, F_ROOT, 0);
        page_enter(&p, 1100, 17, F_LEAF, 1);
        page_leave(&p, 1200, 17, F_LEAF, 1, 90);
        recording_add(&r, 1, 0, &p, 1);
        ck_assert_int_eq(drawing_pump(&d, 1050), 0);
        half = content(fd);
        ck_assert_str_eq(half, HEADER " 1)               |  udp_sendmsg() {\n");
        page_begin(&p, layout, 1300);
        page_leave(&p, 1300, 17, F_ROOT, 0, 300);
        recording_add(&r, 1, 1, &p, 1);
        ck_assert_int_eq(drawing_finish(&d, false, &damage), 0);
        text = content(fd);
        ck_assert_int_eq(draw(&r, &DRAWING_OPTIONS_DEFAULT, whole_fd, NULL), 0);
        whole = content(whole_fd);
        ck_assert_str_eq(text, whole);
        ck_assert_uint_eq(d.census.n_trees_complete, 1);
}

TEST(live_tasks_have_names_before_the_kernels_are_stored) {
        _cleanup_recording_ Recording r;
        _cleanup_close_ int fd = memfd_create("drawing", MFD_CLOEXEC);
        _cleanup_free_ char *text = NULL;
        DrawingOptions o = DRAWING_OPTIONS_DEFAULT;
        const Layout *layout = &layouts[LAYOUT_6_1];
        char expected[32];
        Page p = {};

        recording_init(&r, layout);
        page_begin(&p, layout, 1000);
        page_enter(&p, 1000, getpid(), F_ROOT, 0);
        recording_add(&r, 0, 0, &p, 1);
        o.render.proc = true;
        o.live = true;
        ck_assert_int_eq(draw(&r, &o, fd, NULL), 0);
        text = content(fd);
        (void) snprintf(expected, sizeof(expected), "%.7s-%d", program_invocation_short_name,
                        getpid());
        ck_assert_ptr_nonnull(strstr(text, expected));
}
