/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls repeat: what a caller calls in one call, as a list, has the same ways whenever it is the same list, so that the
 * code is asked once.  Names come from debug information, which is hostile.
 */

#include <inttypes.h>

#include "base/buf.h"
#include "lines/lines.h"

#define LISTED_MAX 4           /* of several places */
#define RUN_MAX ((size_t) 512) /* calls of one caller that are looked at together */
#define RUNS_BYTES_MAX ((size_t) 64 << 20)

/* A list of calls of one caller. */
typedef struct Run {
        const Function *caller;
        size_t n;
        bool has_ended;
        const void *items[]; /* n callees, and n ways */
} Run;

/* A way that was made. */
typedef struct Made {
        const LineSites *sites;
        const Function *callee;
        uint64_t possible;
        CallWay way; /* with its functions behind it */
} Made;

/* Calls by the stack's frames: where in its code each is. */
struct Ways {
        Lines *lines;
        Stacks stacks;  /* frames' data: a LinesPosition */
        Hash functions; /* by what they are and their label */
        Hash made;      /* by sites and what of them is possible */
        Hash runs;
        size_t n_run_bytes;
        const LineSites **sites; /* of one run */
        uint64_t *possible;
        size_t n_sites_room, n_possible_room;
};

/* --- functions -------------------------------------------------------------------------------- */

/* The one of @model's kind with that label, made if it is new, which has what @model has; NULL without memory.  @label is used
 * up. */
static const Function *function_get(Ways *w, const Function *model, Buf *label) {
        uint64_t key = hash_mix(
                hash_bytes(HASH_BYTES_FIRST + model->kind, label->data ?: "", label->n_data) ^
                hash_key(model->plain));
        const HashSlot *slot;
        Function *f;

        if (label->error < 0)
                return NULL;
        hash_each (slot, &w->functions, key) {
                f = (void *) (uintptr_t) slot->value;
                if (f->kind == model->kind && f->plain == model->plain &&
                    f->n_label == label->n_data &&
                    memcmp(f->label, label->data ?: "", label->n_data) == 0)
                        return f;
        }
        f = calloc(1, sizeof(*f) + label->n_data + 1 + FUNCTION_SLACK);
        if (!f || hash_add_ptr(&w->functions, key, f) < 0)
                return mfree(f);
        *f = *model;
        f->label = memcpy(f + 1, label->data ?: "", label->n_data);
        f->n_label = (uint32_t) label->n_data;
        return f;
}

/* What lies between two that were recorded, as the source calls it. */
static const Function *function_between(Ways *w, const LineFrame *frame) {
        _cleanup_buf_ Buf label = BUF_INIT;
        Function model = { .root = -1,
                           .n_unhooked = UNHOOKED_UNTOLD,
                           .kind = frame->is_untraced ? FUNCTION_UNTRACED : FUNCTION_INLINED };

        buf_add_plain(&label, frame->function, strnlen(frame->function, FUNCTION_SYMBOL_MAX),
                      PLAIN_WORD);
        model.n_name = (uint32_t) label.n_data;
        return function_get(w, &model, &label);
}

/* That one, called from @place; @at: if that is one line. */
static const Function *function_at(Ways *w, const Function *plain, const char *place,
                                   const LineFrame *at) {
        static const char *const kinds[] = { [FUNCTION_RECORDED] = "",
                                             [FUNCTION_INLINED] = "inlined, ",
                                             [FUNCTION_UNTRACED] = "not traced, " };
        _cleanup_buf_ Buf label = BUF_INIT;
        Function model = *plain;

        buf_add(&label, plain->label, plain->n_label);
        buf_printf(&label, " (%s%s)", kinds[plain->kind], place);
        model.n_place = (uint32_t) (label.n_data - plain->n_label);
        model.plain = plain;
        model.file = at ? at->file : NULL;
        model.line = at ? at->line : 0;
        return function_get(w, &model, &label);
}

/* --- ways ------------------------------------------------------------------------------------- */

/* "net/ipv4/udp.c:1102", or ":1266" behind another one of the same file. */
static void add_place(Buf *out, const LineFrame *at, const LineFrame *before) {
        if (!at->file)
                buf_adds(out, "?");
        else if (!before || !before->file || !streq(before->file, at->file))
                buf_add_plain(out, at->file, strlen(at->file), PLAIN_WORD);
        if (at->file && at->line > 0)
                buf_printf(out, ":%" PRIu32, at->line);
}

