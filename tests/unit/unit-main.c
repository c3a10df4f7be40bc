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
        const char *name;
        UnitSuite make;
} suites[SUITES_MAX];
static size_t n_suites;

/* libtraceevent 1.7.1 leaks some words of a text that it refuses. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
        return "leak:libtraceevent";
}

void unit_add(const char *name, UnitSuite make) {
        if (n_suites == SUITES_MAX)
                abort();
        suites[n_suites].name = name;
        suites[n_suites++].make = make;
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
                srunner_add_suite(*runner, suites[i].make());
        else
                *runner = srunner_create(suites[i].make());
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
