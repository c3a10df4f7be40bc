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

#include "analyze/sched.h"
#include "base/array.h"
#include "encode/escape.h"
#include "encode/protobuf.h"
#include "export/exporter.h"

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
       ANNOTATION_TEXT = 6,
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PARENT_UUID = 5,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CATEGORY_FUNCTION = 1, CATEGORY_INTERRUPT, CATEGORY_CPU, CATEGORY_WAKE, CATEGORY_LOSS };
enum {
        ANNOTATED_CPU = 1,
        ANNOTATED_RETVAL,
        ANNOTATED_CUT,
        ANNOTATED_BELOW,
        ANNOTATED_ARGS,
        ANNOTATED_WHAT,
        ANNOTATED_CALLERS,
        ANNOTATED_STACK,
};

static const char *const categories[] = { "function", "interrupt", "cpu", "wakeup", "loss" };
static const char *const annotations[] = { "cpu",  "retval", "cut",     "below",
                                           "args", "what",   "callers", "stack" };

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
} Cpu;

#define ARROW_ENDED UINT64_MAX /* who was woken has been seen running */

/* A call begins or ends. */
typedef struct Slice {
        const Function *function; /* NULL: the last one ends */
        uint64_t at_ns;
        bool is_cut; /* known when it ends */
} Slice;

/* An interrupt. */
typedef struct IrqRun {
        uint64_t begin_ns;
        size_t first, n; /* events */
        uint32_t cpu;
} IrqRun;

typedef struct Perfetto {
        ExportState s;
        Buf packet, event, inner;
        Intern names; /* of functions */
        Hash tracks;  /* that are described: uuids */
        Cpu *cpus;
        size_t n_cpus;
        Hash arrows; /* flows to who has been woken, by pid */
        uint64_t n_flows;
        Slice *irq_slices; /* that are written at the end, those of a run in order */
        IrqRun *irq_runs;
        size_t n_irq_slices, n_irq_runs;
        size_t irq_depth; /* of what is open in the run that is put aside; 0: none is */
} Perfetto;

/* --- packets ---------------------------------------------------------------------------------- */

