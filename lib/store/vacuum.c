/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A session that cannot be read is not an item: nobody knows what it is, so it is left alone. */

#include <sys/statvfs.h>

#include "base/now.h"
#include "store/footprint.h"
#include "store/vacuum.h"

static void item_done(VacuumItem *i) {
        free(i->name);
        free(i->foreign);
        *i = (VacuumItem){};
}

void vacuum_done(Vacuum *v) {
        for (size_t i = 0; i < v->n; i++)
                item_done(&v->items[i]);
        free(v->items);
        *v = (Vacuum){};
}

int vacuum_add(Vacuum *v, const VacuumItem *item) {
        VacuumItem *items = v->items;

        if (v->n == v->n_room) {
                size_t n_room = MAX(v->n_room * 2, (size_t) 16);

                items = reallocarray(items, n_room, sizeof(*items));
                if (!items)
                        return -ENOMEM;
                v->items = items;
                v->n_room = n_room;
        }
        items[v->n] = *item;
        items[v->n].name = strdup(item->name);
        if (!items[v->n].name)
                return -ENOMEM;
        v->n++;
        return 0;
}

/* What cannot be read is no item. */
static int add_from(Vacuum *v, const Store *store, const char *name) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(session_dir_freep) SessionDir *d = NULL;
        int r;

        if (store_open_session(store, name, &d) < 0)
                return 0;
        r = session_dir_read_meta(d, &m);
        if (r != 0)
                return r == -ENOMEM ? r : 0;
        return vacuum_add(
                v, &(VacuumItem){
                           .name = (char *) name,
                           .n_bytes = footprint_measure(d).n_bytes,
                           .ended_ns = m->stop.realtime_ns ?: m->start.realtime_ns,
                           .is_live = m->state == SESSION_NEW || session_state_is_live(m->state),
                           .keep = m->pinned ? KEEP_PINNED : KEEP_NOT,
                   });
}

static int list(Vacuum *v, const Store *store) {
        _cleanup_strv_ Strv names = {};
        int r;

        r = store_list(store, &names);
        for (size_t i = 0; r >= 0 && i < names.n; i++)
                r = add_from(v, store, names.items[i]);
        return r;
}

int vacuum_decide(Vacuum *v, const Store *store, const RetainLimits *limits) {
        _cleanup_free_ RetainItem *items = calloc(v->n + 1, sizeof(*items));
        _cleanup_free_ RetainVerdict *verdicts = calloc(v->n + 1, sizeof(*verdicts));
        struct statvfs fs;
        int r;

        if (!items || !verdicts)
                return -ENOMEM;
        if (fstatvfs(store_fd(store), &fs) < 0)
                return -errno;
        for (size_t i = 0; i < v->n; i++)
                items[i] = (RetainItem){
                        .n_bytes = v->items[i].n_bytes,
                        .ended_ns = v->items[i].ended_ns,
                        .is_live = v->items[i].is_live,
                        .must_stay = v->items[i].keep != KEEP_NOT,
                };
        r = retain_decide(verdicts, items, v->n, limits, now_ns(CLOCK_REALTIME),
                          (uint64_t) fs.f_bavail * fs.f_frsize);
        if (r < 0)
                return r;
        v->i_next = 0;
        for (size_t i = 0; i < v->n; i++)
                v->items[i].verdict = verdicts[i];
        return 0;
}

VacuumItem *vacuum_next(Vacuum *v) {
        for (; v->i_next < v->n; v->i_next++) {
                VacuumItem *item = &v->items[v->i_next];

                if (item->verdict != RETAIN_KEEP && !item->is_looked_at)
                        return item;
        }
        return NULL;
}

VacuumProgress vacuum_progress_of(const Vacuum *v) {
        VacuumProgress p = {};

        for (size_t i = 0; i < v->n; i++)
                if (v->items[i].verdict != RETAIN_KEEP) {
                        p.n_total++;
                        p.total_bytes += v->items[i].n_bytes;
                }
        return p;
}

void vacuum_went(Vacuum *v, VacuumItem *item, int r) {
        item->error = r;
        if (r == 0)
                v->freed_bytes += item->n_bytes;
}

