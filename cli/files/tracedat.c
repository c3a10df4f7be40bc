/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The pages are looked through once, which tells how many each CPU has and what occurs in them; the texts are
 * gathered and cut down to that; then everything is written. */

#include "base/array.h"
#include "base/hash.h"
#include "cli/files/files.h"
#include "cli/source/source.h"
#include "decode/cursor.h"
#include "decode/occurrence.h"
#include "meta/event-choice.h"
#include "pages/dat-writer.h"
#include "store/tracing.h"

#define LOOK_PAGES 256U /* between two reports of progress */

typedef struct Text {
        char *data; /* NULL: there is none */
        size_t n;
} Text;

/* An event's format. */
typedef struct Format {
        EventChoice event;
        Text text;
} Format;

typedef struct Work {
        const SessionDir *dir;
        const SessionMeta *meta;
        const TracedatSpec *spec;
        char **ret_problem;

        DatPlan plan;
        Occurrence *occurrence;
        Formats layout;
        uint64_t n_looked;
        bool symbols_are_damaged;
        Strv lacks;

        Text header_page, header_event, printk, tasks, owners, maps, symbols;
        Format *formats;
        size_t n_formats;
        char *uname, *origin;
} Work;

static void work_done(Work *w) {
        Text *texts[] = { &w->header_page, &w->header_event, &w->printk,
                          &w->tasks,       &w->owners,       &w->maps,   &w->symbols };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                free(texts[i]->data);
        for (size_t i = 0; i < w->n_formats; i++)
                free(w->formats[i].text.data);
        free(w->formats);
        strv_done(&w->lacks);
        free(w->uname);
        free(w->origin);
        (void) occurrence_free(w->occurrence);
        dat_plan_done(&w->plan);
}

static _printf_(2, 3) int unreadable(const Work *w, const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(w->ret_problem, format, ap);
        va_end(ap);
        return r < 0 ? -ENOMEM : TRACEDAT_E_UNREADABLE;
}

/* --- symbols: one kallsyms text, for the format has room for one only ------------------------- */

/* Adds the lines of the @nth map, from 1: of a later one those of modules whose addresses were nothing's beginning in
 * the maps before it. */
static int add_map(Buf *all, Hash *known, const char *text, uint64_t nth) {
        for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
                uint64_t address = strtoull(line, NULL, 16), first = hash_get(known, address);
                size_t n;

                end = strchrnul(line, '\n');
                n = (size_t) (end - line);
                if (nth > 1 && ((first > 0 && first < nth) || !memmem(line, n, "\t[", 2)))
                        continue;
                buf_add(all, line, n);
                buf_adds(all, "\n");
                if (first == 0 && hash_add(known, address, nth) < 0)
                        return -ENOMEM;
        }
        return all->error;
}

/* The first map whole, and of each later one what is new: each function that was ever loaded has its name, but
 * for one that began exactly where another had begun. */
