/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "lines-fixture.h"
#include "scratch.h"

#ifdef HAVE_ELFUTILS
static void lines_done(Lines **l) {
        *l = lines_free(*l);
}
#define LINES_TEST(name)                                                                           \
        TEST_WITH(name, (Lines * l, Asked * a), _cleanup_(lines_done) Lines *l; Asked a = {};      \
                  l = sample_open(SAMPLE_PATH("vmlinux"), NULL), l, &a)

LINES_TEST(each_call_has_its_lines_and_what_was_inlined) {
        expect_sample(l, a);
}

/* The sites that the order leaves of what @caller calls, one after the other. */
static void expect_order(Lines *l, Asked *a, const char *caller, const char *const *callees,
                         size_t n, const uint64_t *masks, bool all) {
        const LineSites *sites[8];
        uint64_t possible[8];
        LinesPosition at = {};

        for (size_t i = 0; i < n; i++) {
                sites[i] = lines_sites(l, asked(a, caller), asked(a, callees[i]));
                if (!all)
                        possible[i] = lines_follow(l, &at, sites[i]);
        }
        if (all)
                ck_assert_int_eq(lines_follow_all(l, sites, n, true, possible), 0);
        for (size_t i = 0; i < n; i++)
                ck_assert_msg(possible[i] == masks[i], "%s, call %zu: %llx, and not %llx", caller,
                              i, (unsigned long long) possible[i], (unsigned long long) masks[i]);
}

#define ORDER(l, a, all, caller, callees, ...)                                                     \
        expect_order((l), (a), (caller), callees, ELEMENTSOF(callees),                             \
                     (const uint64_t[]){ __VA_ARGS__ }, (all))

LINES_TEST(the_order_of_calls_tells_their_sites) {
        static const char *const three[] = { "leaf", "other", "leaf" }, *const one[] = { "leaf" };
        static const char *const last[] = { "other", "leaf" };

        ORDER(l, a, true, "twice", three, 1, 1, 2);
        ORDER(l, a, false, "twice", three, 1, 1, 2);
        /* Nothing leads to the second but past the first. */
        ORDER(l, a, true, "twice", one, 1);
        /* If what is called between was not recorded, it may be either. */
        ORDER(l, a, true, "either", one, 3);
        ORDER(l, a, true, "either", last, 1, 2);
}

LINES_TEST(later_calls_tell_of_earlier_ones) {
        static const char *const round[] = { "leaf", "other", "leaf", "other", "leaf" };

        /* A leaf before other() is the one in the loop, and the last one either. */
        ORDER(l, a, true, "loop", round, 1, 1, 1, 1, 2);
        ORDER(l, a, false, "loop", round, 3, 1, 3, 1, 3);
}

LINES_TEST(a_pointer_beside_a_call_may_have_been_the_one_unless_the_order_tells) {
        static const char *const once[] = { "other" }, *const last[] = { "other", "leaf" };
        static const char *const twice[] = { "other", "other" };

        ORDER(l, a, false, "beside", once, 3);
        /* Nothing leads to the leaf but past the call. */
        ORDER(l, a, true, "beside", last, 1, 1);
        ORDER(l, a, true, "beside", twice, 2, 1);
}

LINES_TEST(an_order_that_cannot_be_is_not_believed) {
        static const char *const twice[] = { "other", "other" };

        ORDER(l, a, true, "twice", twice, 1, 1);
}

LINES_TEST(what_began_unseen_may_be_anywhere) {
        const LineSites *sites[] = { NULL, lines_sites(l, asked(a, "twice"), asked(a, "leaf")) };
        uint64_t possible[2];

        ck_assert_int_eq(lines_follow_all(l, sites, 2, false, possible), 0);
        ck_assert_uint_eq(possible[1], 3);
        /* But behind the first comes the second. */
        ck_assert_int_eq(lines_follow_all(l, sites, 2, true, possible), 0);
        ck_assert_uint_eq(possible[1], 2);
}

LINES_TEST(a_definition_is_where_the_function_is_written) {
        LineFrame f;

        ck_assert(lines_definition(l, asked(a, "outer"), &f));
        ck_assert_str_eq(f.file, "net/ipv4/outer.c");
        ck_assert_uint_eq(f.line, 50);
        ck_assert(!lines_definition(l, asked(a, "nowhere"), &f));
}

