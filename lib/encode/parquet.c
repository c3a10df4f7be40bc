/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A group's rows are in memory by columns.  A column that is written is encoded into one Buf, compressed
 * into another, and of several ways the one that takes least is kept.
 */

#include <assert.h>

#include "base/array.h"
#include "encode/parquet-encode.h"
#include "encode/parquet.h"

#define LEVEL 3
#define ITEMS_MAX 65536  /* of a dictionary of integers */
#define TEXT_STAT_MAX 64 /* longer texts are no least and no greatest */
#define ROWS_ROOM 64     /* at first */

enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { PAGE_DICTIONARY = 2, PAGE_DATA_V2 = 3 };
enum { CODEC_ZSTD = 6 };

/* How a column could be written. */
typedef struct Way {
        Buf items, page; /* before and after they are compressed, one after the other */
        size_t n_items, n_levels, n_page; /* bytes before */
        size_t n_in_dictionary;
        int encoding;
} Way;

/* --- a column --------------------------------------------------------------------------------- */

static unsigned bytes_of(ParquetType type) {
        return type == PARQUET_U16 || type == PARQUET_U32 || type == PARQUET_I32 ? 4 : 8;
}

static bool is_unsigned(ParquetType type) {
        return type == PARQUET_U16 || type == PARQUET_U32 || type == PARQUET_U64;
}

static bool is_less(const Parquet *p, ParquetType type, int64_t a, int64_t b) {
        if (type == PARQUET_TEXT && a != b) {
                const ParquetText *x = &p->texts->items[a], *y = &p->texts->items[b];

                return (memcmp(x->data, y->data, MIN(x->n, y->n)) ?: CMP(x->n, y->n)) < 0;
        }
        return is_unsigned(type) ? (uint64_t) a < (uint64_t) b : a < b;
}

static void find_range(const Parquet *p, const ParquetValues *c, size_t n, ParquetChunk *chunk) {
        ParquetType type = c->spec->type;

        if (n == 0 || type == PARQUET_F64 || type == PARQUET_BOOL)
                return;
        chunk->least = chunk->greatest = p->present[0];
        for (size_t i = 1; i < n; i++) {
                if (is_less(p, type, p->present[i], chunk->least))
                        chunk->least = p->present[i];
                else if (is_less(p, type, chunk->greatest, p->present[i]))
                        chunk->greatest = p->present[i];
        }
        chunk->has_range =
                type != PARQUET_TEXT || (p->texts->items[chunk->least].n <= TEXT_STAT_MAX &&
                                         p->texts->items[chunk->greatest].n <= TEXT_STAT_MAX);
}

/* In the order in which they are met first.  1: there are too many. */
static int number_values(Parquet *p, size_t n, size_t n_max, size_t *ret_n_items) {
        size_t n_items = 0;

        hash_clear(&p->items_at);
        for (size_t i = 0; i < n; i++) {
                uint64_t number;

                if (i > 0 && p->present[i] == p->present[i - 1]) {
                        p->in_dictionary[i] = p->in_dictionary[i - 1];
                        continue;
                }
                number = hash_get(&p->items_at, (uint64_t) p->present[i]);
                if (number == 0) {
                        if (n_items == n_max)
                                return 1;
                        p->items[n_items++] = p->present[i];
                        number = n_items;
                        if (hash_add(&p->items_at, (uint64_t) p->present[i], number) < 0)
                                return -ENOMEM;
                }
                p->in_dictionary[i] = (uint32_t) number - 1;
        }
        *ret_n_items = n_items;
        return 0;
}

static void add_items(const Parquet *p, const ParquetValues *c, size_t n_items, Buf *out) {
        if (c->spec->type != PARQUET_TEXT) {
                parquet_encode_plain(out, p->items, n_items, bytes_of(c->spec->type));
                return;
        }
        for (size_t i = 0; i < n_items; i++) {
                const ParquetText *t = &p->texts->items[p->items[i]];
                int64_t n = (int64_t) t->n;

                parquet_encode_plain(out, &n, 1, 4);
                buf_add(out, t->data, t->n);
        }
}

/* What is in @b from @from on is replaced by itself, compressed. */
static int pack(Parquet *p, Buf *b, size_t from) {
        size_t n = b->n_data - from, room = ZSTD_compressBound(n);
        char *to;

        if (b->error < 0)
                return b->error;
        p->packed.n_data = 0;
        to = buf_reserve(&p->packed, room);
        if (!to)
                return p->packed.error;
        n = ZSTD_compressCCtx(p->compressor, to, room, n > 0 ? b->data + from : "", n, LEVEL);
        if (ZSTD_isError(n))
                return -ENOMEM;
        b->n_data = from;
        buf_add(b, to, n);
        return b->error;
}

