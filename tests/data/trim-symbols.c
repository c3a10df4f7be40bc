/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * trim-symbols STORE SESSION <NAMES
 *
 * Makes a recording small enough to live in the sources: of its symbols, 10 MB of kallsyms, only
 * the functions named on standard input (one a line) are kept.  What is drawn stays the same as
 * long as every function that occurs is named.
 */

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "store/store.h"
#include "store/symbol-file.h"

static int compare(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* "ffffffff81234560 T udp_sendmsg\t[module]": the third word. */
static bool line_is_wanted(const char *line, const Strv *names) {
        char name[512], *key = name;

        return sscanf(line, "%*s %*s %511s", name) == 1 &&
               bsearch(&key, names->items, names->n, sizeof(*names->items), compare);
}

static int trim(Buf *ret, char *symbols, const Strv *names) {
        for (char *line = strtok(symbols, "\n"); line; line = strtok(NULL, "\n"))
                if (line_is_wanted(line, names)) {
                        buf_adds(ret, line);
                        buf_adds(ret, "\n");
                }
        return ret->error;
}

int main(int argc, char **argv) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_(store_freep) Store *store = NULL;
        _cleanup_free_ char *list = NULL, *symbols = NULL;
        char hash[SYMBOL_HASH_CHARS + 1], old[64];
        _cleanup_buf_ Buf kept = BUF_INIT;
        _cleanup_strv_ Strv names = {};
        int r;

        log_setup("trim-symbols");
        if (argc != 3) {
                log_error("usage: trim-symbols STORE SESSION <NAMES");
                return EXIT_FAILURE;
        }

        r = store_open_for_writing(&store, argv[1], NULL);
        if (r == 0)
                r = store_open_session(store, argv[2], &dir);
        if (r == 0)
                r = session_dir_read_meta(dir, &meta);
        if (r == 0)
                r = session_dir_read_symbols(dir, meta->symbols, &symbols, NULL);
        if (r == 0)
                r = fd_read(STDIN_FILENO, &list, NULL, 1 << 20);
        if (r == 0)
                r = strv_split(&names, list, "\n");
        if (r == 0) {
                strv_sort_unique(&names);
                r = trim(&kept, symbols, &names);
        }
        if (r == 0)
                r = symbol_file_store(store_symbols_fd(store), kept.data, kept.n_data, hash);
        if (r != 0) {
                log_error_errno(r, "cannot trim the symbols of '%s' in %s: %m", argv[2], argv[1]);
                return EXIT_FAILURE;
        }

        (void) snprintf(old, sizeof(old), "%s.zst", meta->symbols);
        free(meta->symbols);
        meta->symbols = strdup(hash);
        r = meta->symbols ? session_dir_write_meta(dir, meta, false) : -ENOMEM;
        if (r == 0 && !strstr(old, hash) && unlinkat(store_symbols_fd(store), old, 0) < 0)
                r = -errno;
        if (r != 0)
                log_error_errno(r, "cannot write session.json of '%s': %m", argv[2]);
        return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
