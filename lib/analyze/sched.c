/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tasks are found by their pid, and never forgotten: a pid that is used again begins with a new
 * leaving. */

#include "analyze/sched.h"
#include "base/array.h"
#include "base/name.h"

/* --- what events say -------------------------------------------------------------------------- */

/* The last @key before @end, or NULL. */
static const char *last_key(const char *text, const char *end, const char *key) {
        const char *last = NULL;

        while ((text = strstr(text, key)) && text < end)
                last = text++;
        return last;
}

/* Behind the last @key before @end; false: there is none. */
static bool number_of(const char *text, const char *end, const char *key, int32_t *ret) {
        const char *p = last_key(text, end, key);
        char *digits_end;
        long v;

        if (!p)
                return false;
        p += strlen(key);
        v = strtol(p, &digits_end, 10);
        if (digits_end == p || v < 0 || v > INT32_MAX)
                return false;
        *ret = (int32_t) v;
        return true;
}

static void take_comm(SchedEvent *e, const char *begin, const char *end) {
        if (end && begin < end)
                memcpy(e->comm, begin, MIN((size_t) (end - begin), sizeof(e->comm) - 1));
}

/* "cat:412 [120] D", up to @end, as libtraceevent's plugin has it: the number before the bracket.
 * @ret_colon: behind the name. */
static bool short_task(const char *begin, const char *end, int32_t *ret, const char **ret_colon) {
        const char *p = end;
        char *digits_end;
        long v;

        while (p > begin && !(p[0] == '[' && p[-1] == ' '))
                p--;
        while (p > begin && *p != ':')
                p--;
        if (p == begin)
                return false;
        v = strtol(p + 1, &digits_end, 10);
        *ret = (int32_t) v;
        *ret_colon = p;
        return digits_end > p + 1 && v >= 0 && v <= INT32_MAX;
}

/* "cat:412 [120] D ==> bash:9 [120]" */
static SchedEvent parse_short_switch(const char *text) {
        const char *arrow = strstr(text, " ==> "), *next, *colon;
        SchedEvent e = { .kind = SCHED_SWITCH };

        if (!arrow || arrow == text || !short_task(text, arrow, &e.left_pid, &colon))
                return (SchedEvent){};
        next = arrow + strlen(" ==> ");
        if (!short_task(next, next + strlen(next), &e.pid, &colon))
                return (SchedEvent){};
        e.left_state = arrow[-1];
        take_comm(&e, next, colon);
        return e;
}

/* A name may hold each of the keys, and the arrow, but has no room for a key and the arrow. */
static SchedEvent parse_switch(const char *text) {
        static const char arrow_text[] = " ==> next_comm=", state_text[] = " prev_state=";
        const char *state = strstr(text, state_text);
        const char *arrow = state ? strstr(state, arrow_text) : NULL, *end = text + strlen(text);
        SchedEvent e = { .kind = SCHED_SWITCH };

        if (!arrow || !number_of(text, arrow, " prev_pid=", &e.left_pid) ||
            !number_of(arrow, end, " next_pid=", &e.pid))
                return (SchedEvent){};
        e.left_state = last_key(text, arrow, state_text)[strlen(state_text)];
        take_comm(&e, arrow + strlen(arrow_text), last_key(arrow, end, " next_pid="));
        return e;
}

SchedEvent sched_parse(const Step *step) {
        static const struct {
                const char *event;
                SchedKind kind;
        } wakings[] = { { "sched_waking: ", SCHED_WAKING },
                        { "sched_wakeup: ", SCHED_WAKING },
                        { "sched_wakeup_new: ", SCHED_WAKING_NEW } };
        const char *fields, *end, *colon;

        if (step->kind == STEP_OTHER && step->late)
                return step->late->sched;
        if (step->kind != STEP_OTHER || !step->text || !startswith(step->text, "sched_"))
                return (SchedEvent){};
        fields = startswith(step->text, "sched_switch: ");
        if (fields)
                return startswith(fields, "prev_comm=") ? parse_switch(fields)
                                                        : parse_short_switch(fields);
        for (size_t i = 0; i < ELEMENTSOF(wakings); i++) {
                SchedEvent e = { .kind = wakings[i].kind };

                fields = startswith(step->text, wakings[i].event);
                if (!fields)
                        continue;
                end = fields + strlen(fields);
                if (startswith(fields, "comm=") && number_of(fields, end, " pid=", &e.pid)) {
                        take_comm(&e, fields + strlen("comm="), last_key(fields, end, " pid="));
                        return e;
                }
                if (short_task(fields, end, &e.pid, &colon)) {
                        take_comm(&e, fields, colon);
                        return e;
                }
        }
        return (SchedEvent){};
}