/* Looks at all that would go until nothing is new.  One that cannot be looked at is left alone. */
static int look_at_chosen(Vacuum *v, const Store *store, const RetainLimits *limits) {
        VacuumItem *item;
        int r = vacuum_decide(v, store, limits);

        while (r >= 0 && (item = vacuum_next(v))) {
                for (; item; item = vacuum_next(v)) {
                        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
                        _cleanup_(session_dir_freep) SessionDir *d = NULL;

                        r = store_open_session(store, item->name, &d);
                        if (r == 0)
                                r = session_dir_read_meta(d, &m);
                        if (r == 0)
                                r = keep_look(d, m, &item->foreign);
                        if (r == -ENOMEM)
                                return r;
                        item->keep = r < 0 ? KEEP_IN_USE : (Keep) r;
                        item->is_looked_at = true;
                }
                r = vacuum_decide(v, store, limits);
        }
        return MIN(r, 0);
}

int vacuum_run(Vacuum *ret, const Store *store, const RetainLimits *limits,
               const VacuumWork *work) {
        _cleanup_vacuum_ Vacuum v = {};
        VacuumProgress p;
        int r;

        r = list(&v, store);
        if (r >= 0)
                r = look_at_chosen(&v, store, limits);
        if (r < 0)
                return r;
        p = vacuum_progress_of(&v);
        for (size_t i = 0; i < v.n; i++) {
                VacuumItem *item = &v.items[i];

                if (item->verdict == RETAIN_KEEP)
                        continue;
                if (work->tell)
                        work->tell(&p, work->userdata);
                vacuum_went(&v, item,
                            work->remove ? MIN(work->remove(item->name, work->userdata), 0) : 0);
                p.n_done++;
                p.done_bytes += item->n_bytes;
        }
        if (work->tell)
                work->tell(&p, work->userdata);
        *ret = TAKE(v, (Vacuum){});
        return 0;
}

uint64_t vacuum_next_ns(const Vacuum *v, uint64_t max_age_ns) {
        uint64_t next_ns = UINT64_MAX;

        for (size_t i = 0; max_age_ns > 0 && i < v->n; i++) {
                const VacuumItem *item = &v->items[i];

                if (!item->is_live && item->keep == KEEP_NOT && item->verdict == RETAIN_KEEP &&
                    item->ended_ns <= UINT64_MAX - max_age_ns)
                        next_ns = MIN(next_ns, item->ended_ns + max_age_ns);
        }
        return next_ns;
}

const char *vacuum_item_reason(const VacuumItem *i) {
        static const char *const reasons[] = {
                [KEEP_PINNED] = "it is pinned",
                [KEEP_IN_USE] = "somebody reads it",
                [KEEP_FOREIGN] = "it holds a file that ftraced did not make",
        };

        if (i->error < 0)
                return strerror(-i->error);
        if (i->verdict != RETAIN_KEEP)
                return retain_verdict_text(i->verdict);
        if (i->is_live)
                return "it records";
        return i->keep == KEEP_NOT ? NULL : reasons[i->keep];
}

static json_t *item_to_json(const VacuumItem *i) {
        json_t *o = json_pack("{s:s, s:I}", "name", i->name, "n_bytes", (json_int_t) i->n_bytes);
        const char *reason = vacuum_item_reason(i);

        if (o && reason && json_object_set_new(o, "reason", json_string(reason)) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

json_t *vacuum_to_json(const Vacuum *v) {
        json_t *removed = json_array(), *kept = json_array();
        int r = 0;

        for (size_t i = 0; r == 0 && i < v->n; i++) {
                const VacuumItem *item = &v->items[i];
                bool is_gone = item->verdict != RETAIN_KEEP && item->error == 0;

                r = json_array_append_new(is_gone ? removed : kept, item_to_json(item));
        }
        if (r < 0) {
                json_decref(removed);
                json_decref(kept);
                return NULL;
        }
        return json_pack("{s:o, s:o, s:I}", "removed", removed, "kept", kept, "freed_bytes",
                         (json_int_t) v->freed_bytes);
}