LINES_TEST(a_module_is_found_beside_the_kernel) {
        EXPECT_SITES(l, a, "module_caller [sample]", "leaf",
                     "direct\n module_caller drivers/sample/sample.c:21");
        EXPECT_SITES(l, a, "module_caller [sample]", "module_leaf [sample]",
                     "direct\n module_caller drivers/sample/sample.c:22");
        ck_assert_uint_eq(lines_lacking(l)->n, 0);
        EXPECT_SITES(l, a, "x [nowhere]", "leaf", "unknown");
        ck_assert_uint_eq(lines_lacking(l)->n, 1);
        ck_assert_ptr_nonnull(strstr(lines_lacking(l)->items[0], "module nowhere has no lines: "));
}

TEST(what_is_beside_the_kernel_is_listed_once) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_(lines_done) Lines *l = NULL;
        char vmlinux[4096], module[4096], path[4 * 4096];
        Asked a = {};

        ck_assert_ptr_nonnull(realpath(SAMPLE_PATH("vmlinux"), vmlinux));
        ck_assert_ptr_nonnull(realpath(SAMPLE_PATH("sample.ko"), module));
        (void) snprintf(path, sizeof(path), "mkdir %s/drivers; cp %s %s/vmlinux", s.path, vmlinux,
                        s.path);
        ck_assert_int_eq(system(path), 0);
        ck_assert_int_eq(symlinkat(module, s.fd, "drivers/sample.ko"), 0);
        (void) snprintf(path, sizeof(path), "%s/vmlinux", s.path);
        l = sample_open(path, NULL);
        EXPECT_SITES(l, &a, "x [nowhere]", "leaf", "unknown");
        /* What came later is not seen. */
        ck_assert_int_eq(symlinkat(module, s.fd, "drivers/later.ko"), 0);
        EXPECT_SITES(l, &a, "module_caller [later]", "leaf", "unknown");
        EXPECT_SITES(l, &a, "module_caller [sample]", "leaf",
                     "direct\n module_caller drivers/sample/sample.c:21");
        ck_assert_uint_eq(lines_lacking(l)->n, 2);
}

TEST(what_was_not_hooked_may_lie_between) {
        SessionMeta meta = {};
        LinesRecording recording = { .symbols_fd = -EBADF, .meta = &meta };
        _cleanup_(lines_freep) Lines *l = NULL, *few = NULL;
        Asked a = {}, b = {};

        ck_assert_int_eq(strv_add(&meta.left_out, "outer"), 0);
        l = sample_open(SAMPLE_PATH("vmlinux"), &recording);
        EXPECT_SITES(l, &a, "start_kernel", "leaf",
                     "direct\n start_kernel init/main.c:151 !outer() net/ipv4/outer.c:51 inner() "
                     "include/net/inner.h:41 innermost() include/net/inner.h:31");
        /* Of few functions nothing is known. */
        ck_assert_int_eq(strv_add(&meta.spec.hooked, "leaf"), 0);
        few = sample_open(SAMPLE_PATH("vmlinux"), &recording);
        EXPECT_SITES(few, &b, "outer", "leaf", "unknown");
        strv_done(&meta.left_out);
        strv_done(&meta.spec.hooked);
}

TEST(below_what_nobody_knows_the_callees_of_anything_may_lie_between) {
        _cleanup_(lines_freep) Lines *l = sample_open(SAMPLE_PATH("vmlinux"), NULL);
        Function caller = sample_function("outer"), leaf = sample_function("leaf");

        caller.n_unhooked = UNHOOKED_UNKNOWN;
        ck_assert_int_eq(lines_sites(l, &caller, &leaf)->answer, LINES_UNKNOWN);
        /* But no call of it. */
        leaf.n_unhooked = UNHOOKED_UNKNOWN;
        caller = sample_function("twice");
        l = lines_free(l);
        l = sample_open(SAMPLE_PATH("vmlinux"), NULL);
        ck_assert_int_eq(lines_sites(l, &caller, &leaf)->answer, LINES_DIRECT);
}

