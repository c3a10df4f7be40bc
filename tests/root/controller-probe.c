/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * usage: controller-probe LEDGER-DIR COMMAND...
 *
 * The controller by hand, for tests on a real kernel: programs function_graph as the commands say,
 * each one argument:
 *
 *      "arm NAME FUNCTION... [depth=N] [notrace=F] [pid=P] [buffer=BYTES] [max=N]"
 *      "on NAME" "off NAME" "open NAME" "read NAME" "close NAME" "account NAME" "disarm NAME"
 *      "sh COMMAND" "check" "functions" "hang" (until killed)
 *
 * Refusals are printed and are no failure; what is left at the end is disarmed.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/tracer/controller.h"

#define MAX_TRACERS 20
#define MAX_CPUS 64

typedef struct Slot {
        SessionMeta *meta;
        Tracer *tracer;
        int fds[MAX_CPUS];
} Slot;

static Slot slots[MAX_TRACERS];

static Slot *find(const char *name) {
        for (size_t i = 0; i < MAX_TRACERS; i++)
                if (slots[i].tracer && streq(slots[i].meta->name, name))
                        return &slots[i];
        printf("no tracer %s\n", name);
        return NULL;
}

static void slot_close(Slot *s) {
        for (size_t i = 0; i < MAX_CPUS; i++)
                s->fds[i] = safe_close(s->fds[i]);
}

static void print_list(const char *what, const Strv *v) {
        _cleanup_free_ char *text = strv_join(v, " ");

        if (v->n > 0)
                printf("  %s: %.300s\n", what, text);
}

static void arm(Controller *c, const Strv *words) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(admission_freep) Admission *admission = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t;
        int r;

        if (session_meta_new(&m) < 0)
                return;
        free(m->name);
        m->name = strdup(words->items[1]);
        m->owner_uid = getuid();
        for (size_t i = 2; i < words->n; i++) {
                const char *w = words->items[i], *v;

                if ((v = startswith(w, "depth=")))
                        m->spec.depth = strtoull(v, NULL, 10);
                else if ((v = startswith(w, "notrace=")))
                        (void) strv_add(&m->spec.notrace, v);
                else if ((v = startswith(w, "hooked=")))
                        (void) strv_add(&m->spec.hooked, v);
                else if ((v = startswith(w, "pid=")))
                        (void) strv_add(&m->spec.pids, v);
                else if ((v = startswith(w, "buffer=")))
                        m->spec.buffer_bytes = strtoull(v, NULL, 10);
                else if ((v = startswith(w, "max=")))
                        m->spec.max_functions = strtoull(v, NULL, 10);
                else
                        (void) strv_add(&m->spec.functions, w);
        }
        r = controller_admit(c, &admission, m, false, &refusal);
        if (r == 0)
                r = controller_arm(c, &t, m, admission, &refusal);
        if (r != 0) {
                printf("arm %s: %s: %s\n", m->name,
                       r > 0 ? refusal_error_name(refusal.kind) : strerror(-r),
                       r > 0 ? refusal_message(&refusal) : "");
                return;
        }
        printf("arm %s: armed, instance %s, clock %s, page_bytes %u, cpus %u\n", m->name,
               m->instance ?: "-", m->clock, m->page_bytes, m->n_possible_cpus);
        print_list("roots", &m->roots);
        print_list("notrace", &m->notrace);
        print_list("neighbours", &m->neighbours);
        print_list("warnings", &m->warnings);
        for (size_t i = 0; i < MAX_TRACERS; i++)
                if (!slots[i].tracer) {
                        slots[i] = (Slot){ .meta = TAKE_PTR(m), .tracer = t };
                        for (size_t k = 0; k < MAX_CPUS; k++)
                                slots[i].fds[k] = -EBADF;
                        return;
                }
}

