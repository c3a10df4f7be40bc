/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/record/record.h"
#include "scratch.h"

static const char listing[] = "SyS_old\n__x64_sys_write\n__ia32_sys_write\nnf_conntrack_in "
                              "[nf_conntrack]\nnf_ct_get [nf_conntrack]\nsys_write\nudp_recvmsg\n"
                              "udp_sendmsg\nudp_sendpage [odd";

static FunctionList make_list(void) {
        FunctionList l = {};

        ck_assert_int_eq(function_list_parse(&l, strdup(listing)), 0);
        return l;
}

/* What @word stands for, joined; the caller frees. */
static char *expand(const char *word, int wanted) {
        _cleanup_function_list_ FunctionList l = make_list();
        _cleanup_strv_ Strv words = {}, read = {}, names = {};
        const Options o = { .quiet = true };
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), status;

        ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
        close(fd);
        ck_assert_int_eq(strv_add(&words, word), 0);
        status = selection_read(&read, &words);
        if (status == STATUS_OK)
                status = selection_expand(&names, &o, NULL, "", &read, &l);
        ck_assert_msg(status == wanted, "%s: %i", word, status);
        return strv_join(&names, " ");
}

static void check(const char *word, const char *wanted) {
        _cleanup_free_ char *got = expand(word, wanted ? STATUS_OK : STATUS_NOT_FOUND);

        ck_assert(!wanted || streq(got, wanted));
}

TEST(a_list_is_read_with_its_modules_however_it_ends) {
        _cleanup_function_list_ FunctionList l = make_list(), empty = {};

        ck_assert_uint_eq(l.n, 9);
        ck_assert_str_eq(l.items[3].name, "nf_conntrack_in");
        ck_assert_str_eq(l.items[3].module, "nf_conntrack");
        ck_assert_ptr_null(l.items[5].module);
        ck_assert_str_eq(l.items[8].module, "odd");
        ck_assert_int_eq(function_list_parse(&empty, strdup("\n\n")), 0);
        ck_assert_uint_eq(empty.n, 0);
}

TEST(names_and_globs_are_the_daemons_and_other_words_stand_for_names) {
        static const char *const cases[][2] = {
                { "udp_sendmsg", "udp_sendmsg" },
                { "no_such", "no_such" },
                { "udp_*", "udp_*" },
                { "/^udp_(send|recv)msg$/", "udp_recvmsg udp_sendmsg" },
                { "/ct_g/", "nf_ct_get" },
                { "/^sendmsg/", NULL },
                { "mod:nf_conntrack", "nf_conntrack_in nf_ct_get" },
                { "mod:nf-conntrack", "nf_conntrack_in nf_ct_get" },
                { "mod:nf_conn", NULL },
                { "mod:nf_conntrack_x", NULL },
                { "syscall:write", "__x64_sys_write" },
                { "syscall:old", "SyS_old" },
                { "syscall:writev", NULL },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                check(cases[i][0], cases[i][1]);
}

SCRATCH_TEST(a_file_has_a_word_a_line) {
        static const char text[] = "# what we watch\n\n  udp_sendmsg  # sent\r\n"
                                   "mod:nf_conntrack\n";
        char word[PATH_MAX + 16];

        ck_assert_int_eq(file_replace(s->fd, "list", text, strlen(text), 0600), 0);
        (void) snprintf(word, sizeof(word), "@%s/list", s->path);
        check(word, "udp_sendmsg nf_conntrack_in nf_ct_get");
}

SCRATCH_TEST(a_file_that_is_missing_or_empty_or_not_of_words_is_refused) {
        static const struct {
                const char *text;
                int status;
        } cases[] = { { "# nothing\n", STATUS_USAGE },
                      { "a b\n", STATUS_USAGE },
                      { "@other\n", STATUS_USAGE },
                      { "/(/\n", STATUS_USAGE },
                      { NULL, STATUS_NOT_FOUND } };
        char word[PATH_MAX + 16];

        (void) snprintf(word, sizeof(word), "@%s/list", s->path);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                if (cases[i].text)
                        ck_assert_int_eq(file_replace(s->fd, "list", cases[i].text,
                                                      strlen(cases[i].text), 0600),
                                         0);
                else
                        ck_assert_int_eq(unlinkat(s->fd, "list", 0), 0);
                free(expand(word, cases[i].status));
        }
}