void waker_describe(Buf *out, const Waker *w) {
        if (w->is_irq)
                buf_adds(out, "by an interrupt");
        else if (w->in_softirq && w->pid == 0)
                buf_adds(out, "in a softirq while the CPU was idle");
        else {
                buf_printf(out, "%s %s", w->in_softirq ? "in a softirq while" : "by",
                           *w->comm ? NAME_QUOTED(w->comm) : "a task");
                if (w->pid >= 0)
                        buf_printf(out, "-%d", w->pid);
                buf_adds(out, w->in_softirq ? " ran" : "");
        }
        if (w->function)
                buf_printf(out, "%s in %s%s", w->in_softirq ? "," : "",
                           NAME_QUOTED(w->function->label), UNHOOKED_TEXT(w->function->n_unhooked));
        if (w->what)
                buf_printf(out, " (%s)", w->what);
}

/* --- CPUs ------------------------------------------------------------------------------------- */

/* Each may be a little shorter than the one before. */
static void forget_older_half(struct SchedCpu *of) {
        size_t n_older = of->n / 2;

        of->known_ns = MAX(of->known_ns, of->stretches[n_older - 1].end_ns);
        of->n -= n_older;
        memmove(of->stretches, of->stretches + n_older, of->n * sizeof(*of->stretches));
}

int sched_cpus_switch(SchedCpus *c, const SchedEvent *event, uint32_t cpu, uint64_t timestamp_ns) {
        struct SchedCpu *of;
        struct SchedStretch ended;

        if (cpu >= SCHED_CPUS_MAX)
                return 0;
        while (c->n <= cpu)
                if (!ARRAY_ADD(c->items, c->n, (struct SchedCpu){ .now.pid = -1 }))
                        return -ENOMEM;
        of = &c->items[cpu];
        if (timestamp_ns < of->since_ns)
                return 0;
        ended = (struct SchedStretch){ timestamp_ns, timestamp_ns - of->since_ns, of->now };
        if (of->now.pid >= 0) {
                while (of->n > 0 && of->stretches[of->n - 1].duration_ns < ended.duration_ns)
                        of->n--;
                if (of->n == SCHED_STRETCHES_MAX)
                        forget_older_half(of);
                if (!ARRAY_ADD(of->stretches, of->n, ended))
                        return -ENOMEM;
        }
        of->idle_ns += of->now.pid == 0 ? ended.duration_ns : 0;
        of->now.pid = event->pid;
        memcpy(of->now.comm, event->comm, sizeof(of->now.comm));
        of->since_ns = timestamp_ns;
        return 0;
}

void sched_cpus_lose(SchedCpus *c, uint64_t timestamp_ns) {
        for (size_t i = 0; i < c->n; i++) {
                c->items[i].now.pid = -1;
                c->items[i].known_ns = timestamp_ns;
        }
}

SchedHolder sched_cpus_longest(const SchedCpus *c, uint32_t cpu, uint64_t from_ns, uint64_t to_ns) {
        const struct SchedCpu *of = cpu < c->n ? &c->items[cpu] : NULL;
        SchedHolder longest = { .pid = -1 };
        uint64_t longest_ns = 0;
        size_t i;

        if (!of || from_ns < of->known_ns)
                return longest;
        /* The first may have begun earlier, and the second is the longest of the others. */
        i = BISECT(0, of->n, k, of->stretches[k].end_ns <= from_ns);
        for (size_t end = MIN(of->n, i + 2); i < end; i++) {
                const struct SchedStretch *s = &of->stretches[i];
                uint64_t ns = MIN(s->duration_ns, s->end_ns - from_ns);

                if (ns > longest_ns) {
                        longest_ns = ns;
                        longest = s->by;
                }
        }
        if (of->now.pid >= 0 && to_ns > MAX(from_ns, of->since_ns) &&
            to_ns - MAX(from_ns, of->since_ns) > longest_ns)
                longest = of->now;
        return longest;
}

