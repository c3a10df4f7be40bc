/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Looks are sorted by process id and time; what events tell is kept beside them, the latest of each process id.  Paths of
 * control groups are told once each, and known by a number.
 */

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/name.h"
#include "base/unit.h"
#include "owner/owners.h"
#include "store/tracing.h"

#define WORD_ROOM 96 /* "COMM-PID", "uid 4294967295", a cut ID */
#define SHORT_ID 12
#define FIELDS_MAX 4
#define RECORD_FIELDS_END 4096U

typedef struct Whose {
        int32_t tgid;
        uint32_t uid;
        uint32_t path; /* index + 1; 0: not known */
        bool is_known; /* else nothing of it */
} Whose;

typedef struct Look {
        int32_t pid;
        uint32_t order; /* in which it was told */
        uint64_t at_ns, since_ns;
        Whose whose;
} Look;

typedef struct Told {
        int32_t pid;
        uint64_t at_ns;
        Whose whose;
} Told;

typedef enum EventOf { BEGINS, USER, MOVES, GROUP, FORKS, _EVENT_N } EventOf;

/* In this order find_event() finds letters of probes; the others have names. */
static const struct {
        const char *system, *name; /* name NULL: ftraced_SESSION_X... with this letter: */
        char letter;
        const char *fields[FIELDS_MAX];
} events[_EVENT_N] = {
        [BEGINS] = { "ftraced",
                     NULL,
                     'w',
                     { "a0", "a1", "a2", "a3" } }, /* pid, tgid, uid, cgroup */
        [USER] = { "ftraced", NULL, 'u', { "a0" } },
        [MOVES] = { "cgroup", "cgroup_attach_task", 0, { "pid", "dst_root", "dst_path" } },
        [GROUP] = { "cgroup", "cgroup_mkdir", 0, { "id", "root", "path" } },
        [FORKS] = { "sched", "sched_process_fork", 0, { "child_pid" } },
};

typedef struct Layout {
        bool is_there, is_asked;
        uint16_t id;
        TracingField fields[FIELDS_MAX];
} Layout;

typedef struct Interned {
        Owner owner;
        Whose whose;
        char process[WORD_ROOM], user[USER_TEXT_MAX], container[CGROUP_WORD_MAX];
        CgroupWords words;
} Interned;

struct Owners {
        const Tasks *tasks;
        const Formats *formats;
        Layout layouts[_EVENT_N];
        uint64_t hierarchy;
        Look *looks;
        size_t n_looks;
        Hash looks_at; /* the first of a pid, index + 1 */
        Told *told;
        size_t n_told;
        Hash told_at;      /* index + 1 */
        Strv paths, names; /* names: "ID NAME" */
        Hash paths_at;     /* index + 1, by hash */
        Hash ids;          /* path, by id */
        Interned **owners;
        size_t n_owners;
        Hash owners_at; /* index + 1, by hash */
        bool is_partial;
};

int owners_new(Owners **ret, const Tasks *tasks, const Formats *formats) {
        *ret = NEW(Owners, .tasks = tasks, .formats = formats);
        return *ret ? 0 : -ENOMEM;
}

void owners_set_partial(Owners *o) {
        o->is_partial = true;
}

/* --- the text ------------------------------------------------------------------------------------ */

/* The number at *@p, and the blank behind it. */
static bool take_number(const char **p, uint64_t max, uint64_t *ret) {
        char digits[24];
        size_t n = strspn(*p, "0123456789");

        if (n == 0 || n >= sizeof(digits) || ((*p)[n] != ' ' && (*p)[n] != '\n'))
                return false;
        memcpy(digits, *p, n);
        digits[n] = 0;
        *p += n + ((*p)[n] == ' ');
        return parse_u64(digits, max, ret) >= 0;
}

static bool take_task(const char **p, OwnerLine *l) {
        uint64_t pid, tgid, uid;

        if (!take_number(p, UINT64_MAX, &l->at_ns) || !take_number(p, UINT64_MAX, &l->since_ns) ||
            !take_number(p, INT32_MAX, &pid) || !take_number(p, INT32_MAX, &tgid) ||
            !take_number(p, UINT32_MAX, &uid))
                return false;
        l->pid = (int32_t) pid;
        l->tgid = (int32_t) tgid;
        l->uid = (uint32_t) uid;
        return true;
}

