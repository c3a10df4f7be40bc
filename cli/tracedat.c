/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The head says where each CPU's pages begin, so all pages are counted first (a
 * plan of runs of good pages), then the head is made in memory, then the runs are
 * copied in the order of the plan.
 */

#include <byteswap.h>

#include "base/buf.h"
#include "base/io.h"
#include "cli/kallsyms-text.h"
#include "cli/tracedat.h"
#include "codec/page-source.h"
#include "store/event-choice.h"
#include "store/page.h"

enum {
        OPTION_CPUSTAT = 2,
        OPTION_TRACECLOCK = 4,
        OPTION_UNAME = 5,
        OPTION_CPUCOUNT = 8,
};

/* Of events/ftrace/: the two that we record, and those that others may have put beside them. */
static const char *const ftrace_formats[] = {
        "funcgraph_entry", "funcgraph_exit", "fgraph_retaddr_entry", "function", "context_switch",
        "wakeup",          "kernel_stack",   "user_stack",           "print",    "bprint",
        "bputs",           "raw_data",       "func_repeats",
};

/* Pages of one segment that follow each other and are good. */
typedef struct Run {
        uint32_t cpu;
        uint64_t sequence, first, n;
} Run;

typedef struct Plan {
        bool swap; /* of the recorded machine, seen from this one */
        uint32_t page_bytes;
        Run *runs; /* ascending by cpu, sequence, first */
        size_t n_runs, n_room;
        uint32_t n_cpus; /* the highest number plus 1 */
} Plan;

static void plan_done(Plan *p) {
        free(p->runs);
}

/* @page: its number in the segment; @data: what is in it. */
static int plan_page(Plan *p, uint32_t cpu, uint64_t sequence, uint64_t page, const void *data) {
        Run *last = p->n_runs > 0 ? &p->runs[p->n_runs - 1] : NULL;
        PageInfo info;

        if (page_parse(&info, data, p->page_bytes, p->swap) != 0)
                return 0;
        if (last && last->cpu == cpu && last->sequence == sequence &&
            last->first + last->n == page) {
                last->n++;
                return 0;
        }
        if (p->n_runs == p->n_room) {
                size_t n = MAX(p->n_room * 2, (size_t) 64);
                Run *runs = realloc(p->runs, n * sizeof(*runs));

                if (!runs)
                        return -ENOMEM;
                p->runs = runs;
                p->n_room = n;
        }
        p->runs[p->n_runs++] = (Run){ cpu, sequence, page, 1 };
        return 0;
}

static int plan_segment(Plan *p, const SessionDir *dir, uint32_t cpu, uint64_t sequence) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int r = page_source_open(&s, dir, cpu, sequence, NULL);
        uint64_t n;

        if (r != 0)
                return r < 0 && r != -ENOENT ? r : 0;
        if (page_source_page_bytes(s) != p->page_bytes)
                return 0;
        for (uint64_t i = 0; i < page_source_n_pages(s); i += n) {
                const void *pages;

                r = page_source_read(s, i, &pages, &n);
                for (uint64_t k = 0; r == 0 && k < n; k++)
                        r = plan_page(p, cpu, sequence, i + k,
                                      (const char *) pages + k * p->page_bytes);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int plan_init(Plan *p, const SessionDir *dir) {
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n = 0;

                r = session_dir_list_segments(dir, cpus[i], &sequences, &n);
                for (size_t k = 0; r >= 0 && k < n; k++)
                        r = plan_segment(p, dir, cpus[i], sequences[k]);
                p->n_cpus = cpus[i] + 1;
        }
        return r;
}

static void put_u16(Buf *b, const Plan *p, uint16_t v) {
        v = p->swap ? bswap_16(v) : v;
        buf_add(b, &v, sizeof(v));
}

static void put_u32(Buf *b, const Plan *p, uint32_t v) {
        v = p->swap ? bswap_32(v) : v;
        buf_add(b, &v, sizeof(v));
}

static void put_u64(Buf *b, const Plan *p, uint64_t v) {
        v = p->swap ? bswap_64(v) : v;
        buf_add(b, &v, sizeof(v));
}

static void put_text64(Buf *b, const Plan *p, const char *text, size_t n) {
        put_u64(b, p, n);
        buf_add(b, text, n);
}

static void put_option(Buf *b, const Plan *p, uint16_t id, const void *data, size_t n) {
        put_u16(b, p, id);
        put_u32(b, p, (uint32_t) n);
        buf_add(b, data, n);
}

