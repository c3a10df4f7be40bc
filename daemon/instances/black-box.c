/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The command line says which instance it is; its files say what it holds.  Neither is believed alone. */

#include <fcntl.h>

#include "base/io.h"
#include "base/unit.h"
#include "daemon/instances/instance.h"
#include "daemon/tracefs/control.h"
#include "meta/event-choice.h"

void black_box_done(BlackBox *b) {
        free(b->name);
        free(b->cpus);
        free(b->n_events);
        *b = (BlackBox){};
}

uint64_t black_box_n_events(const BlackBox *b) {
        uint64_t n = 0;

        for (size_t i = 0; i < b->n_cpus; i++)
                n += b->n_events[i];
        return n;
}

static int fill(const Tracefs *fs, BlackBox *b) {
        const char *dir = TRACEFS_PATH("instances/%s/", b->name);
        _cleanup_free_ char *size = NULL;
        int r = control_read(fs->fd, TRACEFS_PATH("%sbuffer_size_kb", dir), &size);

        if (r >= 0)
                r = tracefs_read_page_bytes(fs, dir, &b->page_bytes);
        if (r >= 0)
                r = tracefs_get_cpus(fs, &b->cpus, &b->n_cpus);
        if (r < 0)
                return r;
        b->cpu_bytes = strtoull(size, NULL, 10) * 1024;
        b->n_events = calloc(b->n_cpus, sizeof(*b->n_events));
        if (!b->n_events)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < b->n_cpus; i++) {
                uint64_t stats[_STAT_N] = {};

                r = tracefs_read_stats(fs, dir, b->cpus[i], stats);
                b->n_events[i] = stats[STAT_ENTRIES];
        }
        return r;
}

int black_box_find(const Tracefs *fs, BlackBox *ret) {
        _cleanup_black_box_ BlackBox b = {};
        _cleanup_free_ char *text = NULL;
        int r;

        if (fs->fd < 0)
                return BLACK_BOX_E_NONE;
        r = file_read(fs->root_fd, "proc/cmdline", &text, NULL, BOOT_INSTANCE_COMMAND_LINE_MAX);
        if (r < 0)
                return r == -ENOENT ? BLACK_BOX_E_NONE : r;
        for (const char *s = text; *s && !b.name; s = boot_instance_next_word(s)) {
                size_t n = boot_instance_parse(s);

                if (n == 0)
                        continue;
                b.name = strndup(s + strlen(BOOT_INSTANCE_WORD), n);
                if (!b.name)
                        return -ENOMEM;
                if (faccessat(fs->fd, TRACEFS_PATH("instances/%s/last_boot_info", b.name), F_OK,
                              0) < 0)
                        b.name = mfree(b.name);
        }
        if (!b.name)
                return BLACK_BOX_E_NONE;
        r = fill(fs, &b);
        if (r < 0)
                return r;
        *ret = TAKE(b, (BlackBox){});
        return 0;
}

int black_box_open_raw(const BlackBox *b, const Tracefs *fs, uint32_t cpu) {
        return tracefs_open(fs, O_RDONLY | O_NONBLOCK, "instances/%s/per_cpu/cpu%u/trace_pipe_raw",
                            b->name, cpu);
}

static int refuse_busy(const BlackBox *b, const char *by, Refusal *refusal) {
        return refusal_set_of(refusal, REFUSAL_BUSY, "holder", b->name,
                              "the black box, instance %s, is in use by %s, and there is only one. "
                              "Stop that first.",
                              b->name, by);
}

int black_box_admit(const Tracefs *fs, const Strv *ours, bool force, Refusal *refusal) {
        _cleanup_free_ char *tracer = NULL;
        _cleanup_black_box_ BlackBox b = {};
        char count[UNIT_TEXT_MAX];
        const char *dir;
        int r = black_box_find(fs, &b);

        if (r < 0)
                return r;
        if (r == BLACK_BOX_E_NONE)
                return refusal_set(refusal, REFUSAL_NOT_SUPPORTED,
                                   json_pack("{ss}", "what", "black_box"),
                                   "this host was booted without memory in which a trace would "
                                   "survive a reboot. `ftracectl doctor --black-box` says what it "
                                   "takes; --in-kernel does without, and survives no reboot.");
        dir = TRACEFS_PATH("instances/%s/", b.name);
        if (strv_contains(ours, dir))
                return refuse_busy(&b, "another session of ftraced", refusal);
        r = control_read(fs->fd, TRACEFS_PATH("%scurrent_tracer", dir), &tracer);
        if (r < 0)
                return r;
        if (!streq(tracer, "nop"))
                return refuse_busy(&b, tracer, refusal);
        if (black_box_n_events(&b) > 0 && !force)
                return refusal_set(refusal, REFUSAL_BUSY, json_pack("{ss}", "holder", b.name),
                                   "the black box, instance %s, holds %s events that are of no "
                                   "session here, of an earlier boot perhaps, and recording would "
                                   "erase them. Save %s/%strace if they matter, and then say "
                                   "--force.",
                                   b.name, format_count(count, black_box_n_events(&b)), fs->path,
                                   dir);
        return 0;
}