static bool read_line(const char *p, size_t n, OwnerLine *l) {
        const char *end = p + n, *rest;

        *l = (OwnerLine){};
        if ((rest = startswith(p, "task "))) {
                l->kind = OWNER_TASK;
                if (!take_task(&rest, l))
                        return false;
        } else if ((rest = startswith(p, "cgroup "))) {
                l->kind = OWNER_CGROUP;
                if (!take_number(&rest, UINT64_MAX, &l->id))
                        return false;
        } else if ((rest = startswith(p, "name "))) {
                l->kind = OWNER_NAME;
                if (end - rest <= CONTAINER_ID_CHARS || rest[CONTAINER_ID_CHARS] != ' ')
                        return false;
                memcpy(l->container, rest, CONTAINER_ID_CHARS);
                rest += CONTAINER_ID_CHARS + 1;
        } else if ((rest = startswith(p, "hierarchy "))) {
                l->kind = OWNER_HIERARCHY;
                return take_number(&rest, INT32_MAX, &l->id);
        } else
                return false;
        l->text = rest;
        l->n_text = rest < end ? (size_t) (end - rest) : 0;
        return l->n_text > 0 && l->n_text < OWNERS_PATH_MAX;
}

bool owner_line_next(const char **at, OwnerLine *ret) {
        while (**at) {
                const char *line = *at;
                size_t n = strcspn(line, "\n");

                if (line[n] != '\n') { /* it is cut */
                        *at += n;
                        return false;
                }
                *at += n + 1;
                if (read_line(line, n, ret))
                        return true;
        }
        return false;
}

/* *@ret: index + 1. */
static int path_of(Owners *o, const char *path, size_t n, uint32_t *ret) {
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, path, n);
        const HashSlot *slot;
        int r;

        hash_each (slot, &o->paths_at, key) {
                const char *known = o->paths.items[slot->value - 1];

                *ret = (uint32_t) slot->value;
                if (strlen(known) == n && memcmp(known, path, n) == 0)
                        return 0;
        }
        r = strv_addn(&o->paths, path, n) ?: hash_add(&o->paths_at, key, o->paths.n);
        *ret = (uint32_t) o->paths.n;
        return MIN(r, 0);
}

static int load_line(Owners *o, const OwnerLine *l) {
        uint32_t path;
        int r = 0;

        if (l->kind == OWNER_HIERARCHY)
                o->hierarchy = l->id;
        else if (l->kind == OWNER_NAME)
                r = strv_addf(&o->names, "%s %.*s", l->container, (int) l->n_text, l->text);
        else
                r = path_of(o, l->text, l->n_text, &path);
        if (r < 0 || l->kind == OWNER_HIERARCHY || l->kind == OWNER_NAME)
                return r;
        if (l->kind == OWNER_CGROUP)
                return hash_set(&o->ids, l->id, path);
        return ARRAY_ADD(o->looks, o->n_looks,
                         (Look){ .pid = l->pid,
                                 .order = (uint32_t) o->n_looks,
                                 .at_ns = l->at_ns,
                                 .since_ns = l->since_ns,
                                 .whose = { l->tgid, l->uid, path, true } })
                       ? 0
                       : -ENOMEM;
}

static int compare_looks(const void *pa, const void *pb) {
        const Look *a = pa, *b = pb;

        return CMP(a->pid, b->pid) ?: CMP(a->at_ns, b->at_ns) ?: CMP(a->order, b->order);
}

int owners_load(Owners *o, const char *text) {
        OwnerLine l;
        int r = 0;

        free(TAKE_PTR(o->looks));
        o->n_looks = 0;
        hash_clear(&o->looks_at);
        strv_done(&o->names);
        while (r >= 0 && owner_line_next(&text, &l))
                r = load_line(o, &l);
        SORT(o->looks, o->n_looks, compare_looks);
        for (size_t i = 0; r >= 0 && i < o->n_looks; i++)
                if (i == 0 || o->looks[i - 1].pid != o->looks[i].pid)
                        r = hash_set(&o->looks_at, (uint64_t) o->looks[i].pid, i + 1);
        return MIN(r, 0);
}

