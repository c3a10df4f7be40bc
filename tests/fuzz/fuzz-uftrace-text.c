/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fuzz-text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        fuzz_text(data, n_data, TEXT_UFTRACE);
        return 0;
}
