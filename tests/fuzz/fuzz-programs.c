/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is known of programs is others' word: lines of tracing/maps, of a perf map, an ELF file, a name to be made
 * readable.  The first byte says which it is.  Whatever they say, a mapping is where its line says, and a name has an
 * end.
 */

#include <sys/mman.h>

#include "fuzz.h"
#include "programs/programs-private.h"

static void read_maps(char *text) {
        static const Formats formats = {};
        _cleanup_(spaces_freep) Spaces *s = NULL;
        const char *at = text;
        MapLine l;
        int32_t tgid = 0;

        FUZZ_CHECK(spaces_new(&s, &formats) == 0 && spaces_load(s, text) == 0);
        while (map_line_next(&at, &l)) {
                SpacePlace place;

                tgid = l.kind == MAP_PROCESS ? l.tgid : tgid;
                if (l.kind != MAP_MAPPING)
                        continue;
                FUZZ_CHECK(l.start < l.end && l.n_path > 0 && l.n_path < MAPS_PATH_MAX);
                spaces_find(s, tgid, l.start, UINT64_MAX, &place);
                FUZZ_CHECK(!place.file || strlen(place.file->path) < MAPS_PATH_MAX);
        }
}

static void read_perf_map(char *text) {
        PerfMap m;

        FUZZ_CHECK(perf_map_read(&m, text) == 0);
        for (size_t i = 0; i < m.n; i++) {
                const PerfMapItem *found = perf_map_find(&m, m.items[i].start);

                FUZZ_CHECK(found == &m.items[i] && found->n_name > 0 &&
                           found->n_name <= PROGRAM_NAME_MAX);
                FUZZ_CHECK(!memchr(found->name, '\n', found->n_name));
        }
        perf_map_done(&m);
}

#ifdef HAVE_ELFUTILS
/* By whatever rules, on a stack of numbers. */
static void unwind(ProgramImage *i, uint64_t at) {
        static uint64_t stack[64];
        StackCopy c = { .machine = 62,
                        .known = 0xffff,
                        .sp = 0x1000,
                        .begin = 0x1000,
                        .stack = (const uint8_t *) stack,
                        .n_stack = sizeof(stack) };

        for (size_t k = 0; k < ELEMENTSOF(stack); k++)
                stack[k] = 0x1000 + 24 * k;
        for (size_t k = 0; k < 16; k++)
                c.registers[k] = 0x1000 + 8 * k;
        for (size_t n = 0; n < 8; n++)
                if (unwind_step(&c, program_image_rules(i, at)) > UNWIND_INTERRUPTED)
                        break;
}
#endif

static void read_image(const uint8_t *data, size_t size) {
#ifdef HAVE_ELFUTILS
        _cleanup_(program_image_freep) ProgramImage *i = NULL;
        const char *problem = NULL;
        int fd = memfd_create("program", MFD_CLOEXEC), r;

        FUZZ_CHECK(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t) size);
        r = program_image_open(&i, fd, "/nowhere", &problem);
        FUZZ_CHECK(r == 0 || (r == PROGRAM_IMAGE_E_INVALID && problem));
        for (uint64_t at = 0; r == 0 && at < size + 64; at += 1 + at / 16) {
                ProgramFrame f = { .is_return = at & 1 };

                program_image_name(i, at, &f);
                FUZZ_CHECK(f.n_name <= (f.name ? strlen(f.name) : 0));
                unwind(i, at);
        }
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char *text;

        if (size == 0)
                return 0;
        text = fuzz_text(data + 1, size - 1);
        if (*data == 'm')
                read_maps(text);
        else if (*data == 'p') {
                read_perf_map(text);
                return 0;
        } else if (*data == 'n') {
                _cleanup_free_ char *name = demangle(text);

                FUZZ_CHECK(!name || strlen(name) <= PROGRAM_NAME_MAX);
        } else
                read_image(data + 1, size - 1);
        free(text);
        return 0;
}
