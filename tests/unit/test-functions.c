/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "base/name.h"
#include "daemon/admission/admission.h"
#include "scratch.h"

static const char listing[] = "vfs_write\nudp_sendmsg\nudp_sendmsg\nudpv6_sendmsg\ntcp_sendmsg\n"
                              "__ftrace_invalid_address___17\nudp_sendmsg.isra.0\n"
                              "nf_conntrack_in [nf_conntrack]\n";

/* A tracefs and a root in one directory. */
typedef struct Case {
        Scratch s;
        Tracefs fs;
        Functions f;
} Case;

static void put(Case *c, const char *path, const char *text, size_t n) {
        ck_assert_int_eq(file_replace(c->s.fd, path, text, n, 0600), 0);
}

static void load(Case *c, const char *text, size_t n) {
        put(c, "available_filter_functions", text, n);
        ck_assert_int_eq(functions_load(&c->f, &c->fs), 0);
}

static void case_init(Case *c) {
        *c = (Case){ .s = SCRATCH };
        c->fs = (Tracefs){ .fd = c->s.fd, .root_fd = c->s.fd };
        ck_assert_int_eq(dir_make(c->s.fd, "proc", 0700), 0);
}

static void case_done(Case *c) {
        functions_done(&c->f);
        scratch_done(&c->s);
}

#define CASE(c)                                                                                    \
        _cleanup_(case_done) Case c;                                                               \
        case_init(&c)
#define CASE_TEST(name) TEST_WITH(name, (Case * c), CASE(c), &c)

TEST(globs_mean_what_they_mean_to_the_kernel) {
        static const struct {
                const char *pattern, *name;
                bool matches;
        } cases[] = {
                { "udp_*", "udp_sendmsg", true },
                { "udp_*", "xudp_sendmsg", false },
                { "*msg", "udp_sendmsg", true },
                { "*msg", "udp_sendmsg.isra.0", false },
                { "*send*", "udp_sendmsg", true },
                { "u*s*g", "udp_sendmsg", true },
                { "u*s*z", "udp_sendmsg", false },
                { "a*ab", "aab", true },
                { "a*ab", "aaab", true },
                { "*", "", true },
                { "**", "x", true },
                { "?", "", false },
                { "?dp_sendms?", "udp_sendmsg", true },
                { "ud[a-z]_sendmsg", "udp_sendmsg", true },
                { "ud[a-c]_sendmsg", "udp_sendmsg", false },
                { "ud[!a-c]_sendmsg", "udp_sendmsg", true },
                { "ud[^a-c]_sendmsg", "udp_sendmsg", false }, /* '^' is a character */
                { "ud[^p]_sendmsg", "udp_sendmsg", true },
                { "ud[]p]_sendmsg", "udp_sendmsg", true },
                { "ud[p-]_sendmsg", "ud-_sendmsg", true },
                { "a[b", "a[b", true }, /* never closed: stands for itself */
                { "a[b", "ab", false },
                { "a[b-", "a[b-", true },
                { "*[ab", "xx[ab", true },
                { "", "", true },
                { "", "x", false },
        };

        uint64_t n_steps = 0;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_msg(function_glob_matches(cases[i].pattern, cases[i].name, &n_steps) ==
                                      cases[i].matches,
                              "\"%s\" and \"%s\"", cases[i].pattern, cases[i].name);
}

/* How many functions one pattern stands for; they are added. */
static int expand(const Functions *f, const char *pattern, Strv *ret) {
        _cleanup_strv_ Strv patterns = {};
        size_t n = SIZE_MAX;
        int r;

        ck_assert_int_eq(strv_add(&patterns, pattern), 0);
        r = functions_expand(f, &patterns, SIZE_MAX, ret, &n);
        if (r == FUNCTIONS_E_NOTHING) {
                ck_assert_uint_eq(n, 0);
                return 0;
        }
        ck_assert_int_eq(r, 0);
        return (int) n;
}

/* Functions called by all words of three letters out of @letters. */
static void load_many(Case *c, const char *letters) {
        _cleanup_buf_ Buf b = BUF_INIT;

        for (const char *x = letters; *x; x++)
                for (const char *y = letters; *y; y++)
                        for (const char *z = letters; *z; z++)
                                for (int n = 0; n < 3; n++)
                                        buf_printf(&b, "%c%c_%c%.*s\n", *x, *y, *z, n, "xy");
        load(c, b.data, b.n_data);
}

