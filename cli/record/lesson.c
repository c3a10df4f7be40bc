/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Each Function once, found by its pointer; what lean left out of the recording was called, too. */

#include "base/hash.h"
#include "base/name.h"
#include "cli/record/lesson.h"
#include "cli/record/selection.h"
#include "cli/source/reading.h"
#include "cli/terminal/terminal.h"

static int out_of_memory(void) {
        return failed_errno(-ENOMEM, "Failed to read what is to be hooked: %m");
}

static int add_functions(Reading *r, Strv *ret) {
        Hash seen = {};
        Step step;
        int status;

        while ((status = reading_next(r, &step)) > 0) {
                const Function *f = step_is_call(&step) ? step.function : NULL;

                if (!f || f->n_name == 0 || hash_get(&seen, hash_key(f)))
                        continue;
                if (hash_add(&seen, hash_key(f), 1) < 0 ||
                    strv_addn(ret, f->label, f->n_name) < 0) {
                        status = -out_of_memory();
                        break;
                }
        }
        hash_done(&seen);
        return -status;
}

/* Those that can be hooked. */
static int keep_present(Strv *names, const FunctionList *l) {
        _cleanup_strv_ Strv present = {}, kept = {};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < l->n; i++)
                r = strv_add(&present, l->items[i].name);
        strv_sort_unique(&present);
        strv_sort_unique(names);
        if (r >= 0)
                r = strv_pick(&kept, names, &present, true);
        if (r < 0)
                return out_of_memory();
        SWAP(*names, kept);
        return STATUS_OK;
}

int lesson_read(Strv *ret, const Options *o, Client *c, const char *source) {
        _cleanup_function_list_ FunctionList list = {};
        _cleanup_reading_ Reading reading = {};
        _cleanup_strv_ Strv names = {};
        Options whole = *o; /* what is to be recorded is no filter of what was */
        int status;

        whole.spec = SPEC_INIT;
        status = reading_open(&reading, &whole, source, READING_FOR_DRAWING);
        if (status == STATUS_OK)
                status = add_functions(&reading, &names);
        if (status == STATUS_OK && reading_meta(&reading) &&
            strv_extend(&names, &reading_meta(&reading)->left_out) < 0)
                status = out_of_memory();
        if (status == STATUS_OK)
                status = function_list_get(&list, o, c);
        if (status == STATUS_OK)
                status = keep_present(&names, &list);
        if (status != STATUS_OK)
                return status;
        if (names.n == 0)
                return failed(STATUS_NOT_FOUND,
                              "--lean: no function that was seen in %s is in this kernel.", source);
        return strv_extend(ret, &names) < 0 ? out_of_memory() : STATUS_OK;
}
