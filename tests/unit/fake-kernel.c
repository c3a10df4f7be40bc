/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The wrapped calls look at the descriptor's path, do what the kernel would, and count.
 */

#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>

#include "fake-kernel.h"

#define MAX_FDS 1024
#define ALL_ENABLED "#### all functions enabled ####\n"

int __real_openat(int dir_fd, const char *path, int flags, mode_t mode);
ssize_t __real_write(int fd, const void *data, size_t n);
int __real_close(int fd);
int __real_mkdirat(int dir_fd, const char *path, mode_t mode);
int __real_unlinkat(int dir_fd, const char *path, int flags);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_openat(int dir_fd, const char *path, int flags, ...);
int __wrap___openat_2(int dir_fd, const char *path, int flags);
ssize_t __wrap_write(int fd, const void *data, size_t n);
int __wrap_close(int fd);
int __wrap_mkdirat(int dir_fd, const char *path, mode_t mode);
int __wrap_unlinkat(int dir_fd, const char *path, int flags);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);

static FakeKernel *the;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* plans have two threads */
static struct {
        char *path; /* relative to tracefs; NULL: not one of ours */
        bool is_list;
        Strv words;
} files[MAX_FDS];

static const struct {
        const char *file, *text;
} own_files[] = {
        { "available_tracers", "" }, /* set by populate() */
        { "current_tracer", "nop\n" },
        { "tracing_on", "1\n" },
        { "trace_clock", "uptime [local]\n" },
        { "buffer_size_kb", "1408\n" },
        { "buffer_percent", "50\n" },
        { "tracing_cpumask", "3\n" },
        { "set_ftrace_filter", ALL_ENABLED },
        { "set_ftrace_notrace", "#### no functions disabled ####\n" },
        { "set_ftrace_pid", "no pid\n" },
        { "set_ftrace_notrace_pid", "no pid\n" },
        { "set_event_pid", "" },
        { "set_event_notrace_pid", "" },
        { "options/overwrite", "1\n" },
        { "options/markers", "1\n" },
        { "options/function-fork", "0\n" },
        { "events/task/task_rename/filter", "none\n" },
        { "events/task/task_rename/enable", "0\n" },
        { "events/cgroup/cgroup_attach_task/enable", "0\n" },
        { "trace_pipe", "" },
        { "options/event-fork", "0\n" },
        { "events/sched/sched_switch/enable", "0\n" },
        { "events/sched/sched_switch/filter", "none\n" },
        { "events/sched/sched_switch/trigger", "# Available triggers:\n" },
        { "events/header_page", "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n" },
        { "per_cpu/cpu0/stats", "entries: 0\noverrun: 7\ncommit overrun: 0\nread events: 3\n" },
        { "per_cpu/cpu1/stats", "entries: 0\noverrun: 0\ncommit overrun: 0\nread events: 0\n" },
        { "per_cpu/cpu0/buffer_size_kb", "1408\n" },
        { "per_cpu/cpu1/buffer_size_kb", "1408\n" },
        { "per_cpu/cpu0/trace_pipe_raw", "" },
        { "per_cpu/cpu1/trace_pipe_raw", "" },
};
static const struct {
        const char *file, *text;
} top_files[] = {
        { "set_graph_function", ALL_ENABLED },
        { "set_graph_notrace", "#### no functions disabled ####\n" },
        { "max_graph_depth", "0\n" },
        { "tracing_thresh", "0\n" },
        { "set_event", "" },
        { "available_events", "sched:sched_switch\nsched:sched_wakeup\nirq:softirq_entry\n" },
        { "options/record-cmd", "1\n" },
        { "options/sleep-time", "1\n" },
        { "options/funcgraph-irqs", "1\n" },
        { "available_filter_functions",
          "udp_sendmsg\nudp_recvmsg\nudpv6_sendmsg\ntcp_sendmsg\ntcp_recvmsg\nkfree\nkfree_skb\n"
          "vfs_read\nvfs_write\nread_hpet\nnf_conntrack_in [nf_conntrack]\n"
          "__ftrace_invalid_address___42\n" },
};

