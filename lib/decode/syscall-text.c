/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <event-parse.h>
#include <inttypes.h>

#include "decode/event-text.h"
#include "decode/records.h"

#define NUMBER "__syscall_nr"
#define CUT "..."

typedef struct tep_format_field Field;

static bool is_data(const Field *f) {
        return f->flags & TEP_FIELD_IS_DYNAMIC;
}

/* "__buf_val" is that of "buf". */
static bool is_data_of(const Field *f, const char *name) {
        const char *p = startswith(f->name, "__");

        p = p ? startswith(p, name) : NULL;
        return is_data(f) && p && streq(p, "_val");
}

bool syscall_text_has_flags(const char *format) {
        return strstr(format, ", flags: %s%s, mode: ");
}

char *syscall_text_kinds(const struct tep_event *event, const char *format) {
        char *kinds;
        size_t n = 0;

        for (const Field *f = event->format.fields; f; f = f->next)
                n += is_data(f);
        kinds = calloc(n + 1, 1);
        n = 0;
        for (const Field *f = event->format.fields; kinds && f; f = f->next) {
                char get[256];

                if (!is_data(f))
                        continue;
                (void) snprintf(get, sizeof(get), "__get_str(%s)", f->name);
                kinds[n++] = strstr(format, get) ? 's' : 'a';
        }
        return kinds;
}

static uint64_t number_of(const Field *f, const uint8_t *data, bool swap) {
        return f->size == 8   ? load_u64(data + f->offset, swap)
               : f->size == 4 ? load_u32(data + f->offset, swap)
                              : 0;
}

/* In strings letters of Latin-1 are printable to the kernel (linux 7.2 lib/ctype.c), and so is what UTF-8 is made of. */
static void put_text(Buf *out, const uint8_t *p, size_t n, uint8_t last) {
        buf_adds(out, " \"");
        for (size_t i = 0; i < n; i++)
                buf_add(out,
                        p[i] >= ' ' && p[i] <= last && p[i] != 0x7f ? (const char *) &p[i] : ".",
                        1);
        buf_adds(out, "\"");
}

static void put_bytes(Buf *out, const uint8_t *p, size_t n, int n_wanted) {
        const char *end = (int) n < n_wanted ? CUT : "";
        bool has_text = false;

        buf_adds(out, " (");
        for (size_t i = 0; i < n; i++) {
                has_text = has_text || (p[i] >= ' ' && p[i] <= '~');
                buf_printf(out, "%s%02x", i > 0 ? ":" : "", p[i]);
        }
        buf_printf(out, "%s%s)", *end ? ", " : "", end);
        if (!has_text)
                return;
        put_text(out, p, n, '~');
        buf_adds(out, end);
}

/* What @f points to, if that is recorded. */
static void put_data(Buf *out, const struct tep_event *event, const Field *f, const char *kinds,
                     const uint8_t *data, bool swap) {
        for (const Field *d = event->format.fields; d; d = d->next) {
                uint32_t word;
                const uint8_t *p;
                size_t n;

                if (!is_data(d))
                        continue;
                word = load_u32(data + d->offset, swap);
                p = data + (word & 0xffff);
                n = word >> 16;
                if (is_data_of(d, f->name) && *kinds == 's')
                        put_text(out, p, strnlen((const char *) p, n), UINT8_MAX);
                else if (is_data_of(d, f->name)) /* the next argument says of how many bytes */
                        put_bytes(out, p, n,
                                  f->next && !is_data(f->next)
                                          ? (int) number_of(f->next, data, swap)
                                          : 0);
                if (*kinds)
                        kinds++;
        }
}

void syscall_text_put(Buf *out, const struct tep_event *event, const char *kinds,
                      const uint8_t *data, bool swap) {
        const char *separator = "";

        for (const Field *f = event->format.fields; f; f = f->next) {
                uint64_t value;

                if (is_data(f) || streq(f->name, NUMBER))
                        continue;
                value = number_of(f, data, swap);
                buf_printf(out, value < 10 ? "%s%s: %" PRIu64 : "%s%s: 0x%" PRIx64, separator,
                           f->name, value);
                put_data(out, event, f, kinds, data, swap);
                separator = ", ";
        }
}

static char *find_last(char *text, const char *what) {
        char *last = NULL;

        for (char *p = text; (p = strstr(p, what)); p++)
                last = p;
        return last;
}

void syscall_text_trim(Buf *line) {
        static const char *const creating[] = { "O_CREAT", "O_TMPFILE", "O_DIRECTORY" };
        char *mode, *flags;

        buf_add(line, "", 1); /* a string, for a moment */
        if (line->error < 0)
                return;
        line->n_data--;
        flags = find_last(line->data, ", flags: ");
        mode = flags ? find_last(flags, ", mode: ") : NULL;
        for (size_t i = 0; mode && i < ELEMENTSOF(creating); i++)
                if (strstr(flags, creating[i]))
                        return;
        if (mode)
                line->n_data = (size_t) (mode - line->data);
}