/* --- events -------------------------------------------------------------------------------------- */

static EventOf find_event(const char *system, const char *name) {
        const char *end = strrchr(name, '_');
        EventOf i = 0;

        while (i < _EVENT_N &&
               !(events[i].name ? streq(name, events[i].name)
                                : startswith(name, "ftraced_") && end[1] == events[i].letter &&
                                          end[2] == '0' && end[3] == 0))
                i++;
        return i < _EVENT_N && (!system || streq(system, events[i].system)) ? i : _EVENT_N;
}

bool owners_take(const char *system, const char *name) {
        return find_event(system, name) < _EVENT_N;
}

/* "field:__data_loc char[] path;\toffset:24;...": where that says where the text is. */
static TracingField find_text(const char *format, const char *name) {
        char mark[64];
        const char *at;

        (void) snprintf(mark, sizeof(mark), "__data_loc char[] %s;\toffset:", name);
        at = strstr(format, mark);
        return at ? (TracingField){ .offset = (uint32_t) atoi(at + strlen(mark)), .size = 4 }
                  : (TracingField){};
}

int owners_add_event(Owners *o, const char *name, const char *format, bool is_asked) {
        EventOf what = find_event(NULL, name);
        const char *id = strstr(format, "\nID: ");
        Layout l = { .is_there = true, .is_asked = is_asked };
        uint64_t number;

        if (what == _EVENT_N || !id ||
            (id += strlen("\nID: "), !take_number(&id, UINT16_MAX, &number)))
                return FORMATS_E_INVALID;
        l.id = (uint16_t) number;
        for (size_t i = 0; i < FIELDS_MAX && events[what].fields[i]; i++) {
                l.fields[i] = tracing_find_field(format, events[what].fields[i]);
                if (l.fields[i].size == 0)
                        l.fields[i] = find_text(format, events[what].fields[i]);
                if ((l.fields[i].size != 4 && l.fields[i].size != 8) ||
                    l.fields[i].offset > RECORD_FIELDS_END)
                        return FORMATS_E_INVALID;
        }
        o->layouts[what] = l;
        return 0;
}

/* False: the record is too short. */
static bool number_of(const Owners *o, const Event *e, const TracingField *f, uint64_t *ret) {
        const uint8_t *p = e->payload;
        bool swap = needs_swap(o->formats->big_endian);

        if (!p || f->size == 0 || f->offset + f->size > e->n_bytes)
                return false;
        *ret = f->size == 8 ? load_u64(p + f->offset, swap) : load_u32(p + f->offset, swap);
        return true;
}

/* Of a field that says where the text is, and how long with its end.  NULL: it is not in the record. */
static const char *text_of(const Owners *o, const Event *e, const TracingField *f, size_t *ret_n) {
        uint64_t place;
        const char *text;

        if (f->size != 4 || !number_of(o, e, f, &place) ||
            (place & UINT16_MAX) + (place >> 16) > e->n_bytes)
                return NULL;
        text = (const char *) e->payload + (place & UINT16_MAX);
        *ret_n = strnlen(text, place >> 16);
        return *ret_n > 0 && *ret_n < OWNERS_PATH_MAX ? text : NULL;
}

static const Told *find_told(const Owners *o, int32_t pid) {
        uint64_t i = hash_get(&o->told_at, (uint64_t) pid);

        return i > 0 ? &o->told[i - 1] : NULL;
}

static int tell(Owners *o, int32_t pid, uint64_t at_ns, const Whose *whose) {
        uint64_t i = hash_get(&o->told_at, (uint64_t) pid);

        if (i == 0) {
                if (!ARRAY_GROW(o->told, o->n_told) ||
                    hash_add(&o->told_at, (uint64_t) pid, o->n_told + 1) < 0)
                        return -ENOMEM;
                i = ++o->n_told;
        }
        o->told[i - 1] = (Told){ pid, at_ns, *whose };
        return 0;
}

