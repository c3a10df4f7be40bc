/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Reading is normalising: comments, brackets and "no pid" go, so that what was read can be
 * compared and written.  Writing is one open, one or more writes, and a close whose error counts,
 * because several of these files act only when they are closed.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "daemon/process/spawn.h"
#include "daemon/tracefs/control.h"

#define PACE_NS (5 * NSEC_PER_SEC)      /* after so long it is known how fast the kernel is */
#define PACE_ALL_NS (60 * NSEC_PER_SEC) /* that all words may take */
#define GRAPH_SHOWN_BYTES 2048          /* a page has more */

typedef enum ControlKind {
        CONTROL_VALUE,
        CONTROL_CHOICE,
        CONTROL_SIZE,
        CONTROL_MASK,
        CONTROL_LIST,
        CONTROL_PIDS,
        CONTROL_EVENT_PIDS,
        CONTROL_FILTER,
        CONTROL_SWITCH,
        CONTROL_EVENT_FILTER,
} ControlKind;

#define ALL "#### all functions enabled ####"
#define NONE "#### no functions disabled ####"

typedef struct ControlName {
        const char *name;
        ControlKind kind;
        const char *empty; /* what an empty list shows */
} ControlName;

static const ControlName names[] = {
        { "buffer_size_kb", CONTROL_SIZE, "" },
        { "set_ftrace_filter", CONTROL_FILTER, ALL },
        { "set_ftrace_notrace", CONTROL_FILTER, NONE },
        { "set_ftrace_notrace_pid", CONTROL_PIDS, "no pid" },
        { "set_ftrace_pid", CONTROL_PIDS, "no pid" },
        { "set_graph_function", CONTROL_LIST, ALL },
        { "set_graph_notrace", CONTROL_LIST, NONE },
        { "trace_clock", CONTROL_CHOICE, "" },
        { "tracing_cpumask", CONTROL_MASK, "" },
        { "set_event_pid", CONTROL_EVENT_PIDS, "" },
        { "set_event_notrace_pid", CONTROL_EVENT_PIDS, "" },
        { "enable", CONTROL_SWITCH, "" },
        { "filter", CONTROL_EVENT_FILTER, "" },
        { NULL, CONTROL_VALUE, "" }, /* any other */
};

static const ControlName *find_name(const char *path) {
        const ControlName *n = names;

        while (n->name && !streq(n->name, basename(path)))
                n++;
        return n;
}

static ControlKind kind_of(const char *path) {
        return find_name(path)->kind;
}

const char *control_shown_empty(const char *path) {
        return find_name(path)->empty;
}

static bool kind_is_list(ControlKind kind) {
        return kind == CONTROL_LIST || kind == CONTROL_PIDS || kind == CONTROL_EVENT_PIDS ||
               kind == CONTROL_FILTER;
}

bool control_hides(const char *path, const char *value) {
        return kind_of(path) == CONTROL_EVENT_PIDS && *value == 0;
}

