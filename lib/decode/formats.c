/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where a field lies is looked for by its name, checked once (sizes a number can have, offsets inside
 * a page) and kept as a plain offset, so that decoding a record is a handful of loads behind one
 * comparison of its length.
 */

#include "base/array.h"
#include "decode/event-text.h"
#include "decode/formats.h"
#include "store/format.h"
#include "store/page.h"
#include "store/tracing.h"

#define FORMAT_TEXT_MAX ((size_t) 16 << 10) /* real ones are below 1 KiB */
#define RECORD_BYTES_MAX 4096U              /* no field of a record lies beyond */

typedef struct Wanted {
        const char *name;
        Field *field;
        bool required;
} Wanted;

static bool field_is_number(const TracingField *f) {
        return !f->is_array && (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) &&
               f->offset <= RECORD_BYTES_MAX - f->size;
}

/* Return: 0, FORMATS_E_INVALID.  *@ret_n_bytes: how long a record must be to have them all. */
static int find_fields(const char *text, const Wanted *wanted, size_t n_wanted,
                       uint32_t *ret_n_bytes) {
        uint32_t n_bytes = 0;

        for (size_t i = 0; i < n_wanted; i++) {
                TracingField f = tracing_find_field(text, wanted[i].name);

                if (!field_is_number(&f)) {
                        if (wanted[i].required)
                                return FORMATS_E_INVALID;
                        continue;
                }
                *wanted[i].field = (Field){ .offset = (uint16_t) f.offset,
                                            .size = (uint8_t) f.size,
                                            .is_signed = f.is_signed };
                n_bytes = MAX(n_bytes, f.offset + f.size);
        }
        *ret_n_bytes = n_bytes;
        return 0;
}

static int parse_header_page(const char *text, Formats *f) {
        TracingField timestamp = tracing_find_field(text, "timestamp"),
                     commit = tracing_find_field(text, "commit"),
                     data = tracing_find_field(text, "data");

        if (timestamp.offset != 0 || timestamp.size != 8 || commit.offset != 8 ||
            commit.size != 8 || data.offset != PAGE_HEADER_BYTES ||
            data.size > PAGE_BYTES_MAX - PAGE_HEADER_BYTES ||
            data.size < PAGE_BYTES_MIN - PAGE_HEADER_BYTES)
                return FORMATS_E_INVALID;
        f->page_bytes = PAGE_HEADER_BYTES + data.size;
        return 0;
}

/* Of an event, of any if @name is NULL, whose id or fields are of no use: FORMATS_E_INVALID. */
static int parse_event(const char *name, const char *text, const Wanted *wanted, size_t n_wanted,
                       uint16_t *ret_id, uint32_t *ret_n_bytes) {
        const char *rest = startswith(text, "name: "), *id = strstr(text, "\nID: ");
        int n = id ? atoi(id + strlen("\nID: ")) : 0;

        if (name && rest)
                rest = startswith(rest, name);
        if (!rest || (name && *rest != '\n') || n <= 0 || n >= UINT16_MAX ||
            strnlen(text, FORMAT_TEXT_MAX + 1) > FORMAT_TEXT_MAX || !format_text_is_valid(text))
                return FORMATS_E_INVALID;
        *ret_id = (uint16_t) n;
        return find_fields(text, wanted, n_wanted, ret_n_bytes);
}

