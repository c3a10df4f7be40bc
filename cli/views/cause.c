/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/why-sentence.h"
#include "cli/views/cause.h"
#include "cli/views/counting.h"

static int find(char **ret, const Anatomy *a) {
        _cleanup_(why_freep) Why *w = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;
        const CallNode *root;
        size_t n_roots;
        int r = cohorts_greatest_root(&root, &n_roots, a, NULL, false);

        if (r < 0 || !root)
                return r;
        r = why_new(&w, a, root, &(CohortsSpec){ .by = COHORTS_BY_SLOWEST });
        if (r < 0 || !w->is_enough)
                return r;
        why_sentence(&out, w);
        return buf_take_string(&out, ret);
}

int cause_of(char **ret, const Options *o, const char *word) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(anatomy_freep) Anatomy *a = NULL;
        int status = counting_init(&counting, false), r;

        *ret = NULL;
        if (status != STATUS_OK || streq(word, "-"))
                return status;
        r = anatomy_new(&a);
        if (r >= 0)
                r = anatomy_add_source(a, counting.pairing);
        if (r < 0)
                return counting_failure(r);
        status = counting_read(&counting, o, word);
        if (status != STATUS_OK)
                return status;
        r = find(ret, a);
        return r < 0 ? counting_failure(r) : STATUS_OK;
}
