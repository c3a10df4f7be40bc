/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Values first, then marks: a value that is neither the old one nor ours is somebody else's, whenever it
 * was written, and needs no mark.
 */

#include <sys/stat.h>

#include "base/unit.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracefs/ledger.h"

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

/* "instances/x/" of "instances/x/current_tracer". */
static int n_dir(const char *tracer_file) {
        return (int) (strlen(tracer_file) - strlen("current_tracer"));
}

bool ledger_is_tracer(const char *file) {
        return streq(basename(file), "current_tracer");
}

/* What we go on writing while we record, without a word to the ledger. */
static bool is_ours_to_write(const char *name) {
        return streq(name, "tracing_on") || startswith(name, "set_event") ||
               streq(name, "set_ftrace_notrace_pid");
}

uint64_t put_back_mark(const Tracefs *fs, const char *file) {
        uint64_t mark = 0;

        if (!fs->is_real || strstr(file, "events/") || is_ours_to_write(basename(file)))
                return 0;
        if (!ledger_is_tracer(file))
                return read_time(fs, file) & PUT_BACK_MARK_MAX;
        /* Each alone tells that somebody is at work on it. */
        for (size_t i = 0; i < ELEMENTSOF(tracer_files); i++)
                mark = mark * 31 +
                       read_time(fs, TRACEFS_PATH("%.*s%s", n_dir(file), file, tracer_files[i]));
        return mark & PUT_BACK_MARK_MAX;
}

/* @r: whose it is. */
static int say(char **ret, const char *value, int r) {
        *ret = strdup(value);
        return *ret ? r : -ENOMEM;
}

/* Lists may have thousands of words, each of which is looked for in another one. */
static int split_sorted(Strv *ret, const char *s) {
        int r = strv_split(ret, s, "\n");

        strv_sort_unique(ret);
        return r;
}

/* Our words that are in set_graph_function by now, beside those that it was made to say first. */
static int find_roots(const Ledger *l, const char *file, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && streq(file, "set_graph_function") && i < l->n; i++) {
                const char *word = startswith(l->records[i].file, LEDGER_ROOTS_DIR);

                if (word)
                        r = strv_add(ret, word);
        }
        return r;
}

/* A list that we made say something.  Nobody has written addresses. */
static int list_value(const Ledger *l, const LedgerRecord *e, const char *now, uint64_t mark,
                      char **ret) {
        _cleanup_strv_ Strv words = {}, sorted = {}, set = {}, roots = {}, ours = {}, old = {},
                            back = {}, added = {};
        bool is_ours = true, has_ours = false, has_new = false, is_written;
        int r = strv_split(&words, now, "\n")
                        ?: strv_copy_sorted(&sorted, &words)
                        ?: split_sorted(&set, e->set)
                        ?: find_roots(l, e->file, &roots)
                        ?: strv_copy(&ours, &set)
                        ?: strv_extend(&ours, &roots);

        strv_sort_unique(&ours);
        r = r ?: split_sorted(&old, e->old);
        for (size_t i = 0; r >= 0 && i < words.n; i++) {
                const char *word = words.items[i];

                if (control_is_address(word))
                        continue;
                is_ours = is_ours && strv_finds(&set, word);
                if (strv_finds(&ours, word)) {
                        has_ours = true;
                        continue;
                }
                has_new = has_new || !strv_finds(&old, word);
                r = strv_add(&added, word);
        }
        if (r < 0)
                return r;
        /* Without a mark, the best that can be told is a word that was not there before and is none of ours, and of
         * ours none.  What we died over writing is short of words. */
        is_written = mark == 0 ? has_new && !has_ours : mark != e->mark;
        if (is_written && !(is_ours && *now)) /* a reset leaves it empty */
                return say(ret, now, PUT_BACK_THEIRS);
        /* A root whose module has gone may be there under the name of what came to its address, which nobody has added. */
        for (size_t i = 0; i < roots.n; i++)
                if (!strv_finds(&sorted, roots.items[i]))
                        return say(ret, e->old, 0);
        if (added.n == 0)
                return say(ret, e->old, 0);
        r = strv_split(&back, e->old, "\n") ?: strv_pick(&back, &added, &old, false);
        if (r < 0)
                return r;
        *ret = strv_join(&back, "\n");
        return *ret ? 0 : -ENOMEM;
}

static int is_among(const char *file, const char *now, const char *set) {
        _cleanup_strv_ Strv values = {};
        int r = strv_split(&values, set, "\n");

        for (size_t i = 0; r == 0 && i < values.n; i++)
                r = control_equal(file, now, values.items[i]);
        return r;
}

int put_back_value(const Ledger *l, const LedgerRecord *e, const char *now, char **ret) {
        uint64_t mark = e->mark ? put_back_mark(l->fs, e->file) : 0;
        bool is_written = mark && mark != e->mark;
        int is_ours = 1;

        if (control_is_list(e->file) && e->set)
                return list_value(l, e, now, mark, ret);
        /* No value but a list is empty: whoever died over writing one left that. */
        if (e->set && *now)
                is_ours = is_among(e->file, now, e->set);
        if (is_ours < 0)
                return is_ours;
        /* A reset does not leave another clock. */
        if (e->set && is_ours && streq(basename(e->file), "trace_clock") && !streq(now, "local"))
                is_written = false;
        return is_written || !is_ours ? say(ret, now, PUT_BACK_THEIRS) : say(ret, e->old, 0);
}

static bool has_words(const Tracefs *fs, const char *file) {
        _cleanup_free_ char *now = NULL;

        return control_read(fs->fd, file, &now) >= 0 && *now;
}

bool put_back_is_bounded(const Tracefs *fs, const char *tracer_file, const char *tracer) {
        if (!streq(tracer, "function") && !streq(tracer, "function_graph"))
                return true;
        if (streq(tracer, "function_graph") && has_words(fs, "set_graph_function"))
                return true;
        return has_words(fs,
                         TRACEFS_PATH("%.*sset_ftrace_filter", n_dir(tracer_file), tracer_file));
}
