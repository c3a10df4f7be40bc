/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each task has short stacks, of values whose call is still to come, and of calls whose value is, for entries and
 * for exits; each item knows in which context it was, and goes when that context goes on.  A step that waits is a tree of
 * its own to a TailSampler, and is kept when that is over.
 */

#include "base/array.h"
#include "calls/steps.h"

#define NAME_PREFIX "ftraced_"
#define N_ID_DIGITS 16
#define OPEN_MAX 64 /* depths of which it is known whose calls are open */
#define MARKS_MAX 4 /* a task, a softirq, an interrupt, an NMI */
#define WAITING_MAX 65536
/* To take a stack, with what interrupts that: over 10 ms in an emulator that records all. */
#define STACK_NS_MAX 1000000000

/* Bits of common_flags, linux 6.1 include/linux/trace_events.h. */
enum {
        IRQS_OFF = 0x01,
        IN_HARDIRQ = 0x08,
        IN_SOFTIRQ = 0x10,
        IN_NMI = 0x40,
};

/* What a function is to us: values of `known`, bits. */
enum {
        ENTRY_PROBED = 1,
        EXIT_PROBED = 2,
        HANDLES_PROBES = 4,
        FUNCTION_KNOWN = 8,
        OBJECT_PROBED = 16, /* besides ENTRY_PROBED */
        READS_FIELDS = 32,
};

/* Where a probe is a breakpoint, and instances' filters cannot leave out what a function calls. */
static const char *const handlers[] = {
        "do_debug_exception", "do_el1_brk64",
        /* stacks; and on 7.2 copies */ "stack_trace_save_user", "perf_swevent_get_recursion_context", "perf_tp_event"
};
#define N_COPYING 2
/* What fprobes read memory with, below the call that they are of (linux 6.12 kernel/trace/trace_probe_kernel.h). */
static const char *const readers[] = { "copy_from_kernel_nofault", "copy_from_user_nofault",
                                       "strncpy_from_kernel_nofault", "strncpy_from_user_nofault",
                                       "strnlen_user_nofault" };

typedef struct Probe {
        ProbeFormat format;
        char *function; /* NULL: not known */
        bool is_kretprobe;
} Probe;

typedef struct Mark {
        const Function *function;
        uint8_t level;
        bool irqs_off;
        bool is_told;     /* a value: that its exit is still to come is certain */
        bool is_doubtful; /* a value: most are behind theirs, so that it is only counted */
        int32_t depth;    /* of a call */
        uint64_t timestamp_ns, value, ret_ip;
        uint64_t args[PROBE_ARGS_MAX];
        bool has_args;
        Object *object;       /* a value's own; NULL: none */
        SampledTree *waiting; /* a call */
        Step *step;           /* which waits */
} Mark;

typedef struct Marks {
        Mark items[MARKS_MAX];
        unsigned n;
} Marks;

/* Values whose calls are still to come, and calls that wait for theirs. */
typedef enum MarksOf { GIVEN, RETURNED, ENTRIES, EXITS, _MARKS_N } MarksOf;

/* Of a task: Stack.data. */
typedef struct TaskValues {
        Marks marks[_MARKS_N];
        const Function *open[OPEN_MAX]; /* by depth, as far as was seen; NULL: none */
        int32_t hides_below; /* depth + 1 of a handler of probes that is open; 0: none is */
        int32_t reads_at[MARKS_MAX]; /* by level, below a call of which only its fields were read; 0: none */
        Mark reading;                /* such a read, which is open; no function: none is */
        /* By level, a root whose stack is to come, at the depth of what it calls; no function: none is. */
        Mark stacked[MARKS_MAX];
        Mark rooted; /* a root whose program's stack is to come; no function: none is */
} TaskValues;

/* On which side of their calls those events were that do not tell themselves.  Those that could only be on the other
 * one are counted, too, so that a wrong beginning does no harm for long. */
