/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "cli/source/source.h"
#include "unit.h"

#define ID "0123456789abcdef"

static char directory[] = "/tmp/test-source.XXXXXX";
static Options options;

/* A store with one session, and no daemon. */
static void make_store(void) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(session_dir_freep) SessionDir *d = NULL;
        _cleanup_(store_freep) Store *s = NULL;
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        pid_t holder;

        ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
        close(fd);
        ck_assert_ptr_nonnull(mkdtemp(directory));
        ck_assert_int_eq(store_open_for_writing(&s, directory, &holder), 0);
        ck_assert_int_eq(session_dir_create(&d, store_sessions_fd(s), "one"), 0);
        ck_assert_int_eq(session_meta_new(&m), 0);
        m->name = strdup("one");
        m->id = strdup(ID);
        m->state = SESSION_SEALED;
        m->kernel = strdup("6.1.0");
        m->machine = strdup("x86_64");
        m->host = strdup("h");
        m->boot_id = strdup("00000000-0000-0000-0000-000000000000");
        m->clock = strdup("mono");
        m->page_bytes = 4096;
        m->n_possible_cpus = 2;
        ck_assert_int_eq(strv_add(&m->spec.functions, "udp_sendmsg"), 0);
        ck_assert_int_eq(strv_add(&m->roots, "udp_sendmsg"), 0);
        ck_assert_int_eq(session_dir_write_meta(d, m, false), 0);
        options = (Options){ .store = directory };
}

static void remove_store(void) {
        _cleanup_free_ char *command = NULL;

        ck_assert_int_ge(asprintf(&command, "rm -r %s", directory), 0);
        ck_assert_int_eq(system(command), 0);
}

TEST(a_session_is_found_by_name_and_by_id) {
        static const char *const names[] = { "one", ID };

        make_store();
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_(source_freep) Source *s = NULL;

                ck_assert_int_eq(source_open(&s, &options, names[i]), STATUS_OK);
                ck_assert_str_eq(s->meta->name, "one");
                ck_assert(s->from_store);
                ck_assert_int_eq(source_refresh(s), STATUS_OK);
        }
        remove_store();
}

TEST(names_that_leave_the_store_are_wrong_usage) {
        static const char *const bad[] = { "..", "", "a\nb" };
        Source *s;

        make_store();
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_int_eq(source_open(&s, &options, bad[i]), STATUS_USAGE);
        /* With a slash it is a file, which has to be a trace.dat. */
        ck_assert_int_eq(source_open(&s, &options, "../one"), STATUS_NOT_FOUND);
        ck_assert_int_eq(source_open(&s, &options, "/etc"), STATUS_FAILED);
        ck_assert_int_eq(source_open(&s, &options, "/etc/passwd"), STATUS_FAILED);
        remove_store();
}

/* As in a shell whose directory is the store's. */
static void make_file(const char *name) {
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        close(fd);
}

TEST(a_word_is_a_session_or_else_a_file_that_is_there) {
        static const struct {
                const char *word;
                bool is_file;
        } cases[] = {
                { "one", false },      /* both are there */
                { ID, false },         /* likewise */
                { "./one", true },     /* a slash */
                { "trace", true },     /* the kernel's own name */
                { "paste.md", true },  /* any name */
                { "my trace~", true }, /* none that a session can have */
                { "two", false },      /* neither is there */
                { "two.trace", true }, /* likewise, and named as a file */
                { "one.log", true },   /* likewise, and it is there */
                { "sessions", false }, /* a directory */
                { "../nothing", true }, { "", false },
        };

        make_store();
        ck_assert_int_eq(chdir(directory), 0);
        make_file("one");
        make_file(ID);
        make_file("trace");
        make_file("paste.md");
        make_file("my trace~");
        make_file("one.log");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_msg(source_is_file(&options, cases[i].word) == cases[i].is_file, "\"%s\"",
                              cases[i].word);
        ck_assert_int_eq(chdir("/"), 0);
        remove_store();
}

TEST(without_a_store_nothing_is_found) {
        Options o = { .store = "/nonexistent" };
        json_t *list;

        make_store();
        ck_assert_int_eq(source_list(&list, &o, 0, false), STATUS_NOT_FOUND);
        remove_store();
}

TEST(a_reply_must_hold_a_session) {
        json_auto_t *reply = json_pack("{s:{s:i}}", "session", "version", 1);
        SessionMeta *m;

        make_store();
        ck_assert_int_eq(source_meta_from_reply(&m, reply), STATUS_FAILED);
        remove_store();
}
