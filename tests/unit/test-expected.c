/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Figures of the texts in tests/data/text against those that another program has counted. */

#include <math.h>

#include "analyze/breakdown.h"
#include "analyze/overhead.h"
#include "text-file.h"

typedef struct Ended {
        const Function *function, *parent;
        uint64_t line, start_ns; /* since its root's begin */
        uint64_t duration_ns, self_ns, blocked_ns, irq_ns, all_blocked_ns, n_calls;
        int32_t depth, pid;
        bool is_root, is_irq;
} Ended;

typedef struct Counted {
        TextTrace *trace;
        Pairing *pairing;
        Breakdown *breakdown;
        Floor *floor;
        Ended *calls;
        size_t n_calls;
} Counted;

static int keep_call(void *userdata, const Call *call) {
        Counted *c = userdata;
        const Frame *f = call->frame, *caller = call->caller, *root = f;

        if (caller)
                root = &call->stack->frames[0];
        c->calls = realloc(c->calls, (c->n_calls + 1) * sizeof(*c->calls));
        c->calls[c->n_calls++] = (Ended){
                .function = f->function,
                .parent = caller ? caller->function : NULL,
                .line = f->n_line,
                .start_ns = f->start_ns - root->start_ns,
                .duration_ns = call->duration_ns,
                .self_ns = call->self_ns,
                .blocked_ns = call->blocked_ns,
                .all_blocked_ns = f->blocked_ns + call->blocked_ns,
                .irq_ns = call->irq_ns,
                .n_calls = f->n_below + 1,
                .depth = f->depth,
                .pid = call->stack->pid,
                .is_root = call->is_root,
                .is_irq = f->in_irq && !(caller && caller->in_irq),
        };
        return 0;
}

static void count(Counted *c, const char *name, BreakdownBy by) {
        _cleanup_free_ char *path = NULL;
        Step step;

        ck_assert_int_gt(asprintf(&path, "text/%s", name), 0);
        c->trace = trace_of_file(path);
        ck_assert_int_eq(pairing_new(&c->pairing), 0);
        ck_assert_int_eq(breakdown_new(&c->breakdown, by, c->pairing), 0);
        ck_assert_int_eq(floor_new(&c->floor, c->pairing), 0);
        pairing_add_sink(c->pairing, NULL, keep_call, c);
        while (text_trace_next(c->trace, &step) > 0)
                ck_assert_int_eq(pairing_step(c->pairing, &step), 0);
        ck_assert_int_eq(pairing_finish(c->pairing), 0);
}

static void counted_done(Counted *c) {
        free(c->calls);
        breakdown_free(c->breakdown);
        floor_free(c->floor);
        pairing_free(c->pairing);
        text_trace_free(c->trace);
}
#define _cleanup_counted_ _cleanup_(counted_done)

static json_t *expected(const char *name) {
        _cleanup_free_ char *text = read_data("text/expected.json");
        json_auto_t *all = json_loads(text, 0, NULL);

        ck_assert_ptr_nonnull(all);
        return json_incref(json_object_get(json_object_get(all, "samples"), name));
}

/* Microseconds as a number, in nanoseconds. */
static uint64_t ns_of(const json_t *o, const char *key) {
        const json_t *v = json_object_get(o, key);

        ck_assert_msg(json_is_number(v), "no \"%s\"", key);
        return (uint64_t) llround(json_number_value(v) * 1000);
}

static uint64_t number_of(const json_t *o, const char *key) {
        ck_assert_msg(json_is_integer(json_object_get(o, key)), "no \"%s\"", key);
        return (uint64_t) json_integer_value(json_object_get(o, key));
}

static const char *text_of(const json_t *o, const char *key) {
        return json_string_value(json_object_get(o, key));
}

static bool is_named(const Function *f, const char *name) {
        return f && strlen(name) == f->n_name && memcmp(name, f->label, f->n_name) == 0;
}

