/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tasks are found by their pid, and never forgotten: a pid that is used again begins with a new
 * leaving. */

#include "analyze/sched.h"
#include "base/array.h"

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

/* --- tasks ------------------------------------------------------------------------------------ */

static struct SchedTask *find(const Sched *s, int32_t pid) {
        uint64_t i = hash_get(&s->by_pid, (uint64_t) pid);

        return i > 0 ? &s->tasks[i - 1] : NULL;
}

int sched_leave(Sched *s, const SchedEvent *event, uint64_t timestamp_ns) {
        struct SchedTask *t = find(s, event->left_pid);

        if (event->left_pid <= 0)
                return 0;
        if (!t) {
                if (!ARRAY_GROW(s->tasks, s->n) ||
                    hash_add(&s->by_pid, (uint64_t) event->left_pid, s->n + 1) < 0)
                        return -ENOMEM;
                t = &s->tasks[s->n++];
        }
        *t = (struct SchedTask){
                .is_away = true,
                .wait = { .left_ns = timestamp_ns, .state = event->left_state },
        };
        return 0;
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
        *ret = t->wait;
        return true;
}

void sched_done(Sched *s) {
        free(s->tasks);
        hash_done(&s->by_pid);
}
