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

#define FUZZ_CHECK(x)                                                                              \
        do {                                                                                       \
                if (!(x))                                                                          \
                        abort();                                                                   \
        } while (0)
