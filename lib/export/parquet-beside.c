/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "export/escape.h"
#include "export/parquet-beside.h"

enum { HOST, RECORDING, N_ORIGIN };

enum {
        WAIT_TREE = N_ORIGIN,
        WAIT_LEFT,
        WAIT_START_UNIX_NS,
        WAIT_START_NS,
        WAIT_WOKEN_NS,
        WAIT_BACK_NS,
        WAIT_STATE,
        WAIT_CPU,
        WAIT_PID,
        WAIT_TASK,
        WAIT_FUNCTION,
        WAIT_WAKER_TASK,
        WAIT_WAKER_PID,
        WAIT_WAKER_FUNCTION,
        WAIT_WAKER_INTERRUPT,
};

static const ParquetColumn wait_columns[] = {
        [HOST] = { "host", PARQUET_TEXT, true },
        [RECORDING] = { "recording", PARQUET_TEXT, true },
        [WAIT_TREE] = { "tree", PARQUET_U64, false },
        [WAIT_LEFT] = { "left", PARQUET_U32, false },
        [WAIT_START_UNIX_NS] = { "start_unix_ns", PARQUET_I64, true },
        [WAIT_START_NS] = { "start_ns", PARQUET_I64, false },
        [WAIT_WOKEN_NS] = { "woken_ns", PARQUET_I64, true },
        [WAIT_BACK_NS] = { "back_ns", PARQUET_I64, false },
        [WAIT_STATE] = { "state", PARQUET_TEXT, false },
        [WAIT_CPU] = { "cpu", PARQUET_U32, false },
        [WAIT_PID] = { "pid", PARQUET_I32, true },
        [WAIT_TASK] = { "task", PARQUET_TEXT, true },
        [WAIT_FUNCTION] = { "function", PARQUET_TEXT, false },
        [WAIT_WAKER_TASK] = { "waker_task", PARQUET_TEXT, true },
        [WAIT_WAKER_PID] = { "waker_pid", PARQUET_I32, true },
        [WAIT_WAKER_FUNCTION] = { "waker_function", PARQUET_TEXT, true },
        [WAIT_WAKER_INTERRUPT] = { "waker_interrupt", PARQUET_BOOL, false },
};

enum { LOSS_AT_UNIX_NS = N_ORIGIN, LOSS_AT_NS, LOSS_CPU, LOSS_EVENTS };

static const ParquetColumn loss_columns[] = {
        [HOST] = { "host", PARQUET_TEXT, true },
        [RECORDING] = { "recording", PARQUET_TEXT, true },
        [LOSS_AT_UNIX_NS] = { "at_unix_ns", PARQUET_I64, true },
        [LOSS_AT_NS] = { "at_ns", PARQUET_I64, false },
        [LOSS_CPU] = { "cpu", PARQUET_U32, false },
        [LOSS_EVENTS] = { "events", PARQUET_U64, true },
};

typedef struct BesideFile {
        Parquet *table; /* NULL: it has no rows yet, or nobody takes such a file */
        Buf *out;
} BesideFile;

struct Beside {
        const ExportState *state;
        ParquetTexts *texts;
        const Form *form;
        const char *alone;
        BesideFile waits, losses;
        Buf text;
};

int beside_text_for(Beside *b, const char *text, size_t n, uint32_t n_rows, uint32_t *ret) {
        *ret = UINT32_MAX;
        if (!text)
                return 0;
        b->text.n_data = 0;
        escape_utf8(&b->text, text, n);
        if (b->text.error < 0)
                return b->text.error;
        return parquet_texts_add(b->texts, b->text.data ?: "", b->text.n_data, n_rows, ret);
}

int beside_text(Beside *b, const char *text, size_t n, uint32_t *ret) {
        return beside_text_for(b, text, n, PARQUET_ALL_ROWS, ret);
}

/* Of an empty text, or NULL, there is no value. */
static int set_text(Beside *b, Parquet *p, size_t column, const char *text, size_t n) {
        uint32_t number;
        int r = n > 0 ? beside_text(b, text, n, &number) : 0;

        if (r >= 0 && n > 0)
                parquet_set(p, column, number);
        return r;
}

static int set_origin(Beside *b, Parquet *p) {
        const ExportInfo *info = b->state->info;
        int r = set_text(b, p, HOST, info->host, info->host ? strlen(info->host) : 0);

        if (r < 0)
                return r;
        return set_text(b, p, RECORDING, info->recording,
                        info->recording ? strlen(info->recording) : 0);
}

static void set_unix(const Beside *b, Parquet *p, size_t column, uint64_t at_ns) {
        const SessionMeta *m = b->state->info->meta;

        if (m && clock_tuple_is_set(&m->start))
                parquet_set(p, column, (int64_t) session_meta_realtime_ns(m, at_ns));
}

