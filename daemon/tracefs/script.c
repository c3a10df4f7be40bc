/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Each step is one command with a comment that says what it replaces.  A file that takes one word
 * for each write() is fine with several on a line: it says how much of the write it has taken, and
 * the shell goes on with the rest (linux 6.1 kernel/trace/trace.c, trace_get_user()).
 */

#include <ctype.h>

#include "daemon/tracefs/control.h"
#include "daemon/tracefs/plan.h"

#define COMMENT_COLUMN 56
#define LINE_COLUMNS 96
#define WAS_MAX 48 /* columns of what was there */
#define N_NAMES 3  /* of many functions, shown in a comment */

static const char *op(PlanKind kind) {
        static const char *const names[] = {
                [PLAN_MKDIR] = "mkdir",   [PLAN_SET] = "write",   [PLAN_APPEND] = "append",
                [PLAN_REMOVE] = "remove", [PLAN_LINE] = "append", [PLAN_RMDIR] = "rmdir",
                [PLAN_SELF] = "append",   [PLAN_CLOSE] = "close",
        };

        return names[kind];
}

static bool is_plain(const char *s, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./"
                            ",:@%+-",
                            s[i]))
                        return false;
        return n > 0;
}

static void quote(Buf *out, const char *before, const char *s, size_t n) {
        if (*before == 0 && is_plain(s, n)) {
                buf_add(out, s, n);
                return;
        }
        buf_adds(out, "'");
        buf_adds(out, before);
        for (size_t i = 0; i < n; i++)
                if (s[i] == '\'')
                        buf_adds(out, "'\\''");
                else
                        buf_add(out, s + i, 1);
        buf_adds(out, "'");
}

/* " word word word", in lines that are not too long. */
static void write_words(Buf *out, const char *words, const char *before) {
        size_t column = strlen("echo");

        while (*words) {
                size_t n = strcspn(words, "\n");

                if (column + n + 3 > LINE_COLUMNS && column > strlen("echo")) {
                        buf_adds(out, " \\\n       ");
                        column = 7;
                }
                buf_adds(out, " ");
                quote(out, before, words, n);
                column += n + 1;
                words += n;
                words += *words == '\n';
        }
}

static size_t count_words(const char *words) {
        size_t n = *words != 0;

        for (; *words; words++)
                n += *words == '\n';
        return n;
}

/* "a, b, c and 309 more" */
static void write_names(Buf *out, const char *words) {
        size_t n = count_words(words);

        for (size_t i = 0; i < n && i < N_NAMES; i++) {
                size_t n_word = strcspn(words, "\n");

                buf_printf(out, "%s%.*s", i > 0 ? ", " : "", (int) n_word, words);
                words += n_word + (words[n_word] == '\n');
        }
        if (n > N_NAMES)
                buf_printf(out, " and %zu more", n - N_NAMES);
}

/* In one line, and cut. */
static void write_was(Buf *out, const PlanStep *s) {
        const char *was = *s->now ? s->now : control_shown_empty(s->file);
        size_t n = strlen(was);

        buf_adds(out, "# was ");
        buf_adds(out, n == 0 ? "empty" : "");
        for (size_t i = 0; i < n && i < WAS_MAX; i++)
                buf_add(out, was[i] == '\n' ? " " : was + i, 1);
        if (n > WAS_MAX)
                buf_adds(out, "...");
        if (s->is_new)
                buf_adds(out, ", in a new instance");
}

/* What is written, lists joined with '\n'. */
static int step_text(const PlanStep *s, char **ret) {
        if (s->kind != PLAN_LINE)
                return control_text(s->file, s->text ?: s->value, ret);
        *ret = strdup(s->value);
        return *ret ? 0 : -ENOMEM;
}

