/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two passes over the cells, one for the widths and one to print, in the order that the titles' marks say.  What has no
 * room in its column goes on in the lines below it. */

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "base/name.h"
#include "cli/terminal/terminal.h"

#define TABLE_COLUMNS_MAX 24
#define GAP 2             /* spaces between columns */
#define LEFT_OUT SIZE_MAX /* as a column's width */
#define LINES_BESIDES 4   /* at most, above and below the rows */

void table_begin(Table *t, JsonMode json) {
        *t = (Table){ .max_width = terminal_columns() };
        if (json != JSON_OFF)
                t->list = json_array();
}

/* The text of a cell, which the caller frees; NULL without memory. */
static _printf_(1, 0) char *cell_text(const char *format, va_list ap) {
        char *text;

        if (vasprintf(&text, format, ap) < 0)
                return NULL;
        if (plain_length(text, strlen(text), PLAIN_WORD) < strlen(text)) {
                _cleanup_free_ char *said = TAKE_PTR(text);
                _cleanup_buf_ Buf plain = BUF_INIT;

                buf_add_plain(&plain, said, strlen(said), PLAIN_WORD);
                if (buf_take_string(&plain, &text) < 0)
                        text = NULL;
        }
        return text;
}

void table_done(Table *t) {
        strv_done(&t->titles);
        strv_done(&t->cells);
        json_decref(TAKE_PTR(t->list));
}

/* --- cells ------------------------------------------------------------------------------------ */

Row table_row(Table *t) {
        Row r = { .table = t, .is_text = !t->list };

        t->n_rows++;
        if (t->list) {
                r.json = json_object();
                (void) json_array_append_new(t->list, r.json);
        }
        return r;
}

Row table_rest(Table *t) {
        t->n_rows++;
        for (size_t i = 0; t->error >= 0 && i < t->titles.n; i++)
                t->error = strv_add(&t->cells, " ");
        return (Row){ .table = t, .is_text = true, .is_rest = true };
}

void row_cell(Row r, const char *title, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        Table *t = r.table;
        size_t i = 0;
        va_list ap;

        if (!r.is_text || !title || t->error < 0)
                return;
        va_start(ap, format);
        text = cell_text(format, ap);
        va_end(ap);
        if (t->n_rows == 1 && !r.is_rest)
                t->error = strv_add(&t->titles, title);
        while (r.is_rest && i < t->titles.n && !streq(t->titles.items[i], title))
                i++;
        if (!text)
                t->error = -ENOMEM;
        else if (r.is_rest && i < t->titles.n)
                t->error = strv_replace(&t->cells, t->cells.n - t->titles.n + i, text);
        else if (!r.is_rest && t->error >= 0)
                t->error = strv_take(&t->cells, TAKE_PTR(text));
}

void row_json(Row r, const char *key, json_t *value) {
        if (!key)
                json_decref(value);
        else if (json_object_set_new(r.json, key, value) < 0 && r.table)
                r.table->error = -ENOMEM;
}

void row_int(Row r, const char *key, int64_t n) {
        if (!r.is_text)
                row_json(r, key, json_integer(n));
}

void row_known_int(Row r, const char *key, bool is_known, int64_t n) {
        if (!r.is_text)
                row_json(r, key, is_known ? json_integer(n) : json_null());
}

void row_real(Row r, const char *key, double d) {
        if (!r.is_text)
                row_json(r, key, isnan(d) ? json_null() : json_real(d));
}

void row_bool(Row r, const char *key, bool is) {
        if (!r.is_text)
                row_json(r, key, json_boolean(is));
}

void row_time(Row r, const char *title, const char *key, uint64_t ns) {
        row_known_time(r, title, key, true, ns);
}

void row_known_time(Row r, const char *title, const char *key, bool is_known, uint64_t ns) {
        if (!r.is_text)
                row_known_int(r, key, is_known, (int64_t) ns);
        else if (title)
                row_cell(r, title, "%s", is_known ? FIGURE_ROUND(ns) : "-");
}

void row_mean(Row r, const char *title, const char *key, double ns) {
        row_real(r, key, ns);
        row_cell(r, title, "%s", FIGURE_MEAN(ns));
}

void row_change(Row r, const char *title, const char *key, double ns) {
        row_real(r, key, ns);
        row_cell(r, title, "%s", FIGURE_CHANGE(ns));
}

void row_count(Row r, const char *title, const char *key, uint64_t n) {
        row_int(r, key, (int64_t) n);
        row_cell(r, title, "%llu", (unsigned long long) n);
}

