/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A fuzz target is one function and a directory of inputs, corpus/TARGET/.
 *
 * libFuzzer calls it for ever with what it invents (configure --enable-fuzzers, clang);
 * replay.c calls it once for each file of the corpus, in every `make check`.  A target never
 * exits and never prints; it abort()s where a promise is broken.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data);

#ifndef FUZZ_REPLAYS
/* Most of the time of what allocates much would be the sanitizer's: its quarantine, and the stacks of
 * who allocated what, six calls deep.  ASAN_OPTIONS go before these. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
        return "quarantine_size_mb=16:malloc_context_size=6";
}
#endif

#define FUZZ_CHECK(x)                                                                              \
        do {                                                                                       \
                if (!(x))                                                                          \
                        abort();                                                                   \
        } while (0)
