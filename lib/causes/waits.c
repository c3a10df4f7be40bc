/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rows are found by a hash of all that tells them apart. */

#include "base/array.h"
#include "base/name.h"
#include "base/unit.h"
#include "causes/waits.h"

struct Waits {
        WaitsRow **rows;
        size_t n_rows;
        Hash by_hash; /* the rows */
};

bool waits_is_scheduler(const Function *function) {
        static const char *const names[] = { "schedule", "__schedule", "io_schedule",
                                             "preempt_schedule", "__cond_resched" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (startswith(function->label, names[i]))
                        return true;
        return false;
}

const Frame *waits_frame(const CallWait *wait) {
        const Frame *f = wait->frame;

        while (f > wait->stack->frames && waits_is_scheduler(f->function))
                f--;
        return f;
}

static bool is_alike(const WaitsRow *row, const WaitsRow *like) {
        const Waker *a = &row->waker, *b = &like->waker;

        if (row->function != like->function || row->is_woken != like->is_woken ||
            row->is_forced != like->is_forced || row->is_between != like->is_between ||
            row->pid != like->pid || !streq(row->comm, like->comm))
                return false;
        return a->function == b->function && a->is_irq == b->is_irq && a->what == b->what &&
               a->in_softirq == b->in_softirq && (b->is_irq || streq(a->comm, b->comm)) &&
               (!like->is_forced || (a->pid == 0) == (b->pid == 0));
}

static WaitsRow *row_of(Waits *s, const WaitsRow *like) {
        const HashSlot *slot;
        WaitsRow *row;
        uint64_t hash = hash_mix(hash_key(like->function)) << 2;

        hash ^= (uint64_t) like->is_woken << 1 ^ like->is_forced;
        hash = hash_mix(hash ^ hash_key(like->waker.function) ^ (uint32_t) like->pid);
        if (!like->waker.is_irq)
                hash = hash_bytes(hash, like->waker.comm, strlen(like->waker.comm));
        hash_each (slot, &s->by_hash, hash) {
                row = (void *) (uintptr_t) slot->value;
                if (is_alike(row, like))
                        return row;
        }
        if (!ARRAY_GROW(s->rows, s->n_rows))
                return NULL;
        row = malloc(sizeof(*row));
        if (row)
                *row = *like;
        if (!row || hash_add_ptr(&s->by_hash, hash, row) < 0)
                return mfree(row);
        return s->rows[s->n_rows++] = row;
}

static int note(void *userdata, const CallWait *wait) {
        const SchedWait *w = wait->wait;
        WaitsRow *row, like = { .function = wait->frame ? waits_frame(wait)->function : wait->after,
                                .is_woken = w->woken_ns > 0,
                                .is_forced = w->state == 'R',
                                .is_between = !wait->frame,
                                .pid = -1 };
        int r;

        if (like.is_woken)
                like.waker = w->waker;
        else if (like.is_forced) {
                like.waker.pid = w->had.pid;
                if (w->had.pid > 0)
                        memcpy(like.waker.comm, w->had.comm, sizeof(w->had.comm));
        }
        if (like.is_between) {
                like.pid = wait->stack->pid;
                memcpy(like.comm, wait->stack->comm, sizeof(like.comm));
        }
        row = row_of(userdata, &like);
        if (!row)
                return -ENOMEM;
        if (row->waker.pid != like.waker.pid)
                row->waker.pid = -1;
        row->idle_ns = add_capped(row->idle_ns, like.is_forced ? w->idle_ns : 0);
        r = quantiles_add(&row->away, w->back_ns - w->left_ns);
        if (r >= 0 && w->woken_ns > 0)
                r = quantiles_add(&row->latency, w->back_ns - MIN(w->back_ns, w->woken_ns));
        return r;
}

static int compare(const void *a, const void *b) {
        const WaitsRow *x = *(WaitsRow *const *) a, *y = *(WaitsRow *const *) b;

        return CMP(y->away.sum, x->away.sum) ?: strcmp(x->function->label, y->function->label);
}

const WaitsRow *const *waits_rows(Waits *s, size_t *ret_n) {
        SORT(s->rows, s->n_rows, compare);
        *ret_n = s->n_rows;
        return (const WaitsRow *const *) s->rows;
}

const WaitsRow *waits_between(Waits *w, int64_t pid, const char *label) {
        size_t n;
        const WaitsRow *const *rows = waits_rows(w, &n);

        for (size_t i = 0; i < n; i++)
                if (rows[i]->is_between && (pid < 0 || rows[i]->pid == pid) &&
                    (!label || streq(rows[i]->function->label, label)))
                        return rows[i];
        return NULL;
}

void waits_describe_holder(Buf *out, const WaitsRow *row, const char *separator) {
        const Waker *had = &row->waker;
        char number[16] = "";

        if (had->pid > 0)
                (void) snprintf(number, sizeof(number), "-%d", had->pid);
        if (had->pid == 0)
                buf_printf(out, "%snothing else ran%s%s: perhaps throttled (cpu.max)", separator,
                           row->idle_ns < row->away.sum ? " for " : "",
                           row->idle_ns < row->away.sum ? FIGURE_ROUND(row->idle_ns) : "");
        else if (*had->comm || had->pid > 0)
                buf_printf(out, "%s%s%s had the CPU longest", separator, NAME_QUOTED(had->comm),
                           number);
}

void waits_describe(Buf *out, const WaitsRow *row) {
        const Quantiles *away = &row->away;

        buf_adds(out, *row->comm ? NAME_QUOTED(row->comm) : "a task");
        if (row->pid >= 0)
                buf_printf(out, "-%d", row->pid);
        buf_printf(out, " was off the CPU %s time%s between its calls, behind %s, ",
                   FORMAT_COUNT(away->n), away->n == 1 ? "" : "s", NAME_QUOTED(row->function->label));
        if (away->n > 1)
                buf_printf(out, "%s in all and %s at most", FIGURE_ROUND(away->sum),
                           FIGURE_ROUND(away->max));
        else
                buf_printf(out, "for %s", FIGURE_ROUND(away->sum));
        waits_describe_holder(out, row, ": ");
}

int waits_new(Waits **ret, Pairing *pairing, bool only_between) {
        *ret = calloc(1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        if (!only_between)
                pairing_set_wait(pairing, note, *ret);
        pairing->between = note;
        pairing->between_userdata = *ret;
        return 0;
}

Waits *waits_free(Waits *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_rows; i++) {
                quantiles_done(&s->rows[i]->away);
                quantiles_done(&s->rows[i]->latency);
                free(s->rows[i]);
        }
        free(s->rows);
        hash_done(&s->by_hash);
        return mfree(s);
}

/* --- idle calls ------------------------------------------------------------------------------- */

int idle_note(Idle *idle, const Function *root, const Call *call) {
        uint64_t i = idle->is_wanted ? hash_get(&idle->by_function, hash_key(root)) : 0;
        bool is_whole = call->has_end && !call->is_cut && !call->is_late && !call->in_own_work;
        struct IdleRoot *of;

        if (!idle->is_wanted || (i == 0 && !call->is_idle && !is_whole))
                return 0;
        if (i == 0) {
                if (!ARRAY_ADD(idle->roots, idle->n_roots, (struct IdleRoot){ .function = root }) ||
                    hash_add(&idle->by_function, hash_key(root), idle->n_roots) < 0)
                        return -ENOMEM;
                i = idle->n_roots;
        }
        of = &idle->roots[i - 1];
        if (!call->is_idle)
                return 0;
        idle->n_with += of->n++ == 0;
        of->longest_ns = MAX(of->longest_ns, call->duration_ns);
        return 1;
}

void idle_describe(Buf *out, const Idle *idle) {
        const char *name = NULL;
        uint64_t n = 0, n_others = 0;
        size_t n_named = 0;

        for (size_t i = 0; i < idle->n_roots && idle_is_left_out(idle); i++) {
                const struct IdleRoot *root = &idle->roots[i];

                if (root->n == 0 || n_named++ >= IDLE_NAMED) {
                        n_others += root->n;
                        continue;
                }
                buf_printf(out, "%s%s%s of %s (up to %s)", n > 0 ? ", " : "", FORMAT_COUNT(root->n),
                           n > 0          ? ""
                           : root->n == 1 ? " call"
                                          : " calls",
                           NAME_QUOTED(root->function->label), FIGURE_ROUND(root->longest_ns));
                name = n > 0 ? "NAME" : root->function->label;
                n += root->n;
        }
        if (n_named > IDLE_NAMED)
                buf_printf(out, ", %s of %zu others", FORMAT_COUNT(n_others), n_named - IDLE_NAMED);
        if (n > 0)
                buf_printf(out,
                           " waited for input most of %s time and %s left out: --root=%s shows %s.",
                           n == 1 ? "its" : "their", n == 1 ? "is" : "are", NAME_QUOTED(name),
                           n == 1 ? "it" : "them");
}

void idle_done(Idle *idle) {
        free(idle->roots);
        hash_done(&idle->by_function);
        *idle = (Idle){};
}
