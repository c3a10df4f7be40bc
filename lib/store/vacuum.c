/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A session that cannot be read is not an item: nobody knows what it is, so it is left alone. */

#include <sys/statvfs.h>

#include "base/now.h"
#include "store/periods.h"
#include "store/vacuum.h"

uint64_t session_dir_n_bytes(const SessionDir *d) {
        _cleanup_free_ Period *periods = NULL;
        uint64_t n_bytes = 0;
        size_t n = 0;

        if (periods_list(d, &periods, &n) < 0)
                return 0;
        for (size_t i = 0; i < n; i++)
                n_bytes += periods[i].n_bytes;
        return n_bytes;
}

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

/* 1 if it is an item, 0 if it cannot be read, -ENOMEM. */
static int look_at(VacuumItem *ret, const Store *store, const char *name) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(session_dir_freep) SessionDir *d = NULL;
        int r;

        if (store_open_session(store, name, &d) < 0)
                return 0;
        r = session_dir_read_meta(d, &m);
        if (r != 0)
                return r == -ENOMEM ? r : 0;
        *ret = (VacuumItem){
                .name = strdup(name),
                .n_bytes = session_dir_n_bytes(d),
                .ended_ns = m->stop.realtime_ns ?: m->start.realtime_ns,
                .is_live = m->state == SESSION_NEW || session_state_is_live(m->state),
        };
        if (!ret->name)
                return -ENOMEM;
        r = ret->is_live ? KEEP_NOT : keep_look(d, m, &ret->foreign);
        if (r < 0) {
                item_done(ret);
                return r == -ENOMEM ? r : 0;
        }
        ret->keep = (Keep) r;
        return 1;
}

static int list(Vacuum *v, const Store *store) {
        _cleanup_strv_ Strv names = {};
        int r;

        r = store_list(store, &names);
        if (r < 0)
                return r;
        v->items = calloc(names.n + 1, sizeof(*v->items));
        if (!v->items)
                return -ENOMEM;
        for (size_t i = 0; i < names.n; i++) {
                r = look_at(&v->items[v->n], store, names.items[i]);
                if (r < 0)
                        return r;
                v->n += (size_t) r;
        }
        return 0;
}

static int decide(Vacuum *v, const Store *store, const RetainLimits *limits) {
        _cleanup_free_ RetainItem *items = calloc(v->n + 1, sizeof(*items));
        _cleanup_free_ RetainVerdict *verdicts = calloc(v->n + 1, sizeof(*verdicts));
        struct statvfs fs;

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
        retain_decide(verdicts, items, v->n, limits, now_ns(CLOCK_REALTIME),
                      (uint64_t) fs.f_bavail * fs.f_frsize);
        for (size_t i = 0; i < v->n; i++)
                v->items[i].verdict = verdicts[i];
        return 0;
}

int vacuum_run(Vacuum *ret, const Store *store, const RetainLimits *limits, VacuumRemove remove,
               void *userdata) {
        _cleanup_vacuum_ Vacuum v = {};
        int r;

        r = list(&v, store);
        if (r >= 0)
                r = decide(&v, store, limits);
        if (r < 0)
                return r;
        for (size_t i = 0; i < v.n; i++) {
                VacuumItem *item = &v.items[i];

                if (item->verdict == RETAIN_KEEP)
                        continue;
                if (remove)
                        item->error = MIN(remove(item->name, userdata), 0);
                if (item->error == 0)
                        v.freed_bytes += item->n_bytes;
        }
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
