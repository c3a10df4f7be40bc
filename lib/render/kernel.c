/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The kernel's own drawing, byte for byte that of the `trace` file:
 *
 *        TIME        CPU  TASK/PID           DURATION              FUNCTION CALLS
 *         |           |     |    |            |   |                 |   |   |   |
 *        10.001234 |   1)  server-412   |   1.302 us    |      netif_rx();
 *
 * The state is the kernel's, too: for each CPU (not for each task) the last task and which
 * function was entered at which depth, from which follow the lines at a context switch and
 * whether a closing brace needs a name.  A line is written in one piece into room that has been
 * reserved for the longest that is possible, so that columns are copied whole, some bytes more than
 * they have, and what follows overwrites the rest: a copy of a fixed length is two instructions,
 * one of an exact length is a call.  Of 3.8 million events on one core of a Xeon, drawing took
 * 66 ms with exact copies and takes 30 with these.
 *
 * Source: linux 6.1 kernel/trace/trace_functions_graph.c, whose functions are named below, and
 * kernel/trace/trace_output.c, trace_find_mark(); 6.12 and 7.2 draw the same.
 */

#include "base/array.h"
#include "base/buf.h"
#include "calls/step.h"
#include "render/renderer.h"

#define RET_DEPTH 50 /* FTRACE_RETFUNC_DEPTH, include/linux/ftrace.h */
#define PROC_COLUMNS 14
#define PROC_COMM_CHARS 7
#define PROC_TEXT_MAX 48
#define INDENT 2
#define INDENT_BYTES (2 * COPY_BYTES) /* copied at once; twice as many do for RET_DEPTH */
#define LONG_NS 1000000               /* a duration that has not all digits behind the point */
/* All columns, a full indentation of 1023 levels, the text around two names. */
#define LINE_MAX_BYTES 4096

#define RULE " ------------------------------------------\n"
#define FILL_FULL "              |  "

typedef struct CpuState {
        bool has_pid;
        int32_t pid;             /* of the last line */
        uint32_t n_column;       /* 0: not made yet */
        char column[16];         /* " 1) " */
        uint32_t n_proc;
        char proc[PROC_TEXT_MAX]; /* its PROC column */
        int32_t depth;            /* for comments */
        int32_t irq_depth;        /* of the interrupt that is hidden, plus 1; 0: none is */
        const Function *entered[RET_DEPTH];
} CpuState;

typedef struct Kernel {
        RenderOptions options;
        const char *heading;
        const OwnWorks *own_work; /* NULL: none is marked */
        bool has_ticks, bare_retval;
        bool is_usual; /* as is_usual() has it, as far as options go */
        Buf *out;
        int cpu_columns;
        CpuState *cpus;
        size_t n_cpus;
        struct {
                char text[4];   /* "1", "44", "999" */
                char padded[3]; /* "001", "044", "999" */
                uint8_t n;      /* of the first */
        } thousand[1000];
} Kernel;

/*
 * Nearly all lines are usual: of the default options, of a call of which nothing is known but its name and how long it
 * took, by the task that ran on the CPU before.  What follows with a parameter @usual is therefore compiled twice; once for
 * these, where nothing else is asked for.
 */
static inline bool is_usual(const Kernel *k, const Step *step) {
        const Function *f = step->function;
        const CpuState *cpu;

        if (_unlikely_(!k->is_usual || step->kind > STEP_LEAVE || step->cpu >= k->n_cpus))
                return false;
        cpu = &k->cpus[step->cpu];
        return cpu->has_pid && cpu->pid == step->pid && step->depth < RET_DEPTH && !step->said &&
               !step->way && !step->object && step->n_args == 0 && !f->is_irq_entry &&
               f->n_unhooked <= 0 && (step->kind == STEP_ENTER || step_duration_ns(step) < LONG_NS);
}

/* A name or a message that anybody may have made. */
static _cold_ char *append_plain(char *p, const char *s, size_t n) {
        size_t n_plain = plain_length(s, n, PLAIN_WORD), n_out = 0;

        p = append(p, s, n_plain);
        if (n_plain < n)
                (void) plain_copy(p, (n - n_plain) * PLAIN_BYTES_MAX + 1, s + n_plain, n - n_plain,
                                  PLAIN_WORD, &n_out);
        return p + n_out;
}

