/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A task has a row of changes, the earliest first, and what holds at a time is the last one before it:
 *
 *      task 812    10.0 s  4bf9...    10.2 s  none    10.3 s  a3ce...
 *
 * A question about a time drops what was over by then, so that of a task whose calls are told soon there is
 * but one.  If all tasks together have too many, each keeps the later half, and the last one always.
 */

#include "base/array.h"
#include "calls/stacks.h"
#include "calls/trace-context.h"

#define COUNT_BORROWED 0xff
#define VALUE_CHARS 55 /* without what may follow */
#define FLAGS_OF_INTERRUPTS                                                                        \
        0x58 /* linux 6.12 include/linux/trace_events.h: NMI, HARDIRQ, SOFTIRQ */

static const char key_text[] = "traceparent=";

/* --- a text ----------------------------------------------------------------------------------- */

static bool is_of_word(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '-';
}

static bool read_value(TraceContext *ret, const char *p) {
        char version[3], span_id[17], flags[3];
        int n = 0;

        p += *p == '"';
        if (sscanf(p, "%2[0-9a-f]-%32[0-9a-f]-%16[0-9a-f]-%2[0-9a-f]%n", version, ret->trace_id,
                   span_id, flags, &n) < 4 ||
            n != VALUE_CHARS || streq(version, "ff"))
                return false;
        if (is_of_word(p[n]) && (streq(version, "00") || p[n] != '-'))
                return false;
        return ret->trace_id[strspn(ret->trace_id, "0")] && span_id[strspn(span_id, "0")];
}

/* Behind the key; NULL: there is none. */
static const char *find_value(const char *text) {
        const char *key = strstr(text, key_text), *comm;

        /* "X-traceparent=", "prev_comm=traceparent=" are other words. */
        while (key && key > text && (is_of_word(key[-1]) || key[-1] == '='))
                key = strstr(key + 1, key_text);
        if (!key)
                return NULL;
        comm = strstr(text, "comm=");
        return comm && comm < key ? NULL : key + strlen(key_text);
}

int trace_context_parse(TraceContext *ret, const char *text) {
        const char *value = find_value(text);
        TraceContext c;

        if (!value)
                return TRACE_CONTEXT_E_SILENT;
        if (!read_value(&c, value))
                return TRACE_CONTEXT_E_ENDS;
        *ret = c;
        return 0;
}

/*
 * Of a uprobe, which is met in the task, flags are no flags: the kernel takes one off the count for
 * tracepoints, which disable preemption, and what had been 0 borrows from the flags (linux 6.12
 * kernel/trace/trace_events.c, trace_event_buffer_reserve(); include/linux/trace_events.h,
 * tracing_gen_ctx_dec()).
 */
static bool is_of_interrupt(const Step *step) {
        return step->preempt_count != COUNT_BORROWED && (step->flags & FLAGS_OF_INTERRUPTS) != 0;
}

static bool is_exit(const Step *step) {
        return startswith(step->text, "sched_process_exit: ");
}

bool trace_context_is_said(const Step *step) {
        return step->kind == STEP_OTHER && step->text && !is_of_interrupt(step) &&
               (find_value(step->text) || is_exit(step));
}

/* --- tasks ------------------------------------------------------------------------------------ */

typedef struct Change {
        uint64_t at_ns;
        TraceContext context;
        bool is_end; /* there is no context from now on */
} Change;

/* Of a task: Stack.data. */
typedef struct Task {
        Change *changes;
        size_t n, n_room;
} Task;

struct TraceContexts {
        Stacks tasks; /* of those that have said something, or that a text has named */
        size_t n_changes;
};

static Task *task_at(const TraceContexts *c, size_t i) {
        return c->tasks.items[i].data;
}

static void drop(TraceContexts *c, Task *t, size_t n) {
        if (n == 0)
                return;
        memmove(t->changes, t->changes + n, (t->n - n) * sizeof(*t->changes));
        t->n -= n;
        c->n_changes -= n;
}

static int add(TraceContexts *c, Task *t, const Change *change) {
        if (c->n_changes >= TRACE_CONTEXTS_MAX + c->tasks.n)
                for (size_t i = 0; i < c->tasks.n; i++)
                        if (task_at(c, i))
                                drop(c, task_at(c, i), task_at(c, i)->n / 2);
        if (!ARRAY_ROOM(t->changes, t->n_room, t->n + 1))
                return -ENOMEM;
        t->changes[t->n++] = *change;
        c->n_changes++;
        return 0;
}

/* What was said without a name was said by the task that has one now, as its calls are its own. */
static int name_task(TraceContexts *c, const Step *step) {
        const Step nameless = { .cpu = step->cpu, .pid = STEP_PID_UNKNOWN(step->cpu) };

        return step->pid == nameless.pid || !stacks_find(&c->tasks, &nameless)
                       ? 0
                       : stacks_name_task(&c->tasks, step);
}

/* Any task may have said something there. */
static int add_loss(TraceContexts *c, uint64_t at_ns) {
        int r = 0;

        for (size_t i = 0; i < c->tasks.n && r >= 0; i++) {
                Task *t = task_at(c, i);
                const Change *last = t && t->n > 0 ? &t->changes[t->n - 1] : NULL;

                if (last && !last->is_end)
                        r = add(c, t,
                                &(Change){ .at_ns = MAX(at_ns, last->at_ns), .is_end = true });
        }
        return r;
}

int trace_contexts_step(TraceContexts *c, const Step *step) {
        Change change = { .at_ns = step->timestamp_ns };
        Task *t;

        if (_unlikely_(step->kind == STEP_LOST))
                return add_loss(c, step->timestamp_ns);
        if (_unlikely_(step->kind == STEP_TASK))
                return name_task(c, step);
        if (_likely_(step->kind != STEP_OTHER) || !trace_context_is_said(step))
                return 0;
        change.is_end = is_exit(step) || trace_context_parse(&change.context, step->text) != 0;
        if (change.is_end && !stacks_find(&c->tasks, step))
                return 0;
        t = stacks_data(&c->tasks, step, sizeof(*t));
        if (!t)
                return -ENOMEM;
        /* A text's times may run back. */
        if (t->n > 0)
                change.at_ns = MAX(change.at_ns, t->changes[t->n - 1].at_ns);
        return add(c, t, &change);
}

const TraceContext *trace_contexts_find(TraceContexts *c, int64_t key, uint64_t at_ns) {
        uint64_t task = hash_get(&c->tasks.by_key, (uint64_t) key);
        Task *t = task > 0 ? task_at(c, task - 1) : NULL;
        size_t n = BISECT(0, t ? t->n : 0, i, t->changes[i].at_ns <= at_ns);

        if (n == 0)
                return NULL;
        drop(c, t, n - 1);
        return t->changes[0].is_end ? NULL : &t->changes[0].context;
}

int trace_contexts_new(TraceContexts **ret) {
        *ret = calloc(1, sizeof(**ret));
        return *ret ? 0 : -ENOMEM;
}

TraceContexts *trace_contexts_free(TraceContexts *c) {
        if (!c)
                return NULL;
        for (size_t i = 0; i < c->tasks.n; i++)
                if (task_at(c, i))
                        free(task_at(c, i)->changes);
        stacks_done(&c->tasks);
        return mfree(c);
}