void row_string(Row r, const char *title, const char *key, const char *s) {
        if (!r.is_text)
                row_json(r, key, terminal_json_string(s));
        else
                row_cell(r, title, "%s", s ?: " ");
}

void row_share(Row r, const char *title, const char *key, double part, double all) {
        row_real(r, key, part / all);
        row_cell(r, title, "%.1f%%", all != 0 ? 100 * part / all : 0);
}

void row_label(Row r, const char *key, const Function *f) {
        if (!r.is_text)
                row_json(r, key,
                         f ? terminal_json_text(f->label, f->n_label - f->n_place) : json_null());
}

json_t *terminal_json_value(ValueNumber n) {
        char text[32];

        if (n.magnitude <= INT64_MAX)
                return json_integer(n.is_negative ? -(json_int_t) n.magnitude
                                                  : (json_int_t) n.magnitude);
        (void) snprintf(text, sizeof(text), "%s0x%" PRIx64, n.is_negative ? "-" : "", n.magnitude);
        return json_string(text);
}

void row_object(Row r, const Object *o) {
        json_t *fields = o ? json_object() : json_null();

        for (uint32_t i = 0; o && i < o->n; i++) {
                const ObjectField *f = &o->fields[i];
                char name[PROBE_FIELD_NAME_MAX + 1] = "";

                memcpy(name, object_text(o) + f->name, f->n_name);
                (void) json_object_set_new(
                        fields, name,
                        f->is_number ? terminal_json_value(f->number)
                                     : terminal_json_text(object_text(o) + f->value, f->n_value));
        }
        row_json(r, "what", o ? terminal_json_text(object_text(o), o->n_text) : json_null());
        row_json(r, "fields", fields);
}

void row_function(Row r, const char *title, const Function *f) {
        size_t n = 0;
        const char *module = f ? function_module(f, &n) : NULL;

        if (r.is_text) {
                if (title && f)
                        row_cell(r, title, "%s%s", NAME_QUOTED(f->label),
                                 TABLE_MARK(&r.table->marks, f->n_unhooked));
                else
                        row_cell(r, title, "(not recorded)");
                return;
        }
        row_json(r, "function", terminal_json_text(f ? f->label : NULL, f ? f->n_name : 0));
        row_json(r, "module", terminal_json_text(module, n));
        row_known_int(r, "not_hooked_below", f && unhooked_is_number(f->n_unhooked),
                      f ? f->n_unhooked : 0);
}

void row_place(Row r, const Function *f) {
        static const char *const kinds[] = { [FUNCTION_RECORDED] = "call",
                                             [FUNCTION_INLINED] = "inlined",
                                             [FUNCTION_UNTRACED] = "not traced" };
        const char *place = f->label + f->n_label - f->n_place + strlen(" (");
        size_t n = f->n_place - MIN(f->n_place, (uint32_t) strlen(" ()"));

        if (n == 0 || r.is_text)
                return;
        if (f->kind != FUNCTION_RECORDED) {
                size_t n_kind = strlen(kinds[f->kind]) + strlen(", ");

                place += n_kind;
                n -= n_kind;
        }
        row_json(r, "code", terminal_json_string(kinds[f->kind]));
        row_json(r, "called_from", terminal_json_text(place, n));
}

void row_task(Row r, const char *title, const char *comm, int64_t pid) {
        if (!r.is_text) {
                row_string(r, NULL, "task", *comm ? comm : NULL);
                row_known_int(r, "pid", pid >= 0, pid);
        } else if (pid >= 0)
                row_cell(r, title, "%s-%lld", NAME_QUOTED(comm), (long long) pid);
        else
                row_cell(r, title, "%s", NAME_QUOTED(comm));
}

char *table_mark(TableMarks *marks, char text[static TABLE_MARK_MAX], int32_t n_unhooked) {
        bool is_unknown = n_unhooked == UNHOOKED_UNKNOWN;

        text[0] = 0;
        if (unhooked_is_none(n_unhooked))
                return text;
        marks->has_unknown |= is_unknown;
        marks->has_number |= !is_unknown;
        (void) snprintf(text, TABLE_MARK_MAX, is_unknown ? "  (+?)" : "  (+%d)", n_unhooked);
        return text;
}

void table_explain(const TableMarks *marks, Buf *out) {
        size_t from = out->n_data;

        if (marks->has_number)
                buf_adds(out, "(+N): N functions below it were not hooked; their time counts as "
                              "its own.\n");
        if (marks->has_unknown)
                buf_adds(out, "(+?): its callees are not known; their time counts as its own.\n");
        terminal_fold(out, from, SIZE_MAX);
}

