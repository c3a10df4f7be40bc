/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the two versions have in common is made by the same functions, and version 7 puts it into
 * sections.  A section's length is filled in when it is done.  Numbers always take the same room, so
 * whoever does not know yet where pages will be makes the head twice.
 */

#include <inttypes.h>
#include <zstd.h>

#include "pages/dat-writer.h"

#define SYSTEM_OF_TRACERS "ftrace"
#define PACK_LEVEL ZSTD_CLEVEL_DEFAULT

/* The lower @n bytes of @v, as the recorded machine has them. */
static void order(const DatHead *h, uint64_t v, uint8_t *ret, size_t n) {
        for (size_t i = 0; i < n; i++)
                ret[h->big_endian ? n - 1 - i : i] = (uint8_t) (v >> 8 * i);
}

static void put_number(Buf *b, const DatHead *h, uint64_t v, size_t n) {
        uint8_t bytes[sizeof(v)];

        order(h, v, bytes, n);
        buf_add(b, bytes, n);
}

/* Behind its length, of @n bytes. */
static void put_blob(Buf *b, const DatHead *h, const DatBlob *blob, size_t n) {
        put_number(b, h, blob->n, n);
        buf_add(b, blob->data, blob->n);
}

/* --- the same in both versions ---------------------------------------------------------------- */

/* u32 n { u64 n, format } */
static void put_formats(Buf *b, const DatHead *h, const char *system) {
        _cleanup_buf_ Buf formats = BUF_INIT;
        uint32_t n = 0;

        for (size_t i = 0; i < h->n_events; i++)
                if (streq(h->events[i].system, system)) {
                        put_blob(&formats, h, &h->events[i].format, 8);
                        n++;
                }
        put_number(b, h, n, 4);
        buf_add(b, formats.data, formats.n_data);
        b->error = b->error ?: formats.error;
}

static void put_systems(Buf *b, const DatHead *h) {
        _cleanup_buf_ Buf systems = BUF_INIT;
        uint32_t n = 0;

        for (size_t i = 0; i < h->n_events; i++) {
                const char *system = h->events[i].system;

                if (streq(system, SYSTEM_OF_TRACERS) ||
                    (i > 0 && streq(system, h->events[i - 1].system)))
                        continue;
                buf_add(&systems, system, strlen(system) + 1);
                put_formats(&systems, h, system);
                n++;
        }
        put_number(b, h, n, 4);
        buf_add(b, systems.data, systems.n_data);
        b->error = b->error ?: systems.error;
}

static void put_option(Buf *b, const DatHead *h, uint16_t id, const void *data, size_t n) {
        put_number(b, h, id, 2);
        put_number(b, h, n, 4);
        buf_add(b, data, n);
}

/* As per_cpu/cpuN/stats says it, for `trace-cmd report --stat`. */
static void put_stat(Buf *b, const DatHead *h, const CpuAccount *c) {
        _cleanup_buf_ Buf text = BUF_INIT;

        buf_printf(&text,
                   "CPU: %u\nentries: 0\noverrun: %llu\ncommit overrun: %llu\nbytes: 0\n"
                   "dropped events: %llu\nread events: %llu\n",
                   c->cpu, (unsigned long long) c->overrun, (unsigned long long) c->commit_overrun,
                   (unsigned long long) c->dropped_events, (unsigned long long) c->read_events);
        buf_add(&text, "", 1);
        put_option(b, h, DAT_OPTION_CPUSTAT, text.data, text.n_data);
        b->error = b->error ?: text.error;
}

/* What its pages need to be read as they were. */
static void put_times(Buf *b, const DatHead *h) {
        const DatTimes *t = h->times;
        uint8_t tsc[16] = {};
        char text[32];
        int n = snprintf(text, sizeof(text), "%" PRId64, t->offset_ns);

        /* Before the clock, which trace-cmd takes for ticks else. */
        order(h, t->mult, tsc, 4);
        order(h, t->shift, tsc + 4, 4);
        if (t->mult > 0)
                put_option(b, h, DAT_OPTION_TSC2NSEC, tsc, sizeof(tsc));
        if (t->n_shift_option > 0)
                put_option(b, h, DAT_OPTION_TIME_SHIFT, t->shift_option, t->n_shift_option);
        if (t->is_of_day && t->offset_ns % 1000 == 0) {
                n = snprintf(text, sizeof(text), "%" PRId64, t->offset_ns / 1000);
                put_option(b, h, DAT_OPTION_DATE, text, (size_t) n + 1);
        } else if (t->offset_ns != 0)
                put_option(b, h, DAT_OPTION_OFFSET, text, (size_t) n + 1);
}

