/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever claims to be the formats of probes, and whatever their records hold between calls of any order: all steps
 * come out in the order in which they went in, no record is read beyond its end, and no value is of two calls, of
 * another task or of another function.
 *
 * Input: form of the return probe ("f" or "r"), its format, NUL, format of the entry probe, NUL, and events:
 *
 *      0   kind (three bits), task (one), context (two), whether interrupts are off (one)
 *      1   function (two bits), whether it returns to the graph (one), depth (two), how much time goes by (three)
 *      2   length of the record, whose bytes follow; of a call what it took
 */

#include "calls/steps.h"
#include "fuzz.h"

#define RETURN_TO_GRAPH 0xffffffff81000280
#define FUNCTIONS_AT 0xffffffff81001000
#define SYMBOLS                                                                                    \
        "ffffffff81000280 T return_to_handler\nffffffff81001000 T send\nffffffff81001100 T "       \
        "copy\nffffffff81001200 T route\nffffffff81001300 T lock\n"
#define RETURN_NAME "ftraced_0123456789abcdef_%c0"
#define ENTRY_NAME "ftraced_0123456789abcdef_e0"
#define RECORD_MAX 64

enum { ENTER, LEAVE, LEAF, RETURNED, GIVEN, LOST, OTHER };

/* A value that was recorded, until it is a call's. */
typedef struct Told {
        int32_t pid;
        const Function *function;
        uint64_t value;
} Told;

typedef struct World {
        Formats formats;
        ProbeFormat returned, given;
        SymbolTimeline *symbols;
        Functions functions;
        Values *values;
        bool has_returned, has_given, is_kretprobe;
        Told *told;
        size_t n_told;
        uint64_t now_ns, n_in, n_out;
} World;

static void world_init(World *w, char form, const char *returned, const char *given) {
        char name[64], *text = strdup(SYMBOLS);
        static const Strv no_roots;
        Symbols *symbols;
        int r;

        *w = (World){ .now_ns = 1000, .is_kretprobe = form == 'r' };
        FUZZ_CHECK(text && symbols_new(&symbols, text, strlen(SYMBOLS)) == 0);
        FUZZ_CHECK(symbol_timeline_add(&w->symbols, 0, 0, symbols) == 0);
        w->functions = (Functions){ .symbol_timeline = w->symbols, .roots = &no_roots };
        FUZZ_CHECK(values_new(&w->values, &w->formats, &w->functions) == 0);
        (void) snprintf(name, sizeof(name), RETURN_NAME, w->is_kretprobe ? 'r' : 'f');
        r = values_add(w->values, name, "send", returned);
        FUZZ_CHECK(r == 0 || r == FORMATS_E_INVALID);
        w->has_returned = r == 0;
        FUZZ_CHECK((r == 0) == (formats_parse_probe(&w->returned, returned, false) == 0));
        r = values_add(w->values, ENTRY_NAME, NULL, given);
        FUZZ_CHECK(r == 0 || r == FORMATS_E_INVALID);
        w->has_given = r == 0;
        FUZZ_CHECK((r == 0) == (formats_parse_probe(&w->given, given, true) == 0));
        FUZZ_CHECK(values_n(w->values) == (size_t) w->has_returned + w->has_given);
}

static void world_done(World *w) {
        values_free(w->values);
        functions_done(&w->functions);
        symbol_timeline_free(w->symbols);
        free(w->told);
        free(w->given.fields);
}

