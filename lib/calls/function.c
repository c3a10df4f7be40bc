/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Two tables of the same pointers, by address.  `now` holds one span's functions: what was
 * asked for since the span began.  `all` owns what was ever made and gives a
 * name's Function back in the next span.
 */

#include <inttypes.h>

#include "base/unit.h"
#include "calls/function.h"
#include "meta/meta.h"

/* Which of the address's functions has this label. */
static Function *find(const Functions *f, uint64_t address, const char *label) {
        const HashSlot *slot;

        hash_each (slot, &f->all, address) {
                Function *function = (void *) (uintptr_t) slot->value;

                if (streq(function->label, label))
                        return function;
        }
        return NULL;
}

/* The name's bytes, without a NUL, with an item of the list. */
static int compare_names(const void *a, const void *b) {
        const Symbol *symbol = a;
        const char *name = *(char *const *) b;
        int r = strncmp(symbol->name, name, symbol->n_name);

        return r != 0 ? r : name[symbol->n_name] ? -1 : 0;
}

static Function *function_new(Functions *f, uint64_t address) {
        _cleanup_buf_ Buf label = BUF_INIT;
        char hex[24], *copy, **root = NULL;
        Symbol symbol;
        Function *ret;
        size_t n_name;

        if (symbol_timeline_span_find(&f->span, address, &symbol)) {
                if (f->roots->n > 0)
                        root = bsearch(&symbol, f->roots->items, f->roots->n, sizeof(char *),
                                       compare_names);
        } else {
                symbol = (Symbol){ .name = hex };
                symbol.n_name =
                        (size_t) snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long) address);
        }
        symbol.n_name = MIN(symbol.n_name, (size_t) FUNCTION_SYMBOL_MAX);
        symbol.n_module = MIN(symbol.n_module, (size_t) FUNCTION_MODULE_MAX);
        buf_add_plain(&label, symbol.name, symbol.n_name, PLAIN_WORD);
        n_name = label.n_data;
        if (symbol.module) {
                buf_adds(&label, " [");
                buf_add_plain(&label, symbol.module, symbol.n_module, PLAIN_WORD);
                buf_adds(&label, "]");
        }
        ret = label.error < 0 ? NULL : malloc(sizeof(*ret) + label.n_data + 1 + FUNCTION_SLACK);
        if (!ret)
                return NULL;
        copy = (char *) (ret + 1);
        memcpy(copy, label.data ?: "", label.n_data);
        memset(copy + label.n_data, 0, 1 + FUNCTION_SLACK);
        *ret = (Function){
                .address = address,
                .label = copy,
                .n_label = (uint32_t) label.n_data,
                .n_name = (uint32_t) n_name,
                .root = root ? (int32_t) (root - f->roots->items) : -1,
                .is_irq_entry = address - f->irq_begin < f->irq_end - f->irq_begin,
                .prototype = f->prototypes
                                     ? prototypes_find(f->prototypes, symbol.name, symbol.n_name)
                                     : NULL,
        };
        copy[n_name] = 0; /* without its module */
        ret->n_unhooked = f->unhooked ? unhooked_below(f->unhooked, copy, &ret->was_left_out)
                                      : UNHOOKED_UNTOLD;
        copy[n_name] = symbol.module ? ' ' : 0;
        return ret;
}

/* Makes it, or finds what an earlier span made. */
static const Function *functions_add(Functions *f, uint64_t address) {
        bool had_turned = f->span.has_turned;
        Function *made = function_new(f, address), *known;

        if (!made)
                return NULL;
        if (f->span.has_turned != had_turned)
                hash_clear(&f->now);
        known = find(f, address, made->label);
        if (known) {
                free(made);
                made = known;
        } else if (hash_add_ptr(&f->all, address, made) < 0) {
                free(made);
                return NULL;
        }
        return hash_add_ptr(&f->now, address, made) < 0 ? NULL : made;
}

/* The names of another time. */
static int functions_turn(Functions *f, uint64_t timestamp_ns) {
        int r = symbol_timeline_span(f->symbol_timeline, timestamp_ns, &f->span);
        Symbol begin, end;

        if (r < 0) {
                functions_forget_times(f);
                return r;
        }
        hash_clear(&f->now);
        /* Source: linux 6.1 kernel/trace/trace_functions_graph.c, check_irq_entry(). */
        f->irq_begin = f->irq_end = 0;
        if (symbols_find_name(f->span.older, "__irqentry_text_start", &begin) &&
            symbols_find_name(f->span.older, "__irqentry_text_end", &end) &&
            begin.address < end.address) {
                f->irq_begin = begin.address;
                f->irq_end = end.address;
        }
        f->begin_ns = f->span.begin_ns;
        f->length_ns = f->span.end_ns - f->span.begin_ns;
        return 0;
}

