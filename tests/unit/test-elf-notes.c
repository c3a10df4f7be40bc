/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <elf.h>

#include "meta/meta.h"
#include "programs/programs.h"
#include "scratch.h"

#define ID "\x01\xfe\x80\x7f"
#define OWN_DATA (HOST_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB)

typedef struct Image {
        Elf64_Ehdr head;
        Elf64_Phdr segments[3];
        struct {
                uint32_t n_name, n_desc, type;
                char name[4], id[4];
        } notes[2];
} Image;

static Image image(void) {
        Image i = { .head = { .e_phoff = offsetof(Image, segments),
                              .e_phentsize = sizeof(Elf64_Phdr),
                              .e_phnum = 3 },
                    .segments = { { .p_type = PT_LOAD, .p_filesz = 64 },
                                  { .p_type = PT_NOTE,
                                    .p_offset = offsetof(Image, notes),
                                    .p_filesz = sizeof(i.notes[0]) },
                                  { .p_type = PT_NOTE,
                                    .p_offset = offsetof(Image, notes) + sizeof(i.notes[0]),
                                    .p_filesz = sizeof(i.notes[0]) } },
                    .notes = { { 4, 4, 1, "GNU", "abcd" }, { 4, 4, 3, "GNU", ID } } };

        memcpy(i.head.e_ident, ELFMAG, SELFMAG);
        i.head.e_ident[EI_CLASS] = ELFCLASS64;
        i.head.e_ident[EI_DATA] = OWN_DATA;
        return i;
}

/* "-": it has none; "!": it is refused. */
static const char *id_of(const Scratch *s, const void *file, size_t n) {
        static char id[BUILD_ID_CHARS_MAX + 1];
        _cleanup_buf_ Buf notes = BUF_INIT;
        _cleanup_close_ int fd = -EBADF;
        int r;

        scratch_write(s->fd, "file", file, n);
        fd = openat(s->fd, "file", O_RDONLY | O_CLOEXEC);
        r = elf_notes_read(fd, &notes);
        ck_assert(r == 0 || r == -EBADMSG);
        ck_assert_uint_le(notes.n_data, 2 * ELF_NOTES_MAX);
        return r < 0 ? "!" : build_id_find(notes.data, notes.n_data, id) ? id : "-";
}

SCRATCH_TEST(a_build_id_is_among_the_notes) {
        Image i = image();

        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "01fe807f");
        i.notes[1].type = 7;
        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "-");
}

SCRATCH_TEST(this_program_has_the_one_that_it_says) {
        _cleanup_buf_ Buf notes = BUF_INIT;
        _cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

        ck_assert_int_eq(elf_notes_read(fd, &notes), 0);
        ck_assert_uint_gt(notes.n_data, 0);
}

SCRATCH_TEST(what_is_no_program_is_refused) {
        const Image good = image();
        Image i = good;

        ck_assert_str_eq(id_of(s, "", 0), "!");
        ck_assert_str_eq(id_of(s, "#!/bin/sh\n", 10), "!");
        i.head.e_ident[EI_DATA] = ELFDATA2LSB + ELFDATA2MSB - OWN_DATA;
        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "!");
        i = good;
        i.head.e_phoff = UINT64_MAX - 8;
        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "!");
        i = good;
        i.head.e_phnum = UINT16_MAX;
        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "!");
        i = good;
        i.head.e_phentsize = 1;
        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "!");
        i = good;
        i.segments[2].p_offset = UINT64_MAX;
        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "!");
        i = good;
        i.segments[1].p_filesz = i.segments[2].p_filesz = UINT64_MAX;
        ck_assert_str_eq(id_of(s, &i, sizeof(i)), "-");
}

SCRATCH_TEST(a_file_that_ends_early_or_is_changed_anywhere_is_read_safely) {
        const Image good = image();

        for (size_t n = 0; n < sizeof(good); n++)
                (void) id_of(s, &good, n);
        for (size_t k = 0; k < sizeof(good); k++)
                for (unsigned bit = 0; bit < 8; bit += 3) {
                        Image i = good;

                        ((uint8_t *) &i)[k] ^= (uint8_t) (1 << bit);
                        (void) id_of(s, &i, sizeof(i));
                }
}
