/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A fuzz target is one function and a directory of inputs, corpus/TARGET/.
 *
 * libFuzzer calls it for ever with what it invents (configure --enable-fuzzers, clang);
 * replay.c calls it once for each file of the corpus, in every `make check`.  A target never
 * exits and never prints; it abort()s where a promise is broken.
 */

#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data);
/* Changes @n bytes in place, which may become @max; how many there are then.  The second a target may have, see
 * fuzz-mutate.h; the first is libFuzzer's. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed);

#ifndef FUZZ_REPLAYS
/* Most of the time of what allocates much would be the sanitizer's: its quarantine, and the stacks of
 * who allocated what, six calls deep.  ASAN_OPTIONS go before these. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
        return "quarantine_size_mb=16:malloc_context_size=6";
}

/* libtraceevent 1.7.1 leaks some words of a text that it refuses. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
        return "leak:libtraceevent";
}
#endif

#define FUZZ_CHECK(x)                                                                              \
        do {                                                                                       \
                if (!(x))                                                                          \
                        abort();                                                                   \
        } while (0)

/* A copy that ends where they end, so that a sanitizer sees a read behind them; the caller frees it. */
static inline void *fuzz_copy(const void *data, size_t n) {
        void *copy = malloc(n ?: 1);

        FUZZ_CHECK(copy);
        if (n > 0)
                memcpy(copy, data, n);
        return copy;
}

/* Up to the first NUL; the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t n) {
        char *text = strndup((const char *) data, n);

        FUZZ_CHECK(text);
        return text;
}

/* A file in memory, at its beginning. */
static inline int fuzz_file(const void *data, size_t n) {
        int fd = memfd_create("fuzz", MFD_CLOEXEC);

        FUZZ_CHECK(fd >= 0 && pwrite_full(fd, data, n, 0) == 0);
        return fd;
}
