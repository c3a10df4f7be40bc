/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An Image is a list of mappings by address.  A child shares its parent's until either changes it.
 *
 *      process 812    current ----+----> Image  55e0..-55e1.. client, 7f12..-7f13.. libc.so.6
 *                     next                      what an exec that is under way has mapped, or, as long as the pointer
 *                                               to the current address space is not known, anything
 *      process 813    current ----+
 */

#include <inttypes.h>

#include "base/bytes.h"
#include "spaces/spaces-private.h"
#include "store/tracing.h"

#define IMAGE_MAX 4096 /* mappings of a process */
#define MAPPINGS_MAX                                                                               \
        ((size_t) 1                                                                                \
         << 20) /* of all; beyond that, processes that were not met for long are forgotten */
#define RECORD_FIELDS_END 4096U

typedef struct Mapping {
        uint64_t start, end, offset;
        const MappedFile *file;
} Mapping;

typedef struct Image {
        uint64_t id; /* another one after each change */
        size_t n_refs, n, n_room;
        Mapping *items;
} Image;

typedef struct Process {
        Image *current, *next;
        uint64_t mm, next_mm; /* 0: not known */
        uint64_t generation;  /* of Spaces, for which this holds */
        uint64_t looked_ns;   /* the latest look that counted */
        uint64_t used;        /* when it was met last, by Spaces.used */
        bool is_whole;        /* its beginning was recorded */
} Process;

typedef struct Look {
        int32_t tgid;
        uint64_t at_ns;
        Image *image;
} Look;

typedef enum EventOf { FORKS, EXECS, MAPS, _EVENT_N } EventOf;

struct Spaces {
        const Formats *formats;
        struct {
                bool is_there, is_asked;
                uint16_t id;
                TracingField pid,
                        path; /* of the child; of the process, and where its file name is */
        } events[_EVENT_N];
        ProbeFormat map;
        ProbeField mm; /* in it */
        Look *looks;
        size_t n_looks;
        Hash looks_at; /* the first of a tgid, index + 1 */
        Process *processes;
        size_t n_processes;
        Hash processes_at; /* index + 1 */
        Hash threads;      /* tgid + 1, by pid */
        Hash children; /* of a fork whose parent is not known yet: child's pid + 1, by the parent's; 1: none */
        MappedFiles files;
        uint64_t n_images, used, generation, lost_ns;
        size_t n_mappings;
        Buf text; /* of objects */
};

int spaces_new(Spaces **ret, const Formats *formats) {
        *ret = NEW(Spaces, .formats = formats, .generation = 1, .text = BUF_INIT);
        return *ret ? 0 : -ENOMEM;
}

/* --- images ------------------------------------------------------------------------------------- */

static Image *image_unref(Spaces *s, Image *i) {
        if (!i || --i->n_refs > 0)
                return NULL;
        s->n_mappings -= i->n;
        free(i->items);
        return mfree(i);
}

static Image *image_ref(Image *i) {
        if (i)
                i->n_refs++;
        return i;
}

/* Which mapping @address is in; NULL: none. */
static const Mapping *image_find(const Image *i, uint64_t address) {
        size_t k = i ? BISECT(0, i->n, n, i->items[n].end <= address) : 0;

        return i && k < i->n && i->items[k].start <= address ? &i->items[k] : NULL;
}

/* @old with @m in the place of what was there: another one, since children may share it.  NULL without memory. */
static Image *image_with(Spaces *s, const Image *old, const Mapping *m) {
        size_t n = old ? old->n : 0, k = 0;
        Image *i = NEW(Image, .id = ++s->n_images, .n_refs = 1);

        if (!i || !(i->items = malloc((n + 2) * sizeof(Mapping))))
                return mfree(i);
        for (; k < n && old->items[k].start < m->start; k++) {
                i->items[i->n] = old->items[k];
                i->items[i->n].end = MIN(old->items[k].end, m->start);
                i->n++;
        }
        k -= k > 0 && old->items[k - 1].end > m->end; /* some of it is behind, too */
        if (i->n < IMAGE_MAX)
                i->items[i->n++] = *m;
        for (; k < n && i->n < IMAGE_MAX; k++) {
                Mapping rest = old->items[k];

                if (rest.end <= m->end)
                        continue;
                if (rest.start < m->end) {
                        rest.offset += m->end - rest.start;
                        rest.start = m->end;
                }
                i->items[i->n++] = rest;
        }
        s->n_mappings += i->n;
        return i;
}

