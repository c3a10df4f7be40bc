/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The print format of an event is a C expression over the record's fields, and libtraceevent
 * 1.7.1 evaluates it without asking whether it makes sense and what the record says of itself is
 * true.  So that is asked here before: at foreign_add(), whether the expression is one that kernels
 * write, whose reach is bounded by the format (print-format.c; else the event is printed as a list of its
 * fields); at foreign_print(), whether all fields, and what the __data_loc ones point to, are inside
 * the record.  A string may lack its NUL, and is then read as far as the one behind the record.
 */

#include <event-parse.h>
#include <trace-seq.h>

#include "base/array.h"
#include "base/name.h"
#include "decode/event-text.h"
#include "decode/foreign.h"

#define FORMAT_TEXT_MAX ((size_t) 64 << 10) /* real ones are below 16 KiB */
#define RECORD_BYTES_MAX 65536
#define STACK_MAX (RECORD_BYTES_MAX / 8)
#define SYMBOL_NAME_MAX 512
#define MODULE_MAX 64
#define SYSCALL_ENTER "sys_enter_"
#define SYSCALL_EXIT "sys_exit_"
#define PLACE_MAX (SYMBOL_NAME_MAX + sizeof("+0x0123456789abcdef/0x0123456789abcdef") + MODULE_MAX)

typedef enum How {
        HOW_EVENT,   /* as the print format says */
        HOW_MESSAGE, /* the field `buf` alone */
        HOW_FUNCTION,
        HOW_STACK,
        HOW_USER_STACK,
        HOW_RAW,
        HOW_BPRINT,
        HOW_BPUTS,
        HOW_SYSCALL,        /* "sys_NAME(" as the print format says ")" */
        HOW_SYSCALL_OPEN,   /* the same, and perhaps no mode */
        HOW_SYSCALL_FIELDS, /* "sys_NAME(" its fields ")" */
        HOW_SYSCALL_EXIT,
        HOW_LATER, /* its format was not read yet */
        HOW_NOT,   /* it cannot be used */
} How;

/* Tracers' events whose print formats do not say how they are printed. */
static const struct {
        const char *name;
        How how;
} of_tracers[] = {
        { "print", HOW_MESSAGE },      { "function", HOW_FUNCTION },
        { "kernel_stack", HOW_STACK }, { "user_stack", HOW_USER_STACK },
        { "raw_data", HOW_RAW },       { "bprint", HOW_BPRINT },
        { "bputs", HOW_BPUTS },
};

#define SCHED_COMM_BYTES 16

/*
 * Where a record of the scheduler has what sched_parse() would find in its text, offsets in bytes, if the print format is
 * the kernel's own but for the expression of the state.  With which letter that begins is looked up in the text, once for
 * each state.
 */
typedef struct SchedLayout {
        SchedKind kind;
        int comm, pid, left_comm, left_pid, state; /* of 16, 4, 16, 4 and 8 bytes */
        char letters[257]; /* of states that kernels since 4.14 have; 0: not known yet */
} SchedLayout;

typedef struct Known {
        int id;
        How how;
        struct tep_event *event;
        char *names;        /* of a PrintFormat; NULL: it prints none; or syscall_text_kinds() */
        SchedLayout *sched; /* NULL: it is no event of the scheduler, or has another form */
        /* LATER: its format, of which the text is borrowed */
        char *system;
        const char *format;
} Known;

struct Foreign {
        struct tep_handle *tep;
        bool swap;
        Known *known;
        size_t n_known;
        Hash by_id; /* index + 1 */
        struct trace_seq seq;
        Buf line;
        bool is_since_6_18; /* as far as is known */
        ForeignFind find;   /* NULL: addresses have no names */
        void *userdata;
        uint64_t now_ns;   /* of the event that is printed */
        size_t n_long;     /* bytes of a long */
        const char *names; /* its PrintFormatNames that were not printed yet */
        char name[PLACE_MAX];
        Printk printk;
};

static char *resolve(void *foreign, unsigned long long *address, char **module);

