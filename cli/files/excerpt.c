/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Steps say which records are wanted, in the order of time; for each CPU a finder
 * follows them through the recording's pages, and a maker puts what it finds into
 * new ones:
 *
 *      steps -> finder of the CPU -> record -> maker of the CPU -> page -> segment
 */

#include "base/grow.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/files/excerpt.h"
#include "cli/source/record-finder.h"
#include "calls/values.h"
#include "codec/dat-file.h"
#include "codec/page-maker.h"
#include "meta/event-choice.h"
#include "store/symbol-file.h"
#include "store/tracing-formats.h"
#include "store/uptime.h"

#define SEGMENT_PAGES 16384
#define VALUES_BEHIND 64 /* records behind the last step among which its value is looked for */
#define EVENT_IDS (UINT16_MAX + 1)
#define ANY_FUNCTION "[A-Za-z_]*" /* what a file of another program was asked for is not known */

typedef struct Part {
        uint32_t cpu;
        RecordFinder *finder;
        PageMaker maker;
        int dir_fd;
        SegmentWriter *segment; /* NULL: none is open */
        uint64_t sequence;      /* of the next */
        uint64_t n_pages;
} Part;

typedef struct Excerpt {
        Reading *reading;
        SessionDir *dir; /* the new one */
        SessionMeta *meta;
        Part *parts;
        size_t n_parts;
        bool events[EVENT_IDS]; /* of other kinds than calls: which there were */
        ExcerptCount count;
} Excerpt;

static void excerpt_done(Excerpt *e) {
        for (size_t i = 0; i < e->n_parts; i++) {
                record_finder_free(e->parts[i].finder);
                page_maker_done(&e->parts[i].maker);
                segment_writer_free(e->parts[i].segment);
                safe_close(e->parts[i].dir_fd);
        }
        free(e->parts);
        session_dir_free(e->dir);
        session_meta_free(e->meta);
}

/* --- what is not events ------------------------------------------------------------------------ */

static int copy_tracing(void *userdata, const char *path, TracingFormat kind) {
        const Excerpt *e = userdata;
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = session_dir_read_tracing(e->reading->source->dir, path, &text, &n);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        return session_dir_write_tracing(e->dir, path, text, n);
}

static int copy_all_tracing(Excerpt *e) {
        static const char *const paths[] = {
                "events/header_page",
                "events/header_event",
                "printk_formats",
                "saved_cmdlines",
        };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(paths); i++)
                r = copy_tracing(e, paths[i], TRACING_FORMAT_OPTIONAL);
        return r < 0 ? r : tracing_formats_walk(e->meta, copy_tracing, e);
}

/* A trace.dat has the formats of all events that its kernel had: the session has those that are in it
 * now. */
static int copy_formats_of_file(Excerpt *e) {
        size_t n;
        const DatFormat *formats = dat_file_formats(dat_file_of_dir(e->reading->source->dir), &n);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i++) {
                const char *path = formats[i].path, *id = strstr(formats[i].text, "\nID: ");
                EventChoice event;

                if (!id || !e->events[(uint16_t) atoi(id + strlen("\nID: "))] ||
                    !event_choice_from_path(&event, path))
                        continue;
                r = copy_tracing(e, path, TRACING_FORMAT_EVENT);
                if (r >= 0 && values_takes(event.system, event.name))
                        r = strv_addf(&e->meta->probe_events, "%s:%s", event.system, event.name);
                else if (r >= 0 && e->meta->spec.events.n < SPEC_MAX_EVENTS)
                        r = strv_addf(&e->meta->spec.events, "%s:%s", event.system, event.name);
        }
        return r;
}

/* A file of the store's symbols/; *@hash is what it is called there.  What cannot be read is not
 * missed more here than it was. */
static int copy_symbols(const Excerpt *e, int symbols_fd, char **hash) {
        char name[SYMBOL_HASH_CHARS + 1];
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r;

        if (!*hash)
                return 0;
        r = session_dir_read_symbols(e->reading->source->dir, *hash, &text, &n);
        free(TAKE_PTR(*hash));
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        r = symbol_file_store(symbols_fd, text, n, name);
        if (r < 0)
                return r;
        *hash = strdup(name);
        return *hash ? 0 : -ENOMEM;
}

