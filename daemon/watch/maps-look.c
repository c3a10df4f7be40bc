/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * /proc/PID/maps of somebody else's process needs CAP_SYS_PTRACE, which the daemon has not.  As a service it asks
 * ftraced-maps.socket, whose service has nothing but that; where it was begun with all of root's capabilities, a child
 * keeps that one.  Either is asked by a user's number and answers with lines, the last of which is "end".
 */

#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/io.h"
#include "daemon/process/sandbox.h"
#include "daemon/process/spawn.h"
#include "daemon/watch/watch.h"
#include "programs/programs.h"
#include "spaces/spaces.h"

#define PROCESSES_MAX 16384
#define LINES_MAX 65536
#define LINES_OF_ONE_MAX 4096
#define ONE_MAX ((size_t) 4 << 20) /* /proc/PID/maps */
#define END "end\n"
#define ANSWER_MAX (MAPS_BYTES_MAX + ((size_t) 64 << 10)) /* with the last line */
#define ASK_NS (20 * NSEC_PER_SEC)
#define READER_MEMORY ((uint64_t) 256 << 20)

typedef struct BuildId {
        char text[BUILD_ID_CHARS_MAX + 1];
} BuildId;

typedef struct Look {
        Buf *out;
        unsigned n_lines;
        bool is_partial;
        uid_t only; /* NO_UID: processes of all */
        Hash files; /* index + 1 of its build ID, by device and inode */
        BuildId *ids;
        size_t n_ids;
} Look;

#define NO_UID ((uid_t) -1)

/* --- the look ---------------------------------------------------------------------------------- */

/* The file that a process sees at @path, if it is the one it has mapped; *@ret_device: where it is for stat(), which on some
 * file systems is not what maps say. */
static int open_mapped(int process_fd, const char *path, uint64_t inode, uint64_t *ret_device) {
        _cleanup_close_ int root = openat(process_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC),
                            fd = -EBADF;
        struct stat st;

        if (root < 0)
                return -errno;
        fd = file_open_regular(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0 || st.st_ino != inode)
                return -ENOENT;
        *ret_device = st.st_dev;
        return TAKE_FD(fd);
}

/* "-" of what has none, or cannot be read.  NULL without memory.  What one process shows counts for others only where both
 * device and inode are the file's own. */
static const char *find_build_id(Look *l, int process_fd, uint64_t device, uint64_t inode,
                                 const char *path) {
        uint64_t key = hash_mix(device ^ hash_mix(inode)), known = hash_get(&l->files, key);
        BuildId id = { "-" };
        _cleanup_buf_ Buf notes = BUF_INIT;
        _cleanup_close_ int fd = -EBADF;
        uint64_t seen = 0;

        if (known > 0)
                return l->ids[known - 1].text;
        fd = open_mapped(process_fd, path, inode, &seen);
        if (fd >= 0 && elf_notes_read(fd, &notes) == 0)
                (void) build_id_find(notes.data, notes.n_data, id.text);
        if (!ARRAY_ADD(l->ids, l->n_ids, id) ||
            (fd >= 0 && seen == device && hash_set(&l->files, key, l->n_ids) < 0))
                return NULL;
        return l->ids[l->n_ids - 1].text;
}

/* A line of /proc/PID/maps: "START-END r-xp OFFSET MAJOR:MINOR INODE     PATH" (linux 6.12 fs/proc/task_mmu.c). */
static int tell_line(Look *l, int process_fd, const char *line) {
        uint64_t start, end, offset, inode;
        unsigned major_, minor_;
        char rights[5];
        const char *path = strchr(line, '/'), *id;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &start, &end,
                   rights, &offset, &major_, &minor_, &inode) != 7 ||
            rights[2] != 'x')
                return 0;
        if (inode == 0 && strstr(line, " [vdso]"))
                path = "[vdso]";
        else if (!path || inode == 0)
                return 0;
        id = inode > 0 ? find_build_id(l, process_fd, makedev(major_, minor_), inode, path) : "-";
        if (!id)
                return -ENOMEM;
        l->n_lines++;
        buf_printf(l->out, "map %" PRIx64 "-%" PRIx64 " %" PRIx64 " %u:%u %" PRIu64 " %s %s\n",
                   start, end, offset, major_, minor_, inode, id, path);
        return l->out->error;
}

/* /proc/PID/maps is the user's who may read it: root's of what runs with more rights than its caller, whose real uid is
 * that user's (linux 6.12 fs/proc/base.c, task_dump_owner()).  After it was read, lest another program begins meanwhile. */
static bool is_wanted(const Look *l, int process_fd) {
        struct stat st;

        return l->only == NO_UID ||
               (fstatat(process_fd, "maps", &st, AT_SYMLINK_NOFOLLOW) >= 0 && st.st_uid == l->only);
}

static bool is_full(const Look *l) {
        return l->n_lines >= LINES_MAX || l->out->n_data >= MAPS_BYTES_MAX;
}

/* One that is gone, is the kernel's, or is not to be read is passed over. */
static int tell_process(Look *l, int proc_fd, const char *pid) {
        _cleanup_close_ int fd = dir_open(proc_fd, pid);
        _cleanup_free_ char *maps = NULL;
        size_t n_before;
        int r = fd >= 0 ? file_read(fd, "maps", &maps, NULL, ONE_MAX) : -ENOENT;

        if (r < 0 || !is_wanted(l, fd)) {
                l->is_partial |= r == -EFBIG && is_wanted(l, fd);
                return r == -ENOMEM ? r : 0;
        }
        n_before = l->n_lines;
        buf_printf(l->out, "process %s\n", pid);
        for (char *line = maps, *next; r >= 0 && *line; line = next) {
                next = line + strcspn(line, "\n");
                if (*next)
                        *next++ = 0;
                if (l->n_lines - n_before < LINES_OF_ONE_MAX && !is_full(l))
                        r = tell_line(l, fd, line);
                else
                        l->is_partial = true;
        }
        if (r >= 0 && l->n_lines == n_before)
                l->out->n_data -= strlen("process \n") + strlen(pid);
        return r;
}

