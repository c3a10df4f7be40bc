/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Every call of a function, a line each, when it ends: what an outlier looks like, and when it was.
 * Who woke it meanwhile is kept until its end, at its frame.
 */

#include "base/array.h"
#include "base/name.h"
#include "calls/step.h"
#include "causes/waits.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

#define WIDE_COLUMNS                                                                               \
        116 /* of a terminal on which all columns and a name of 40 characters have room */
#define NARROW_INDENT 35 /* where functions begin on others */

typedef struct Listing {
        const Options *o;
        const SessionMeta *meta; /* NULL: of a text */
        NameSet *names;
        Where *where; /* NULL: all */
        Buf out;
        uint64_t n;
        uint64_t n_looked_at; /* calls that only --where could leave out */
        bool is_first;        /* of JSON's list */
        TableMarks marks;
} Listing;

/* What is known of a call that is under way; a frame without one has none. */
typedef struct Note {
        struct Waited {
                const Function *function; /* that waited */
                SchedWait wait;
        } * waits;
        size_t n_waits;
} Note;

static void note_freep(Note **note) {
        if (*note)
                free((*note)->waits);
        free(*note);
}

static bool is_wanted(Listing *l, const Frame *frame, int *ret) {
        int r = l->names ? name_set_has(l->names, frame->function) : frame->is_root;

        *ret = MIN(r, 0);
        return r > 0;
}

/* All calls that are wanted and that the wait is in get to know of it. */
static int waited(void *userdata, const CallWait *wait) {
        Listing *l = userdata;
        int r = 0;

        for (Frame *f = wait->stack->frames; f <= wait->frame && r >= 0; f++) {
                Note *note;

                if (!is_wanted(l, f, &r))
                        continue;
                note = f->data = f->data ?: calloc(1, sizeof(Note));
                if (!note || !ARRAY_GROW(note->waits, note->n_waits))
                        return -ENOMEM;
                note->waits[note->n_waits++] =
                        (struct Waited){ .function = waits_frame(wait)->function,
                                         .wait = *wait->wait };
        }
        return r;
}

static uint64_t away_ns(const SchedWait *w) {
        return w->back_ns - MIN(w->back_ns, w->left_ns);
}

static uint64_t latency_ns(const SchedWait *w) {
        return w->back_ns - MIN(w->back_ns, w->woken_ns);
}

static void print_waker(Buf *out, const SchedWait *w) {
        if (w->woken_ns == 0) {
                buf_adds(out, w->state == 'R' ? ", preempted" : ", woken by nobody that was seen");
                return;
        }
        buf_adds(out, ", woken ");
        waker_describe(out, &w->waker);
        buf_printf(out, ", ran %s later", FIGURE_ROUND(latency_ns(w)));
}

/* The longest wait, and how many there were. */
static void print_waits(Buf *out, const Note *note) {
        const struct Waited *longest = NULL;

        for (size_t i = 0; note && i < note->n_waits; i++)
                if (!longest || away_ns(&note->waits[i].wait) > away_ns(&longest->wait))
                        longest = &note->waits[i];
        if (!longest)
                return;
        buf_printf(out, "  waited %s", FIGURE_ROUND(away_ns(&longest->wait)));
        print_waker(out, &longest->wait);
        if (note->n_waits > 1)
                buf_printf(out, " (the longest of %zu waits)", note->n_waits);
}

static void tell_wait(Row r, const struct Waited *waited) {
        const SchedWait *w = &waited->wait;
        bool is_woken = w->woken_ns > 0, is_task = is_woken && !w->waker.is_irq;

        row_label(r, "in", waited->function);
        row_int(r, "away_ns", (int64_t) away_ns(w));
        row_known_int(r, "latency_ns", is_woken, (int64_t) latency_ns(w));
        row_bool(r, "preempted", w->state == 'R');
        row_bool(r, "interrupt", is_woken && w->waker.is_irq);
        row_bool(r, "softirq", is_woken && w->waker.in_softirq);
        row_string(r, NULL, "what", is_woken ? w->waker.what : NULL);
        row_string(r, NULL, "woken_by", is_task ? w->waker.comm : NULL);
        row_known_int(r, "woken_by_pid", is_task, w->waker.pid);
        row_label(r, "woken_in", is_woken ? w->waker.function : NULL);
}