bool functions_find_symbol(Functions *f, uint64_t address, uint64_t timestamp_ns, Symbol *ret) {
        SymbolTimelineSpan span;

        if (timestamp_ns - f->begin_ns >= f->length_ns && functions_turn(f, timestamp_ns) < 0)
                return false;
        span = f->span; /* which what is no call must not turn */
        return symbol_timeline_span_find(&span, address, ret);
}

const Function *functions_look_up(Functions *f, uint64_t address, uint64_t timestamp_ns) {
        if (timestamp_ns - f->begin_ns >= f->length_ns && functions_turn(f, timestamp_ns) < 0)
                return NULL;
        return hash_get_ptr(&f->now, address) ?: functions_add(f, address);
}

void functions_forget_times(Functions *f) {
        f->span = (SymbolTimelineSpan){};
        f->begin_ns = f->length_ns = 0;
}

void functions_done(Functions *f) {
        for (size_t i = 0; i < f->all.n_slots; i++)
                free((void *) (uintptr_t) f->all.slots[i].value);
        hash_done(&f->all);
        hash_done(&f->now);
}

/* --- unhooked --------------------------------------------------------------------------------- */

#define NAMED_MAX 2 /* of each reason */

/* Who calls what, sorted by callers; what may be below any function is called by "". */
typedef struct UnhookedEdge {
        const char *caller;
        size_t callee; /* of left_out */
} Edge;

static int compare_edges(const void *a, const void *b) {
        const Edge *x = a, *y = b;

        return strcmp(x->caller, y->caller);
}

int unhooked_init(Unhooked *u, const SessionMeta *m) {
        const Strv *functions = &m->left_out, *in = &m->left_out_in;
        size_t n = 0;

        *u = (Unhooked){ .meta = m,
                         .callers = calloc(functions->n + 1, sizeof(*u->callers)),
                         .open = calloc(functions->n + 1, sizeof(*u->open)),
                         .seen = calloc(functions->n + 1, sizeof(*u->seen)) };
        if (!u->callers || !u->open || !u->seen)
                return -ENOMEM;
        for (size_t i = 0; i < functions->n; i++) {
                Strv *c = &u->callers[i];
                int r = i < in->n ? strv_split(c, in->items[i], " ") : 0;

                if (r < 0)
                        return r;
                n += MAX(c->n, (size_t) 1);
        }
        u->edges = calloc(n + 1, sizeof(*u->edges));
        if (!u->edges)
                return -ENOMEM;
        for (size_t i = 0; i < functions->n; i++) {
                const Strv *c = &u->callers[i];

                if (c->n == 0)
                        u->edges[u->n_edges++] = (Edge){ "", i };
                for (size_t k = 0; k < c->n; k++)
                        u->edges[u->n_edges++] =
                                (Edge){ streq(c->items[k], "...") ? "" : c->items[k], i };
        }
        SORT(u->edges, u->n_edges, compare_edges);
        return 0;
}

/* Those called by @caller that were not met yet are open; @n of them and of others then. */
static size_t open_callees(Unhooked *u, const char *caller, size_t n) {
        size_t first = BISECT(0, u->n_edges, i, strcmp(u->edges[i].caller, caller) < 0);

        for (; first < u->n_edges && streq(u->edges[first].caller, caller); first++) {
                size_t callee = u->edges[first].callee;

                if (u->seen[callee] != u->round)
                        u->open[n++] = callee;
                u->seen[callee] = u->round;
        }
        return n;
}

int32_t unhooked_below(Unhooked *u, const char *function, bool *ret_was_left_out) {
        const Strv *left_out = &u->meta->left_out;
        size_t n;

        *ret_was_left_out = strv_contains(left_out, function);
        if (session_meta_is_of_file(u->meta))
                return UNHOOKED_UNTOLD;
        if (u->meta->callees_unknown || strv_contains(&u->meta->callees_unknown_of, function))
                return UNHOOKED_UNKNOWN;
        u->round++;
        n = open_callees(u, "", open_callees(u, function, 0));
        for (size_t i = 0; i < n; i++)
                n = open_callees(u, left_out->items[u->open[i]], n);
        for (size_t i = 0; i < n; i++)
                if (streq(left_out->items[u->open[i]], function))
                        return (int32_t) n - 1; /* itself, which was not for a while */
        return (int32_t) n;
}

void unhooked_done(Unhooked *u) {
        for (size_t i = 0; u->callers && i < u->meta->left_out.n; i++)
                strv_done(&u->callers[i]);
        free(u->callers);
        free(u->edges);
        free(u->open);
        free(u->seen);
}

/* Of the known ones, all the time; others may be hooked besides. */
static uint32_t n_hooked_known(const SessionMeta *m) {
        uint32_t n = m->n_known - (uint32_t) MIN(m->left_out.n, (size_t) m->n_known);

        return m->n_hooked > 0 ? MIN(n, m->n_hooked) : n;
}

