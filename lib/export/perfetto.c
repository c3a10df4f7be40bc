/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Perfetto's own format: a sequence of TracePackets with TrackEvents, their names interned, written
 * by hand since it is a dozen fields.  Tracks, in three groups:
 *
 *      Tasks        client 16140    its calls, nested
 *      CPUs         CPU 3           what ran there, as far as it was seen, and losses
 *      Interrupts   CPU 3           what interrupted there, with all that it called; in the task's
 *                                   track an interrupt is a slice without what is in it
 *
 * A flow leads from whoever woke a task to where that task runs next, if the scheduler's events were
 * recorded.  Packets need not be in the order of time, but those of one track are.  Times are
 * CLOCK_BOOTTIME, which is the format's default.
 *
 * Source: Perfetto, protos/perfetto/trace/trace_packet.proto, track_event/track_event.proto,
 * track_descriptor.proto, interned_data.proto, debug_annotation.proto (2026).
 */

#include "export/escape.h"
#include "export/exporter.h"
#include "export/intern.h"
#include "export/proto.h"
#include "export/spans.h"
#include "export/wake.h"

enum { /* fields */
       TRACE_PACKET = 1,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_TRACK_DESCRIPTOR = 60,
       EVENT_CATEGORY_IIDS = 3,
       EVENT_DEBUG_ANNOTATIONS = 4,
       EVENT_TYPE = 9,
       EVENT_NAME_IID = 10,
       EVENT_TRACK_UUID = 11,
       EVENT_NAME = 23,
       EVENT_FLOW_IDS = 47,
       EVENT_TERMINATING_FLOW_IDS = 48,
       INTERNED_CATEGORIES = 1,
       INTERNED_NAMES = 2,
       INTERNED_ANNOTATION_NAMES = 3,
       INTERNED_IID = 1, /* of each of them */
       INTERNED_NAME = 2,
       ANNOTATION_NAME_IID = 1,
       ANNOTATION_BOOL = 2,
       ANNOTATION_UINT = 3,
       ANNOTATION_INT = 4,
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PARENT_UUID = 5,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CATEGORY_FUNCTION = 1, CATEGORY_INTERRUPT, CATEGORY_CPU, CATEGORY_WAKE, CATEGORY_LOSS };
enum { ANNOTATED_CPU = 1, ANNOTATED_RETVAL, ANNOTATED_CUT };

static const char *const categories[] = { "function", "interrupt", "cpu", "wakeup", "loss" };
static const char *const annotations[] = { "cpu", "retval", "cut" };

#define SEQUENCE 1
#define UUID_TASKS 1 /* the groups */
#define UUID_CPUS 2
#define UUID_IRQS 3
#define UUID_CPU(cpu) (UINT64_C(0x10000) + (cpu))
#define UUID_IRQ(cpu) (UINT64_C(0x20000) + (cpu))
#define UUID_TASK(key) (UINT64_C(0x100000000) + (uint32_t) (key))
#define UUID_IDLE(cpu) (UINT64_C(0x30000) + (cpu))
#define N_CPUS 0x10000 /* more have no tracks; CONFIG_NR_CPUS is 8192 at most */

typedef struct Cpu {
        int64_t key;      /* of the task that runs; 0: none was seen */
        uint64_t last_ns; /* when it was last seen; never runs back, as a text's times may */
        bool has_track, has_irq_track;
} Cpu;

/* Has been woken, and was not seen running yet. */
typedef struct Arrow {
        int32_t pid;   /* 0: free */
        uint64_t flow; /* 0: has been seen */
} Arrow;

typedef struct Perfetto {
        const ExportInfo *info;
        Buf *out;
        Buf packet, event, inner;
        Spans *spans;
        Intern names;     /* of functions */
        uint64_t *tracks; /* that are described, n_tracks of them: uuids of tasks, a hash */
        size_t n_tracks, n_tracks_room;
        Cpu *cpus;
        size_t n_cpus;
        Arrow *arrows; /* a hash */
        size_t n_arrows, n_arrows_room;
        uint64_t n_flows;
        uint64_t track;   /* of the task whose spans are written */
        size_t irq_depth; /* of visits in an interrupt; 0: in none */
        uint32_t irq_cpu;
} Perfetto;