static int read_symbols(Work *w) {
        const SessionMeta *m = w->meta;
        _cleanup_(hash_done) Hash known = {};
        _cleanup_buf_ Buf all = BUF_INIT;
        int r = 0;

        for (size_t i = 0; r >= 0 && i <= m->symbol_maps.n; i++) {
                const char *hash = i == 0 ? m->symbols : m->symbol_maps.items[i - 1].symbols;
                _cleanup_free_ char *text = NULL;
                size_t n;

                r = session_dir_read_symbols(w->dir, hash, &text, &n);
                if (r >= 0 && m->symbol_maps.n == 0)
                        buf_add(&all, text, n);
                else if (r >= 0)
                        r = add_map(&all, &known, text, i + 1);
                else if (r != -ENOMEM) {
                        /* Not if they were hidden, or the recording came without the store. */
                        w->symbols_are_damaged |= r != -ENODATA && r != -ENOENT && r != -EBADF;
                        r = 0;
                }
        }
        w->symbols.n = all.n_data;
        return r < 0 ? r : buf_take_string(&all, &w->symbols.data);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Text of a file copied from tracefs; NULL if it is not there and need not be. */
static int read_text(const Work *w, const char *path, bool required, Text *ret) {
        int r = session_dir_read_tracing(w->dir, path, &ret->data, &ret->n);

        if (r == -ENOENT)
                return required ? unreadable(w, "its %s is missing or no regular file", path) : 0;
        return r;
}

/* What is no format of an event is passed over. */
static int add_format(Work *w, const char *path, bool required) {
        Format f = {};
        int r;

        if (!ARRAY_GROW(w->formats, w->n_formats))
                return -ENOMEM;
        if (!event_choice_from_path(&f.event, path))
                return 0;
        r = read_text(w, path, required, &f.text);
        if (r == 0 && f.text.data)
                w->formats[w->n_formats++] = f;
        return r;
}

static int compare_systems(const void *pa, const void *pb) {
        const Format *a = pa, *b = pb;

        return strcmp(a->event.system, b->event.system) ?: strcmp(a->event.name, b->event.name);
}

static int add_copied(void *userdata, const char *path, TracingFormat kind) {
        return add_format(userdata, path, kind == TRACING_FORMAT_REQUIRED);
}

static int read_formats(Work *w) {
        const DatFile *file = dat_file_of_dir(w->dir);
        int r = file ? 0 : tracing_formats_walk(w->meta, add_copied, w);

        for (size_t i = 0; r == 0 && file && i < file->n_formats; i++)
                r = add_format(w, file->formats[i].path, false);
        SORT(w->formats, w->n_formats, compare_systems);
        return r;
}

static int read_texts(Work *w) {
        int r = read_text(w, "events/header_page", true, &w->header_page)
                    ?: read_text(w, "events/header_event", false, &w->header_event)
                    ?: read_text(w, "printk_formats", false, &w->printk)
                    ?: read_text(w, "saved_cmdlines", false, &w->tasks)
                    ?: read_text(w, OWNERS_FILE, false, &w->owners)
                    ?: read_text(w, "maps", false, &w->maps)
                    ?: read_formats(w)
                    ?: read_symbols(w);

        return r
                       ?: text_format(&w->uname, "Linux %s %s %s", w->meta->host ?: "-",
                                      w->meta->kernel ?: "-", w->meta->machine ?: "-");
}

/* --- what occurs ------------------------------------------------------------------------------ */

static const Text *find_format(const Work *w, const char *system, const char *name) {
        for (size_t i = 0; i < w->n_formats; i++)
                if (streq(w->formats[i].event.system, system) &&
                    streq(w->formats[i].event.name, name))
                        return &w->formats[i].text;
        return NULL;
}

/* Where events lie in pages. */
static int read_layout(Work *w) {
        const Text *entry = find_format(w, "ftrace", "funcgraph_entry"),
                   *exit = find_format(w, "ftrace", "funcgraph_exit");
        const char *problem = "it lacks the format of the graph's events";
        int r = FORMATS_E_INVALID;

        if (entry && exit)
                r = formats_parse(&w->layout, w->header_page.data, entry->data, exit->data,
                                  w->meta->big_endian, &problem);
        if (r == FORMATS_E_INVALID)
                return unreadable(w, "%s", problem);
        return r;
}

/* "+20ms" is counted from the first event of all CPUs, also of those that are left out. */
static int resolve_window(Work *w) {
        _cleanup_(stream_freep) Stream *stream = NULL;
        Filtering *window = w->spec->window;
        const char *problem = NULL;
        uint64_t begin_ns = 0;
        int r;

        if (window->from.kind == MOMENT_NONE && window->to.kind == MOMENT_NONE)
                return 0;
        r = stream_open(&stream, w->dir, &w->layout);
        if (r < 0)
                return r;
        (void) stream_begin(stream, &begin_ns);
        r = filtering_resolve(window, w->meta, begin_ns, &problem);
        return r == FILTERING_E_UNKNOWN ? unreadable(w, "%s", problem) : r;
}

static uint64_t time_of(const PageWalk *walk, uint64_t raw) {
        return walk->times ? dat_times_apply(walk->times, walk->cpu, raw) : raw;
}

static int look(void *userdata, PageWalk *walk, const PageInfo *info, const void *page) {
        Work *w = userdata;
        const FilterSpec *f = &w->spec->window->spec;
        uint64_t first, last;

        if (w->spec->progress && ++w->n_looked % LOOK_PAGES == 0)
                progress_write(w->spec->progress, w->n_looked, 0);
        if ((f->from_ns > 0 || f->to_ns > 0) &&
            (!occurrence_span(info, page, w->meta->big_endian, &first, &last) ||
             time_of(walk, last) < f->from_ns || (f->to_ns > 0 && time_of(walk, first) > f->to_ns)))
                return 0;
        occurrence_add(w->occurrence, info, page, &walk->count);
        return 1;
}

static int walked(void *userdata, const PageWalk *walk) {
        Work *w = userdata;
        PageCount count;

        page_walk_count(walk, &count);
        return damage_describe_cpu(w->meta, walk->cpu, &count, &walk->damages,
                                   session_state_is_live(w->meta->state), &w->lacks);
}

/* What the recording lacks, and did when it was made of another, and what of it is taken. */
static int describe_origin(Work *w) {
        SessionMeta all = *w->meta;
        _cleanup_strv_ Strv lacks = {}, ids = {};
        const CpuAccount total = session_meta_total(w->meta);
        const DamageCount lost = { total.pages_lost, "page", "pages",
                                   "read from the kernel but not stored" };
        int r = damage_describe_files(w->dir, w->meta, &w->lacks);

        if (r >= 0 && w->symbols_are_damaged)
                r = strv_add(&w->lacks, DAMAGE_OF_SYMBOLS);
        if (r >= 0)
                r = strv_extend(&lacks, &w->meta->lacks);
        if (r >= 0)
                r = strv_extend(&lacks, &w->lacks);
        if (r >= 0)
                r = damage_add_counts(&lacks, "", &lost, 1);
        if (r >= 0)
                r = session_dir_read_build_ids(w->dir, w->meta, &ids);
        all.build_ids = ids;
        all.lacks = lacks;
        all.filters = (char *) w->spec->filters;
        if (r < 0 || !(clock_tuple_is_set(&all.start) || lacks.n > 0 || all.filters))
                return MIN(r, 0); /* another program's, of which there is nothing to tell */
        return dat_origin_format(&w->origin, &all);
}

static bool is_kept(const Work *w, const Format *f) {
        const char *id = strstr(f->text.data, "\nID: ");

        /* The graph's own are asked for by KernelShark 2.2.1, which crashes without them. */
        return strstr(f->event.name, "funcgraph_entry") ||
               strstr(f->event.name, "funcgraph_exit") ||
               (id && occurrence_has_event(w->occurrence, (uint16_t) atoi(id + strlen("\nID: "))));
}

/* --- writing ---------------------------------------------------------------------------------- */

static DatBlob blob(const Text *t) {
        return (DatBlob){ t->data, t->n };
}

static int tell_written(void *userdata, uint64_t n_pages) {
        const Work *w = userdata;

        progress_write(w->spec->progress, n_pages, w->plan.n_pages);
        return 0;
}

static int write_out(Work *w, DatHead *head, int out_fd, TracedatResult *ret) {
        DatTarget target = {
                .fd = out_fd,
                .can_seek = w->spec->can_seek,
                .packed_max = w->spec->packed_max,
                .progress = w->spec->progress ? tell_written : NULL,
                .userdata = w,
        };
        int r = dat_write(&target, head, &w->plan, w->dir);

        if (r == DAT_WRITE_E_TOO_LARGE) {
                head->compressor = DAT_NONE;
                if (target.can_seek && (lseek(out_fd, 0, SEEK_SET) < 0 || ftruncate(out_fd, 0) < 0))
                        return ORIGIN(-errno);
                r = dat_write(&target, head, &w->plan, w->dir);
        }
        if (r == 0)
                *ret = (TracedatResult){ .n_pages = w->plan.n_pages,
                                         .lacks = TAKE(w->lacks, (Strv){}),
                                         .is_packed = head->compressor != DAT_NONE };
        return r;
}

static int gather_and_write(Work *w, int out_fd, TracedatResult *ret) {
        const DatFile *file = dat_file_of_dir(w->dir);
        const SessionMeta *m = w->meta;
        uint32_t n_possible_cpus = MIN(m->n_possible_cpus, (uint32_t) STORE_MAX_CPUS);
        _cleanup_buf_ Buf symbols = BUF_INIT;
        _cleanup_free_ DatEvent *events = calloc(w->n_formats ?: 1, sizeof(*events));
        DatHead head = {
                .version = w->spec->version,
                .compressor = w->spec->is_packed ? DAT_ZSTD : DAT_NONE,
                .big_endian = m->big_endian,
                .page_bytes = m->page_bytes,
                .header_page = blob(&w->header_page),
                .header_event = blob(&w->header_event),
                .tasks = blob(&w->tasks),
                .events = events,
                .accounts = m->cpus,
                .n_accounts = m->n_cpus,
                .n_cpus = MAX(w->plan.n_cpus, n_possible_cpus),
                .clock = m->clock ?: "local",
                .uname = w->uname,
                .origin = w->origin,
                .owners = w->owners.data,
                .maps = w->maps.data,
                .times = file ? &file->times : NULL,
        };

        if (!events)
                return -ENOMEM;
        for (size_t i = 0; i < w->n_formats; i++) {
                const Format *f = &w->formats[i];

                if (!is_kept(w, f))
                        continue;
                events[head.n_events++] = (DatEvent){ f->event.system, blob(&f->text) };
                /* Only these name their text by an address. */
                if (streq(f->event.name, "bprint") || streq(f->event.name, "bputs"))
                        head.printk = blob(&w->printk);
        }
        occurrence_put_symbols(w->occurrence, &symbols);
        if (symbols.error < 0)
                return symbols.error;
        head.symbols = (DatBlob){ symbols.data, symbols.n_data };
        return write_out(w, &head, out_fd, ret);
}

int tracedat_write(TracedatResult *ret, const SessionDir *dir, const SessionMeta *meta,
                   const TracedatSpec *spec, int out_fd, char **ret_problem) {
        _cleanup_(work_done) Work w = {
                .dir = dir,
                .meta = meta,
                .spec = spec,
                .ret_problem = ret_problem,
                .plan = { .swap = needs_swap(meta->big_endian), .page_bytes = meta->page_bytes },
        };
        const FilterSpec *f = &spec->window->spec;
        int r;

        if (meta->page_bytes == 0)
                return unreadable(&w, "nothing was ever recorded");
        r = read_texts(&w) ?: read_layout(&w) ?: resolve_window(&w);
        if (r == 0)
                r = occurrence_new(&w.occurrence, &w.layout, TAKE_PTR(w.symbols.data), w.symbols.n);
        if (r == 0)
                r = dat_plan_make(&w.plan, dir,
                                  &(DatChoice){ .cpus = f->cpus,
                                                .n_cpus = f->n_cpus,
                                                .from_ns = f->from_ns,
                                                .to_ns = f->to_ns,
                                                .look = look,
                                                .walked = walked,
                                                .userdata = &w });
        return r ?: describe_origin(&w) ?: gather_and_write(&w, out_fd, ret);
}

void tracedat_result_done(TracedatResult *r) {
        strv_done(&r->lacks);
}