static void read_pages(Slot *s) {
        static char page[1 << 16];
        size_t n = 0;

        for (size_t i = 0; i < MAX_CPUS; i++)
                while (s->fds[i] >= 0 && read(s->fds[i], page, s->meta->page_bytes) > 0)
                        n++;
        printf("read %zu pages\n", n);
}

static void account(Slot *s) {
        ClockTuple clocks;

        for (uint32_t cpu = 0; cpu < s->meta->n_possible_cpus; cpu++) {
                CpuAccount a = { .cpu = cpu };
                int r = instance_read_account(tracer_instance(s->tracer), &a);

                printf("cpu%u: %i overrun %" PRIu64 " commit %" PRIu64 " dropped %" PRIu64
                       " read %s\n",
                       cpu, r, a.overrun, a.commit_overrun, a.dropped_events,
                       a.read_events > 0 ? "some" : "none");
        }
        (void) tracer_read_clocks(s->tracer, &clocks);
        printf("clocks: %s\n",
               clocks.trace_ns == clocks.monotonic_ns && clocks.realtime_ns > clocks.boottime_ns
                       ? "good"
                       : "bad");
}

static void disarm(Slot *s) {
        int r;

        slot_close(s);
        r = tracer_disarm(s->tracer);
        printf("disarm %s: %s\n", s->meta->name, r < 0 ? strerror(-r) : "ok");
        s->meta = session_meta_free(s->meta);
        s->tracer = NULL;
}

static void run(Controller *c, const char *command) {
        _cleanup_strv_ Strv words = {};
        const char *verb;
        Slot *s;

        if (strv_split(&words, command, " ") < 0 || words.n == 0)
                return;
        verb = words.items[0];
        if (streq(verb, "arm") && words.n > 1)
                arm(c, &words);
        else if (streq(verb, "sh")) {
                fflush(stdout);
                if (system(command + 2) < 0)
                        printf("system() failed\n");
        } else if (streq(verb, "check")) {
                json_t *checks = controller_check(c);
                char *text = json_dumps(checks, JSON_INDENT(1));

                puts(text);
                free(text);
                json_decref(checks);
        } else if (streq(verb, "functions")) {
                size_t n = 0;
                int fd = controller_list_functions(c, &n);

                printf("functions: %s, %zu\n", fd >= 0 ? "listed" : strerror(-fd), n);
                safe_close(fd);
        } else if (streq(verb, "hang")) {
                fflush(stdout);
                pause();
        } else if (words.n > 1 && (s = find(words.items[1]))) {
                if (streq(verb, "on") || streq(verb, "off"))
                        printf("%s: %i\n", command,
                               tracer_set_recording(s->tracer, streq(verb, "on")));
                else if (streq(verb, "open"))
                        for (uint32_t k = 0; k < s->meta->n_possible_cpus && k < MAX_CPUS; k++)
                                s->fds[k] = instance_open_raw(tracer_instance(s->tracer), k);
                else if (streq(verb, "read"))
                        read_pages(s);
                else if (streq(verb, "close"))
                        slot_close(s);
                else if (streq(verb, "account"))
                        account(s);
                else if (streq(verb, "disarm"))
                        disarm(s);
        }
        fflush(stdout);
}

int main(int argc, char *argv[]) {
        _cleanup_(controller_freep) Controller *c = NULL;
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (argc < 2) {
                fprintf(stderr, "usage: controller-probe LEDGER-DIR COMMAND...\n");
                return 2;
        }
        log_setup("controller-probe");
        fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return 1;
        r = controller_new(&c, getenv("TRACEFS"), fd, fd, false, -EBADF);
        if (r < 0) {
                printf("controller_new: %s\n", strerror(-r));
                return 1;
        }
        printf("tracefs %s, restored %zu\n", controller_tracefs(c) ?: "-",
               controller_n_restored(c));
        for (int i = 2; i < argc; i++)
                run(c, argv[i]);
        for (size_t i = 0; i < MAX_TRACERS; i++)
                if (slots[i].tracer)
                        disarm(&slots[i]);
        return 0;
}
