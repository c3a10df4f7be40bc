/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Start returns as soon as the kernel records; the name on stdout is for the scripts that go on. */

#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/status.h"
#include "cli/options/verb.h"
#include "cli/record/recording.h"
#include "cli/schedule/later.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"

int verb_start(const Options *o) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        int status;

        if (later_is_wanted(o) && !o->dry_run)
                return later_start(o);
        status = recording_check(o, &o->words);
        if (status == STATUS_OK)
                status = o->dry_run ? contact_recorder(&c, o, NULL) : contact_daemon(&c, o);
        if (status == STATUS_OK && o->dry_run)
                return recording_dry_run(o, c, &o->words);
        if (status == STATUS_OK)
                status = recording_start(&meta, o, c, &o->words, false, -EBADF);
        if (status != STATUS_OK)
                return status;
        recording_talk_warnings(o, meta);
        if (isatty(STDERR_FILENO))
                talk(o, "Recording %s, armed in %s; end it with: ftracectl stop %s",
                     SUMMARY_ROOTS(meta, 80), FORMAT_DURATION(meta->arm_ns), meta->name);
        if (o->json != JSON_OFF)
                return stdout_json(o, session_meta_to_json(meta));
        buf_printf(&out, "%s\n", meta->name);
        return stdout_end(&out);
}
