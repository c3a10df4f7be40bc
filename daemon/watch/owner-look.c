/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Two walks: over the tasks of /proc, and over the directories of cgroup2, whose inode numbers are the ids that events
 * have.  What the file says already is not told again.
 */

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/io.h"
#include "daemon/watch/watch.h"
#include "owner/owners.h"
#include "spaces/spaces.h"

#define TASKS_MAX 65536
#define GROUPS_MAX 16384
#define DEPTH_MAX 64
#define FILE_MAX ((size_t) 64 << 10) /* of a task; Groups: in /proc/PID/status may be 65536 */
#define RUNTIME_MAX ((size_t) 4 << 20)
#define STORAGE "var/lib/containers/storage/overlay-containers/"
#define CRI_ANNOTATION "io.kubernetes.cri."
#define GROUP_ROOT "sys/fs/cgroup"
#define GROUP_ROOT_IS_THERE GROUP_ROOT "/cgroup.controllers"
#define GROUP_ROOT_ID 1 /* linux 6.12 fs/kernfs/dir.c, __kernfs_new_node(): the first of its filesystem */
#define DELETED " (deleted)"
#define SYSTEMD_GROUP ":name=systemd:"
#define START_FIELD 20 /* of /proc/PID/stat, behind the ")" of its second */

typedef struct Known {
        uint64_t since_ns, hash; /* of "TGID UID PATH" */
} Known;

typedef struct Walk {
        int root_fd; /* borrowed */
        Buf *out;
        const OwnerClock *clock;
        bool is_first, has_hierarchy, with_names;
        uint64_t hierarchy;
        unsigned n_tasks, n_groups;
        Known *known;
        size_t n_known;
        Hash by_pid;     /* the last of each, index + 1 */
        Hash groups;     /* the hash of its path, by id */
        Hash containers; /* by the hash of the id: looked up */
} Walk;

static uint64_t hash_text(const char *s, size_t n) {
        return hash_bytes(HASH_BYTES_FIRST, s, n) | 1;
}

static uint64_t hash_whose(int32_t tgid, uint32_t uid, const char *path, size_t n_path) {
        return hash_mix((uint64_t) (uint32_t) tgid << 32 | uid) ^ hash_text(path, n_path);
}

/* 1: it is as it was known; 0: it is now; -ENOMEM. */
static int know_task(Walk *w, int32_t pid, uint64_t since_ns, uint64_t hash) {
        uint64_t i = hash_get(&w->by_pid, (uint64_t) pid);
        const Known *k = i > 0 ? &w->known[i - 1] : NULL;

        /* What both are made of may be read a moment apart. */
        if (k && k->hash == hash &&
            MAX(k->since_ns, since_ns) - MIN(k->since_ns, since_ns) < NSEC_PER_MSEC)
                return 1;
        if (!ARRAY_ADD(w->known, w->n_known, (Known){ since_ns, hash }))
                return -ENOMEM;
        return MIN(hash_set(&w->by_pid, (uint64_t) pid, w->n_known), 0);
}

static int read_known(Walk *w, const char *text) {
        OwnerLine l;
        int r = 0;

        while (r >= 0 && owner_line_next(&text, &l)) {
                uint64_t hash = hash_text(l.text, l.n_text);

                if (l.kind == OWNER_TASK)
                        r = know_task(w, l.pid, l.since_ns,
                                      hash_whose(l.tgid, l.uid, l.text, l.n_text));
                else if (l.kind == OWNER_CGROUP)
                        r = hash_set(&w->groups, l.id, hash);
                else if (l.kind == OWNER_NAME)
                        r = hash_set(&w->containers, hash_text(l.container, CONTAINER_ID_CHARS), 1);
                else {
                        w->hierarchy = l.id;
                        w->has_hierarchy = true;
                }
        }
        return MIN(r, 0);
}

/* --- names of containers ------------------------------------------------------------------------- */