/* 0, 1: this cannot be, -ENOMEM. */
static int try_way(Parquet *p, ParquetValues *c, size_t n, int encoding, Way *w) {
        ParquetType type = c->spec->type;
        int r = 0;

        w->items.n_data = w->page.n_data = 0;
        w->n_in_dictionary = 0;
        w->encoding = encoding;
        if (encoding == ENCODING_DICTIONARY) {
                r = number_values(p, n, type == PARQUET_TEXT ? SIZE_MAX : ITEMS_MAX,
                                  &w->n_in_dictionary);
                if (r != 0)
                        return r;
                add_items(p, c, w->n_in_dictionary, &w->items);
                w->n_items = w->items.n_data;
                r = pack(p, &w->items, 0);
        }
        if (c->has)
                parquet_encode_levels(&w->page, c->has, p->n_rows);
        w->n_levels = w->page.n_data;
        if (encoding == ENCODING_DICTIONARY)
                parquet_encode_numbers(&w->page, p->in_dictionary, n, w->n_in_dictionary);
        else if (encoding == ENCODING_DELTA)
                parquet_encode_delta(&w->page, p->present, n, bytes_of(type));
        else if (type == PARQUET_BOOL)
                parquet_encode_bits(&w->page, p->present, n);
        else
                parquet_encode_plain(&w->page, p->present, n, bytes_of(type));
        w->n_page = w->page.n_data;
        return r < 0 ? r : pack(p, &w->page, w->n_levels);
}

static size_t size_of(const Way *w) {
        return w->items.n_data + w->page.n_data;
}

/* The least of what can be; @best and @other are rooms. */
static int find_way(Parquet *p, ParquetValues *c, size_t n, Way *best, Way *other) {
        static const int all[] = { ENCODING_DELTA, ENCODING_DICTIONARY, ENCODING_PLAIN };
        ParquetType type = c->spec->type;
        bool has_best = false;
        int r;

        if (c->encoding >= 0) {
                r = try_way(p, c, n, c->encoding, best);
                if (r <= 0)
                        return r;
        }
        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                bool may_be = type == PARQUET_TEXT   ? all[i] == ENCODING_DICTIONARY
                              : type == PARQUET_BOOL ? all[i] == ENCODING_PLAIN
                              : type == PARQUET_F64  ? all[i] != ENCODING_DELTA
                                                     : true;

                if (!may_be)
                        continue;
                r = try_way(p, c, n, all[i], other);
                if (r < 0)
                        return r;
                if (r > 0 || (has_best && size_of(other) >= size_of(best)))
                        continue;
                SWAP(*best, *other);
                has_best = true;
        }
        c->encoding = best->encoding;
        return 0;
}

/* --- a group ---------------------------------------------------------------------------------- */

static void put(Parquet *p, const void *data, size_t n) {
        buf_add(p->out, data, n);
        p->offset += n;
}

static void begin_page(Thrift *t, int type, size_t n_plain, size_t n_packed) {
        thrift_begin(t, 0);
        thrift_i32(t, 1, type);
        thrift_i32(t, 2, (int32_t) n_plain);
        thrift_i32(t, 3, (int32_t) n_packed);
}

static void put_dictionary(Parquet *p, const Way *w, ParquetChunk *chunk) {
        _cleanup_buf_ Buf header = BUF_INIT;
        Thrift t = THRIFT_TO(&header);

        begin_page(&t, PAGE_DICTIONARY, w->n_items, w->items.n_data);
        thrift_begin(&t, 7);
        thrift_i32(&t, 1, (int32_t) w->n_in_dictionary);
        thrift_i32(&t, 2, ENCODING_PLAIN);
        thrift_end(&t);
        thrift_end(&t);
        chunk->dictionary_at = p->offset;
        chunk->n_plain += header.n_data + w->n_items;
        chunk->n_packed += header.n_data + w->items.n_data;
        put(p, header.data, header.n_data);
        put(p, w->items.data, w->items.n_data);
}