/* --- printed ---------------------------------------------------------------------------------- */

/* The columns in the order in which they are drawn. */
typedef struct Layout {
        const Table *table;
        size_t n;
        size_t columns[TABLE_COLUMNS_MAX], widths[TABLE_COLUMNS_MAX];
} Layout;

static size_t width(const char *s) {
        size_t n = 0;

        for (; *s; s++)
                n += (*s & 0xC0) != 0x80;
        return n;
}

static size_t n_marks(const char *title) {
        return strspn(title, "?>~123456789");
}

static const char *title_of(const Layout *l, size_t i) {
        return l->table->titles.items[l->columns[i]];
}

static bool is_marked(const Layout *l, size_t i, char mark) {
        const char *title = title_of(l, i);

        return memchr(title, mark, n_marks(title));
}

static void lay_out(Layout *ret, const Table *t, bool legend) {
        *ret = (Layout){ .table = t };
        for (char place = '0'; place <= '9'; place++)
                for (size_t i = 0; i < t->titles.n; i++) {
                        const char *title = t->titles.items[i];
                        size_t n = legend ? width(title) - n_marks(title) : 0;

                        if ((*title >= '1' && *title <= '9' ? *title : '0') != place)
                                continue;
                        for (size_t k = i; k < t->cells.n; k += t->titles.n)
                                n = MAX(n, width(t->cells.items[k]));
                        ret->columns[ret->n] = i;
                        ret->widths[ret->n++] = n;
                }
}

static size_t columns_total(const Layout *l) {
        size_t total = 0;

        for (size_t i = 0; i < l->n; i++)
                if (l->widths[i] != LEFT_OUT)
                        total += l->widths[i] + GAP;
        return total - GAP;
}

/* Takes what is too much from the widest of the columns that are, or are not, marked '~', and no numbers. */
static void narrow(Layout *l, size_t max_width, bool is_cut) {
        for (size_t total = columns_total(l); total > max_width; total--) {
                size_t widest = SIZE_MAX;

                for (size_t i = 0; i < l->n; i++)
                        if (l->widths[i] != LEFT_OUT && !is_marked(l, i, '>') &&
                            is_marked(l, i, '~') == is_cut && l->widths[i] > TABLE_COLUMN_MIN &&
                            (widest == SIZE_MAX || l->widths[i] > l->widths[widest]))
                                widest = i;
                if (widest == SIZE_MAX)
                        return;
                l->widths[widest]--;
        }
}

static size_t longest_word(const char *s) {
        size_t longest = 0;

        for (s += strspn(s, " "); *s; s += strspn(s, " ")) {
                const char *end = strchrnul(s, ' ');
                _cleanup_free_ char *word = strndup(s, (size_t) (end - s));

                longest = MAX(longest, word ? width(word) : 0);
                s = end;
        }
        return longest;
}

/* Trees are deep: takes from the blanks in front, also behind a "> ", what a word has no room for. */
static void squeeze(char *cell, size_t max) {
        size_t n_mark = strspn(cell, ">"), n = strspn(cell + n_mark, " "),
               n_all = n_mark + n + longest_word(cell + n_mark);

        if (n > 1 && n_all > max) {
                size_t n_less = MIN(n - 1, n_all - max);

                memmove(cell + n_mark, cell + n_mark + n_less, strlen(cell + n_mark + n_less) + 1);
        }
}

/* How far in what goes on below of @cell begins. */
static size_t indent_below(const char *cell, size_t max) {
        size_t n = strspn(cell, "> ") + 2, n_word = longest_word(cell);

        return max < 2 * TABLE_COLUMN_MIN ? 0 : n_word >= max ? 2 : MIN(n, max - n_word);
}

static void fit(Layout *l, size_t max_width) {
        size_t full[TABLE_COLUMNS_MAX], total;

        memcpy(full, l->widths, sizeof(full));
        narrow(l, max_width, true);
        for (size_t i = l->n; i > 0 && columns_total(l) > max_width; i--)
                if (is_marked(l, i - 1, '?'))
                        l->widths[i - 1] = LEFT_OUT;
        narrow(l, max_width, false);
        total = columns_total(l);
        for (size_t i = 0; i < l->n && total < max_width; i++)
                if (l->widths[i] != LEFT_OUT && l->widths[i] < full[i]) {
                        size_t n = MIN(max_width - total, full[i] - l->widths[i]);

                        l->widths[i] += n;
                        total += n;
                }
        for (size_t i = 0; i < l->n; i++)
                for (size_t k = l->columns[i]; l->widths[i] < full[i] && k < l->table->cells.n;
                     k += l->table->titles.n)
                        squeeze(l->table->cells.items[k], l->widths[i]);
}

