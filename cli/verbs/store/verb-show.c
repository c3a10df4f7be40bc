/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What session.json holds, in words: a line for each thing that is not as usual, then the CPUs. */

#include <inttypes.h>
#include <pwd.h>

#include "base/unit.h"
#include "cli/files/files.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/brief.h"
#include "meta/profile.h"
#include "meta/trigger.h"

#define ONLY_MAX 50 /* that are shown one by one */

static _printf_(3, 4) void line(Buf *out, const char *title, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);
        for (char *p = text; p && *p; p++) /* it may come from a file that anybody wrote */
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        *p = '?';
        buf_printf(out, "%12s%s %s\n", title, *title ? ":" : " ", text ?: "?");
}

static void line_list(Buf *out, const char *title, const Strv *v) {
        _cleanup_free_ char *text = strv_join(v, ", ");

        if (v->n > 0)
                line(out, title, "%s", text ?: "?");
}

/* "4,000,000 events, 256M, 50 % of a CPU a second" */
static void show_limits(Buf *out, const Spec *spec) {
        _cleanup_buf_ Buf limits = BUF_INIT;

        if (spec->max_event_rate > 0 && spec->max_event_rate < SPEC_UNLIMITED)
                buf_printf(&limits, "%s events, ", FORMAT_COUNT(spec->max_event_rate));
        if (spec->max_write_rate > 0 && spec->max_write_rate < SPEC_UNLIMITED)
                buf_printf(&limits, "%s, ", FORMAT_BYTES(spec->max_write_rate));
        if (spec->max_cpu_ppm > 0 && spec->max_cpu_ppm < SPEC_UNLIMITED)
                buf_printf(&limits, "%" PRIu64 " %% of a CPU, ", spec->max_cpu_ppm / 10000);
        if (limits.n_data > 0)
                line(out, "Limits", "%.*seach a second", (int) limits.n_data, limits.data);
}

static void show_what(Buf *out, const SessionMeta *m) {
        const Spec *spec = &m->spec;

        bool is_new = m->roots.n != spec->functions.n; /* patterns did not stand for themselves */

        line_list(out, "Asked for", &spec->functions);
        for (size_t i = 0; i < spec->functions.n; i++)
                is_new |= !strv_contains(&m->roots, spec->functions.items[i]);
        if (is_new)
                line_list(out, "Roots", &m->roots);
        line_list(out, "Left out", m->notrace.n > 0 ? &m->notrace : &spec->notrace);
        if (spec->hooked.n > ONLY_MAX)
                line(out, "Only", "%zu functions and patterns", spec->hooked.n);
        else
                line_list(out, "Only", &spec->hooked);
        if (spec->flat)
                line(out, "Flat", "only the functions themselves");
        if (spec->slower_ns > 0)
                line(out, "Slower", "only returns of calls that took %s or more",
                     FORMAT_DURATION(spec->slower_ns));
        line_list(out, "Events", &spec->events);
        line_list(out, "Returns of", &spec->retval_functions);
        line_list(out, "Arguments of", &spec->args_functions);
        if (spec->what)
                line(out, "Also", "what the roots work on");
        if (spec->whose)
                line(out, "Also", "whose tasks are");
        if (spec->kernel_stack)
                line(out, "Also", "who calls the roots");
        if (spec->user_stack)
                line(out, "Also", "which functions of programs led to the roots");
        if (spec->stack_bytes > 0)
                line(out, "Also", "copies of their stacks, of 1/%" PRIu64 " of the calls, %s each",
                     MAX(spec->stack_every, UINT64_C(1)), FORMAT_BYTES(spec->stack_bytes));
        line_list(out, "Processes", &spec->pids);
        line_list(out, "Tasks named", &spec->comms);
        line_list(out, "Control groups", &spec->cgroups);
        line_list(out, "On CPUs", &spec->cpus);
        if (spec->no_irqs)
                line(out, "Interrupts", "not recorded");
        if (spec->no_sleep_time)
                line(out, "Sleep", "not counted in durations");
        if (spec->depth > 0)
                line(out, "Depth", "%" PRIu64, spec->depth);
        if (spec->duration_ns > 0)
                line(out, "Ends after", "%s", FORMAT_DURATION(spec->duration_ns));
        if (spec->in_kernel)
                line(out, "Keeps", "what the kernel's buffer holds, until a snapshot");
        else if (spec->max_bytes > 0)
                line(out, spec->ring ? "Keeps" : "Ends at", "%s%s", spec->ring ? "the newest " : "",
                     FORMAT_BYTES(spec->max_bytes));
        if (spec->segment_bytes > 0)
                line(out, "Segments", "of at most %s a CPU", FORMAT_BYTES(spec->segment_bytes));
        if (spec->segment_ns > 0)
                line(out, spec->segment_bytes > 0 ? "" : "Segments", "of at most %s",
                     FORMAT_DURATION(spec->segment_ns));
        if (spec->on_full != SPEC_ON_FULL_WAIT)
                line(out, "On full", "%s", spec_on_full_name(spec->on_full));
        line(out, "Buffer", "%s a CPU", FORMAT_BYTES(spec->buffer_bytes));
        show_limits(out, spec);
}

