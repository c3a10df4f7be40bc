/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Recordings made by chance, of which everything is known: tasks on several CPUs call functions at
 * random, interrupts come in between, and then a part of the steps may be lost or cut off.  Of whole
 * recordings every figure must be the true one; of others all ways of adding up must agree.
 */

#include "analyze/breakdown.h"
#include "analyze/call-tree.h"
#include "base/unit.h"
#include "fed.h"

#define N_FUNCTIONS 40
#define N_TASKS 5
#define N_CPUS 3
#define N_STEPS_MAX 60000

static char labels[N_FUNCTIONS][64];
static Function functions[N_FUNCTIONS];

/* What is true of one function. */
typedef struct Truth {
        uint64_t n, self_ns, total_ns;
        uint32_t n_open[N_TASKS];
} Truth;

typedef struct World {
        uint64_t random;
        uint64_t now_ns; /* one clock for all */
        Step steps[N_STEPS_MAX];
        size_t n_steps;
        Truth truth[N_FUNCTIONS];
        uint64_t total_ns, n_calls;
        size_t task; /* that runs; tasks take turns between calls of depth 0 */
        uint32_t cpu;
} World;

static uint32_t chance(World *w, uint32_t n) {
        w->random ^= w->random << 13;
        w->random ^= w->random >> 7;
        w->random ^= w->random << 17;
        return (uint32_t) (w->random >> 33) % n;
}

static void name_functions(void) {
        for (size_t i = 0; i < N_FUNCTIONS; i++) {
                int n = i == 0 ? snprintf(labels[i], sizeof(labels[i]),
                                          "sysvec_apic_timer_interrupt")
                               : snprintf(labels[i], sizeof(labels[i]), "f%zu", i);

                functions[i].n_name = (uint32_t) n;
                if (i % 7 == 3)
                        n += snprintf(labels[i] + n, sizeof(labels[i]) - (size_t) n, " [m%zu]",
                                      i % 3);
                functions[i].n_label = (uint32_t) n;
                functions[i].label = labels[i];
                functions[i].address = i + 1;
        }
}

static Step *add_step(World *w, StepKind kind, size_t function, int32_t depth) {
        Step *s = &w->steps[w->n_steps];

        ck_assert_uint_lt(w->n_steps, N_STEPS_MAX);
        *s = (Step){
                .kind = kind,
                .cpu = w->cpu,
                .pid = (int32_t) (100 + w->task),
                .comm = "chance",
                .depth = depth,
                .timestamp_ns = w->now_ns,
                .function = &functions[function],
        };
        w->n_steps++;
        return s;
}

/* A call and what it calls; how long it took. */
static uint64_t call(World *w, size_t function, int32_t depth) {
        uint64_t begin_ns = w->now_ns, self_ns = 1 + chance(w, 500), below_ns = 0, duration_ns;
        uint32_t n_children = depth < 12 ? chance(w, depth < 2 ? 6 : 3) : 0;
        Truth *truth = &w->truth[function];
        Step *s;

        w->n_calls++;
        truth->n++;
        truth->n_open[w->task]++;
        if (n_children > 0)
                (void) add_step(w, STEP_ENTER, function, depth);
        else
                s = add_step(w, STEP_LEAF, function, depth);
        for (uint32_t i = 0; i < n_children; i++) {
                w->now_ns += self_ns / (n_children + 1);
                below_ns +=
                        call(w, chance(w, 20) == 0 ? 0 : 1 + chance(w, N_FUNCTIONS - 1), depth + 1);
        }
        duration_ns = self_ns + below_ns;
        w->now_ns = begin_ns + duration_ns;
        if (n_children > 0)
                s = add_step(w, STEP_LEAVE, function, depth);
        s->calltime = begin_ns;
        s->rettime = begin_ns + duration_ns;
        truth->self_ns += self_ns;
        if (--truth->n_open[w->task] == 0)
                truth->total_ns += duration_ns;
        return duration_ns;
}

static World *world(uint64_t seed) {
        World *w = calloc(1, sizeof(*w));

        ck_assert_ptr_nonnull(w);
        w->random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
        w->now_ns = NSEC_PER_SEC;
        name_functions();
        while (w->n_steps < N_STEPS_MAX / 10) {
                w->task = chance(w, N_TASKS);
                w->cpu = chance(w, N_CPUS);
                w->now_ns += chance(w, 1000);
                w->total_ns += call(w, 1 + chance(w, 4), 0);
        }
        return w;
}

typedef struct Sums {
        uint64_t n, self_ns, total_ns, n_cut;
} Sums;

