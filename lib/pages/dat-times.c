/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Numbers are whatever the file says, so sums wrap and products are of 128 bits: a time that is
 * nonsense is better than none, and the order of a CPU's events is that of its pages.
 */

#include "pages/dat-private.h"
#include "store/format.h"

#define NUMBER_CHARS 64
#define TIME_SHIFT_INTERPOLATES 1U
#define MULT_SHIFT_MAX 63

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideUnsigned;

void dat_times_done(DatTimes *t) {
        for (size_t i = 0; i < t->n_cpus; i++)
                free(t->cpus[i].items);
        free(t->cpus);
        free(t->shift_option);
        *t = (DatTimes){};
}

bool dat_times_are_plain(const DatTimes *t) {
        return t->offset_ns == 0 && t->mult == 0 && t->n_cpus == 0;
}

/* --- options ---------------------------------------------------------------------------------- */

/* "0x660e4f8ae2f6e", "-1000" */
static int64_t read_number(DatBytes data) {
        char text[NUMBER_CHARS] = "";

        memcpy(text, data.data + data.at, MIN(data.n - data.at, sizeof(text) - 1));
        return strtoll(text, NULL, 0);
}

static void add_offset(DatTimes *t, int64_t n, int64_t unit) {
        t->offset_ns = (int64_t) ((uint64_t) t->offset_ns + (uint64_t) n * (uint64_t) unit);
}

static void read_mult(DatTimes *t, DatBytes data) {
        uint32_t mult = dat_bytes_u32(&data, ""), shift = dat_bytes_u32(&data, "");

        if (data.problem || shift > MULT_SHIFT_MAX)
                return;
        t->mult = mult;
        t->shift = shift;
}

static int compare_shifts(const void *pa, const void *pb) {
        const DatShift *a = pa, *b = pb;

        return CMP(a->when, b->when);
}

static void read_column(DatBytes *data, DatShifts *s, size_t offset) {
        for (size_t i = 0; i < s->n; i++) {
                uint64_t v = dat_bytes_u64(data, "");

                memcpy((char *) &s->items[i] + offset, &v, sizeof(v));
        }
}

static int read_cpu(DatBytes *data, DatShifts *ret) {
        uint32_t n = dat_bytes_u32(data, "");

        if (data->problem || n > (data->n - data->at) / (3 * sizeof(uint64_t))) {
                dat_bytes_fail(data, "");
                return 0;
        }
        ret->items = calloc((size_t) n + 1, sizeof(*ret->items));
        if (!ret->items)
                return -ENOMEM;
        ret->n = n;
        read_column(data, ret, offsetof(DatShift, when));
        read_column(data, ret, offsetof(DatShift, offset));
        read_column(data, ret, offsetof(DatShift, scaling));
        return 0;
}

/* Of several at one time the first. */
static void put_in_order(DatShifts *s) {
        size_t n = 0;

        SORT(s->items, s->n, compare_shifts);
        for (size_t i = 0; i < s->n; i++)
                if (n == 0 || s->items[n - 1].when != s->items[i].when)
                        s->items[n++] = s->items[i];
        s->n = n;
}