static void put_common_options(Buf *b, const DatHead *h) {
        uint8_t n_cpus[4];
        char clock[64];
        int n = snprintf(clock, sizeof(clock), "[%s]", h->clock);

        order(h, h->n_cpus, n_cpus, sizeof(n_cpus));
        put_option(b, h, DAT_OPTION_CPUCOUNT, n_cpus, sizeof(n_cpus));
        if (h->times)
                put_times(b, h);
        for (size_t i = 0; i < h->n_accounts; i++)
                put_stat(b, h, &h->accounts[i]);
        put_option(b, h, DAT_OPTION_TRACECLOCK, clock, MIN((size_t) n + 1, sizeof(clock)));
        put_option(b, h, DAT_OPTION_UNAME, h->uname, strlen(h->uname) + 1);
        /* The last such option is what others print. */
        if (h->owners)
                put_option(b, h, DAT_OPTION_VERSION, h->owners, strlen(h->owners) + 1);
        if (h->maps)
                put_option(b, h, DAT_OPTION_VERSION, h->maps, strlen(h->maps) + 1);
        if (h->origin)
                put_option(b, h, DAT_OPTION_VERSION, h->origin, strlen(h->origin) + 1);
}

static void pad_to_page(Buf *b, const DatHead *h) {
        size_t n_over = b->n_data % h->page_bytes;

        if (b->error == 0 && n_over > 0)
                buf_pad(b, h->page_bytes - n_over, 0);
}

/* Which come in this order; of version 7 each in a section. */
static const uint16_t sections[] = {
        DAT_OPTION_HEADER_INFO, DAT_OPTION_FTRACE_EVENTS, DAT_OPTION_EVENT_FORMATS,
        DAT_OPTION_KALLSYMS,    DAT_OPTION_PRINTK,        DAT_OPTION_CMDLINES,
};

static void put_content(Buf *b, const DatHead *h, uint16_t id) {
        switch (id) {
        case DAT_OPTION_HEADER_INFO:
                buf_add(b, "header_page", 12);
                put_blob(b, h, &h->header_page, 8);
                buf_add(b, "header_event", 13);
                return put_blob(b, h, &h->header_event, 8);
        case DAT_OPTION_FTRACE_EVENTS:
                return put_formats(b, h, SYSTEM_OF_TRACERS);
        case DAT_OPTION_EVENT_FORMATS:
                return put_systems(b, h);
        case DAT_OPTION_KALLSYMS:
        case DAT_OPTION_PRINTK:
                return put_blob(b, h, id == DAT_OPTION_PRINTK ? &h->printk : &h->symbols, 4);
        default:
                return put_blob(b, h, &h->tasks, 8);
        }
}

/* --- version 6 -------------------------------------------------------------------------------- */

static int put_version_6(Buf *b, const DatHead *h, const DatPlace *places) {
        size_t n_clock = strlen(h->clock);

        for (size_t i = 0; i < ELEMENTSOF(sections); i++)
                put_content(b, h, sections[i]);
        put_number(b, h, h->n_cpus, 4);
        buf_add(b, "options  ", 10);
        put_common_options(b, h);
        put_number(b, h, DAT_OPTION_DONE, 2);
        buf_add(b, "flyrecord", 10);
        for (uint32_t i = 0; i < h->n_cpus; i++) {
                put_number(b, h, places[i].at, 8);
                put_number(b, h, places[i].n, 8);
        }
        put_number(b, h, n_clock + 2, 8);
        buf_printf(b, "[%s]", h->clock);
        pad_to_page(b, h);
        return b->error;
}

/* --- version 7 -------------------------------------------------------------------------------- */

static void put_section_head(Buf *b, const DatHead *h, uint16_t id, bool is_packed, uint64_t n) {
        put_number(b, h, id, 2);
        put_number(b, h, is_packed ? DAT_SECTION_PACKED : 0, 2);
        put_number(b, h, UINT32_MAX, 4); /* it has no name */
        put_number(b, h, n, 8);
}

/* u32 stored  u32 plain  stored bytes */
static int put_packed(Buf *b, const DatHead *h, const Buf *plain) {
        size_t n_room = ZSTD_compressBound(plain->n_data), n;
        _cleanup_free_ char *packed = malloc(n_room);

        if (!packed)
                return -ENOMEM;
        n = ZSTD_compress(packed, n_room, plain->data, plain->n_data, PACK_LEVEL);
        if (ZSTD_isError(n))
                return -ENOMEM;
        put_number(b, h, n, 4);
        put_number(b, h, plain->n_data, 4);
        buf_add(b, packed, n);
        return b->error;
}

