/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Whether stderr is the journal is decided once, from JOURNAL_STREAM, which
 * systemd sets to the device and inode of the stream it connected.
 */

#include <stdarg.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/log.h"

static const char *log_program;
static bool log_prefix;
static int log_max_priority = LOG_DEBUG;
static size_t log_width;

void log_setup(const char *program) {
        const char *e = getenv("JOURNAL_STREAM");
        uintmax_t dev, ino;
        struct stat st;

        log_program = program;
        log_prefix = e && sscanf(e, "%ju:%ju", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) >= 0 &&
                     st.st_dev == dev && st.st_ino == ino;
}

void log_set_width(size_t n_columns) {
        log_width = n_columns;
}

void log_set_max_priority(int priority) {
        log_max_priority = priority;
}

bool log_is_shown(int priority) {
        return priority <= log_max_priority;
}

bool log_is_journal(void) {
        return log_prefix;
}

/* @place: behind it. */
_printf_(3, 0) static void log_messagev(int priority, const char *place, const char *format,
                                        va_list ap) {
        char said[2048], line[sizeof(said) * 2];
        size_t n;

        if (!log_is_shown(priority))
                return;
        (void) vsnprintf(said, sizeof(said), format, ap);
        n = strlen(said);
        (void) snprintf(said + n, sizeof(said) - n, "%s", place);
        (void) plain_copy(line, sizeof(line), said, strlen(said), PLAIN_WORD, &n);
        if (log_prefix)
                fprintf(stderr, "<%i>%s\n", priority, line);
        else if (log_program && log_width > 0) {
                _cleanup_buf_ Buf whole = BUF_INIT, folded = BUF_INIT;

                buf_printf(&whole, "%s: %s\n", log_program, line);
                buf_add_folded(&folded, whole.data, whole.n_data, log_width, SIZE_MAX);
                (void) fwrite(folded.data, 1, folded.n_data, stderr);
        } else if (log_program)
                fprintf(stderr, "%s: %s\n", log_program, line);
        else
                fprintf(stderr, "%s\n", line);
}

void log_message(int priority, const char *format, ...) {
        int saved = errno;
        va_list ap;

        va_start(ap, format);
        log_messagev(priority, "", format, ap);
        va_end(ap);
        errno = saved;
}

int log_message_errno(int priority, int error, const char *format, ...) {
        char place[ORIGIN_TEXT_MAX] = "";
        va_list ap;
        Origin o;

        error = error < 0 ? -error : error;
        if (log_debug_enabled("origin") && origin_find(&o, error))
                (void) snprintf(place, sizeof(place), " [%s:%i, %s()]", o.file, o.line, o.function);
        errno = error;
        va_start(ap, format);
        log_messagev(priority, place, format, ap);
        va_end(ap);
        return -error;
}
