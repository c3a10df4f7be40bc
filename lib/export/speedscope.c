/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * speedscope's own format, "evented": a profile for each task, in it the beginning and the end of
 * each call in order, in whole nanoseconds since the recording began.  A profile is one array, so
 * tasks are gathered apart, in memory, and written at the end; what is more than MAX_BYTES no
 * browser opens.  A frame has a name and nothing else that a viewer shows, so a cut call's is another
 * one, whose name says so; where that is known only at its end, its beginning is written over.
 *
 * Source: speedscope 1.25.0, src/lib/file-format-spec.ts.
 */

#include <inttypes.h>

#include "base/grow.h"
#include "export/escape.h"
#include "export/exporter.h"
#include "export/intern.h"
#include "export/spans.h"

#define MAX_BYTES (UINT64_C(512) << 20)
#define CUT_MARK " (cut)"
#define NUMBER_WIDTH 10 /* of a frame that may become another one */

typedef struct Profile {
        Buf events;
        size_t *endless; /* where in events they have their frames; the innermost last */
        size_t n_endless;
        char comm[16];
        int32_t pid;
        uint32_t cpu;
        uint64_t busy_ns;
} Profile;

typedef struct Speedscope {
        ExportState s;
        Intern frames;
        Profile *profiles;
        size_t n_profiles;
        int64_t first_ns, last_ns; /* since then: an end alone tells of what came before */
        uint64_t n_bytes;
} Speedscope;

static Profile *profile_of(Speedscope *s, size_t i) {
        while (i >= s->n_profiles) {
                if (!ARRAY_GROW(s->profiles, s->n_profiles))
                        return NULL;
                s->profiles[s->n_profiles++] = (Profile){ .events = BUF_INIT };
        }
        return &s->profiles[i];
}

/* The number of a frame; a key is where its function is, or the byte behind if it is cut. */
static int frame_of(Speedscope *s, const Function *f, bool is_cut, uint32_t *ret) {
        return intern_add(&s->frames, (const char *) f + is_cut, ret) < 0 ? -ENOMEM : 0;
}

static int push_endless(Profile *p) {
        if (!ARRAY_GROW(p->endless, p->n_endless))
                return -ENOMEM;
        p->endless[p->n_endless++] = p->events.n_data;
        return 0;
}

static int add_frame(Profile *p, const Span *span, bool is_end, uint32_t frame) {
        char number[NUMBER_WIDTH + 1];
        int r = 0;

        if (!span->is_endless) {
                escape_u64(&p->events, frame);
                return 0;
        }
        (void) snprintf(number, sizeof(number), "%*" PRIu32, NUMBER_WIDTH, frame);
        if (!is_end)
                r = push_endless(p);
        else if (!p->events.error)
                memcpy(p->events.data + p->endless[--p->n_endless], number, NUMBER_WIDTH);
        buf_add(&p->events, number, NUMBER_WIDTH);
        return r;
}

static int speedscope_span(void *userdata, const SpansTask *task, const Span *span,
                           const Call *call) {
        Speedscope *s = userdata;
        Profile *p = profile_of(s, task->index);
        int64_t at_ns = (int64_t) (span->at_ns - s->s.begin_ns);
        size_t n_before;
        uint32_t frame;
        Buf *b;

        if (!p || frame_of(s, span->function, span->is_cut, &frame) < 0)
                return -ENOMEM;
        b = &p->events;
        n_before = b->n_data;
        p->pid = task->pid;
        p->cpu = task->cpu;
        if (task->comm[0])
                memcpy(p->comm, task->comm, strnlen(task->comm, 15) + 1);
        p->busy_ns += call && span->is_root ? span->share_ns : 0;
        if (b->n_data > 0)
                buf_add(b, ",\n", 2);
        buf_adds(b, call ? "{\"type\":\"C\",\"frame\":" : "{\"type\":\"O\",\"frame\":");
        if (add_frame(p, span, call != NULL, frame) < 0)
                return -ENOMEM;
        buf_adds(b, ",\"at\":");
        escape_i64(b, at_ns);
        buf_add(b, "}", 1);
        s->first_ns = MIN(s->first_ns, at_ns);
        s->last_ns = MAX(s->last_ns, at_ns);
        s->n_bytes += b->n_data - n_before;
        return s->n_bytes > MAX_BYTES ? -EOVERFLOW : b->error;
}

static void write_profile(Speedscope *s, const Profile *p) {
        const SpansTask task = { .comm = p->comm, .pid = p->pid, .cpu = p->cpu };
        char name[SPANS_NAME_MAX];

        buf_adds(s->s.out, "{\"type\":\"evented\",\"name\":\"");
        spans_name_task(name, &task);
        escape_json(s->s.out, name, strlen(name));
        buf_adds(s->s.out, "\",\"unit\":\"nanoseconds\",\"startValue\":");
        escape_i64(s->s.out, s->first_ns);
        buf_adds(s->s.out, ",\"endValue\":");
        escape_i64(s->s.out, s->last_ns);
        buf_adds(s->s.out, ",\"events\":[\n");
        buf_add(s->s.out, p->events.data, p->events.n_data);
        buf_adds(s->s.out, "]}");
}

static int speedscope_end(void *userdata) {
        Speedscope *s = userdata;
        size_t i_active = 0, n_written = 0;
        uint64_t busy_ns = 0;

        buf_adds(s->s.out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                           "\"exporter\":\"" PACKAGE_STRING "\",\"name\":\"");
        escape_json(s->s.out, s->s.info->title, strlen(s->s.info->title));
        buf_adds(s->s.out, "\",\n\"shared\":{\"frames\":[");
        for (uint32_t i = 0; i < s->frames.n; i++) {
                bool is_cut = (uintptr_t) s->frames.items[i] % 2;
                const Function *f = (const Function *) ((uintptr_t) s->frames.items[i] - is_cut);

                buf_adds(s->s.out, i > 0 ? ",\n{\"name\":\"" : "\n{\"name\":\"");
                escape_json(s->s.out, f->label, f->n_label);
                if (!unhooked_is_none(f->n_unhooked))
                        buf_printf(s->s.out, " (%s)", UNHOOKED_NOTE(f->n_unhooked));
                buf_adds(s->s.out, is_cut ? CUT_MARK "\"}" : "\"}");
        }
        buf_adds(s->s.out, "]},\n\"profiles\":[");
        for (size_t i = 0; i < s->n_profiles; i++) {
                const Profile *p = &s->profiles[i];

                if (p->events.n_data == 0)
                        continue;
                if (p->busy_ns > busy_ns) {
                        busy_ns = p->busy_ns;
                        i_active = n_written;
                }
                buf_adds(s->s.out, n_written++ > 0 ? ",\n" : "\n");
                write_profile(s, p);
        }
        buf_printf(s->s.out, "],\n\"activeProfileIndex\":%zu}\n", i_active);
        return 0;
}

static void speedscope_done(void *userdata) {
        Speedscope *s = userdata;

        for (size_t i = 0; i < s->n_profiles; i++) {
                buf_done(&s->profiles[i].events);
                free(s->profiles[i].endless);
        }
        free(s->profiles);
        intern_done(&s->frames);
}

const Exporter exporter_speedscope = {
        .name = "speedscope",
        .summary = "a timeline of each task, for speedscope",
        .viewer_bytes = UINT64_C(64) << 20,
        .viewer_advice = "--from and --to, --slowest or --root take a part of it; "
                         "--format=flame is small whatever was recorded",
        .n_bytes = sizeof(Speedscope),
        .span = speedscope_span,
        .end = speedscope_end,
        .done = speedscope_done,
};
