/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "encode/escape.h"
#include "export/parquet-rows.h"

static const ParquetColumn wait_columns[] = {
        { "host", PARQUET_TEXT, true },
        { "recording", PARQUET_TEXT, true },
        { "tree", PARQUET_U64, false },
        { "left", PARQUET_U32, false },
        { "start_unix_ns", PARQUET_I64, true },
        { "start_ns", PARQUET_I64, false },
        { "woken_ns", PARQUET_I64, true },
        { "back_ns", PARQUET_I64, false },
        { "state", PARQUET_TEXT, false },
        { "cpu", PARQUET_U32, false },
        { "pid", PARQUET_I32, true },
        { "task", PARQUET_TEXT, true },
        { "function", PARQUET_TEXT, false },
        { "waker_task", PARQUET_TEXT, true },
        { "waker_pid", PARQUET_I32, true },
        { "waker_function", PARQUET_TEXT, true },
        { "waker_interrupt", PARQUET_BOOL, false },
        { "waker_softirq", PARQUET_BOOL, false },
        { "waker_what", PARQUET_TEXT, true },
};

static const ParquetColumn loss_columns[] = {
        { "host", PARQUET_TEXT, true },      { "recording", PARQUET_TEXT, true },
        { "at_unix_ns", PARQUET_I64, true }, { "at_ns", PARQUET_I64, false },
        { "cpu", PARQUET_U32, false },       { "events", PARQUET_U64, true }
};

static const ParquetSchema waits = { .columns = wait_columns,
                                     .n_columns = ELEMENTSOF(wait_columns) },
                           losses = { .columns = loss_columns,
                                      .n_columns = ELEMENTSOF(loss_columns) };

int beside_text(Beside *b, const char *text, size_t n, uint32_t n_rows, uint32_t *ret) {
        *ret = UINT32_MAX;
        if (!text)
                return 0;
        b->text.n_data = 0;
        escape_utf8(&b->text, text, n);
        if (b->text.error < 0)
                return b->text.error;
        return parquet_texts_add(b->texts, b->text.data ?: "", b->text.n_data, n_rows, ret);
}

/* Of an empty text, or NULL, there is no value.  An error is the text's. */
static void put_text(Beside *b, Parquet *p, const char *text, size_t n) {
        uint32_t number = 0;
        int r = n > 0 ? beside_text(b, text, n, PARQUET_ALL_ROWS, &number) : 0;

        if (r < 0)
                b->text.error = r;
        parquet_put(p, n > 0 && r >= 0, number);
}

static void put_origin(Beside *b, Parquet *p) {
        const char *host = b->state->info->host, *recording = b->state->info->recording;

        put_text(b, p, host, host ? strlen(host) : 0);
        put_text(b, p, recording, recording ? strlen(recording) : 0);
}

void beside_put_unix(const Beside *b, Parquet *p, uint64_t at_ns) {
        const SessionMeta *m = b->state->info->meta;
        bool has = m && clock_tuple_is_set(&m->start);

        parquet_put(p, has, has ? (int64_t) session_meta_realtime_ns(m, at_ns) : 0);
}

/* 1: there is a file; 0: nobody takes it; -errno. */
static int open_file(Beside *b, BesideFile *f, const char *name, const ParquetSchema *schema) {
        const ExportInfo *info = b->state->info;
        int r;

        if (f->table || !info->open)
                return f->table != NULL;
        r = info->open(info, name, NULL, &f->out);
        if (r >= 0)
                r = parquet_new(&f->table, b->texts, f->out, schema, false);
        return r < 0 ? r : 1;
}

int beside_wait(Beside *b, const BesideWait *wait, uint64_t tree, const Stack *stack,
                const Function *function) {
        const SchedWait *w = &wait->wait;
        const Waker *waker = &w->waker;
        bool is_woken = w->woken_ns > 0;
        const Function *waking = is_woken ? waker->function : NULL;
        int r = open_file(b, &b->waits, "waits", &waits);
        Parquet *p = b->waits.table;

        if (r <= 0)
                return r;
        put_origin(b, p);
        parquet_put(p, true, (int64_t) tree);
        parquet_put(p, true, wait->left);
        beside_put_unix(b, p, w->left_ns);
        parquet_put(p, true, (int64_t) w->left_ns);
        parquet_put(p, is_woken, (int64_t) w->woken_ns);
        parquet_put(p, true, (int64_t) w->back_ns);
        put_text(b, p, &w->state, 1);
        parquet_put(p, true, wait->cpu);
        parquet_put(p, stack->pid >= 0, stack->pid);
        put_text(b, p, stack->comm, strnlen(stack->comm, 16));
        put_text(b, p, function->label, function->n_name);
        put_text(b, p, waker->comm, is_woken ? strnlen(waker->comm, 16) : 0);
        parquet_put(p, is_woken && waker->pid >= 0, waker->pid);
        put_text(b, p, waking ? waking->label : NULL, waking ? waking->n_name : 0);
        parquet_put(p, is_woken, waker->is_irq);
        parquet_put(p, is_woken, waker->in_softirq);
        put_text(b, p, waker->what, is_woken && waker->what ? strlen(waker->what) : 0);
        return b->text.error < 0 ? b->text.error : parquet_end_row(p);
}

int beside_loss(Beside *b, const Step *lost) {
        int r = open_file(b, &b->losses, "losses", &losses);
        Parquet *p = b->losses.table;

        if (r <= 0)
                return r;
        put_origin(b, p);
        beside_put_unix(b, p, lost->timestamp_ns);
        parquet_put(p, true, (int64_t) lost->timestamp_ns);
        parquet_put(p, true, lost->cpu);
        parquet_put(p, lost->n_lost > 0, (int64_t) lost->n_lost);
        return b->text.error < 0 ? b->text.error : parquet_end_row(p);
}

static int finish_file(Beside *b, BesideFile *f, const char *name, const ParquetSchema *schema) {
        const ExportInfo *info = b->state->info;
        int r = open_file(b, f, name, schema);

        if (r > 0)
                r = parquet_finish(f->table);
        return r < 0 || !f->table ? r : info->close(info, f->out);
}

int beside_finish(Beside *b) {
        int r = finish_file(b, &b->waits, "waits", &waits);

        return r < 0 ? r : finish_file(b, &b->losses, "losses", &losses);
}

void beside_done(Beside *b) {
        parquet_free(b->waits.table);
        parquet_free(b->losses.table);
        buf_done(&b->text);
}
