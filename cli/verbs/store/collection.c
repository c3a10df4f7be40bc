/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A line is written by one write() to a file that is opened to append, so that two that collect at the
 * same time do not mix theirs; a line that was cut off by a full disk gets an end before the next. */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/store/collection.h"

#define BYTES_MAX ((size_t) 64 << 20)
#define MODE 0640

static void read_line(Collection *c, const char *line, size_t n) {
        json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
        const char *host = json_string_value(json_object_get(o, "host"));

        if (!host || !json_is_integer(json_object_get(o, "bytes")) ||
            !json_is_integer(json_object_get(o, "status")) ||
            json_object_set(c->hosts, host, o) < 0) {
                json_decref(o);
                return;
        }
        json_decref(o);
}

static int read_all(Collection *c) {
        _cleanup_free_ char *text = NULL;
        size_t n = 0;
        int r = file_read(AT_FDCWD, c->path, &text, &n, BYTES_MAX);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        for (size_t at = 0; at < n;) {
                const char *end = memchr(text + at, '\n', n - at);
                size_t length = end ? (size_t) (end - text) - at : n - at;

                read_line(c, text + at, length);
                at += length + 1;
        }
        return 0;
}

int collection_open(Collection *ret, const char *dir, const char *name) {
        _cleanup_collection_ Collection c = COLLECTION_INIT;
        int r;

        c.dir = strdup(dir);
        c.name = strdup(name);
        c.hosts = json_object();
        if (!c.dir || !c.name || !c.hosts || asprintf(&c.path, "%s/%s.collected", dir, name) < 0)
                return -ENOMEM;
        r = read_all(&c);
        if (r < 0)
                return r;
        c.fd = open(c.path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, MODE);
        if (c.fd < 0)
                return ORIGIN(-errno);
        *ret = TAKE(c, COLLECTION_INIT);
        return 0;
}

void collection_done(Collection *c) {
        free(c->dir);
        free(c->name);
        free(c->path);
        json_decref(c->hosts);
        safe_close(c->fd);
        *c = COLLECTION_INIT;
}

int collection_path(char **ret, const Collection *c, const char *host) {
        return asprintf(ret, "%s/%s@%s.dat", c->dir, c->name, host) < 0 ? -ENOMEM : 0;
}

static bool is_same(const json_t *o, const char *key, const char *value) {
        return streq_ptr(json_string_value(json_object_get(o, key)), value);
}

const json_t *collection_find(const Collection *c, const char *host, const char *id,
                              const char *options) {
        const json_t *o = json_object_get(c->hosts, host);
        _cleanup_free_ char *path = NULL;
        struct stat st;

        if (!o || (id && !is_same(o, "id", id)) || !is_same(o, "options", options) ||
            collection_path(&path, c, host) < 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
            st.st_size != json_integer_value(json_object_get(o, "bytes")))
                return NULL;
        return o;
}

static bool ends_in_line(int fd) {
        struct stat st;
        char last;

        return fstat(fd, &st) < 0 || st.st_size == 0 || pread(fd, &last, 1, st.st_size - 1) != 1 ||
               last == '\n';
}

int collection_add(Collection *c, const char *host, const char *id, const char *options,
                   uint64_t n_bytes, int status, const char *lacks) {
        json_auto_t *o = json_pack("{s:s, s:s?, s:s, s:I, s:i, s:o}", "host", host, "id", id,
                                   "options", options, "bytes", (json_int_t) n_bytes, "status",
                                   status, "lacks", terminal_json_string(lacks));
        _cleanup_free_ char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
        _cleanup_buf_ Buf line = BUF_INIT;

        if (!text || json_object_set(c->hosts, host, o) < 0)
                return -ENOMEM;
        buf_printf(&line, "%s%s\n", ends_in_line(c->fd) ? "" : "\n", text);
        return line.error ?: write_full(c->fd, line.data, line.n_data);
}
