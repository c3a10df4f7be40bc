/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each task has two short stacks, of values whose exit is still to come, and of exits whose value is; each item
 * knows in which context it was, and goes when that context goes on.  Exits that wait are copies in a
 * list, with all steps behind them.
 */

#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "calls/returns.h"
#include "calls/stacks.h"
#include "calls/step-copy.h"

#define NAME_PREFIX "ftraced_"
#define N_ID_DIGITS 16
#define MARKS_MAX 4 /* a task, a softirq, an interrupt, an NMI */
#define WAITING_MAX 65536

/* Bits of common_flags, linux 6.1 include/linux/trace_events.h. */
enum {
        IRQS_OFF = 0x01,
        IN_HARDIRQ = 0x08,
        IN_SOFTIRQ = 0x10,
        IN_NMI = 0x40,
};

/* What a function is to us: values of `known`. */
enum { FUNCTION_PROBED = 1, FUNCTION_OTHER };

typedef struct Probe {
        ReturnFormat format;
        char *function; /* NULL: not known */
        bool is_kretprobe;
} Probe;

typedef struct Waiting Waiting;
struct Waiting {
        Waiting *next;
        Step *step;
        bool waits;
};

typedef struct Mark {
        const Function *function;
        uint8_t level;
        bool irqs_off;
        bool is_told; /* a value: that its exit is still to come is certain */
        uint64_t timestamp_ns, value;
        Waiting *waiting; /* an exit */
} Mark;

/* Of a task: Stack.data. */
typedef struct TaskReturns {
        Mark values[MARKS_MAX], exits[MARKS_MAX];
        unsigned n_values, n_exits;
} TaskReturns;

struct Returns {
        const Formats *formats;
        Functions *functions;
        Probe *probes;
        size_t n_probes;
        Hash known; /* by Function */
        Stacks *tasks;
        uint64_t n_before, n_behind; /* of those that do not tell themselves */
        bool has_entries;            /* not only ends are recorded */
        Waiting *first, **end, *out;
        size_t n_waiting;
        bool has_exit; /* returns_leave() was told of one without a value ... */
        Mark exit;     /* ... which is this ... */
        Step exit_of;  /* ... of this task */
};

int returns_new(Returns **ret, const Formats *formats, Functions *functions) {
        _cleanup_(returns_freep) Returns *r = calloc(1, sizeof(*r));
        int e;

        if (!r)
                return -ENOMEM;
        r->formats = formats;
        r->functions = functions;
        r->end = &r->first;
        e = stacks_new(&r->tasks);
        if (e < 0)
                return e;
        *ret = TAKE_PTR(r);
        return 0;
}

/* The letter in "ftraced_0123456789abcdef_f0"; 0: it is not like this. */
static char form_of(const char *name) {
        const char *s = startswith(name, NAME_PREFIX), *digits;

        if (!s || strspn(s, "0123456789abcdef") != N_ID_DIGITS || s[N_ID_DIGITS] != '_')
                return 0;
        s += N_ID_DIGITS + 1;
        digits = *s ? s + 1 : s;
        return (*s == 'f' || *s == 'r') && *digits && digits[strspn(digits, "0123456789")] == 0 ? *s
                                                                                                : 0;
}

bool returns_takes(const char *system, const char *name) {
        return streq(system, "ftraced") && form_of(name);
}

int returns_add(Returns *r, const char *name, const char *function, const char *format) {
        Probe p = { .is_kretprobe = form_of(name) == 'r' };
        int e = formats_parse_return(&p.format, format);

        if (e != 0)
                return e;
        p.function = function ? strdup(function) : NULL;
        if ((function && !p.function) || !ARRAY_GROW(r->probes, r->n_probes)) {
                free(p.function);
                return -ENOMEM;
        }
        r->probes[r->n_probes++] = p;
        return 0;
}

size_t returns_n(const Returns *r) {
        return r->n_probes;
}

static const Probe *find_probe(const Returns *r, const Event *e) {
        for (size_t i = 0; i < r->n_probes; i++)
                if (r->probes[i].format.id == e->id)
                        return &r->probes[i];
        return NULL;
}

bool returns_knows(const Returns *r, const Event *e) {
        return e->kind == EVENT_OTHER && find_probe(r, e);
}

/* --- contexts ----------------------------------------------------------------------------------- */

static uint8_t level_of(const Event *e) {
        return e->flags & IN_NMI ? 3 : e->flags & IN_HARDIRQ ? 2 : e->flags & IN_SOFTIRQ ? 1 : 0;
}