/* The rules, what they came to, and how often they may. */
static void show_triggers(Buf *out, const SessionMeta *m) {
        const Spec *spec = &m->spec;

        for (size_t i = 0; i < spec->triggers.n; i++) {
                const char *rule = spec->triggers.items[i];
                TriggerCount c =
                        i < m->captures.n_triggers ? m->captures.triggers[i] : (TriggerCount){};
                char suppressed[UNIT_TEXT_MAX + 32] = "";

                if (c.suppressed > 0)
                        (void) snprintf(suppressed, sizeof(suppressed), ", suppressed %s times",
                                        FORMAT_COUNT(c.suppressed));
                line(out, i == 0 ? "Waits for" : "and for", "%s: %.*s; fired %s time%s%s%s%s",
                     trigger_rule_on(rule), trigger_rule_n_do(rule), rule, FORMAT_COUNT(c.fired),
                     c.fired == 1 ? "" : "s", suppressed, c.last_ns > 0 ? ", last " : "",
                     c.last_ns > 0 ? SUMMARY_TIME(c.last_ns) : "");
        }
        if (spec->triggers.n > 0)
                line(out, "Captures", "%s; at most %s in all, %s a day, %s apart",
                     FORMAT_COUNT(m->captures.n),
                     spec->max_captures ? FORMAT_COUNT(spec->max_captures) : "any number",
                     spec->max_captures_a_day ? FORMAT_COUNT(spec->max_captures_a_day)
                                              : "any number",
                     FORMAT_DURATION(spec->min_gap_ns));
}

static void show_when(Buf *out, const SessionMeta *m) {
        const char *start = SUMMARY_TIME(m->start.realtime_ns),
                   *length = FORMAT_DURATION(session_meta_length_ns(m));

        if (m->start.realtime_ns == 0)
                return;
        if (m->stop.realtime_ns > 0)
                line(out, "Recorded", "%s to %s (%s)", start, SUMMARY_TIME(m->stop.realtime_ns),
                     length);
        else
                line(out, "Recorded", "since %s (%s)", start, length);
        for (size_t i = 0; i < m->clock_steps.n; i++)
                line(out, "Clock", "%s", SUMMARY_CLOCK_STEP(m, i));
        line(out, "Armed in", "%s", FORMAT_DURATION(m->arm_ns));
}