static void write_echo(Buf *out, const PlanStep *s) {
        _cleanup_free_ char *text = NULL;
        size_t begin = out->n_data, n;

        if (s->text && control_is_list(s->file) && !streq(s->text, s->value)) {
                buf_printf(out, "# %s, which hold until a module comes or goes, for %zu:\n# ",
                           isdigit((unsigned char) *s->text) ? "Lines of available_filter_functions"
                                                             : "Globs",
                           count_words(s->value));
                write_names(out, s->value);
                buf_adds(out, "\n");
                begin = out->n_data;
        }
        if (step_text(s, &text) < 0) {
                out->error = out->error ?: -ENOMEM;
                return;
        }
        if (s->stays_open)
                buf_printf(out, "exec 3>> %s # which acts when it is closed\n", s->file);
        begin = out->n_data;
        buf_adds(out, s->kind == PLAN_SELF ? "echo $$" : "echo");
        if (s->kind != PLAN_SELF)
                write_words(out, text, s->kind == PLAN_REMOVE ? "!" : "");
        if (s->stays_open)
                buf_adds(out, " >&3");
        else
                buf_printf(out, " %s %s", s->kind == PLAN_SET ? ">" : ">>", s->file);
        if (s->kind != PLAN_REMOVE && s->now) {
                n = out->n_data - begin;
                buf_pad(out, n < COMMENT_COLUMN ? COMMENT_COLUMN - n : 2, ' ');
                write_was(out, s);
        }
        buf_adds(out, "\n");
}

static void write_steps(Buf *out, const Plan *p, size_t from, size_t to) {
        for (size_t i = from; i < to; i++) {
                const PlanStep *s = &p->steps[i];

                if (s->kind == PLAN_MKDIR || s->kind == PLAN_RMDIR)
                        buf_printf(out, "%s %s\n", op(s->kind), s->file);
                else if (s->kind == PLAN_CLOSE)
                        buf_adds(out, "exec 3>&-\n");
                else
                        write_echo(out, s);
        }
}

static bool makes_instance(const Plan *p) {
        for (size_t i = 0; i < p->n; i++)
                if (p->steps[i].kind == PLAN_MKDIR)
                        return true;
        return false;
}

void script_write(Buf *out, const Plan *p, const ScriptInfo *info) {
        buf_printf(out,
                   "#!/bin/sh\n"
                   "# What session %s writes on Linux %s.  Nothing has been written.\n",
                   info->session, info->kernel);
        if (makes_instance(p))
                buf_adds(out,
                         "# The instance is not there yet: what its files say before is what the "
                         "kernel gives a new one.\n");
        for (size_t i = 0; i < info->warnings->n; i++)
                buf_printf(out, "# Note: %s\n", info->warnings->items[i]);
        buf_adds(out, "set -e\ncd ");
        quote(out, "", info->tracefs, strlen(info->tracefs));
        buf_adds(out, "\n\n");
        write_steps(out, p, 0, info->n_arm);
        buf_adds(out,
                 info->waits
                         ? "\n# It is armed now: when a trigger fires, tracing_on becomes 1, and "
                           "what the roots call is hooked if it\n"
                           "# was not.  Enter puts everything back.\n"
                         : "\n# It records now.  Enter puts everything back.\n");
        buf_adds(out, "read -r answer || :\n"
                      "set +e\n\n");
        write_steps(out, p, info->n_arm, p->n);
}

json_t *script_steps(const Plan *p, size_t from, size_t to) {
        json_t *list = json_array();

        for (size_t i = from; list && i < to; i++) {
                const PlanStep *s = &p->steps[i];
                _cleanup_free_ char *text = NULL;
                json_t *o;

                if (s->value && s->kind != PLAN_CLOSE && step_text(s, &text) < 0)
                        o = NULL;
                else
                        o = json_pack("{ss ss ss* ss* ss* sb}", "op", op(s->kind), "file", s->file,
                                      "text", text, "value", s->text ? s->value : NULL, "was",
                                      s->kind == PLAN_REMOVE ? NULL : s->now, "new", s->is_new);
                if (json_array_append_new(list, o) < 0) {
                        json_decref(list);
                        return NULL;
                }
        }
        return list;
}