/* At most @max characters of @cell, the last of them a mark if that is not all. */
static void add_cut(Buf *out, const char *cell, size_t max) {
        const char *end = cell;

        if (width(cell) <= max) {
                buf_adds(out, cell);
                return;
        }
        for (size_t n = 0; *end; end++) {
                n += (*end & 0xC0) != 0x80;
                if (n == max)
                        break;
        }
        buf_add(out, cell, (size_t) (end - cell));
        buf_adds(out, terminal_is_utf8() ? "…" : "~");
}

/* Bytes of @s for a line of @max characters: up to a blank, behind a '_' or '.', or as many as there is room for. */
static size_t line_length(const char *s, size_t max) {
        size_t n = strlen(s), fits = utf8_offset(s, n, max), i = fits;

        if (fits == n)
                return n;
        while (i > 0 && s[i] != ' ')
                i--;
        if (strspn(s, " ") < i)
                return i;
        for (i = fits; i > 1 && s[i - 1] != '_' && s[i - 1] != '.';)
                i--;
        return i > 1 ? i : fits;
}

/* What of *@cell there is room for, and moves it on; @indent: in front, of a line that goes on. */
static void add_piece(const Layout *l, Buf *out, size_t i, const char **cell, size_t indent) {
        size_t room = l->widths[i], n = line_length(*cell, room - indent), n_drawn = indent;
        _cleanup_free_ char *piece = strndup(*cell, n);

        if (is_marked(l, i, '~')) {
                add_cut(out, *cell, room);
                n_drawn = MIN(width(*cell), room);
                *cell = "";
        } else if (piece) {
                if (is_marked(l, i, '>'))
                        n_drawn = room - width(piece);
                buf_pad(out, n_drawn, ' ');
                buf_adds(out, piece);
                n_drawn += width(piece);
                *cell += n;
                *cell += strspn(*cell, " ");
        }
        buf_pad(out, GAP + room - n_drawn, ' ');
}

/* @cells: of one row; NULL: the titles. */
static void add_line(const Layout *l, Buf *out, char *const *cells) {
        const char *rest[TABLE_COLUMNS_MAX];
        size_t indents[TABLE_COLUMNS_MAX];
        bool is_more = true;

        for (size_t i = 0; i < l->n; i++) {
                rest[i] = cells ? cells[l->columns[i]] : title_of(l, i) + n_marks(title_of(l, i));
                indents[i] =
                        width(rest[i]) > l->widths[i] ? indent_below(rest[i], l->widths[i]) : 0;
        }
        for (size_t line = 0; is_more; line++) {
                is_more = false;
                for (size_t i = 0; i < l->n; i++) {
                        if (l->widths[i] == LEFT_OUT)
                                continue;
                        add_piece(l, out, i, &rest[i], line > 0 ? indents[i] : 0);
                        is_more |= *rest[i] != 0;
                }
                while (out->n_data > 0 && out->data[out->n_data - 1] == ' ')
                        out->n_data--;
                buf_adds(out, "\n");
        }
}

int table_print(const Table *t, Buf *out, bool legend) {
        Layout l;

        if (t->error < 0)
                return t->error;
        if (t->titles.n > TABLE_COLUMNS_MAX)
                return ORIGIN(-E2BIG);
        if (t->titles.n == 0)
                return 0;
        assert(t->cells.n % t->titles.n == 0); /* each row tells the same columns */
        lay_out(&l, t, legend);
        if (t->max_width > 0)
                fit(&l, t->max_width);
        if (legend)
                add_line(&l, out, NULL);
        for (size_t i = 0; i < t->cells.n; i += t->titles.n)
                add_line(&l, out, t->cells.items + i);
        return out->error;
}

int table_show(Table *t, const Options *o, Buf *above) {
        _cleanup_buf_ Buf own = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        Buf *out = above ?: &own;
        int r = t->error;

        if (o->json != JSON_OFF)
                return r < 0 ? stdout_status(r) : stdout_json(o, TAKE_PTR(t->list));
        terminal_fold(out, 0, SIZE_MAX);
        pager_open(&pager, o, t->n_rows + LINES_BESIDES);
        if (r >= 0)
                r = table_print(t, out, !o->no_legend);
        if (!o->no_legend)
                table_explain(&t->marks, out);
        return stdout_paged(&pager, out, r);
}
