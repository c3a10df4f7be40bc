/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the roots took in all has to be known before anybody's part in it. */

#include "base/log.h"
#include "daemon/watch/watch.h"

#define MAX_SEGMENTS 512
#define MAX_BYTES (256ULL << 20)

/* --- what is stored ----------------------------------------------------------------------------- */

static int compare_newest_first(const void *a, const void *b) {
        return CMP(((const SegmentPlace *) b)->sequence, ((const SegmentPlace *) a)->sequence);
}

/* The newest of all CPUs. */
static int open_segments(const SessionDir *dir, int fds[static MAX_SEGMENTS], size_t *ret_n) {
        _cleanup_free_ SegmentPlace *places = NULL;
        size_t n_places = 0, n = 0;
        uint64_t n_bytes = 0;
        int r = session_dir_list_places(dir, &places, &n_places);

        if (r < 0)
                return r;
        SORT(places, n_places, compare_newest_first);
        for (size_t i = 0; i < n_places && n < MAX_SEGMENTS && n_bytes < MAX_BYTES; i++) {
                int fd = session_dir_open_segment_file(dir, places[i].cpu, places[i].sequence);

                if (fd == -ENOENT) /* a ring has dropped it just now */
                        continue;
                if (fd < 0) {
                        r = fd;
                        break;
                }
                n_bytes += (uint64_t) MAX(lseek(fd, 0, SEEK_END), (off_t) 0);
                (void) lseek(fd, 0, SEEK_SET);
                fds[n++] = fd;
        }
        *ret_n = n;
        return r;
}

int stored_pages_count(Learner **ret, sd_event *event, const SessionDir *dir, uint64_t from_ns,
                       uint64_t to_ns, LearnerDone done, void *userdata) {
        _cleanup_free_ char *format = NULL, *exit_format = NULL;
        int fds[MAX_SEGMENTS], r;
        size_t n = 0;

        r = session_dir_read_tracing(dir, "events/ftrace/funcgraph_entry/format", &format, NULL)
                    ?: session_dir_read_tracing(dir, "events/ftrace/funcgraph_exit/format",
                                                &exit_format, NULL)
                    ?: open_segments(dir, fds, &n);
        if (r >= 0 && n == 0)
                r = -ENODATA;
        if (r >= 0)
                r = learner_start(ret, event,
                                  &(LearnerJob){ .fds = fds,
                                                 .n_fds = n,
                                                 .format = format,
                                                 .field = "func",
                                                 .exit_format = exit_format,
                                                 .from_ns = from_ns,
                                                 .to_ns = to_ns },
                                  done, userdata);
        for (size_t i = 0; i < n; i++)
                (void) safe_close(fds[i]);
        return r;
}

/* --- the pass ----------------------------------------------------------------------------------- */

struct LearningPass {
        Controller *controller;
        LearningPassDone done;
        void *userdata;
        char *session, *kernel;
        Strv roots;
        Learner *learner;
};

LearningPass *learning_pass_free(LearningPass *l) {
        if (!l)
                return NULL;
        controller_count_learning(l->controller, -1);
        (void) learner_free(l->learner);
        strv_done(&l->roots);
        free(l->session);
        free(l->kernel);
        return mfree(l);
}

/* What was only called below interrupts belongs to these. */
static bool belongs(const LeanFunction *f, const void *roots) {
        return f->n_own > 0 || strv_finds(roots, f->name);
}

/* In millionths. */
static uint32_t part_of(uint64_t n, uint64_t all) {
        return all > 0 ? (uint32_t) MIN((double) n / (double) all * 1e6, 1e6) : 0;
}

static int learn(LearningPass *l, LeanTree *counts, uint64_t *ret_n_calls) {
        LeanCache learned = {};
        uint64_t total_ns = 0;

        for (size_t i = 0; i < l->roots.n; i++) {
                const LeanFunction *f = lean_tree_find(counts, l->roots.items[i]);

                if (f) {
                        learned.n_calls += MIN(f->n_calls, (uint64_t) INT64_MAX / 65536);
                        total_ns += MIN(f->total_ns, (uint64_t) INT64_MAX / 65536);
                }
        }
        *ret_n_calls = learned.n_calls;
        if (learned.n_calls == 0)
                return 0;
        lean_tree_keep(counts, belongs, &l->roots);
        for (size_t i = 0; i < counts->n; i++)
                counts->functions[i].share_ppm = part_of(counts->functions[i].total_ns, total_ns);
        learned.tree = *counts;
        log_debug("lean", "%s: learned %zu functions from %llu calls", l->session, counts->n,
                  (unsigned long long) learned.n_calls);
        return counts->n > LEAN_MAX_FUNCTIONS
                       ? ORIGIN(-E2BIG)
                       : controller_learn(l->controller, &l->roots, l->kernel, &learned);
}

static void on_functions(LeanTree *counts, int error, void *userdata) {
        LearningPass *l = userdata;
        uint64_t n_calls = 0;

        if (error >= 0)
                error = learn(l, counts, &n_calls);
        if (error < 0)
                (void) log_warning_errno(error,
                                         "Session \"%s\": what it called could not be learned for "
                                         "lean: %m; the next one needs a lesson again.",
                                         l->session);
        l->done(n_calls, MIN(error, 0), l->userdata);
}

int learning_pass_start(LearningPass **ret, sd_event *event, Controller *c, const SessionDir *dir,
                        const SessionMeta *m, uint64_t from_ns, uint64_t to_ns,
                        LearningPassDone done, void *userdata) {
        _cleanup_(learning_pass_freep) LearningPass *l =
                NEW(LearningPass, .controller = c, .done = done, .userdata = userdata);
        int r;

        if (!l)
                return -ENOMEM;
        controller_count_learning(c, 1);
        l->session = strdup(m->name);
        l->kernel = strdup(m->kernel ?: "");
        if (!l->session || !l->kernel)
                return -ENOMEM;
        r = strv_copy(&l->roots, &m->roots)
                    ?: stored_pages_count(&l->learner, event, dir, from_ns, to_ns, on_functions, l);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}