typedef struct Sides {
        uint64_t n_before, n_behind;
} Sides;

struct Values {
        const Formats *formats;
        Functions *functions;
        Probe *probes;
        size_t n_probes;
        Hash known; /* by Function */
        Stacks tasks;
        Sides entry_sides, exit_sides;
        CallersSet callers;
        bool has_kprobes;    /* or kretprobes: not all are fprobes */
        bool has_stacks, has_objects;
        size_t n_handlers; /* 0: no programs' stacks are taken */
        bool has_no_kernel_stacks;
        bool has_entries; /* not only ends are recorded */
        bool tells;       /* fprobes' return addresses are the graph's where that has put its own */
        TailSampler line; /* what waits */
        bool has_entry,
                has_exit; /* values_enter() or values_leave() was told of one without a value ... */
        Mark mark;        /* ... which is this ... */
        Step mark_of;     /* ... of this task */
        uint64_t args[PROBE_ARGS_MAX]; /* of the step that was told of last; likewise: */
        Object *object;
        Buf text; /* of objects that are made */
};

int values_new(Values **ret, const Formats *formats, Functions *functions) {
        *ret = NEW(Values, .formats = formats, .functions = functions, .line.n_max = SIZE_MAX,
                   .text = BUF_INIT);
        return *ret ? 0 : -ENOMEM;
}

/* The letter in "ftraced_0123456789abcdef_f0"; 0: it is not like this. */
static char form_of(const char *name) {
        const char *s = startswith(name, NAME_PREFIX), *digits;

        if (!s || strspn(s, "0123456789abcdef") != N_ID_DIGITS || s[N_ID_DIGITS] != '_')
                return 0;
        s += N_ID_DIGITS + 1;
        digits = *s ? s + 1 : s;
        return *s && strchr("frepck", *s) && *digits && digits[strspn(digits, "0123456789")] == 0
                       ? *s
                       : 0;
}

bool values_takes(const char *system, const char *name) {
        return streq(system, "ftraced") && form_of(name);
}

int values_add(Values *v, const char *name, const char *function, const char *format) {
        char form = form_of(name);
        Probe p = { .is_kretprobe = form == 'r' };
        ProbeKind kind = form == 'c' || form == 'k'   ? PROBE_STACKED
                         : form == 'e' || form == 'p' ? PROBE_GIVEN
                                                      : PROBE_RETURNED;
        int r = formats_parse_probe(&p.format, format, kind);

        if (r != 0)
                return r;
        p.function = function ? strdup(function) : NULL;
        if ((function && !p.function) || !ARRAY_GROW(v->probes, v->n_probes)) {
                free(p.function);
                free(p.format.fields);
                return -ENOMEM;
        }
        v->probes[v->n_probes++] = p;
        v->has_kprobes = v->has_kprobes || form == 'p' || form == 'r' || form == 'k';
        v->has_stacks = v->has_stacks || kind == PROBE_STACKED;
        v->has_objects = v->has_objects || p.format.n_fields > 0;
        return 0;
}

void values_set_program_stacks(Values *v, bool has_kernel_stacks, bool has_copies) {
        v->n_handlers = ELEMENTSOF(handlers) - (has_copies ? 0 : N_COPYING);
        v->has_no_kernel_stacks = !has_kernel_stacks;
}

size_t values_n(const Values *v) {
        return v->n_probes;
}

bool values_have_returns(const Values *v) {
        for (size_t i = 0; i < v->n_probes; i++)
                if (!v->probes[i].format.is_entry)
                        return true;
        return false;
}

int values_fields(const Values *v, Strv *ret) {
        int r = 0;

        for (size_t i = 0; i < v->n_probes; i++)
                for (size_t k = 0; k < v->probes[i].format.n_fields && r >= 0; k++) {
                        const ProbeField *f = &v->probes[i].format.fields[k];

                        if (f->kind < PROBE_FAMILY || f->kind > PROBE_THROUGH)
                                r = strv_add_new(ret, f->name);
                }
        return r;
}

