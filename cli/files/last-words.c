/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * linux 6.12: kernel/panic.c (panic(), oops), kernel/reboot.c (kernel_restart() and its like), kernel/watchdog.c.
 * What killed it goes before what followed from it: a panic after an oops is told as the panic, and the oops with it.
 * A fault that the machine survived did not end it.
 */

#include "base/cleanup.h"
#include "base/unit.h"
#include "cli/files/last-words.h"

#define CONSOLE "console: "
#define PANIC "a panic"
#define FAULT "a fault of the kernel"
#define SILENT                                                                                     \
        "it ended with the machine, and the kernel said nothing of it: a reset, a hang or a "      \
        "forced reboot"

static const struct {
        const char *words, *what;
} ends[] = {
        { "Kernel panic - not syncing", PANIC },
        { "watchdog: BUG: ", "a lockup" }, /* before what it contains */
        { "BUG: ", FAULT },
        { "Oops: ", FAULT },
        { "kernel BUG at ", FAULT },
        { "reboot: Restarting system", "a reboot" },
        { "reboot: Power down", "a power-off" },
        { "sysrq: Resetting", "a reset that somebody asked for (SysRq)" },
        { "reboot: System halted", "a halt" },
};

#define AT_ONCE_NS                                                                                 \
        (10 * NSEC_PER_SEC) /* what belongs together, or to the end, comes within this time */

/* The first that is said of a fault says most: a panic that follows says "Fatal exception" alone. */
static void note_fault(LastWords *w, const char *found, uint64_t ns) {
        if (*w->fault && ns - w->fault_ns <= AT_ONCE_NS)
                return;
        (void) snprintf(w->fault, sizeof(w->fault), "%s", found);
        w->fault_ns = ns;
}

void last_words_step(LastWords *w, const Step *s) {
        const char *message =
                s->kind == STEP_OTHER && s->text ? startswith(s->text, CONSOLE) : NULL;

        w->now_ns = MAX(w->now_ns, s->timestamp_ns);
        for (size_t i = 0; message && i < ELEMENTSOF(ends); i++) {
                const char *found = strstr(message, ends[i].words);

                if (!found || (w->what && streq(w->what, PANIC) && !streq(ends[i].what, PANIC)))
                        continue;
                if (streq(ends[i].what, FAULT))
                        note_fault(w, found, s->timestamp_ns);
                w->what = ends[i].what;
                w->said_ns = s->timestamp_ns;
                (void) snprintf(w->text, sizeof(w->text), "%s", found);
                return;
        }
}

bool last_words_are_due(const SessionMeta *m) {
        const char *boot_id = startswith(m->name, "blackbox-");

        /* a snapshot of a black box has an origin as well, and may have any name */
        return m->spec.black_box && m->origin && boot_id && m->boot_id &&
               startswith(boot_id, m->boot_id);
}

int last_words_note(const LastWords *w, Strv *notes) {
        uint64_t ago_ns = w->now_ns - w->said_ns;

        if (!w->what)
                return strv_add(notes, SILENT);
        if (ago_ns > AT_ONCE_NS)
                return strv_addf(notes, SILENT "; %s before, it said \"%s\"",
                                 FORMAT_DURATION(ago_ns), w->text);
        if (streq(w->what, PANIC) && *w->fault && w->said_ns - w->fault_ns <= AT_ONCE_NS)
                return strv_addf(notes, "it ended with the machine, by %s: \"%s\", after \"%s\"",
                                 w->what, w->text, w->fault);
        return strv_addf(notes, "it ended with the machine, by %s: \"%s\"", w->what, w->text);
}