/* All that match add up, for a name may be in two modules. */
static BreakdownRow sum_of(Counted *c, const char *name) {
        const BreakdownRow *const *rows;
        BreakdownRow sum = {};
        size_t n;

        rows = breakdown_rows(c->breakdown, &n);
        for (size_t i = 0; i < n; i++)
                if (strlen(name) == rows[i]->n_name &&
                    memcmp(name, rows[i]->name, rows[i]->n_name) == 0) {
                        sum.n += rows[i]->n;
                        sum.self_ns += rows[i]->self_ns;
                        sum.self_irq_ns += rows[i]->self_irq_ns;
                        sum.self_blocked_ns += rows[i]->self_blocked_ns;
                        sum.total_ns += rows[i]->total_ns;
                        sum.quantiles.max = MAX(sum.quantiles.max, rows[i]->quantiles.max);
                        sum.blocked_ns += rows[i]->blocked_ns;
                }
        return sum;
}

static const Ended *find_call(const Counted *c, const char *name, uint64_t line) {
        for (size_t i = 0; i < c->n_calls; i++)
                if (c->calls[i].line == line && is_named(c->calls[i].function, name))
                        return &c->calls[i];
        ck_abort_msg("%s in line %llu has not ended", name, (unsigned long long) line);
}

static const char *const texts[] = {
        "SyS_write-loopback.trace.txt",
        "udp_sendmsg-fragmented.funcgraph.txt",
        "udp-client-server.stap.txt",
};

/* Of the texts from @first to before @end, counted, with what is expected of each. */
#define COUNTED_TEST(name, first, end, by)                                                         \
        static void name##_of(Counted *c, const json_t *e);                                        \
        TEST(name) {                                                                               \
                for (size_t i = (first); i < (end); i++) {                                         \
                        _cleanup_counted_ Counted c = {};                                          \
                        json_auto_t *e = expected(texts[i]);                                       \
                                                                                                   \
                        count(&c, texts[i], (by));                                                 \
                        name##_of(&c, e);                                                          \
                }                                                                                  \
        }                                                                                          \
        static void name##_of(Counted *c, const json_t *e)

COUNTED_TEST(lines_calls_and_functions_are_as_many, 0, ELEMENTSOF(texts), BREAKDOWN_BY_FUNCTION) {
        const json_t *kinds = json_object_get(e, "line_kinds");
        const TextCount *t;

        t = text_trace_count(c->trace);
        ck_assert_uint_eq(t->n_lines, number_of(e, "lines"));
        ck_assert_uint_eq(t->n_bytes, number_of(e, "bytes"));
        ck_assert_uint_eq(c->pairing->n_calls, number_of(e, "calls"));
        ck_assert_uint_eq(text_trace_n_functions(c->trace), number_of(e, "distinct_functions"));
        ck_assert_uint_eq((uint64_t) t->max_depth, number_of(e, "max_depth"));
        if (json_object_get(kinds, "open")) {
                ck_assert_uint_eq(t->n_open, number_of(kinds, "open"));
                ck_assert_uint_eq(t->n_leaf, number_of(kinds, "leaf"));
                ck_assert_uint_eq(t->n_close, number_of(kinds, "close"));
                ck_assert_uint_eq(t->n_headers + t->n_remarks[TEXT_NOT_TRACE],
                                  number_of(kinds, "other"));
        } else {
                ck_assert_uint_eq(t->n_open, number_of(kinds, "entry"));
                ck_assert_uint_eq(t->n_close, number_of(kinds, "return"));
        }
        ck_assert_uint_eq(t->n_remarks[TEXT_TIME_IMPOSSIBLE],
                          json_array_size(json_object_get(e, "negative_self")));
        ck_assert_uint_eq(t->n_cut_calls, 0);
}