/* A packet with p->event in it, as that @field; @flags: 0: none. */
static int write_packet(Perfetto *p, unsigned field, unsigned flags) {
        proto_u64(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
        if (flags)
                proto_u64(&p->packet, PACKET_SEQUENCE_FLAGS, flags);
        proto_message(&p->packet, field, &p->event);
        proto_message(p->s.out, TRACE_PACKET, &p->packet);
        return p->s.out->error;
}

static int write_event(Perfetto *p, uint64_t timestamp_ns) {
        proto_u64(&p->packet, PACKET_TIMESTAMP,
                  timestamp_ns + (uint64_t) p->s.info->to_boottime_ns);
        return write_packet(p, PACKET_TRACK_EVENT, FLAG_NEEDS_STATE);
}

static void add_interned(Perfetto *p, unsigned field, uint64_t iid, const char *s, size_t n) {
        proto_u64(&p->inner, INTERNED_IID, iid);
        proto_string(&p->inner, INTERNED_NAME, s, n);
        proto_message(&p->event, field, &p->inner);
}

static int write_track(Perfetto *p, uint64_t uuid, uint64_t parent_uuid, const char *name,
                       size_t n) {
        proto_u64(&p->event, TRACK_UUID, uuid);
        proto_string(&p->event, TRACK_NAME, name, n);
        if (parent_uuid)
                proto_u64(&p->event, TRACK_PARENT_UUID, parent_uuid);
        return write_packet(p, PACKET_TRACK_DESCRIPTOR, 0);
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

static void annotate_text(Perfetto *p, unsigned name, const char *s, size_t n) {
        proto_u64(&p->inner, ANNOTATION_NAME_IID, name);
        proto_string(&p->inner, ANNOTATION_TEXT, s, n);
        proto_message(&p->event, EVENT_DEBUG_ANNOTATIONS, &p->inner);
}

static void annotate_callers(Perfetto *p, unsigned name, const Callers *c) {
        if (c)
                annotate_text(p, name, callers_names(c), strlen(callers_names(c)));
}

/* What it was given, what it works on, who called it: as far as it was recorded. */
static _cold_ void annotate_texts(Perfetto *p, const Frame *frame) {
        if (frame->args)
                annotate_text(p, ANNOTATED_ARGS, frame->args, strlen(frame->args));
        if (frame->object)
                annotate_text(p, ANNOTATED_WHAT, object_text(frame->object), frame->object->n_text);
        annotate_callers(p, ANNOTATED_CALLERS, frame->callers);
        annotate_callers(p, ANNOTATED_STACK, frame->program);
}

static int perfetto_begin(void *userdata) {
        static const char *const groups[] = { "Tasks", "CPUs", "Interrupts" };
        Perfetto *p = userdata;
        int r;

        p->packet = p->event = p->inner = BUF_INIT;
        for (size_t i = 0; i < ELEMENTSOF(categories); i++)
                add_interned(p, INTERNED_CATEGORIES, i + 1, categories[i], strlen(categories[i]));
        for (size_t i = 0; i < ELEMENTSOF(annotations); i++)
                add_interned(p, INTERNED_ANNOTATION_NAMES, i + 1, annotations[i],
                             strlen(annotations[i]));
        r = write_packet(p, PACKET_INTERNED_DATA, FLAG_STATE_CLEARED);
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(groups); i++) {
                const char *filters = p->s.info->filters;
                _cleanup_free_ char *name = NULL;

                /* What was left out is said where the viewer shows it. */
                r = text_format(&name, "%s%s%s", groups[i], filters ? " with " : "", filters ?: "")
                            ?: write_track(p, UUID_TASKS + i, 0, name, strlen(name));
        }
        return r;
}

/* --- tracks ----------------------------------------------------------------------------------- */

/* 1: @uuid has not been described yet, but counts as described now; 0; -ENOMEM. */
static int is_new_track(Perfetto *p, uint64_t uuid) {
        if (hash_get(&p->tracks, uuid))
                return 0;
        return hash_add(&p->tracks, uuid, 1) < 0 ? -ENOMEM : 1;
}

/* The track of a task, described if it is new. */
static int task_track(Perfetto *p, const char *comm, int32_t pid, uint32_t cpu, uint64_t *ret) {
        uint64_t uuid = pid == 0 ? UUID_IDLE(cpu) : UUID_TASK(pid);
        int r = is_new_track(p, uuid), n;
        char name[48];

        *ret = uuid;
        if (r <= 0)
                return r;
        comm = comm && *comm ? comm : "task";
        n = pid > 0 ? snprintf(name, sizeof(name), "%.15s %d", comm, pid)
                    : snprintf(name, sizeof(name), "%.15s CPU %u", comm, cpu);
        return write_track(p, uuid, UUID_TASKS, name, (size_t) n);
}

static int describe_cpu(Perfetto *p, uint32_t cpu, bool is_irq) {
        uint64_t uuid = is_irq ? UUID_IRQ(cpu) : UUID_CPU(cpu);
        int r = is_new_track(p, uuid), n;
        char name[32];

        if (r <= 0)
                return r;
        n = snprintf(name, sizeof(name), "CPU %u", cpu);
        return write_track(p, uuid, is_irq ? UUID_IRQS : UUID_CPUS, name, (size_t) n);
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
        return write_packet(p, PACKET_INTERNED_DATA, FLAG_NEEDS_STATE);
}

/* @frame, @call: NULL: what it was given, and what it returned, is not told. */
static int write_slice(Perfetto *p, uint64_t track, unsigned category, const Slice *slice,
                       uint32_t cpu, const Frame *frame, const Call *call) {
        bool begins = slice->function;
        uint64_t iid = 0;
        int r = begins ? name_function(p, slice->function, &iid) : 0;

        if (r < 0)
                return r;
        begin_event(p, begins ? TYPE_BEGIN : TYPE_END, track, begins ? category : 0);
        if (begins) {
                proto_u64(&p->event, EVENT_NAME_IID, iid);
                annotate(p, ANNOTATED_CPU, ANNOTATION_UINT, cpu);
                const char *below = UNHOOKED_NOTE(slice->function->n_unhooked);

                if (*below)
                        annotate_text(p, ANNOTATED_BELOW, below, strlen(below));
                if (frame)
                        annotate_texts(p, frame);
        }
        if (slice->is_cut)
                annotate(p, ANNOTATED_CUT, ANNOTATION_BOOL, true);
        if (call && call->has_retval)
                annotate(p, ANNOTATED_RETVAL, ANNOTATION_INT, call->retval);
        return write_event(p, slice->at_ns);
}

/* What is in an interrupt is put aside.  What was told before its end was known is in the task's track
 * alone, for others may come in between. */
static int put_aside(Perfetto *p, const Slice *slice, uint32_t cpu) {
        if (!ARRAY_GROW(p->irq_slices, p->n_irq_slices))
                return -ENOMEM;
        if (p->irq_depth == 0) {
                if (!ARRAY_GROW(p->irq_runs, p->n_irq_runs))
                        return -ENOMEM;
                p->irq_runs[p->n_irq_runs++] =
                        (IrqRun){ .begin_ns = slice->at_ns, .first = p->n_irq_slices, .cpu = cpu };
        }
        p->irq_slices[p->n_irq_slices++] = *slice;
        p->irq_runs[p->n_irq_runs - 1].n++;
        p->irq_depth += slice->function ? 1 : -1;
        return 0;
}

/* It begins, or ends with @call. */
static int write_call(Perfetto *p, const char *comm, const Frame *frame, uint64_t at_ns,
                      const Call *call) {
        Slice slice = { .function = call ? NULL : frame->function,
                        .at_ns = at_ns,
                        .is_cut = call && call->is_cut };
        bool in_irq = frame->in_irq && !frame->is_endless && frame->cpu < N_CPUS;
        uint64_t track;
        int r = task_track(p, comm, (int32_t) frame->user, frame->cpu, &track);

        if (r >= 0 && in_irq)
                r = put_aside(p, &slice, frame->cpu);
        /* In the task's track an interrupt's outermost call stands for all of it. */
        if (r < 0 || (in_irq && p->irq_depth != (call ? 0 : 1)))
                return r;
        return write_slice(p, track,
                           frame->role == ROLE_IRQ ? CATEGORY_INTERRUPT : CATEGORY_FUNCTION, &slice,
                           frame->cpu, frame, call);
}

/* What is open stays where it began, even if the task gets its name meanwhile: a frame's user is its task's pid. */
static int begin_call(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        frame->user = caller ? caller->user : (uint32_t) stack->pid;
        return write_call(userdata, stack->comm, frame, frame->begin_ns, NULL);
}

static int end_call(void *userdata, const Call *call) {
        return write_call(userdata, call->stack->comm, call->frame, call->frame->end_ns, call);
}

static int compare_runs(const void *a, const void *b) {
        const IrqRun *x = a, *y = b;

        return CMP(x->cpu, y->cpu) ?: CMP(x->begin_ns, y->begin_ns) ?: CMP(x->first, y->first);
}

/* Tasks' trees do not come in the order of a CPU's time. */
static int write_irqs(Perfetto *p) {
        uint64_t last_ns = 0, shift_ns;
        int r = 0;

        SORT(p->irq_runs, p->n_irq_runs, compare_runs);
        for (size_t i = 0; i < p->n_irq_runs && r >= 0; i++) {
                const IrqRun *run = &p->irq_runs[i];

                if (i == 0 || run->cpu != run[-1].cpu)
                        last_ns = 0;
                shift_ns = last_ns - MIN(last_ns, run->begin_ns);
                r = describe_cpu(p, run->cpu, true);
                for (size_t k = 0; k < run->n && r >= 0; k++) {
                        Slice slice = p->irq_slices[run->first + k];

                        slice.at_ns = last_ns = MIN(slice.at_ns + shift_ns, PAIRING_END_NS);
                        r = write_slice(p, UUID_IRQ(run->cpu), CATEGORY_INTERRUPT, &slice, run->cpu,
                                        NULL, NULL);
                }
        }
        return r;
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
        int r = end_run(p, step->cpu) ?: describe_cpu(p, step->cpu, false);

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

/* 1: @ret_flow begins here; 0: another waking was first, or it is an idle task; -ENOMEM. */
static int note_woken(Perfetto *p, int32_t pid, uint64_t *ret_flow) {
        uint64_t flow = hash_get(&p->arrows, (uint64_t) pid);

        if (pid == 0 || (flow > 0 && flow != ARROW_ENDED))
                return 0;
        flow = ++p->n_flows;
        if (hash_set(&p->arrows, (uint64_t) pid, flow) < 0)
                return -ENOMEM;
        *ret_flow = flow;
        return 1;
}

/* 0: nothing points at it. */
static uint64_t take_woken(Perfetto *p, int32_t pid) {
        uint64_t flow = hash_get(&p->arrows, (uint64_t) pid);

        if (flow == 0 || flow == ARROW_ENDED)
                return 0;
        (void) hash_set(&p->arrows, (uint64_t) pid, ARROW_ENDED); /* which is there */
        return flow;
}

static int write_wake(Perfetto *p, const Step *step, const SchedEvent *event) {
        bool wakes = event->kind != SCHED_SWITCH;
        uint64_t flow = 0, track;
        int r = 1;

        if (wakes)
                r = note_woken(p, event->pid, &flow);
        else
                flow = take_woken(p, event->pid);
        if (r <= 0 || flow == 0)
                return MIN(r, 0);
        r = wakes ? task_track(p, step->comm, step->pid, step->cpu, &track)
                  : task_track(p, event->comm, event->pid, step->cpu, &track);
        if (r < 0)
                return r;
        begin_event(p, TYPE_INSTANT, track, CATEGORY_WAKE);
        proto_bytes(&p->event, EVENT_NAME, wakes ? "wakes" : "runs", wakes ? 5 : 4);
        proto_fixed64(&p->event, wakes ? EVENT_FLOW_IDS : EVENT_TERMINATING_FLOW_IDS, flow);
        return write_event(p, step->timestamp_ns);
}

/* ---------------------------------------------------------------------------------------------- */

static int perfetto_init(void *userdata, Pairing *pairing) {
        pairing_add_sink(pairing, begin_call, end_call, userdata);
        pairing->places = pairing->keeps_arguments = true;
        return 0;
}

static int perfetto_step(void *userdata, const Step *step) {
        Perfetto *p = userdata;
        SchedEvent event;
        Cpu *cpu;
        int r = 0;

        if (step->kind == STEP_TASK || step->cpu >= N_CPUS)
                return 0;
        if (step->kind == STEP_LOST)
                return write_loss(p, step);
        if (!ARRAY_REACH(p->cpus, p->n_cpus, step->cpu))
                return -ENOMEM;
        cpu = &p->cpus[step->cpu];
        if (cpu->key != step_task_key(step))
                r = begin_run(p, step);
        cpu->last_ns = MAX(cpu->last_ns, step->timestamp_ns);
        event = sched_parse(step);
        return r < 0 || event.kind == SCHED_NONE ? r : write_wake(p, step, &event);
}

static int perfetto_end(void *userdata) {
        Perfetto *p = userdata;
        int r = 0;

        for (uint32_t i = 0; r >= 0 && i < p->n_cpus; i++)
                r = end_run(p, i);
        return r < 0 ? r : write_irqs(p);
}

static void perfetto_done(void *userdata) {
        Perfetto *p = userdata;

        buf_done(&p->packet);
        buf_done(&p->event);
        buf_done(&p->inner);
        intern_done(&p->names);
        hash_done(&p->tracks);
        free(p->cpus);
        hash_done(&p->arrows);
        free(p->irq_slices);
        free(p->irq_runs);
}

const Exporter exporter_perfetto = {
        .name = "perfetto",
        .summary = "timelines of tasks, CPUs and interrupts, for Perfetto",
        .is_binary = true,
        .draws_events = true,
        .viewer_bytes = UINT64_C(1) << 30,
        .viewer_advice = "--from and --to, --slowest or --root take a part of it, or open it with "
                         "\"trace_processor --httpd\"",
        .n_bytes = sizeof(Perfetto),
        .init = perfetto_init,
        .begin = perfetto_begin,
        .step = perfetto_step,
        .end = perfetto_end,
        .done = perfetto_done,
};