/* Text of a file copied from tracefs; "" if it is not there and need not be. */
static int read_tracing(const SessionDir *dir, const char *path, bool required, char **ret,
                        size_t *ret_n, char **ret_problem) {
        int r = session_dir_read_tracing(dir, path, ret, ret_n);

        if (r != -ENOENT)
                return r;
        if (required)
                return asprintf(ret_problem, "its %s is missing", path) < 0 ? -ENOMEM
                                                                            : TRACEDAT_E_UNREADABLE;
        *ret = strdup("");
        *ret_n = 0;
        return *ret ? 0 : -ENOMEM;
}

static int put_formats(Buf *b, const Plan *p, const SessionDir *dir, char **ret_problem) {
        _cleanup_buf_ Buf formats = BUF_INIT;
        uint32_t n_formats = 0;
        int r;

        for (size_t i = 0; i < ELEMENTSOF(ftrace_formats); i++) {
                _cleanup_free_ char *text = NULL;
                char path[96];
                size_t n;

                (void) snprintf(path, sizeof(path), "events/ftrace/%s/format", ftrace_formats[i]);
                r = read_tracing(dir, path, i < 2, &text, &n, ret_problem);
                if (r != 0)
                        return r;
                if (n == 0)
                        continue;
                put_text64(&formats, p, text, n);
                n_formats++;
        }
        put_u32(b, p, n_formats);
        buf_add(b, formats.data, formats.n_data);
        return formats.error;
}

/* Formats of the events of @system, of which @first is one; 0 if they were there already. */
static int put_system(Buf *b, const Plan *p, const SessionDir *dir, const Strv *events,
                      size_t first, uint32_t *n_systems) {
        _cleanup_buf_ Buf formats = BUF_INIT;
        EventChoice system, e;
        uint32_t n_formats = 0;

        if (!event_choice_parse(&system, events->items[first]))
                return 0;
        for (size_t i = 0; i < events->n; i++) {
                _cleanup_free_ char *text = NULL;
                char path[EVENT_PATH_MAX];
                size_t n;
                int r;

                if (!event_choice_parse(&e, events->items[i]) || !streq(e.system, system.system))
                        continue;
                if (i < first)
                        return 0;
                event_choice_path(path, &e, "format");
                r = read_tracing(dir, path, false, &text, &n, NULL);
                if (r < 0)
                        return r;
                if (n == 0)
                        continue;
                put_text64(&formats, p, text, n);
                n_formats++;
        }
        buf_add(b, system.system, strlen(system.system) + 1);
        put_u32(b, p, n_formats);
        buf_add(b, formats.data, formats.n_data);
        (*n_systems)++;
        return formats.error;
}

/* Of events beside the calls. */
static int put_systems(Buf *b, const Plan *p, const SessionDir *dir, const Strv *events) {
        _cleanup_buf_ Buf systems = BUF_INIT;
        uint32_t n_systems = 0;

        for (size_t i = 0; i < events->n; i++) {
                int r = put_system(&systems, p, dir, events, i, &n_systems);

                if (r < 0)
                        return r;
        }
        put_u32(b, p, n_systems);
        buf_add(b, systems.data, systems.n_data);
        return systems.error;
}

/* As per_cpu/cpuN/stats says it, for `trace-cmd report --stat`. */
static void put_stat(Buf *b, const Plan *p, const CpuAccount *c) {
        _cleanup_buf_ Buf text = BUF_INIT;

        buf_printf(&text,
                   "CPU: %u\nentries: 0\noverrun: %llu\ncommit overrun: %llu\nbytes: 0\n"
                   "dropped events: %llu\nread events: %llu\n",
                   c->cpu, (unsigned long long) c->overrun, (unsigned long long) c->commit_overrun,
                   (unsigned long long) c->dropped_events, (unsigned long long) c->read_events);
        buf_add(&text, "", 1);
        put_option(b, p, OPTION_CPUSTAT, text.data, text.n_data);
}

static void put_options(Buf *b, const Plan *p, const SessionMeta *m, const char *clock) {
        uint32_t n_cpus = p->swap ? bswap_32(p->n_cpus) : p->n_cpus;
        _cleanup_buf_ Buf uname = BUF_INIT;

        buf_add(b, "options  ", 10);
        put_option(b, p, OPTION_CPUCOUNT, &n_cpus, sizeof(n_cpus));
        for (size_t i = 0; i < m->n_cpus; i++)
                put_stat(b, p, &m->cpus[i]);
        put_option(b, p, OPTION_TRACECLOCK, clock, strlen(clock) + 1);
        buf_printf(&uname, "Linux %s %s %s", m->host ?: "-", m->kernel ?: "-", m->machine ?: "-");
        buf_add(&uname, "", 1);
        put_option(b, p, OPTION_UNAME, uname.data, uname.n_data);
        put_u16(b, p, 0);
}

static uint64_t align(uint64_t v, uint32_t to) {
        return (v + to - 1) / to * to;
}

