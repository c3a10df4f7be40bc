/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whatever the text, its good lines are read; what was wrong is said at the end, with its place. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/text-source.h"

#define N_DAMAGES_SAID 8

static bool is_file(const char *word) {
        static const char *const suffixes[] = { ".txt", ".trace", ".log" };
        size_t n = strlen(word);

        if (streq(word, "-") || strchr(word, '/'))
                return true;
        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++) {
                size_t n_suffix = strlen(suffixes[i]);

                if (n > n_suffix && streq(word + n - n_suffix, suffixes[i]))
                        return true;
        }
        return false;
}

static int failure(const char *name, int r) {
        switch (r) {
        case -ENOENT:
                log_error("there is no file \"%s\".", name);
                return STATUS_NOT_FOUND;
        case -EACCES:
                log_error("no permission to read \"%s\".", name);
                return STATUS_FORBIDDEN;
        default:
                log_error_errno(r, "Failed to read \"%s\": %m", name);
                return STATUS_FAILED;
        }
}

/* The file's descriptor; -ESTALE: it is a recording of trace-cmd's. */
static int open_file(const char *path) {
        static const char magic[] = "\x17\x08\x44tracing";
        _cleanup_close_ int fd = -EBADF;
        char begin[sizeof(magic) - 1];

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;
        if (pread_up_to(fd, begin, sizeof(begin), 0) == (ssize_t) sizeof(begin) &&
            memcmp(begin, magic, sizeof(begin)) == 0)
                return -ESTALE;
        return TAKE_FD(fd);
}

static void say_damage(const TextSource *s) {
        uint64_t n_damaged = text_trace_count(s->trace)->n_remarks[TEXT_DAMAGED], n_said = 0;
        char text[UNIT_TEXT_MAX];
        const TextNote *notes;
        size_t n;

        notes = text_trace_notes(s->trace, &n);
        for (size_t i = 0; i < n && n_said < N_DAMAGES_SAID; i++)
                if (notes[i].remark == TEXT_DAMAGED) {
                        log_error("%s:%llu: %s.", s->name, (unsigned long long) notes[i].line,
                                  notes[i].text);
                        n_said++;
                }
        if (n_damaged > n_said)
                log_error("%s: %s lines more are damaged.", s->name,
                          format_count(text, n_damaged - n_said));
}

static int no_trace(const TextSource *s) {
        const TextCount *c = text_trace_count(s->trace);
        char text[UNIT_TEXT_MAX];

        if (c->n_remarks[TEXT_DAMAGED] == 1)
                say_damage(s);
        if (c->n_bytes == 0)
                log_error("%s is empty.", s->name);
        else
                log_error("there is no trace in %s: none of its first %s lines is one of "
                          "function_graph or of SystemTap's thread_indent().",
                          s->name, format_count(text, c->n_lines));
        return STATUS_FAILED;
}

int text_source_open(TextSource *ret, const Options *o, const char *word) {
        _cleanup_text_source_ TextSource s = { .name = word };
        int r;

        *ret = (TextSource){};
        if (!is_file(word))
                return STATUS_OK;
        if (streq(word, "-")) {
                s.name = "standard input";
                r = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
                r = r < 0 ? -errno : r;
        } else
                r = open_file(word);
        if (r == -ESTALE)
                return STATUS_OK;
        if (r >= 0)
                r = text_trace_take_fd(&s.trace, r);
        if (r == TEXT_TRACE_E_FOREIGN)
                return no_trace(&s);
        if (r < 0)
                return failure(s.name, r);
        text_trace_keep_going(s.trace, o->keep_going);
        *ret = TAKE(s, (TextSource){});
        return STATUS_OK;
}

/* As many CPUs as make the column so wide. */
static uint32_t n_cpus_of(uint32_t n_digits) {
        uint32_t n = 1;

        for (uint32_t i = 1; i < n_digits; i++)
                n *= 10;
        return n_digits > 1 ? n + 1 : 1;
}

void text_source_layout(const TextSource *s, const Options *o, DrawingOptions *d) {
        const TextLayout *l = text_trace_layout(s->trace);
        const TextForm *form = text_kind_form(l->kind);

        d->n_possible_cpus = n_cpus_of(l->columns.n_cpu_digits);
        d->format = d->format ?: form->format;
        d->render.header = d->render.header && (l->has_header || !form->has_columns);
        d->render.abstime = l->columns.abstime;
        d->render.cpu = l->columns.cpu;
        d->render.proc = !form->has_columns || l->columns.proc;
        d->render.latency = l->columns.latency;
        d->render.duration = !form->has_columns || l->columns.duration;
        d->render.tight = l->is_tight;
        for (size_t i = 0; i < o->render.n; i++)
                (void) render_option_set(&d->render, o->render.items[i]);
}

int text_source_next(TextSource *s, Step *ret) {
        int r = text_trace_next(s->trace, ret);

        if (r < 0)
                return -failure(s->name, r);
        if (r == TEXT_TRACE_E_DAMAGED) {
                say_damage(s);
                return -STATUS_FAILED;
        }
        return r;
}

int text_source_finish(const TextSource *s, const Options *o) {
        const TextCount *c = text_trace_count(s->trace);
        uint64_t n_skipped = c->n_remarks[TEXT_NOT_TRACE];
        char text[UNIT_TEXT_MAX], quoted[NAME_QUOTE_MAX];
        const TextNote *first;
        size_t n;

        first = text_trace_notes(s->trace, &n);
        while (n_skipped > 0 && first->remark != TEXT_NOT_TRACE)
                first++;
        if (n_skipped == 1)
                talk(o, "%s: line %llu is not of a trace, and was skipped: \"%s\".", s->name,
                     (unsigned long long) first->line, name_quote(quoted, first->text));
        else if (n_skipped > 1)
                talk(o,
                     "%s: %s lines are not of a trace, and were skipped; the first is line %llu: "
                     "\"%s\".",
                     s->name, format_count(text, n_skipped), (unsigned long long) first->line,
                     name_quote(quoted, first->text));
        if (c->n_losses > 0 && c->n_lost > 0)
                log_warning("%s: the tracer had lost %s events.", s->name,
                            format_count(text, c->n_lost));
        else if (c->n_losses > 0)
                log_warning("%s: the tracer had lost events.", s->name);
        say_damage(s);
        return c->n_remarks[TEXT_DAMAGED] > 0 ? STATUS_FAILED
               : c->n_losses > 0              ? STATUS_INCOMPLETE
                                              : STATUS_OK;
}

void text_source_done(TextSource *s) {
        text_trace_free(s->trace);
        *s = (TextSource){};
}