int foreign_new(Foreign **ret, bool big_endian) {
        _cleanup_(foreign_freep) Foreign *f = calloc(1, sizeof(*f));

        if (!f)
                return -ENOMEM;
        tep_set_loglevel(TEP_LOG_NONE);
        trace_seq_init(&f->seq);
        f->line = BUF_INIT;
        f->swap = needs_swap(big_endian);
        f->tep = tep_alloc();
        if (!f->tep || f->seq.state != TRACE_SEQ__GOOD)
                return -ENOMEM;
        f->n_long = 8;
        tep_set_long_size(f->tep, 8);
        tep_set_file_bigendian(f->tep, big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
        if (tep_set_function_resolver(f->tep, resolve, f) < 0)
                return -ENOMEM;
        *ret = TAKE_PTR(f);
        return 0;
}

void foreign_set_narrow(Foreign *f) {
        f->n_long = 4;
        tep_set_long_size(f->tep, 4);
}

static How find_how(const Foreign *f, const struct tep_event *event, const char *system,
                    const char *format, bool is_printed) {
        for (size_t i = 0; streq(system, "ftrace") && i < ELEMENTSOF(of_tracers); i++)
                if (streq(event->name, of_tracers[i].name))
                        return of_tracers[i].how;
        if (!streq(system, "syscalls"))
                return HOW_EVENT;
        if (startswith(event->name, SYSCALL_ENTER) && !syscall_text_has_flags(format) &&
            (f->is_since_6_18 ||
             strstr(format, "\tfield:__data_loc char[] __"))) /* what pointers point to */
                return HOW_SYSCALL_FIELDS;
        if (!is_printed)
                return HOW_EVENT;
        return startswith(event->name, SYSCALL_EXIT)     ? HOW_SYSCALL_EXIT
               : !startswith(event->name, SYSCALL_ENTER) ? HOW_EVENT
               : syscall_text_has_flags(format)          ? HOW_SYSCALL_OPEN
                                                         : HOW_SYSCALL;
}

#define SWITCH_FORMAT                                                                              \
        "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "    \
        "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
#define SWITCH_END ", REC->next_comm, REC->next_pid, REC->next_prio"
#define WAKING_FORMAT                                                                              \
        "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, "             \
        "REC->target_cpu"

/* True if @text, up to @end, prints the state and nothing else, without an '=', so that no key is in it. */
static bool is_of_state(const char *text, const char *end) {
        size_t n = (size_t) (end - text);

        for (const char *p = text; (p = strstr(p, "REC->")) && p < end; p++)
                if (!startswith(p, "REC->prev_state "))
                        return false;
        return !memchr(text, '=', n) && !memmem(text, n, "__get", strlen("__get"));
}

/* Where it is; -1: it has another form. */
static int offset_of(struct tep_event *event, const char *name, int size) {
        const struct tep_format_field *field = tep_find_any_field(event, name);
        unsigned long string = TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING,
                      others = string | TEP_FIELD_IS_POINTER | TEP_FIELD_IS_DYNAMIC;

        return field && field->size == size &&
                               (field->flags & others) == (size == SCHED_COMM_BYTES ? string : 0)
                       ? field->offset
                       : -1;
}

/* @format: that the event is printed by.  False: it is another event, or has another form. */
static bool sched_layout_learn(SchedLayout *ret, struct tep_event *event, const char *format) {
        const char *print = strstr(format, "\nprint fmt: \""), *end = NULL;
        bool is_switch = streq(event->name, "sched_switch");

        ret->kind = is_switch ? SCHED_SWITCH
                    : streq(event->name, "sched_waking") || streq(event->name, "sched_wakeup")
                            ? SCHED_WAKING
                    : streq(event->name, "sched_wakeup_new") ? SCHED_WAKING_NEW
                                                             : SCHED_NONE;
        if (ret->kind == SCHED_NONE || !print)
                return false;
        print = startswith(print + strlen("\nprint fmt: "),
                           is_switch ? SWITCH_FORMAT : WAKING_FORMAT);
        if (print && is_switch)
                end = strstr(print, SWITCH_END);
        if (!print || (is_switch && (!end || !is_of_state(print, end))))
                return false;
        end = end ? end + strlen(SWITCH_END) : print;
        ret->comm = offset_of(event, is_switch ? "next_comm" : "comm", SCHED_COMM_BYTES);
        ret->pid = offset_of(event, is_switch ? "next_pid" : "pid", 4);
        ret->left_comm = is_switch ? offset_of(event, "prev_comm", SCHED_COMM_BYTES) : 0;
        ret->left_pid = is_switch ? offset_of(event, "prev_pid", 4) : 0;
        ret->state = is_switch ? offset_of(event, "prev_state", 8) : 0;
        return !end[strspn(end, "\n")] &&
               (ret->comm | ret->pid | ret->left_comm | ret->left_pid | ret->state) >= 0;
}

/* Reads the format that has waited.  0, FORMATS_E_INVALID, -ENOMEM. */
static int learn(Foreign *f, Known *known) {
        _cleanup_(print_format_done) PrintFormat p = {};
        const char *system = known->system, *format = known->format;
        struct tep_event *event = NULL;
        SchedLayout sched = {};
        bool is_plain;
        How how;
        int r;

        known->how = HOW_NOT;
        if (strlen(format) > FORMAT_TEXT_MAX || !format_text_is_valid(format))
                return FORMATS_E_INVALID;
        r = print_format_parse(&p, system, format);
        if (r < 0)
                return r;
        is_plain = format_text_prints_plainly(p.text);
        r = is_plain ? 0 : print_format_drop(&p);
        if (r < 0)
                return r;
        r = (int) tep_parse_format(f->tep, &event, p.text, strlen(p.text), system);
        if (!event || event->id <= 0 || event->id != known->id)
                return FORMATS_E_INVALID;
        if (r != 0 || !is_plain || (event->flags & TEP_EVENT_FL_FAILED))
                event->flags |= TEP_EVENT_FL_PRINTRAW;
        how = find_how(f, event, system, format, !(event->flags & TEP_EVENT_FL_PRINTRAW));
        if (how == HOW_SYSCALL_FIELDS) {
                free(p.names);
                p.names = syscall_text_kinds(event, format);
                if (!p.names)
                        return -ENOMEM;
        }
        if (how == HOW_EVENT && !(event->flags & TEP_EVENT_FL_PRINTRAW) &&
            sched_layout_learn(&sched, event, p.text)) {
                known->sched = malloc(sizeof(sched));
                if (!known->sched)
                        return -ENOMEM;
                *known->sched = sched;
        }
        known->event = event;
        known->how = how;
        known->names = TAKE_PTR(p.names);
        return 0;
}

int foreign_add_later(Foreign *f, const char *system, const char *format) {
        const char *id = strstr(format, "\nID: ");
        Known known = { .id = id ? atoi(id + strlen("\nID: ")) : -1,
                        .how = HOW_LATER,
                        .system = strdup(system),
                        .format = format };

        if (known.system && ARRAY_ADD(f->known, f->n_known, known))
                return hash_add(&f->by_id, (uint64_t) known.id, f->n_known);
        free(known.system);
        return -ENOMEM;
}

int foreign_add(Foreign *f, const char *system, const char *format) {
        int r = foreign_add_later(f, system, format);

        return r < 0 ? r : learn(f, &f->known[f->n_known - 1]);
}

static const Known *find_known(Foreign *f, int id) {
        const HashSlot *slot;

        hash_each (slot, &f->by_id, (uint64_t) id) {
                Known *known = &f->known[slot->value - 1];

                if (known->how == HOW_LATER && learn(f, known) == -ENOMEM)
                        known->how = HOW_LATER; /* another time */
                if (known->how < HOW_LATER)
                        return known;
        }
        return NULL;
}

/* True if the field, and what it points to, is inside the record. */
static bool field_fits(const Foreign *f, const struct tep_format_field *field, const uint8_t *data,
                       uint32_t n) {
        uint32_t word, at, length;

        if (field->offset < 0 || field->size < 0 || (uint32_t) field->offset > n ||
            (uint32_t) field->size > n - (uint32_t) field->offset)
                return false;
        if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
                return true;
        if (field->size != 4)
                return false;
        word = load_u32(data + field->offset, f->swap);
        at = word & 0xffff;
        length = word >> 16;
        if (field->flags & TEP_FIELD_IS_RELATIVE)
                at += (uint32_t) field->offset + 4;
        return at <= n && length <= n - at;
}

static bool record_fits(const Foreign *f, const struct tep_event *event, const uint8_t *data,
                        uint32_t n) {
        const struct tep_format_field *lists[] = { event->format.common_fields,
                                                   event->format.fields };

        for (size_t i = 0; i < ELEMENTSOF(lists); i++)
                for (const struct tep_format_field *p = lists[i]; p; p = p->next)
                        if (!field_fits(f, p, data, n))
                                return false;
        return true;
}

/* --- events of tracers ------------------------------------------------------------------------ */

/* Where a field that need not have a size begins; NULL: not in the record. */
static const uint8_t *find_bytes(const Known *known, const Event *e, const char *name,
                                 size_t *ret_n) {
        struct tep_format_field *field = tep_find_any_field(known->event, name);

        if (!field || field->offset < 0 || (uint32_t) field->offset > e->n_bytes)
                return NULL;
        *ret_n = e->n_bytes - (uint32_t) field->offset;
        return (const uint8_t *) e->payload + field->offset;
}

static uint64_t number_of(const Foreign *f, const Known *known, const Event *e, const char *name) {
        struct tep_format_field *field = tep_find_any_field(known->event, name);
        size_t n = 0;
        const uint8_t *p = find_bytes(known, e, name, &n);

        if (!p || field->size < 0 || (size_t) field->size > n)
                return 0;
        return field->size == 8   ? load_u64(p, f->swap)
               : field->size == 4 ? load_u32(p, f->swap)
                                  : 0;
}

/* Its name, which stands in f->name, and of what; NULL: there is none. */
static const char *name_of(Foreign *f, uint64_t address, Symbol *ret) {
        if (!f->find || !f->find(f->userdata, address, f->now_ns, ret))
                return NULL;
        (void) snprintf(f->name, SYMBOL_NAME_MAX, "%.*s", (int) ret->n_name, ret->name);
        return f->name;
}

static void put_name(void *foreign, Buf *out, uint64_t address, bool with_offset) {
        Symbol symbol;
        const char *name = name_of(foreign, address, &symbol);

        if (!name)
                buf_printf(out, "0x%llx", (unsigned long long) address);
        else
                buf_adds(out, name);
        if (name && with_offset)
                buf_printf(out, "+0x%llx", (unsigned long long) (address - symbol.address));
}

/* %ps of a print format: all that the kernel prints there (lib/vsprintf.c, symbol_string()). */
static char *resolve(void *foreign, unsigned long long *address, char **module) {
        Foreign *f = foreign;
        char kind = f->names && *f->names ? *f->names++ : PRINT_FORMAT_PLACE;
        Symbol symbol;
        size_t n;

        /* Absolute ones, as each CPU's variables are, are where NULL is. */
        if (!name_of(f, *address, &symbol) || (symbol.type | 0x20) == 'a')
                return NULL;
        n = strlen(f->name);
        if (kind == PRINT_FORMAT_OFFSET)
                n += (size_t) sprintf(f->name + n, "+0x%llx", *address - symbol.address);
        if (kind == PRINT_FORMAT_OFFSET && symbol.n_bytes > 0)
                n += (size_t) sprintf(f->name + n, "/0x%llx", (unsigned long long) symbol.n_bytes);
        if (kind != PRINT_FORMAT_NAME && symbol.module)
                (void) snprintf(f->name + n, MODULE_MAX, " [%.*s]", (int) symbol.n_module,
                                symbol.module);
        return f->name;
}

static size_t read_stack(const Foreign *f, const Known *known, const Event *e, uint64_t *ret,
                         size_t n_max) {
        size_t n = 0, n_read = 0;
        const uint8_t *p = find_bytes(known, e, "caller", &n);

        if (tep_find_any_field(known->event, "size"))
                n_max = MIN(n_max, (size_t) number_of(f, known, e, "size"));
        for (; p && n >= f->n_long && n_read < n_max; p += f->n_long, n -= f->n_long) {
                uint64_t address = f->n_long == 8 ? load_u64(p, f->swap) : load_u32(p, f->swap);

                if (address == UINT64_MAX >> (64 - 8 * f->n_long) ||
                    (address == 0 && known->how == HOW_USER_STACK))
                        break;
                ret[n_read++] = address;
        }
        return n_read;
}

static void put_stack(Foreign *f, const Known *known, const Event *e) {
        uint64_t addresses[STACK_MAX];
        size_t n = read_stack(f, known, e, addresses, STACK_MAX);

        buf_adds(&f->line, known->how == HOW_STACK ? "<stack trace >" : "<user stack trace >");
        for (size_t i = 0; i < n; i++) {
                buf_adds(&f->line, " => ");
                put_name(f, &f->line, addresses[i], false);
        }
}

int foreign_stack(Foreign *f, const Event *event, uint64_t *ret, size_t n_max, int32_t *ret_tgid) {
        const Known *known = find_known(f, event->id);

        if (!known || (known->how != HOW_STACK && known->how != HOW_USER_STACK) || !event->payload)
                return -1;
        *ret_tgid = known->how == HOW_USER_STACK ? (int32_t) number_of(f, known, event, "tgid") : 0;
        return (int) read_stack(f, known, event, ret, n_max);
}

static void put_printk(Foreign *f, const Known *known, const Event *e) {
        bool has_values = known->how == HOW_BPRINT;
        uint64_t address = number_of(f, known, e, has_values ? "fmt" : "str");
        const char *format = printk_find(&f->printk, address);
        size_t n = 0;
        const uint8_t *values = find_bytes(known, e, "buf", &n);

        put_name(f, &f->line, number_of(f, known, e, "ip"), false);
        buf_adds(&f->line, ": ");
        if (!format)
                buf_printf(&f->line, "0x%llx", (unsigned long long) address);
        else if (has_values && values)
                printk_put(&f->line, format, values, n, f->swap, f->n_long, put_name, f);
        else
                buf_adds(&f->line, format);
}

static void put_tracers(Foreign *f, const Known *known, const Event *e) {
        const uint8_t *bytes;
        size_t n = 0;

        buf_adds(&f->line, known->event->name);
        buf_adds(&f->line, ": ");
        switch (known->how) {
        case HOW_FUNCTION:
                put_name(f, &f->line, number_of(f, known, e, "ip"), false);
                buf_adds(&f->line, " <-- ");
                put_name(f, &f->line, number_of(f, known, e, "parent_ip"), false);
                break;
        case HOW_STACK:
        case HOW_USER_STACK:
                put_stack(f, known, e);
                break;
        case HOW_RAW:
                bytes = find_bytes(known, e, "buf", &n);
                buf_printf(&f->line, "# %llx", (unsigned long long) number_of(f, known, e, "id"));
                for (size_t i = 0; bytes && i < n; i++)
                        buf_printf(&f->line, " %02x", bytes[i]);
                break;
        default:
                put_printk(f, known, e);
        }
}

/* --- printing --------------------------------------------------------------------------------- */

/* What is printed in several lines, in one. */
static void add_in_one_line(Buf *b, const char *text, size_t n) {
        for (size_t i = 0; i < n;) {
                size_t n_line = strcspn(text + i, "\n"), n_blank;

                n_line = MIN(n_line, n - i);
                buf_add(b, text + i, n_line);
                i += n_line;
                n_blank = MIN(strspn(text + i, "\n\t "), n - i);
                if (n_blank > 0 && i + n_blank < n)
                        buf_add(b, " ", 1);
                i += n_blank;
        }
}

/* What is before the print format's text: "NAME: ", or as print_syscall_enter() and _exit() have it (linux
 * 6.12 kernel/trace/trace_syscalls.c). */
static void begin_event(Foreign *f, const Known *known) {
        const char *name = known->event->name;

        if (known->how >= HOW_SYSCALL && known->how <= HOW_SYSCALL_FIELDS)
                buf_printf(&f->line, "sys_%s(", startswith(name, SYSCALL_ENTER));
        else if (known->how == HOW_SYSCALL_EXIT)
                buf_printf(&f->line, "sys_%s -> ", startswith(name, SYSCALL_EXIT));
        else
                buf_printf(&f->line, "%s: ", name);
}

/* The text up to its last newline, as print_graph_comment() has it (linux 6.1
 * kernel/trace/trace_functions_graph.c). */
static const char *take_line(Foreign *f) {
        if (f->line.n_data > 0 && f->line.data[f->line.n_data - 1] == '\n')
                f->line.n_data--;
        buf_add(&f->line, "", 1);
        return f->line.error < 0 ? NULL : f->line.data;
}

const char *foreign_print(Foreign *f, const Event *e) {
        const Known *known = find_known(f, e->id);
        struct tep_format_field *message;
        struct tep_record record = {
                .ts = e->timestamp_ns,
                .cpu = (int) e->cpu,
                .size = (int) e->n_bytes,
                .record_size = (int) e->n_bytes,
                .data = (void *) e->payload,
        };

        if (!known || !e->payload || e->n_bytes > RECORD_BYTES_MAX)
                return NULL;
        f->line.n_data = 0;
        f->now_ns = e->timestamp_ns;
        if (known->how > HOW_MESSAGE && known->how < HOW_SYSCALL) {
                put_tracers(f, known, e);
                return take_line(f);
        }
        if (!record_fits(f, known->event, e->payload, e->n_bytes))
                return NULL;
        if (known->how == HOW_MESSAGE) {
                const char *text = e->payload;

                message = tep_find_field(known->event, "buf");
                if (!message || message->offset < 0 || (uint32_t) message->offset > e->n_bytes)
                        return NULL;
                text += message->offset;
                buf_add(&f->line, text, strnlen(text, e->n_bytes - (uint32_t) message->offset));
                return take_line(f);
        }
        if (known->how == HOW_SYSCALL_FIELDS) {
                begin_event(f, known);
                syscall_text_put(&f->line, known->event, known->names, e->payload, f->swap);
                buf_adds(&f->line, ")");
                return take_line(f);
        }
        trace_seq_reset(&f->seq);
        f->names = known->names;
        tep_print_event(f->tep, &f->seq, &record, "%s", TEP_PRINT_INFO);
        if (f->seq.state != TRACE_SEQ__GOOD)
                return NULL;
        begin_event(f, known);
        add_in_one_line(&f->line, f->seq.buffer, f->seq.len);
        if (known->how == HOW_SYSCALL_OPEN)
                syscall_text_trim(&f->line);
        if (known->how == HOW_SYSCALL || known->how == HOW_SYSCALL_OPEN)
                buf_adds(&f->line, ")");
        return take_line(f);
}

SchedEvent foreign_sched(Foreign *f, const Event *e) {
        static const char before[] = "sched_switch: prev_comm=", key[] = " prev_state=";
        const Known *known = find_known(f, e->id);
        SchedLayout *l = known ? known->sched : NULL;
        const char *data = e->payload, *text;
        SchedEvent event = {};
        uint64_t state;

        /* A name with a newline is another one in the text. */
        if (!l || !data || e->n_bytes > RECORD_BYTES_MAX ||
            !record_fits(f, known->event, e->payload, e->n_bytes) ||
            memchr(data + l->comm, '\n', SCHED_COMM_BYTES))
                return (SchedEvent){};
        memcpy(event.comm, data + l->comm, strnlen(data + l->comm, sizeof(event.comm) - 1));
        event.pid = (int32_t) load_u32(data + l->pid, f->swap);
        if (l->kind == SCHED_SWITCH) {
                event.left_pid = (int32_t) load_u32(data + l->left_pid, f->swap);
                state = load_u64(data + l->state, f->swap);
                if (state >= sizeof(l->letters))
                        return (SchedEvent){};
                text = l->letters[state] ? NULL : foreign_print(f, e);
                if (text)
                        text = strstr(text + strlen(before) +
                                              strnlen(data + l->left_comm, SCHED_COMM_BYTES),
                                      key);
                if (text)
                        l->letters[state] = text[strlen(key)];
                event.left_state = l->letters[state];
                if (!event.left_state)
                        return (SchedEvent){};
        }
        event.kind = l->kind;
        return event.pid >= 0 && event.left_pid >= 0 ? event : (SchedEvent){};
}

void foreign_set_release(Foreign *f, const char *release) {
        f->is_since_6_18 = release_compare(release, 6, 18) == RELEASE_SINCE;
}

void foreign_set_names(Foreign *f, ForeignFind find, void *userdata) {
        f->find = find;
        f->userdata = userdata;
}

/* A "%s" of a pointer is one of these, if anything. */
static int add_string(Foreign *f, uint64_t address, const char *text) {
        /* libtraceevent 1.7.1 looks for a newline at the end of all, three characters back. */
        if (strlen(text + (*text == '"')) < 3)
                return 0;
        if (tep_register_print_string(f->tep, text, address) < 0)
                return -ENOMEM;
        /* A pointer that a "%s" finds is looked up as it lies in the record (1.7.1 src/event-parse.c,
         * print_str_arg()). */
        return f->swap && tep_register_print_string(f->tep, text, __builtin_bswap64(address)) < 0
                       ? -ENOMEM
                       : 0;
}

int foreign_set_printk(Foreign *f, const char *text) {
        int r;

        printk_done(&f->printk);
        r = printk_init(&f->printk, text);
        for (size_t i = 0; r >= 0 && i < f->printk.formats.n_slots; i++)
                if (f->printk.formats.slots[i].value != 0)
                        r = add_string(f, f->printk.formats.slots[i].key,
                                       (const char *) (uintptr_t) f->printk.formats.slots[i].value);
        return r;
}

Foreign *foreign_free(Foreign *f) {
        if (!f)
                return NULL;
        if (f->tep)
                tep_free(f->tep);
        trace_seq_destroy(&f->seq);
        buf_done(&f->line);
        for (size_t i = 0; i < f->n_known; i++) {
                free(f->known[i].names);
                free(f->known[i].sched);
                free(f->known[i].system);
        }
        free(f->known);
        hash_done(&f->by_id);
        printk_done(&f->printk);
        return mfree(f);
}