static void print_titles(Buf *out) {
        size_t width = terminal_columns();

        if (width > 0 && width < WIDE_COLUMNS)
                buf_printf(out, "%16s  %3s  %9s   FUNCTION, TASK\n", "BEGIN", "CPU", "DURATION");
        else
                buf_printf(out, "%16s  %3s  %20s%-8s  %9s   %9s  FUNCTION\n", "BEGIN", "CPU",
                           "TASK", "", "DURATION", "SELF");
}

static void print_line(Listing *l, const Call *call, const Note *note) {
        const Frame *f = call->frame;
        size_t width = terminal_columns(), from = l->out.n_data;
        bool is_narrow = width > 0 && width < WIDE_COLUMNS;
        char pid[16] = "";

        if (call->stack->pid >= 0)
                (void) snprintf(pid, sizeof(pid), "-%d", call->stack->pid);
        buf_printf(&l->out, "%16s  ", SUMMARY_MOMENT(l->meta, f->start_ns, 9));
        if (call->has_end)
                buf_printf(&l->out, "%3u  ", call->cpu);
        else
                buf_adds(&l->out, "     ");
        if (!is_narrow)
                buf_printf(&l->out, "%20s%-8s  ", NAME_QUOTED(call->stack->comm), pid);
        buf_printf(&l->out, "%9s%s  ", FIGURE_ROUND(call->duration_ns), call->is_cut ? "+" : " ");
        if (!is_narrow)
                buf_printf(&l->out, "%9s  ", FIGURE_ROUND(call->self_ns));
        buf_adds(&l->out, call_way_callee(f->way, f->function)->label);
        if (f->object) /* behind the arguments, in their parentheses */
                buf_printf(&l->out, "%.*s%s%s)", f->args ? (int) strlen(f->args) - 1 : 1,
                           f->args ?: "(", f->args && strlen(f->args) > 2 ? ", " : "",
                           object_text(f->object));
        else
                buf_adds(&l->out, f->args ?: "");
        buf_adds(&l->out, TABLE_MARK(&l->marks, f->function->n_unhooked));
        if (is_narrow)
                buf_printf(&l->out, "  %s%s", NAME_QUOTED(call->stack->comm), pid);
        if (call->has_retval) {
                char text[RETVAL_ROOM + 1];

                *retval_append(text, call->retval, false) = 0;
                buf_printf(&l->out, "  %s", text);
        }
        if (call->is_cut && call->most_ns != UINT64_MAX)
                buf_printf(&l->out, "  cut: %s at most", FIGURE_ROUND(call->most_ns));
        print_waits(&l->out, note);
        buf_printf(&l->out, "%s%s%s%s", f->callers ? "  " : "", f->callers ? f->callers->text : "",
                   f->program ? "  " : "", f->program ? f->program->text : "");
        if (is_narrow)
                terminal_fold(&l->out, from, NARROW_INDENT);
        buf_adds(&l->out, "\n");
}

static void tell(Row r, const Call *call, const Note *note) {
        const Frame *f = call->frame;
        _cleanup_table_ Table waits;

        table_begin(&waits, JSON_AUTO);
        for (size_t i = 0; note && i < note->n_waits; i++)
                tell_wait(table_row(&waits), &note->waits[i]);
        row_function(r, NULL, f->function);
        row_place(r, call_way_callee(f->way, f->function));
        row_int(r, "start_ns", (int64_t) f->start_ns);
        row_known_int(r, "cpu", call->has_end, call->cpu);
        row_task(r, NULL, call->stack->comm, call->stack->pid);
        row_int(r, "duration_ns", (int64_t) call->duration_ns);
        row_int(r, "self_ns", (int64_t) call->self_ns);
        row_int(r, "blocked_ns", (int64_t) (f->blocked_ns + call->blocked_ns));
        row_int(r, "irq_ns", (int64_t) f->irq_ns);
        row_int(r, "softirq_ns", (int64_t) f->softirq_ns);
        row_int(r, "wake_ns", (int64_t) f->wake_ns);
        row_int(r, "below", (int64_t) f->n_below);
        row_bool(r, "cut", call->is_cut);
        row_known_int(r, "most_ns", call->most_ns != UINT64_MAX, (int64_t) call->most_ns);
        row_label(r, "caller", call->caller ? call->caller->function : NULL);
        row_string(r, NULL, "args", f->args);
        row_object(r, f->object);
        row_string(r, NULL, "callers", f->callers ? callers_names(f->callers) : NULL);
        row_string(r, NULL, "stack", f->program ? callers_names(f->program) : NULL);
        row_known_int(r, "retval", call->has_retval, (int64_t) call->retval);
        row_json(r, "waits", TAKE_PTR(waits.list));
        row_bool(r, "own_work", call->in_own_work);
}