static bool is_same(const Whose *a, const Whose *b) {
        return a->tgid == b->tgid && a->uid == b->uid && a->path == b->path;
}

static Whose whose_of(const Owners *o, int32_t pid, uint64_t at_ns) {
        const Told *told = find_told(o, pid);
        size_t from = hash_get(&o->looks_at, (uint64_t) pid) ?: o->n_looks + 1,
               to = BISECT(from - 1, o->n_looks, i,
                           o->looks[i].pid == pid && o->looks[i].at_ns <= at_ns);
        const Look *before = to >= from ? &o->looks[to - 1] : NULL,
                   *behind = to < o->n_looks && o->looks[to].pid == pid ? &o->looks[to] : NULL;

        if (before && (!told || before->at_ns > told->at_ns))
                return o->is_partial && behind && behind->since_ns <= before->at_ns &&
                                       !is_same(&before->whose, &behind->whose)
                               ? (Whose){}
                               : before->whose;
        if (told && told->whose.is_known)
                return told->whose;
        return behind && behind->since_ns <= at_ns ? behind->whose : (Whose){};
}

/* The control group of one task, or of all of a process. */
static int move(Owners *o, int32_t pid, uint64_t at_ns, uint32_t path) {
        Whose whose = whose_of(o, pid, at_ns);
        size_t n_told = o->n_told;
        int r;

        if (!whose.is_known)
                return 0;
        for (size_t i = 0; whose.tgid == pid && i < o->n_looks + n_told; i++) {
                int32_t other = i < o->n_looks ? o->looks[i].pid : o->told[i - o->n_looks].pid;
                Whose w = whose_of(o, other, at_ns);

                if (!w.is_known || w.tgid != pid || w.path == path)
                        continue;
                w.path = path;
                r = tell(o, other, at_ns, &w);
                if (r < 0)
                        return r;
        }
        whose.path = path;
        return tell(o, pid, at_ns, &whose);
}

/* @v: of numbers. */
static int note_begin(Owners *o, const Event *e, const uint64_t v[static FIELDS_MAX]) {
        Whose w = { (int32_t) v[1], (uint32_t) v[2], (uint32_t) hash_get(&o->ids, v[3]), true };

        if (o->hierarchy !=
            0) /* it stays where who made it is: only cgroup2 has CLONE_INTO_CGROUP */
                w.path = whose_of(o, e->pid, e->timestamp_ns).path;
        return tell(o, (int32_t) v[0], e->timestamp_ns, &w);
}

static int note_user(Owners *o, const Event *e, const uint64_t v[static FIELDS_MAX]) {
        Whose w = whose_of(o, e->pid, e->timestamp_ns);

        if (!w.is_known || w.uid == (uint32_t) v[0])
                return 0;
        w.uid = (uint32_t) v[0];
        return tell(o, e->pid, e->timestamp_ns, &w);
}

int owners_note(Owners *o, const Event *e) {
        uint64_t v[FIELDS_MAX] = {};
        const char *text = NULL;
        uint32_t path = 0;
        EventOf what = 0;
        size_t n = 0;
        int r = 0, passed;

        while (what < _EVENT_N && !(o->layouts[what].is_there && o->layouts[what].id == e->id))
                what++;
        if (what == _EVENT_N)
                return 0;
        passed = o->layouts[what].is_asked ? OWNERS_ASKED : 1;
        for (size_t i = 0; i < FIELDS_MAX && events[what].fields[i]; i++)
                if (!number_of(o, e, &o->layouts[what].fields[i], &v[i]))
                        return passed;
        if (what == MOVES || what == GROUP) {
                text = text_of(o, e, &o->layouts[what].fields[2], &n);
                if (!text || v[1] != o->hierarchy)
                        return passed;
                r = path_of(o, text, n, &path);
        }
        if (r < 0)
                return r;
        switch (what) {
        case BEGINS:
                r = note_begin(o, e, v);
                break;
        case USER:
                r = note_user(o, e, v);
                break;
        case MOVES:
                r = move(o, (int32_t) v[0], e->timestamp_ns, path);
                break;
        case GROUP:
                r = hash_set(&o->ids, v[0], path);
                break;
        default: /* the probe, if there is one, tells the same better, and later */
                r = tell(o, (int32_t) v[0], e->timestamp_ns, &(Whose){});
        }
        return r ?: passed;
}