static int read_shifts(DatTimes *t, DatBytes data) {
        DatTimes new = {};
        const uint8_t *option = data.data + data.at;
        size_t n_option = data.n - data.at;
        uint32_t n_cpus;
        int r = 0;

        (void) dat_bytes_u64(&data, "");
        new.interpolates = dat_bytes_u32(&data, "") & TIME_SHIFT_INTERPOLATES;
        n_cpus = dat_bytes_u32(&data, "");
        if (data.problem || n_cpus > STORE_MAX_CPUS)
                return 0;
        new.cpus = calloc((size_t) n_cpus + 1, sizeof(*new.cpus));
        if (!new.cpus)
                return -ENOMEM;
        new.n_cpus = n_cpus;
        for (size_t i = 0; r == 0 && i < n_cpus; i++)
                r = read_cpu(&data, &new.cpus[i]);
        if (r == 0 && data.n > data.at)
                for (size_t i = 0; i < n_cpus; i++)
                        read_column(&data, &new.cpus[i], offsetof(DatShift, fraction));
        for (size_t i = 0; r == 0 && i < n_cpus; i++)
                put_in_order(&new.cpus[i]);
        /* What it was read from may have been unpacked, and is gone soon. */
        if (r == 0 && !data.problem) {
                new.shift_option = malloc(n_option);
                r = new.shift_option ? 0 : -ENOMEM;
        }
        if (r < 0 || data.problem) {
                dat_times_done(&new);
                return r;
        }
        memcpy(new.shift_option, option, n_option);
        new.n_shift_option = n_option;
        new.is_of_day = t->is_of_day;
        new.offset_ns = t->offset_ns;
        new.mult = t->mult;
        new.shift = t->shift;
        dat_times_done(t);
        *t = new;
        return 0;
}

int dat_times_read(DatTimes *t, uint16_t id, DatBytes data) {
        switch (id) {
        case DAT_OPTION_DATE:
                t->is_of_day = true;
                add_offset(t, read_number(data), 1000);
                return 0;
        case DAT_OPTION_OFFSET:
                add_offset(t, read_number(data), 1);
                return 0;
        case DAT_OPTION_TSC2NSEC:
                read_mult(t, data);
                return 0;
        case DAT_OPTION_TIME_SHIFT:
                return read_shifts(t, data);
        default:
                return 0;
        }
}

/* --- times ------------------------------------------------------------------------------------ */

/* Returns what holds at @ts: the last that began by then, and of two that there is one behind; NULL: nothing
 * is known. */
static const DatShift *find_shift(const DatShifts *s, uint64_t ts) {
        if (s->n < 2)
                return s->n == 0 ? NULL : s->items;
        return &s->items[BISECT(1, s->n - 1, i, s->items[i].when <= (int64_t) ts) - 1];
}

/* How far the offset is on its way to the next one. */
static Wide interpolate(const DatShift *shift, uint64_t ts) {
        WideUnsigned length = (WideUnsigned) ((Wide) shift[1].when - shift->when),
                     since = (WideUnsigned) ((Wide) (int64_t) ts - shift->when),
                     rise = (WideUnsigned) ((Wide) shift[1].offset - shift->offset);

        return (Wide) (since * rise + length / 2) / (Wide) length;
}

static uint64_t apply_shift(const DatTimes *t, const DatShifts *s, uint64_t ts) {
        const DatShift *shift = find_shift(s, ts);
        WideUnsigned offset;

        if (!shift)
                return ts;
        offset = (WideUnsigned) (Wide) shift->offset;
        if (s->n == 1)
                return ts + (uint64_t) offset;
        if (t->interpolates)
                offset += (WideUnsigned) interpolate(shift, ts);
        if (shift->fraction < 64)
                ts = (uint64_t) ((WideUnsigned) ts * shift->scaling >> shift->fraction);
        return ts + (uint64_t) offset;
}

uint64_t dat_times_apply(const DatTimes *t, uint32_t cpu, uint64_t raw) {
        uint64_t ts = cpu < t->n_cpus ? apply_shift(t, &t->cpus[cpu], raw) : raw;

        if (t->mult > 0)
                ts = (uint64_t) ((WideUnsigned) ts * t->mult >> t->shift);
        return ts + (uint64_t) t->offset_ns;
}

uint64_t dat_times_find(const DatTimes *t, uint64_t ns) {
        Wide since = (Wide) ns - t->offset_ns;
        WideUnsigned raw;

        if (t->n_cpus > 0 || since <= 0)
                return 0;
        raw = (WideUnsigned) since;
        if (t->mult > 0)
                raw = ((WideUnsigned) (uint64_t) MIN(raw, (WideUnsigned) UINT64_MAX) << t->shift) /
                      t->mult;
        return (uint64_t) MIN(raw, (WideUnsigned) UINT64_MAX);
}