static int print_json(Listing *l, const Call *call, const Note *note) {
        Row r = row_of_json();
        _cleanup_free_ char *text = NULL;

        tell(r, call, note);
        text = terminal_json(r.json, JSON_COMPACT);
        json_decref(r.json);
        if (!text)
                return -ENOMEM;
        buf_adds(&l->out, l->is_first ? "" : ",\n");
        l->is_first = false;
        buf_adds(&l->out, text);
        return 0;
}

static int end(void *userdata, const Call *call) {
        _cleanup_(note_freep) Note *note = call->frame->data;
        Listing *l = userdata;
        int r;

        if (!is_wanted(l, call->frame, &r))
                return r;
        if (l->o->limit > 0 && l->n >= l->o->limit)
                return 0;
        l->n_looked_at++;
        if (l->where && !where_matches(l->where, call))
                return 0;
        l->n++;
        if (l->o->json != JSON_OFF)
                return print_json(l, call, note);
        print_line(l, call, note);
        return l->out.error;
}

static int list(Listing *l, const Chosen *chosen) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_pager_ Pager pager = PAGER_INIT;
        bool as_json = l->o->json != JSON_OFF;
        const char *unmet;
        int status = counting_status(counting_init(&counting, true));

        if (status != STATUS_OK)
                return status;
        l->names = chosen->names;
        pairing_add_sink(counting.pairing, NULL, end, l);
        counting.pairing->keeps_arguments = true;
        pairing_set_wait(counting.pairing, waited, l);
        status = counting_open(&counting, l->o, chosen->source);
        if (status != STATUS_OK)
                return status;
        l->meta = reading_meta(&counting.reading);
        pager_open(&pager, l->o, SIZE_MAX);
        if (as_json)
                buf_adds(&l->out, "[");
        else if (!l->o->no_legend)
                print_titles(&l->out);
        status = counting_run(&counting);
        if (as_json)
                buf_adds(&l->out, "]\n");
        else if (!l->o->no_legend)
                table_explain(&l->marks, &l->out);
        if (status == STATUS_OK || l->out.error < 0)
                status = stdout_status(pager_end(&pager, buf_flush(&l->out)));
        if (status != STATUS_OK)
                return status;
        if (l->n_looked_at == 0 && chosen->names)
                return chosen_not_found(chosen, l->o);
        unmet = l->where && l->n_looked_at > 0 ? where_unmet(l->where) : NULL;
        if (unmet)
                talk(l->o, "--where: no call has \"%s\".", unmet);
        return counting_end(&counting);
}

static void listing_done(Listing *l) {
        free(l->where);
        buf_done(&l->out);
}

int verb_calls(const Options *o) {
        _cleanup_(listing_done)
                Listing l = { .o = o, .out = BUF_OF_TEXT(STDOUT_FILENO), .is_first = true };
        _cleanup_chosen_ Chosen chosen = {};
        char why[WHERE_WHY_MAX];
        int r = o->analysis.where ? where_parse(&l.where, o->analysis.where, why) : 0;

        if (r == WHERE_E_INVALID)
                return failed(STATUS_USAGE,
                              "--where: \"%s\" is no condition like \"ret < 0 && len > 1400\": %s.",
                              NAME_QUOTED(o->analysis.where), why);
        if (r < 0)
                return failed_errno(r, "Failed to read the options: %m");
        return chosen_init(&chosen, o) ?: list(&l, &chosen);
}