/* The table of where pages begin; it knows how long itself and the clock behind it will be. */
static void put_flyrecord(Buf *b, const Plan *p, const char *clock) {
        uint64_t at;
        size_t i = 0;

        buf_add(b, "flyrecord", 10);
        at = align(b->n_data + (uint64_t) p->n_cpus * 16 + 8 + strlen(clock), p->page_bytes);
        for (uint32_t cpu = 0; cpu < p->n_cpus; cpu++) {
                uint64_t n = 0;

                for (; i < p->n_runs && p->runs[i].cpu == cpu; i++)
                        n += p->runs[i].n * p->page_bytes;
                put_u64(b, p, at);
                put_u64(b, p, n);
                at += n;
        }
        put_text64(b, p, clock, strlen(clock));
        if (b->error == 0)
                buf_pad(b, align(b->n_data, p->page_bytes) - b->n_data, 0);
}

static int put_head(Buf *b, const Plan *p, const SessionDir *dir, const SessionMeta *m,
                    char **ret_problem) {
        _cleanup_free_ char *header_page = NULL, *header_event = NULL, *symbols = NULL,
                            *printk = NULL, *tasks = NULL, *clock = NULL;
        size_t n_header_page, n_header_event, n_symbols, n_printk, n_tasks;
        int r;

        r = read_tracing(dir, "events/header_page", true, &header_page, &n_header_page,
                         ret_problem);
        if (r == 0)
                r = read_tracing(dir, "events/header_event", false, &header_event, &n_header_event,
                                 ret_problem);
        if (r == 0)
                r = read_tracing(dir, "printk_formats", false, &printk, &n_printk, ret_problem);
        if (r == 0)
                r = read_tracing(dir, "saved_cmdlines", false, &tasks, &n_tasks, ret_problem);
        if (r != 0)
                return r;
        r = kallsyms_text_read(dir, m, &symbols, &n_symbols);
        if (r < 0)
                return r;
        if (asprintf(&clock, "[%s]", m->clock ?: "local") < 0)
                return -ENOMEM;

        buf_add(b, "\x17\x08\x44tracing6", 12);
        buf_add(b, m->big_endian ? "\1\10" : "\0\10", 2);
        put_u32(b, p, p->page_bytes);
        buf_add(b, "header_page", 12);
        put_text64(b, p, header_page, n_header_page);
        buf_add(b, "header_event", 13);
        put_text64(b, p, header_event, n_header_event);
        r = put_formats(b, p, dir, ret_problem);
        if (r == 0)
                r = put_systems(b, p, dir, &m->spec.events);
        if (r != 0)
                return r;
        put_u32(b, p, (uint32_t) n_symbols);
        buf_add(b, symbols, n_symbols);
        put_u32(b, p, (uint32_t) n_printk);
        buf_add(b, printk, n_printk);
        put_text64(b, p, tasks, n_tasks);
        put_u32(b, p, p->n_cpus);
        put_options(b, p, m, clock);
        put_flyrecord(b, p, clock);
        return b->error;
}

static int copy_run(const Plan *p, const SessionDir *dir, const Run *run, int out_fd) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int r = page_source_open(&s, dir, run->cpu, run->sequence, NULL);

        if (r != 0)
                return r < 0 ? r : -ESTALE;
        if (page_source_page_bytes(s) != p->page_bytes ||
            page_source_n_pages(s) < run->first + run->n)
                return -ESTALE;
        for (uint64_t i = run->first, end = run->first + run->n; i < end;) {
                const void *pages;
                uint64_t n;

                r = page_source_read(s, i, &pages, &n);
                if (r != 0)
                        return r < 0 ? r : -ESTALE;
                n = MIN(n, end - i);
                r = write_full(out_fd, pages, n * p->page_bytes);
                if (r < 0)
                        return r;
                i += n;
        }
        return 0;
}

int tracedat_write(const SessionDir *dir, const SessionMeta *meta, int out_fd, char **ret_problem) {
        _cleanup_(plan_done) Plan plan = {
                .swap = meta->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
                .page_bytes = meta->page_bytes,
        };
        _cleanup_buf_ Buf head = BUF_INIT;
        int r;

        if (plan.page_bytes == 0)
                return asprintf(ret_problem, "nothing was ever recorded") < 0
                               ? -ENOMEM
                               : TRACEDAT_E_UNREADABLE;
        r = plan_init(&plan, dir);
        if (r < 0)
                return r;
        r = put_head(&head, &plan, dir, meta, ret_problem);
        if (r != 0)
                return r;
        r = write_full(out_fd, head.data, head.n_data);
        for (size_t i = 0; r >= 0 && i < plan.n_runs; i++)
                r = copy_run(&plan, dir, &plan.runs[i], out_fd);
        return r;
}