/* 0 or -ENOMEM. */
static int image_map(Spaces *s, Image **at, const Mapping *m) {
        Image *old = *at, *i;

        if (old && old->n_refs == 1 && old->n > 0 && old->n < IMAGE_MAX &&
            old->items[old->n - 1].end <= m->start) { /* as the lines of a look come */
                if (!ARRAY_ROOM(old->items, old->n_room, old->n + 1))
                        return -ENOMEM;
                old->items[old->n++] = *m;
                old->id = ++s->n_images;
                s->n_mappings++;
                return 0;
        }
        i = image_with(s, old, m);
        if (!i)
                return -ENOMEM;
        i->n_room = i->n;
        image_unref(s, old);
        *at = i;
        return 0;
}

/* Both together; what @over has counts.  0 or -ENOMEM. */
static int image_merge(Spaces *s, Image **at, const Image *over) {
        int r = 0;

        for (size_t k = 0; over && k < over->n && r >= 0; k++)
                r = image_map(s, at, &over->items[k]);
        return r;
}

/* --- the text ------------------------------------------------------------------------------------ */

static int compare_looks(const void *pa, const void *pb) {
        const Look *a = pa, *b = pb;

        return CMP(a->tgid, b->tgid) ?: CMP(a->at_ns, b->at_ns);
}

static int load_mapping(Spaces *s, Look *look, const MapLine *l) {
        MappedFile file = { .inode = l->inode, .major = l->major, .minor = l->minor };
        FileWords words = { .path = l->path,
                            .n_path = l->n_path,
                            .build_id = l->build_id,
                            .n_build_id = l->n_build_id };
        Mapping m = { l->start, l->end, l->offset, NULL };
        int r = mapped_files_get(&s->files, &file, &words, &m.file);

        return r < 0 || !m.file ? r : image_map(s, &look->image, &m);
}

static void forget_looks(Spaces *s) {
        for (size_t i = 0; i < s->n_looks; i++)
                (void) image_unref(s, s->looks[i].image);
        free(TAKE_PTR(s->looks));
        s->n_looks = 0;
        hash_clear(&s->looks_at);
}

int spaces_load(Spaces *s, const char *text) {
        uint64_t at_ns = 0; /* none yet, and nothing counts */
        size_t n_maps = 0;
        MapLine l;
        int r = 0;

        forget_looks(s);
        while (r >= 0 && map_line_next(&text, &l)) {
                Look *look = s->n_looks > 0 ? &s->looks[s->n_looks - 1] : NULL;

                if (l.kind == MAP_PROCESS && s->n_looks == MAPS_PROCESSES_MAX)
                        break;
                if (l.kind == MAP_LOOK)
                        at_ns = l.at_ns;
                else if (at_ns == 0)
                        continue;
                else if (l.kind == MAP_PROCESS)
                        r = ARRAY_ADD(s->looks, s->n_looks, (Look){ l.tgid, at_ns, NULL })
                                    ? 0
                                    : -ENOMEM;
                else if (look && n_maps++ < MAPS_MAX)
                        r = load_mapping(s, look, &l);
        }
        SORT(s->looks, s->n_looks, compare_looks);
        for (size_t i = 0; r >= 0 && i < s->n_looks; i++)
                if (i == 0 || s->looks[i - 1].tgid != s->looks[i].tgid)
                        r = hash_set(&s->looks_at, (uint64_t) s->looks[i].tgid, i + 1);
        return MIN(r, 0);
}

/* --- processes ----------------------------------------------------------------------------------- */

