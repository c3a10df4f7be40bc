/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * For each task those of its calls that are open, by depth.
 *
 * Durations are the kernel's own (without the time slept, if it was told so), so a call counts as long
 * by the time that has passed only if the line has become long meanwhile.
 */

#include "base/array.h"
#include "calls/reorder.h"
#include "calls/stacks.h"
#include "calls/tail-sampler.h"

#define LENGTH_MAX 65536

typedef struct OpenEntry {
        SampledTree *tree; /* NULL: nothing is open */
        const Function *function;
        uint64_t begin_ns;
} OpenEntry;

/* Of a task: Stack.data. */
typedef struct ReorderTask {
        OpenEntry *open; /* by depth */
        size_t n_open;
} ReorderTask;

struct Reorder {
        uint64_t min_ns, now_ns;
        TailSampler *line;
        Stacks tasks;
};

int reorder_new(Reorder **ret, uint64_t min_ns) {
        _cleanup_(reorder_freep) Reorder *h = NEW(Reorder, .min_ns = min_ns);
        int r = h ? tail_sampler_new(&h->line, LENGTH_MAX, min_ns) : -ENOMEM;

        if (r < 0)
                return r;
        *ret = TAKE_PTR(h);
        return 0;
}

/* Where the call at the step's depth is; room is made.  NULL without memory. */
static OpenEntry *open_at(Reorder *h, const Step *step) {
        ReorderTask *t = stacks_data(&h->tasks, step, sizeof(*t));

        return t && ARRAY_REACH(t->open, t->n_open, step->depth) ? &t->open[step->depth] : NULL;
}

/* A call whose return will not come any more: what is known of it is how long it was open. */
static void give_up(Reorder *h, OpenEntry *open) {
        if (open->tree)
                (void) tail_sampler_end(h->line, TAKE_PTR(open->tree),
                                        h->now_ns - open->begin_ns >= h->min_ns);
}

static int push_enter(Reorder *h, OpenEntry *open, const Step *step) {
        give_up(h, open);
        *open = (OpenEntry){ tail_sampler_begin(), step->function, step->timestamp_ns };
        return open->tree ? tail_sampler_push(h->line, open->tree, step) : -ENOMEM;
}

int reorder_push(Reorder *h, const Step *step) {
        bool is_shown = true;
        OpenEntry *open;
        int r = 0;

        h->now_ns = step->timestamp_ns;
        if (step->kind == STEP_TASK)
                r = stacks_name_task(&h->tasks, step);
        if (step->kind == STEP_LEAF || step->kind == STEP_LEAVE)
                is_shown = step_duration_ns(step) >= h->min_ns;
        if (step->kind == STEP_ENTER || step->kind == STEP_LEAVE) {
                open = open_at(h, step);
                if (!open)
                        return -ENOMEM;
                if (step->kind == STEP_ENTER)
                        return push_enter(h, open, step);
                /* The end of what is shown already is shown, too. */
                if (open->tree && open->function == step->function)
                        is_shown = tail_sampler_end(h->line, TAKE_PTR(open->tree), is_shown);
        }
        return r >= 0 && is_shown ? tail_sampler_push(h->line, NULL, step) : r;
}

void reorder_finish(Reorder *h) {
        for (size_t i = 0; i < h->tasks.n; i++) {
                ReorderTask *t = h->tasks.items[i].data;

                for (size_t k = 0; t && k < t->n_open; k++)
                        give_up(h, &t->open[k]);
        }
}

bool reorder_pop(Reorder *h, Step *ret) {
        return tail_sampler_pop(h->line, h->now_ns, ret);
}

Reorder *reorder_free(Reorder *h) {
        if (!h)
                return NULL;
        if (h->line)
                reorder_finish(h);
        for (size_t i = 0; i < h->tasks.n; i++) {
                ReorderTask *t = h->tasks.items[i].data;

                if (t)
                        free(t->open);
        }
        stacks_done(&h->tasks);
        tail_sampler_free(h->line);
        return mfree(h);
}
