/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A text as what was learned: what is taken from it can be written and is read back the same. */

#include "base/name.h"
#include "daemon/lean/lean.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *text = fuzz_text(data, n_data);
        _cleanup_lean_cache_ LeanCache c = {};
        int r = lean_cache_parse(&c, text);

        FUZZ_CHECK(r == 0 || r == LEAN_CACHE_E_INVALID);
        FUZZ_CHECK(r == 0 || c.tree.n == 0);
        FUZZ_CHECK(c.tree.n <= LEAN_MAX_FUNCTIONS);
        for (size_t i = 0; i < c.tree.n; i++) {
                const LeanFunction *f = &c.tree.functions[i];

                FUZZ_CHECK(function_name_is_valid(f->name));
                FUZZ_CHECK(f->callers.n <= LEAN_MAX_CALLERS);
                FUZZ_CHECK(i == 0 || strcmp(f[-1].name, f->name) < 0);
                FUZZ_CHECK(lean_tree_find(&c.tree, f->name) == f);
        }
        return 0;
}
