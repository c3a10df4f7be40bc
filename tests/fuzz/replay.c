/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The main of a fuzz target where there is no libFuzzer: gives it each file named on the command
 * line, or, without any, each file of its corpus, which it finds by its own name: fuzz-segment has
 * tests/fuzz/corpus/segment/.  Prints TAP.  Each file runs in a child, so that one that crashes is
 * one failure; a target that has a mutator gets some mutants of it besides, the same each time.
 */

#include <fcntl.h>
#include <sys/wait.h>

#include "base/array.h"
#define FUZZ_REPLAYS /* the target has what a target has */
#include "fuzz.h"

#define INPUT_BYTES_MAX ((size_t) 64 << 20)
#define N_MUTANTS 20U
#define MUTANT_BYTES_MORE 4096

#pragma weak LLVMFuzzerCustomMutator

/* One bit and one byte, of which the mutators know where they are to be. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max) {
        if (n > 0) {
                data[(size_t) rand() % n] ^= 1U << (rand() & 7);
                data[(size_t) rand() % n] = (uint8_t) rand();
        }
        return MIN(n, max);
}

/* Of the exact size, so that a sanitizer sees one byte too many. */
static void run_input(const void *data, size_t n) {
        _cleanup_free_ uint8_t *copy = fuzz_copy(data, n);

        (void) LLVMFuzzerTestOneInput(copy, n);
}

/* The last one is left in the file FUZZ_MUTANT, if that is in the environment. */
static void run_mutants(const void *data, size_t n) {
        size_t max = n + MUTANT_BYTES_MORE, n_mutant;
        const char *path = getenv("FUZZ_MUTANT");
        _cleanup_free_ uint8_t *mutant = malloc(max);

        FUZZ_CHECK(mutant);
        for (unsigned seed = 0; seed < N_MUTANTS; seed++) {
                if (n > 0)
                        memcpy(mutant, data, n);
                srand(seed);
                n_mutant = LLVMFuzzerCustomMutator(mutant, n, max, seed);
                if (path)
                        FUZZ_CHECK(file_replace(AT_FDCWD, path, mutant, n_mutant, 0600) == 0);
                run_input(mutant, n_mutant);
        }
}

static int list_corpus(Strv *ret, const char *program) {
        const char *source = getenv("top_srcdir"), *slash = strrchr(program, '/');
        const char *target = startswith(slash ? slash + 1 : program, "fuzz-");
        _cleanup_(closedirp) DIR *dir = NULL;
        char path[4096];
        struct dirent *e;

        if (!source || !target)
                return -EINVAL;
        (void) snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", source, target);
        dir = opendir(path);
        if (!dir)
                return -errno;
        while ((e = readdir(dir))) {
                char file[sizeof(path) + 256];
                int r;

                if (e->d_name[0] == '.')
                        continue;
                (void) snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
                r = strv_add(ret, file);
                if (r < 0)
                        return r;
        }
        strv_sort_unique(ret);
        return 0;
}

/* 0, or what went wrong: an exit status, or 128 and the signal's number. */
static int run(const char *path) {
        int status;
        pid_t pid;

        (void) fflush(stdout);
        pid = fork();
        if (pid < 0)
                return 1;
        if (pid == 0) {
                _cleanup_free_ char *text = NULL;
                size_t n;

                if (file_read(AT_FDCWD, path, &text, &n, INPUT_BYTES_MAX) < 0)
                        exit(2);
                run_input(text, n);
                if (LLVMFuzzerCustomMutator)
                        run_mutants(text, n);
                free(TAKE_PTR(text));
                exit(0);
        }
        if (waitpid(pid, &status, 0) != pid)
                return 1;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv) {
        _cleanup_strv_ Strv files = {};
        int n_failed = 0, r = 0;

        for (int i = 1; i < argc && r >= 0; i++)
                r = strv_add(&files, argv[i]);
        if (argc == 1)
                r = list_corpus(&files, argv[0]);
        if (r < 0 || files.n == 0) {
                printf("Bail out! no corpus for %s: set top_srcdir, or name files\n", argv[0]);
                return EXIT_FAILURE;
        }
        printf("1..%zu\n", files.n);
        for (size_t i = 0; i < files.n; i++) {
                const char *slash = strrchr(files.items[i], '/');

                r = run(files.items[i]);
                n_failed += r != 0;
                if (r != 0)
                        printf("# %s: status %d\n", files.items[i], r);
                printf("%s %zu - %s\n", r == 0 ? "ok" : "not ok", i + 1,
                       slash ? slash + 1 : files.items[i]);
        }
        return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
