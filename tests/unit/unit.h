/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Unit tests: `TEST(a_sentence) { ... }` adds itself to the suite that is named as its file, "page" of test-page.c. */

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of this machine.  Pages, records and files that tests build are little-endian unless said. */
#define HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* Check writes each assertion that holds to a file, so that it can say behind which one a test crashed.  In
 * loops that was most of what tests cost: a line is written when it is reached for the first time. */
static inline void mark_line_once(const char *file, int line) {
        static bool is_marked[4096];

        if (line >= (int) (sizeof(is_marked) / sizeof(is_marked[0])) || !is_marked[line])
                _mark_point(file, line);
        if (line < (int) (sizeof(is_marked) / sizeof(is_marked[0])))
                is_marked[line] = true;
}

#define _mark_point(file, line) mark_line_once(file, line)

#if defined(__SANITIZE_ADDRESS__)
#define UNIT_SANITIZES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNIT_SANITIZES 1
#endif
#endif
#ifndef UNIT_SANITIZES
#define UNIT_SANITIZES 0
#endif

/* A test that tries all of many, each by itself, tries all in the long form, else every third, and with sanitizers, where
 * each takes that much longer, every fifth. */
static inline unsigned unit_every(void) {
        return UNIT_SANITIZES ? 5 : getenv("FTRACED_LONG") ? 1 : 3;
}
#define UNIT_EVERY unit_every()

/* What a test with random numbers begins with, and tells: $FTRACED_SEED makes it the same again. */
static inline unsigned unit_seed(void) {
        const char *given = getenv("FTRACED_SEED");
        unsigned seed = given ? (unsigned) strtoul(given, NULL, 10) : (unsigned) getpid() * 1000;

        printf("# FTRACED_SEED=%u\n", seed);
        (void) fflush(stdout);
        return seed;
}

/* How a child ended: its exit status, or 128 and the signal. */
static inline int unit_wait(pid_t pid) {
        int status;

        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* As long as @condition holds, and at most a minute. */
#define WAIT_WHILE(condition)                                                                      \
        for (unsigned n_waits = 0; condition; n_waits++) {                                         \
                ck_assert_uint_lt(n_waits, 60000);                                                 \
                (void) usleep(1000);                                                               \
        }

/* The @type that @new makes of what is behind. */
#define MADE(type, new, ...)                                                                       \
        ({                                                                                         \
                type *made_by_new;                                                                 \
                ck_assert_int_eq(new (&made_by_new, ##__VA_ARGS__), 0);                            \
                made_by_new;                                                                       \
        })

/* What @buf, a Buf, has come to hold, which the caller frees. */
#define TEXT_OF(buf)                                                                               \
        ({                                                                                         \
                char *text_of_buf;                                                                 \
                ck_assert_int_eq(buf_take_string(&(buf), &text_of_buf), 0);                        \
                text_of_buf;                                                                       \
        })
#define EXPECT_TEXT(buf, wanted)                                                                   \
        do {                                                                                       \
                _cleanup_free_ char *text_it_holds = TEXT_OF(buf);                                 \
                ck_assert_str_eq(text_it_holds, wanted);                                           \
        } while (0)

/* Adds a test to the program that it is linked to. */
void unit_add(const TTest *test);

#define TEST(name)                                                                                 \
        static void name##_run(int unused);                                                        \
        static const TTest name##_test = { #name, name##_run, __FILE__, __LINE__ };                \
        __attribute__((constructor)) static void name##_add(void) {                                \
                unit_add(&name##_test);                                                            \
        }                                                                                          \
        static void name##_run(int unused)

/* The same of what @setup declares and its cleanup undoes: the test gets the arguments behind as @parameters. */
#define TEST_WITH(name, parameters, setup, ...)                                                    \
        static void name##_with parameters;                                                        \
        TEST(name) {                                                                               \
                setup;                                                                             \
                name##_with(__VA_ARGS__);                                                          \
        }                                                                                          \
        static void name##_with parameters