static uint64_t idle_ns(const SchedCpus *c, uint32_t cpu, uint64_t to_ns) {
        const struct SchedCpu *of = cpu < c->n ? &c->items[cpu] : NULL;

        if (!of)
                return 0;
        return of->idle_ns + (of->now.pid == 0 && to_ns > of->since_ns ? to_ns - of->since_ns : 0);
}

void sched_cpus_done(SchedCpus *c) {
        for (size_t i = 0; i < c->n; i++)
                free(c->items[i].stretches);
        free(c->items);
        *c = (SchedCpus){};
}

/* --- seen by another one ---------------------------------------------------------------------- */

int sched_seen_add(SchedSeen *s, const Step *step, const Waker *waker) {
        if (s->begin > 0 && s->begin >= s->n - s->begin) {
                s->n -= s->begin;
                memmove(s->items, s->items + s->begin, s->n * sizeof(*s->items));
                s->begin = 0;
        }
        if (!ARRAY_ROOM(s->items, s->n_room, s->n + 1))
                return -ENOMEM;
        s->items[s->n++] = (struct SchedWaking){ step->timestamp_ns, step->cpu, *waker };
        return 0;
}

/* The last one that was asked for stays, since several may ask. */
bool sched_seen_find(SchedSeen *s, const Step *step, Waker *ret) {
        for (; s->begin < s->n && s->items[s->begin].timestamp_ns <= step->timestamp_ns;
             s->begin++) {
                const struct SchedWaking *w = &s->items[s->begin];

                if (w->timestamp_ns < step->timestamp_ns || w->cpu != step->cpu)
                        continue;
                *ret = w->waker;
                return true;
        }
        return false;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static struct SchedTask *find(const Sched *s, int32_t pid) {
        uint64_t i = hash_get(&s->by_pid, (uint64_t) pid);

        return i > 0 ? &s->tasks[i - 1] : NULL;
}

int sched_leave(Sched *s, const SchedEvent *event, uint32_t cpu, uint64_t timestamp_ns) {
        struct SchedTask *t = find(s, event->left_pid);
        int r = sched_cpus_switch(&s->cpus, event, cpu, timestamp_ns);

        if (r < 0 || event->left_pid <= 0)
                return r;
        if (!t) {
                if (!ARRAY_GROW(s->tasks, s->n) ||
                    hash_add(&s->by_pid, (uint64_t) event->left_pid, s->n + 1) < 0)
                        return -ENOMEM;
                t = &s->tasks[s->n++];
        }
        *t = (struct SchedTask){
                .is_away = true,
                .wait = { .left_ns = timestamp_ns, .state = event->left_state, .had.pid = -1 },
                .n_lost = s->n_lost,
                .idle_ns = idle_ns(&s->cpus, cpu, timestamp_ns),
                .cpu = cpu,
        };
        return 0;
}

void sched_lose(Sched *s, uint64_t timestamp_ns) {
        s->n_lost++;
        sched_cpus_lose(&s->cpus, timestamp_ns);
}

void sched_wake(Sched *s, const SchedEvent *event, uint64_t timestamp_ns, const Waker *waker) {
        struct SchedTask *t = find(s, event->pid);

        if (!t || !t->is_away || t->wait.woken_ns > 0)
                return;
        t->wait.woken_ns = timestamp_ns;
        t->wait.waker = *waker;
}

bool sched_come_back(Sched *s, int32_t pid, uint64_t timestamp_ns, SchedWait *ret) {
        struct SchedTask *t = find(s, pid);

        if (!t || !t->is_away || timestamp_ns < t->wait.left_ns)
                return false;
        t->is_away = false;
        t->wait.back_ns = timestamp_ns;
        t->wait.is_sure = t->n_lost == s->n_lost;
        if (t->wait.state == 'R' && t->wait.is_sure) {
                t->wait.had = sched_cpus_longest(&s->cpus, t->cpu, t->wait.left_ns, timestamp_ns);
                t->wait.idle_ns = idle_ns(&s->cpus, t->cpu, timestamp_ns) - t->idle_ns;
        }
        *ret = t->wait;
        return true;
}

void sched_done(Sched *s) {
        sched_cpus_done(&s->cpus);
        free(s->tasks);
        hash_done(&s->by_pid);
}