/* The sites that are possible: their frames at one depth. */
typedef struct Places {
        const LineSites *sites;
        uint64_t possible;
        uint32_t depth;
} Places;

static const LineSite *next_site(const Places *p, uint32_t *i) {
        while (*i < p->sites->n_sites) {
                uint32_t k = (*i)++;

                if (k >= 64 || p->possible & UINT64_C(1) << k)
                        return &p->sites->sites[k];
        }
        return NULL;
}

/* Whether all are at one line; @ret_n: at how many different ones they are, at most LISTED_MAX + 1. */
static bool are_one(const Places *p, const LineFrame **ret, uint32_t *ret_n) {
        const LineSite *s;
        uint32_t i = 0, n = 0;

        while ((s = next_site(p, &i))) {
                const LineFrame *f = &s->frames[p->depth];
                uint32_t k = 0;

                while (k < n && !(ret[k]->line == f->line && streq_ptr(ret[k]->file, f->file)))
                        k++;
                if (k == n && n <= LISTED_MAX)
                        ret[n++] = f;
        }
        *ret_n = n;
        return n == 1;
}

/* The function that all are in at the next depth; NULL: they are not, or there is no more. */
static const LineFrame *next_frame(const Places *p) {
        const LineFrame *ret = NULL;
        const LineSite *s;
        uint32_t i = 0;

        while ((s = next_site(p, &i))) {
                const LineFrame *f = p->depth + 1 < s->n_frames ? &s->frames[p->depth + 1] : NULL;

                if (!f || !f->function ||
                    (ret &&
                     (ret->is_untraced != f->is_untraced || !streq(ret->function, f->function))))
                        return NULL;
                ret = f;
        }
        return ret;
}

/* Whether the compiler only took a function apart, and put it together again: its DWARF has it within itself. */
static bool is_own_part(const LineFrame *next) {
        const LineFrame *before = next - 1; /* frames of a site stand behind each other */

        return !next->is_untraced && before->function && streq(before->function, next->function);
}

/* @is_last: it is where the callee is called. */
static void describe(Buf *out, const Places *p, bool is_last, const LineFrame *const *places,
                     uint32_t n) {
        const LinesAnswer answer = is_last ? p->sites->answer : LINES_DIRECT;
        bool is_static = answer == LINES_INDIRECT;
        const LineSite *s;
        uint32_t i = 0, n_all = 0;

        if (p->sites->n_sites == 0 || n == 0) {
                buf_adds(out, answer == LINES_INDIRECT ? "by a pointer"
                              : answer == LINES_NONE   ? "no call of it is known"
                                                       : "line not known");
                return;
        }
        for (; (s = next_site(p, &i)); n_all++)
                is_static &= s->is_static;
        if (answer == LINES_INDIRECT)
                buf_adds(out, is_static ? "static call" : "by a pointer");
        if (answer == LINES_INDIRECT && n > 1)
                return;
        buf_adds(out, answer == LINES_INDIRECT ? ": " : "");
        if (n > LISTED_MAX)
                buf_printf(out, "one of %" PRIu32 ": ", n_all);
        else if (n > 1)
                buf_printf(out, "one of %" PRIu32 ": ", n);
        for (i = 0; i < MIN(n, (uint32_t) LISTED_MAX); i++) {
                buf_adds(out, i > 0 ? ", " : "");
                add_place(out, places[i], i > 0 ? places[i - 1] : NULL);
        }
        buf_adds(out, n > LISTED_MAX ? ", ..." : "");
}

