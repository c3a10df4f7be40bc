/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Three parallel lists.  The split into "collect" and "apply" is what lets one
 * write of the ledger precede any number of changes.
 */

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "daemon/knob.h"
#include "daemon/plan.h"

/* Sizes that differ by CPU read as "X" (linux 6.1 kernel/trace/trace.c, tracing_entries_read()). */
static int save_sizes_by_cpu(const Tracefs *fs, Ledger *l, const char *session) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n;
        int r;

        r = tracefs_get_cpus(fs, &cpus, &n);
        for (size_t i = 0; r >= 0 && i < n; i++) {
                _cleanup_free_ char *value = NULL;
                char file[64];

                (void) snprintf(file, sizeof(file), "per_cpu/cpu%u/buffer_size_kb", cpus[i]);
                r = knob_read(fs->fd, file, &value);
                if (r >= 0)
                        r = ledger_add(l, session, LEDGER_FILE, file, value);
        }
        return r;
}

int plan_add(Plan *p, const Tracefs *fs, Ledger *l, const char *session, const char *file,
             const char *value) {
        return plan_add_text(p, fs, l, session, file, value, value);
}

int plan_add_text(Plan *p, const Tracefs *fs, Ledger *l, const char *session, const char *file,
                  const char *value, const char *text) {
        _cleanup_free_ char *now = NULL;
        int r;

        r = knob_read(fs->fd, file, &now);
        if (r == -ENOENT)
                return 0;
        if (r < 0)
                return r;
        if (knob_equal(file, now, value))
                return 0;
        if (session) {
                if (streq(file, "buffer_size_kb") && *now == 'X')
                        r = save_sizes_by_cpu(fs, l, session);
                else
                        r = ledger_add(l, session, LEDGER_FILE, file, now);
        }
        if (r >= 0)
                r = strv_add(&p->files, file);
        if (r >= 0)
                r = strv_add(&p->values, value);
        return r < 0 ? r : strv_add(&p->texts, text);
}

/* Newer kernels round a size up to whole pages and say so. */
static bool is_applied(const char *file, const char *now, const char *value) {
        if (knob_equal(file, now, value))
                return true;
        return strstr(file, "buffer_size_kb") && *now != 'X' &&
               strtoul(now, NULL, 10) >= strtoul(value, NULL, 10);
}

int plan_apply(const Plan *p, const Tracefs *fs, const char **ret_file) {
        for (size_t i = 0; i < p->files.n; i++) {
                const char *file = p->files.items[i], *value = p->values.items[i];
                _cleanup_free_ char *now = NULL;
                int r;

                r = knob_write(fs->fd, file, p->texts.items[i]);
                if (r >= 0)
                        r = knob_read(fs->fd, file, &now);
                if (r >= 0 && !is_applied(file, now, value)) {
                        log_debug("knob", "%s says \"%.200s\" after \"%.200s\" was written", file,
                                  now, value);
                        r = -EIO;
                }
                if (r < 0) {
                        *ret_file = file;
                        return r;
                }
        }
        return 0;
}

void plan_done(Plan *p) {
        strv_done(&p->files);
        strv_done(&p->values);
        strv_done(&p->texts);
}