/* A line for each of which it is known whose own time it is part of, and one for the others. */
static void show_left_out(Buf *out, const SessionMeta *m) {
        _cleanup_free_ char **others = calloc(m->left_out.n + 1, sizeof(*others));
        const char *title = "Not hooked";
        size_t n_others = 0;

        for (size_t i = 0; others && i < m->left_out.n; i++) {
                _cleanup_strv_ Strv callers = {};
                _cleanup_free_ char *text = NULL;

                if (i >= m->left_out_in.n ||
                    strv_split(&callers, m->left_out_in.items[i], " ") < 0 || callers.n == 0) {
                        others[n_others++] = m->left_out.items[i];
                        continue;
                }
                text = strv_join(&callers, ", ");
                line(out, title, "%s (in %s)%s%s", m->left_out.items[i], text ?: "?",
                     i < m->left_out_why.n ? ": " : "",
                     i < m->left_out_why.n ? m->left_out_why.items[i] : "");
                title = "";
        }
        if (n_others > 0)
                line_list(out, title, &(Strv){ .items = others, .n = n_others });
}

static void show_hooked(Buf *out, const SessionMeta *m) {
        _cleanup_buf_ Buf when = BUF_INIT, all = BUF_INIT;

        if (m->n_hooked == 0 && !m->callees_unknown)
                line(out, "Hooked", "every function%s",
                     m->learns ? "; what is called is learned for --lean" : "");
        if (m->learned_ns > 0)
                buf_printf(&when, ", learned %s", SUMMARY_TIME(m->learned_ns));
        if (m->narrowed_ns > m->start.trace_ns)
                buf_printf(&when, ", from %s on",
                           FORMAT_DURATION(m->narrowed_ns - m->start.trace_ns));
        if (m->n_hooked > 0)
                line(out, "Hooked", "%" PRIu32 " function%s%.*s", m->n_hooked,
                     m->n_hooked == 1 ? "" : "s", (int) when.n_data, when.data ?: "");
        summary_hooked(&all, m);
        if (all.n_data > 0)
                line(out, m->n_hooked == 0 && m->callees_unknown ? "Hooked" : "", "%.*s",
                     (int) all.n_data, all.data);
        show_left_out(out, m);
        for (size_t i = 0; i < m->hook_changes.n; i++) {
                const HookChange *c = &m->hook_changes.items[i];

                line(out, i == 0 ? "Hooks" : "", "from %s on %s functions: %s",
                     FORMAT_DURATION(c->trace_ns - MIN(m->start.trace_ns, c->trace_ns)),
                     c->n_hooked > 0 ? FORMAT_COUNT(c->n_hooked) : "all",
                     hook_reason_text(c->reason));
        }
}

static void show_kernel(Buf *out, const SessionMeta *m) {
        line(out, "Kernel", "%s %s on %s", m->kernel ?: "?", m->machine ?: "?", m->host ?: "?");
        if (m->build_id)
                line(out, "Build ID", "%s", m->build_id);
}

static void show_buffer(Buf *out, const SessionMeta *m) {
        line(out, "Traced in", "%s%s, clock %s", m->instance ? "instance " : "the top-level buffer",
             m->instance ?: "", m->clock ?: "?");
}

static void show_where(Buf *out, const SessionMeta *m) {
        const struct passwd *user = getpwuid(m->owner_uid);

        show_kernel(out, m);
        if (m->profile)
                line(out, "Profile", "%s", m->profile);
        if (m->spec.sample_ppm > 0)
                line(out, "Sample", "%g%% of the hosts record it; this host represents %g",
                     (double) m->spec.sample_ppm / 10000, sample_weight(m->spec.sample_ppm));
        show_buffer(out, m);
        if (!m->symbols)
                line(out, "Symbols", "none: the kernel hid them");
        if (m->symbol_maps.n > 0)
                line(out, "Modules", "changed %zu time%s: an address has the name of its time",
                     m->symbol_maps.n, m->symbol_maps.n == 1 ? "" : "s");
        line(out, "Owner", "%s (uid %u), pid %i", user ? user->pw_name : "?",
             (unsigned) m->owner_uid, (int) m->owner_pid);
        line_list(out, "Neighbours", &m->neighbours);
}

