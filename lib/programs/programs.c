/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A file that was mapped is looked for where the process saw it, or, if an event told of it, below each mount of its file
 * system.  The first one that is it counts.  What was named once is remembered by where it is.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/name.h"
#include "meta/meta.h"
#include "programs/programs-private.h"
#include "programs/programs.h"

#define DEBUG_DIR "/usr/lib/debug"
#define MOUNTS_BYTES_MAX ((size_t) 4 << 20)
#define LACKING_MAX 20
#define OPEN_MAX 512 /* images at a time */
#define OPEN_BYTES_MAX (UINT64_C(2) << 30)
#define DELETED " (deleted)"

typedef struct OpenFile {
        bool is_known;
        ProgramImage *image; /* NULL: it is not to be had */
} OpenFile;

typedef struct OpenMap {
        int32_t tgid;
        PerfMap map; /* empty: there is none */
} OpenMap;

/* Where a file system is. */
typedef struct Mount {
        uint32_t major, minor;
        char *root, *point;
} Mount;

struct Programs {
        ProgramsOf of;
        OpenFile *files; /* by MappedFile.index */
        size_t n_files, n_images;
        uint64_t n_bytes; /* left for more */
        OpenMap *maps;
        size_t n_maps;
        Hash maps_at; /* index + 1 */
        Mount *mounts;
        size_t n_mounts;
        bool has_mounts;
        Strv lacking;
        bool is_cut; /* there are more */
};

int programs_new(Programs **ret, const ProgramsOf *of) {
        *ret = NEW(Programs, .of = *of, .n_bytes = of->max_bytes ?: OPEN_BYTES_MAX);
        return *ret ? 0 : -ENOMEM;
}

const Strv *programs_lacking(const Programs *p) {
        return &p->lacking;
}

/* --- mounts -------------------------------------------------------------------------------------- */

/* "\040" is a blank there. */
static void unescape(char *s) {
        char *to = s;

        for (; *s; to++) {
                unsigned c;

                if (*s == '\\' && sscanf(s + 1, "%3o", &c) == 1 && strlen(s) >= 4) {
                        *to = (char) c;
                        s += 4;
                } else
                        *to = *s++;
        }
        *to = 0;
}

/* "36 35 98:0 /root /mount/point ..." */
static void read_mounts(Programs *p) {
        _cleanup_free_ char *text = NULL;

        p->has_mounts = true;
        if (file_read(AT_FDCWD, "/proc/self/mountinfo", &text, NULL, MOUNTS_BYTES_MAX) < 0)
                return;
        for (char *line = text, *next; *line; line = next) {
                _cleanup_free_ char *root = NULL, *point = NULL;
                Mount m;

                next = line + strcspn(line, "\n");
                if (*next)
                        *next++ = 0;
                if (sscanf(line, "%*d %*d %" SCNu32 ":%" SCNu32 " %ms %ms", &m.major, &m.minor,
                           &root, &point) != 4)
                        continue;
                unescape(root);
                unescape(point);
                m.root = root;
                m.point = point;
                if (!ARRAY_ADD(p->mounts, p->n_mounts, m))
                        return;
                root = point = NULL;
        }
}

/* --- files --------------------------------------------------------------------------------------- */

static void lack(Programs *p, const char *path, const char *what) {
        if (p->lacking.n >= LACKING_MAX)
                p->is_cut = true;
        else
                (void) strv_addf(&p->lacking, "%s %s", NAME_QUOTED(path), what);
}

/* A regular file that whoever reads may open.  -errno. */
static int open_below(const char *root, const char *path) {
        _cleanup_close_ int dir = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -EBADF;

        if (root && dir < 0)
                return -errno;
        return file_open_regular(root ? dir : AT_FDCWD, path,
                                 RESOLVE_NO_MAGICLINKS | (root ? RESOLVE_IN_ROOT : 0));
}

