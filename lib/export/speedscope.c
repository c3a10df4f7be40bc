/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * speedscope's own format, "evented": a profile for each task, in it the beginning and the end of
 * each call in order, in whole nanoseconds since the recording began.  A profile is one array, so
 * tasks are gathered apart, in memory, and written at the end; what is more than MAX_BYTES no
 * browser opens.
 *
 * Source: speedscope 1.25.0, src/lib/file-format-spec.ts.
 */

#include "export/escape.h"
#include "export/exporter.h"
#include "export/intern.h"
#include "export/spans.h"

#define MAX_BYTES (UINT64_C(512) << 20)

typedef struct Profile {
        Buf events;
        char comm[16];
        int32_t pid;
        uint32_t cpu;
        uint64_t busy_ns;
} Profile;

typedef struct Speedscope {
        const ExportInfo *info;
        Buf *out;
        Spans *spans;
        Intern frames;
        Profile *profiles;
        size_t n_profiles, n_room;
        Profile *profile; /* that is being added to */
        uint64_t begin_ns, end_ns;
        uint64_t n_bytes;
} Speedscope;

/* A call that was cut off may have begun before all else. */
static uint64_t since_begin(const Speedscope *s, uint64_t ns) {
        return ns - MIN(ns, s->begin_ns);
}

static int visit(void *userdata, const Span *span, bool begins) {
        Speedscope *s = userdata;
        Buf *b = &s->profile->events;
        uint64_t at_ns = begins ? span->start_ns : span->end_ns;
        uint32_t frame;

        if (intern_add(&s->frames, span->function, &frame) < 0)
                return -ENOMEM;
        if (b->n_data > 0)
                buf_add(b, ",\n", 2);
        buf_adds(b, begins ? "{\"type\":\"O\",\"frame\":" : "{\"type\":\"C\",\"frame\":");
        escape_u64(b, frame);
        buf_adds(b, ",\"at\":");
        escape_u64(b, since_begin(s, at_ns));
        buf_add(b, "}", 1);
        s->end_ns = MAX(s->end_ns, since_begin(s, at_ns));
        return b->error;
}

static int speedscope_spans(void *userdata, const SpansTask *task, Span *spans, size_t n) {
        Speedscope *s = userdata;
        size_t n_before;
        int r;

        while (task->index >= s->n_profiles) {
                if (s->n_profiles == s->n_room) {
                        size_t n_room = s->n_room ? s->n_room * 2 : 16;
                        Profile *p = realloc(s->profiles, n_room * sizeof(*p));

                        if (!p)
                                return -ENOMEM;
                        s->profiles = p;
                        s->n_room = n_room;
                }
                s->profiles[s->n_profiles++] = (Profile){ .events = BUF_INIT };
        }
        s->profile = &s->profiles[task->index];
        s->profile->pid = task->pid;
        s->profile->cpu = task->cpu;
        if (task->comm[0])
                memcpy(s->profile->comm, task->comm, strnlen(task->comm, 15) + 1);
        for (size_t i = 0; i < n; i++)
                if (spans[i].i_parent == SIZE_MAX)
                        s->profile->busy_ns += spans[i].end_ns - spans[i].start_ns;
        n_before = s->profile->events.n_data;
        r = spans_walk(spans, n, visit, s);
        s->n_bytes += s->profile->events.n_data - n_before;
        return r < 0 ? r : s->n_bytes > MAX_BYTES ? -EOVERFLOW : 0;
}

static int speedscope_begin(void *userdata, uint64_t begin_ns) {
        ((Speedscope *) userdata)->begin_ns = begin_ns;
        return 0;
}

static int speedscope_step(void *userdata, const Step *step) {
        return step->kind == STEP_TASK ? spans_name_task(((Speedscope *) userdata)->spans, step)
                                       : 0;
}

static int speedscope_call(void *userdata, const Call *call) {
        return spans_call(((Speedscope *) userdata)->spans, call);
}

static void write_profile(Speedscope *s, const Profile *p) {
        buf_adds(s->out, "{\"type\":\"evented\",\"name\":\"");
        if (p->comm[0])
                escape_json(s->out, p->comm, strlen(p->comm));
        else
                buf_adds(s->out, "task");
        if (p->pid > 0)
                buf_printf(s->out, " %d", p->pid);
        else
                buf_printf(s->out, " CPU %u", p->cpu);
        buf_printf(s->out, "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%llu,",
                   (unsigned long long) s->end_ns);
        buf_adds(s->out, "\"events\":[\n");
        buf_add(s->out, p->events.data, p->events.n_data);
        buf_adds(s->out, "]}");
}

static int speedscope_end(void *userdata) {
        Speedscope *s = userdata;
        size_t i_active = 0, n_written = 0;
        uint64_t busy_ns = 0;

        buf_adds(s->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                         "\"exporter\":\"" PACKAGE_STRING "\",\"name\":\"");
        escape_json(s->out, s->info->title, strlen(s->info->title));
        buf_adds(s->out, "\",\n\"shared\":{\"frames\":[");
        for (uint32_t i = 0; i < s->frames.n; i++) {
                const Function *f = s->frames.items[i];

                buf_adds(s->out, i > 0 ? ",\n{\"name\":\"" : "\n{\"name\":\"");
                escape_json(s->out, f->label, f->n_label);
                buf_adds(s->out, "\"}");
        }
        buf_adds(s->out, "]},\n\"profiles\":[");
        for (size_t i = 0; i < s->n_profiles; i++) {
                const Profile *p = &s->profiles[i];

                if (p->events.n_data == 0)
                        continue;
                if (p->busy_ns > busy_ns) {
                        busy_ns = p->busy_ns;
                        i_active = n_written;
                }
                buf_adds(s->out, n_written++ > 0 ? ",\n" : "\n");
                write_profile(s, p);
        }
        buf_printf(s->out, "],\n\"activeProfileIndex\":%zu}\n", i_active);
        return 0;
}

static void speedscope_free(void *userdata) {
        Speedscope *s = userdata;

        for (size_t i = 0; i < s->n_profiles; i++)
                buf_done(&s->profiles[i].events);
        free(s->profiles);
        intern_done(&s->frames);
        spans_free(s->spans);
        free(s);
}

static int speedscope_new(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out) {
        Speedscope *s = malloc(sizeof(*s));

        if (!s)
                return -ENOMEM;
        *s = (Speedscope){ .info = info, .out = out };
        if (spans_new(&s->spans, speedscope_spans, s) < 0) {
                free(s);
                return -ENOMEM;
        }
        pairing_add_sink(pairing, NULL, speedscope_call, s);
        *ret = s;
        return 0;
}

const Exporter exporter_speedscope = {
        .name = "speedscope",
        .summary = "a timeline of each task, for speedscope",
        .viewer_bytes = UINT64_C(64) << 20,
        .viewer_advice = "--from and --to, --slowest or --root take a part of it; "
                         "--format=flame is small whatever was recorded",
        .new = speedscope_new,
        .begin = speedscope_begin,
        .step = speedscope_step,
        .end = speedscope_end,
        .free = speedscope_free,
};