static const Probe *find_probe(const Values *v, const Event *e) {
        for (size_t i = 0; i < v->n_probes; i++)
                if (v->probes[i].format.id == e->id)
                        return &v->probes[i];
        return NULL;
}

bool values_knows(const Values *v, const Event *e) {
        return e->kind == EVENT_OTHER && find_probe(v, e);
}

/* --- contexts ----------------------------------------------------------------------------------- */

static uint8_t level_of(const Event *e) {
        return e->flags & IN_NMI ? 3 : e->flags & IN_HARDIRQ ? 2 : e->flags & IN_SOFTIRQ ? 1 : 0;
}

/* True if @e interrupts what @m is of.  The first and the last functions of an interrupt do not say that they
 * are in one, but that interrupts are off. */
static bool interrupts(const Event *e, const Mark *m) {
        uint8_t level = level_of(e);

        return level > m->level || (level == m->level && e->flags & IRQS_OFF && !m->irqs_off);
}

static Mark mark_of(const Event *e, const Function *f) {
        return (Mark){ .function = f,
                       .level = level_of(e),
                       .irqs_off = e->flags & IRQS_OFF,
                       .depth = e->depth,
                       .timestamp_ns = e->timestamp_ns };
}

static bool is_named(const Function *f, const char *name, size_t n) {
        return f->n_name == n && memcmp(f->label, name, n) == 0;
}

/* The last one. */
static void release(Values *v, Marks *m) {
        Mark *last = &m->items[--m->n];

        last->object = mfree(last->object);
        if (last->waiting)
                (void) tail_sampler_end(&v->line, TAKE_PTR(last->waiting), true);
}

static TaskValues *task_of(Values *v, const Event *e) {
        return stacks_data(&v->tasks, &(Step){ .pid = e->pid, .cpu = e->cpu }, sizeof(TaskValues));
}

/* The task goes on in the context of @e: what was to be directly before or behind it is not. */
static void go_on(Values *v, TaskValues *t, const Event *e) {
        for (Marks *m = t->marks; m < t->marks + _MARKS_N; m++)
                while (m->n > 0 && !interrupts(e, &m->items[m->n - 1]))
                        release(v, m);
}

/* Returns what is on top in the context of @e, of @f; NULL: nothing. */
static Mark *top_of(Values *v, Marks *m, const Event *e, const Function *f) {
        Mark *top;

        while (m->n > 0 && m->items[m->n - 1].level > level_of(e))
                release(v, m);
        top = m->n > 0 ? &m->items[m->n - 1] : NULL;
        return top && top->level == level_of(e) && function_is_same(top->function, f) ? top : NULL;
}

static Mark *push(Marks *m, const Event *e, const Function *f) {
        Mark *top;

        if (m->n >= MARKS_MAX)
                return NULL;
        top = &m->items[m->n++];
        *top = mark_of(e, f);
        return top;
}

/* --- functions ---------------------------------------------------------------------------------- */

/* Bits, or -ENOMEM. */
static int look_at(Values *v, const Function *f) {
        uint64_t what = hash_get(&v->known, hash_key(f));

        if (what > 0)
                return (int) what;
        what = FUNCTION_KNOWN;
        for (size_t i = 0; i < v->n_probes; i++)
                if (v->probes[i].function &&
                    is_named(f, v->probes[i].function, strlen(v->probes[i].function)) &&
                    !v->probes[i].format.is_stacked) {
                        what |= v->probes[i].format.is_entry ? ENTRY_PROBED : EXIT_PROBED;
                        what |= v->probes[i].format.n_fields > 0 ? OBJECT_PROBED : 0;
                }
        for (size_t i = 0; i < (v->n_handlers ?: ELEMENTSOF(handlers) - N_COPYING - 1); i++)
                if (is_named(f, handlers[i], strlen(handlers[i])))
                        what |= HANDLES_PROBES;
        for (size_t i = 0; i < ELEMENTSOF(readers); i++)
                if (is_named(f, readers[i], strlen(readers[i])))
                        what |= READS_FIELDS;
        return hash_add(&v->known, hash_key(f), what) < 0 ? -ENOMEM : (int) what;
}