static void put_page(Parquet *p, const Way *w, ParquetChunk *chunk) {
        _cleanup_buf_ Buf header = BUF_INIT;
        Thrift t = THRIFT_TO(&header);

        begin_page(&t, PAGE_DATA_V2, w->n_page, w->page.n_data);
        thrift_begin(&t, 8);
        thrift_i32(&t, 1, (int32_t) p->n_rows);
        thrift_i32(&t, 2, (int32_t) chunk->n_nulls);
        thrift_i32(&t, 3, (int32_t) p->n_rows);
        thrift_i32(&t, 4, w->encoding);
        thrift_i32(&t, 5, (int32_t) w->n_levels);
        thrift_i32(&t, 6, 0);
        thrift_bool(&t, 7, true);
        thrift_end(&t);
        thrift_end(&t);
        chunk->data_at = p->offset;
        chunk->n_plain += header.n_data + w->n_page;
        chunk->n_packed += header.n_data + w->page.n_data;
        put(p, header.data, header.n_data);
        put(p, w->page.data, w->page.n_data);
}

/* Of a column that is written.  Those that the footer has stay. */
static void drop_texts(Parquet *p, size_t n, const ParquetChunk *chunk) {
        if (chunk->has_range) {
                p->texts->items[chunk->least].n_rows = PARQUET_ALL_ROWS;
                p->texts->items[chunk->greatest].n_rows = PARQUET_ALL_ROWS;
        }
        for (size_t k = 0; k < n; k++)
                parquet_texts_drop(p->texts, (uint32_t) p->present[k]);
}

static int write_column(Parquet *p, ParquetValues *c, Way *best, Way *other, ParquetChunk *chunk) {
        size_t n = 0;
        int r;

        for (size_t k = 0; k < p->n_rows; k++)
                if (!c->has || c->has[k])
                        p->present[n++] = c->values[k];
        chunk->n_nulls = p->n_rows - n;
        find_range(p, c, n, chunk);
        r = find_way(p, c, n, best, other);
        if (r < 0)
                return r;
        chunk->encoding = best->encoding;
        if (best->encoding == ENCODING_DICTIONARY)
                put_dictionary(p, best, chunk);
        put_page(p, best, chunk);
        if (c->spec->type == PARQUET_TEXT)
                drop_texts(p, n, chunk);
        return p->out->error;
}

static int write_group(Parquet *p) {
        Way ways[2] = { { .items = BUF_INIT, .page = BUF_INIT },
                        { .items = BUF_INIT, .page = BUF_INIT } };
        ParquetChunk *chunks = reallocarray(p->chunks, (p->n_groups + 1) * p->schema->n_columns,
                                            sizeof(ParquetChunk));
        int r = 0;

        if (!chunks)
                return -ENOMEM;
        p->chunks = chunks;
        if (!ARRAY_GROW(p->n_group_rows, p->n_groups))
                return -ENOMEM;
        chunks += p->n_groups * p->schema->n_columns;
        memset(chunks, 0, p->schema->n_columns * sizeof(ParquetChunk));
        for (size_t i = 0; i < p->schema->n_columns && r >= 0; i++)
                r = write_column(p, &p->columns[i], &ways[0], &ways[1], &chunks[i]);
        p->n_group_rows[p->n_groups++] = p->n_rows;
        p->n_rows_written += p->n_rows;
        p->n_rows = 0;
        for (size_t i = 0; i < ELEMENTSOF(ways); i++) {
                buf_done(&ways[i].items);
                buf_done(&ways[i].page);
        }
        return r;
}

/* Room for the next row. */
static int grow(Parquet *p) {
        size_t n = MIN(p->n_rows_room ? p->n_rows_room * 2 : ROWS_ROOM, p->n_rows_max);

        for (size_t i = 0; i < p->schema->n_columns; i++) {
                ParquetValues *c = &p->columns[i];
                size_t n_values = p->n_rows_room, n_has = p->n_rows_room;

                if (!ARRAY_ROOM(c->values, n_values, n) ||
                    (c->spec->is_optional && !ARRAY_ROOM(c->has, n_has, n)))
                        return -ENOMEM;
        }
        if (!ARRAY_ROOM(p->present, p->n_present_room, n) ||
            !ARRAY_ROOM(p->in_dictionary, p->n_in_dictionary_room, n) ||
            !ARRAY_ROOM(p->items, p->n_items_room, n))
                return -ENOMEM;
        p->n_rows_room = n;
        return 0;
}