bool control_is_read_only(int tracefs_fd, const char *path) {
        struct stat st;

        return fstatat(tracefs_fd, path, &st, 0) >= 0 &&
               (st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
}

bool control_is_list(const char *path) {
        return kind_is_list(kind_of(path));
}

/*
 * The words of a list.  An empty list is shown as a '#' line or as "no pid"; a function of a module
 * as "name [module]"; a command as "name:traceoff:unlimited"; a filter for a module that is not
 * loaded yet as "*:mod:NAME" (linux 6.1 kernel/trace/ftrace.c, t_show(), g_show(), fpid_show()).
 */
static int read_words(const char *text, ControlKind kind, char **ret) {
        _cleanup_buf_ Buf b = BUF_INIT;

        while (*text) {
                size_t n_line = strcspn(text, "\n"), n = strcspn(text, " \t\n");
                bool is_command = kind == CONTROL_FILTER && memchr(text, ':', n) &&
                                  !memmem(text, n, ":mod:", 5);

                if (n > 0 && *text != '#' && strncmp(text, "no pid", 6) != 0 && !is_command) {
                        if (b.n_data > 0)
                                buf_adds(&b, "\n");
                        buf_add(&b, text, n);
                }
                text += n_line;
                text += *text == '\n';
        }
        return buf_take_string(&b, ret);
}

/*
 * Of set_graph_function and set_graph_notrace the kernel shows whoever comes for another page the first words again, as
 * many as there are left (linux 6.12 kernel/trace/ftrace.c, g_start(); seen on 6.1, 6.12 and 7.2: of 436 words 194, and
 * 436 lines).  What is repeated stands for as many that are not shown.
 */
static int count_unshown(char **text) {
        _cleanup_strv_ Strv words = {};
        size_t n_words;
        char *all;
        int r;

        if (strlen(*text) < GRAPH_SHOWN_BYTES)
                return 0;
        r = strv_split(&words, *text, "\n");
        n_words = words.n;
        strv_sort_unique(&words);
        if (r >= 0 && words.n < n_words)
                r = strv_addf(&words, CONTROL_UNSHOWN "%zu more", n_words - words.n);
        if (r < 0)
                return r;
        all = strv_join(&words, "\n");
        if (!all)
                return -ENOMEM;
        free(*text);
        *text = all;
        return 0;
}

size_t control_n_unshown(const Strv *words) {
        const char *n = NULL;

        for (size_t i = 0; i < words->n && !n; i++)
                n = startswith(words->items[i], CONTROL_UNSHOWN);
        return n ? strtoul(n, NULL, 10) : 0;
}

int control_read(int tracefs_fd, const char *path, char **ret) {
        _cleanup_free_ char *text = NULL;
        ControlKind kind = kind_of(path);
        const char *instead = NULL;
        size_t n;
        int r = file_read(tracefs_fd, path, &text, &n, CONTROL_MAX_BYTES);

        if (r < 0)
                return r;
        if (kind == CONTROL_PIDS && n == 0)
                instead = CONTROL_PIDS_ENDED;
        /* Below a filter that was refused, and does not act, the kernel says why. */
        if (kind == CONTROL_EVENT_FILTER && strchr(text, '\n') != text + n - 1)
                instead = CONTROL_FILTER_REFUSED;
        if (instead) {
                *ret = strdup(instead);
                return *ret ? 0 : -ENOMEM;
        }
        if (kind_is_list(kind)) {
                r = read_words(text, kind, ret);
                return r >= 0 && kind == CONTROL_LIST ? count_unshown(ret) : r;
        }

        while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
                text[--n] = 0;
        if (kind == CONTROL_SWITCH)
                text[strcspn(text, "*")] = 0;
        if (kind == CONTROL_CHOICE) {
                char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

                if (close) {
                        *close = 0;
                        memmove(text, open + 1, (size_t) (close - open));
                }
        }
        *ret = TAKE_PTR(text);
        return 0;
}

int control_read_list(int tracefs_fd, const char *path, Strv *ret) {
        _cleanup_free_ char *text = NULL;

        return control_read(tracefs_fd, path, &text) ?: strv_split(ret, text, "\n");
}

int control_read_tasks(int tracefs_fd, const char *path, Strv *ret) {
        _cleanup_free_ char *text = NULL;
        int r = control_read(tracefs_fd, path, &text);

        if (r >= 0 && !streq(text, CONTROL_PIDS_ENDED))
                r = strv_split(ret, text, "\n");
        strv_sort_unique(ret);
        return r;
}

/*
 * The size that "7 (expanded: 1408)" stands for.  7 is what the kernel allocates until something
 * is traced for the first time; no write brings that state back (linux 6.1 kernel/trace/trace.c,
 * tracing_entries_read() and tracing_update_buffers()), so the way back leads to the size the
 * kernel itself would have expanded to.
 */
static const char *size_skip(const char *s) {
        const char *expanded = strstr(s, "(expanded: ");

        return expanded ? expanded + strlen("(expanded: ") : s;
}

static bool mask_equal(const char *a, const char *b) {
        a += strspn(a, "0,");
        b += strspn(b, "0,");
        while (*a && *a == *b) {
                a += 1 + strspn(a + 1, ",");
                b += 1 + strspn(b + 1, ",");
        }
        return *a == *b;
}

/* True if @shown, but for @n_unshown of them, are @words: in both a word may stand for several functions. */
static bool is_shown_of(const Strv *shown, size_t n_unshown, const Strv *words) {
        size_t n = 0;

        for (size_t i = 0; i < shown->n; i++)
                if (strv_finds(words, shown->items[i]))
                        n++;
                else if (!startswith(shown->items[i], CONTROL_UNSHOWN))
                        return false;
        return words->n <= n + n_unshown;
}

static bool list_equal(const char *a, const char *b) {
        _cleanup_strv_ Strv x = {}, y = {};
        size_t n, m;

        if (streq(a, b))
                return true;
        if (strv_split(&x, a, "\n") < 0 || strv_split(&y, b, "\n") < 0)
                return false;
        strv_sort_unique(&x);
        strv_sort_unique(&y);
        n = control_n_unshown(&x);
        m = control_n_unshown(&y);
        if ((n > 0) != (m > 0))
                return n > 0 ? is_shown_of(&x, n, &y) : is_shown_of(&y, m, &x);
        return strv_equal(&x, &y);
}

bool control_equal(const char *path, const char *a, const char *b) {
        ControlKind kind = kind_of(path);

        if (kind == CONTROL_SIZE)
                return strtoul(size_skip(a), NULL, 10) == strtoul(size_skip(b), NULL, 10) &&
                       (*a == 'X') == (*b == 'X');
        if (kind == CONTROL_MASK)
                return mask_equal(a, b);
        return kind_is_list(kind) ? list_equal(a, b) : streq(a, b);
}

/* One word, one newline, one write(). */
static int write_word(int fd, const char *path, const char *word, size_t n_word) {
        _cleanup_free_ char *line = NULL;
        ssize_t n;

        if (asprintf(&line, "%.*s\n", (int) n_word, word) < 0)
                return -ENOMEM;
        log_debug("control", "write %zu bytes \"%.*s\" to %s", n_word + 1, (int) MIN(n_word, 200U),
                  word, path);
        do
                n = write(fd, line, n_word + 1);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return ORIGIN(-errno);
        return (size_t) n == n_word + 1 ? 0 : -EIO;
}

/* Of one more word: whether all will have taken too long. */
static bool is_too_slow(ControlPace *p) {
        p->took_ns = now_ns(CLOCK_MONOTONIC) - p->begin_ns;
        return ++p->n_written < p->n_words && p->took_ns > PACE_NS &&
               p->took_ns / p->n_written > PACE_ALL_NS / p->n_words;
}

/* @skipped as for control_restore(); @pace as for control_write_paced(). */
static int write_each(int fd, const char *path, const char *words, Strv *skipped,
                      ControlPace *pace) {
        ControlKind kind = kind_of(path);
        bool at_once = kind == CONTROL_PIDS || kind == CONTROL_EVENT_PIDS;
        int r = 0;

        if (pace && pace->begin_ns == 0)
                pace->begin_ns = now_ns(CLOCK_MONOTONIC);
        while (*words && r >= 0) {
                size_t n = at_once ? strlen(words) : strcspn(words, "\n");

                r = write_word(fd, path, words, n);
                if (skipped && (r == -EINVAL || r == -ENOENT || r == -ESRCH)) {
                        log_debug("control", "%s no longer takes \"%.*s\"", path, (int) n, words);
                        r = strv_addn(skipped, words, n);
                }
                words += n;
                words += *words == '\n';
                if (r >= 0 && pace && is_too_slow(pace))
                        return CONTROL_E_SLOW;
        }
        return r;
}

/* Of "1408)" four bytes. */
static size_t n_value(ControlKind kind, const char *value) {
        return strcspn(value, kind == CONTROL_EVENT_FILTER ? "\n" : " )\n");
}

/* Returns what is written of a value, before it is cut to n_value() or split into words. */
static const char *written(ControlKind kind, const char *value) {
        if (kind == CONTROL_PIDS && streq(value, CONTROL_PIDS_ENDED))
                return ""; /* no write brings it back, and nobody wants it */
        if (kind == CONTROL_EVENT_FILTER &&
            (streq(value, "none") || streq(value, CONTROL_FILTER_REFUSED)))
                return "0"; /* removes a filter, and the complaint about one */
        return kind == CONTROL_SIZE ? size_skip(value) : value;
}

static int write_all(int tracefs_fd, const char *path, const char *value, Strv *skipped,
                     ControlPace *pace) {
        ControlKind kind = kind_of(path);
        int fd, r, k;

        log_debug("control", "truncate %s", path);
        fd = openat(tracefs_fd, path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (fd < 0)
                return ORIGIN(-errno);
        value = written(kind, value);
        r = kind_is_list(kind) ? write_each(fd, path, value, skipped, pace)
                               : write_word(fd, path, value, n_value(kind, value));
        k = spawn_close(fd);
        return r ?: k;
}

int control_restore(int tracefs_fd, const char *path, const char *value, Strv *skipped) {
        return write_all(tracefs_fd, path, value, skipped, NULL);
}

int control_text(const char *path, const char *value, char **ret) {
        ControlKind kind = kind_of(path);

        value = written(kind, value);
        *ret = kind_is_list(kind) ? strdup(value) : strndup(value, n_value(kind, value));
        return *ret ? 0 : -ENOMEM;
}

int control_write(int tracefs_fd, const char *path, const char *value) {
        return write_all(tracefs_fd, path, value, NULL, NULL);
}

int control_write_paced(int tracefs_fd, const char *path, const char *value, ControlPace *pace) {
        return write_all(tracefs_fd, path, value, NULL, pace);
}

static int change_list(int tracefs_fd, const char *path, const Strv *words, bool removes) {
        int fd, r = control_prepare(tracefs_fd, path, words, removes, &fd), k = control_install(fd);

        return r ?: k;
}

int control_append(int tracefs_fd, const char *path, const Strv *words) {
        return change_list(tracefs_fd, path, words, false);
}

int control_remove(int tracefs_fd, const char *path, const Strv *words) {
        return change_list(tracefs_fd, path, words, true);
}

int control_prepare(int tracefs_fd, const char *path, const Strv *words, bool removes,
                    int *ret_fd) {
        _cleanup_strv_ Strv absent = {}, marked = {};
        _cleanup_free_ char *text = NULL;
        int r = 0;

        *ret_fd = -EBADF;
        for (size_t i = 0; r >= 0 && removes && i < words->n; i++) /* to be taken out */
                r = strv_addf(&marked, "!%s", words->items[i]);
        if (r < 0)
                return r;
        text = strv_join(removes ? &marked : words, "\n");
        if (!text)
                return -ENOMEM;
        *ret_fd = openat(tracefs_fd, path, O_WRONLY | O_CLOEXEC | O_APPEND);
        if (*ret_fd < 0)
                return ORIGIN(-errno);
        return write_each(*ret_fd, path, text, removes ? &absent : NULL, NULL);
}

int control_install(int fd) {
        return fd < 0 ? 0 : spawn_close(fd);
}