/* A probe has told that it is of @f: its calls wait from now on, whatever their address. */
static int learn(Values *v, const Event *e, const Function *f) {
        for (size_t i = 0; i < v->n_probes; i++) {
                Probe *p = &v->probes[i];

                if (p->format.id != e->id || p->function)
                        continue;
                p->function = strndup(f->label, f->n_name);
                if (!p->function)
                        return -ENOMEM;
                hash_clear(&v->known);
        }
        return 0;
}

static const Function *open_at(const TaskValues *t, int32_t depth) {
        return depth >= 0 && depth < OPEN_MAX ? t->open[depth] : NULL;
}

/* True if what returns to @ret_ip cannot be the call of @f at @depth, by who calls that. */
static bool is_anothers(const Values *v, const TaskValues *t, const Function *f, int32_t depth,
                        uint64_t ret_ip, uint64_t timestamp_ns) {
        const Function *caller = open_at(t, depth - 1), *above = open_at(t, depth - 2);
        Symbol s;

        if (!v->has_entries || depth >= OPEN_MAX ||
            !functions_find_symbol(v->functions, ret_ip, timestamp_ns, &s))
                return false;
        if (is_named(f, s.name, s.n_name)) {
                for (int32_t i = 0; i < depth; i++)
                        if (t->open[i] && function_is_same(t->open[i], f))
                                return false;
                return true;
        }
        return caller && function_is_same(caller, f) && above && is_named(above, s.name, s.n_name);
}

/* --- what comes in ------------------------------------------------------------------------------ */

/* What was recorded of a call becomes its own, in @room, and *@object's. */
static void give(Step *step, const uint64_t *room, Object **object, const Mark *from) {
        if (from->has_args && step->n_args == 0) {
                memcpy((uint64_t *) room, from->args, PROBE_ARGS_MAX * sizeof(*room));
                step->args = room;
                step->n_args = PROBE_ARGS_MAX;
        }
        free(*object);
        step->object = *object = from->object;
}

/* @given: a mark of @f, whose object is taken. */
static void note_args(Values *v, TaskValues *t, const Event *e, const Function *f, Mark *given,
                      Step *entry) {
        bool may_be_behind = v->entry_sides.n_before <= v->entry_sides.n_behind;
        Mark *m;

        /* @entry, which has not gone out, is what the event is directly behind. */
        if (entry && v->has_entry && v->mark.level == level_of(e) && entry->pid == e->pid &&
            function_is_same(v->mark.function, f)) {
                v->entry_sides.n_behind++;
                if (may_be_behind) {
                        give(entry, v->args, &v->object, given);
                        v->has_entry = false;
                        return;
                }
        }
        m = top_of(v, &t->marks[ENTRIES], e, f);
        if (m) {
                v->entry_sides.n_behind++;
                if (may_be_behind) {
                        give(m->step, m->step->args, (Object **) &m->step->object, given);
                        release(v, &t->marks[ENTRIES]);
                        return;
                }
        }
        go_on(v, t, e);
        m = push(&t->marks[GIVEN], e, f);
        if (!m) {
                free(given->object);
                return;
        }
        *m = *given;
        m->is_doubtful = v->entry_sides.n_behind > v->entry_sides.n_before;
}