int parquet_end_row(Parquet *p) {
        assert(p->i_column == p->schema->n_columns);
        p->i_column = 0;
        if (p->is_tsv) {
                tsv_put_row(p);
                return p->out->error;
        }
        if (++p->n_rows == p->n_rows_max)
                return write_group(p);
        return p->n_rows == p->n_rows_room ? grow(p) : 0;
}

/* --- the footer ------------------------------------------------------------------------------- */

enum { TYPE_BOOL = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTES = 6 };

static int type_of(ParquetType type) {
        return type == PARQUET_TEXT   ? TYPE_BYTES
               : type == PARQUET_BOOL ? TYPE_BOOL
               : type == PARQUET_F64  ? TYPE_DOUBLE
               : bytes_of(type) == 4  ? TYPE_INT32
                                      : TYPE_INT64;
}

static void add_schema(Thrift *t, const ParquetColumn *c) {
        static const struct {
                int converted;
                int8_t bits;
        } integers[] = {
                [PARQUET_U16] = { 12, 16 }, [PARQUET_U32] = { 13, 32 }, [PARQUET_U64] = { 14, 64 }
        };

        thrift_begin(t, 0);
        thrift_i32(t, 1, type_of(c->type));
        thrift_i32(t, 3, c->is_optional);
        thrift_binary(t, 4, c->name, strlen(c->name));
        if (c->type == PARQUET_TEXT) {
                thrift_i32(t, 6, 0);
                thrift_begin(t, 10);
                thrift_empty(t, 1);
                thrift_end(t);
        } else if (is_unsigned(c->type)) {
                thrift_i32(t, 6, integers[c->type].converted);
                thrift_begin(t, 10);
                thrift_begin(t, 10);
                thrift_i8(t, 1, integers[c->type].bits);
                thrift_bool(t, 2, false);
                thrift_end(t);
                thrift_end(t);
        }
        thrift_end(t);
}

static void add_bound(const Parquet *p, const ParquetValues *c, Thrift *t, int16_t field,
                      int64_t value) {
        _cleanup_buf_ Buf plain = BUF_INIT;

        if (c->spec->type == PARQUET_TEXT) {
                thrift_binary(t, field, p->texts->items[value].data, p->texts->items[value].n);
                return;
        }
        parquet_encode_plain(&plain, &value, 1, bytes_of(c->spec->type));
        if (plain.error == 0)
                thrift_binary(t, field, plain.data, plain.n_data);
}

static void add_chunk(const Parquet *p, const ParquetValues *c, const ParquetChunk *chunk,
                      uint64_t n_rows, Thrift *t) {
        bool has_dictionary = chunk->dictionary_at > 0;

        thrift_begin(t, 0);
        thrift_i64(t, 2, (int64_t) (has_dictionary ? chunk->dictionary_at : chunk->data_at));
        thrift_begin(t, 3);
        thrift_i32(t, 1, type_of(c->spec->type));
        thrift_list(t, 2, THRIFT_I32, has_dictionary ? 3 : 2);
        thrift_zigzag(t->out, ENCODING_RLE);
        thrift_zigzag(t->out, chunk->encoding);
        if (has_dictionary)
                thrift_zigzag(t->out, ENCODING_PLAIN);
        thrift_list(t, 3, THRIFT_BINARY, 1);
        buf_add_varint(t->out, strlen(c->spec->name));
        buf_adds(t->out, c->spec->name);
        thrift_i32(t, 4, CODEC_ZSTD);
        thrift_i64(t, 5, (int64_t) n_rows);
        thrift_i64(t, 6, (int64_t) chunk->n_plain);
        thrift_i64(t, 7, (int64_t) chunk->n_packed);
        thrift_i64(t, 9, (int64_t) chunk->data_at);
        if (has_dictionary)
                thrift_i64(t, 11, (int64_t) chunk->dictionary_at);
        thrift_begin(t, 12);
        thrift_i64(t, 3, (int64_t) chunk->n_nulls);
        if (chunk->has_range) {
                add_bound(p, c, t, 5, chunk->greatest);
                add_bound(p, c, t, 6, chunk->least);
        }
        thrift_end(t);
        thrift_end(t);
        thrift_end(t);
}