static void forget_images(Spaces *s, Process *p) {
        p->current = image_unref(s, p->current);
        p->next = image_unref(s, p->next);
        p->mm = p->next_mm = 0;
}

/* Half of them, those that were not met for the longest time. */
static void forget_old(Spaces *s) {
        uint64_t low = 0, high = s->used;

        while (high - low > 1) {
                uint64_t middle = low + (high - low) / 2;
                size_t n = 0, n_all = 0;

                for (size_t i = 0; i < s->n_processes; i++) {
                        n_all += s->processes[i].current || s->processes[i].next;
                        n += (s->processes[i].current || s->processes[i].next) &&
                             s->processes[i].used <= middle;
                }
                if (n * 2 > n_all)
                        high = middle;
                else
                        low = middle;
        }
        for (size_t i = 0; i < s->n_processes; i++)
                if (s->processes[i].used <= low)
                        forget_images(s, &s->processes[i]);
}

/* As it was left; NULL: it was never met. */
static Process *find_process(const Spaces *s, int32_t tgid) {
        uint64_t i = hash_get(&s->processes_at, (uint64_t) tgid);

        return i > 0 ? &s->processes[i - 1] : NULL;
}

static Look *look_before(const Spaces *s, int32_t tgid, uint64_t now_ns) {
        size_t from = hash_get(&s->looks_at, (uint64_t) tgid), to;

        if (from == 0)
                return NULL;
        to = BISECT(from - 1, s->n_looks, i,
                    s->looks[i].tgid == tgid && s->looks[i].at_ns <= now_ns);
        return to >= from ? &s->looks[to - 1] : NULL;
}

/* With what the last look before @now_ns says, if that is more than events have told since.  NULL without memory. */
static Process *meet(Spaces *s, int32_t tgid, uint64_t now_ns) {
        const Look *look = look_before(s, tgid, now_ns);
        Process *p = find_process(s, tgid);

        if (!p) {
                if (!ARRAY_GROW(s->processes, s->n_processes) ||
                    hash_add(&s->processes_at, (uint64_t) tgid, s->n_processes + 1) < 0)
                        return NULL;
                p = &s->processes[s->n_processes++];
                *p = (Process){ .generation = s->generation };
        }
        p->used = ++s->used;
        if (!look || look->at_ns <= p->looked_ns)
                return p;
        p->looked_ns = look->at_ns;
        if (p->is_whole && p->generation == s->generation)
                return p;
        if (p->generation != s->generation && look->at_ns < s->lost_ns && (p->current || p->next))
                return p;
        forget_images(s, p);
        p->current = image_ref(look->image);
        p->generation = look->at_ns < s->lost_ns ? s->generation - 1 : s->generation;
        return p;
}

void spaces_lose(Spaces *s, uint64_t now_ns) {
        s->generation++;
        s->lost_ns = now_ns;
        hash_clear(&s->threads);
        hash_clear(&s->children);
}

/* --- events -------------------------------------------------------------------------------------- */

static EventOf find_event(const char *system, const char *name) {
        const char *end = strrchr(name, '_');

        if (startswith(name, "ftraced_") && streq(end, "_m0") &&
            (!system || streq(system, "ftraced")))
                return MAPS;
        if (system && !streq(system, "sched"))
                return _EVENT_N;
        return streq(name, "sched_process_fork")   ? FORKS
               : streq(name, "sched_process_exec") ? EXECS
                                                   : _EVENT_N;
}

bool spaces_take(const char *system, const char *name) {
        return find_event(system, name) < _EVENT_N;
}

static const ProbeField *find_field(const ProbeFormat *p, const char *name) {
        for (size_t i = 0; i < p->n_fields; i++)
                if (streq(p->fields[i].name, name))
                        return &p->fields[i];
        return NULL;
}

/* Where a text's place and length are. */
static TracingField find_text(const char *format, const char *name) {
        TracingField f;

        while (tracing_next_field(&format, &f))
                if (f.is_string && f.n_name == strlen(name) &&
                    memcmp(f.name, name, f.n_name) == 0 && f.offset <= RECORD_FIELDS_END)
                        return f;
        return (TracingField){};
}