static bool is_name(const char *s) {
        return *s &&
               s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/")] ==
                       0;
}

/* Files of runtimes that are for root: docker's, those of containerd's CRI, and of podman and CRI-O. */
static const struct {
        const char *dir;
        const char *file; /* in the container's; NULL: dir is one, a list of objects with an "id" */
        const char *in;   /* the member in which names are; NULL: they are not in one */
        const char *pod, *name;
} runtimes[] = {
        { "var/lib/docker/containers/", "/config.v2.json", NULL, NULL, "Name" },
        { "run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json", "annotations",
          CRI_ANNOTATION "sandbox-name", CRI_ANNOTATION "container-name" },
        { STORAGE "containers.json", NULL, NULL, NULL, "names" },
        { STORAGE "volatile-containers.json", NULL, NULL, NULL, "names" },
};

/* "NAME", "POD/NAME", "POD"; empty: this runtime has none. */
static int find_name(const Walk *w, size_t i, const char *id, char ret[static CGROUP_WORD_MAX]) {
        const char *file = runtimes[i].file, *name, *pod;
        _cleanup_free_ char *path = NULL, *text = NULL;
        json_auto_t *o = NULL;
        json_t *of, *item;
        size_t k;
        int r = text_format(&path, "%s%s%s", runtimes[i].dir, file ? id : "", file ?: "");

        if (r < 0)
                return r;
        if (file_read(w->root_fd, path, &text, NULL, RUNTIME_MAX) >= 0)
                o = json_loads(text, 0, NULL);
        of = file ? o : NULL;
        json_array_foreach (o, k, item)
                if (streq_ptr(json_string_value(json_object_get(item, "id")), id))
                        of = item;
        if (runtimes[i].in)
                of = json_object_get(of, runtimes[i].in);
        item = json_object_get(of, runtimes[i].name);
        name = json_string_value(json_is_array(item) ? json_array_get(item, 0) : item) ?: "";
        pod = (runtimes[i].pod ? json_string_value(json_object_get(of, runtimes[i].pod)) : NULL)
                      ?: "";
        name += strspn(name, "/");
        if (snprintf(ret, CGROUP_WORD_MAX, "%s%s%s", pod, *pod && *name ? "/" : "", name) >=
            CGROUP_WORD_MAX)
                *ret = 0;
        return 0;
}

/* As its runtime has it; of others the ID stays. */
static int tell_container(Walk *w, const char *path) {
        char name[CGROUP_WORD_MAX] = "";
        CgroupWords words;
        uint64_t key;

        cgroup_words(path, &words);
        key = hash_text(words.container, strlen(words.container));
        if (!w->with_names || !container_is_id(words.container) || hash_get(&w->containers, key) > 0)
                return 0;
        for (size_t i = 0; !*name && i < ELEMENTSOF(runtimes); i++)
                if (find_name(w, i, words.container, name) < 0)
                        return -ENOMEM;
        if (is_name(name))
                buf_printf(w->out, "name %s %s\n", words.container, name);
        return hash_set(&w->containers, key, 1);
}

/* --- tasks --------------------------------------------------------------------------------------- */

/* Of "0::/PATH" or "1:name=systemd:/PATH", ended; NULL: there is none. */
static char *find_group(const Walk *w, char *text) {
        char start[16];

        (void) snprintf(start, sizeof(start), "%" PRIu64 ":", w->hierarchy);
        for (char *line = text, *next; line && *line; line = next) {
                char *path = strchr(line, '/');

                next = strchr(line, '\n');
                if (next)
                        *next++ = 0;
                if (!startswith(line, start) || !path || path[-1] != ':')
                        continue;
                if (strlen(path) > strlen(DELETED) &&
                    streq(path + strlen(path) - strlen(DELETED), DELETED))
                        path[strlen(path) - strlen(DELETED)] = 0;
                return strlen(path) < OWNERS_PATH_MAX ? path : NULL;
        }
        return NULL;
}