static void put(int fd, const char *path, const char *text) {
        char parent[PATH_MAX];
        int file = __real_openat(fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        for (const char *s = strchr(path, '/'); file < 0 && s; s = strchr(s + 1, '/')) {
                (void) snprintf(parent, sizeof(parent), "%.*s", (int) (s - path), path);
                (void) __real_mkdirat(fd, parent, 0700);
                file = __real_openat(fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        }
        ck_assert_int_ge(file, 0);
        ck_assert_int_eq(__real_write(file, text, strlen(text)), (ssize_t) strlen(text));
        (void) __real_close(file);
}

int fake_admit_and_arm(Controller *c, Tracer **ret, SessionMeta *m, bool force, Refusal *refusal) {
        _cleanup_(admission_freep) Admission *a = NULL;
        int r = controller_admit(c, &a, m, force, false, refusal);

        return r == 0 ? controller_arm(c, ret, m, a, refusal) : r;
}

void fake_put(FakeKernel *k, const char *path, const char *text) {
        put(k->tracefs_fd, path, text);
}

void fake_put_root(FakeKernel *k, const char *path, const char *text) {
        put(k->root_fd, path, text);
}

char *fake_get(FakeKernel *k, const char *path) {
        char *text = NULL;

        ck_assert_int_eq(file_read(k->tracefs_fd, path, &text, NULL, 1 << 20), 0);
        return text;
}

/* function_graph's options, of which a new instance has the top level's. */
static const char *const graph_options[] = { "options/sleep-time", "options/funcgraph-irqs" };

/* Each instance has it, and it is off at first, where the top level has it. */
static const char copy_markers[] = "options/copy_trace_marker";

static void populate(const char *dir) {
        char path[PATH_MAX];

        for (size_t i = 0; *dir && the->has_instances && i < ELEMENTSOF(graph_options); i++) {
                _cleanup_free_ char *top = fake_get(the, graph_options[i]);

                (void) snprintf(path, sizeof(path), "%s%s", dir, graph_options[i]);
                put(the->tracefs_fd, path, top);
        }

        if (*dir && faccessat(the->tracefs_fd, copy_markers, F_OK, 0) >= 0) {
                (void) snprintf(path, sizeof(path), "%s%s", dir, copy_markers);
                put(the->tracefs_fd, path, "0\n");
        }

        for (size_t i = 0; i < ELEMENTSOF(own_files); i++) {
                (void) snprintf(path, sizeof(path), "%s%s", dir, own_files[i].file);
                put(the->tracefs_fd, path, own_files[i].text);
        }
        (void) snprintf(path, sizeof(path), "%savailable_tracers", dir);
        put(the->tracefs_fd, path,
            *dir && !the->has_instances ? "function nop\n" : "function_graph function nop\n");
}

FakeKernel *fake_kernel_new(bool has_instances) {
        FakeKernel *k = the = calloc(1, sizeof(*k));

        ck_assert_ptr_nonnull(k);
        k->scratch = scratch_new_in_memory(); /* as the kernel's own files are */
        k->has_instances = has_instances;
        ck_assert_int_eq(dir_make(k->scratch.fd, "tracefs", 0700), 0);
        ck_assert_int_eq(dir_make(k->scratch.fd, "tracefs/instances", 0700), 0);
        ck_assert_int_eq(dir_make(k->scratch.fd, "root", 0700), 0);
        ck_assert_int_eq(dir_make(k->scratch.fd, "ledger", 0700), 0);
        (void) snprintf(k->tracefs, sizeof(k->tracefs), "%.4000s/tracefs", k->scratch.path);
        k->tracefs_fd = dir_open(k->scratch.fd, "tracefs");
        k->root_fd = dir_open(k->scratch.fd, "root");
        k->ledger_fd = dir_open(k->scratch.fd, "ledger");
        populate("");
        for (size_t i = 0; i < ELEMENTSOF(top_files); i++)
                fake_put(k, top_files[i].file, top_files[i].text);
        fake_put_root(k, "proc/sys/kernel/random/boot_id", "this-boot\n");
        fake_put_root(k, "proc/sys/kernel/ftrace_enabled", "1\n");
        fake_put_root(k, "proc/meminfo", "MemTotal: 1 kB\nMemAvailable: 1048576 kB\n");
        fake_put_root(k, "proc/sys/kernel/osrelease", has_instances ? "6.13.0\n" : "6.1.0\n");
        fake_put_root(k, "proc/kallsyms", "ffffffff81000000 T _text\n");
        fake_put_root(k, "proc/modules", "nf_conntrack 1 0 - Live 0x0\n");
        k->n_steps = 0;
        return k;
}

Controller *fake_controller_at(FakeKernel *k, int ledger_fd) {
        Controller *c = NULL;

        ck_assert_int_eq(controller_new(&c, k->tracefs, k->ledger_fd, ledger_fd, false, k->root_fd),
                         0);
        return c;
}

void fake_kernel_free(FakeKernel *k) {
        the = NULL;
        safe_close(k->tracefs_fd);
        safe_close(k->root_fd);
        safe_close(k->ledger_fd);
        scratch_done(&k->scratch);
        strv_done(&k->log);
        for (size_t i = 0; i < k->n_metas; i++)
                (void) session_meta_free(k->metas[i]);
        free(k->before);
        free(k);
}

static char *dump_text;

static int dump_file(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        _cleanup_free_ char *text = NULL, *all = NULL;

        if (type != FTW_F || strstr(path, "/stats"))
                return 0;
        ck_assert_int_eq(file_read(AT_FDCWD, path, &text, NULL, 1 << 20), 0);
        ck_assert_int_ge(asprintf(&all, "%s%s\n%s", dump_text, path + strlen(the->tracefs), text),
                         0);
        free(dump_text);
        dump_text = TAKE_PTR(all);
        return 0;
}

char *fake_dump(FakeKernel *k) {
        dump_text = strdup("");
        ck_assert_int_eq(nftw(k->tracefs, dump_file, 16, FTW_PHYS), 0);
        return TAKE_PTR(dump_text);
}

void fake_expect(FakeKernel *k, const char *path, const char *text) {
        _cleanup_free_ char *now = fake_get(k, path);

        ck_assert_str_eq(now, text);
}

void fake_expect_all(FakeKernel *k, const char *before) {
        _cleanup_free_ char *now = fake_dump(k);

        ck_assert_str_eq(before, now);
}

bool fake_survive(FakeKernel *k, FakeFault fault, unsigned at, void (*story)(FakeKernel *k)) {
        _cleanup_free_ char *before = fake_dump(k), *after = NULL, *done = NULL;
        int status;
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                k->fault = fault;
                k->fault_at = at;
                story(k);
                fake_put_root(k, "done", k->n_steps < at ? "all\n" : "some\n");
                _exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(WIFEXITED(status), "step %u: died of a signal", at);
        ck_assert_msg(WEXITSTATUS(status) != FAKE_BROKEN, "step %u broke the rule", at);
        if (WEXITSTATUS(status) == 0)
                ck_assert_int_eq(file_read(k->root_fd, "done", &done, NULL, 10), 0);
        controller_free(fake_controller(k));
        after = fake_dump(k);
        ck_assert_msg(streq(before, after), "step %u: before\n%s\nafter\n%s", at, before, after);
        ck_assert_int_ne(faccessat(k->ledger_fd, "ledger", F_OK, 0), 0);
        return !done || !streq(done, "all\n");
}

SessionMeta *fake_meta(const char *name, const char *functions) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        free(m->name);
        m->name = strdup(name);
        ck_assert_int_eq(strv_split(&m->spec.functions, functions, " "), 0);
        return m;
}

SessionMeta *fake_session(const char *name, const char *functions) {
        ck_assert_uint_lt(the->n_metas, ELEMENTSOF(the->metas));
        return the->metas[the->n_metas++] = fake_meta(name, functions);
}

Tracer *fake_start(Controller *c, SessionMeta *m, bool force) {
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t = NULL;
        int r;

        the->before = the->before ?: fake_dump(the);
        r = fake_admit_and_arm(c, &t, m, force, &refusal);
        ck_assert_msg(r == 0, "%s", r > 0 ? refusal_message(&refusal) : strerror(-r));
        return t;
}

void fake_end(Tracer *t) {
        ck_assert_int_eq(tracer_disarm(t), 0);
        fake_expect_all(the, the->before);
}

void fake_refuse(Controller *c, SessionMeta *m, bool force, RefusalKind kind, const char *part) {
        _cleanup_free_ char *before = fake_dump(the);
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;

        ck_assert_int_eq(fake_admit_and_arm(c, &t, m, force, &refusal), REFUSED);
        ck_assert_int_eq((int) refusal.kind, (int) kind);
        ck_assert_msg(strstr(refusal_message(&refusal), part), "\"%s\" is not in \"%s\"", part,
                      refusal_message(&refusal));
        fake_expect_all(the, before);
}

/* Path of @path at @dir_fd relative to tracefs, or NULL. */
static char *relative(int dir_fd, const char *path) {
        char link[64], dir[PATH_MAX];
        const char *rest;
        char *text;
        ssize_t n;

        if (!the || dir_fd < 0 || *path == '/')
                return NULL;
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%i", dir_fd);
        n = readlink(link, dir, sizeof(dir) - 1);
        if (n < 0)
                return NULL;
        dir[n] = 0;
        rest = startswith(dir, the->tracefs);
        if (!rest || (*rest && *rest != '/'))
                return NULL;
        ck_assert_int_ge(asprintf(&text, "%s%s%s", *rest ? rest + 1 : "", *rest ? "/" : "", path),
                         0);
        return text;
}

static bool is_on(const char *dir) {
        char path[PATH_MAX];
        _cleanup_free_ char *text = NULL;

        (void) snprintf(path, sizeof(path), "%scurrent_tracer", dir);
        return file_read(the->tracefs_fd, path, &text, NULL, 4096) >= 0 &&
               startswith(text, "function_graph");
}

/* Whether @holds for each instance. */
static bool all_instances(bool (*holds)(const char *dir)) {
        DIR *d = fdopendir(dir_open(the->tracefs_fd, "instances"));
        bool all = true;
        struct dirent *e;

        while ((e = readdir(d))) {
                char dir[PATH_MAX];

                (void) snprintf(dir, sizeof(dir), "instances/%.255s/", e->d_name);
                all = all && (e->d_name[0] == '.' || holds(dir));
        }
        (void) closedir(d);
        return all;
}

static bool is_off(const char *dir) {
        return !is_on(dir);
}

static bool any_on(void) {
        return is_on("") || !all_instances(is_off);
}

/* Whether a list of processes has @word. */
static bool names(const char *dir, const char *file, const char *word) {
        char path[PATH_MAX];
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv words = {};

        (void) snprintf(path, sizeof(path), "%.4000s%.90s", dir, file);
        return file_read(the->tracefs_fd, path, &text, NULL, 1 << 20) >= 0 &&
               strv_split(&words, text, "\n") >= 0 && strv_contains(&words, word);
}

/* Whether the tracer in @dir records nobody but this thread. */
static bool is_quiesced(const char *dir) {
        char path[PATH_MAX], self[32];
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv pids = {};

        (void) snprintf(self, sizeof(self), "%d", (int) gettid());
        (void) snprintf(path, sizeof(path), "%.4000sset_ftrace_pid", dir);
        if (file_read(the->tracefs_fd, path, &text, NULL, 1 << 20) < 0)
                return true;
        ck_assert_int_eq(MIN(strv_split(&pids, text, "\n"), 0), 0);
        for (size_t i = 0; i < pids.n; i++)
                if (!streq(pids.items[i], self) &&
                    !names(dir, "set_ftrace_notrace_pid", pids.items[i]))
                        return false;
        return true;
}

static bool is_off_or_quiesced(const char *dir) {
        return !is_on(dir) || is_quiesced(dir);
}

static bool all_quiesced(void) {
        return all_instances(is_off_or_quiesced);
}

static bool any_instance_on(void) {
        return the->has_instances && !is_on("") && any_on();
}

/* The other rule; set_graph_function is about to change. */
static void check_quiesce(void) {
        if (the->waits_for_cpus || !any_instance_on() || (all_quiesced() && the->has_waited))
                return;
        fprintf(stderr, "set_graph_function changes beside a tracer that %s (step %u)\n",
                all_quiesced() ? "was not waited for" : "looks into it", the->n_steps);
        _exit(FAKE_BROKEN);
}

/* The rule. */
static void check(void) {
        _cleanup_free_ char *text = fake_get(the, "set_graph_function");

        if (any_on() && (*text == '#' || *text == 0)) {
                fprintf(stderr, "function_graph is on and set_graph_function is empty (step %u)\n",
                        the->n_steps);
                _exit(FAKE_BROKEN);
        }
}

/* Counts; true if this step is to go wrong. */
static bool step(void) {
        if (++the->n_steps != the->fault_at)
                return false;
        if (the->fault == FAKE_DIE)
                _exit(FAKE_DIED);
        errno = EIO;
        return the->fault == FAKE_FAIL;
}

static void take_note(const char *what, const char *path, const char *text) {
        char *line;

        ck_assert_int_ge(asprintf(&line, "%s %s%s%s", what, path, text ? " " : "", text ?: ""), 0);
        ck_assert_int_eq(strv_take(&the->log, line), 0);
}

static bool is_list(const char *path) {
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

        return startswith(name, "set_ftrace") || startswith(name, "set_graph") ||
               startswith(name, "set_event_");
}

static pthread_mutex_t *lock(void) {
        (void) pthread_mutex_lock(&mutex);
        return &mutex;
}

static void unlock(pthread_mutex_t **m) {
        (void) pthread_mutex_unlock(*m);
}
#define _locked_ _cleanup_(unlock) pthread_mutex_t *locked __attribute__((unused)) = lock()

int __wrap_openat(int dir_fd, const char *path, int flags, ...) {
        _locked_;
        _cleanup_free_ char *rel = relative(dir_fd, path);
        mode_t mode = 0;
        int fd;

        if (flags & O_CREAT) {
                va_list ap;

                va_start(ap, flags);
                mode = va_arg(ap, mode_t);
                va_end(ap);
        }
        if (!rel || (flags & O_ACCMODE) == O_RDONLY)
                return __real_openat(dir_fd, path, flags, mode);
        if (step())
                return -1;
        fd = __real_openat(dir_fd, path, flags & ~(O_TRUNC | O_APPEND), mode);
        if (fd < 0 || fd >= MAX_FDS)
                return fd;
        files[fd].path = TAKE_PTR(rel);
        files[fd].is_list = is_list(files[fd].path);
        if (files[fd].is_list && (flags & O_TRUNC))
                take_note("truncate", files[fd].path, NULL);
        if (files[fd].is_list && !(flags & O_TRUNC)) {
                _cleanup_free_ char *text = fake_get(the, files[fd].path);

                if (*text != '#' && !startswith(text, "no pid"))
                        (void) strv_split(&files[fd].words, text, "\n");
        }
        return fd;
}

int __wrap___openat_2(int dir_fd, const char *path, int flags) {
        return __wrap_openat(dir_fd, path, flags);
}

static bool is_function(const char *word) {
        _cleanup_free_ char *text = fake_get(the, "available_filter_functions");
        _cleanup_strv_ Strv names = {};

        (void) strv_split(&names, text, "\n ");
        return strv_contains(&names, word);
}

/* The name in a line of the list of functions, from 1. */
static int add_line(Strv *words, unsigned long line) {
        _cleanup_free_ char *text = fake_get(the, "available_filter_functions");
        const char *s = text;

        for (; line > 1 && *s; line--)
                s += strcspn(s, "\n") + 1;
        return *s ? strv_addn(words, s, strcspn(s, " \n")) : -EINVAL;
}

/* One word of one write, as ftrace_graph_write() takes it; set_ftrace_filter takes lines, too, and
 * commands, which are no part of the list. */
static int write_list(int fd, const char *text) {
        Strv *words = &files[fd].words;

        if (strstr(files[fd].path, "set_ftrace_filter") && strchr(text, ':'))
                return 0;
        if (strstr(files[fd].path, "set_ftrace_filter") && text[strspn(text, "0123456789")] == 0)
                return add_line(words, strtoul(text, NULL, 10));
        const char *word = *text == '!' ? text + 1 : text;

        if (!is_function(word))
                return -EINVAL;
        if (*text != '!')
                return strv_contains(words, word) ? 0 : strv_add(words, word);
        for (size_t i = 0; i < words->n; i++)
                if (streq(words->items[i], word)) {
                        free(words->items[i]);
                        words->items[i] = words->items[--words->n];
                        words->items[words->n] = NULL;
                        return 0;
                }
        return -EINVAL;
}

/* "0" removes a filter; one that is refused is shown with the reason. */
static int write_filter(const char *path, const char *text) {
        _cleanup_free_ char *shown = NULL;
        bool bad = startswith(text, "no_");

        ck_assert_int_ge(asprintf(&shown, bad ? "%s\n^\nparse_error: Field not found\n" : "%s\n",
                                  streq(text, "0") ? "none" : text),
                         0);
        put(the->tracefs_fd, path, shown);
        return bad ? -EINVAL : 0;
}

static int write_file(int fd, const char *text) {
        const char *path = files[fd].path;
        _cleanup_free_ char *shown = NULL;

        if (strstr(path, "/filter"))
                return write_filter(path, text);

        if (strstr(path, "current_tracer") && the->is_busy)
                return -EBUSY;
        if (strstr(path, "current_tracer"))
                the->has_waited = false;
        if (strstr(path, "trace_clock") && !streq(text, "mono") && !streq(text, "local") &&
            !streq(text, "uptime") && !streq(text, "boot"))
                return -EINVAL;
        if (strstr(path, "buffer_size_kb") && text[strspn(text, "0123456789")])
                return -EINVAL;
        ck_assert_int_ge(
                asprintf(&shown, strstr(path, "trace_clock") ? "uptime [%s]\n" : "%s\n", text), 0);
        put(the->tracefs_fd, path, shown);
        for (size_t i = 0; the->shares_options && i < ELEMENTSOF(graph_options); i++)
                if (strstr(path, graph_options[i]))
                        put(the->tracefs_fd, graph_options[i], shown);
        return 0;
}

ssize_t __wrap_write(int fd, const void *data, size_t n) {
        _locked_;
        _cleanup_free_ char *text = NULL;
        int r;

        if (fd < 0 || fd >= MAX_FDS || !files[fd].path)
                return __real_write(fd, data, n);
        if (step())
                return -1;
        text = strndup(data, n);
        ck_assert_ptr_nonnull(text);
        if (strstr(files[fd].path, "_pid")) {
                size_t n_before = files[fd].words.n;

                if (n_before > 0 && all_quiesced())
                        the->has_waited = true; /* linux 6.12 kernel/trace/ftrace.c, pid_write() */

                r = strv_split(&files[fd].words, text, " \n");
                for (size_t i = n_before; i < files[fd].words.n; i++)
                        take_note("write", files[fd].path, files[fd].words.items[i]);
        } else {
                text[strcspn(text, "\n")] = 0;
                take_note("write", files[fd].path, text);
                r = files[fd].is_list ? write_list(fd, text) : write_file(fd, text);
        }
        check();
        if (r < 0) {
                errno = -r;
                return -1;
        }
        return the->fault == FAKE_SHORT && the->n_steps == the->fault_at ? (ssize_t) n - 1
                                                                         : (ssize_t) n;
}

int __wrap_close(int fd) {
        _locked_;
        bool fails;

        if (fd < 0 || fd >= MAX_FDS || !files[fd].path)
                return __real_close(fd);
        fails = step();
        if (streq(files[fd].path, "set_graph_function"))
                check_quiesce();
        if (files[fd].is_list) {
                _cleanup_free_ char *text = strv_join(&files[fd].words, "\n"), *all = NULL;

                ck_assert_int_ge(asprintf(&all, "%s\n", text), 0);
                put(the->tracefs_fd, files[fd].path,
                    files[fd].words.n > 0               ? all
                    : strstr(files[fd].path, "_event_") ? ""
                    : strstr(files[fd].path, "_pid")    ? "no pid\n"
                    : strstr(files[fd].path, "notrace") ? "#### no functions disabled ####\n"
                                                        : ALL_ENABLED);
        }
        the->has_waited = the->has_waited && all_quiesced();
        free(files[fd].path);
        files[fd].path = NULL;
        strv_done(&files[fd].words);
        check();
        (void) __real_close(fd);
        errno = EIO;
        return fails ? -1 : 0;
}

int __wrap_mkdirat(int dir_fd, const char *path, mode_t mode) {
        _locked_;
        _cleanup_free_ char *rel = relative(dir_fd, path), *dir = NULL;

        if (!rel || !startswith(rel, "instances/"))
                return __real_mkdirat(dir_fd, path, mode);
        if (step())
                return -1;
        if (__real_mkdirat(dir_fd, path, mode) < 0)
                return -1;
        take_note("mkdir", rel, NULL);
        ck_assert_int_ge(asprintf(&dir, "%s/", rel), 0);
        populate(dir);
        return 0;
}

int __wrap_unlinkat(int dir_fd, const char *path, int flags) {
        _locked_;
        _cleanup_free_ char *rel = relative(dir_fd, path);
        static bool inside;
        char dir[PATH_MAX];
        bool busy;
        int r;

        if (!rel || inside || !startswith(rel, "instances/"))
                return __real_unlinkat(dir_fd, path, flags);
        (void) snprintf(dir, sizeof(dir), "%s/", rel);
        busy = the->is_busy && is_on(dir);
        if (step() || busy) {
                errno = busy ? EBUSY : EIO;
                return -1;
        }
        if (faccessat(dir_fd, path, F_OK, 0) < 0)
                return -1;
        take_note("rmdir", rel, NULL);
        inside = true;
        r = tree_remove(the->tracefs_fd, rel);
        inside = false;
        check();
        errno = -r;
        return r < 0 ? -1 : 0;
}

/* The ledger's rename is a step too: a full disk, a death before it. */
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to) {
        _locked_;
        if (the && streq(to, "ledger") && step()) {
                errno = ENOSPC;
                return -1;
        }
        return __real_renameat(from_fd, from, to_fd, to);
}