static void add_group(const Parquet *p, size_t g, Thrift *t) {
        const ParquetChunk *chunks = p->chunks + g * p->schema->n_columns;
        uint64_t n_plain = 0, n_packed = 0;

        for (size_t i = 0; i < p->schema->n_columns; i++) {
                n_plain += chunks[i].n_plain;
                n_packed += chunks[i].n_packed;
        }
        thrift_begin(t, 0);
        thrift_list(t, 1, THRIFT_STRUCT, p->schema->n_columns);
        for (size_t i = 0; i < p->schema->n_columns; i++)
                add_chunk(p, &p->columns[i], &chunks[i], p->n_group_rows[g], t);
        thrift_i64(t, 2, (int64_t) n_plain);
        thrift_i64(t, 3, (int64_t) p->n_group_rows[g]);
        if (p->schema->n_sorted > 0) {
                thrift_list(t, 4, THRIFT_STRUCT, p->schema->n_sorted);
                for (size_t i = 0; i < p->schema->n_sorted; i++) {
                        thrift_begin(t, 0);
                        thrift_i32(t, 1, (int32_t) p->schema->sorted[i]);
                        thrift_bool(t, 2, false);
                        thrift_bool(t, 3, true);
                        thrift_end(t);
                }
        }
        thrift_i64(t, 6, (int64_t) n_packed);
        thrift_end(t);
}

static void add_footer(const Parquet *p, Buf *out) {
        static const char created_by[] = "ftraced version " PACKAGE_VERSION;
        Thrift t = THRIFT_TO(out);

        thrift_begin(&t, 0);
        thrift_i32(&t, 1, 2);
        thrift_list(&t, 2, THRIFT_STRUCT, p->schema->n_columns + 1);
        thrift_begin(&t, 0);
        thrift_binary(&t, 4, "calls", 5);
        thrift_i32(&t, 5, (int32_t) p->schema->n_columns);
        thrift_end(&t);
        for (size_t i = 0; i < p->schema->n_columns; i++)
                add_schema(&t, p->columns[i].spec);
        thrift_i64(&t, 3, (int64_t) p->n_rows_written);
        thrift_list(&t, 4, THRIFT_STRUCT, p->n_groups);
        for (size_t g = 0; g < p->n_groups; g++)
                add_group(p, g, &t);
        thrift_binary(&t, 6, created_by, sizeof(created_by) - 1);
        thrift_list(&t, 7, THRIFT_STRUCT, p->schema->n_columns);
        for (size_t i = 0; i < p->schema->n_columns; i++) {
                thrift_begin(&t, 0);
                thrift_empty(&t, 1);
                thrift_end(&t);
        }
        thrift_end(&t);
}

int parquet_finish(Parquet *p) {
        _cleanup_buf_ Buf footer = BUF_INIT;
        int64_t n;
        int r = p->n_rows > 0 ? write_group(p) : 0;

        if (r < 0 || p->is_tsv)
                return r ?: p->out->error;
        add_footer(p, &footer);
        n = (int64_t) footer.n_data;
        parquet_encode_plain(&footer, &n, 1, 4);
        buf_adds(&footer, "PAR1");
        if (footer.error < 0)
                return footer.error;
        put(p, footer.data, footer.n_data);
        return p->out->error;
}

/* --- all of it -------------------------------------------------------------------------------- */

int parquet_new(Parquet **ret, ParquetTexts *texts, Buf *out, const ParquetSchema *schema,
                bool is_tsv) {
        _cleanup_(parquet_freep) Parquet *p =
                NEW(Parquet, .out = out, .texts = texts, .schema = schema, .is_tsv = is_tsv,
                    .n_rows_max = PARQUET_ROWS, .packed = BUF_INIT, .compressor = ZSTD_createCCtx(),
                    .columns = calloc(schema->n_columns, sizeof(*p->columns)));

        if (!p || !p->columns || !p->compressor)
                return -ENOMEM;
        for (size_t i = 0; i < schema->n_columns; i++)
                p->columns[i] = (ParquetValues){ .spec = &schema->columns[i], .encoding = -1 };
        if (grow(p) < 0)
                return -ENOMEM;
        if (is_tsv)
                tsv_put_heading(p);
        else
                put(p, "PAR1", 4);
        *ret = TAKE_PTR(p);
        return 0;
}

Parquet *parquet_free(Parquet *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; p->columns && i < p->schema->n_columns; i++) {
                free(p->columns[i].values);
                free(p->columns[i].has);
        }
        free(p->columns);
        free(p->present);
        free(p->in_dictionary);
        free(p->items);
        buf_done(&p->packed);
        ZSTD_freeCCtx(p->compressor);
        hash_done(&p->items_at);
        free(p->chunks);
        free(p->n_group_rows);
        return mfree(p);
}
