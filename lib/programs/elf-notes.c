/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two sizes of the same headers, told apart by one byte (System V ABI, chapters 4 and 5). */

#include <elf.h>
#include <unistd.h>

#include "programs/programs.h"

#define SEGMENTS_MAX 256
#define OWN_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

typedef struct Segment {
        uint64_t offset, n;
        bool has_notes;
} Segment;

static int read_at(int fd, void *to, size_t n, uint64_t at) {
        ssize_t r = at <= INT64_MAX ? pread(fd, to, n, (off_t) at) : 0;

        return r < 0 ? ORIGIN(-errno) : (size_t) r == n ? 0 : ORIGIN(-EBADMSG);
}

static int add_notes(int fd, const Segment *s, Buf *out) {
        uint8_t notes[4096];
        int r = 0;

        for (uint64_t k = 0, n; r == 0 && k < s->n; k += n) {
                n = MIN(s->n - k, (uint64_t) sizeof(notes));
                r = read_at(fd, notes, n, s->offset + k);
                if (r == 0)
                        buf_add(out, notes, n);
        }
        return r ?: out->error;
}

int elf_notes_read(int fd, Buf *out) {
        union {
                unsigned char ident[EI_NIDENT];
                Elf32_Ehdr narrow;
                Elf64_Ehdr wide;
        } head = {};
        union {
                Elf32_Phdr narrow;
                Elf64_Phdr wide;
        } segment;
        size_t n_notes = 0;
        bool is_wide;
        uint64_t at;
        unsigned n, size;
        int r = read_at(fd, &head, sizeof(head.narrow), 0);

        if (r == 0 && (memcmp(head.ident, ELFMAG, SELFMAG) != 0 || head.ident[EI_DATA] != OWN_DATA))
                r = ORIGIN(-EBADMSG);
        is_wide = r == 0 && head.ident[EI_CLASS] == ELFCLASS64;
        if (is_wide)
                r = read_at(fd, &head, sizeof(head.wide), 0);
        if (r < 0)
                return r;
        at = is_wide ? head.wide.e_phoff : head.narrow.e_phoff;
        n = is_wide ? head.wide.e_phnum : head.narrow.e_phnum;
        size = is_wide ? head.wide.e_phentsize : head.narrow.e_phentsize;
        if (n > SEGMENTS_MAX || size != (is_wide ? sizeof(segment.wide) : sizeof(segment.narrow)))
                return ORIGIN(-EBADMSG);
        for (unsigned i = 0; r == 0 && i < n && n_notes < ELF_NOTES_MAX; i++) {
                Segment s;

                r = read_at(fd, &segment, size, at + (uint64_t) i * size);
                if (r < 0)
                        break;
                s = is_wide ? (Segment){ segment.wide.p_offset, segment.wide.p_filesz,
                                         segment.wide.p_type == PT_NOTE }
                            : (Segment){ segment.narrow.p_offset, segment.narrow.p_filesz,
                                         segment.narrow.p_type == PT_NOTE };
                if (!s.has_notes || s.n > ELF_NOTES_MAX)
                        continue;
                n_notes += s.n;
                r = add_notes(fd, &s, out);
        }
        return r;
}