static int show_cpus(Buf *out, const SessionMeta *m, bool legend) {
        _cleanup_table_ Table t = {};

        table_begin(&t, JSON_OFF);
        for (size_t i = 0; i < m->n_cpus; i++) {
                const CpuAccount *c = &m->cpus[i];
                Row r = table_row(&t);

                row_count(r, ">CPU", NULL, c->cpu);
                row_cell(r, ">PAGES", "%s", FORMAT_COUNT(c->n_pages));
                row_cell(r, ">SIZE", "%s", FORMAT_BYTES(c->n_bytes));
                row_cell(r, ">EVENTS", "%s", FORMAT_COUNT(c->read_events));
                row_cell(r, ">LOST", "%s", FORMAT_COUNT(cpu_account_events_lost(c)));
                row_cell(r, ">OVERRUN", "%s", FORMAT_COUNT(c->overrun));
                row_cell(r, ">IN INTERRUPT", "%s", FORMAT_COUNT(c->commit_overrun));
                row_cell(r, ">DROPPED", "%s", FORMAT_COUNT(c->dropped_events));
                row_cell(r, ">PAGES LOST", "%s", FORMAT_COUNT(c->pages_lost));
        }
        if (t.n_rows == 0)
                return 0;
        buf_adds(out, "\n");
        return table_print(&t, out, legend);
}

static json_t *source_json(const Source *s) {
        const DatFile *file = s->dir ? dat_file_of_dir(s->dir) : NULL;
        json_t *o = session_meta_to_json(s->meta), *list = json_array();
        char name[NAME_QUOTE_MAX];

        for (const DatBuffer *b = file ? file->buffers : NULL;
             file && b < file->buffers + file->n_buffers; b++)
                (void) json_array_append_new(list, json_pack("{s:s, s:b, s:b}", "name",
                                                             source_buffer_name(name, b), "empty",
                                                             b->n_cpus == 0, "read",
                                                             b == dat_file_buffer(file)));
        if (file)
                (void) json_object_set(o, "buffers", list);
        json_decref(list);
        if (s->stays_until_ns > 0)
                (void) json_object_set_new(o, "stays_until_ns",
                                           json_integer((json_int_t) s->stays_until_ns));
        if (s->goes_at_ns > 0)
                (void) json_object_set_new(o, "goes_at_ns",
                                           json_integer((json_int_t) s->goes_at_ns));
        return o;
}

/* Of another program's file, which knows less; ours knows what was asked for, too. */
static void show_file(Buf *out, const Source *s) {
        const DatFile *file = dat_file_of_dir(s->dir);
        const SessionMeta *m = s->meta;
        _cleanup_strv_ Strv names = {}; /* "top (read)", "alpha", "beta (empty)" */
        char name[NAME_QUOTE_MAX];

        if (m->kernel || m->machine || m->host)
                show_kernel(out, m);
        show_buffer(out, m);
        for (const DatBuffer *b = file->buffers; b < file->buffers + file->n_buffers; b++)
                if (strv_addf(&names, "%s%s", source_buffer_name(name, b),
                              b == dat_file_buffer(file) ? " (read)"
                              : b->n_cpus == 0           ? " (empty)"
                                                         : "") < 0)
                        out->error = out->error ?: -ENOMEM;
        if (names.n > 1)
                line_list(out, "Buffers", &names);
        if (m->spec.functions.n > 0)
                show_what(out, m);
        if (m->start.realtime_ns > 0)
                line(out, "Recorded", "since %s", SUMMARY_TIME(m->start.realtime_ns));
        if (m->filters)
                line(out, "Made with", "%s", m->filters);
        if (!m->symbols)
                line(out, "Symbols", "none");
}

/* What its pages tell, and what only all of it tells, in the words of "verify". */
static int show_file_losses(Buf *out, const Source *s) {
        bool is_complete = summary_is_complete(s->meta);
        _cleanup_verify_result_ VerifyResult v = {};
        int r = verify_session(s->dir, s->meta, NULL, &v);

        if (r < 0)
                return failed_errno(r, "Failed to read \"%s\": %m", s->meta->name);
        line(out, "Loss", "%s", is_complete && !v.complete ? "incomplete" : SUMMARY_LOSS(s->meta));
        if (!is_complete || !v.complete)
                buf_adds(out, "\n");
        if (!is_complete)
                summary_loss_lines(out, s->meta);
        for (size_t i = 0; is_complete && i < v.problems.n; i++)
                buf_printf(out, "%s.\n", v.problems.items[i]);
        return STATUS_OK;
}