/* print_graph_proc(): COMM-PID, the comm cut, in the middle of its column. */
static void fill_proc(CpuState *cpu, const char *comm, int32_t pid) {
        char text[PROC_TEXT_MAX], *p = text;
        size_t n, n_spaces;

        p = append_plain(p, comm, strnlen(comm, PROC_COMM_CHARS));
        *p++ = '-';
        p = append_number(p, (uint64_t) MAX(pid, 0), 1, ' '); /* STEP_PID_UNKNOWN() is no number */
        n = (size_t) (p - text);
        n_spaces = n < PROC_COLUMNS ? PROC_COLUMNS - n : 0;

        p = append_chars(cpu->proc, ' ', n_spaces / 2);
        p = append(p, text, n);
        p = append_chars(p, ' ', n_spaces - n_spaces / 2);
        cpu->n_proc = (uint32_t) (p - cpu->proc);
}

static _always_inline_ char *append_indent(char *p, int32_t depth, bool usual) {
        size_t n = (size_t) depth * INDENT;

        memset(p, ' ', INDENT_BYTES);
        if (_unlikely_(n > INDENT_BYTES))
                memset(p + INDENT_BYTES, ' ', usual ? INDENT_BYTES : n - INDENT_BYTES);
        return p + n;
}

static inline char *append_cpu(char *p, const CpuState *cpu) {
        memcpy(p, cpu->column, sizeof(cpu->column));
        return p + cpu->n_column;
}

/* verif_pid().  A text says how its tasks change; of what the filters have taken out of it the
 * changes are computed, as those of a recording. */
static _cold_ char *append_switch(char *p, CpuState *cpu, const Step *step) {
        const StepText *said = step->said;
        /* Where nobody knows who runs, no change was seen. */
        bool is_computed = cpu->has_pid && cpu->pid >= 0 && step->pid >= 0 &&
                           !(said && (said->change || said->change_untold || said->cpu_untold));

        if (is_computed) {
                p = APPEND(p, RULE);
                p = append_cpu(p, cpu);
                p = append(p, cpu->proc, cpu->n_proc);
                p = APPEND(p, " => ");
        } else if (said && said->change)
                p = append(p, said->change, said->n_change);
        cpu->has_pid = true;
        cpu->pid = step->pid;
        fill_proc(cpu, step->comm, step->pid);
        if (is_computed) {
                p = append(p, cpu->proc, cpu->n_proc);
                p = APPEND(p, "\n" RULE "\n");
        }
        return p;
}

/* True if something is to be said of tasks above the line. */
static inline bool has_switch(const CpuState *cpu, const Step *step) {
        return !cpu->has_pid || cpu->pid != step->pid ||
               (_unlikely_(step->said != NULL) &&
                (step->said->change_odd || (step->said->cpu_untold && step->said->change)));
}

static char *append_time(const Kernel *k, char *p, uint64_t ns) {
        if (k->has_ticks)
                p = append_number(p, ns, 12, ' ');
        else {
                p = append_number(p, ns / 1000000000, 5, ' ');
                *p++ = '.';
                p = append_number(p, ns % 1000000000 / 1000, 6, '0');
        }
        return APPEND(p, " |  ");
}

static _always_inline_ char *append_columns(const Kernel *k, char *p, const CpuState *cpu,
                                            const Step *step, bool usual) {
        if (usual)
                return append_cpu(p, cpu);
        if (k->options.abstime)
                p = append_time(k, p, step->timestamp_ns);
        if (k->options.cpu)
                p = append_cpu(p, cpu);
        if (k->options.proc) {
                p = append(p, cpu->proc, cpu->n_proc);
                p = APPEND(p, " | ");
        }
        return p;
}

