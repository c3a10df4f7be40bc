/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The command line says which instance it is; its files say what it holds.  Neither is believed alone. */

#include "base/io.h"
#include "base/unit.h"
#include "daemon/instances/instance.h"
#include "daemon/tracefs/control.h"
#include "meta/event-choice.h"

static int fill(BlackBox *b) {
        Instance *i = &b->instance;
        _cleanup_free_ char *size = NULL;
        int r = control_read(i->fs->fd, TRACEFS_PATH("%sbuffer_size_kb", i->dir), &size);

        if (r >= 0)
                r = tracefs_read_page_bytes(i->fs, i->dir, &b->page_bytes);
        if (r < 0)
                return r;
        b->cpu_bytes = strtoull(size, NULL, 10) * 1024;
        for (size_t k = 0; r >= 0 && k < i->n_cpus; k++)
                r = instance_read_account(i, &(CpuAccount){ .cpu = i->cpus[k].cpu });
        return MIN(r, 0);
}

int black_box_find(const Tracefs *fs, BlackBox *ret) {
        _cleanup_free_ char *text = NULL, *name = NULL;
        BlackBox b = {};
        int r;

        if (fs->fd < 0)
                return BLACK_BOX_E_NONE;
        r = file_read(fs->root_fd, "proc/cmdline", &text, NULL, BOOT_INSTANCE_COMMAND_LINE_MAX);
        if (r < 0)
                return r == -ENOENT ? BLACK_BOX_E_NONE : r;
        for (const char *s = text; *s && !name; s = boot_instance_next_word(s)) {
                size_t n = boot_instance_parse(s);

                if (n == 0)
                        continue;
                name = strndup(s + strlen(BOOT_INSTANCE_WORD), n);
                if (!name)
                        return -ENOMEM;
                if (faccessat(fs->fd, TRACEFS_PATH("instances/%s/last_boot_info", name), F_OK, 0) <
                    0)
                        name = mfree(name);
        }
        if (!name)
                return BLACK_BOX_E_NONE;
        r = instance_init(&b.instance, fs, name, true) ?: fill(&b);
        if (r < 0)
                instance_done(&b.instance);
        else
                *ret = b;
        return r;
}

static int refuse_busy(const Instance *i, const char *by, Refusal *refusal) {
        return refusal_set_of(refusal, REFUSAL_BUSY, "holder", i->name,
                              "the black box, instance %s, is in use by %s, and there is only one. "
                              "Stop that first.",
                              i->name, by);
}

int black_box_admit(const Tracefs *fs, const Strv *ours, bool force, Refusal *refusal) {
        _cleanup_free_ char *tracer = NULL;
        _cleanup_instance_ Instance i = {};
        BlackBox b = {};
        int r = black_box_find(fs, &b);

        if (r < 0)
                return r;
        if (r == BLACK_BOX_E_NONE)
                return refusal_set(
                        refusal, REFUSAL_NOT_SUPPORTED, json_pack("{ss}", "what", "black_box"),
                        "this host was booted without memory in which a trace would "
                        "survive a reboot. \"ftracectl doctor --black-box\" says what it "
                        "takes; --in-kernel does without, and survives no reboot.");
        i = b.instance;
        if (strv_contains(ours, i.dir))
                return refuse_busy(&i, "another session of ftraced", refusal);
        r = control_read(fs->fd, TRACEFS_PATH("%scurrent_tracer", i.dir), &tracer);
        if (r < 0)
                return r;
        if (!streq(tracer, "nop"))
                return refuse_busy(&i, tracer, refusal);
        if (instance_n_waiting(&i) > 0 && !force)
                return refusal_set(refusal, REFUSAL_BUSY, json_pack("{ss}", "holder", i.name),
                                   "the black box, instance %s, holds %s events that are of no "
                                   "session here, of an earlier boot perhaps, and recording would "
                                   "erase them. Save %s/%strace if they matter, and then say "
                                   "--force.",
                                   i.name, FORMAT_COUNT(instance_n_waiting(&i)), fs->path, i.dir);
        return 0;
}
