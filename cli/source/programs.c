/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Names for programs' stacks, and what is said of those that are not whole. */

#include <systemd/sd-id128.h>

#include "base/io.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "retention/boot-clock.h"

static bool is_of_this_host(const SessionMeta *m) {
        char text[SD_ID128_STRING_MAX];
        sd_id128_t ours, id;

        return m->machine_id && sd_id128_from_string(META_MACHINE_ID_OF, &ours) >= 0 &&
               sd_id128_get_machine_app_specific(ours, &id) >= 0 &&
               streq(m->machine_id, sd_id128_to_string(id, text));
}

int source_programs_open(Programs **ret, Playback *p) {
        const SessionMeta *m = p->meta;
        char boot_id[BOOT_ID_CHARS + 1];
        ProgramsOf of = {};
        int r;

        if (!p->stacks)
                return 0;
        boot_id_read(boot_id);
        of.is_boot = streq_ptr(m->boot_id, boot_id);
        of.is_host = of.is_boot || is_of_this_host(m);
        of.realtime_ns = m->stop.realtime_ns ?: now_ns(CLOCK_REALTIME);
        r = programs_new(ret, &of);
        if (r >= 0)
                p->stacks->naming = (ProgramNaming){ programs_name, programs_unwind, *ret };
        return MIN(r, 0);
}

int source_programs_describe(const Programs *p, const Playback *playback, Strv *ret) {
        const ProgramStacksTold *t = playback->stacks ? &playback->stacks->told : NULL;
        const Strv *lacking = p ? programs_lacking(p) : NULL;
        int r = 0;

        for (size_t i = 0; lacking && i < lacking->n && r >= 0; i++)
                r = strv_addf(ret, "%s: its functions have no names.", lacking->items[i]);
        if (!t || t->n == 0)
                return r;
#ifndef HAVE_ELFUTILS
        if (r >= 0)
                r = strv_add(ret, "This ftracectl was built without elfutils: functions of "
                                  "programs are addresses.");
#endif
        if (r >= 0 && t->n_full > 0)
                r = strv_addf(ret,
                              "%s of %s stacks of programs may go on: 8 functions are the most "
                              "that the kernel records.",
                              FORMAT_COUNT(t->n_full), FORMAT_COUNT(t->n));
        if (r >= 0 && playback->meta->spec.stack_bytes > 0 && !playback->copies)
                r = strv_addf(ret,
                              "Copies of stacks are %s: stacks go as far as there are frame "
                              "pointers.",
                              session_state_is_live(playback->meta->state)
                                      ? "not read before the recording has ended"
                                      : "not there, or for root alone");
        if (r >= 0 && playback->copies && t->n_uncopied > 0 &&
            playback->meta->spec.stack_every <= 1)
                r = strv_addf(ret,
                              "For %s of %s stacks of programs no copy was found: they go as far "
                              "as there are frame pointers.",
                              FORMAT_COUNT(t->n_uncopied), FORMAT_COUNT(t->n));
        if (r >= 0 && playback->copies && stack_copies_n_lost(playback->copies) > 0)
                r = strv_addf(ret, "%s stacks were not copied: the kernel had no room for them.",
                              FORMAT_COUNT(stack_copies_n_lost(playback->copies)));
        if (r >= 0 && t->n_cut > 0)
                r = strv_addf(ret,
                              "%s of %s stacks of programs are cut after the %s that were copied, "
                              "or after "
                              "%d functions.",
                              FORMAT_COUNT(t->n_cut), FORMAT_COUNT(t->n),
                              FORMAT_BYTES(playback->meta->spec.stack_bytes), UNWIND_FRAMES_MAX);
        if (r >= 0 && t->n_early > 0)
                r = strv_addf(ret, "%s of %s stacks of programs end early%s%s%s.",
                              FORMAT_COUNT(t->n_early), FORMAT_COUNT(t->n),
                              t->early_file ? ", one in " : "", t->early_file ?: "",
                              !t->early_file || (playback->copies && t->n_uncopied > 0) ? ""
                              : playback->copies ? " (without unwind tables?)"
                                                 : " (built without frame pointers?)");
        if (r >= 0 && t->n_unknown > 0)
                r = strv_addf(ret,
                              "What was mapped in the process is not known of %s of %s stacks of "
                              "programs.",
                              FORMAT_COUNT(t->n_unknown), FORMAT_COUNT(t->n));
        return r;
}