/* print_graph_irq(), behind the columns: where an interrupt begins or ends. */
static _cold_ char *append_irq_marker(const Kernel *k, char *p, const char *arrow) {
        if (k->options.duration)
                p = APPEND(p, "  ");
        p = append(p, arrow, strlen(arrow));
        return k->options.duration ? APPEND(p, " |\n") : APPEND(p, "\n");
}

static _cold_ char *append_irq(const Kernel *k, char *p, const CpuState *cpu, const Step *step,
                               const char *arrow) {
        return append_irq_marker(k, append_columns(k, p, cpu, step, false), arrow);
}

/* check_irq_entry(), check_irq_return(): whether the step is of an interrupt and those are not to be
 * drawn.  A leaf is an entry and a return. */
static bool is_hidden(const Kernel *k, CpuState *cpu, const Step *step) {
        bool hidden = cpu->irq_depth > 0;

        if (_likely_(k->options.irqs) || step->kind == STEP_OTHER)
                return false;
        if (!hidden && step->kind != STEP_LEAVE && step->function->is_irq_entry) {
                cpu->irq_depth = step->depth + 1;
                hidden = true;
        }
        if (step->kind != STEP_ENTER && cpu->irq_depth > step->depth)
                cpu->irq_depth = 0;
        return hidden;
}

/* What stands above a line: a change of tasks, an interrupt. */
static _always_inline_ char *append_above(const Kernel *k, char *p, CpuState *cpu,
                                          const Step *step) {
        if (_unlikely_(has_switch(cpu, step)))
                p = append_switch(p, cpu, step);
        if (_unlikely_(step->function && step->function->is_irq_entry) && step->kind != STEP_LEAVE)
                p = append_irq(k, p, cpu, step, "==========>");
        return p;
}

typedef struct Overhead {
        uint64_t above_ns;
        char mark;
        const char *colour; /* what a terminal is told */
} Overhead;

static const Overhead *overhead_of(uint64_t duration_ns) {
        static const Overhead overheads[] = {
                { 1000000000, '$', "\033[1;31m" },
                { 100000000, '@', "\033[1;31m" },
                { 10000000, '*', "\033[1;31m" },
                { 1000000, '#', "\033[1;31m" },
                { 100000, '!', "\033[31m" }, /* red */
                { 10000, '+', "\033[33m" },  /* yellow */
                { 0, ' ', NULL },
        };
        const Overhead *o = overheads;

        while (o->above_ns > 0 && duration_ns <= o->above_ns)
                o++;
        return o;
}

/* As many digits behind the point as fit. */
static _cold_ char *append_long_duration(const Kernel *k, char *p, uint64_t duration_ns) {
        uint64_t us = duration_ns / 1000, ns = duration_ns % 1000;
        char *begin;
        int n;

        *p++ = k->options.overhead ? overhead_of(duration_ns)->mark : ' ';
        *p++ = ' ';
        begin = p;
        p = append_number(p, us, 1, ' ');
        n = (int) (p - begin);
        if (n < 7) {
                int n_digits = n <= 4 ? 3 : 7 - n;

                *p++ = '.';
                memcpy(p, k->thousand[ns].padded, 3);
                p += n_digits;
        }
        n = (int) (p - begin);
        p = APPEND(p, " us ");
        if (n < 8)
                p = append_chars(p, ' ', (size_t) (8 - n));
        return APPEND(p, "|  ");
}

/* print_graph_duration(), trace_print_graph_duration().  Below a millisecond all digits fit and
 * the column is as wide as FILL_FULL; the bar overwrites what was copied too much. */
static _always_inline_ char *append_duration(const Kernel *k, char *p, uint64_t duration_ns,
                                             bool usual) {
        uint32_t us, ns;
        char *at = p;

        if (!usual && !k->options.duration)
                return p;
        if (!usual && duration_ns >= LONG_NS)
                return append_long_duration(k, p, duration_ns);
        us = (uint32_t) duration_ns / 1000;
        ns = (uint32_t) duration_ns % 1000;
        memcpy(at, "  ", 2);
        if (_unlikely_(duration_ns > 10000) && (usual || k->options.overhead))
                *at = overhead_of(duration_ns)->mark;
        memcpy(at + 2, k->thousand[us].text, 4);
        at += 2 + k->thousand[us].n;
        *at++ = '.';
        memcpy(at, k->thousand[ns].padded, sizeof(k->thousand[ns].padded));
        memcpy(at + 3, " us     ", 8);
        memcpy(p + sizeof(FILL_FULL) - 4, "|  ", 3);
        return p + sizeof(FILL_FULL) - 1;
}