/* Where several devices are one to who asks for a file's. */
static bool has_odd_device(int fd) {
        struct statfs fs;

        return fstatfs(fd, &fs) == 0 &&
               (fs.f_type == BTRFS_SUPER_MAGIC || fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

/* NULL: it is the file that was mapped; else what it is instead. */
static const char *find_difference(const Programs *p, const MappedFile *f, int fd) {
        char build_id[BUILD_ID_CHARS_MAX + 1];
        _cleanup_buf_ Buf notes = BUF_INIT;
        uint64_t changed_ns;
        struct stat st;

        if (f->build_id && elf_notes_read(fd, &notes) >= 0 &&
            build_id_find(notes.data, notes.n_data, build_id))
                return streq(build_id, f->build_id) ? NULL : "has changed since";
        if (!p->of.is_host)
                return "has another build ID here";
        if (fstat(fd, &st) < 0)
                return "cannot be read";
        changed_ns =
                (uint64_t) st.st_ctim.tv_sec * UINT64_C(1000000000) + (uint64_t) st.st_ctim.tv_nsec;
        if (st.st_ino != f->inode ||
            ((major(st.st_dev) != f->major || minor(st.st_dev) != f->minor) && !has_odd_device(fd)))
                return "is another file by now, or in a container";
        return changed_ns > p->of.realtime_ns ? "has changed since" : NULL;
}

/* A descriptor of the file at that path, or what is wrong with it; what is not there is the least. */
static int try_path(const Programs *p, const MappedFile *f, const char *root, const char *path,
                    const char **ret_problem) {
        _cleanup_close_ int fd = open_below(root, path);

        if (fd == -ENOENT)
                return fd;
        *ret_problem = fd == -EACCES || fd == -EPERM ? "is not for you to read"
                       : fd < 0                      ? "cannot be opened"
                                                     : find_difference(p, f, fd);
        return *ret_problem ? -ESTALE : TAKE_FD(fd);
}

static int find_by_mounts(Programs *p, const MappedFile *f, const char *path_there,
                          const char **ret_problem) {
        int fd = -ENOENT;

        if (!p->has_mounts)
                read_mounts(p);
        for (size_t i = 0; i < p->n_mounts && fd < 0; i++) {
                const Mount *m = &p->mounts[i];
                _cleanup_free_ char *path = NULL;
                const char *rest =
                        streq(m->root, "/") ? path_there : startswith(path_there, m->root);

                if (m->major != f->major || m->minor != f->minor || !rest || *rest != '/')
                        continue;
                if (asprintf(&path, "%s%s", streq(m->point, "/") ? "" : m->point, rest) < 0)
                        return -ENOMEM;
                fd = try_path(p, f, NULL, path, ret_problem);
        }
        return fd;
}

/* As the process sees it, which may be in a container.  Paths in a file system are often those in an overlay above it, too. */
static int find_file(Programs *p, const SpacePlace *place, const char **ret_problem) {
        const MappedFile *f = place->file;
        char path[MAPS_PATH_MAX], root[32];
        size_t n = strlen(f->path);
        int fd = -ENOENT;

        if (n >= sizeof(path))
                return -ENOENT;
        if (f->is_of_event)
                (void) plain_undo(path, sizeof(path), f->path, n);
        else {
                n -= n > strlen(DELETED) && streq(f->path + n - strlen(DELETED), DELETED)
                             ? strlen(DELETED)
                             : 0;
                memcpy(path, f->path, n);
                path[n] = 0;
        }
        if (f->is_of_event && path[0] == '/')
                fd = find_by_mounts(p, f, path, ret_problem);
        if (fd < 0 && f->told) {
                strcpy(path, f->told);
                fd = try_path(p, f, NULL, path, ret_problem);
        } else if (fd < 0 && path[0] == '/')
                fd = try_path(p, f, NULL, path, ret_problem);
        if (fd < 0 && p->of.is_boot && path[0] == '/') {
                (void) snprintf(root, sizeof(root), "/proc/%d/root", place->tgid);
                fd = try_path(p, f, root, path, ret_problem);
        }
        return fd;
}

static void open_file(Programs *p, OpenFile *open, const SpacePlace *place) {
        const MappedFile *f = place->file;
        const char *problem = NULL;
        int fd;

        open->is_known = true;
        if (f->inode == 0) /* [vdso] */
                return;
        if (!p->of.is_host && !f->build_id) {
                lack(p, f->told ?: f->path,
                     "is another host's, and has no build ID by which it could be known here");
                return;
        }
        fd = find_file(p, place, &problem);
        if (fd < 0) {
                lack(p, f->told ?: f->path, problem ?: "is not there any more");
                return;
        }
#ifdef HAVE_ELFUTILS
        struct stat st;

        if (p->n_images >= OPEN_MAX || fstat(fd, &st) < 0 || (uint64_t) st.st_size > p->n_bytes) {
                (void) close(fd);
                lack(p, f->told ?: f->path, "is one of too many files");
                return;
        }
        if (program_image_open(&open->image, fd, DEBUG_DIR, &problem) == 0) {
                p->n_images++;
                p->n_bytes -= (uint64_t) st.st_size;
        } else
                lack(p, f->told ?: f->path, problem);
#else
        (void) close(fd);
#endif
}

/* --- perf maps ----------------------------------------------------------------------------------- */

/* Who the process is of: what another user says of it does not count. */
static bool is_of_process(const struct stat *st, int32_t tgid) {
        char path[32];
        struct stat process;

        (void) snprintf(path, sizeof(path), "/proc/%d", tgid);
        return st->st_uid == 0 ||
               (stat(path, &process) == 0 ? process.st_uid == st->st_uid : st->st_uid == getuid());
}

static int read_map(int32_t tgid, PerfMap *ret) {
        char path[64];
        _cleanup_close_ int fd = -EBADF;
        _cleanup_free_ char *text = NULL;
        struct stat st;
        int r;

        (void) snprintf(path, sizeof(path), "/tmp/perf-%d.map", tgid);
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !is_of_process(&st, tgid))
                return 0;
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = file_read(AT_FDCWD, path, &text, NULL, PERF_MAP_BYTES_MAX);
        return r < 0 ? (r == -ENOMEM ? r : 0) : perf_map_read(ret, TAKE_PTR(text));
}

static const PerfMapItem *find_in_map(Programs *p, int32_t tgid, uint64_t address) {
        uint64_t i = hash_get(&p->maps_at, (uint64_t) tgid);

        if (i == 0) {
                OpenMap m = { .tgid = tgid };

                if (read_map(tgid, &m.map) < 0)
                        return NULL;
                if (!ARRAY_ADD(p->maps, p->n_maps, m)) {
                        perf_map_done(&m.map);
                        return NULL;
                }
                if (hash_add(&p->maps_at, (uint64_t) tgid, p->n_maps) < 0)
                        return NULL;
                i = p->n_maps;
        }
        return perf_map_find(&p->maps[i - 1].map, address);
}

/* NULL without memory. */
static OpenFile *get_file(Programs *p, const SpacePlace *place) {
        OpenFile *open;

        if (!ARRAY_REACH(p->files, p->n_files, place->file->index))
                return NULL;
        open = &p->files[place->file->index];
        if (!open->is_known)
                open_file(p, open, place);
        return open;
}

/* --- what is asked ------------------------------------------------------------------------------- */

void programs_name(void *programs, const SpacePlace *place, ProgramFrame *frame) {
        Programs *p = programs;
        const PerfMapItem *item;
        OpenFile *open;

        if (!place->file) {
                item = p->of.is_boot ? find_in_map(p, place->tgid, place->address) : NULL;
                if (item) {
                        frame->name = item->name;
                        frame->n_name = item->n_name;
                        frame->origin = "jit";
                }
                return;
        }
        open = get_file(p, place);
#ifdef HAVE_ELFUTILS
        if (open && open->image)
                program_image_name(open->image, place->at, frame);
#endif
}

size_t programs_unwind(void *programs, Spaces *spaces, StackCopy *copy, uint64_t timestamp_ns,
                       uint64_t addresses[static UNWIND_FRAMES_MAX], UnwindEnd *ret_end) {
        size_t n = 0;
#ifdef HAVE_ELFUTILS
        UnwindStep step = UNWIND_INTERRUPTED;

        while (step <= UNWIND_INTERRUPTED && n < UNWIND_FRAMES_MAX) {
                bool is_return = step == UNWIND_CALLED;
                const UnwindRules *rules = NULL;
                SpacePlace place;
                OpenFile *open;

                spaces_find(spaces, copy->tgid, copy->pc - is_return, timestamp_ns, &place);
                open = place.file ? get_file(programs, &place) : NULL;
                if (open && open->image)
                        rules = program_image_rules(open->image, place.at);
                addresses[n] = copy->pc + (n > 0 && !is_return);
                n++;
                step = unwind_step(copy, rules);
        }
        *ret_end = step == UNWIND_WHOLE                           ? UNWIND_END_WHOLE
                   : step == UNWIND_CUT || n == UNWIND_FRAMES_MAX ? UNWIND_END_CUT
                                                                  : UNWIND_END_LOST;
#else
        *ret_end = UNWIND_END_LOST;
#endif
        return n;
}

Programs *programs_free(Programs *p) {
        if (!p)
                return NULL;
#ifdef HAVE_ELFUTILS
        for (size_t i = 0; i < p->n_files; i++)
                (void) program_image_free(p->files[i].image);
#endif
        for (size_t i = 0; i < p->n_maps; i++)
                perf_map_done(&p->maps[i].map);
        for (size_t i = 0; i < p->n_mounts; i++) {
                free(p->mounts[i].root);
                free(p->mounts[i].point);
        }
        free(p->files);
        free(p->maps);
        free(p->mounts);
        hash_done(&p->maps_at);
        strv_done(&p->lacking);
        return mfree(p);
}
