/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A JSON object in memory, replaced as a whole on disk; what is damaged is begun anew. */

#include <fcntl.h>

#include "base/io.h"
#include "base/unit.h"
#include "cli/schedule/capture-log.h"

#define STATE_DIR LOCALSTATEDIR "/lib/ftraced-captures"
#define BYTES_MAX ((size_t) 4 << 20)

static int make_path(char **ret, const char *name) {
        const char *dir = getenv("STATE_DIRECTORY");

        return asprintf(ret, "%s/%s.json", dir && *dir ? dir : STATE_DIR, name) < 0 ? -ENOMEM : 0;
}

static bool is_log(const json_t *root) {
        json_t *captures = json_object_get(root, "captures"), *c;
        size_t i;

        if (!json_is_array(captures) || json_integer_value(json_object_get(root, "version")) != 1)
                return false;
        json_array_foreach (captures, i, c)
                if (!json_is_integer(json_object_get(c, "at_ns")) ||
                    !json_is_string(json_object_get(c, "result")))
                        return false;
        return true;
}

int capture_log_open(CaptureLog *ret, const char *name) {
        _cleanup_capture_log_ CaptureLog l = {};
        _cleanup_free_ char *text = NULL;
        int r = make_path(&l.path, name);

        if (r < 0)
                return r;
        r = file_read(AT_FDCWD, l.path, &text, NULL, BYTES_MAX);
        if (r < 0 && r != -ENOENT)
                return r;
        if (r >= 0)
                l.root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (!is_log(l.root)) {
                json_decref(l.root);
                l.root = json_pack("{s:i, s:i, s:[]}", "version", 1, "next", 1, "captures");
        }
        if (!l.root)
                return -ENOMEM;
        *ret = TAKE(l, (CaptureLog){});
        return 0;
}

int capture_log_save(const CaptureLog *l) {
        _cleanup_free_ char *text = json_dumps(l->root, JSON_INDENT(1));

        return text ? file_replace(AT_FDCWD, l->path, text, strlen(text), 0644) : -ENOMEM;
}

int capture_log_erase(const char *name) {
        _cleanup_free_ char *path = NULL;
        int r = make_path(&path, name);

        if (r < 0)
                return r;
        return unlink(path) < 0 && errno != ENOENT ? ORIGIN(-errno) : 0;
}

uint64_t capture_log_next(const CaptureLog *l) {
        json_int_t next = json_integer_value(json_object_get(l->root, "next"));

        return next > 0 ? (uint64_t) next : 1;
}

json_t *capture_log_all(const CaptureLog *l) {
        return json_object_get(l->root, "captures");
}

json_t *capture_log_last(const CaptureLog *l) {
        json_t *all = capture_log_all(l);

        return json_array_size(all) > 0 ? json_array_get(all, json_array_size(all) - 1) : NULL;
}

uint64_t capture_log_count(const CaptureLog *l, uint64_t since_ns) {
        uint64_t n = 0;
        json_t *c;
        size_t i;

        json_array_foreach (capture_log_all(l), i, c)
                n += json_is_string(json_object_get(c, "session")) &&
                     json_integer_value(json_object_get(c, "at_ns")) >= (json_int_t) since_ns;
        return n;
}

static int append(CaptureLog *l, json_t *c) {
        json_t *all = capture_log_all(l);

        if (!c || json_array_append_new(all, c) < 0)
                return -ENOMEM;
        while (json_array_size(all) > CAPTURE_LOG_MAX)
                (void) json_array_remove(all, 0);
        return 0;
}

int capture_log_add(CaptureLog *l, uint64_t at_ns, const char *result, const char *reason) {
        return append(l, json_pack("{s:I, s:s, s:s}", "at_ns", (json_int_t) at_ns, "result", result,
                                   "reason", reason));
}

/* What the name of a session ends in. */
static json_int_t number_of(const char *name) {
        const char *dash = strrchr(name, '-');
        uint64_t n = 0;

        return dash && parse_u64(dash + 1, INT64_MAX - 1, &n) >= 0 ? (json_int_t) n : 0;
}

int capture_log_set(CaptureLog *l, uint64_t at_ns, const SessionMeta *m) {
        json_t *last = capture_log_last(l), *c;
        const char *id = json_string_value(json_object_get(last, "id"));
        int r;

        c = json_pack("{s:I, s:s, s:s, s:s, s:s*, s:I, s:I, s:I}", "at_ns", (json_int_t) at_ns,
                      "session", m->name, "id", m->id, "result", session_state_name(m->state),
                      "reason", m->reason, "length_ns", (json_int_t) session_meta_length_ns(m),
                      "bytes", (json_int_t) session_meta_total(m).n_bytes, "lost",
                      (json_int_t) session_meta_events_lost(m));
        if (!c)
                return -ENOMEM;
        if (id && streq(id, m->id))
                return json_array_set_new(capture_log_all(l),
                                          json_array_size(capture_log_all(l)) - 1, c) < 0
                               ? -ENOMEM
                               : 0;
        r = json_object_set_new(l->root, "next", json_integer(number_of(m->name) + 1));
        if (r < 0) {
                json_decref(c);
                return -ENOMEM;
        }
        return append(l, c);
}

void capture_log_done(CaptureLog *l) {
        json_decref(l->root);
        free(l->path);
        *l = (CaptureLog){};
}