static _always_inline_ char *append_fill(const Kernel *k, char *p, bool usual) {
        return usual || k->options.duration ? APPEND(p, FILL_FULL) : p;
}

static _always_inline_ char *append_plain_duration(const Kernel *k, char *p, const Step *step,
                                                   bool usual) {
        return !usual && step->said && step->said->untimed
                       ? append_fill(k, p, false)
                       : append_duration(k, p, step_duration_ns(step), usual);
}

/* As options/funcgraph-retaddr begins it. */
static char *append_way(char *p, const CallWay *way) {
        return way ? append(APPEND(p, " <-"), way->text, way->n_text) : p;
}

/* "(ARGS) { ... NOTE ...", of which a text says what is in it. */
static _cold_ char *append_said_end(const Kernel *k, char *p, const Step *step, bool leaf) {
        const StepText *said = step->said;

        *p++ = '(';
        if (said->args && k->options.args && !said->is_indented)
                p = append(p, said->args, said->n_args);
        p = leaf ? APPEND(p, ");") : APPEND(p, ") {");
        if (said->note || step->way) {
                p = APPEND(p, " /*");
                if (said->note)
                        p = append(p, said->note, said->n_note);
                p = append_way(p, step->way);
                p = APPEND(p, " */");
        }
        *p++ = '\n';
        return p;
}

/* The function's slot, or NULL beyond the kernel's own array. */
static _always_inline_ const Function **entered_slot(CpuState *cpu, const Step *step, bool usual) {
        return usual || step->depth < RET_DEPTH ? &cpu->entered[step->depth] : NULL;
}

/* print_graph_retval(): " ret=0x0", until 6.13 " = 0x0". */
static _cold_ char *append_retval(const Kernel *k, char *p, const Step *step) {
        p = k->bare_retval ? APPEND(p, " = ") : APPEND(p, " ret=");
        return retval_append(p, step->retval, k->options.retval_hex);
}

/* Of a function whose callees nobody knows only where it is drawn as if it had none. */
static bool is_marked(const Kernel *k, const Step *step) {
        int32_t n = step->function->n_unhooked;

        return k->options.notes && !unhooked_is_none(n) &&
               (n != UNHOOKED_UNKNOWN || step->kind == STEP_LEAF);
}

#define OWN_WORK_NOTE " <- ftraced changed hooks"

/* An outermost call that a text's reader should not take for slow by itself. */
static bool is_own_work(const Kernel *k, const Step *step) {
        uint64_t at_ns = step->timestamp_ns, duration_ns = step_duration_ns(step);

        if (_likely_(!k->own_work) || step->function->root < 0)
                return false;
        return step->kind == STEP_LEAF
                       ? own_works_overlap(k->own_work, at_ns, at_ns + duration_ns)
                       : own_works_overlap(k->own_work, at_ns - MIN(at_ns, duration_ns), at_ns);
}

static inline bool has_arguments(const Step *step) {
        return step->n_args > 0 || step->object;
}

/* What follows an entered function's name, where it is more than "()". */
static _cold_ char *append_values(const Kernel *k, char *p, const Step *step) {
        bool leaf = step->kind == STEP_LEAF, marked = is_marked(k, step);
        bool valued = leaf && k->options.retval && step->has_retval;
        bool ours = leaf && is_own_work(k, step);

        p = has_arguments(step) && k->options.args ? arguments_append(p, step) : APPEND(p, "()");
        p = leaf ? APPEND(p, ";") : APPEND(p, " {");
        if (!valued && !marked && !ours && !step->way)
                return APPEND(p, "\n");
        p = APPEND(p, " /*");
        if (valued)
                p = append_retval(k, p, step);
        p = append_way(p, step->way);
        if (marked) {
                const char *note = UNHOOKED_NOTE(step->function->n_unhooked);

                *p++ = ' ';
                p = append(p, note, strlen(note));
        }
        if (ours)
                p = APPEND(p, OWN_WORK_NOTE);
        return APPEND(p, " */\n");
}