/* The pointer before the last one in front of tgid: vma->vm_mm->owner->tgid. */
static int add_map_event(Spaces *s, const char *format) {
        static const char *const needed[] = { "start", "end", "pgoff", "dev", "ino", "file" };
        const ProbeField *tgid;
        int r;

        free(s->map.fields);
        s->map = (ProbeFormat){};
        r = formats_parse_probe(&s->map, format, PROBE_GIVEN);
        if (r != 0)
                return r;
        tgid = find_field(&s->map, "tgid");
        for (size_t i = 0; i < ELEMENTSOF(needed); i++)
                tgid = find_field(&s->map, needed[i]) ? tgid : NULL;
        if (!tgid || tgid - s->map.fields < 2 || tgid[-1].kind != PROBE_THROUGH ||
            tgid[-2].kind != PROBE_THROUGH)
                return FORMATS_E_INVALID;
        s->mm = tgid[-2];
        return 0;
}

int spaces_add_event(Spaces *s, const char *name, const char *format, bool is_asked) {
        EventOf what = find_event(NULL, name);
        const char *id = strstr(format, "\nID: ");
        TracingField pid = {};
        int r = what == MAPS ? add_map_event(s, format) : 0;

        if (r < 0 || what == _EVENT_N || !id)
                return r < 0 ? r : FORMATS_E_INVALID;
        if (r > 0)
                return r;
        if (what != MAPS) {
                pid = tracing_find_field(format, what == FORKS ? "child_pid" : "pid");
                if (pid.size != 4 || pid.offset > RECORD_FIELDS_END)
                        return FORMATS_E_INVALID;
        }
        s->events[what].is_there = true;
        s->events[what].is_asked = is_asked;
        s->events[what].id = (uint16_t) strtoul(id + strlen("\nID: "), NULL, 10);
        s->events[what].pid = pid;
        s->events[what].path = what == EXECS ? find_text(format, "filename") : (TracingField){};
        return 0;
}

/* The child has what its parent has. */
static int fork_from(Spaces *s, int32_t parent, int32_t child, uint64_t now_ns) {
        Process *from, *to;

        if (!meet(s, parent, now_ns) || !meet(s, child, now_ns))
                return -ENOMEM;
        from = find_process(s, parent);
        to = find_process(s, child);
        if (from == to)
                return 0;
        forget_images(s, to);
        to->current = image_ref(from->current);
        to->generation = from->generation;
        to->looked_ns = now_ns;
        to->is_whole = from->is_whole || from->current;
        return from->next ? image_merge(s, &to->current, from->next) : 0;
}

/* A task of which it is not known whose thread it is waits for its user_stack. */
static int note_fork(Spaces *s, const Event *e, int32_t child) {
        uint64_t tgid = hash_get(&s->threads, (uint64_t) e->pid);
        Process *p = find_process(s, child);
        int r;

        if (child <= 0 || e->pid <= 0)
                return 0;
        if (p) {
                forget_images(s, p);
                p->is_whole = false;
        }
        r = hash_get(&s->threads, (uint64_t) child) > 0
                    ? hash_set(&s->threads, (uint64_t) child, (uint64_t) child + 1)
                    : 0;
        if (r >= 0)
                r = tgid > 0 ? fork_from(s, (int32_t) (tgid - 1), child, e->timestamp_ns)
                             : hash_set(&s->children, (uint64_t) e->pid, (uint64_t) child + 1);
        return MIN(r, 0);
}

/* What the process was told to execute is a path of the file of that name that it has mapped. */
static void tell_path(Spaces *s, const Image *image, const Event *e) {
        const TracingField *f = &s->events[EXECS].path;
        bool swap = needs_swap(s->formats->big_endian);
        const uint8_t *p = e->payload;
        uint32_t place =
                f->size == 4 && f->offset + 4 <= e->n_bytes ? load_u32(p + f->offset, swap) : 0;
        const char *path = (const char *) p + (place & UINT16_MAX);
        size_t n =
                (place & UINT16_MAX) + (place >> 16) <= e->n_bytes ? strnlen(path, place >> 16) : 0;

        if (n == 0 || n >= MAPS_PATH_MAX || *path != '/')
                return;
        for (size_t i = 0; image && i < image->n; i++)
                mapped_files_tell(&s->files, image->items[i].file, path, n);
}