/* 1: there is a file; 0: nobody takes it; -errno. */
static int open_file(Beside *b, BesideFile *f, const char *name, const ParquetColumn *columns,
                     size_t n_columns) {
        const ExportInfo *info = b->state->info;
        int r = 0;

        if (f->table)
                return 1;
        if (b->alone ? !streq(b->alone, name) : !info->open)
                return 0;
        f->out = b->state->out;
        if (!b->alone)
                r = info->open(info->open_data, name, NULL, &f->out);
        if (r >= 0)
                r = b->form->new (&f->table, b->texts, f->out, columns, n_columns, NULL, 0);
        return r < 0 ? r : 1;
}

static int open_waits(Beside *b) {
        return open_file(b, &b->waits, "waits", wait_columns, ELEMENTSOF(wait_columns));
}

static int open_losses(Beside *b) {
        return open_file(b, &b->losses, "losses", loss_columns, ELEMENTSOF(loss_columns));
}

int beside_wait(Beside *b, const BesideWait *wait, uint64_t tree, const Stack *stack,
                const Function *function) {
        const SchedWait *w = &wait->wait;
        const Waker *waker = &w->waker;
        int r = open_waits(b);
        Parquet *p = b->waits.table;

        if (r <= 0)
                return r;
        r = set_origin(b, p);
        parquet_set(p, WAIT_TREE, (int64_t) tree);
        parquet_set(p, WAIT_LEFT, wait->left);
        set_unix(b, p, WAIT_START_UNIX_NS, w->left_ns);
        parquet_set(p, WAIT_START_NS, (int64_t) w->left_ns);
        if (w->woken_ns > 0)
                parquet_set(p, WAIT_WOKEN_NS, (int64_t) w->woken_ns);
        parquet_set(p, WAIT_BACK_NS, (int64_t) w->back_ns);
        parquet_set(p, WAIT_CPU, wait->cpu);
        if (stack->pid >= 0)
                parquet_set(p, WAIT_PID, stack->pid);
        if (r >= 0)
                r = set_text(b, p, WAIT_STATE, &w->state, 1);
        if (r >= 0)
                r = set_text(b, p, WAIT_TASK, stack->comm, strnlen(stack->comm, 16));
        if (r >= 0)
                r = set_text(b, p, WAIT_FUNCTION, function->label, function->n_name);
        if (r >= 0 && w->woken_ns > 0) {
                parquet_set(p, WAIT_WAKER_INTERRUPT, waker->is_irq);
                if (waker->pid >= 0)
                        parquet_set(p, WAIT_WAKER_PID, waker->pid);
                r = set_text(b, p, WAIT_WAKER_TASK, waker->comm, strnlen(waker->comm, 16));
                if (r >= 0 && waker->function)
                        r = set_text(b, p, WAIT_WAKER_FUNCTION, waker->function->label,
                                     waker->function->n_name);
        }
        return r < 0 ? r : b->form->end_row(p);
}

int beside_loss(Beside *b, const Step *lost) {
        int r = open_losses(b);
        Parquet *p = b->losses.table;

        if (r <= 0)
                return r;
        r = set_origin(b, p);
        if (r < 0)
                return r;
        set_unix(b, p, LOSS_AT_UNIX_NS, lost->timestamp_ns);
        parquet_set(p, LOSS_AT_NS, (int64_t) lost->timestamp_ns);
        parquet_set(p, LOSS_CPU, lost->cpu);
        if (lost->n_lost > 0)
                parquet_set(p, LOSS_EVENTS, (int64_t) lost->n_lost);
        return b->form->end_row(p);
}

static int finish_file(Beside *b, BesideFile *f) {
        const ExportInfo *info = b->state->info;
        int r = b->form->finish(f->table);

        return r < 0 || b->alone ? r : info->close(info->open_data, f->out);
}

int beside_finish(Beside *b) {
        int r = open_waits(b);

        if (r > 0)
                r = finish_file(b, &b->waits);
        if (r >= 0)
                r = open_losses(b);
        return r > 0 ? finish_file(b, &b->losses) : r;
}

int beside_new(Beside **ret, const ExportState *state, ParquetTexts *texts, const Form *form,
               const char *alone) {
        Beside *b = malloc(sizeof(*b));

        if (!b)
                return -ENOMEM;
        *b = (Beside){
                .state = state, .texts = texts, .form = form, .alone = alone, .text = BUF_INIT
        };
        *ret = b;
        return 0;
}

Beside *beside_free(Beside *b) {
        if (!b)
                return NULL;
        b->form->free(b->waits.table);
        b->form->free(b->losses.table);
        buf_done(&b->text);
        free(b);
        return NULL;
}