/* print_graph_entry_leaf(), print_graph_entry_nested() */
static _always_inline_ char *append_entry(Kernel *k, char *p, CpuState *cpu, const Step *step,
                                          bool usual) {
        const Function **slot = entered_slot(cpu, step, usual);
        bool leaf = step->kind == STEP_LEAF;

        cpu->depth = leaf ? step->depth - 1 : step->depth;
        if (slot)
                *slot = leaf ? NULL : step->function;
        p = leaf ? append_plain_duration(k, p, step, usual) : append_fill(k, p, usual);
        p = append_indent(p, step->depth, usual);
        p = append_slack(p, step->function->label, step->function->n_label);
        if (!usual && step->said)
                return append_said_end(k, p, step, leaf);
        if (!usual && (has_arguments(step) || k->options.retval || k->own_work ||
                       step->function->n_unhooked > 0 || step->way))
                return append_values(k, p, step);
        return leaf ? APPEND(p, "();\n") : APPEND(p, "() {\n");
}

static _cold_ char *append_overrun(char *p, const Step *step) {
        p = APPEND(p, " (Overruns: ");
        p = append_number(p, step->overrun, 1, ' ');
        return APPEND(p, ")\n");
}

/* print_graph_return() */
static _always_inline_ char *append_return(Kernel *k, char *p, CpuState *cpu, const Step *step,
                                           bool usual) {
        const Function **slot = entered_slot(cpu, step, usual);
        const StepText *said = usual ? NULL : step->said;
        bool valued = !usual && k->options.retval && step->has_retval && !said;
        bool named = (!usual && k->options.tail) || valued || (slot && *slot != step->function);
        bool ours = !usual && is_own_work(k, step);
        const char *note = said ? said->note : NULL;

        cpu->depth = step->depth - 1;
        if (slot)
                *slot = NULL;
        if (_unlikely_(said && said->closing != CLOSING_COMPUTED))
                named = k->options.tail || said->closing == CLOSING_NAMED;
        p = append_plain_duration(k, p, step, usual);
        p = append_indent(p, step->depth, usual);
        *p++ = '}';
        if (_unlikely_(named || note || ours)) {
                p = APPEND(p, " /*");
                if (named) {
                        *p++ = ' ';
                        p = append_slack(p, step->function->label, step->function->n_label);
                }
                if (_unlikely_(note))
                        p = append(p, note, said->n_note);
                else if (_unlikely_(valued))
                        p = append_retval(k, p, step);
                if (_unlikely_(ours))
                        p = APPEND(p, OWN_WORK_NOTE);
                p = APPEND(p, " */");
        }
        *p++ = '\n';
        return (!usual && k->options.overrun) || (said && said->has_overrun)
                       ? append_overrun(p, step)
                       : p;
}

/* The line as a text had it, columns and all. */
static _cold_ char *append_verbatim(Kernel *k, char *p, CpuState *cpu, const Step *step) {
        const StepText *said = step->said;

        p = append_above(k, p, cpu, step);
        if (said->begin_marker)
                p = append(p, said->begin_marker, said->n_begin_marker);
        p = append(p, said->text, said->n_text);
        *p++ = '\n';
        if (said->has_overrun)
                p = append_overrun(p, step);
        if (said->end_marker) {
                p = append(p, said->end_marker, said->n_end_marker);
                *p++ = '\n';
        }
        return p;
}

/* print_graph_comment() */
static _cold_ char *append_comment(const Kernel *k, char *p, CpuState *cpu, const Step *step) {
        const char *text = step_text(step);

        p = append_fill(k, p, false);
        if (step->said)
                p = append_indent(p, step->depth, false);
        else if (cpu->depth > 0)
                p = append_chars(p, ' ', (size_t) (cpu->depth + 1) * INDENT);
        p = APPEND(p, "/* ");
        if (text)
                p = append_plain(p, text, strlen(text));
        else {
                p = APPEND(p, "event ");
                p = append_number(p, step->event_id, 1, ' ');
        }
        return APPEND(p, " */\n");
}