static const char *const fragments[] = { "a", "b",    "_",    "ab", "_c", "x",  "*",
                                         "?", "[ab]", "[!a]", "*",  "xy", "[a", "*" };

CASE_TEST(many_globs_together_stand_for_what_each_stands_for) {
        unsigned seed = unit_seed();

        load_many(c, "abcdefg");
        for (int round = 0; round < 50; round++) {
                _cleanup_strv_ Strv patterns = {}, found = {}, wanted = {};
                size_t n_patterns = 1 + (size_t) rand_r(&seed) % 40, n = 0;

                while (patterns.n < n_patterns) {
                        char text[64] = "";
                        uint64_t n_steps = 0;
                        bool any = false;

                        for (int k = rand_r(&seed) % 5; k >= 0; k--)
                                strcat(text,
                                       fragments[(size_t) rand_r(&seed) % ELEMENTSOF(fragments)]);
                        for (size_t i = 0; i < c->f.n; i++)
                                if (function_glob_matches(text, c->f.names[i], &n_steps)) {
                                        ck_assert_int_eq(strv_add(&wanted, c->f.names[i]), 0);
                                        any = true;
                                }
                        if (any)
                                ck_assert_int_eq(strv_add(&patterns, text), 0);
                }
                strv_sort_unique(&wanted);
                ck_assert_int_eq(functions_expand(&c->f, &patterns, SIZE_MAX, &found, &n), 0);
                ck_assert_uint_eq(n, wanted.n);
                ck_assert(strv_equal(&found, &wanted));
        }
}

CASE_TEST(more_than_are_wanted_are_counted_and_not_told) {
        _cleanup_strv_ Strv patterns = {}, found = {};
        size_t n;

        load_many(c, "abcd");
        for (int i = 0; i < 30; i++) /* all of them, each time */
                ck_assert_int_eq(strv_addf(&patterns, "*%.*s", i, "******************"), 0);
        ck_assert_int_eq(functions_expand(&c->f, &patterns, 10, &found, &n), 0);
        ck_assert_uint_eq(n, c->f.n);
        ck_assert_uint_eq(found.n, 0);
}

CASE_TEST(the_pattern_that_stands_for_nothing_is_told) {
        _cleanup_strv_ Strv patterns = {}, found = {};
        size_t n;

        load_many(c, "abcd");
        for (int i = 0; i < 20; i++)
                ck_assert_int_eq(strv_add(&patterns, i == 17 ? "*b*zz*" : "*b*"), 0);
        ck_assert_int_eq(functions_expand(&c->f, &patterns, SIZE_MAX, &found, &n),
                         FUNCTIONS_E_NOTHING);
        ck_assert_uint_eq(n, 17);
}

/* The work counts, whatever it is of: names that many globs nearly match, or one glob that goes back and
 * forth in each. */
CASE_TEST(what_would_take_long_is_not_done) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCD";
        _cleanup_strv_ Strv patterns = {}, found = {};
        uint64_t since_ns;
        size_t n;

        load_many(c, letters); /* 81,000 */
        for (int i = 0; i < 4096; i++)
                ck_assert_int_eq(strv_addf(&patterns, "?%c*%c*%c*%.*s", letters[i % 30],
                                           letters[i / 30 % 30], "xy_"[i % 2], i % 7, "*******"),
                                 0);
        since_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
        ck_assert_int_eq(functions_expand(&c->f, &patterns, SIZE_MAX, &found, &n),
                         FUNCTIONS_E_COSTLY);
        ck_assert_uint_lt(now_ns(CLOCK_THREAD_CPUTIME_ID) - since_ns, 20 * NSEC_PER_SEC);
}

CASE_TEST(modules_are_dropped_from_names_and_invalid_places_from_the_list) {
        _cleanup_strv_ Strv found = {};

        load(c, listing, strlen(listing));
        ck_assert_uint_eq(c->f.n, 6);
        ck_assert(functions_contain(&c->f, "nf_conntrack_in"));
        ck_assert(!functions_contain(&c->f, "__ftrace_invalid_address___17"));
        ck_assert_int_eq(expand(&c->f, "*", &found), 6);
        ck_assert_int_eq(expand(&c->f, "__ftrace*", &found), 0);
}