int formats_parse(Formats *ret, const char *header_page, const char *entry, const char *exit,
                  bool big_endian, const char **ret_problem) {
        Formats f = { .big_endian = big_endian };
        const Wanted wanted_entry[] = {
                { "common_type", &f.type, true },
                { "common_flags", &f.flags, true },
                { "common_preempt_count", &f.preempt_count, true },
                { "common_pid", &f.pid, true },
                { "func", &f.entry.func, true },
                { "depth", &f.entry.depth, true },
        };
        Field type = {}, pid = {};
        const Wanted wanted_exit[] = {
                { "common_type", &type, true },         { "common_pid", &pid, true },
                { "func", &f.exit.func, true },         { "depth", &f.exit.depth, true },
                { "calltime", &f.exit.calltime, true }, { "rettime", &f.exit.rettime, true },
                { "overrun", &f.exit.overrun, false },  { "retval", &f.exit.retval, false },
        };
        TracingField args;
        int r;

        *ret_problem = "events/header_page is not that of a 64-bit kernel's ring buffer";
        r = parse_header_page(header_page, &f);
        if (r != 0)
                return r;
        *ret_problem = "events/ftrace/funcgraph_entry/format lacks fields or contradicts itself";
        r = parse_event("funcgraph_entry", entry, wanted_entry, ELEMENTSOF(wanted_entry),
                        &f.entry_id, &f.entry.n_bytes);
        if (r != 0)
                return r;
        /* Words behind the last field, "unsigned long args[]" of size 0 (linux 7.2). */
        args = tracing_find_field(entry, "args");
        if (args.is_array && args.offset >= f.entry.n_bytes && args.offset <= RECORD_BYTES_MAX &&
            f.entry.func.size == 8)
                f.entry.args = (Field){ .offset = (uint16_t) args.offset, .size = 8 };
        *ret_problem = "events/ftrace/funcgraph_exit/format lacks fields or contradicts itself";
        r = parse_event("funcgraph_exit", exit, wanted_exit, ELEMENTSOF(wanted_exit), &f.exit_id,
                        &f.exit.n_bytes);
        if (r != 0)
                return r;
        /* One place for the common fields, whatever the event. */
        *ret_problem = "the formats of funcgraph_entry and funcgraph_exit contradict each other";
        if (f.entry_id == f.exit_id || f.type.offset != type.offset || f.type.size != 2 ||
            type.size != 2 || f.pid.offset != pid.offset || f.pid.size != pid.size)
                return FORMATS_E_INVALID;
        *ret_problem = NULL;
        formats_prepare(&f);
        *ret = f;
        return 0;
}

/* What fields of a kind begin with, and the sizes that they may have, as bits. */
static const struct {
        const char *prefix;
        unsigned sizes;
} kinds[] = {
        [PROBE_UNSIGNED] = { "u_", 1 | 2 | 4 | 8 },
        [PROBE_SIGNED] = { "d_", 1 | 2 | 4 | 8 },
        [PROBE_HEX] = { "x_", 1 | 2 | 4 | 8 },
        [PROBE_PORT] = { "po_", 2 },
        [PROBE_NETWORK] = { "be_", 2 | 4 | 8 },
        [PROBE_IP4] = { "ip4_", 4 },
        [PROBE_IP6] = { "ip6_", 16 },
        [PROBE_FAMILY] = { "fam_", 1 | 2 | 4 | 8 },
        [PROBE_SOCKET] = { "st_", 2 },
        [PROBE_THROUGH] = { "at_", 8 },
        [PROBE_DEVICE] = { "dev_", 4 },
        [PROBE_STRING] = { "s_", 4 },
        [PROBE_PATH] = { "p", 4 },
};