/* By now the process has one thread, which has the process's number. */
static int note_exec(Spaces *s, const Event *e) {
        Process *p = meet(s, e->pid, e->timestamp_ns);

        if (!p)
                return -ENOMEM;
        if (p->generation != s->generation)
                forget_images(s, p);
        (void) image_unref(s, p->current);
        p->current = TAKE_PTR(p->next);
        tell_path(s, p->current, e);
        p->mm = TAKE(p->next_mm, 0);
        p->generation = s->generation;
        p->is_whole = true;
        return 0;
}

static bool number_of(const Object *o, const char *name, uint64_t *ret) {
        const ObjectField *f = object_find(o, name);

        if (!f || !f->is_number || f->number.is_negative)
                return false;
        *ret = f->number.magnitude;
        return true;
}

static int map(Spaces *s, const Object *o, uint64_t mm, uint64_t now_ns) {
        MappedFile file = { .is_of_event = true };
        const ObjectField *dev = object_find(o, "dev"), *path = object_find(o, "file");
        uint64_t tgid, pages;
        Mapping m = {};
        FileWords words;
        Process *p;
        int r;

        if (!dev || !path || !number_of(o, "tgid", &tgid) || !number_of(o, "start", &m.start) ||
            !number_of(o, "end", &m.end) || !number_of(o, "pgoff", &pages) ||
            !number_of(o, "ino", &file.inode) || m.start >= m.end || tgid == 0 ||
            tgid > INT32_MAX || pages > UINT64_MAX >> 12 || mm == 0 ||
            sscanf(object_text(o) + dev->value, "%" SCNu32 ":%" SCNu32, &file.major, &file.minor) !=
                    2)
                return 0;
        m.offset = pages << 12;
        words = (FileWords){ .path = object_text(o) + path->value, .n_path = path->n_value };
        r = mapped_files_get(&s->files, &file, &words, &m.file);
        p = r < 0 ? NULL : meet(s, (int32_t) tgid, now_ns);
        if (r < 0 || !p)
                return r ?: -ENOMEM;
        if (p->generation != s->generation) {
                /* What was there is, if this is the same address space. */
                if (p->mm != mm || p->next)
                        forget_images(s, p);
                p->mm = mm;
                p->generation = s->generation;
        }
        if (p->mm == mm)
                return m.file ? image_map(s, &p->current, &m) : 0;
        if (p->next && p->next_mm != mm) {
                /* No exec has come: the former was the process's own. */
                r = image_merge(s, &p->current, p->next);
                p->next = image_unref(s, p->next);
                p->mm = p->next_mm;
        }
        p->next_mm = mm;
        return r < 0 || !m.file ? r : image_map(s, &p->next, &m);
}

static int note_map(Spaces *s, const Event *e) {
        _cleanup_free_ Object *o = NULL;
        ProbeRecord record;

        if (!formats_decode_probe(&s->map, s->formats, e, &record))
                return 0;
        if (s->n_mappings > MAPPINGS_MAX)
                forget_old(s);
        return object_new(&o, &s->text, &s->map, s->formats, e)
                       ?: o
                          ? map(s, o, formats_probe_number(&s->mm, s->formats, e), e->timestamp_ns)
                          : 0;
}