static int put_section(Buf *b, const DatHead *h, uint16_t id, uint64_t *ret_at) {
        _cleanup_buf_ Buf plain = BUF_INIT, packed = BUF_INIT;
        const Buf *content = &plain;
        bool is_packed = h->compressor != DAT_NONE;
        int r = 0;

        *ret_at = b->n_data;
        put_content(&plain, h, id);
        if (is_packed) {
                r = plain.error ?: put_packed(&packed, h, &plain);
                content = &packed;
        }
        put_section_head(b, h, id, is_packed, content->n_data);
        buf_add(b, content->data, content->n_data);
        return r ?: content->error ?: b->error;
}

/* u64 offset of the section  name 00  clock 00  u32 page_size  u32 n_cpus  { u32 cpu  u64 at  u64 n },
 * of the CPUs that have pages. */
static int put_buffer(Buf *b, const DatHead *h, const DatPlace *places, uint64_t section_at) {
        _cleanup_buf_ Buf data = BUF_INIT;
        uint32_t n = 0;

        for (uint32_t i = 0; i < h->n_cpus; i++)
                n += places[i].n > 0;

        put_number(&data, h, section_at, 8);
        buf_add(&data, "", 1);
        buf_add(&data, h->clock, strlen(h->clock) + 1);
        put_number(&data, h, h->page_bytes, 4);
        put_number(&data, h, n, 4);
        for (uint32_t i = 0; i < h->n_cpus; i++) {
                if (places[i].n == 0)
                        continue;
                put_number(&data, h, i, 4);
                put_number(&data, h, places[i].at, 8);
                put_number(&data, h, places[i].n, 8);
        }
        put_option(b, h, DAT_OPTION_BUFFER, data.data, data.n_data);
        return data.error;
}

/* Options that point at the sections and at the one of pages, which follows them. */
static int put_options(Buf *b, const DatHead *h, const DatPlace *places,
                       const uint64_t *sections_at, uint64_t pages_at) {
        uint64_t none = 0;

        for (size_t i = 0; i < ELEMENTSOF(sections); i++) {
                uint8_t at[8];

                order(h, sections_at[i], at, sizeof(at));
                put_option(b, h, sections[i], at, sizeof(at));
        }
        put_common_options(b, h);
        (void) put_buffer(b, h, places, pages_at);
        put_option(b, h, DAT_OPTION_DONE, &none, sizeof(none));
        return b->error;
}

/* How far the section reaches that begins with the pages of the first CPU. */
static uint64_t end_of_pages(const DatHead *h, const DatPlace *places) {
        uint64_t end = 0;

        for (uint32_t i = 0; i < h->n_cpus; i++)
                if (places[i].n > 0)
                        end = MAX(end, places[i].at + places[i].n +
                                               (h->compressor != DAT_NONE ? DAT_CHUNKS_BYTES : 0));
        return end;
}

#define SECTION_HEAD_BYTES 16U

static int put_version_7(Buf *b, const DatHead *h, const DatPlace *places) {
        static const char *const compressors[] = {
                [DAT_NONE] = "none\0", [DAT_ZSTD] = "zstd\0" ZSTD_VERSION_STRING
        };
        static const size_t n_compressors[] = {
                [DAT_NONE] = sizeof("none\0"), [DAT_ZSTD] = sizeof("zstd\0" ZSTD_VERSION_STRING)
        };
        _cleanup_buf_ Buf options = BUF_INIT;
        uint64_t sections_at[ELEMENTSOF(sections)], at, end = end_of_pages(h, places);
        size_t options_pointer;
        int r = 0;

        buf_add(b, compressors[h->compressor], n_compressors[h->compressor]);
        options_pointer = b->n_data;
        put_number(b, h, 0, 8);
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(sections); i++)
                r = put_section(b, h, sections[i], &sections_at[i]);
        /* Once to know how long it is. */
        if (r == 0)
                r = put_options(&options, h, places, sections_at, 0);
        if (r < 0)
                return r;
        order(h, b->n_data, (uint8_t *) b->data + options_pointer, 8);
        put_section_head(b, h, DAT_OPTION_DONE, false, options.n_data);
        at = b->n_data + options.n_data;
        r = put_options(b, h, places, sections_at, at);
        if (r < 0)
                return r;
        at += SECTION_HEAD_BYTES;
        put_section_head(b, h, DAT_OPTION_BUFFER, h->compressor != DAT_NONE,
                         end > at ? end - at : 0);
        pad_to_page(b, h);
        return b->error;
}

int dat_head_put(Buf *out, const DatHead *h, const DatPlace *places) {
        buf_printf(out, DAT_MAGIC "%u", h->version);
        buf_add(out, "", 1);
        buf_add(out, h->big_endian ? "\1\10" : "\0\10", 2);
        put_number(out, h, h->page_bytes, 4);
        return h->version == 6 ? put_version_6(out, h, places) : put_version_7(out, h, places);
}