COUNTED_TEST(trees_take_as_long, 0, ELEMENTSOF(texts), BREAKDOWN_BY_FUNCTION) {
        const json_t *root;
        size_t k;

        json_array_foreach (json_object_get(e, "roots"), k, root) {
                const Ended *call = find_call(c, text_of(root, "name"), number_of(root, "line"));

                ck_assert(call->is_root);
                ck_assert_uint_eq(call->duration_ns, ns_of(root, "incl_us"));
                ck_assert_uint_eq(call->self_ns, ns_of(root, "self_us"));
                ck_assert_uint_eq(call->n_calls, number_of(root, "calls"));
                if (json_object_get(root, "irq_us"))
                        ck_assert_uint_eq(call->irq_ns, ns_of(root, "irq_us"));
                if (json_object_get(root, "blocked_us")) {
                        ck_assert_uint_eq(call->all_blocked_ns, ns_of(root, "blocked_us"));
                }
        }
        ck_assert_uint_eq(text_trace_count(c->trace)->n_roots, k);
}

static void compare_list(Counted *c, const json_t *e, const char *list) {
        const json_t *o;
        size_t i;

        json_array_foreach (json_object_get(e, list), i, o) {
                BreakdownRow sum = sum_of(c, text_of(o, "name"));
                uint64_t self_ns = sum.self_ns;

                if (strstr(list, "excluding_irq"))
                        self_ns -= sum.self_irq_ns;
                if (strstr(list, "on_cpu"))
                        self_ns -= sum.self_blocked_ns;
                if (json_object_get(o, "self_us"))
                        ck_assert_uint_eq(self_ns, ns_of(o, "self_us"));
                if (json_object_get(o, "incl_us"))
                        ck_assert_uint_eq(sum.total_ns, ns_of(o, "incl_us"));
                if (json_object_get(o, "max_us"))
                        ck_assert_uint_eq(sum.quantiles.max, ns_of(o, "max_us"));
                if (json_object_get(o, "calls"))
                        ck_assert_uint_eq(sum.n, number_of(o, "calls"));
        }
}

COUNTED_TEST(functions_take_as_long, 0, ELEMENTSOF(texts), BREAKDOWN_BY_FUNCTION) {
        static const char *const lists[] = { "top10_self", "top10_self_excluding_irq",
                                             "top10_self_on_cpu", "top10_inclusive",
                                             "top10_count" };
        const BreakdownRow *const *rows;
        const char *name;
        json_t *o;
        size_t k, n;

        for (k = 0; k < ELEMENTSOF(lists); k++)
                compare_list(c, e, lists[k]);
        json_object_foreach (json_object_get(e, "time_under"), name, o)
                ck_assert_uint_eq(sum_of(c, name).total_ns,
                                  (uint64_t) llround(json_number_value(o) * 1000));
        rows = breakdown_rows(c->breakdown, &n);
        json_array_foreach (json_object_get(e, "top10_self"), k, o)
                ck_assert_uint_eq(rows[k]->self_ns, ns_of(o, "self_us"));
}

COUNTED_TEST(modules_take_as_long, 0, 2, BREAKDOWN_BY_MODULE) {
        const char *name;
        json_t *us;
        size_t n;

        json_object_foreach (json_object_get(e, "self_by_module_us"), name, us)
                ck_assert_uint_eq(sum_of(c, name).self_ns,
                                  (uint64_t) llround(json_number_value(us) * 1000));
        (void) breakdown_rows(c->breakdown, &n);
        ck_assert_uint_eq(n, json_object_size(json_object_get(e, "self_by_module_us")));
}

COUNTED_TEST(single_calls_take_as_long, 0, ELEMENTSOF(texts), BREAKDOWN_BY_FUNCTION) {
        const char *name;
        json_t *list, *o;
        size_t k;

        json_array_foreach (json_object_get(e, "top10_single_frames_by_self"), k, o)
                ck_assert_uint_eq(find_call(c, text_of(o, "name"), number_of(o, "line"))->self_ns,
                                  ns_of(o, "self_us"));
        json_object_foreach (json_object_get(e, "activations"), name, list)
                json_array_foreach (list, k, o) {
                        const Ended *call = find_call(c, name, number_of(o, "line"));

                        ck_assert_uint_eq(call->duration_ns, ns_of(o, "incl_us"));
                        ck_assert_uint_eq(call->self_ns, ns_of(o, "self_us"));
                        ck_assert_uint_eq((uint64_t) call->depth, number_of(o, "depth"));
                }
}

