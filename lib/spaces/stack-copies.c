/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Files are walked once, by the records' headers alone, and of each copy remembered where it is.  Only what is asked for is
 * read, from a file that is opened for it: copies of a recording may have many times the memory of whoever reads it, and
 * be in more files than he may have open, as each time that a unit is started begins another one of each CPU.
 */

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/io.h"
#include "base/unit.h"
#include "spaces/stack-copies.h"

#define FILES_MAX 65536
#define COPIES_MAX ((size_t) 16 << 20)
#define HEAD_BYTES 32 /* of a sample, up to its CPU; of a loss, all that counts */

typedef struct CopyPlace {
        uint64_t timestamp_ns, at; /* in the file */
        uint32_t file, tid;
        uint16_t n_bytes;
} CopyPlace;

typedef struct CopyFile {
        char name[STACKS_NAME_MAX];
        StacksHeader header;
} CopyFile;

typedef struct CpuCopies {
        uint32_t cpu;
        CopyPlace *places; /* by time */
        size_t n_places;
} CpuCopies;

struct StackCopies {
        int dir_fd;
        CopyFile *files;
        size_t n_files;
        CpuCopies *cpus;
        size_t n_cpus, n;
        uint64_t n_lost;
        uint8_t record[UINT16_MAX + 1];
};

/* DWARF's number of each register that is recorded, in the order of its bits. */
static const uint8_t x86_registers[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16 };

static void set_register(StackCopy *c, uint32_t machine, unsigned bit, uint64_t value) {
        unsigned number = machine == 62 ? (bit < ELEMENTSOF(x86_registers) ? x86_registers[bit]
                                           : bit >= 16 && bit < 24         ? bit - 8
                                                                           : STACK_REGISTERS_MAX)
                                        : bit;

        if (number >= STACK_REGISTERS_MAX)
                return;
        c->registers[number] = value;
        if (number < 32)
                c->known |= UINT32_C(1) << number;
}

bool stack_copy_parse(StackCopy *ret, const StacksHeader *h, const uint8_t *record, size_t n) {
        const uint8_t *p = record + sizeof(struct perf_event_header), *end = record + n;
        size_t n_registers = (size_t) __builtin_popcountll(h->registers);
        StackCopy c = { .machine = h->machine };
        uint64_t n_stack, n_copied;

        if (n < HEAD_BYTES + 8 || (n - HEAD_BYTES - 8) / 8 < n_registers + 1 ||
            (h->machine != 62 && h->machine != 183))
                return false;
        c.tgid = (int32_t) load_u32(p, false);
        c.tid = (int32_t) load_u32(p + 4, false);
        c.timestamp_ns = load_u64(p + 8, false);
        if (load_u64(p + 24, false) != PERF_SAMPLE_REGS_ABI_64)
                return false;
        p += 32;
        for (unsigned bit = 0; bit < 64; bit++)
                if (h->registers >> bit & 1) {
                        set_register(&c, h->machine, bit, load_u64(p, false));
                        p += 8;
                }
        n_stack = load_u64(p, false);
        p += 8;
        if (n_stack == 0 || n_stack > (uint64_t) (end - p) || (uint64_t) (end - p) - n_stack < 8)
                return false;
        n_copied = load_u64(p + n_stack, false);
        c.stack = p;
        c.n_stack = (size_t) MIN(n_copied, n_stack);
        c.pc = c.registers[h->machine == 62 ? 16 : 32];
        c.sp = c.begin = c.registers[h->machine == 62 ? 7 : 31];
        *ret = c;
        return true;
}

/* --- files ------------------------------------------------------------------------------------------- */

static CpuCopies *get_cpu(StackCopies *s, uint32_t cpu) {
        for (size_t i = 0; i < s->n_cpus; i++)
                if (s->cpus[i].cpu == cpu)
                        return &s->cpus[i];
        return ARRAY_ADD(s->cpus, s->n_cpus, (CpuCopies){ .cpu = cpu }) ? &s->cpus[s->n_cpus - 1]
                                                                        : NULL;
}

