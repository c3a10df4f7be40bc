/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Arming is starting with rules: the daemon decides what happens when. */

#include "base/log.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/rules.h"
#include "cli/options/status.h"
#include "cli/options/verb.h"
#include "cli/record/recording.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "store/trigger.h"

static void talk_armed(const Options *o, const SessionMeta *m) {
        if (!isatty(STDERR_FILENO))
                return;
        talk(o, "Armed %s in %s, %s; end it with: ftracectl stop %s", SUMMARY_ROOTS(m, 80),
             FORMAT_DURATION(m->arm_ns),
             m->state == SESSION_ARMED ? "recording nothing yet" : "recording already", m->name);
        for (size_t i = 0; i < m->spec.triggers.n; i++)
                talk(o, "  %s: %.*s", trigger_rule_on(m->spec.triggers.items[i]),
                     trigger_rule_n_do(m->spec.triggers.items[i]), m->spec.triggers.items[i]);
}

int verb_arm(const Options *o) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        Rules rules = { .n_complete = o->rules.n_complete };
        Options armed = *o;
        int r = strv_copy(&rules.items, &o->rules.items), status;

        if (r >= 0 && rules.items.n == 0)
                r = rules_add_on(&rules, "command");
        if (r >= 0)
                r = rules_finish(&rules, o->spec.ring);
        if (r < 0) {
                log_error_errno(r, "Failed to read the triggers: %m");
                status = STATUS_FAILED;
        } else
                status = rules_check(&rules.items);
        armed.spec.triggers = rules.items; /* borrowed */
        if (status == STATUS_OK)
                status = recording_check(&armed, &o->words);
        if (status == STATUS_OK)
                status = o->dry_run ? contact_recorder(&c, o, NULL) : contact_daemon(&c, o);
        if (status == STATUS_OK && o->dry_run) {
                status = recording_dry_run(&armed, c, &o->words);
                rules_done(&rules);
                return status;
        }
        if (status == STATUS_OK)
                status = recording_start(&meta, &armed, c, &o->words, false, -EBADF);
        rules_done(&rules);
        if (status != STATUS_OK)
                return status;
        recording_talk_warnings(o, meta);
        talk_armed(o, meta);
        if (o->json != JSON_OFF)
                return stdout_json(o, session_meta_to_json(meta));
        buf_printf(&out, "%s\n", meta->name);
        return stdout_end(&out);
}