static void check_field(const Field *f, uint32_t n_bytes) {
        FUZZ_CHECK(f->size == 0 || f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
        FUZZ_CHECK((uint32_t) f->offset + f->size <= n_bytes);
}

static void check_format(const ProbeFormat *p) {
        check_field(&p->func, p->n_bytes);
        check_field(&p->ret_ip, p->n_bytes);
        check_field(&p->value, p->n_bytes);
        for (size_t i = 0; i < PROBE_ARGS_MAX; i++)
                check_field(&p->args[i], p->n_bytes);
        FUZZ_CHECK(p->n_fields <= PROBE_FIELDS_MAX);
        for (size_t i = 0; i < p->n_fields; i++) {
                FUZZ_CHECK((uint32_t) p->fields[i].at.offset + p->fields[i].at.size <= p->n_bytes);
                FUZZ_CHECK(p->fields[i].n_name == strlen(p->fields[i].name));
        }
}

static void come_out(World *w, const Step *step) {
        FUZZ_CHECK(step->event_id == (uint16_t) w->n_out);
        w->n_out++;
        if (step->n_args > 0 || step->object)
                FUZZ_CHECK(step->kind == STEP_ENTER || step->kind == STEP_LEAF);
        if (step->object) {
                size_t n = step->object->n_text;

                FUZZ_CHECK(step->object->n > 0 && strlen(object_text(step->object)) == n);
                FUZZ_CHECK(plain_length(object_text(step->object), n, PLAIN_WORD) == n);
                for (const ObjectField *f = step->object->fields, *end = f + step->object->n;
                     f < end; f++)
                        FUZZ_CHECK(f->name + f->n_name < f->value && f->value + f->n_value <= n);
        }
        if (!step_is_call(step) || !step->has_retval)
                return;
        FUZZ_CHECK(step->kind != STEP_ENTER);
        for (size_t i = 0; i < w->n_told; i++)
                if (w->told[i].pid == step->pid && w->told[i].value == step->retval &&
                    streq(w->told[i].function->label, step->function->label)) {
                        w->told[i] = w->told[--w->n_told];
                        return;
                }
        FUZZ_CHECK(!"it was told, and of no other call");
}

static void go_in(World *w, Step *step) {
        int r;

        step->event_id = (uint16_t) w->n_in++;
        r = values_push(w->values, step);
        FUZZ_CHECK(r == 0 || r == 1);
        if (r == 1)
                come_out(w, step);
}

static void pop(World *w) {
        Step step;

        while (values_pop(w->values, &step))
                come_out(w, &step);
}

/* What the record says goes to a call by its function, not by its address. */
static void note(World *w, Event *e, const uint8_t *data, size_t n, const ProbeFormat *p) {
        uint8_t *record = fuzz_copy(data, n);
        ProbeRecord said;

        e->kind = EVENT_OTHER;
        e->id = p->id;
        e->payload = record;
        e->n_bytes = (uint32_t) n;
        FUZZ_CHECK(values_knows(w->values, e));
        if (!p->is_entry && formats_decode_probe(p, &w->formats, e, &said)) {
                w->told = realloc(w->told, (w->n_told + 1) * sizeof(*w->told));
                FUZZ_CHECK(w->told);
                if (w->is_kretprobe)
                        FUZZ_CHECK(prototype_narrow(NULL, &said.value));
                w->told[w->n_told++] =
                        (Told){ e->pid, functions_get(&w->functions, said.func, e->timestamp_ns),
                                said.value };
        }
        FUZZ_CHECK(values_note(w->values, e, NULL) == 0);
        free(record);
}

static void happen(World *w, const uint8_t *p, size_t n) {
        static const uint8_t contexts[] = { 0, 0x10, 0x08, 0x40 };
        uint64_t address = FUNCTIONS_AT + (uint64_t) (p[1] & 3) * 0x100;
        Event e = { .timestamp_ns = w->now_ns += (uint64_t) p[1] >> 5,
                    .pid = 17 + (p[0] >> 3 & 1),
                    .flags = (uint8_t) (contexts[p[0] >> 4 & 3] | (p[0] >> 6 & 1)),
                    .depth = p[1] >> 3 & 3,
                    .func = address,
                    .rettime = w->now_ns,
                    .calltime = w->now_ns - MIN((uint64_t) p[2], w->now_ns) };
        Step step = { .pid = e.pid, .depth = e.depth, .timestamp_ns = e.timestamp_ns };

        step.function = functions_get(&w->functions, address, e.timestamp_ns);
        FUZZ_CHECK(step.function);
        switch (p[0] & 7) {
        case LEAF:
        case ENTER:
                FUZZ_CHECK(values_enter(w->values, &e, &step) == 0);
                if ((p[0] & 7) == LEAF) {
                        step.kind = STEP_LEAF;
                        FUZZ_CHECK(values_leave(w->values, &e, &step) == 0);
                }
                go_in(w, &step);
                break;
        case LEAVE:
                step.kind = STEP_LEAVE;
                FUZZ_CHECK(values_leave(w->values, &e, &step) == 0);
                go_in(w, &step);
                break;
        case RETURNED:
                if (w->has_returned)
                        note(w, &e, p + 3, n, &w->returned);
                break;
        case GIVEN:
                if (w->has_given && (!w->has_returned || w->given.id != w->returned.id))
                        note(w, &e, p + 3, n, &w->given);
                break;
        case LOST:
                values_forget(w->values);
                step.kind = STEP_LOST;
                go_in(w, &step);
                break;
        default:
                step.kind = STEP_OTHER;
                go_in(w, &step);
        }
        pop(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_free_ char *text = fuzz_text(data, size);
        size_t n = MIN(strlen(text) + 1, size), n_given;
        _cleanup_free_ char *given = fuzz_text(data + n, size - n);
        World w;

        n_given = MIN(strlen(given) + 1, size - n);
        world_init(&w, *text, *text ? text + 1 : text, given);
        if (w.has_returned)
                check_format(&w.returned);
        if (w.has_given)
                check_format(&w.given);
        for (size_t i = n + n_given; size - i >= 3;) {
                uint8_t kind = data[i] & 7;
                size_t n_record = kind == RETURNED || kind == GIVEN ? data[i + 2] % RECORD_MAX : 0;

                n_record = MIN(n_record, size - i - 3);
                happen(&w, data + i, n_record);
                i += 3 + n_record;
        }
        values_forget(w.values);
        pop(&w);
        FUZZ_CHECK(w.n_in == w.n_out);
        world_done(&w);
        return 0;
}