static int copy_all_symbols(Excerpt *e, const Store *store) {
        int fd = store_symbols_fd(store), r = copy_symbols(e, fd, &e->meta->symbols);

        if (r >= 0)
                r = copy_symbols(e, fd, &e->meta->modules);
        if (r >= 0)
                r = copy_symbols(e, fd, &e->meta->types);
        for (size_t i = 0; r >= 0 && i < e->meta->symbol_maps.n; i++) {
                r = copy_symbols(e, fd, &e->meta->symbol_maps.items[i].symbols)
                            ?: copy_symbols(e, fd, &e->meta->symbol_maps.items[i].modules);
                if (r >= 0 && !e->meta->symbol_maps.items[i].symbols)
                        e->meta->symbol_maps.n = i; /* what cannot be named later either */
        }
        return r;
}

/* The other's, but for what is this one's own. */
static int make_meta(Excerpt *e, const char *name, const char *why) {
        const SessionMeta *of = e->reading->source->meta;
        json_auto_t *json = session_meta_to_json(of);
        char reason[512];
        const char *field;
        int r;

        if (!json)
                return -ENOMEM;
        /* A file's need not be what a session's may be. */
        (void) json_object_del(json, "symbols");
        (void) json_object_del(json, "kept_ns");
        (void) json_object_del(json, "kept_of");
        if (of->spec.functions.n == 0)
                (void) json_object_set_new(json_object_get(json, "spec"), "functions",
                                           json_pack("[s]", ANY_FUNCTION));
        (void) json_object_set_new(json, "name", json_string(name));
        (void) json_object_set_new(json, "id", json_string("0000000000000000"));
        (void) json_object_set_new(json, "state", json_string(session_state_name(SESSION_NEW)));
        (void) json_object_set_new(json, "pinned", json_false());
        (void) json_object_set_new(json, "first_sequence", json_integer(0));
        r = session_meta_from_json(&e->meta, json, &field);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        (void) snprintf(reason, sizeof(reason), "kept of %s: %s", of->name, why);
        r = of->symbols ? text_replace(&e->meta->symbols, of->symbols) : 0;
        if (r >= 0)
                r = session_meta_renew_id(e->meta);
        if (r >= 0)
                r = text_replace(&e->meta->reason, reason);
        if (r >= 0)
                r = text_replace(&e->meta->origin, of->name);
        e->meta->n_snapshots = 0;
        e->meta->bytes_dropped = e->meta->pages_unsynced = 0;
        return r;
}

/* --- events ------------------------------------------------------------------------------------ */

static Part *find_part(Excerpt *e, uint32_t cpu) {
        for (size_t i = 0; i < e->n_parts; i++)
                if (e->parts[i].cpu == cpu)
                        return &e->parts[i];
        if (!ARRAY_GROW(e->parts, e->n_parts))
                return NULL;
        e->parts[e->n_parts] = (Part){ .cpu = cpu, .dir_fd = -EBADF };
        return &e->parts[e->n_parts++];
}

static int keep_value(void *userdata, const Event *event, const Record *record);

static int open_part(Excerpt *e, Part *p) {
        int r;

        if (p->finder)
                return 0;
        r = page_maker_init(&p->maker, e->meta->page_bytes,
                            e->reading->playback->formats.big_endian);
        if (r >= 0)
                r = p->dir_fd = session_dir_make_cpu(e->dir, p->cpu);
        if (r >= 0)
                r = record_finder_new(&p->finder, e->reading->source->dir,
                                      &e->reading->playback->formats, p->cpu);
        if (r >= 0 && e->reading->playback->values)
                record_finder_set_passed(p->finder, keep_value, e);
        return r;
}

static int close_segment(Part *p) {
        return p->segment ? segment_writer_close(TAKE_PTR(p->segment), NULL) : 0;
}

static int open_segment(const Excerpt *e, Part *p) {
        uint64_t previous = p->sequence > 0 ? p->sequence - 1 : UINT64_MAX;
        int r = segment_create(&p->segment, p->dir_fd, p->sequence, previous, p->cpu,
                               e->meta->page_bytes, e->meta->id);

        p->sequence += r >= 0;
        return r;
}

static int write_page(Excerpt *e, Part *p) {
        const void *page = page_maker_finish(&p->maker);
        int r = 0;

        if (!page)
                return 0;
        if (p->segment && segment_writer_n_pages(p->segment) >= SEGMENT_PAGES)
                r = close_segment(p);
        if (r >= 0 && !p->segment)
                r = open_segment(e, p);
        if (r >= 0)
                r = write_full(segment_writer_fd(p->segment), page, e->meta->page_bytes);
        if (r < 0)
                return r;
        segment_publish(p->segment, e->meta->page_bytes);
        p->n_pages++;
        e->count.n_bytes += e->meta->page_bytes;
        return 0;
}