static Made *make(Ways *w, const LineSites *sites, uint64_t possible, const Function *callee) {
        _cleanup_buf_ Buf text = BUF_INIT;
        _cleanup_free_ const Function **functions = NULL;
        Places p = { sites, possible, 0 };
        uint32_t n = 0;
        Made *m;

        for (const LineFrame *next, *into = NULL;; into = next) {
                const LineFrame *places[LISTED_MAX + 1];
                _cleanup_buf_ Buf place = BUF_INIT;
                uint32_t n_places = 0;
                bool is_one;

                for (;; p.depth++) {
                        is_one = sites->n_sites > 0 && are_one(&p, places, &n_places);
                        next = is_one ? next_frame(&p) : NULL;
                        if (!next || !is_own_part(next))
                                break;
                }
                describe(&place, &p, !next, places, n_places);
                if (into) {
                        buf_adds(&text, into->is_untraced ? " {" : " [");
                        buf_add(&text, functions[n - 1]->label, functions[n - 1]->n_name);
                        buf_adds(&text, into->is_untraced ? "} " : "] ");
                }
                buf_add(&text, place.data, place.n_data);
                buf_add(&place, "", 1);
                if (place.error < 0 || !ARRAY_GROW(functions, n))
                        break;
                functions[n] = next ? function_between(w, next) : callee;
                if (functions[n])
                        functions[n] =
                                function_at(w, functions[n], place.data, is_one ? places[0] : NULL);
                if (!functions[n++])
                        break;
                if (!next) {
                        m = malloc(sizeof(*m) + n * sizeof(*functions) + text.n_data + 1);
                        if (!m || text.error < 0)
                                return mfree(m);
                        *m = (Made){ sites, callee, possible, {} };
                        memcpy(m->way.functions, functions, n * sizeof(*functions));
                        m->way.n = n;
                        m->way.n_text = (uint32_t) text.n_data;
                        m->way.text = memcpy((char *) &m->way.functions[n], text.data, text.n_data);
                        ((char *) m->way.text)[text.n_data] = 0;
                        return m;
                }
                p.depth++;
        }
        return NULL;
}

/* NULL without memory. */
static const CallWay *way_of(Ways *w, const LineSites *sites, uint64_t possible,
                             const Function *callee) {
        uint64_t key = hash_mix(hash_key(sites) ^ hash_mix(possible)) ^ hash_key(callee);
        const HashSlot *slot;
        Made *m;

        hash_each (slot, &w->made, key) {
                m = (void *) (uintptr_t) slot->value;
                if (m->sites == sites && m->possible == possible && m->callee == callee)
                        return &m->way;
        }
        m = make(w, sites, possible, callee);
        if (!m || hash_add_ptr(&w->made, key, m) < 0) {
                free(m);
                return NULL;
        }
        return &m->way;
}

/* --- a caller's calls ------------------------------------------------------------------------- */

static int ask(Ways *w, const Function *caller, const Function *const *callees, size_t n,
               bool has_ended, const CallWay **ret) {
        int r;

        if (!ARRAY_ROOM(w->sites, w->n_sites_room, n) ||
            !ARRAY_ROOM(w->possible, w->n_possible_room, n))
                return -ENOMEM;
        r = lines_follow_calls(w->lines, caller, callees, n, has_ended, w->sites, w->possible);
        for (size_t i = 0; i < n && r >= 0; i++) {
                ret[i] = NULL;
                if (!w->sites[i] || w->sites[i]->answer == LINES_INTERRUPT)
                        continue;
                ret[i] = way_of(w, w->sites[i], w->possible[i], callees[i]);
                if (!ret[i])
                        return -ENOMEM;
        }
        return r;
}

static int ask_or_know(Ways *w, const Function *caller, const Function *const *callees, size_t n,
                       bool has_ended, const CallWay **ret) {
        uint64_t key = hash_bytes((HASH_BYTES_FIRST ^ hash_key(caller)) + has_ended,
                                  (const char *) callees, n * sizeof(*callees));
        size_t n_bytes = sizeof(Run) + 2 * n * sizeof(void *);
        const HashSlot *slot;
        Run *run;
        int r;

        hash_each (slot, &w->runs, key) {
                run = (void *) (uintptr_t) slot->value;
                if (run->caller == caller && run->n == n && run->has_ended == has_ended &&
                    memcmp(run->items, callees, n * sizeof(*callees)) == 0) {
                        memcpy(ret, run->items + n, n * sizeof(*ret));
                        return 0;
                }
        }
        r = ask(w, caller, callees, n, has_ended, ret);
        if (r < 0 || w->n_run_bytes + n_bytes > RUNS_BYTES_MAX)
                return r;
        run = malloc(n_bytes);
        if (!run || hash_add_ptr(&w->runs, key, run) < 0) {
                free(run);
                return -ENOMEM;
        }
        w->n_run_bytes += n_bytes;
        *run = (Run){ .caller = caller, .n = n, .has_ended = has_ended };
        memcpy(run->items, callees, n * sizeof(*callees));
        memcpy(run->items + n, ret, n * sizeof(*ret));
        return 0;
}