static void note_return(Values *v, TaskValues *t, const Event *e, const Function *f,
                        const ProbeRecord *record, bool is_kretprobe) {
        static const char graph[] = "return_to_handler";
        bool is_before, is_silent;
        Mark *m = NULL;
        Symbol s;

        /* Where it returns to is the graph's: the exit follows. */
        is_before = functions_find_symbol(v->functions, record->ret_ip, e->timestamp_ns, &s) &&
                    s.n_name == strlen(graph) && memcmp(s.name, graph, s.n_name) == 0;
        v->tells = v->tells || is_before;
        is_silent = !is_kretprobe && !v->tells;
        if (!is_before)
                m = top_of(v, &t->marks[EXITS], e, f);
        if (m && !is_anothers(v, t, f, m->depth, record->ret_ip, e->timestamp_ns)) {
                bool may_be_behind = !is_silent || v->exit_sides.n_before <= v->exit_sides.n_behind;

                v->exit_sides.n_behind += is_silent;
                if (may_be_behind) {
                        m->step->retval = record->value;
                        m->step->has_retval = true;
                        release(v, &t->marks[EXITS]);
                        return;
                }
        }
        go_on(v, t, e);
        m = is_before || is_silent ? push(&t->marks[RETURNED], e, f) : NULL;
        if (m) {
                m->value = record->value;
                m->ret_ip = record->ret_ip;
                m->is_told = is_before;
                m->is_doubtful = is_silent && v->exit_sides.n_behind > v->exit_sides.n_before;
        }
}

/* A probe of @f behind its entry, if that is open: what is directly below it. */
static void note_stacked(const Values *v, TaskValues *t, const Event *e, const Function *f) {
        int32_t depth = OPEN_MAX;

        while (depth > 0 && !(t->open[depth - 1] && function_is_same(t->open[depth - 1], f)))
                depth--;
        if (level_of(e) == 0)
                t->rooted = mark_of(e, f);
        if (v->has_no_kernel_stacks)
                return;
        t->stacked[level_of(e)] = mark_of(e, f);
        t->stacked[level_of(e)].depth = depth > 0 ? depth : INT32_MAX;
}

int values_note(Values *v, const Event *e, Step *entry) {
        const Probe *p = find_probe(v, e);
        ProbeRecord record;
        const Function *f;
        TaskValues *t;

        if (!p || !formats_decode_probe(&p->format, v->formats, e, &record))
                return 0;
        t = task_of(v, e);
        f = functions_get(v->functions, record.func, e->timestamp_ns);
        if (!t || !f || learn(v, e, f) < 0)
                return -ENOMEM;
        if (p->format.is_stacked)
                note_stacked(v, t, e, f);
        else if (p->format.is_entry) {
                Mark given = mark_of(e, f);

                given.has_args = p->format.has_args;
                memcpy(given.args, record.args, sizeof(given.args));
                if (p->format.n_fields > 0 &&
                    object_new(&given.object, &v->text, &p->format, v->formats, e) < 0)
                        return -ENOMEM;
                note_args(v, t, e, f, &given, entry);
        } else if (!p->is_kretprobe || prototype_narrow(f->prototype, &record.value))
                note_return(v, t, e, f, &record, p->is_kretprobe);
        return 0;
}

static void await(Values *v, const Event *e, const Function *f, bool *which) {
        *which = true;
        v->mark = mark_of(e, f);
        v->mark_of = (Step){ .pid = e->pid, .cpu = e->cpu };
}

/* 1: a probe reads its fields, which nothing else that the function calls precedes. */
static int hide_reading(Values *v, TaskValues *t, const Event *e, const Function *f) {
        int32_t *reads_at = &t->reads_at[level_of(e)];
        int what;

        if (t->reading.function && !interrupts(e, &t->reading)) {
                bool ends = e->kind == EVENT_EXIT && e->depth == t->reading.depth;

                if (e->depth > t->reading.depth || ends) {
                        t->reading.function = ends ? NULL : t->reading.function;
                        return 1;
                }
                t->reading.function = NULL; /* its end was lost */
        }
        if (*reads_at == 0)
                return 0;
        what = e->kind == EVENT_ENTRY && e->depth == *reads_at ? look_at(v, f) : 0;
        if (what > 0 && what & READS_FIELDS)
                t->reading = mark_of(e, f);
        else
                *reads_at = 0;
        return what < 0 ? what : t->reading.function != NULL;
}

