/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * linux 6.12: kernel/panic.c (panic(), oops), kernel/reboot.c (kernel_restart() and its like), kernel/watchdog.c.
 * What killed it goes before what followed from it: a panic after an oops is told as the panic, which names the
 * reason.
 */

#include "base/cleanup.h"
#include "cli/files/last-words.h"

#define CONSOLE "console: "

static const struct {
        const char *words, *what;
} ends[] = {
        { "Kernel panic - not syncing", "a panic" },
        { "BUG: ", "a fault of the kernel" },
        { "Oops: ", "a fault of the kernel" },
        { "kernel BUG at ", "a fault of the kernel" },
        { "watchdog: BUG: ", "a lockup" },
        { "reboot: Restarting system", "a reboot" },
        { "reboot: Power down", "a power-off" },
        { "sysrq: Resetting", "a reset that somebody asked for (SysRq)" },
        { "reboot: System halted", "a halt" },
};

void last_words_step(LastWords *w, const Step *s) {
        const char *message =
                s->kind == STEP_OTHER && s->text ? startswith(s->text, CONSOLE) : NULL;

        for (size_t i = 0; message && i < ELEMENTSOF(ends); i++) {
                const char *found = strstr(message, ends[i].words);
                bool is_panic = i == 0;

                if (!found || (w->what && streq(w->what, ends[0].what) && !is_panic))
                        continue;
                w->what = ends[i].what;
                (void) snprintf(w->text, sizeof(w->text), "%s", found);
                return;
        }
}

bool last_words_are_due(const SessionMeta *m) {
        return m->spec.black_box && m->origin && startswith(m->name, "blackbox-");
}

int last_words_note(const LastWords *w, Strv *notes) {
        if (!w->what)
                return strv_add(notes,
                                "it ended with the machine, and the kernel said nothing of it: "
                                "a reset, a hang or a forced reboot");
        return strv_addf(notes, "it ended with the machine, by %s: \"%s\"", w->what, w->text);
}