/* Whether @e interrupts what @m is of.  The first and the last functions of an interrupt do not say that they
 * are in one, but that interrupts are off. */
static bool interrupts(const Event *e, const Mark *m) {
        uint8_t level = level_of(e);

        return level > m->level || (level == m->level && e->flags & IRQS_OFF && !m->irqs_off);
}

static Mark mark_of(const Event *e, const Function *f) {
        return (Mark){ .function = f,
                       .level = level_of(e),
                       .irqs_off = e->flags & IRQS_OFF,
                       .timestamp_ns = e->timestamp_ns };
}

/* The graph may know a function by another address than the probe: behind an ENDBR, or before it. */
static bool is_same(const Function *a, const Function *b) {
        return a == b || (a->n_label == b->n_label && memcmp(a->label, b->label, a->n_label) == 0);
}

static void release(Mark *m) {
        if (m->waiting)
                m->waiting->waits = false;
}

static TaskReturns *task_of(Returns *r, const Event *e) {
        return stacks_data(r->tasks, &(Step){ .pid = e->pid, .cpu = e->cpu }, sizeof(TaskReturns));
}

/* The task goes on in the context of @e: what was to be directly before or behind it is not. */
static void go_on(TaskReturns *t, const Event *e) {
        while (t->n_values > 0 && !interrupts(e, &t->values[t->n_values - 1]))
                t->n_values--;
        while (t->n_exits > 0 && !interrupts(e, &t->exits[t->n_exits - 1]))
                release(&t->exits[--t->n_exits]);
}

/* --- functions ---------------------------------------------------------------------------------- */

static bool names(const Probe *p, const Function *f) {
        return p->function && strlen(p->function) == f->n_name &&
               memcmp(p->function, f->label, f->n_name) == 0;
}

/* FUNCTION_*, or -ENOMEM. */
static int look_at(Returns *r, const Function *f) {
        uint64_t what = hash_get(&r->known, hash_key(f));

        if (what > 0)
                return (int) what;
        what = FUNCTION_OTHER;
        for (size_t i = 0; i < r->n_probes; i++)
                if (names(&r->probes[i], f))
                        what = FUNCTION_PROBED;
        return hash_add(&r->known, hash_key(f), what) < 0 ? -ENOMEM : (int) what;
}

/* A probe has told that it is of @f: exits of it wait from now on, whatever their address. */
static int learn(Returns *r, const Event *e, const Function *f) {
        for (size_t i = 0; i < r->n_probes; i++) {
                Probe *p = &r->probes[i];

                if (p->format.id != e->id || p->function)
                        continue;
                p->function = strndup(f->label, f->n_name);
                if (!p->function)
                        return -ENOMEM;
                hash_clear(&r->known);
        }
        return 0;
}

/* Where it returns to is the graph's: the exit follows. */
static bool returns_to_graph(const Returns *r, uint64_t address, uint64_t timestamp_ns) {
        static const char name[] = "return_to_handler";
        Symbol s;

        return functions_find_symbol(r->functions, address, timestamp_ns, &s) &&
               s.n_name == strlen(name) && memcmp(s.name, name, s.n_name) == 0;
}

/* --- what comes in ------------------------------------------------------------------------------ */

/* The exit that the event is directly behind; NULL: none. */
static Mark *exit_before(TaskReturns *t, const Event *e, const Function *f) {
        Mark *m;

        while (t->n_exits > 0 && t->exits[t->n_exits - 1].level > level_of(e))
                release(&t->exits[--t->n_exits]);
        m = t->n_exits > 0 ? &t->exits[t->n_exits - 1] : NULL;
        return m && m->level == level_of(e) && is_same(m->function, f) ? m : NULL;
}

int returns_note(Returns *r, const Event *e) {
        const Probe *p = find_probe(r, e);
        ReturnRecord record;
        const Function *f;
        TaskReturns *t;
        bool is_before;
        Mark *m;

        if (!p || !formats_decode_return(&p->format, r->formats, e, &record))
                return 0;
        t = task_of(r, e);
        f = functions_get(r->functions, record.func, e->timestamp_ns);
        if (!t || !f || learn(r, e, f) < 0)
                return -ENOMEM;
        is_before = returns_to_graph(r, record.ret_ip, e->timestamp_ns);
        m = is_before || (!p->is_kretprobe && r->n_before > r->n_behind) ? NULL
                                                                         : exit_before(t, e, f);
        if (m) {
                m->waiting->step->retval = record.value;
                m->waiting->step->has_retval = true;
                release(m);
                t->n_exits--;
                r->n_behind += !p->is_kretprobe;
                return 0;
        }
        go_on(t, e);
        if ((is_before || !p->is_kretprobe) && t->n_values < MARKS_MAX) {
                m = &t->values[t->n_values++];
                *m = mark_of(e, f);
                m->value = record.value;
                m->is_told = is_before;
        }
        return 0;
}