static const char *const reasons[][2] = {
        { "cost", " for their cost" },
        { "usual", " that other work often calls" },
        { "guard", " to stay within a limit" },
        { "filter", " by filters" },
        { "", "" }, /* nobody noted it, or in another word */
};

static size_t reason_of(const SessionMeta *m, size_t i) {
        size_t reason = 0;

        while (reason < ELEMENTSOF(reasons) - 1 &&
               (i >= m->left_out_why.n || !streq(m->left_out_why.items[i], reasons[reason][0])))
                reason++;
        return reason;
}

/* Those that were left out for one reason; whether there are any. */
static bool describe_left_out(Buf *out, const SessionMeta *m, size_t reason,
                              const char *separator) {
        size_t n = 0, n_named = 0;

        for (size_t i = 0; i < m->left_out.n; i++)
                n += reason_of(m, i) == reason;
        if (n == 0)
                return false;
        buf_printf(out, "%s%s%s (", separator, FORMAT_COUNT(n), reasons[reason][1]);
        for (size_t i = 0; i < m->left_out.n && n_named < NAMED_MAX; i++)
                if (reason_of(m, i) == reason)
                        buf_printf(out, "%s%s", n_named++ > 0 ? ", " : "", m->left_out.items[i]);
        buf_adds(out, n > NAMED_MAX ? ", ...)" : ")");
        return true;
}

static bool says_nothing(const SessionMeta *m) {
        return session_meta_is_of_file(m) || m->spec.flat ||
               (m->left_out.n == 0 && m->n_hooked == 0 && !m->callees_unknown);
}

void unhooked_describe(Buf *out, const SessionMeta *m) {
        /* A lesson that had all hooked, and no result until the end. */
        bool was_lesson = m->n_known == 0 && m->n_hooked > 0 && m->narrowed_ns > m->start.trace_ns;
        const char *separator =
                m->hook_changes.n > 0 ? "; left out, at least temporarily: " : "; left out: ";

        if (says_nothing(m))
                return;
        if (m->n_known > 0)
                buf_printf(out, "hooked %s of %s known functions", FORMAT_COUNT(n_hooked_known(m)),
                           FORMAT_COUNT(m->n_known));
        else if (m->n_hooked > 0)
                buf_printf(out, "hooked %s%s function%s",
                           was_lesson ? "all functions at first, then " : "",
                           FORMAT_COUNT(m->n_hooked), m->n_hooked == 1 ? "" : "s");
        else if (m->callees_unknown) /* by an earlier version, but what ordinary work calls */
                buf_adds(out, "hooked nearly all functions");
        else
                buf_adds(out, "hooked all other functions");
        for (size_t i = 0; i < ELEMENTSOF(reasons); i++)
                if (describe_left_out(out, m, i, separator))
                        separator = ", ";
        if (m->callees_unknown)
                buf_printf(out, "; what else they call is not known%s",
                           m->tree_from != TREE_UNKNOWN || m->n_hooked == 0 ? ""
                           : was_lesson ? ", since learning did not finish"
                                        : ", since nothing was learned");
        else if (m->callees_unknown_of.n == 1)
                buf_printf(out, "; what %s calls is not known", m->callees_unknown_of.items[0]);
        else if (m->callees_unknown_of.n > 1)
                buf_printf(out, "; what %s of them call is not known (%s, %s%s)",
                           FORMAT_COUNT(m->callees_unknown_of.n), m->callees_unknown_of.items[0],
                           m->callees_unknown_of.items[1],
                           m->callees_unknown_of.n > 2 ? ", ..." : "");
}

void unhooked_describe_scope(Buf *out, const SessionMeta *m) {
        if (says_nothing(m) || (m->n_known == 0 && m->n_hooked == 0))
                return;
        buf_printf(out, " for the %s functions that were hooked",
                   FORMAT_COUNT(m->n_known > 0 ? n_hooked_known(m) : m->n_hooked));
        if (m->n_known > 0)
                buf_printf(out, " of %s known", FORMAT_COUNT(m->n_known));
}

char *unhooked_text(char text[static UNHOOKED_TEXT_MAX], int32_t n) {
        text[0] = 0;
        if (n == UNHOOKED_UNKNOWN)
                (void) snprintf(text, UNHOOKED_TEXT_MAX,
                                " or below it (its callees are not known)");
        else if (!unhooked_is_none(n))
                (void) snprintf(text, UNHOOKED_TEXT_MAX, " or below it (%s function%s not hooked)",
                                FORMAT_COUNT((uint64_t) n), n == 1 ? "" : "s");
        return text;
}

char *unhooked_note(char text[static UNHOOKED_TEXT_MAX], int32_t n) {
        text[0] = 0;
        if (n == UNHOOKED_UNKNOWN)
                (void) snprintf(text, UNHOOKED_TEXT_MAX, "callees not known");
        else if (!unhooked_is_none(n))
                (void) snprintf(text, UNHOOKED_TEXT_MAX, "%" PRId32 " not hooked below", n);
        return text;
}