CASE_TEST(an_exact_name_stands_for_itself_alone) {
        _cleanup_strv_ Strv found = {};

        load(c, listing, strlen(listing));
        ck_assert_int_eq(expand(&c->f, "udp_sendmsg", &found), 1);
        ck_assert_int_eq(expand(&c->f, "udp_send", &found), 0);
        ck_assert_uint_eq(found.n, 1);
}

TEST(the_list_is_read_again_when_modules_come_and_not_when_they_are_used) {
        static const struct {
                const char *modules;
                size_t n; /* of functions that are known */
        } turns[] = { { "dummy 16384 0 - Live 0x0\n", 6 },
                      { "dummy 16384 1 veth, Live 0x0\n", 6 },
                      { "veth 4096 0 - Live 0x0\ndummy 16384 1 veth, Live 0x0\n", 1 } };
        CASE(c);

        for (size_t i = 0; i < ELEMENTSOF(turns); i++) {
                put(&c, "proc/modules", turns[i].modules, strlen(turns[i].modules));
                load(&c, i == 0 ? listing : "kfree\n", i == 0 ? strlen(listing) : 6);
                ck_assert_uint_eq(c.f.n, turns[i].n);
        }
}

CASE_TEST(the_nearest_is_suggested) {
        load(c, listing, strlen(listing));
        ck_assert_str_eq(typo_nearest("udp_sendmesg", c->f.names, c->f.n), "udp_sendmsg");
        ck_assert_ptr_null(typo_nearest("completely_different", c->f.names, c->f.n));
        ck_assert_str_eq(typo_nearest("vsf_write", c->f.names, c->f.n), "vfs_write");
}

CASE_TEST(the_memfd_cannot_be_changed_by_who_gets_it) {
        _cleanup_free_ char *text = NULL;
        _cleanup_close_ int fd = -EBADF;

        load(c, listing, strlen(listing));
        fd = functions_open_list(&c->f);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_lt(write(fd, "x", 1), 0);
        ck_assert_int_lt(ftruncate(fd, 0), 0);
        ck_assert_int_eq(fd_read(fd, &text, NULL, 4096), 0);
        ck_assert_ptr_eq(strstr(text, "nf_conntrack_in [nf_conntrack]\ntcp_sendmsg\n"), text);
}

static void check_short(const Functions *f, const char *names, const char *globs,
                        const char *wanted) {
        _cleanup_strv_ Strv n = {}, g = {}, words = {};
        _cleanup_free_ char *joined = NULL;

        ck_assert_int_eq(strv_split(&n, names, " "), 0);
        ck_assert_int_eq(strv_split(&g, globs, " "), 0);
        ck_assert_int_eq(functions_shorten(f, &n, &g, &words), 0);
        joined = strv_join(&words, " ");
        ck_assert_str_eq(joined, wanted);
}

TEST(many_names_become_globs_that_stand_for_nothing_else) {
        static const char many[] = "a\nvfs_a\nvfs_b\nvfs_c\nvfs_d_x\nvfs_d_y\nvfs_e\nvfs_e_x\n"
                                   "vfsmount\nb_send\nc_send\nd_send\ne_send\nf_send\ng_sendto\n";
        static const char vfs[] = "vfs_a vfs_b vfs_c vfs_d_x vfs_d_y vfs_e vfs_e_x";
        CASE(c);

        load(&c, many, strlen(many));
        check_short(&c.f, vfs, "", "vfs_*");
        check_short(&c.f, vfs, "vfs_* vfs_?", "vfs_*");
        /* What is not wanted is not matched. */
        check_short(&c.f, "vfs_b vfs_c vfs_d_x vfs_d_y vfs_e vfs_e_x vfsmount a", "",
                    "vfs_b vfs_c vfs_d_x vfs_d_y vfs_e vfs_e_x vfsmount a");
        check_short(&c.f, "b_send c_send d_send e_send f_send", "*_send", "*_send");
        check_short(&c.f, "b_send c_send d_send e_send f_send", "*_send*",
                    "b_send c_send d_send e_send f_send");
        check_short(&c.f, "b_send c_send d_send e_send f_send a", "*_send", "*_send a");
        /* A few are as well written by name, and who is not known can only be. */
        check_short(&c.f, "vfs_d_x vfs_d_y", "vfs_d*", "vfs_d_x vfs_d_y");
        check_short(&c.f, "gone vfs_a vfs_b vfs_c vfs_d_x vfs_d_y vfs_e vfs_e_x", "", "gone vfs_*");
        check_short(&c.f, "", "", "");
}