/* Where the linker put the functions of that name. */
static size_t addresses_of(const char *name, uint64_t ret[static 4]) {
        char command[8192], line[256];
        size_t n = 0;
        FILE *f;

        (void) snprintf(command, sizeof(command), "nm '%s'", SAMPLE_PATH("vmlinux"));
        f = popen(command, "r");
        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof(line), f)) {
                line[strcspn(line, "\n")] = 0;
                if (n < 4 && streq(strrchr(line, ' ') + 1, name))
                        ret[n++] = strtoull(line, NULL, 16);
        }
        ck_assert_int_eq(pclose(f), 0);
        return n;
}

static SymbolTimeline *timeline_of(const char *text) {
        SymbolTimeline *t = NULL;
        Symbols *s = MADE(Symbols, symbols_new, strdup(text), strlen(text));

        ck_assert_int_eq(symbol_timeline_add(&t, 0, 0, s), 0);
        return t;
}

TEST(functions_of_one_name_are_told_apart_by_where_the_kernel_was) {
        uint64_t leaf[4], same[4], shift = 0xffffffff12300000;
        _cleanup_(symbol_timeline_freep) SymbolTimeline *symbols = NULL;
        LinesRecording recording = { .symbols_fd = -EBADF };
        Function functions[2] = { sample_function("same"), sample_function("same") };
        Function callee = sample_function("leaf");
        static const char *const texts[] = { "direct\n same_one net/ipv4/same.c:142",
                                             "direct\n same net/ipv6/same.c:162" };
        char text[512];

        ck_assert_uint_eq(addresses_of("leaf", leaf), 1);
        ck_assert_uint_eq(addresses_of("same", same), 2);
        (void) snprintf(text, sizeof(text), "%llx T leaf\n%llx t same\n%llx t same\n",
                        (unsigned long long) (leaf[0] + shift),
                        (unsigned long long) (MIN(same[0], same[1]) + shift),
                        (unsigned long long) (MAX(same[0], same[1]) + shift));
        recording.symbols = symbols = timeline_of(text);
        for (size_t has_symbols = 0; has_symbols < 2; has_symbols++) {
                _cleanup_(lines_freep) Lines *l = NULL;

                recording.symbols = has_symbols ? symbols : NULL;
                l = sample_open(SAMPLE_PATH("vmlinux"), &recording);
                for (size_t i = 0; i < 2; i++) {
                        _cleanup_free_ char *is = NULL;

                        functions[i].address =
                                (i == 0 ? MIN(same[0], same[1]) : MAX(same[0], same[1])) + shift +
                                4;
                        is = sample_sites_text(lines_sites(l, &functions[i], &callee), UINT64_MAX);
                        ck_assert_str_eq(is, has_symbols ? texts[i] : "unknown");
                }
        }
}

static void expect_refusal(const LinesRecording *recording, const char *path, const char *says) {
        LinesPlace place = { .vmlinux = path };
        _cleanup_free_ char *problem = NULL;
        Lines *l = NULL;

        ck_assert_int_eq(lines_open(&l, recording, &place, &problem), LINES_E_NONE);
        ck_assert_msg(strstr(problem, says), "\"%s\" does not say \"%s\"", problem, says);
}

TEST(another_kernel_is_refused_by_what_is_known_of_it) {
        LinesId other = { NULL, "ffeeddccbbaa00112233445566778899ffeeddcc" },
                same = { NULL, SAMPLE_BUILD_ID };
        LinesRecording by_id = { .symbols_fd = -EBADF, .ids = &other, .n_ids = 1 };
        LinesRecording by_machine = { .symbols_fd = -EBADF, .machine = "riscv64" };
        LinesRecording right = { .symbols_fd = -EBADF, .ids = &same, .n_ids = 1 };
        _cleanup_(symbol_timeline_freep) SymbolTimeline *elsewhere = timeline_of(
                "ffffffff81000000 T leaf\nffffffff81000100 T other\nffffffff81700000 T outer\n"
                "ffffffff81800000 T twice\n");
        _cleanup_(symbol_timeline_freep) SymbolTimeline *others =
                timeline_of("ffffffff81000000 T printf\nffffffff81000100 T qsort\n");
        LinesRecording by_symbols = { .symbols_fd = -EBADF, .symbols = elsewhere };
        LinesRecording by_names = { .symbols_fd = -EBADF, .symbols = others };

        expect_refusal(&by_id, SAMPLE_PATH("vmlinux"),
                       "has the build ID " SAMPLE_BUILD_ID
                       ", and not ffeeddccbbaa00112233445566778899ffeeddcc");
        expect_refusal(&by_machine, SAMPLE_PATH("vmlinux"), "and the recording of riscv64");
        expect_refusal(&by_symbols, SAMPLE_PATH("vmlinux"),
                       "is of another kernel: its functions are not where the recording has them");
        expect_refusal(&by_names, SAMPLE_PATH("vmlinux"),
                       "is of another kernel: its functions are not where the recording has them");
        expect_refusal(&right, "/dev/null", "is no regular file");
        expect_refusal(&right, "/nonexistent/vmlinux", "No such file");
        (void) lines_free(sample_open(SAMPLE_PATH("vmlinux"), &right));
}

