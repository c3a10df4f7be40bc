/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A reader goes on behind what is damaged, so whoever shows the rest must say what is missing. */

#include <inttypes.h>
#include <stdio.h>

#include "base/unit.h"
#include "cli/damage.h"
#include "cli/sentence.h"

#define WHICH_MAX 64

static const char *which_part(char text[static WHICH_MAX], const SealedDamage *d) {
        if (d->part == SEALED_PART_HEADER)
                return "header";
        if (d->part == SEALED_PART_INDEX)
                return "index";
        if (d->part == SEALED_PART_HOLE || d->part == SEALED_PART_CPU)
                return "pages";
        if (d->n_blocks == 0)
                (void) snprintf(text, WHICH_MAX, "all from block %" PRIu32 " on", d->block);
        else if (d->n_blocks == 1)
                (void) snprintf(text, WHICH_MAX, "block %" PRIu32, d->block);
        else
                (void) snprintf(text, WHICH_MAX, "blocks %" PRIu32 " to %" PRIu32, d->block,
                                d->block + d->n_blocks - 1);
        return text;
}

/* Of a trace.dat, whose parts have no names. */
static int damage_add_chunk(Strv *ret, uint32_t cpu, const SealedDamage *d) {
        char count[UNIT_TEXT_MAX], lost[UNIT_TEXT_MAX + 16] = "";

        if (d->n_pages > 0)
                (void) snprintf(lost, sizeof(lost), ", %s %s lost", format_count(count, d->n_pages),
                                d->n_pages == 1 ? "page" : "pages");
        return strv_addf(ret, "CPU %" PRIu32 ": %schunk %" PRIu32 ": %s%s", cpu,
                         d->n_blocks == 0 ? "all from " : "", d->block, d->what, lost);
}

int damage_add_part(Strv *ret, uint32_t cpu, uint64_t sequence, const SealedDamage *part) {
        char which[WHICH_MAX], count[UNIT_TEXT_MAX], lost[UNIT_TEXT_MAX + 16] = "";

        if (part->part == SEALED_PART_CHUNK)
                return damage_add_chunk(ret, cpu, part);
        if (part->n_pages > 0)
                (void) snprintf(lost, sizeof(lost), ", %s %s lost",
                                format_count(count, part->n_pages),
                                part->n_pages == 1 ? "page" : "pages");
        if (part->part == SEALED_PART_SEGMENT)
                return strv_addf(ret, "cpu%" PRIu32 "/%08" PRIx64 ".seg: %s", cpu, sequence,
                                 part->what);
        if (part->part == SEALED_PART_CPU)
                return strv_addf(ret, "CPU %" PRIu32 ": %s%s", cpu, part->what, lost);
        return strv_addf(ret, "cpu%" PRIu32 "/%08" PRIx64 ".seg: %s: %s%s", cpu, sequence,
                         which_part(which, part), part->what, lost);
}

int damage_add_newer(Strv *ret, uint32_t cpu, uint64_t sequence, uint32_t version) {
        return strv_addf(ret,
                         "cpu%" PRIu32 "/%08" PRIx64
                         ".seg: written by a newer ftraced, format %" PRIu32
                         ", and skipped; read it with that version",
                         cpu, sequence, version);
}

/* Each by its name, as far as the cursor has kept them. */
static int describe_damages(Strv *ret, const Cursor *cursor, uint64_t n_all) {
        uint32_t cpu = cursor_cpu(cursor);
        char text[UNIT_TEXT_MAX];
        size_t n;
        const CursorDamage *d = cursor_damages(cursor, &n);

        for (size_t i = 0; i < n; i++) {
                int r = d[i].newer_version > 0
                                ? damage_add_newer(ret, cpu, d[i].sequence, d[i].newer_version)
                                : damage_add_part(ret, cpu, d[i].sequence, &d[i].part);

                if (r < 0)
                        return r;
        }
        return n_all > n ? strv_addf(ret, "CPU %" PRIu32 ": %s more places are damaged", cpu,
                                     format_count(text, n_all - n))
                         : 0;
}

static int describe_cpu(Strv *ret, uint32_t cpu, const CursorCount *c, bool live) {
        const struct {
                uint64_t n;
                const char *one, *many, *what;
        } checks[] = {
                { c->n_segments_missing, "segment", "segments", "missing from the sequence" },
                { c->n_segments_gone, "segment", "segments", "removed while it was read" },
                { live ? 0 : c->n_segments_unbegun, "segment", "segments", "empty" },
                { live ? 0 : c->n_unclosed, "segment", "segments", "never closed by the daemon" },
                { live ? 0 : c->n_torn_bytes, "byte", "bytes", "behind the last whole page" },
                { c->n_pages_torn, "page", "pages", "with an impossible length, skipped" },
                { c->n_pages_empty, "page", "pages", "never written" },
                { c->n_pages_damaged, "page", "pages", "damaged inside, skipped from there" },
                { c->n_pages_backwards, "page", "pages", "older than the page before" },
                { c->n_records_short, "record", "records", "too short for the format" },
        };
        char where[32];

        (void) snprintf(where, sizeof(where), "CPU %u: ", cpu);
        for (size_t i = 0; i < ELEMENTSOF(checks); i++) {
                int r = sentence_add_count(ret, where, checks[i].n, checks[i].one, checks[i].many,
                                           checks[i].what);

                if (r < 0)
                        return r;
        }
        return 0;
}

int damage_describe(const Stream *stream, const Atlas *atlas, bool live, Strv *ret) {
        int r = 0;

        if (atlas_is_damaged(atlas))
                r = strv_addf(ret, "its symbols in the store are damaged: functions are "
                                   "addresses");

        for (size_t i = 0; r >= 0 && i < stream_n_cpus(stream); i++) {
                const Cursor *cursor = stream_cursor(stream, i);
                CursorCount c;

                cursor_count(cursor, &c);
                r = describe_cpu(ret, cursor_cpu(cursor), &c, live);
                if (r >= 0)
                        r = describe_damages(ret, cursor,
                                             c.n_parts_damaged + c.n_segments_newer +
                                                     c.n_segments_damaged);
        }
        return r;
}
