/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who calls what, sorted by callers; what may be below any function is called by "". */

#include <inttypes.h>

#include "base/unit.h"
#include "calls/unhooked.h"
#include "meta/meta.h"

#define NAMED_MAX 2 /* of each reason */

typedef struct Edge {
        const char *caller;
        size_t callee; /* of left_out */
} Edge;

struct Unhooked {
        const SessionMeta *meta;
        Strv *callers; /* of each of left_out */
        Edge *edges;
        size_t n_edges;
        size_t *open;   /* of left_out: what is still to be looked below */
        unsigned *seen; /* in which round */
        unsigned round;
};

static int compare_edges(const void *a, const void *b) {
        const Edge *x = a, *y = b;

        return strcmp(x->caller, y->caller);
}

static int read_edges(Unhooked *u) {
        const Strv *functions = &u->meta->left_out, *in = &u->meta->left_out_in;
        size_t n = 0;

        u->callers = calloc(functions->n + 1, sizeof(*u->callers));
        u->open = calloc(functions->n + 1, sizeof(*u->open));
        u->seen = calloc(functions->n + 1, sizeof(*u->seen));
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

int unhooked_new(Unhooked **ret, const SessionMeta *m) {
        _cleanup_(unhooked_freep) Unhooked *u = NEW(Unhooked, .meta = m);
        int r = u ? read_edges(u) : -ENOMEM;

        if (r < 0)
                return r;
        *ret = TAKE_PTR(u);
        return 0;
}

/* Those called by @caller that were not met yet are open; @n of them and of others then. */
static size_t open_callees(Unhooked *u, const char *caller, size_t n) {
        size_t first = 0, end = u->n_edges;

        while (first < end) {
                size_t middle = first + (end - first) / 2;

                if (strcmp(u->edges[middle].caller, caller) < 0)
                        first = middle + 1;
                else
                        end = middle;
        }
        for (; first < u->n_edges && streq(u->edges[first].caller, caller); first++) {
                size_t callee = u->edges[first].callee;

                if (u->seen[callee] != u->round)
                        u->open[n++] = callee;
                u->seen[callee] = u->round;
        }
        return n;
}

bool unhooked_may_lack(const SessionMeta *m, const char *function) {
        return !session_meta_is_of_file(m) &&
               (m->n_hooked > 0 || m->callees_unknown || strv_contains(&m->left_out, function));
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

Unhooked *unhooked_free(Unhooked *u) {
        if (!u)
                return NULL;
        for (size_t i = 0; u->callers && i < u->meta->left_out.n; i++)
                strv_done(&u->callers[i]);
        free(u->callers);
        free(u->edges);
        free(u->open);
        free(u->seen);
        return mfree(u);
}

/* --- of all of it ----------------------------------------------------------------------------- */

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
                m->hook_changes.n > 0 ? "; left out, for a time at least: " : "; left out: ";

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
                           : was_lesson ? ", for the lesson had no result until the end"
                                        : ", for there was no lesson");
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
