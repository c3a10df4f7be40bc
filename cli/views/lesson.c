/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A row for each Function, found by its pointer; at the end by name, for modules that came back have
 * several of one name.  What lean left out of a recording is known by name and by who calls it, and is
 * added: it was called, or would have been.
 */

#include "analyze/role.h"
#include "base/grow.h"
#include "base/name.h"
#include "calls/name-set.h"
#include "cli/views/lesson.h"

/* A row for it, made if need be; NULL without memory. */
static LessonFunction *look_up(Lesson *l, const Function *function) {
        uint64_t key = hash_key(function), i = hash_get(&l->by_function, key);

        if (i > 0)
                return &l->seen[i - 1];
        if (!ARRAY_GROW(l->seen, l->n_seen) || hash_add(&l->by_function, key, l->n_seen + 1) < 0)
                return NULL;
        l->seen[l->n_seen] = (LessonFunction){ .function = function, .outermost = INT32_MAX };
        return &l->seen[l->n_seen++];
}

static void add_caller(LessonFunction *f, const Function *caller) {
        for (size_t i = 0; i < LESSON_CALLERS && f->callers[i] != caller; i++)
                if (!f->callers[i]) {
                        f->callers[i] = caller;
                        break;
                }
}

static int on_end(void *userdata, const Call *call) {
        const Frame *frame = call->frame;
        LessonFunction *f;

        if (!frame->function)
                return 0;
        f = look_up(userdata, frame->function);
        if (!f)
                return -ENOMEM;
        if (call->caller && call->caller->function)
                add_caller(f, call->caller->function);
        if (call->is_late)
                return 0;
        f->n_calls++;
        if (call->is_root && frame->depth < f->outermost)
                f->outermost = frame->depth;
        return 0;
}

void lesson_init(Lesson *ret, Pairing *pairing) {
        *ret = (Lesson){};
        pairing_add_sink(pairing, NULL, on_end, ret);
}

/* --- names ------------------------------------------------------------------------------------ */

/* Its name without its module; false: it has none, or none that a function of a kernel can have. */
static bool get_name(const Function *f, char ret[static FUNCTION_NAME_MAX + 1]) {
        if (f->n_name == 0 || f->n_name > FUNCTION_NAME_MAX)
                return false;
        memcpy(ret, f->label, f->n_name);
        ret[f->n_name] = 0;
        return function_name_is_valid(ret) && (ret[0] < '0' || ret[0] > '9');
}

/* Interrupts come between a root's calls, too, and are no roots if anything else is (linux 6.1, of which a function
 * of theirs may be as far outside as the root). */
static int add_outermost(Lesson *l) {
        char name[FUNCTION_NAME_MAX + 1];
        int32_t depth = INT32_MAX;
        bool has_others = false;
        int r = 0;

        for (size_t i = 0; i < l->n_seen; i++)
                depth = MIN(depth, l->seen[i].outermost);
        for (size_t i = 0; i < l->n_seen; i++)
                has_others |=
                        l->seen[i].outermost == depth && role_of(l->seen[i].function) != ROLE_IRQ;
        for (size_t i = 0; r >= 0 && depth < INT32_MAX && i < l->n_seen; i++)
                if (l->seen[i].outermost == depth && get_name(l->seen[i].function, name) &&
                    !(has_others && role_of(l->seen[i].function) == ROLE_IRQ))
                        r = strv_add(&l->roots, name);
        return r;
}

/* What was asked for is known by name, whether it was called or not. */
static int find_roots(Lesson *l, const SessionMeta *m, const Strv *wanted) {
        int r = 0;

        if (!m || m->roots.n == 0) {
                r = add_outermost(l);
                for (size_t i = 0; r >= 0 && i < wanted->n; i++)
                        if (function_name_is_valid(wanted->items[i]))
                                r = strv_add(&l->roots, wanted->items[i]);
        } else
                for (size_t i = 0; r >= 0 && i < m->roots.n; i++)
                        if (wanted->n == 0 || name_set_patterns_match(wanted, m->roots.items[i]))
                                r = strv_add(&l->roots, m->roots.items[i]);
        strv_sort_unique(&l->roots);
        return r;
}

static int add_function(Lesson *l, const LessonFunction *f) {
        char text[(1 + LESSON_CALLERS) * (FUNCTION_NAME_MAX + 1)];
        char name[FUNCTION_NAME_MAX + 1];
        size_t n;

        if (!get_name(f->function, name))
                return 0;
        if (strv_finds(&l->roots, name))
                l->n_calls += f->n_calls;
        else
                l->has_more = true;
        n = (size_t) snprintf(text, sizeof(text), "%s", name);
        for (size_t i = 0; i < LESSON_CALLERS && f->callers[i]; i++)
                if (get_name(f->callers[i], name))
                        n += (size_t) snprintf(text + n, sizeof(text) - n, " %s", name);
        return strv_add(&l->functions, text);
}

/* What it was seen to call, whose callers are known: with one space between two, as ours have. */
static int add_left_out(Lesson *l, const SessionMeta *m) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < m->left_out.n; i++) {
                const char *callers = i < m->left_out_in.n ? m->left_out_in.items[i] : "";

                if (*callers)
                        r = strv_addf(&l->functions, "%s %s", m->left_out.items[i], callers);
        }
        return r;
}

/* Of several of one name the first stays. */
static void keep_one_of_each(Strv *functions) {
        size_t kept = 0;

        strv_sort_unique(functions);
        for (size_t i = 0; i < functions->n; i++) {
                size_t n = strcspn(functions->items[i], " ");
                const char *last = kept > 0 ? functions->items[kept - 1] : NULL;

                if (last && strcspn(last, " ") == n && strncmp(last, functions->items[i], n) == 0)
                        free(functions->items[i]);
                else
                        functions->items[kept++] = functions->items[i];
        }
        functions->n = kept;
        if (functions->items)
                functions->items[kept] = NULL;
}

int lesson_end(Lesson *l, const SessionMeta *m, const Strv *roots) {
        int r = find_roots(l, m, roots);

        for (size_t i = 0; r >= 0 && i < l->n_seen; i++)
                r = add_function(l, &l->seen[i]);
        if (r >= 0 && m && roots->n == 0)
                r = add_left_out(l, m);
        if (r >= 0)
                keep_one_of_each(&l->functions);
        return MIN(r, 0);
}

void lesson_done(Lesson *l) {
        free(l->seen);
        hash_done(&l->by_function);
        strv_done(&l->roots);
        strv_done(&l->functions);
        *l = (Lesson){};
}

/* --- what a recording is good for ------------------------------------------------------------- */

const char *lesson_problem(const SessionMeta *m) {
        const Spec *s = &m->spec;

        if (s->flat)
                return "only its functions themselves were recorded (--flat)";
        if (s->hooked.n > 0)
                return "only functions that were named were recorded (--only, --lean=FILE)";
        if (s->depth > 0)
                return "only some levels were recorded (--depth)";
        if (s->notrace.n > 0)
                return "some functions were left out (--notrace)";
        if (s->slower_ns > 0)
                return "only slow calls were recorded (--slower)";
        if (s->no_irqs)
                return "interrupts were left out (--no-irqs)";
        return NULL;
}

bool lesson_lacks_ordinary(const SessionMeta *m) {
        return m->n_ordinary > 0 || (m->n_hooked > 0 && m->spec.lean != LEAN_FULL);
}