static Sums sums_by(const World *w, BreakdownBy by, bool check) {
        _cleanup_(pairing_freep) Pairing *p = fed_pairing();
        _cleanup_(breakdown_freep) Breakdown *b = MADE(Breakdown, breakdown_new, by, p);
        const BreakdownRow *const *rows;
        Sums s = {};
        size_t n;

        feed_all(p, w->steps, w->n_steps);
        ck_assert_int_eq(pairing_finish(p), 0);
        rows = breakdown_rows(b, &n);
        for (size_t i = 0; i < n; i++) {
                s.n += rows[i]->n_calls;
                s.self_ns += rows[i]->self_ns;
                s.n_cut += rows[i]->n_cut;
                if (check) {
                        const Truth *t = &w->truth[rows[i]->function - functions];

                        ck_assert_uint_eq(rows[i]->n, t->n);
                        ck_assert_uint_eq(rows[i]->self_ns, t->self_ns);
                        ck_assert_uint_eq(rows[i]->total_ns, t->total_ns);
                        ck_assert_uint_eq(rows[i]->quantiles.n, t->n);
                }
        }
        s.total_ns = p->total_ns;
        ck_assert_uint_eq(s.n, p->n_calls);
        return s;
}

static void check_tree(const World *w, Sums wanted, bool check) {
        _cleanup_(pairing_freep) Pairing *p = fed_pairing();
        _cleanup_(call_tree_freep) CallTree *tree = MADE(CallTree, call_tree_new, p);
        Sums by_function[N_FUNCTIONS] = {};
        const CallNode *root;
        uint64_t self_ns = 0;

        feed_all(p, w->steps, w->n_steps);
        ck_assert_int_eq(pairing_finish(p), 0);
        ck_assert_int_eq(call_tree_finish(tree), 0);
        root = call_tree_root(tree);
        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                const CallNode *up = n->parent;
                uint64_t below_ns = 0;

                for (const CallNode *c = n->children; c; c = c->next) {
                        below_ns += c->share_ns;
                        ck_assert(!c->next || c->total_ns >= c->next->total_ns);
                }
                ck_assert_uint_eq(n->share_ns, n->self_ns + below_ns);
                ck_assert(!check || n->total_ns == n->share_ns);
                self_ns += n->self_ns;
                while (up->function && up->function != n->function)
                        up = up->parent;
                by_function[n->function - functions].n += n->n;
                by_function[n->function - functions].self_ns += n->self_ns;
                by_function[n->function - functions].total_ns += up->function ? 0 : n->total_ns;
        }
        ck_assert_uint_eq(self_ns, wanted.self_ns);
        ck_assert_uint_eq(root->total_ns, wanted.total_ns);
        ck_assert_uint_eq(root->n_below, wanted.n);
        for (size_t i = 0; check && i < N_FUNCTIONS; i++) {
                ck_assert_uint_eq(by_function[i].n, w->truth[i].n);
                ck_assert_uint_eq(by_function[i].self_ns, w->truth[i].self_ns);
                ck_assert_uint_eq(by_function[i].total_ns, w->truth[i].total_ns);
        }
}

static void check_all(const World *w, bool is_whole) {
        Sums wanted = sums_by(w, BREAKDOWN_BY_FUNCTION, is_whole);

        ck_assert_uint_eq(wanted.self_ns, wanted.total_ns);
        for (BreakdownBy by = BREAKDOWN_BY_MODULE; by <= BREAKDOWN_BY_ROOT; by++) {
                Sums s = sums_by(w, by, false);

                ck_assert_uint_eq(s.self_ns, wanted.self_ns);
                ck_assert_uint_eq(s.n, wanted.n);
        }
        if (is_whole) {
                ck_assert_uint_eq(wanted.total_ns, w->total_ns);
                ck_assert_uint_eq(wanted.n, w->n_calls);
                ck_assert_uint_eq(wanted.n_cut, 0);
        }
        check_tree(w, wanted, is_whole);
}

TEST(whole_recordings_have_the_true_figures) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
                _cleanup_free_ World *w = world(seed);

                printf("# seed %llu\n", (unsigned long long) seed);
                check_all(w, true);
        }
}

TEST(all_ways_agree_where_only_ends_are_known) {
        _cleanup_free_ World *w = world(7);
        size_t n = 0;

        for (size_t i = 0; i < w->n_steps; i++)
                if (w->steps[i].kind != STEP_ENTER) {
                        w->steps[i].kind = STEP_LEAVE;
                        w->steps[n++] = w->steps[i];
                }
        w->n_steps = n;
        check_tree(w, sums_by(w, BREAKDOWN_BY_FUNCTION, false), true);
}

TEST(a_recording_that_is_all_loss_has_no_calls) {
        _cleanup_free_ World *w = world(3);

        for (size_t i = 0; i < w->n_steps; i++)
                w->steps[i].kind = STEP_LOST;
        ck_assert_uint_eq(sums_by(w, BREAKDOWN_BY_FUNCTION, false).n, 0);
        check_tree(w, (Sums){}, false);
}