/* False: it is nothing that a probe records of an object. */
static bool parse_probe_field(ProbeField *ret, const TracingField *t) {
        static const char letters[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
        ProbeField f = { .at = { (uint16_t) t->offset, (uint8_t) t->size, t->is_signed } };
        char name[PROBE_FIELD_NAME_MAX + 1] = "";
        const char *rest = NULL;

        if (t->n_name > PROBE_FIELD_NAME_MAX || t->size > 16 || t->offset > RECORD_BYTES_MAX - 16)
                return false;
        memcpy(name, t->name, t->n_name);
        for (; f.kind < ELEMENTSOF(kinds) && !rest; f.kind++)
                rest = startswith(name, kinds[f.kind].prefix);
        if (!rest)
                return false;
        f.kind--;
        f.at.is_signed = f.at.is_signed && f.kind <= PROBE_SIGNED;
        if (f.kind == PROBE_PATH) {
                if (*rest < '0' || *rest > '7' || rest[1] != '_')
                        return false;
                f.part = (uint8_t) (*rest - '0');
                rest += 2;
        }
        f.n_name = (uint8_t) strlen(rest);
        memcpy(f.name, rest, f.n_name);
        *ret = f;
        return f.n_name > 0 && strspn(rest, letters) == f.n_name && (*rest < '0' || *rest > '9' || f.kind == PROBE_THROUGH) &&
               __builtin_popcount(t->size) == 1 && kinds[f.kind].sizes & t->size &&
               t->is_array == (f.kind == PROBE_IP6) && t->is_string == (f.kind >= PROBE_STRING);
}

static int parse_probe_fields(ProbeFormat *f, const char *text) {
        TracingField t;
        ProbeField field;

        while (f->n_fields < PROBE_FIELDS_MAX && tracing_next_field(&text, &t)) {
                if (!parse_probe_field(&field, &t))
                        continue;
                if (!ARRAY_ADD(f->fields, f->n_fields, field))
                        return -ENOMEM;
                f->n_bytes = MAX(f->n_bytes, (uint32_t) field.at.offset + field.at.size);
        }
        /* Some kernels refuse two of the same name: "daddr6" is the "daddr" of another family. */
        for (size_t i = 0; i < f->n_fields; i++)
                for (size_t k = 0; k < f->n_fields; k++) {
                        ProbeField *six = &f->fields[i], *four = &f->fields[k];

                        if (six->kind == PROBE_IP6 && four->kind == PROBE_IP4 &&
                            six->n_name == four->n_name + 1 && six->name[four->n_name] == '6' &&
                            memcmp(six->name, four->name, four->n_name) == 0)
                                six->name[--six->n_name] = 0;
                }
        return 0;
}

int formats_parse_probe(ProbeFormat *ret, const char *text, ProbeKind kind) {
        bool is_entry = kind != PROBE_RETURNED;
        ProbeFormat f = { .is_entry = is_entry, .is_stacked = kind == PROBE_STACKED };
        const Wanted returned[] = {
                { "__probe_func", &f.func, true },
                { "__probe_ret_ip", &f.ret_ip, true },
                { "ret", &f.value, true },
        };
        const Wanted given[] = {
                { "__probe_ip", &f.func, true }, { "a0", &f.args[0], false },
                { "a1", &f.args[1], false },     { "a2", &f.args[2], false },
                { "a3", &f.args[3], false },     { "a4", &f.args[4], false },
                { "a5", &f.args[5], false },
        };
        int r = parse_event(NULL, text, is_entry ? given : returned,
                            is_entry ? ELEMENTSOF(given) : ELEMENTSOF(returned), &f.id, &f.n_bytes);

        if (r == 0 && kind == PROBE_GIVEN)
                r = parse_probe_fields(&f, text);
        f.has_args = f.args[0].size > 0;
        if (r == 0 && kind == PROBE_GIVEN && !f.has_args && f.n_fields == 0)
                r = FORMATS_E_INVALID;
        if (r == 0)
                *ret = f;
        else
                free(f.fields);
        return r;
}

static bool is_at(const Field *f, uint16_t offset, uint8_t size) {
        return f->offset == offset && f->size == size;
}

static bool is_plain_depth(const Field *f) {
        return f->size == 8 || f->size == 4;
}

static uint32_t n_lengths(uint32_t from, uint32_t to) {
        return to > from ? to - from : 0;
}

void formats_prepare(Formats *f) {
        f->is_plain = !f->big_endian && !needs_swap(false) && is_at(&f->type, 0, 2) &&
                      is_at(&f->flags, 2, 1) && is_at(&f->preempt_count, 3, 1) &&
                      is_at(&f->pid, 4, 4) && f->entry.func.size == 8 && f->exit.func.size == 8 &&
                      is_plain_depth(&f->entry.depth) && is_plain_depth(&f->exit.depth) &&
                      f->exit.calltime.size == 8 && f->exit.rettime.size == 8 &&
                      (f->exit.overrun.size == 0 || f->exit.overrun.size == 4) &&
                      (f->exit.retval.size == 0 || f->exit.retval.size == 8);
        f->entry.n_with_args = f->entry.args.size > 0
                                       ? (uint32_t) f->entry.args.offset + f->entry.args.size
                                       : UINT32_MAX;
        f->entry.n_usual =
                n_lengths(f->entry.n_bytes, MIN(f->entry.n_with_args, RECORD_SHORT_BYTES_MAX + 1U));
        f->exit.n_usual = n_lengths(f->exit.n_bytes, RECORD_SHORT_BYTES_MAX + 1U);
}

static inline uint64_t load_field(const Field *f, const Record *record) {
        const uint8_t *p = record->data + f->offset;
        uint64_t v;

        switch (f->size) {
        case 8:
                return load_u64(p, record->swap);
        case 4:
                v = load_u32(p, record->swap);
                return f->is_signed ? (uint64_t) (int64_t) (int32_t) v : v;
        case 2:
                v = load_u16(p, record->swap);
                return f->is_signed ? (uint64_t) (int64_t) (int16_t) v : v;
        case 1:
                return f->is_signed ? (uint64_t) (int64_t) (int8_t) *p : *p;
        default:
                return 0;
        }
}

static inline bool has_field(const Field *f, const Record *record) {
        return record->n_data >= (uint32_t) f->offset + f->size;
}

void formats_decode_any(const Formats *f, const Record *record, Event *ret) {
        *ret = (Event){
                .timestamp_ns = record->timestamp_ns,
                .kind = EVENT_SHORT,
                .n_bytes = record->n_data,
        };
        if (!has_field(&f->type, record))
                return;
        ret->id = (uint16_t) load_field(&f->type, record);
        if (ret->id == f->entry_id) {
                if (record->n_data < f->entry.n_bytes)
                        return;
                ret->kind = EVENT_ENTRY;
                ret->func = load_field(&f->entry.func, record);
                ret->depth = formats_clamp_depth(load_field(&f->entry.depth, record));
                if (record->n_data >= f->entry.n_with_args) { /* it has arguments */
                        ret->payload = record->data + f->entry.args.offset;
                        ret->n_args =
                                MIN((record->n_data - f->entry.args.offset) / sizeof(uint64_t),
                                    (uint32_t) EVENT_ARGS_MAX);
                }
        } else if (ret->id == f->exit_id) {
                if (record->n_data < f->exit.n_bytes)
                        return;
                ret->kind = EVENT_EXIT;
                ret->func = load_field(&f->exit.func, record);
                ret->depth = formats_clamp_depth(load_field(&f->exit.depth, record));
                ret->calltime = load_field(&f->exit.calltime, record);
                ret->rettime = load_field(&f->exit.rettime, record);
                ret->overrun = (uint32_t) load_field(&f->exit.overrun, record);
                ret->retval = load_field(&f->exit.retval, record);
        } else {
                ret->kind = EVENT_OTHER;
                ret->payload = record->data;
        }
        if (has_field(&f->pid, record))
                ret->pid = (int32_t) load_field(&f->pid, record);
        if (has_field(&f->flags, record))
                ret->flags = (uint8_t) load_field(&f->flags, record);
        if (has_field(&f->preempt_count, record))
                ret->preempt_count = (uint8_t) load_field(&f->preempt_count, record);
}

static Record record_of(const Formats *f, const Event *e) {
        return (Record){ .data = e->payload,
                         .n_data = e->n_bytes,
                         .swap = needs_swap(f->big_endian) };
}

bool formats_decode_probe(const ProbeFormat *p, const Formats *f, const Event *e,
                          ProbeRecord *ret) {
        const Record record = record_of(f, e);

        if (!e->payload || e->n_bytes < p->n_bytes)
                return false;
        *ret = (ProbeRecord){ .func = load_field(&p->func, &record),
                              .ret_ip = load_field(&p->ret_ip, &record),
                              .value = load_field(&p->value, &record) };
        for (size_t i = 0; i < PROBE_ARGS_MAX; i++)
                ret->args[i] = load_field(&p->args[i], &record);
        return true;
}

uint64_t formats_probe_number(const ProbeField *field, const Formats *f, const Event *e) {
        bool is_raw = field->kind == PROBE_NETWORK || field->kind == PROBE_IP4;
        Record record = record_of(f, e);
        Field at = field->at;

        record.swap = is_raw ? needs_swap(true) : record.swap;
        at.is_signed = at.is_signed && !is_raw;
        return load_field(&at, &record);
}

const char *formats_probe_bytes(const ProbeField *field, const Formats *f, const Event *e,
                                size_t *ret_n) {
        const Record record = record_of(f, e);
        uint32_t where = field->kind == PROBE_IP6 ? field->at.offset | 16U << 16
                                                  : (uint32_t) load_field(&field->at, &record);
        const char *bytes = (const char *) record.data + MIN(where & 0xffff, record.n_data);
        size_t n =
                MIN(where >> 16, record.n_data - (uint32_t) (bytes - (const char *) record.data));

        *ret_n = field->kind == PROBE_IP6 ? n : strnlen(bytes, n);
        return bytes;
}

/* Arguments become numbers of this machine on the way, records of others stay as they are. */
int payloads_keep(Payloads *p, const Formats *formats, Event *event) {
        size_t n = event->kind == EVENT_ENTRY ? event->n_args * sizeof(uint64_t) : event->n_bytes;
        bool swap = needs_swap(formats->big_endian);
        const uint8_t *from = event->payload;
        uint64_t *words;

        p->at ^= 1;
        if (!ARRAY_ROOM(p->kept[p->at], p->n_room[p->at], n / sizeof(*words) + 1))
                return -ENOMEM;
        words = p->kept[p->at];
        if (event->kind == EVENT_ENTRY)
                for (uint32_t i = 0; i < event->n_args; i++)
                        words[i] = load_u64(from + i * sizeof(uint64_t), swap);
        else {
                memcpy(words, from, n);
                ((char *) words)[n] = 0;
        }
        event->payload = words;
        return 0;
}

void payloads_done(Payloads *p) {
        free(p->kept[0]);
        free(p->kept[1]);
}
