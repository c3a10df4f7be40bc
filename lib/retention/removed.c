/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A line is written at once, so that two who write, which does not happen, would not mix them. */

#include <inttypes.h>

#include "base/array.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "retention/removed.h"
#include "store/entry.h"

#define FILE_NAME "removed"
#define FILE_BYTES_READ ((size_t) 4 << 20) /* of one that is larger nobody knows whose it is */

void removed_done(Removed *r) {
        free(r->name);
        free(r->id);
        free(r->why);
        *r = (Removed){};
}

/* The newer half stays, from the beginning of a line on. */
static int shorten(int store_fd) {
        _cleanup_free_ char *text = NULL;
        const char *from;
        size_t n;
        int r = entry_read(store_fd, FILE_NAME, &text, &n, FILE_BYTES_READ);

        if (r < 0 && r != -EFBIG)
                return r;
        from = text ? memchr(text + n / 2, '\n', n - n / 2) : NULL;
        return entry_replace(store_fd, FILE_NAME, from ? from + 1 : "",
                             from ? n - (size_t) (from + 1 - text) : 0, false);
}

int removed_note(int store_fd, const Removed *r) {
        char line[REMOVED_WHY_MAX + SESSION_NAME_MAX + 128];
        uint64_t n_file;
        int n, k;

        n = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %s %s %.*s\n",
                     r->realtime_ns ?: now_ns(CLOCK_REALTIME), r->n_bytes, r->name,
                     r->id && *r->id ? r->id : "-", REMOVED_WHY_MAX, r->why ?: "");
        for (int i = 0; i + 1 < n; i++)
                if ((unsigned char) line[i] < ' ')
                        line[i] = '?';
        k = entry_append(store_fd, FILE_NAME, line, (size_t) n, &n_file);
        return k < 0 || n_file <= REMOVED_BYTES_MAX ? k : shorten(store_fd);
}

/* 1: it is of @word, 0: it is not, or is none, -ENOMEM. */
static int parse(Removed *ret, const char *line, const char *word) {
        _cleanup_(removed_done) Removed r = {};
        int n = 0;

        if (sscanf(line, "%" SCNu64 " %" SCNu64 " %ms %ms %n", &r.realtime_ns, &r.n_bytes, &r.name,
                   &r.id, &n) != 4 ||
            (r.realtime_ns | r.n_bytes) > INT64_MAX || !session_name_is_valid(r.name) ||
            (!streq(r.name, word) && !streq(r.id, word)))
                return 0;
        r.why = strdup(line + n);
        if (!r.why)
                return -ENOMEM;
        *ret = TAKE(r, (Removed){});
        return 1;
}

int removed_find(Removed *ret, int store_fd, const char *word) {
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = entry_read(store_fd, FILE_NAME, &text, &n, FILE_BYTES_READ);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        while (r == 0 && n > 0 && text[n - 1] == '\n') {
                char *line;

                text[--n] = 0;
                line = n > 0 ? memrchr(text, '\n', n) : NULL;
                line = line ? line + 1 : text;
                n = (size_t) (line - text);
                r = parse(ret, line, word);
        }
        return r;
}

int removed_describe(char **ret, const Removed *r) {
        for (char *p = r->why; *p; p++) /* the file may be anybody's */
                if ((unsigned char) *p < ' ' || *p == 0x7f)
                        *p = '?';
        return text_format(ret, "session \"%s\" (%s) was removed on %s: %s", r->name,
                           FORMAT_BYTES(r->n_bytes), FIGURE_DATE(r->realtime_ns), r->why);
}