int values_hide(Values *v, const Event *e, const Function *f) {
        TaskValues *t;
        Mark *stacked;
        int what, r;

        if (!v->has_kprobes && !v->has_stacks && !v->has_objects)
                return 0;
        t = task_of(v, e);
        if (!t)
                return -ENOMEM;
        (void) values_take_root(v, e);
        r = v->has_objects ? hide_reading(v, t, e, f) : 0;
        if (r != 0)
                return r;
        /* Until the stack is there, what is called is for taking it (linux 6.12 kernel/trace/trace.c,
         * __ftrace_trace_stack()); if it never comes, up to the end of the root, and for not too long. */
        stacked = &t->stacked[level_of(e)];
        if (stacked->function && !interrupts(e, stacked)) {
                if (e->depth >= stacked->depth &&
                    e->timestamp_ns - stacked->timestamp_ns < STACK_NS_MAX)
                        return 1;
                stacked->function = NULL;
        }
        if (t->hides_below > 0 && e->depth >= t->hides_below)
                return 1;
        /* Its end, or, if that was lost, what comes behind it. */
        if (e->kind == EVENT_EXIT)
                return TAKE(t->hides_below, 0) == e->depth + 1;
        what = look_at(v, f);
        if (what < 0)
                return what;
        t->hides_below = what & HANDLES_PROBES ? e->depth + 1 : 0;
        return t->hides_below > 0;
}

int values_enter(Values *v, const Event *e, Step *step) {
        TaskValues *t = task_of(v, e);
        bool was_given = false;
        Mark *given;
        int what;

        v->has_exit = v->has_entry = false;
        v->has_entries = true;
        if (!t)
                return -ENOMEM;
        given = top_of(v, &t->marks[GIVEN], e, step->function);
        if (given) {
                v->entry_sides.n_before++;
                was_given = !given->is_doubtful;
                if (was_given) {
                        give(step, v->args, &v->object, given);
                        given->object = NULL;
                }
        }
        go_on(v, t, e);
        if (e->depth < OPEN_MAX)
                t->open[e->depth] = step->function;
        what = look_at(v, step->function);
        if (what > 0 && what & OBJECT_PROBED)
                t->reads_at[level_of(e)] = e->depth + 1;
        if (what > 0 && what & ENTRY_PROBED && !was_given &&
            (step->n_args == 0 || what & OBJECT_PROBED))
                await(v, e, step->function, &v->has_entry);
        return MIN(what, 0);
}

int values_leave(Values *v, const Event *e, Step *step) {
        TaskValues *t = task_of(v, e);
        const Function *f = step->function;
        const Mark *value;
        int what;

        v->has_exit = v->has_entry = false;
        if (!t)
                return -ENOMEM;
        value = top_of(v, &t->marks[RETURNED], e, f);
        if (value && !value->is_told &&
            is_anothers(v, t, f, e->depth, value->ret_ip, value->timestamp_ns))
                value = NULL;
        /* Where there are no entries the call must have begun by then.  What the exit says of that is not asked for
         * elsewhere: an interrupt may come between its reading of the clock and its record (seen on 6.1). */
        if (value && !v->has_entries &&
            e->timestamp_ns - value->timestamp_ns > e->rettime - e->calltime)
                value = NULL;
        if (value) {
                v->exit_sides.n_before += !value->is_told;
                t->marks[RETURNED].n--;
        }
        if (value && !value->is_doubtful) {
                step->retval = value->value;
                step->has_retval = true;
        }
        go_on(v, t, e);
        if (e->depth < OPEN_MAX)
                t->open[e->depth] = NULL;
        if (step->has_retval)
                return 0;
        what = look_at(v, step->function);
        if (what > 0 && what & EXIT_PROBED)
                await(v, e, step->function, &v->has_exit);
        return MIN(what, 0);
}