/* In the clock of the recording: when the task began, not earlier; a clock of which that is not known has the look's time. */
static uint64_t find_since(const Walk *w, const char *stat) {
        const OwnerClock *c = w->clock;
        const char *p = strrchr(stat, ')');
        uint64_t ticks, began_ns, age_ns;

        if (!c->is_ns)
                return w->is_first ? 0 : c->at.trace_ns;
        for (int i = 0; i < START_FIELD && p; i++)
                p = strchr(p + 1, ' ');
        if (!p)
                return c->at.trace_ns;
        ticks = strtoull(p + 1, NULL, 10) + 1;
        began_ns = ticks > UINT64_MAX / NSEC_PER_SEC ? UINT64_MAX
                                                     : ticks * (NSEC_PER_SEC / c->ticks_per_s);
        age_ns = c->at.boottime_ns - MIN(c->at.boottime_ns, began_ns);
        return c->at.trace_ns - MIN(c->at.trace_ns, age_ns);
}

static uint32_t find_uid(const char *status, bool *ret_found) {
        static const char mark[] = "\nUid:\t";
        const char *line = strstr(status, mark);

        *ret_found = line;
        return line ? (uint32_t) strtoul(line + strlen(mark), NULL, 10) : 0;
}

/* One that is gone, or is not to be read, is passed over. */
static int tell_task(Walk *w, int tasks_fd, const char *pid, const char *tid) {
        _cleanup_free_ char *status = NULL, *stat = NULL, *groups = NULL;
        char path[64];
        const char *group;
        uint64_t since_ns;
        uint32_t uid;
        bool is_there;
        int r;

        (void) snprintf(path, sizeof(path), "%.11s/status", tid);
        r = file_read(tasks_fd, path, &status, NULL, FILE_MAX);
        (void) snprintf(path, sizeof(path), "%.11s/stat", tid);
        r = r ?: file_read(tasks_fd, path, &stat, NULL, FILE_MAX);
        (void) snprintf(path, sizeof(path), "%.11s/cgroup", tid);
        r = r ?: file_read(tasks_fd, path, &groups, NULL, FILE_MAX);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        uid = find_uid(status, &is_there);
        group = *groups ? find_group(w, groups) : "/"; /* nobody has mounted them */
        if (!is_there || !group)
                return 0;
        since_ns = find_since(w, stat);
        r = know_task(w, atoi(tid), since_ns, hash_whose(atoi(pid), uid, group, strlen(group)));
        if (r != 0)
                return MIN(r, 0);
        r = tell_container(w, group);
        buf_printf(w->out, "task %" PRIu64 " %" PRIu64 " %s %s %" PRIu32 " %s\n",
                   w->clock->at.trace_ns, since_ns, tid, pid, uid, group);
        return r;
}

static int tell_process(Walk *w, int proc_fd, const char *pid) {
        _cleanup_(closedirp) DIR *d = NULL;
        const char *tid;
        char path[32];
        int r;

        (void) snprintf(path, sizeof(path), "%.11s/task", pid);
        r = dir_list(&d, dir_open(proc_fd, path));
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        for (; r >= 0 && w->n_tasks < TASKS_MAX && (tid = dir_next_number(d)); w->n_tasks++)
                r = tell_task(w, dirfd(d), pid, tid);
        return r;
}

static int walk_tasks(Walk *w) {
        _cleanup_(closedirp) DIR *d = NULL;
        const char *pid;
        int r = dir_list(&d, dir_open(w->root_fd, "proc"));

        while (r >= 0 && w->n_tasks < TASKS_MAX && (pid = dir_next_number(d)))
                r = tell_process(w, dirfd(d), pid);
        return r;
}

/* --- control groups ------------------------------------------------------------------------------ */

static int tell_group(Walk *w, uint64_t id, const char *path) {
        uint64_t hash = hash_text(path, strlen(path));

        if (hash_get(&w->groups, id) == hash)
                return 0;
        buf_printf(w->out, "cgroup %" PRIu64 " %s\n", id, path);
        return hash_set(&w->groups, id, hash);
}