static _always_inline_ char *append_line(Kernel *k, char *p, CpuState *cpu, const Step *step,
                                         bool usual) {
        /* print_graph_prologue() */
        p = append_columns(k, usual ? p : append_above(k, p, cpu, step), cpu, step, usual);
        if (!usual && step->said && step->said->irq_begin) {
                p = append_irq_marker(k, p, "==========>");
                p = append_columns(k, p, cpu, step, false);
        }
        if (step->kind == STEP_LEAVE)
                return append_return(k, p, cpu, step, usual);
        return usual || step->kind != STEP_OTHER ? append_entry(k, p, cpu, step, usual)
                                                 : append_comment(k, p, cpu, step);
}

/* The same of a step of a text whose columns are drawn by the options. */
static _cold_ char *append_said_line(Kernel *k, char *p, CpuState *cpu, const Step *step) {
        /* A task may change its name, which a text says. */
        if (cpu->has_pid && cpu->pid == step->pid)
                fill_proc(cpu, step->comm, step->pid);
        p = append_line(k, p, cpu, step, false);
        return step->said->irq_end ? append_irq(k, p, cpu, step, "<==========") : p;
}

/* Returns what a step needs beyond LINE_MAX_BYTES. */
static inline size_t extra_bytes(const Step *step) {
        size_t n = step->function ? step->function->n_label : 0;

        if (_unlikely_(step->kind == STEP_OTHER))
                n += strlen(step_text(step) ?: "") * PLAIN_BYTES_MAX + 1;
        else if (_unlikely_(has_arguments(step)))
                n += arguments_room(step);
        if (_unlikely_(step->way != NULL))
                n += step->way->n_text;
        if (_unlikely_(step->said != NULL))
                n += step->said->n_args + step->said->n_note + step->said->n_text +
                     step->said->n_change + step->said->n_begin_marker + step->said->n_end_marker;
        return n;
}

static inline CpuState *cpu_state(Kernel *k, uint32_t cpu) {
        if (!ARRAY_REACH(k->cpus, k->n_cpus, cpu)) {
                k->out->error = k->out->error ?: -ENOMEM;
                return NULL;
        }
        return &k->cpus[cpu];
}

static _cold_ void fill_column(const Kernel *k, CpuState *cpu, uint32_t number) {
        char *p = cpu->column;

        *p++ = ' ';
        p = append_number(p, number, k->cpu_columns, ' ');
        p = APPEND(p, ") ");
        cpu->n_column = (uint32_t) (p - cpu->column);
}

/* print_lost_events(), kernel/trace/trace.c: print_trace_line() */
static _cold_ void draw_lost(Kernel *k, const Step *step) {
        char text[64], n[24] = "";

        if (step_cuts_all(step)) {
                if (step->said->text)
                        buf_printf(k->out, "%s\n", step->said->text);
                return;
        }
        if (step->n_lost > 0)
                (void) snprintf(n, sizeof(n), "%llu ", (unsigned long long) step->n_lost);
        (void) snprintf(text, sizeof(text), "CPU:%u [LOST %sEVENTS]\n", step->cpu, n);
        buf_add_code(k->out, text); /* which need not be looked at again */
}

static const char *colour_of(const Step *step) {
        bool is_timed = (step->kind == STEP_LEAF || step->kind == STEP_LEAVE) &&
                        !(step->said && step->said->untimed);

        return is_timed ? overhead_of(step_duration_ns(step))->colour : NULL;
}