int ways_find(void *ways, const Function *caller, const Function *const *callees, size_t n,
              bool has_ended, const CallWay **ret) {
        Ways *w = ways;
        int r = 0;

        /* Behind the first ones others came before. */
        for (size_t i = 0, k; i < n && r >= 0; i += k) {
                const Function *part[RUN_MAX + 1] = {};
                const CallWay *found[RUN_MAX + 1];
                size_t n_before = i > 0;

                k = MIN(n - i, RUN_MAX);
                memcpy(part + n_before, callees + i, k * sizeof(*callees));
                r = ask_or_know(w, caller, part, n_before + k, has_ended && i + k == n, found);
                if (r >= 0)
                        memcpy(ret + i, found + n_before, k * sizeof(*ret));
        }
        return r;
}

/* --- while it is drawn ------------------------------------------------------------------------ */

static int find_way(Ways *w, Frame *caller, Step *step) {
        const LineSites *sites = lines_sites(w->lines, caller->function, step->function);
        uint64_t possible;

        if (!sites)
                return -ENOMEM;
        if (!caller->data)
                caller->data = NEW(LinesPosition, .is_lost = caller->is_cut);
        if (!caller->data)
                return -ENOMEM;
        possible = lines_follow(w->lines, caller->data, sites);
        if (sites->answer == LINES_INTERRUPT)
                return 0;
        step->way = way_of(w, sites, possible, step->function);
        return step->way ? 0 : -ENOMEM;
}

/* Nobody knows what was called meanwhile. */
static void lose(Frame *frame) {
        LinesPosition *at = frame->data;

        frame->is_cut = true;
        if (at)
                *at = (LinesPosition){ .is_lost = true };
}

int ways_step(Ways *w, Step *step) {
        Frame *frame, *caller;
        Stack *stack;
        int r = 0;

        for (size_t i = 0; step->kind == STEP_LOST && i < w->stacks.n; i++)
                for (uint32_t k = 0; k < w->stacks.items[i].n; k++)
                        lose(&w->stacks.items[i].frames[k]);
        if (step->kind == STEP_TASK)
                return stacks_name_task(&w->stacks, step);
        if (!step_is_call(step))
                return 0;
        stack = stacks_get(&w->stacks, step);
        if (!stack)
                return -ENOMEM;
        while ((frame = stack_pop_deeper(stack, step->depth)))
                free(frame->data);
        if (step->kind == STEP_LEAVE) {
                frame = stack_find(stack, step->depth, step->function);
                if (frame) {
                        free(frame->data);
                        stack_remove(stack, frame);
                }
                return 0;
        }
        while ((frame = stack_pop_before_call(stack, step->depth)))
                free(frame->data);
        caller = stack_caller(stack, step->depth);
        if (caller && step->n_left_out > 0)
                lose(caller);
        if (caller && caller->depth == step->depth - 1)
                r = find_way(w, caller, step);
        if (r >= 0 && step->kind == STEP_ENTER && !stack_push(stack, step->function, step->depth))
                r = -ENOMEM;
        return r;
}

/* --- all -------------------------------------------------------------------------------------- */

int ways_new(Ways **ret, Lines *lines) {
        *ret = NEW(Ways, .lines = lines);
        return *ret ? 0 : -ENOMEM;
}

bool ways_define(void *ways, const Function *f, const char **ret_file, uint32_t *ret_line) {
        const Ways *w = ways;
        LineFrame frame;

        if (f->kind != FUNCTION_RECORDED || !lines_definition(w->lines, f, &frame))
                return false;
        *ret_file = frame.file;
        *ret_line = frame.line;
        return true;
}

static void free_values(Hash *h) {
        for (size_t i = 0; i < h->n_slots; i++)
                free((void *) (uintptr_t) h->slots[i].value);
        hash_done(h);
}

Ways *ways_free(Ways *w) {
        if (!w)
                return NULL;
        for (size_t i = 0; i < w->stacks.n; i++)
                for (uint32_t k = 0; k < w->stacks.items[i].n; k++)
                        free(w->stacks.items[i].frames[k].data);
        stacks_done(&w->stacks);
        free_values(&w->functions);
        free_values(&w->made);
        free_values(&w->runs);
        free(w->sites);
        free(w->possible);
        return mfree(w);
}