static int add_record(Excerpt *e, Part *p, const Record *record) {
        int r = page_maker_add(&p->maker, record->timestamp_ns, record->data, record->n_data);

        if (r == PAGE_MAKER_E_FULL)
                r = write_page(e, p)
                            ?: page_maker_add(&p->maker, record->timestamp_ns, record->data,
                                              record->n_data);
        e->count.n_records++;
        return r;
}

/* Values are no steps, but go with them.  Whatever is near is taken: one that is of no call here is joined to none. */
static int keep_value(void *userdata, const Event *event, const Record *record) {
        Excerpt *e = userdata;
        Part *p = find_part(e, event->cpu);

        if (!p)
                return -ENOMEM;
        if (!values_knows(e->reading->playback->values, event))
                return 0;
        e->events[event->id] = true;
        return MIN(add_record(e, p, record), 0);
}

static int add_loss(Excerpt *e, Part *p, uint64_t n_lost) {
        int r = page_maker_lose(&p->maker, n_lost);

        if (r == PAGE_MAKER_E_FULL)
                r = write_page(e, p) ?: page_maker_lose(&p->maker, n_lost);
        return r;
}

static int add_step(Excerpt *e, const Step *step) {
        Part *p = find_part(e, step->cpu);
        Record record;
        int r;

        if (!p)
                return -ENOMEM;
        r = open_part(e, p);
        if (r < 0)
                return r;
        if (step->kind == STEP_OTHER)
                e->events[step->event_id] = true;
        if (step->kind == STEP_LOST)
                return add_loss(e, p, step->n_lost);
        r = record_finder_find(p->finder, step, &record) ?: add_record(e, p, &record);
        if (r == 0 && step->kind == STEP_LEAF)
                r = record_finder_find_leave(p->finder, step, &record) ?: add_record(e, p, &record);
        e->count.n_missing += r == RECORD_FINDER_E_MISSING;
        return MIN(r, 0);
}

static int add_all(Excerpt *e) {
        Step step;
        int r;

        while ((r = reading_next(e->reading, &step)) > 0) {
                r = add_step(e, &step);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return EXCERPT_E_READING;
        for (size_t i = 0; r >= 0 && i < e->n_parts; i++) {
                if (e->parts[i].finder && e->reading->playback->values)
                        r = record_finder_pass(e->parts[i].finder, VALUES_BEHIND);
                if (r < 0)
                        break;
                r = write_page(e, &e->parts[i]) ?: close_segment(&e->parts[i]);
        }
        if (r >= 0 && e->count.n_records == 0)
                return EXCERPT_E_EMPTY;
        return r;
}

/* The accounts keep what the kernel lost; what is stored is what is stored here. */
static void count_pages(Excerpt *e) {
        for (size_t i = 0; i < e->meta->n_cpus; i++) {
                CpuAccount *c = &e->meta->cpus[i];

                c->n_pages = c->n_bytes = c->pages_dropped = 0;
                for (size_t k = 0; k < e->n_parts; k++)
                        if (e->parts[k].cpu == c->cpu)
                                c->n_pages = e->parts[k].n_pages;
                c->n_bytes = c->n_pages * e->meta->page_bytes;
        }
}

/* Its age is its own. */
static int note_kept(Excerpt *e, const Store *store) {
        Uptime u;
        int r = uptime_load(&u, store_fd(store))
                    ?: uptime_save(&u, store_fd(store))
                    ?: text_replace(&e->meta->kept_of, u.id);

        if (r >= 0)
                e->meta->kept_ns = uptime_now(&u);
        return r;
}

static int fill(Excerpt *e, const Store *store) {
        int r = session_dir_write_meta(e->dir, e->meta)
                    ?: copy_all_tracing(e)
                    ?: copy_all_symbols(e, store)
                    ?: add_all(e)
                    ?: copy_formats_of_file(e);

        if (r != 0)
                return r;
        count_pages(e);
        e->meta->state = SESSION_SEALED;
        r = note_kept(e, store);
        return r < 0 ? r : session_dir_write_meta(e->dir, e->meta);
}

int excerpt_write(Store *store, const char *name, Reading *reading, const char *why,
                  ExcerptCount *ret) {
        _cleanup_(excerpt_done) Excerpt e = { .reading = reading };
        int r;

        r = make_meta(&e, name, why) ?: session_dir_create(&e.dir, store_sessions_fd(store), name);
        if (r < 0)
                return r;
        r = fill(&e, store);
        if (r != 0) {
                e.dir = session_dir_free(e.dir);
                (void) store_remove_session(store, name);
                return r;
        }
        *ret = e.count;
        return 0;
}
