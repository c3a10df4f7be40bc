/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cli/terminal/terminal.h"
#include "unit.h"

static void enter_directory(void) {
        char path[] = "/tmp/test-outfile.XXXXXX";

        ck_assert_ptr_nonnull(mkdtemp(path));
        ck_assert_int_eq(chdir(path), 0);
}

/* Fails if anything but these is left. */
static void leave_directory(void) {
        _cleanup_free_ char *path = getcwd(NULL, 0);

        (void) unlink("file");
        (void) unlink("link");
        (void) unlink("pipe");
        ck_assert_int_eq(rmdir(path), 0);
}

static void expect(const char *name, const char *wanted) {
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(file_read(AT_FDCWD, name, &text, NULL, 1000), 0);
        ck_assert_str_eq(text, wanted);
}

static void write_file(const char *path, const char *text) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;

        ck_assert_int_eq(outfile_open(&f, path, 0640), 0);
        ck_assert_int_eq(write_full(f.fd, text, strlen(text)), 0);
        ck_assert_int_eq(outfile_commit(&f), 0);
}

TEST(the_old_file_stays_until_the_new_one_is_whole) {
        Outfile f = OUTFILE_INIT;

        enter_directory();
        write_file("file", "old");
        ck_assert_int_eq(outfile_open(&f, "file", 0640), 0);
        ck_assert_int_eq(write_full(f.fd, "ne", 2), 0);
        expect("file", "old");
        outfile_done(&f);
        expect("file", "old");
        write_file("file", "new");
        expect("file", "new");
        leave_directory();
}

TEST(a_link_stays_a_link) {
        struct stat st;

        enter_directory();
        write_file("file", "old");
        ck_assert_int_eq(symlink("file", "link"), 0);
        write_file("link", "new");
        expect("file", "new");
        ck_assert_int_eq(lstat("link", &st), 0);
        ck_assert(S_ISLNK(st.st_mode));
        leave_directory();
}

/* 0 or -errno: what the kernel says of writing to @name as a shell's ">" does. */
static int kernel_says(const char *name) {
        int fd = open(name, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0640),
            r = fd < 0 ? -errno : 0;

        safe_close(fd);
        return r;
}

/* In a guest it refuses (fs.protected_symlinks, fs.protected_fifos); elsewhere it may have been told not to. */
TEST(another_users_link_or_pipe_in_a_sticky_directory_is_the_kernels_to_refuse) {
        Outfile f = OUTFILE_INIT;
        int reader_fd;

        if (geteuid() != 0)
                return;
        enter_directory();
        write_file("file", "old");
        ck_assert_int_eq(mkdir("sticky", 0700), 0);
        ck_assert_int_eq(chmod("sticky", 01777), 0);
        ck_assert_int_eq(symlink("../file", "sticky/link"), 0);
        ck_assert_int_eq(lchown("sticky/link", 65534, 65534), 0);
        ck_assert_int_eq(symlink("nothing", "sticky/dangling"), 0);
        ck_assert_int_eq(lchown("sticky/dangling", 65534, 65534), 0);
        ck_assert_int_eq(mkfifo("sticky/pipe", 0666), 0);
        ck_assert_int_eq(chown("sticky/pipe", 65534, 65534), 0);
        reader_fd = open("sticky/pipe", O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(outfile_open(&f, "sticky/link", 0640), kernel_says("sticky/link"));
        outfile_done(&f);
        ck_assert_int_eq(outfile_open(&f, "sticky/pipe", 0640), kernel_says("sticky/pipe"));
        outfile_done(&f);
        if (kernel_says("sticky/dangling") < 0)
                ck_assert_int_eq(outfile_open(&f, "sticky/dangling", 0640), -EACCES);
        expect("file", "old");
        safe_close(reader_fd);
        ck_assert_int_eq(tree_remove(AT_FDCWD, "sticky"), 0);
        leave_directory();
}

TEST(a_pipe_is_written_in_place) {
        _cleanup_close_ int fd = -EBADF;
        char text[5] = "";

        enter_directory();
        ck_assert_int_eq(mkfifo("pipe", 0600), 0);
        ck_assert_int_eq(symlink("pipe", "link"), 0);
        fd = open("pipe", O_RDWR | O_CLOEXEC);
        write_file("link", "text");
        ck_assert_int_eq(read(fd, text, 4), 4);
        ck_assert_str_eq(text, "text");
        leave_directory();
}

TEST(a_link_of_proc_is_the_file_that_it_stands_for) {
        _cleanup_close_ int fd = -EBADF;
        char link[64];

        enter_directory();
        fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        write_file(link, "new");
        expect("file", "new");
        leave_directory();
}

TEST(a_link_to_what_was_removed_is_an_error) {
        _cleanup_close_ int fd = -EBADF;
        Outfile f = OUTFILE_INIT;
        char link[64];

        enter_directory();
        fd = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_eq(unlink("file"), 0);
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ck_assert_int_eq(outfile_open(&f, link, 0640), -ESTALE);
        leave_directory();
}

TEST(a_device_is_not_replaced) {
        struct stat st;

        write_file("/dev/null", "text");
        ck_assert_int_eq(stat("/dev/null", &st), 0);
        ck_assert(S_ISCHR(st.st_mode));
}

TEST(the_mode_obeys_the_umask) {
        struct stat st;

        enter_directory();
        (void) umask(077);
        write_file("file", "x");
        ck_assert_int_eq(stat("file", &st), 0);
        ck_assert_int_eq(st.st_mode & 0777, 0600);
        leave_directory();
}

TEST(a_missing_directory_is_an_error) {
        Outfile f = OUTFILE_INIT;

        ck_assert_int_eq(outfile_open(&f, "/nonexistent/file", 0640), -ENOENT);
}

/* Waits for a sweeper, which lives longer than we do. */
static void expect_nothing(void) {
        for (unsigned i = 0; i < 60000; i++) {
                _cleanup_(closedirp) DIR *dir = opendir(".");
                unsigned n = 0;

                while (readdir(dir))
                        n++;
                if (n == 2)
                        return;
                (void) usleep(1000);
        }
        ck_abort_msg("something is left");
}

static void die_writing(int number) {
        struct rlimit no_core = {};
        Outfile f = OUTFILE_INIT;
        pid_t pid = fork();

        if (pid == 0) {
                (void) setrlimit(RLIMIT_CORE, &no_core);
                (void) signal(number, SIG_DFL); /* check has its own */
                if (outfile_open(&f, "file", 0640) < 0 || write_full(f.fd, "text", 4) < 0)
                        _exit(1);
                (void) raise(number);
                _exit(1);
        }
        ck_assert_int_eq(unit_wait(pid), 128 + number);
}

TEST(no_death_leaves_anything) {
        static const int numbers[] = { SIGINT,  SIGTERM, SIGHUP,  SIGPIPE,
                                       SIGXFSZ, SIGKILL, SIGABRT, SIGBUS };

        enter_directory();
        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                die_writing(numbers[i]);
                expect_nothing();
        }
        leave_directory();
}

TEST(what_cannot_be_put_in_its_place_is_gone) {
        Outfile f = OUTFILE_INIT;

        enter_directory();
        ck_assert_int_eq(outfile_open(&f, "file", 0640), 0);
        ck_assert_int_eq(mkdir("file", 0700), 0);
        ck_assert_int_lt(outfile_commit(&f), 0);
        outfile_done(&f);
        ck_assert_int_eq(rmdir("file"), 0);
        expect_nothing();
        leave_directory();
}
