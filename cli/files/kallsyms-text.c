/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is there already is asked of the maps before, and not of the text that
 * grows: a table needs its text to stay where it is.
 */

#include <inttypes.h>

#include "base/buf.h"
#include "cli/files/kallsyms-text.h"
#include "decode/names.h"

typedef struct Earlier {
        Symbols *maps[SYMBOL_MAPS_MAX + 1];
        size_t n;
} Earlier;

static void earlier_done(Earlier *e) {
        while (e->n > 0)
                (void) symbols_free(e->maps[--e->n]);
}

/* Keeps a table of @text, which it consumes. */
static int earlier_add(Earlier *e, char *text, size_t n) {
        int r = symbols_new(&e->maps[e->n], text, n);

        if (r >= 0)
                e->n++;
        return r;
}

static bool earlier_has(const Earlier *e, uint64_t address) {
        for (size_t i = 0; i < e->n; i++) {
                Symbol symbol;

                if (symbols_find(e->maps[i], address, &symbol) && symbol.address == address)
                        return true;
        }
        return false;
}

/* The lines of modules, as kallsyms text. */
static int copy_modules(const char *text, char **ret, size_t *ret_n) {
        _cleanup_buf_ Buf b = BUF_INIT;

        for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
                end = strchrnul(line, '\n');
                if (memmem(line, (size_t) (end - line), "\t[", 2)) {
                        buf_add(&b, line, (size_t) (end - line));
                        buf_add(&b, "\n", 1);
                }
        }
        *ret_n = b.n_data;
        return buf_take_string(&b, ret);
}

static void add_new_lines(Buf *b, const char *text, const Earlier *e) {
        for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
                end = strchrnul(line, '\n');
                if (!earlier_has(e, strtoull(line, NULL, 16))) {
                        buf_add(b, line, (size_t) (end - line));
                        buf_add(b, "\n", 1);
                }
        }
}

static int read_map(const SessionDir *dir, const char *hash, char **ret, size_t *ret_n,
                    bool *is_damaged) {
        int r = session_dir_read_symbols(dir, hash, ret, ret_n);

        if (r >= 0 || r == -ENOMEM)
                return r;
        /* Not if they were hidden, or the recording came without the store. */
        if (r != -ENODATA && r != -ENOENT && r != -EBADF)
                *is_damaged = true;
        *ret = strdup("");
        *ret_n = 0;
        return *ret ? 0 : -ENOMEM;
}

/* Behind the last symbol, unless there is one already: of a copy. */
static int add_end(char **text, size_t *n) {
        uint64_t highest = 0, address;
        _cleanup_buf_ Buf b = BUF_INIT;

        if (strstr(*text, " " KALLSYMS_TEXT_END))
                return 0;
        for (const char *line = *text, *end; *line; line = *end ? end + 1 : end) {
                char *type;

                end = strchrnul(line, '\n');
                address = strtoull(line, &type, 16);
                /* Absolute ones are offsets, and trace-cmd passes them over. */
                if (type[0] == ' ' && type[1] != 'A' && type[1] != 'a')
                        highest = MAX(highest, address);
        }
        if (highest == 0 || highest > UINT64_MAX - SYMBOL_BYTES_MAX)
                return 0;
        buf_add(&b, *text, *n);
        buf_printf(&b, "%s%016" PRIx64 " t " KALLSYMS_TEXT_END "\n",
                   *n > 0 && (*text)[*n - 1] == '\n' ? "" : "\n", highest + SYMBOL_BYTES_MAX);
        free(TAKE_PTR(*text));
        *n = b.n_data;
        return buf_take_string(&b, text);
}

static int read_maps(const SessionDir *dir, const SessionMeta *meta, char **ret, size_t *ret_n,
                     bool *ret_is_damaged) {
        _cleanup_(earlier_done) Earlier earlier = {};
        _cleanup_buf_ Buf b = BUF_INIT;
        char *text, *modules;
        size_t n, n_modules;
        int r;

        *ret_is_damaged = false;
        r = read_map(dir, meta->symbols, &text, &n, ret_is_damaged);
        if (r < 0)
                return r;
        if (meta->symbol_maps.n == 0) {
                *ret = text;
                *ret_n = n;
                return 0;
        }
        buf_add(&b, text, n);
        r = earlier_add(&earlier, text, n);
        for (size_t i = 0; r >= 0 && i < meta->symbol_maps.n; i++) {
                r = read_map(dir, meta->symbol_maps.items[i].symbols, &text, &n, ret_is_damaged);
                if (r < 0)
                        break;
                r = copy_modules(text, &modules, &n_modules);
                free(text);
                if (r < 0)
                        break;
                add_new_lines(&b, modules, &earlier);
                r = earlier_add(&earlier, modules, n_modules);
        }
        if (r < 0)
                return r;
        *ret_n = b.n_data;
        return buf_take_string(&b, ret);
}

int kallsyms_text_read(const SessionDir *dir, const SessionMeta *meta, char **ret, size_t *ret_n,
                       bool *ret_is_damaged) {
        int r = read_maps(dir, meta, ret, ret_n, ret_is_damaged);

        return r < 0 ? r : add_end(ret, ret_n);
}