COUNTED_TEST(interrupts_are_those_and_stand_where_they_came, 0, 2, BREAKDOWN_BY_FUNCTION) {
        size_t k, n = 0;
        json_t *o;

        json_array_foreach (json_object_get(e, "irq_roots"), k, o) {
                const Ended *call = find_call(c, text_of(o, "name"), number_of(o, "line"));

                ck_assert(call->is_irq);
                ck_assert_uint_eq(call->duration_ns, ns_of(o, "incl_us"));
                ck_assert_uint_eq(call->n_calls, number_of(o, "calls"));
                ck_assert(is_named(call->parent, text_of(o, "parent")));
        }
        for (size_t m = 0; m < c->n_calls; m++)
                n += c->calls[m].is_irq;
        ck_assert_uint_eq(n, k);
}

COUNTED_TEST(waits_are_those_and_as_long, 2, 3, BREAKDOWN_BY_FUNCTION) {
        size_t k, n = 0;
        json_t *o;

        json_array_foreach (json_object_get(e, "waits"), k, o) {
                const Ended *call = find_call(c, text_of(o, "name"), number_of(o, "line"));

                ck_assert_uint_eq(call->blocked_ns, ns_of(o, "blocked_us"));
                ck_assert_uint_eq(call->start_ns, ns_of(o, "enter_us"));
        }
        for (size_t i = 0; i < c->n_calls; i++)
                n += c->calls[i].blocked_ns > 0;
        ck_assert_uint_eq(n, k);
        ck_assert_uint_eq(c->pairing->total_ns, ns_of(e, "total_roots_us"));
}

COUNTED_TEST(tasks_take_as_long, 2, 3, BREAKDOWN_BY_TASK) {
        const BreakdownRow *const *rows;
        const char *name;
        json_t *o;
        size_t n;

        rows = breakdown_rows(c->breakdown, &n);
        ck_assert_uint_eq(n, 2);
        json_object_foreach (json_object_get(e, "threads"), name, o) {
                char text[64];
                size_t i = 0;

                do {
                        ck_assert_uint_lt(i, n);
                        (void) snprintf(text, sizeof(text), "%.*s(%d)", (int) rows[i]->n_name,
                                        rows[i]->name, rows[i]->pid);
                } while (!streq(text, name) && ++i);
                ck_assert_uint_eq(rows[i]->n, number_of(o, "calls"));
                ck_assert_uint_eq(rows[i]->total_ns, ns_of(o, "roots_us"));
                ck_assert_uint_eq(rows[i]->blocked_ns, ns_of(o, "blocked_us"));
                ck_assert_uint_eq(rows[i]->total_ns - rows[i]->blocked_ns, ns_of(o, "on_cpu_us"));
                ck_assert_uint_eq(rows[i]->self_ns, rows[i]->total_ns);
        }
}

COUNTED_TEST(tracing_costs_as_much, 0, 2, BREAKDOWN_BY_FUNCTION) {
        json_t *model = json_object_get(e, "overhead_model");
        json_t *least = json_object_get(model, "min");
        json_t *most = json_object_get(model, "p10");
        Overhead o;

        o = overhead_of(c->floor);
        ck_assert(o.has_cost);
        ck_assert_uint_eq(o.cost.caller_low_ns, ns_of(least, "c_us"));
        ck_assert_uint_eq(o.cost.caller_high_ns, ns_of(most, "c_us"));
        ck_assert_uint_eq(o.cost.leaf_ns, ns_of(least, "l_us"));
        ck_assert_uint_eq(o.shown.n_below, number_of(least, "calls_below_roots"));
        ck_assert_uint_eq(
                floor_real_ns(&o.cost, o.shown.total_ns, o.shown.n, o.shown.n_below, true),
                ns_of(least, "est_real_us"));
        ck_assert_uint_eq(
                floor_real_ns(&o.cost, o.shown.total_ns, o.shown.n, o.shown.n_below, false),
                ns_of(most, "est_real_us"));
}
