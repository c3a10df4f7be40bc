/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A text as a trigger's rule: what is taken has all that its kind needs, and nothing that ends a
 * word or a line of a control file. */

#include "base/name.h"
#include "fuzz.h"
#include "meta/trigger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *text = fuzz_text(data, n_data);
        _cleanup_trigger_ Trigger t = {};
        char why[TRIGGER_WHY_MAX] = "";
        bool does_any = false;

        if (trigger_parse(&t, text, why) != 0) {
                FUZZ_CHECK(*why);
                return 0;
        }
        for (int i = 0; i < _TRIGGER_ACTION_N; i++)
                does_any = does_any || t.does[i];
        FUZZ_CHECK(does_any);
        FUZZ_CHECK(!t.system == (t.kind != TRIGGER_EVENT));
        FUZZ_CHECK(!t.name == (t.kind != TRIGGER_EVENT && t.kind != TRIGGER_FUNCTION));
        if (t.kind == TRIGGER_FUNCTION)
                FUZZ_CHECK(function_pattern_is_valid(t.name));
        if (t.system)
                FUZZ_CHECK(!strpbrk(t.system, "/ :\n") && !strpbrk(t.name, "/ :\n") &&
                           t.system[0] != '.' && t.name[0] != '.');
        if (t.filter)
                FUZZ_CHECK(*t.filter && !strchr(t.filter, '\n'));
        return 0;
}