/* --- what it stands for -------------------------------------------------------------------------- */

/* As a runtime calls it, or cut; @id: as it is in the path. */
static void name_container(const Owners *o, const char *id, char ret[static CGROUP_WORD_MAX]) {
        const char *name = NULL;

        for (size_t i = 0; i < o->names.n && !name; i++)
                if (startswith(o->names.items[i], id))
                        name = o->names.items[i] + CONTAINER_ID_CHARS + 1;
        if (container_is_id(id))
                (void) snprintf(ret, CGROUP_WORD_MAX, "%.*s", name ? CGROUP_WORD_MAX - 1 : SHORT_ID,
                                name ?: id);
        else
                strcpy(ret, id);
}

static const Owner *make_owner(Owners *o, uint64_t key, const Whose *w) {
        Interned *i;

        if (!ARRAY_GROW(o->owners, o->n_owners) || !(i = calloc(1, sizeof(*i))))
                return NULL;
        o->owners[o->n_owners++] = i;
        i->whose = *w;
        i->owner = (Owner){ -1,
                            OWNER_UNKNOWN,
                            OWNER_UNKNOWN,
                            OWNER_UNKNOWN,
                            OWNER_UNKNOWN,
                            OWNER_UNKNOWN,
                            OWNER_UNKNOWN };
        if (w->is_known) {
                (void) snprintf(i->process, sizeof(i->process), "%s-%d",
                                tasks_comm(o->tasks, w->tgid), w->tgid);
                i->owner.tgid = w->tgid;
                i->owner.process = i->process;
                i->owner.user = format_user(i->user, w->uid);
        }
        if (w->path > 0) {
                i->owner.cgroup = o->paths.items[w->path - 1];
                cgroup_words(i->owner.cgroup, &i->words);
                name_container(o, i->words.container, i->container);
                i->owner.unit = i->words.unit;
                i->owner.container = i->container;
                i->owner.pod = i->words.pod;
        }
        return hash_add(&o->owners_at, key, o->n_owners) < 0 ? NULL : &i->owner;
}

const char *owner_word(const Owner *o, OwnerWord word) {
        const char *words[_OWNER_WORD_N] = {};

        if (o) {
                words[OWNER_UNIT] = o->unit;
                words[OWNER_CONTAINER] = o->container;
                words[OWNER_PROCESS] = o->process;
                words[OWNER_USER] = o->user;
        }
        return words[word];
}

const Owner *owners_of(Owners *o, int32_t pid, uint64_t timestamp_ns) {
        Whose w = pid == 0 ? (Whose){ .is_known = true } : whose_of(o, pid, timestamp_ns);
        const HashSlot *slot;
        uint64_t key;

        if (pid == 0 && path_of(o, "/", 1, &w.path) < 0)
                return NULL;
        key = hash_mix((uint64_t) (uint32_t) w.tgid << 32 | w.uid) ^
              hash_mix((uint64_t) w.path << 1 | w.is_known);
        hash_each (slot, &o->owners_at, key) {
                Interned *i = o->owners[slot->value - 1];

                if (is_same(&i->whose, &w) && i->whose.is_known == w.is_known)
                        return &i->owner;
        }
        return make_owner(o, key, &w);
}

Owners *owners_free(Owners *o) {
        if (!o)
                return NULL;
        for (size_t i = 0; i < o->n_owners; i++)
                free(o->owners[i]);
        free(o->owners);
        free(o->looks);
        free(o->told);
        strv_done(&o->paths);
        strv_done(&o->names);
        hash_done(&o->looks_at);
        hash_done(&o->told_at);
        hash_done(&o->paths_at);
        hash_done(&o->ids);
        hash_done(&o->owners_at);
        return mfree(o);
}