int maps_look(int root_fd, uid_t only, Buf *out) {
        _cleanup_(closedirp) DIR *d = NULL;
        Look l = { .out = out, .only = only };
        const char *pid;
        int r = dir_list(&d, dir_open(root_fd, "proc"));

        for (unsigned n = 0; r >= 0 && (pid = dir_next_number(d)); n++)
                if (n < PROCESSES_MAX && !is_full(&l))
                        r = tell_process(&l, dirfd(d), pid);
                else
                        l.is_partial = true;
        hash_done(&l.files);
        free(l.ids);
        if (r < 0)
                return r;
        buf_adds(out, l.is_partial ? MAPS_PARTIAL END : END);
        return out->error;
}

/* --- who may look -------------------------------------------------------------------------------- */

static int reader_fd = -EBADF; /* of the child, for as long as the daemon lives */
static bool has_child;
static pthread_mutex_t reader_lock = PTHREAD_MUTEX_INITIALIZER;

static int write_all(int fd, const Buf *text) {
        for (size_t n = 0; n < text->n_data;) {
                ssize_t k = send(fd, text->data + n, text->n_data - n, MSG_NOSIGNAL);

                if (k < 0 && errno != EINTR)
                        return ORIGIN(-errno);
                n += k > 0 ? (size_t) k : 0;
        }
        return 0;
}

/* A caller is told of nobody else's processes but the ones he asks for by a user's number. */
static int answer(int fd, int root_fd) {
        _cleanup_buf_ Buf text = BUF_INIT;
        uint32_t only;
        int r;

        if (recv(fd, &only, sizeof(only), MSG_WAITALL) != (ssize_t) sizeof(only))
                return ORIGIN(-EPIPE);
        r = maps_look(root_fd, only, &text);
        return r < 0 ? r : write_all(fd, &text);
}

int maps_serve(int fd) {
        _cleanup_close_ int root = dir_open(AT_FDCWD, "/");
        int r = root < 0 ? root : privilege_drop(PRIVILEGE_PTRACE);

        while (r >= 0)
                r = answer(fd, root);
        return r == -EPIPE ? 0 : r;
}

static int serve_as_child(int fd) {
        const struct rlimit memory = { READER_MEMORY, READER_MEMORY }, none = {};

        return setrlimit(RLIMIT_AS, &memory) < 0 || setrlimit(RLIMIT_FSIZE, &none) < 0
                       ? ORIGIN(-errno)
                       : maps_serve(fd);
}

int maps_reader_start(void) {
        if (prctl(PR_CAPBSET_READ, PRIVILEGE_PTRACE, 0, 0, 0) != 1)
                return 0;
        reader_fd = spawn_server("ftraced-maps", serve_as_child);
        has_child = reader_fd >= 0;
        return MIN(reader_fd, 0);
}

/* Only a whole line: a file's name may end like one. */
static bool ends_with_line(const Buf *text, const char *line) {
        size_t n = strlen(line);

        return text->n_data >= n && memcmp(text->data + text->n_data - n, line, n) == 0 &&
               (text->n_data == n || text->data[text->n_data - n - 1] == '\n');
}

bool maps_are_whole(const Buf *answer) {
        return ends_with_line(answer, END);
}

bool maps_are_partial(const Buf *maps) {
        return ends_with_line(maps, MAPS_PARTIAL);
}

static int ask(int fd, uid_t only, Buf *out) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        uint64_t end_ns = now_ns(CLOCK_MONOTONIC) + ASK_NS;
        uint32_t asked = only;
        char part[16384];
        ssize_t n;
        int r;

        if (send(fd, &asked, sizeof(asked), MSG_NOSIGNAL) < 0)
                return ORIGIN(-errno);
        while (out->error == 0) {
                if (maps_are_whole(out))
                        return 0;
                if (out->n_data > ANSWER_MAX)
                        return ORIGIN(-EFBIG);
                r = poll_until(&p, 1, end_ns);
                if (r < 0)
                        return r;
                n = recv(fd, part, sizeof(part), 0);
                if (n <= 0 && !(n < 0 && errno == EINTR))
                        return n == 0 ? ORIGIN(-EPIPE) : ORIGIN(-errno);
                buf_add(out, part, (size_t) MAX(n, 0));
        }
        return out->error;
}

static int ask_child(uid_t only, Buf *out) {
        int r;

        (void) pthread_mutex_lock(&reader_lock);
        r = reader_fd < 0 ? ORIGIN(-EPIPE) : ask(reader_fd, only, out);
        /* The rest of an answer that came too late would be the next one's beginning. */
        if (r < 0)
                reader_fd = safe_close(reader_fd);
        (void) pthread_mutex_unlock(&reader_lock);
        return r;
}

static int ask_service(uid_t only, Buf *out) {
        _cleanup_close_ int fd = spawn_connect(MAPS_SOCKET);

        return fd < 0 ? fd : ask(fd, only, out);
}

const char *maps_reader(void) {
        return has_child ? "the child that may look" : "ftraced-maps.socket";
}

int maps_ask(uid_t only, Buf *out) {
        int r = BACKGROUND_CALL(has_child ? ask_child(only, out) : ask_service(only, out));

        if (r >= 0)
                out->n_data -= strlen(END);
        return r;
}