void values_forget(Values *v) {
        for (size_t i = 0; i < v->tasks.n; i++) {
                TaskValues *t = v->tasks.items[i].data;

                if (!t)
                        continue;
                for (Marks *m = t->marks; m < t->marks + _MARKS_N; m++)
                        while (m->n > 0)
                                release(v, m);
                memset(t->open, 0, sizeof(t->open));
                memset(t->stacked, 0, sizeof(t->stacked));
                t->rooted.function = NULL;
                memset(t->reads_at, 0, sizeof(t->reads_at));
                t->reading.function = NULL;
                t->hides_below = 0;
        }
        v->has_exit = v->has_entry = false;
}

/* --- stacks -------------------------------------------------------------------------------------- */

const Function *values_take_root(Values *v, const Event *e) {
        TaskValues *t = v->has_stacks ? task_of(v, e) : NULL;

        return t && !interrupts(e, &t->rooted) ? TAKE_PTR(t->rooted.function) : NULL;
}

int values_take_stack(Values *v, const Event *e, const uint64_t *addresses, size_t n,
                      const Callers **ret) {
        const Function *functions[CALLERS_MAX], *root;
        TaskValues *t = v->has_stacks ? task_of(v, e) : NULL;
        bool is_there;
        int n_above;

        *ret = NULL;
        if (!t)
                return v->has_stacks ? -ENOMEM : 0;
        root = t->stacked[level_of(e)].function;
        if (!root)
                return 0;
        n_above = callers_above(v->functions, root, e->timestamp_ns, addresses, n, functions,
                                &is_there);
        if (is_there)
                t->stacked[level_of(e)].function = NULL;
        return n_above <= 0
                       ? n_above
                       : callers_get(&v->callers, root, functions, (size_t) n_above, false, ret);
}

/* --- what goes out ------------------------------------------------------------------------------ */

int values_push(Values *v, const Step *step) {
        static const uint64_t no_args[PROBE_ARGS_MAX];
        bool has_exit = TAKE(v->has_exit, false), has_entry = TAKE(v->has_entry, false);
        bool waits = step->kind == STEP_ENTER ? has_entry : step_is_call(step) && has_exit;
        TaskValues *t = waits ? stacks_data(&v->tasks, &v->mark_of, sizeof(*t)) : NULL;
        Marks *m = NULL;
        Step copied = *step;
        int r;

        if (waits && !t)
                return -ENOMEM;
        if (!waits && v->line.n_waiting == 0)
                return 1;
        if (v->line.n_waiting >= WAITING_MAX)
                values_forget(v);
        if (waits)
                m = &t->marks[has_entry ? ENTRIES : EXITS];
        if (!m || m->n == MARKS_MAX)
                return tail_sampler_push(&v->line, NULL, step, NULL);
        v->mark.waiting = calloc(1, sizeof(SampledTree));
        if (!v->mark.waiting)
                return -ENOMEM;
        if (has_entry && step->n_args == 0) { /* room for what it may be given */
                copied.args = no_args;
                copied.n_args = PROBE_ARGS_MAX;
        }
        r = tail_sampler_push(&v->line, v->mark.waiting, &copied, &v->mark.step);
        if (r >= 0)
                v->mark.step->n_args = step->n_args;
        m->items[m->n++] = v->mark;
        return r;
}

bool values_pop(Values *v, Step *ret) {
        return tail_sampler_pop(&v->line, 0, ret);
}

Values *values_free(Values *v) {
        if (!v)
                return NULL;
        values_forget(v);
        tail_sampler_done(&v->line);
        stacks_done(&v->tasks);
        for (size_t i = 0; i < v->n_probes; i++) {
                free(v->probes[i].function);
                free(v->probes[i].format.fields);
        }
        free(v->probes);
        free(v->object);
        buf_done(&v->text);
        callers_done(&v->callers);
        hash_done(&v->known);
        return mfree(v);
}