static _noinline_ void draw_any(Kernel *k, const Step *step) {
        CpuState *cpu;
        char *begin, *p;

        if (_unlikely_(step->kind == STEP_LOST)) {
                draw_lost(k, step);
                return;
        }
        cpu = cpu_state(k, step->cpu);
        if (!cpu)
                return;
        if (_unlikely_(cpu->n_column == 0))
                fill_column(k, cpu, step->cpu);
        if (_unlikely_(step->kind == STEP_TASK)) {
                cpu->has_pid = true;
                cpu->pid = step->pid;
                fill_proc(cpu, step->comm, step->pid);
                return;
        }
        if (_unlikely_(is_hidden(k, cpu, step)))
                return;
        begin = buf_reserve(k->out, LINE_MAX_BYTES + extra_bytes(step));
        if (!begin)
                return;
        p = begin;
        if (_likely_(!step->said))
                p = append_line(k, p, cpu, step, false);
        else if (k->options.verbatim && step->said->text)
                p = append_verbatim(k, p, cpu, step);
        else
                p = append_said_line(k, p, cpu, step);
        if (_unlikely_(step->function && step->function->is_irq_entry) && step->kind != STEP_ENTER)
                p = append_irq(k, p, cpu, step, "<==========");
        if (_unlikely_(k->options.colour))
                render_coloured(k->out, begin, p, colour_of(step));
        else /* names are words; what a text says, and types' names, are whatever they are */
                buf_advance(k->out, (size_t) (p - begin), !step->said && !has_arguments(step));
}

static void kernel_step(void *userdata, const Step *step) {
        Kernel *k = userdata;
        char *p;

        if (_unlikely_(!is_usual(k, step) ||
                       !buf_has_room(k->out, LINE_MAX_BYTES + step->function->n_label)))
                return draw_any(k, step);
        p = k->out->data + k->out->n_data;
        buf_advance(k->out, (size_t) (append_line(k, p, &k->cpus[step->cpu], step, true) - p),
                    true);
}

/* __print_graph_headers_flags() */
static void draw_header(Kernel *k) {
        const RenderOptions *o = &k->options;

        if (k->heading) {
                buf_adds(k->out, k->heading);
                return;
        }
        buf_adds(k->out, "# tracer: function_graph\n#\n#");
        buf_adds(k->out, o->abstime ? "     TIME       " : "");
        buf_adds(k->out, o->cpu ? " CPU" : "");
        buf_adds(k->out, o->proc ? "  TASK/PID       " : "");
        buf_adds(k->out, o->duration ? "  DURATION   " : "");
        buf_adds(k->out, "               FUNCTION CALLS\n#");
        buf_adds(k->out, o->abstime ? "      |         " : "");
        buf_adds(k->out, o->cpu ? " |  " : "");
        buf_adds(k->out, o->proc ? "   |    |        " : "");
        buf_adds(k->out, o->duration ? "   |   |      " : "");
        buf_adds(k->out, "               |   |   |   |\n");
}

static void kernel_free(void *userdata) {
        Kernel *k = userdata;

        if (!k)
                return;
        free(k->cpus);
        free(k);
}

static int kernel_new(void **ret, const RenderContext *context, Buf *out) {
        Kernel *k = NEW(
                Kernel, .options = context->options, .heading = context->heading,
                .own_work = context->options.notes ? context->own_work : NULL,
                .has_ticks = context->has_ticks, .bare_retval = context->bare_retval, .out = out,
                .cpu_columns =
                        count_digits(context->n_possible_cpus ? context->n_possible_cpus - 1 : 0));
        const RenderOptions *o;

        if (!k)
                return -ENOMEM;
        for (uint32_t i = 0; i < ELEMENTSOF(k->thousand); i++) {
                k->thousand[i].n = (uint8_t) count_digits(i);
                (void) append_number(k->thousand[i].text, i, 1, ' ');
                (void) append_number(k->thousand[i].padded, i, 3, '0');
        }
        k->options.retval = context->options.retval == true;
        o = &k->options;
        k->is_usual = o->cpu && o->duration && o->overhead && o->irqs && !o->proc && !o->abstime &&
                      !o->tail && !o->overrun && !o->retval && !o->colour && !k->own_work;
        if (k->options.header)
                draw_header(k);
        *ret = k;
        return 0;
}

const Renderer renderer_kernel = {
        .name = "graph",
        .summary = "call graph as the kernel's trace file has it",
        .new = kernel_new,
        .step = kernel_step,
        .free = kernel_free,
};
