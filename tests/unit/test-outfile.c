/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
        int status;

        if (pid == 0) {
                (void) setrlimit(RLIMIT_CORE, &no_core);
                (void) signal(number, SIG_DFL); /* check has its own */
                if (outfile_open(&f, "file", 0640) < 0 || write_full(f.fd, "text", 4) < 0)
                        _exit(1);
                (void) raise(number);
                _exit(1);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == number);
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