/* @fd: consumed.  @path: ends with a '/'. */
static int walk_groups(Walk *w, int fd, const char *path, unsigned depth) {
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = dir_list(&d, fd);

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        while (r >= 0 && w->n_groups < GROUPS_MAX && (e = dir_next(d, &r))) {
                _cleanup_free_ char *below = NULL;

                if (e->d_type != DT_DIR || strchr(e->d_name, '\n'))
                        continue;
                w->n_groups++;
                r = text_format(&below, "%s%s/", path, e->d_name);
                if (r < 0 || strlen(below) >= OWNERS_PATH_MAX || depth >= DEPTH_MAX)
                        continue;
                below[strlen(below) - 1] = 0;
                r = tell_group(w, e->d_ino, below);
                below[strlen(below)] = '/';
                if (r >= 0)
                        r = walk_groups(w, dir_open(dirfd(d), e->d_name), below, depth + 1);
        }
        return r < 0 && r != -ENOMEM ? 0 : r;
}

/* cgroup2, if systemd has its units there. */
static int find_hierarchy(Walk *w) {
        _cleanup_free_ char *text = NULL;
        const char *systemd;

        if (w->has_hierarchy)
                return 0;
        if (faccessat(w->root_fd, GROUP_ROOT_IS_THERE, F_OK, 0) < 0 &&
            file_read(w->root_fd, "proc/self/cgroup", &text, NULL, FILE_MAX) >= 0 &&
            (systemd = strstr(text, SYSTEMD_GROUP))) {
                while (systemd > text && systemd[-1] != '\n')
                        systemd--;
                w->hierarchy = strtoul(systemd, NULL, 10);
        }
        buf_printf(w->out, "hierarchy %" PRIu64 "\n", w->hierarchy);
        return 0;
}

static int walk(Walk *w) {
        int r = find_hierarchy(w);

        if (r >= 0 && w->hierarchy == 0)
                r = tell_group(w, GROUP_ROOT_ID, "/");
        if (r >= 0 && w->hierarchy == 0 && faccessat(w->root_fd, GROUP_ROOT_IS_THERE, F_OK, 0) >= 0)
                r = walk_groups(w, dir_open(w->root_fd, GROUP_ROOT), "/", 0);
        return r < 0 ? r : walk_tasks(w);
}

int owner_look(SessionDir *dir, int root_fd, const OwnerClock *clock, bool with_names) {
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_free_ char *before = NULL;
        Walk w = { .root_fd = root_fd, .out = &out, .clock = clock, .with_names = with_names };
        size_t n = 0, n_before;
        int r = session_dir_read_tracing(dir, OWNERS_FILE, &before, &n);

        if (r < 0 && r != -ENOENT)
                return r;
        w.is_first = r == -ENOENT;
        r = 0;
        if (n < OWNERS_BYTES_MAX) {
                buf_add(&out, before ?: "", n);
                r = read_known(&w, before ?: "");
        }
        n_before = out.n_data;
        if (r >= 0)
                r = BACKGROUND_CALL(walk(&w)) ?: out.error;
        if (r >= 0 && out.n_data > n_before)
                r = session_dir_write_tracing(dir, OWNERS_FILE, out.data, out.n_data, false);
        free(w.known);
        hash_done(&w.by_pid);
        hash_done(&w.groups);
        hash_done(&w.containers);
        return MIN(r, 0);
}

int owner_copy(SessionDir *dir, const SessionDir *from) {
        static const char *const files[] = { OWNERS_FILE, MAPS_FILE };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(files); i++) {
                _cleanup_free_ char *text = NULL;
                size_t n;

                r = session_dir_read_tracing(from, files[i], &text, &n)
                            ?: session_dir_write_tracing(dir, files[i], text, n, false);
                if (r == -ENOENT)
                        r = 0;
        }
        return r;
}
