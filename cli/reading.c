/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A text is asked for first, since its name tells; everything else is a session. */

#include "base/log.h"
#include "cli/damage.h"
#include "cli/display.h"
#include "cli/reading.h"
#include "cli/status.h"
#include "cli/summary.h"

int reading_open(Reading *ret, const Options *o, const char *word) {
        _cleanup_reading_ Reading r = {};
        char *problem = NULL;
        int status;

        status = text_source_open(&r.text, o, word);
        if (status == STATUS_OK && !r.text.trace)
                status = source_open(&r.source, o, word);
        if (status == STATUS_OK && r.source) {
                int e = playback_open(&r.playback, r.source->dir, r.source->meta, &problem);

                status = display_status(e > 0 ? DRAWING_E_UNREADABLE : e, r.source->meta, o,
                                        problem);
        }
        if (status != STATUS_OK)
                return status;
        *ret = TAKE(r, (Reading){});
        return STATUS_OK;
}

int reading_next(Reading *r, Step *ret) {
        int e;

        if (r->text.trace)
                return text_source_next(&r->text, ret);
        e = steps_next(r->playback->steps, STREAM_NO_LIMIT, ret);
        if (e >= 0)
                return e;
        log_error_errno(e, "Failed to read session \"%s\": %m", r->source->meta->name);
        return -STATUS_FAILED;
}

int reading_finish(const Reading *r, const Options *o) {
        _cleanup_strv_ Strv damage = {};
        const SessionMeta *m;
        int e;

        if (r->text.trace)
                return text_source_finish(&r->text, o);
        m = r->source->meta;
        e = damage_describe(r->playback->stream, session_state_is_live(m->state), &damage);
        if (e < 0)
                return display_status(e, m, o, NULL);
        for (size_t i = 0; i < damage.n; i++)
                log_warning("%s.", damage.items[i]);
        display_left_out(o, m);
        display_loss(m);
        return damage.n > 0 || !summary_is_complete(m) ? STATUS_INCOMPLETE : STATUS_OK;
}

void reading_done(Reading *r) {
        text_source_done(&r->text);
        playback_free(r->playback);
        source_free(r->source);
        *r = (Reading){};
}
