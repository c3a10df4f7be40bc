/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The main of a program of unit tests: runs its suites with check and prints TAP
 *
 *      tests/unit/lib-calls                    all of them
 *      tests/unit/lib-calls steps stacks       these
 *
 * Without arguments UNIT_SUITES in the environment chooses among the suites of all programs; a program with none
 * of them skips.
 */

#include <ctype.h>
#include <string.h>

#include "unit.h"

#define TESTS_MAX 512
#define SUITES_MAX 64

static const TTest *tests[TESTS_MAX];
static size_t n_tests, n_suites;
static struct {
        char name[64];
        Suite *suite;
} suites[SUITES_MAX];

/* libtraceevent 1.7.1 leaks some words of a text that it refuses. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
        return "leak:libtraceevent";
}

void unit_add(const TTest *test) {
        if (n_tests == TESTS_MAX)
                abort();
        tests[n_tests++] = test;
}

/* By file and line: constructors are called in any order. */
static int compare_tests(const void *a, const void *b) {
        const TTest *x = *(const TTest *const *) a, *y = *(const TTest *const *) b;

        return strcmp(x->file, y->file) ?: (x->line > y->line) - (x->line < y->line);
}

/* One for each file, test-NAME.c. */
static void make_suites(void) {
        TCase *tcase = NULL;

        qsort(tests, n_tests, sizeof(tests[0]), compare_tests);
        for (size_t i = 0; i < n_tests; i++) {
                if (i == 0 || strcmp(tests[i]->file, tests[i - 1]->file) != 0) {
                        const char *base = strrchr(tests[i]->file, '/') ?: tests[i]->file,
                                   *name = strstr(base, "test-") + strlen("test-");

                        if (n_suites == SUITES_MAX)
                                abort();
                        (void) snprintf(suites[n_suites].name, sizeof(suites[0].name), "%.*s",
                                        (int) strcspn(name, "."), name);
                        suites[n_suites].suite = suite_create(suites[n_suites].name);
                        tcase = tcase_create(suites[n_suites].name);
                        tcase_set_timeout(tcase, 240); /* a busy disk, sanitizers */
                        suite_add_tcase(suites[n_suites++].suite, tcase);
                }
                tcase_add_test(tcase, tests[i]);
        }
}

static bool is_among(const char *words, const char *name) {
        size_t n = strlen(name);

        for (const char *w = words; (w = strstr(w, name)); w += n)
                if ((w == words || isspace((unsigned char) w[-1])) &&
                    (w[n] == '\0' || isspace((unsigned char) w[n])))
                        return true;
        return false;
}

static void add_suite(SRunner **runner, size_t i) {
        if (*runner)
                srunner_add_suite(*runner, suites[i].suite);
        else
                *runner = srunner_create(suites[i].suite);
}

int main(int argc, char **argv) {
        const char *chosen = getenv("UNIT_SUITES");
        SRunner *runner = NULL;
        int n_failed;

        make_suites();
        for (int a = 1; a < argc; a++) {
                size_t i = 0;

                while (i < n_suites && strcmp(suites[i].name, argv[a]) != 0)
                        i++;
                if (i == n_suites) {
                        (void) fprintf(stderr, "%s has no suite '%s'; it has:", argv[0], argv[a]);
                        for (i = 0; i < n_suites; i++)
                                (void) fprintf(stderr, " %s", suites[i].name);
                        (void) fputc('\n', stderr);
                        return 2;
                }
                add_suite(&runner, i);
        }
        for (size_t i = 0; argc <= 1 && i < n_suites; i++)
                if (!chosen || is_among(chosen, suites[i].name))
                        add_suite(&runner, i);
        if (!runner) {
                (void) puts("1..0 # SKIP none of its suites was asked for");
                return EXIT_SUCCESS;
        }
        srunner_run_all(runner, CK_ENV);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