int spaces_note(Spaces *s, const Event *e) {
        EventOf what = 0;
        const TracingField *f;
        int32_t pid;
        int r = 0;

        if (s->lost_ns == UINT64_MAX)
                s->lost_ns = e->timestamp_ns;
        if (e->kind != EVENT_OTHER || !e->payload)
                return 0;
        while (what < _EVENT_N && !(s->events[what].is_there && s->events[what].id == e->id))
                what++;
        if (what == _EVENT_N)
                return 0;
        f = &s->events[what].pid;
        if (what == MAPS)
                r = note_map(s, e);
        else if (f->offset + f->size <= e->n_bytes) {
                pid = (int32_t) load_u32((const uint8_t *) e->payload + f->offset,
                                         needs_swap(s->formats->big_endian));
                r = what == FORKS ? note_fork(s, e, pid) : pid == e->pid ? note_exec(s, e) : 0;
        }
        return r < 0 ? r : s->events[what].is_asked ? SPACES_ASKED : 1;
}

int spaces_note_thread(Spaces *s, int32_t pid, int32_t tgid, uint64_t now_ns) {
        uint64_t child;
        int r;

        if (pid <= 0 || tgid <= 0)
                return 0;
        child = hash_get(&s->children, (uint64_t) pid);
        if (child > 1) {
                r = hash_set(&s->children, (uint64_t) pid, 1)
                            ?: fork_from(s, tgid, (int32_t) (child - 1), now_ns);
                if (r < 0)
                        return r;
        }
        if (hash_get(&s->threads, (uint64_t) pid) == (uint64_t) tgid + 1)
                return 0;
        if (pid != tgid) { /* it is none of its own */
                Process *p = find_process(s, pid);

                if (p)
                        forget_images(s, p);
        }
        return hash_set(&s->threads, (uint64_t) pid, (uint64_t) tgid + 1);
}

/* --- what is asked ------------------------------------------------------------------------------- */

static const Mapping *find_mapping(const Process *p, uint64_t address) {
        return image_find(p->next, address) ?: image_find(p->current, address);
}

/* The same is there in a later look. */
static bool is_confirmed(const Spaces *s, int32_t tgid, const Mapping *m, uint64_t now_ns) {
        size_t i = hash_get(&s->looks_at, (uint64_t) tgid);

        for (i = i > 0 ? i - 1 : s->n_looks; i < s->n_looks && s->looks[i].tgid == tgid; i++) {
                const Mapping *other =
                        s->looks[i].at_ns > now_ns ? image_find(s->looks[i].image, m->start) : NULL;

                if (other && other->start <= m->start && other->end >= m->end &&
                    other->offset + (m->start - other->start) == m->offset &&
                    other->file->inode == m->file->inode && other->file->major == m->file->major &&
                    other->file->minor == m->file->minor)
                        return true;
        }
        return false;
}

void spaces_find(Spaces *s, int32_t tgid, uint64_t address, uint64_t timestamp_ns,
                 SpacePlace *ret) {
        const Process *p = tgid > 0 ? meet(s, tgid, timestamp_ns) : NULL;
        const Mapping *m = p ? find_mapping(p, address) : NULL;
        bool is_known = p && (p->current || p->next) && p->generation == s->generation;

        if (m && !is_known) {
                is_known = is_confirmed(s, tgid, m, timestamp_ns);
                m = is_known ? m : NULL;
        }
        *ret = (SpacePlace){ .tgid = tgid,
                             .address = address,
                             .at = m ? m->offset + (address - m->start) : 0,
                             .file = m ? m->file : NULL,
                             .is_known = is_known };
}

uint64_t spaces_state(Spaces *s, int32_t tgid, uint64_t timestamp_ns) {
        const Process *p = tgid > 0 ? meet(s, tgid, timestamp_ns) : NULL;
        uint64_t current = p && p->current ? p->current->id : 0,
                 next = p && p->next ? p->next->id : 0;

        return current == 0 && next == 0 ? 0
                                         : hash_mix(hash_mix(current) + next) ^
                                                   hash_mix(p->generation == s->generation);
}

Spaces *spaces_free(Spaces *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_processes; i++)
                forget_images(s, &s->processes[i]);
        forget_looks(s);
        mapped_files_done(&s->files);
        free(s->processes);
        free(s->map.fields);
        hash_done(&s->looks_at);
        hash_done(&s->processes_at);
        hash_done(&s->threads);
        hash_done(&s->children);
        buf_done(&s->text);
        return mfree(s);
}