/* Whether and when it may be removed without anybody asking for it. */
static void show_stay(Buf *out, const Source *s) {
        if (s->meta->pinned)
                line(out, "Stays", "for good: it is pinned");
        else if (s->stays_until_ns >= INT64_MAX)
                line(out, "Stays", "for good (MinRetentionSec=infinity)");
        else if (s->stays_until_ns > 0)
                line(out, "Stays", "until %s, regardless of space",
                     SUMMARY_TIME(s->stays_until_ns));
        if (s->goes_at_ns > 0 && !s->meta->pinned)
                line(out, "Goes", "at %s (MaxRetentionSec=)", SUMMARY_TIME(s->goes_at_ns));
}

int verb_show(const Options *o) {
        _cleanup_(source_freep) Source *s = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        char loss[SUMMARY_MAX];
        const SessionMeta *m;
        int status = source_describe(&s, o, o->words.items[0]), r;

        if (status != STATUS_OK)
                return status;
        m = s->meta;
        if (o->json != JSON_OFF)
                return stdout_json(o, source_json(s));
        terminal_add(&out, o, COLOUR_BOLD, m->name);
        buf_printf(&out, " (%s)\n",
                   !*m->id                            ? "trace.dat"
                   : streq(m->id, SESSION_ID_UNKNOWN) ? "its id is not known"
                                                      : m->id);
        if (session_meta_is_of_file(m)) {
                show_file(&out, s);
                status = show_file_losses(&out, s);
                return status ?: stdout_folded(&out);
        }
        line(&out, "State", "%s%s%s",
             session_meta_is_known(m) ? session_state_name(m->state) : summary_state(m),
             m->reason ? ": " : "", m->reason ?: "");
        if (!session_meta_is_known(m)) { /* and what it lost, or had hooked, is not */
                if (m->start.realtime_ns > 0)
                        line(&out, "Recorded", "since %s", SUMMARY_TIME(m->start.realtime_ns));
                line(&out, "Size", "%s on disk", FORMAT_BYTES(s->disk_bytes));
                return stdout_folded(&out);
        }
        show_what(&out, m);
        if (m->origin)
                line(&out, "Snapshot of", "%s", m->origin);
        show_triggers(&out, m);
        show_when(&out, m);
        show_hooked(&out, m);
        show_where(&out, m);
        if (s->disk_bytes > 0)
                line(&out, "Size", "%s of pages, %s on disk",
                     FORMAT_BYTES(session_meta_total(m).n_bytes), FORMAT_BYTES(s->disk_bytes));
        else
                line(&out, "Size", "%s", FORMAT_BYTES(session_meta_total(m).n_bytes));
        show_stay(&out, s);
        if (silence_is_total(m))
                line(&out, "No calls", "%s", SUMMARY_SILENCE(m));
        if (*summary_dropped(loss, m))
                line(&out, "Ring", "%s", loss);
        line(&out, "Loss", "%s", summary_loss(loss, m));
        for (size_t i = 0; i < m->degraded.n; i++)
                line(&out, "Degraded", "since %s: %s",
                     summary_time(loss, m->degraded.items[i].since_ns),
                     m->degraded.items[i].reason);
        for (size_t i = 0; i < m->warnings.n; i++)
                line(&out, "Note", "%s", m->warnings.items[i]);
        r = show_cpus(&out, m, !o->no_legend);
        if (r < 0)
                return stdout_status(r);
        if (!summary_is_complete(m)) {
                buf_adds(&out, "\n");
                summary_loss_lines(&out, m);
        }
        return stdout_folded(&out);
}
