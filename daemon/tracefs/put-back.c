/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Values first, then marks: a value that is neither the old one nor ours is somebody else's, whenever it
 * was written, and needs no mark.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/unit.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracefs/put-back.h"

/* trace-cmd writes current_tracer without truncating it, but never alone (trace-cmd 3.1.6, start and reset). */
static const char *const tracer_files[] = {
        "current_tracer", "set_ftrace_filter", "set_ftrace_notrace",
        "set_ftrace_pid", "trace_clock",       "tracing_cpumask",
};

static uint64_t read_time(const Tracefs *fs, const char *file) {
        struct stat st;

        if (fstatat(fs->fd, file, &st, 0) < 0)
                return 0;
        return (uint64_t) st.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t) st.st_mtim.tv_nsec;
}

/* Of all that makes up a tracer: each alone tells that somebody is at work on it. */
static uint64_t read_tracer_times(const Tracefs *fs, const char *file) {
        int n_dir = (int) (strlen(file) - strlen("current_tracer"));
        uint64_t sum = 0;

        for (size_t i = 0; i < ELEMENTSOF(tracer_files); i++) {
                _cleanup_free_ char *path = NULL;

                if (asprintf(&path, "%.*s%s", n_dir, file, tracer_files[i]) < 0)
                        return 0;
                sum = sum * 31 + read_time(fs, path);
        }
        return sum;
}

/* What we go on writing while we record, without a word to the ledger. */
static bool is_ours_to_write(const char *file) {
        const char *name = basename(file);

        return streq(name, "tracing_on") || startswith(name, "set_event") ||
               streq(name, "set_ftrace_notrace_pid");
}

static bool is_tracer(const char *file) {
        return streq(basename(file), "current_tracer");
}

uint64_t put_back_mark(const Tracefs *fs, const char *file) {
        uint64_t mark;

        if (!fs->marks_writers || strstr(file, "events/") || is_ours_to_write(file))
                return 0;
        mark = is_tracer(file) ? read_tracer_times(fs, file) : read_time(fs, file);
        return mark & PUT_BACK_MARK_MAX;
}

/* Whether it is no value that a reset leaves. */
static bool is_telling(const char *file, const char *value) {
        if (control_is_list(file))
                return *value;
        return streq(basename(file), "trace_clock") && !streq(value, "local");
}

/* Lists may have thousands of words, each of which is looked for in another one. */
static int split_sorted(Strv *ret, const char *s) {
        int r = strv_split(ret, s, "\n");

        strv_sort_unique(ret);
        return r;
}

/* What we wrote, and have added since. */
static int find_ours(const PutBack *b, Strv *ret) {
        int r = strv_split(ret, b->set, "\n");

        if (r >= 0)
                r = strv_extend(ret, b->added);
        strv_sort_unique(ret);
        return r;
}

/* Whether @now is one of the values in @set; of a list, nothing but words of it, for nobody has written
 * addresses. */
static int is_among(const char *file, const char *now, const char *set) {
        _cleanup_strv_ Strv values = {}, words = {};
        int r = split_sorted(&values, set);

        if (r < 0)
                return r;
        if (!control_is_list(file)) {
                for (size_t i = 0; i < values.n; i++)
                        if (control_equal(file, now, values.items[i]))
                                return 1;
                return 0;
        }
        r = strv_split(&words, now, "\n");
        for (size_t i = 0; r >= 0 && i < words.n; i++)
                if (!strv_finds(&values, words.items[i]) && !control_is_address(words.items[i]))
                        return 0;
        return r < 0 ? r : 1;
}

/*
 * What others have added to a list.  As long as all of ours is there: a root whose module has gone may be
 * in it under the name of what came to its address, which nobody has added.
 */
static int find_added(const PutBack *b, const char *now, Strv *ret) {
        _cleanup_strv_ Strv words = {}, ours = {}, sorted = {};
        int r = strv_split(&words, now, "\n");

        if (r >= 0)
                r = strv_copy_sorted(&sorted, &words);
        for (size_t i = 0; r >= 0 && i < b->added->n; i++)
                if (!strv_finds(&sorted, b->added->items[i]))
                        return 0;
        if (r >= 0)
                r = find_ours(b, &ours);
        for (size_t i = 0; r >= 0 && i < words.n; i++)
                if (!strv_finds(&ours, words.items[i]) && !control_is_address(words.items[i]))
                        r = strv_add(ret, words.items[i]);
        return r;
}

/*
 * The best that can be told of a list without a mark: there is a word in it that was not there before and is
 * none of ours, and of ours none.  What we died over writing is short of words.
 */
static int looks_foreign(const PutBack *b, const char *now) {
        _cleanup_strv_ Strv words = {}, ours = {}, old = {};
        bool is_foreign = false;
        int r = strv_split(&words, now, "\n");

        if (r >= 0)
                r = find_ours(b, &ours);
        if (r >= 0)
                r = split_sorted(&old, b->old);
        for (size_t i = 0; r >= 0 && i < words.n; i++) {
                if (strv_finds(&ours, words.items[i]))
                        return false;
                is_foreign = is_foreign || (!strv_finds(&old, words.items[i]) &&
                                            !control_is_address(words.items[i]));
        }
        return r < 0 ? r : is_foreign;
}

static int merge(const PutBack *b, const char *now, char **ret) {
        _cleanup_strv_ Strv words = {}, added = {}, old = {};
        int r = find_added(b, now, &added);

        if (r >= 0)
                r = strv_split(&words, b->old, "\n");
        if (r >= 0)
                r = strv_copy_sorted(&old, &words);
        if (r >= 0)
                r = strv_pick(&words, &added, &old, false);
        if (r < 0)
                return r;
        *ret = added.n > 0 ? strv_join(&words, "\n") : strdup(b->old);
        return *ret ? 0 : -ENOMEM;
}

int put_back_value(const PutBack *b, const Tracefs *fs, const char *now, char **ret) {
        uint64_t mark = b->mark ? put_back_mark(fs, b->file) : 0;
        bool is_written = mark && mark != b->mark, is_list = control_is_list(b->file);
        /* No value but a list is empty: whoever died over writing one left that. */
        int is_ours = b->set && (is_list || *now) ? is_among(b->file, now, b->set) : 1;

        if (is_ours < 0)
                return is_ours;
        if (b->set && is_ours && is_telling(b->file, now))
                is_written = false;
        else if (b->set && is_list && mark == 0) {
                int r = looks_foreign(b, now);

                if (r < 0)
                        return r;
                is_written = r;
        }
        if (is_written || (!is_ours && !is_list)) {
                *ret = strdup(now);
                return *ret ? PUT_BACK_THEIRS : -ENOMEM;
        }
        if (is_list && b->set)
                return merge(b, now, ret);
        *ret = strdup(b->old);
        return *ret ? 0 : -ENOMEM;
}

static bool has_words(const Tracefs *fs, const char *file) {
        _cleanup_free_ char *now = NULL;

        return control_read(fs->fd, file, &now) >= 0 && *now;
}

bool put_back_is_bounded(const Tracefs *fs, const char *tracer_file, const char *tracer) {
        _cleanup_free_ char *filter = NULL;

        if (!streq(tracer, "function") && !streq(tracer, "function_graph"))
                return true;
        if (streq(tracer, "function_graph") && has_words(fs, "set_graph_function"))
                return true;
        return asprintf(&filter, "%.*sset_ftrace_filter",
                        (int) (strlen(tracer_file) - strlen("current_tracer")), tracer_file) >= 0 &&
               has_words(fs, filter);
}
