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
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define SUITES_MAX 64

static struct {
        char name[32];
        Suite *suite;
        TCase *tcase;
} suites[SUITES_MAX];
static size_t n_suites;

/* libtraceevent 1.7.1 leaks some words of a text that it refuses. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
        return "leak:libtraceevent";
}

void unit_add(const char *file, const TTest *test) {
        const char *module = strstr(file, "/test-") + strlen("/test-");
        int n = (int) strcspn(module, ".");
        char name[sizeof(suites[0].name)];

        (void) snprintf(name, sizeof(name), "%.*s", n, module);
        if (n_suites == 0 || strcmp(suites[n_suites - 1].name, name) != 0) {
                if (n_suites == SUITES_MAX)
                        abort();
                memcpy(suites[n_suites].name, name, sizeof(name));
                suites[n_suites].suite = suite_create(suites[n_suites].name);
                suites[n_suites].tcase = tcase_create(suites[n_suites].name);
                tcase_set_timeout(suites[n_suites].tcase, 240); /* a busy disk, sanitizers */
                suite_add_tcase(suites[n_suites].suite, suites[n_suites].tcase);
                n_suites++;
        }
        tcase_add_test(suites[n_suites - 1].tcase, test);
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