TEST(what_was_not_named_is_found_where_packages_put_it) {
        static const struct {
                const char *directory, *file;
        } places[] = {
                { "boot", "boot/vmlinux-6.12" },
                { "lib/modules/6.12", "lib/modules/6.12/vmlinux" },
                { ".build-id/00", ".build-id/00/112233445566778899aabbccddeeff00112233.debug" },
        };
        LinesId id = { NULL, SAMPLE_BUILD_ID };
        LinesRecording recording = {
                .symbols_fd = -EBADF, .release = "6.12", .ids = &id, .n_ids = 1
        };
        char target[4096];

        ck_assert_ptr_nonnull(realpath(SAMPLE_PATH("vmlinux"), target));
        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                _cleanup_scratch_ Scratch s = SCRATCH;
                char path[4096 + 64];

                (void) snprintf(path, sizeof(path), "mkdir -p %s/%s", s.path, places[i].directory);
                ck_assert_int_eq(system(path), 0);
                ck_assert_int_eq(symlinkat(target, s.fd, places[i].file), 0);
                ck_assert_int_eq(setenv("FTRACED_DEBUG_DIRECTORY", s.path, 1), 0);
                (void) lines_free(sample_open(NULL, &recording));
        }
        ck_assert_int_eq(unsetenv("FTRACED_DEBUG_DIRECTORY"), 0);
}

TEST(a_hostile_elf_file_is_an_error) {
        _cleanup_free_ char *data = NULL;
        _cleanup_scratch_ Scratch s = SCRATCH;
        unsigned seed = unit_seed();
        char path[4096 + 16];
        size_t n;

        ck_assert_int_eq(file_read(AT_FDCWD, SAMPLE_PATH("vmlinux"), &data, &n, SIZE_MAX), 0);
        (void) snprintf(path, sizeof(path), "%s/vmlinux", s.path);
        for (int i = 0; i < 300; i++) {
                _cleanup_free_ char *bad = malloc(n);
                _cleanup_free_ char *problem = NULL;
                LinesRecording none = { .symbols_fd = -EBADF };
                LinesPlace place = { .vmlinux = path };
                _cleanup_(lines_freep) Lines *l = NULL;
                Asked a = {};

                ck_assert_ptr_nonnull(bad);
                memcpy(bad, data, n);
                for (int k = 0; k < 1 + i % 20; k++)
                        bad[(size_t) rand_r(&seed) % (k % 2 ? n : MIN(n, (size_t) 64))] =
                                (char) rand_r(&seed);
                ck_assert_int_eq(file_replace(s.fd, "vmlinux", bad, i % 3 ? n : n / 2, 0600), 0);
                if (lines_open(&l, &none, &place, &problem) == 0) {
                        (void) lines_sites(l, asked(&a, "outer"), asked(&a, "leaf"));
                        (void) lines_sites(l, asked(&a, "twice"), asked(&a, "other"));
                }
        }
}
#else
TEST(without_elfutils_one_sentence_says_so) {
        LinesRecording none = { .symbols_fd = -EBADF };
        LinesPlace place = { .vmlinux = SAMPLE_PATH("vmlinux") };
        _cleanup_free_ char *problem = NULL;
        Lines *l = NULL;

        ck_assert_int_eq(lines_open(&l, &none, &place, &problem), LINES_E_NONE);
        ck_assert_ptr_nonnull(strstr(problem, "this ftracectl was built without elfutils (libdw)"));
}
#endif