int returns_enter(Returns *r, const Event *e) {
        TaskReturns *t = task_of(r, e);

        r->has_exit = false;
        r->has_entries = true;
        if (!t)
                return -ENOMEM;
        go_on(t, e);
        return 0;
}

/*
 * The value that was directly before the exit; NULL: none.  Where there are no entries the call must have begun by
 * then.  What the exit says of that is not asked for elsewhere: an interrupt may come between its reading of the
 * clock and its record (seen on 6.1).
 */
static const Mark *value_before(const Returns *r, TaskReturns *t, const Event *e,
                                const Function *f) {
        uint64_t duration_ns = e->rettime - e->calltime;
        const Mark *m;

        while (t->n_values > 0 && t->values[t->n_values - 1].level > level_of(e))
                t->n_values--;
        m = t->n_values > 0 ? &t->values[t->n_values - 1] : NULL;
        if (!m || m->level != level_of(e) || !is_same(m->function, f) ||
            (!r->has_entries && e->timestamp_ns - m->timestamp_ns > duration_ns))
                return NULL;
        t->n_values--;
        return m;
}

int returns_leave(Returns *r, const Event *e, Step *step) {
        TaskReturns *t = task_of(r, e);
        const Mark *value;
        int what;

        r->has_exit = false;
        if (!t)
                return -ENOMEM;
        value = value_before(r, t, e, step->function);
        if (value) {
                step->retval = value->value;
                step->has_retval = true;
                r->n_before += !value->is_told;
        }
        go_on(t, e);
        if (value)
                return 0;
        what = look_at(r, step->function);
        if (what == FUNCTION_PROBED && t->n_exits < MARKS_MAX) {
                r->has_exit = true;
                r->exit = mark_of(e, step->function);
                r->exit_of = (Step){ .pid = e->pid, .cpu = e->cpu };
        }
        return MIN(what, 0);
}

void returns_forget(Returns *r) {
        for (size_t i = 0; i < stacks_n(r->tasks); i++) {
                TaskReturns *t = stacks_at(r->tasks, i)->data;

                while (t && t->n_exits > 0)
                        release(&t->exits[--t->n_exits]);
                if (t)
                        t->n_values = 0;
        }
        r->has_exit = false;
}

/* --- what goes out ------------------------------------------------------------------------------ */

int returns_push(Returns *r, const Step *step) {
        bool waits = TAKE(r->has_exit, false) && step_is_call(step) && step->kind != STEP_ENTER;
        TaskReturns *t;
        Waiting *w;
        Step *copy;

        if (!waits && !r->first)
                return 1;
        if (r->n_waiting >= WAITING_MAX)
                returns_forget(r);
        w = step_copy(step, sizeof(*w), &copy);
        if (!w)
                return -ENOMEM;
        *w = (Waiting){ .step = copy };
        *r->end = w;
        r->end = &w->next;
        r->n_waiting++;
        if (!waits)
                return 0;
        t = stacks_data(r->tasks, &r->exit_of, sizeof(*t));
        if (!t)
                return -ENOMEM;
        if (t->n_exits < MARKS_MAX) {
                w->waits = true;
                t->exits[t->n_exits] = r->exit;
                t->exits[t->n_exits++].waiting = w;
        }
        return 0;
}

bool returns_pop(Returns *r, Step *ret) {
        Waiting *w = r->first;

        if (!w || w->waits)
                return false;
        free(r->out);
        r->out = w;
        r->first = w->next;
        if (!r->first)
                r->end = &r->first;
        r->n_waiting--;
        *ret = *w->step;
        return true;
}

void returns_flush(Returns *r) {
        returns_forget(r);
}

Returns *returns_free(Returns *r) {
        if (!r)
                return NULL;
        for (Waiting *w = r->first, *next; w; w = next) {
                next = w->next;
                free(w);
        }
        free(r->out);
        for (size_t i = 0; r->tasks && i < stacks_n(r->tasks); i++)
                free(stacks_at(r->tasks, i)->data);
        stacks_free(r->tasks);
        for (size_t i = 0; i < r->n_probes; i++)
                free(r->probes[i].function);
        free(r->probes);
        hash_done(&r->known);
        return mfree(r);
}