/* --- packets ---------------------------------------------------------------------------------- */

static int end_packet(Perfetto *p) {
        proto_message(p->out, TRACE_PACKET, &p->packet);
        return p->out->error;
}

/* A packet with p->event in it. */
static int write_event(Perfetto *p, uint64_t timestamp_ns) {
        proto_u64(&p->packet, PACKET_TIMESTAMP, timestamp_ns + (uint64_t) p->info->to_boottime_ns);
        proto_u64(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
        proto_u64(&p->packet, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
        proto_message(&p->packet, PACKET_TRACK_EVENT, &p->event);
        return end_packet(p);
}

static void add_interned(Perfetto *p, unsigned field, uint64_t iid, const char *s, size_t n) {
        _cleanup_buf_ Buf name = BUF_INIT;

        /* A string must be UTF-8. */
        escape_utf8(&name, s, n);
        proto_u64(&p->inner, INTERNED_IID, iid);
        proto_message(&p->inner, INTERNED_NAME, &name);
        proto_message(&p->event, field, &p->inner);
}

static int write_track(Perfetto *p, uint64_t uuid, uint64_t parent_uuid, const char *name,
                       size_t n) {
        _cleanup_buf_ Buf text = BUF_INIT;

        escape_utf8(&text, name, n);
        proto_u64(&p->event, TRACK_UUID, uuid);
        proto_message(&p->event, TRACK_NAME, &text);
        if (parent_uuid)
                proto_u64(&p->event, TRACK_PARENT_UUID, parent_uuid);
        proto_u64(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
        proto_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->event);
        return end_packet(p);
}

static void begin_event(Perfetto *p, unsigned type, uint64_t track, unsigned category) {
        proto_u64(&p->event, EVENT_TYPE, type);
        proto_u64(&p->event, EVENT_TRACK_UUID, track);
        if (category)
                proto_u64(&p->event, EVENT_CATEGORY_IIDS, category);
}

static void annotate(Perfetto *p, unsigned name, unsigned kind, uint64_t value) {
        proto_u64(&p->inner, ANNOTATION_NAME_IID, name);
        proto_u64(&p->inner, kind, value);
        proto_message(&p->event, EVENT_DEBUG_ANNOTATIONS, &p->inner);
}

static int perfetto_begin(void *userdata, uint64_t begin_ns) {
        static const char *const groups[] = { "Tasks", "CPUs", "Interrupts" };
        Perfetto *p = userdata;
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(categories); i++)
                add_interned(p, INTERNED_CATEGORIES, i + 1, categories[i], strlen(categories[i]));
        for (size_t i = 0; i < ELEMENTSOF(annotations); i++)
                add_interned(p, INTERNED_ANNOTATION_NAMES, i + 1, annotations[i],
                             strlen(annotations[i]));
        proto_u64(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
        proto_u64(&p->packet, PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
        proto_message(&p->packet, PACKET_INTERNED_DATA, &p->event);
        r = end_packet(p);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(groups); i++)
                r = write_track(p, UUID_TASKS + i, 0, groups[i], strlen(groups[i]));
        return r;
}

/* --- tracks ----------------------------------------------------------------------------------- */

static uint64_t *track_slot(uint64_t *tracks, size_t n, uint64_t uuid) {
        size_t i = (size_t) (uuid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n - 1);

        while (tracks[i] && tracks[i] != uuid)
                i = (i + 1) & (n - 1);
        return &tracks[i];
}

/* 1: @uuid has not been described yet, but counts as described now; 0; -ENOMEM. */
static int is_new_track(Perfetto *p, uint64_t uuid) {
        uint64_t *slot;

        if (p->n_tracks >= p->n_tracks_room / 2) {
                size_t n = p->n_tracks_room ? p->n_tracks_room * 2 : 64;
                uint64_t *tracks = calloc(n, sizeof(*tracks));

                if (!tracks)
                        return -ENOMEM;
                for (size_t i = 0; i < p->n_tracks_room; i++)
                        if (p->tracks[i])
                                *track_slot(tracks, n, p->tracks[i]) = p->tracks[i];
                free(p->tracks);
                p->tracks = tracks;
                p->n_tracks_room = n;
        }
        slot = track_slot(p->tracks, p->n_tracks_room, uuid);
        if (*slot)
                return 0;
        *slot = uuid;
        p->n_tracks++;
        return 1;
}

/* The track of a task, described if it is new. */
static int task_track(Perfetto *p, int32_t pid, uint32_t cpu, const char *comm, uint64_t *ret) {
        uint64_t uuid = pid == 0 ? UUID_IDLE(cpu) : UUID_TASK(pid);
        char name[64];
        int r = is_new_track(p, uuid), n;

        *ret = uuid;
        if (r <= 0)
                return r;
        if (pid > 0)
                n = snprintf(name, sizeof(name), "%.15s %d", comm && *comm ? comm : "task", pid);
        else
                n = snprintf(name, sizeof(name), "%.15s CPU %u", comm && *comm ? comm : "task",
                             cpu);
        return write_track(p, uuid, UUID_TASKS, name, (size_t) n);
}

static Cpu *get_cpu(Perfetto *p, uint32_t cpu) {
        if (cpu >= p->n_cpus) {
                size_t n = MAX((size_t) cpu + 1, p->n_cpus * 2);
                Cpu *cpus = realloc(p->cpus, n * sizeof(*cpus));

                if (!cpus)
                        return NULL;
                memset(cpus + p->n_cpus, 0, (n - p->n_cpus) * sizeof(*cpus));
                p->cpus = cpus;
                p->n_cpus = n;
        }
        return &p->cpus[cpu];
}

static int describe_cpu(Perfetto *p, uint32_t cpu, bool is_irq) {
        Cpu *c = get_cpu(p, cpu);
        bool *has = c ? is_irq ? &c->has_irq_track : &c->has_track : NULL;
        char name[32];
        int n;

        if (!has || *has)
                return has ? 0 : -ENOMEM;
        *has = true;
        n = snprintf(name, sizeof(name), "CPU %u", cpu);
        return write_track(p, is_irq ? UUID_IRQ(cpu) : UUID_CPU(cpu),
                           is_irq ? UUID_IRQS : UUID_CPUS, name, (size_t) n);
}

/* --- calls ------------------------------------------------------------------------------------ */

static int name_function(Perfetto *p, const Function *f, uint64_t *ret_iid) {
        uint32_t number;
        int r = intern_add(&p->names, f, &number);

        if (r < 0)
                return r;
        *ret_iid = (uint64_t) number + 1;
        if (r == 0)
                return 0;
        add_interned(p, INTERNED_NAMES, *ret_iid, f->label, f->n_label);
        proto_u64(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
        proto_u64(&p->packet, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
        proto_message(&p->packet, PACKET_INTERNED_DATA, &p->event);
        return end_packet(p);
}

static int write_slice(Perfetto *p, uint64_t track, const Span *span, bool begins) {
        uint64_t iid = 0;
        int r = begins ? name_function(p, span->function, &iid) : 0;

        if (r < 0)
                return r;
        begin_event(p, begins ? TYPE_BEGIN : TYPE_END, track,
                    !begins                                 ? 0
                    : track != p->track || span->begins_irq ? CATEGORY_INTERRUPT
                                                            : CATEGORY_FUNCTION);
        if (begins)
                proto_u64(&p->event, EVENT_NAME_IID, iid);
        if (begins && span->has_cpu)
                annotate(p, ANNOTATED_CPU, ANNOTATION_UINT, span->cpu);
        if (begins && span->is_cut)
                annotate(p, ANNOTATED_CUT, ANNOTATION_BOOL, true);
        if (begins && span->has_retval)
                annotate(p, ANNOTATED_RETVAL, ANNOTATION_INT, (uint64_t) span->retval);
        return write_event(p, begins ? span->start_ns : span->end_ns);
}

static int visit(void *userdata, const Span *span, bool begins) {
        Perfetto *p = userdata;
        bool interrupts =
                p->irq_depth == 0 && span->begins_irq && span->has_cpu && span->cpu < N_CPUS;
        int r = 0;

        if (begins && (p->irq_depth > 0 || interrupts)) {
                p->irq_cpu = interrupts ? span->cpu : p->irq_cpu;
                p->irq_depth++;
        }
        if (p->irq_depth > 0) {
                r = describe_cpu(p, p->irq_cpu, true);
                if (r >= 0)
                        r = write_slice(p, UUID_IRQ(p->irq_cpu), span, begins);
                p->irq_depth -= !begins;
        }
        /* In the task's track an interrupt's outermost call stands for all of it. */
        if (r >= 0 && p->irq_depth == (begins && interrupts))
                r = write_slice(p, p->track, span, begins);
        return r;
}

static int perfetto_spans(void *userdata, const SpansTask *task, Span *spans, size_t n) {
        Perfetto *p = userdata;
        int r = task_track(p, task->pid, task->cpu, task->comm, &p->track);

        p->irq_depth = 0;
        return r < 0 ? r : spans_walk(spans, n, visit, p);
}

static int perfetto_call(void *userdata, const Call *call) {
        return spans_call(((Perfetto *) userdata)->spans, call);
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static int end_run(Perfetto *p, uint32_t cpu) {
        if (p->cpus[cpu].key == 0)
                return 0;
        begin_event(p, TYPE_END, UUID_CPU(cpu), 0);
        p->cpus[cpu].key = 0;
        return write_event(p, p->cpus[cpu].last_ns);
}

/* Another task than the one before runs on the step's CPU. */
static int begin_run(Perfetto *p, const Step *step) {
        _cleanup_buf_ Buf name = BUF_INIT;
        Cpu *cpu = &p->cpus[step->cpu];
        int r;

        r = end_run(p, step->cpu);
        if (r >= 0)
                r = describe_cpu(p, step->cpu, false);
        if (r < 0)
                return r;
        cpu->key = step_task_key(step);
        begin_event(p, TYPE_BEGIN, UUID_CPU(step->cpu), CATEGORY_CPU);
        if (step->comm)
                escape_utf8(&name, step->comm, strnlen(step->comm, 15));
        else
                buf_adds(&name, "task");
        if (step->pid > 0)
                buf_printf(&name, " %d", step->pid);
        proto_message(&p->event, EVENT_NAME, &name);
        cpu->last_ns = MAX(cpu->last_ns, step->timestamp_ns);
        return write_event(p, cpu->last_ns);
}

static int write_loss(Perfetto *p, const Step *step) {
        char name[48];
        int n = step->n_lost > 0 ? snprintf(name, sizeof(name), "%llu events lost",
                                            (unsigned long long) step->n_lost)
                                 : snprintf(name, sizeof(name), "events lost");
        int r = describe_cpu(p, step->cpu, false);

        if (r < 0)
                return r;
        begin_event(p, TYPE_INSTANT, UUID_CPU(step->cpu), CATEGORY_LOSS);
        proto_bytes(&p->event, EVENT_NAME, name, (size_t) n);
        return write_event(p, step->timestamp_ns);
}

/* --- wake-ups --------------------------------------------------------------------------------- */

static Arrow *arrow_slot(Arrow *arrows, size_t n, int32_t pid) {
        size_t i =
                (size_t) ((uint64_t) (uint32_t) pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n - 1);

        while (arrows[i].pid != 0 && arrows[i].pid != pid)
                i = (i + 1) & (n - 1);
        return &arrows[i];
}

/* 1: @ret_flow begins here; 0: another waking was first, or it is an idle task; -ENOMEM. */
static int note_woken(Perfetto *p, int32_t pid, uint64_t *ret_flow) {
        Arrow *slot;

        if (pid == 0)
                return 0;
        if (p->n_arrows >= p->n_arrows_room / 2) {
                size_t n = p->n_arrows_room ? p->n_arrows_room * 2 : 64;
                Arrow *arrows = calloc(n, sizeof(*arrows));

                if (!arrows)
                        return -ENOMEM;
                for (size_t i = 0; i < p->n_arrows_room; i++)
                        if (p->arrows[i].pid != 0)
                                *arrow_slot(arrows, n, p->arrows[i].pid) = p->arrows[i];
                free(p->arrows);
                p->arrows = arrows;
                p->n_arrows_room = n;
        }
        slot = arrow_slot(p->arrows, p->n_arrows_room, pid);
        if (slot->flow > 0)
                return 0;
        p->n_arrows += slot->pid == 0;
        *slot = (Arrow){ .pid = pid, .flow = ++p->n_flows };
        *ret_flow = slot->flow;
        return 1;
}

static uint64_t take_woken(Perfetto *p, int32_t pid) {
        Arrow *slot =
                p->n_arrows > 0 && pid != 0 ? arrow_slot(p->arrows, p->n_arrows_room, pid) : NULL;
        uint64_t flow = slot ? slot->flow : 0;

        if (flow > 0)
                slot->flow = 0;
        return flow;
}

static int write_wake(Perfetto *p, const Step *step, Wake wake, const Woken *who) {
        uint64_t flow = 0, track;
        int r = 1;

        if (wake == WAKE_WAKES)
                r = note_woken(p, who->pid, &flow);
        else
                flow = take_woken(p, who->pid);
        if (r <= 0 || flow == 0)
                return MIN(r, 0);
        r = wake == WAKE_WAKES ? task_track(p, step->pid, step->cpu, step->comm, &track)
                               : task_track(p, who->pid, step->cpu, who->comm, &track);
        if (r < 0)
                return r;
        begin_event(p, TYPE_INSTANT, track, CATEGORY_WAKE);
        proto_bytes(&p->event, EVENT_NAME, wake == WAKE_WAKES ? "wakes" : "runs",
                    wake == WAKE_WAKES ? 5 : 4);
        proto_fixed64(&p->event, wake == WAKE_WAKES ? EVENT_FLOW_IDS : EVENT_TERMINATING_FLOW_IDS,
                      flow);
        return write_event(p, step->timestamp_ns);
}

/* ---------------------------------------------------------------------------------------------- */

static int perfetto_step(void *userdata, const Step *step) {
        Perfetto *p = userdata;
        Cpu *cpu;
        Wake wake;
        Woken who;
        int r = 0;

        if (step->kind == STEP_TASK)
                return spans_name_task(p->spans, step);
        if (step->cpu >= N_CPUS)
                return 0;
        if (step->kind == STEP_LOST)
                return write_loss(p, step);
        cpu = get_cpu(p, step->cpu);
        if (!cpu)
                return -ENOMEM;
        if (cpu->key != step_task_key(step))
                r = begin_run(p, step);
        cpu->last_ns = MAX(cpu->last_ns, step->timestamp_ns);
        wake = r >= 0 ? wake_of(step, &who) : WAKE_NONE;
        return wake == WAKE_NONE ? r : write_wake(p, step, wake, &who);
}

static int perfetto_end(void *userdata) {
        Perfetto *p = userdata;
        int r = 0;

        for (uint32_t i = 0; r >= 0 && i < p->n_cpus; i++)
                r = end_run(p, i);
        return r;
}

static void perfetto_free(void *userdata) {
        Perfetto *p = userdata;

        buf_done(&p->packet);
        buf_done(&p->event);
        buf_done(&p->inner);
        spans_free(p->spans);
        intern_done(&p->names);
        free(p->tracks);
        free(p->cpus);
        free(p->arrows);
        free(p);
}

static int perfetto_new(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out) {
        Perfetto *p = malloc(sizeof(*p));

        if (!p)
                return -ENOMEM;
        *p = (Perfetto){
                .info = info, .out = out, .packet = BUF_INIT, .event = BUF_INIT, .inner = BUF_INIT
        };
        if (spans_new(&p->spans, perfetto_spans, p) < 0) {
                free(p);
                return -ENOMEM;
        }
        pairing_add_sink(pairing, NULL, perfetto_call, p);
        *ret = p;
        return 0;
}

const Exporter exporter_perfetto = {
        .name = "perfetto",
        .summary = "timelines of tasks, CPUs and interrupts, for Perfetto",
        .is_binary = true,
        .viewer_bytes = UINT64_C(1) << 30,
        .viewer_advice = "--from and --to, --slowest or --root take a part of it, or open it with "
                         "\"trace_processor --httpd\"",
        .new = perfetto_new,
        .begin = perfetto_begin,
        .step = perfetto_step,
        .end = perfetto_end,
        .free = perfetto_free,
};