/* Up to what is no record. */
static int walk_file(StackCopies *s, CpuCopies *cpu, uint32_t file, int fd, uint64_t size) {
        uint8_t head[HEAD_BYTES] = {};
        struct perf_event_header h;

        for (uint64_t at = sizeof(StacksHeader);
             pread_up_to(fd, head, sizeof(head), at) >= (ssize_t) sizeof(h) && s->n < COPIES_MAX;
             at += h.size) {
                CopyPlace place = { .at = at, .file = file };

                memcpy(&h, head, sizeof(h));
                if (h.size < sizeof(h) || h.size % 8 != 0 || h.size > size - MIN(at, size))
                        break;
                if (h.type == PERF_RECORD_LOST && h.size >= 24)
                        s->n_lost = add_capped(s->n_lost, load_u64(head + 16, false));
                if (h.type != PERF_RECORD_SAMPLE || h.size < HEAD_BYTES)
                        continue;
                place.n_bytes = h.size;
                place.tid = load_u32(head + 12, false);
                place.timestamp_ns = load_u64(head + 16, false);
                if (!ARRAY_ADD(cpu->places, cpu->n_places, place))
                        return -ENOMEM;
                s->n++;
        }
        return 0;
}

static int open_file(const StackCopies *s, const char *name) {
        return openat(s->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* A file of another host's byte order is none of ours, as its magic tells nothing of that but its version does. */
static int add_file(StackCopies *s, const char *name) {
        _cleanup_close_ int fd = open_file(s, name);
        CpuCopies *cpu;
        CopyFile f;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || s->n_files >= FILES_MAX ||
            pread_up_to(fd, &f.header, sizeof(f.header), 0) != sizeof(f.header) ||
            memcmp(f.header.magic, STACKS_MAGIC, sizeof(f.header.magic)) != 0 ||
            f.header.version != STACKS_VERSION ||
            snprintf(f.name, sizeof(f.name), "%s", name) >= (int) sizeof(f.name))
                return 0;
        cpu = get_cpu(s, f.header.cpu);
        if (!cpu || !ARRAY_ADD(s->files, s->n_files, f))
                return -ENOMEM;
        return walk_file(s, cpu, (uint32_t) s->n_files - 1, fd, (uint64_t) st.st_size);
}

static int compare_places(const void *pa, const void *pb) {
        const CopyPlace *a = pa, *b = pb;

        return CMP(a->timestamp_ns, b->timestamp_ns) ?: CMP(a->file, b->file) ?: CMP(a->at, b->at);
}

int stack_copies_open(StackCopies **ret, int dir_fd) {
        _cleanup_(stack_copies_freep) StackCopies *s = NULL;
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = dir_fd < 0 ? -ENOENT : dir_list(&d, dir_open(dir_fd, STACKS_DIR));

        *ret = NULL;
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        s->dir_fd = fcntl(dirfd(d), F_DUPFD_CLOEXEC, 3);
        if (s->dir_fd < 0)
                return ORIGIN(-errno);
        while (r >= 0 && (e = dir_next(d, &r)))
                if (startswith(e->d_name, "cpu"))
                        r = add_file(s, e->d_name);
        if (r == -ENOMEM)
                return r;
        for (size_t i = 0; i < s->n_cpus; i++)
                SORT(s->cpus[i].places, s->cpus[i].n_places, compare_places);
        if (s->n > 0 || s->n_lost > 0)
                *ret = TAKE_PTR(s);
        return 0;
}

int stack_copies_find(StackCopies *s, uint32_t cpu, int32_t tid, uint64_t from_ns, uint64_t to_ns,
                      StackCopy *ret) {
        const CpuCopies *c = NULL;

        for (size_t i = 0; i < s->n_cpus; i++)
                c = s->cpus[i].cpu == cpu ? &s->cpus[i] : c;
        if (!c)
                return 0;
        for (size_t i = BISECT(0, c->n_places, x, c->places[x].timestamp_ns < from_ns);
             i < c->n_places && c->places[i].timestamp_ns <= to_ns; i++) {
                const CopyPlace *p = &c->places[i];
                const CopyFile *f = &s->files[p->file];

                if (p->tid == (uint32_t) tid) {
                        _cleanup_close_ int fd = open_file(s, f->name);

                        return pread_up_to(fd, s->record, p->n_bytes, p->at) == p->n_bytes &&
                               stack_copy_parse(ret, &f->header, s->record, p->n_bytes);
                }
        }
        return 0;
}

uint64_t stack_copies_n_lost(const StackCopies *s) {
        return s->n_lost;
}

StackCopies *stack_copies_free(StackCopies *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_cpus; i++)
                free(s->cpus[i].places);
        safe_close(s->dir_fd);
        free(s->files);
        free(s->cpus);
        return mfree(s);
}
