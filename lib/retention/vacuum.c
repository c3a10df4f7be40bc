/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A directory without a session.json is not an item: nobody knows what it is, so it is left alone. */

#include <sys/statvfs.h>

#include "base/array.h"
#include "base/io.h"
#include "base/unit.h"
#include "retention/vacuum.h"

static const char *const verdict_texts[_RETAIN_VERDICT_N] = {
        [RETAIN_KEEP] = "kept",
        [RETAIN_TOO_OLD] = "it ended too long ago",
        [RETAIN_TOO_MANY] = "there are too many",
        [RETAIN_OVER_USE] = "all together take too much",
        [RETAIN_OVER_FREE] = "too little is free",
};

void vacuum_done(Vacuum *v) {
        for (size_t i = 0; i < v->n; i++) {
                free(v->items[i].name);
                free(v->items[i].foreign);
        }
        free(v->items);
        *v = (Vacuum){};
}

int vacuum_add(Vacuum *v, const RetainItem *item) {
        RetainItem copy = *item;

        copy.name = strdup(item->name);
        if (copy.name && ARRAY_ADD(v->items, v->n, copy))
                return 0;
        free(copy.name);
        return -ENOMEM;
}

RetainLimits vacuum_limits(const Limits *l) {
        return (RetainLimits){
                .max_use_bytes = l->max_use_bytes,
                .keep_free_bytes = l->keep_free_bytes,
                .max_age_ns = l->max_retention_ns,
                .min_age_ns = l->min_retention_ns,
                .keep_newest = true,
        };
}

int vacuum_add_session(Vacuum *v, const SessionMeta *m, uint64_t n_bytes) {
        return vacuum_add(
                v, &(RetainItem){
                           .name = m->name,
                           .n_bytes = n_bytes,
                           .kept_ns = session_meta_kept_ns(m),
                           .is_live = m->state == SESSION_NEW || session_state_is_live(m->state),
                           .keep = m->pinned                   ? KEEP_PINNED
                                   : !session_meta_is_known(m) ? KEEP_UNKNOWN
                                                               : KEEP_NOT,
                   });
}

static int measure(const Vacuum *v, const Store *store, uint64_t *ret_used, uint64_t *ret_free) {
        struct statvfs fs;

        if (fstatvfs(store_fd(store), &fs) < 0)
                return ORIGIN(-errno);
        *ret_free = (uint64_t) fs.f_bavail * fs.f_frsize;
        *ret_used = 0;
        for (size_t i = 0; i < v->n; i++)
                *ret_used += MIN(v->items[i].n_bytes, UINT64_MAX - *ret_used);
        return 0;
}

RetainLimits vacuum_limits_now(const RetainLimits *limits, const Store *store) {
        RetainLimits l = *limits;

        if (l.max_age_ns > 0 && boot_clock_was_set(store_fd(store))) {
                l.min_age_ns = MIN(l.min_age_ns, l.max_age_ns);
                l.max_age_ns = 0;
        }
        return l;
}

int vacuum_decide(Vacuum *v, const Store *store, const RetainLimits *limits) {
        RetainLimits l = vacuum_limits_now(limits, store);
        uint64_t now = now_ns(CLOCK_REALTIME);
        int r = measure(v, store, &v->used_bytes, &v->free_bytes)
                        ?: retain_decide(v->items, v->n, &l, now, v->free_bytes);

        if (r < 0)
                return r;
        v->i_next = 0;
        for (size_t i = 0; i < v->n; i++) {
                RetainItem *item = &v->items[i];
                uint64_t stays_ns = retain_stays_until(item, &l, now);

                item->stays_ns = stays_ns > now ? stays_ns : 0;
                item->is_age_unsure = l.max_age_ns == 0 && retain_goes_at(item, limits, now) < now;
        }
        return 0;
}

RetainItem *vacuum_next(Vacuum *v) {
        for (; v->i_next < v->n; v->i_next++) {
                RetainItem *item = &v->items[v->i_next];

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

void vacuum_went(Vacuum *v, RetainItem *item, int r) {
        item->error = r;
        if (r == 0)
                v->freed_bytes += item->n_bytes;
}

uint64_t vacuum_next_ns(const Vacuum *v, const RetainLimits *limits) {
        uint64_t next_ns = UINT64_MAX, now = now_ns(CLOCK_REALTIME);

        for (size_t i = 0; i < v->n; i++) {
                const RetainItem *item = &v->items[i];
                RetainItem one = { .kept_ns = item->kept_ns };

                if (item->is_live || item->keep != KEEP_NOT || item->verdict != RETAIN_KEEP)
                        continue;
                if (!item->is_age_unsure)
                        next_ns = MIN(next_ns, retain_goes_at(&one, limits, now));
                if (item->stays_ns > 0 &&
                    (limits->max_use_bytes > 0 || limits->keep_free_bytes > 0))
                        next_ns = MIN(next_ns, item->stays_ns);
        }
        return next_ns;
}

/* What would go if nothing stayed for its age, and all took what they may. */
static int foresee_verdicts(const Outlook *o, RetainItem *items, size_t n, uint64_t now) {
        RetainLimits l = o->limits;

        l.min_age_ns = 0;
        if (l.max_use_bytes > 0)
                l.max_use_bytes -= MIN(o->growth_bytes, l.max_use_bytes - 1);
        if (l.keep_free_bytes > 0)
                l.keep_free_bytes += MIN(o->growth_bytes, UINT64_MAX - l.keep_free_bytes);
        return retain_decide(items, n, &l, now, o->free_bytes);
}

/* Takes the verdicts back of those that are named. */
static int name_next(Outlook *o, RetainItem *items, size_t n, uint64_t now) {
        size_t next = retain_next(items, n, &o->limits);
        uint64_t stays_ns, at_ns;
        int r = 0;

        if (next == n)
                return 0;
        o->next = strdup(items[next].name);
        if (!o->next)
                return -ENOMEM;
        o->next_bytes = items[next].n_bytes;
        o->why = items[next].verdict;
        stays_ns = retain_stays_until(&items[next], &o->limits, now);
        at_ns = retain_goes_at(&items[next], &o->limits, now);
        o->not_before_ns = stays_ns > now ? MIN(stays_ns, (uint64_t) INT64_MAX) : 0;
        o->at_ns = at_ns < UINT64_MAX ? MIN(at_ns, (uint64_t) INT64_MAX) : 0;
        for (size_t i = 0; i < n; i++)
                o->n_going += items[i].verdict != RETAIN_KEEP;
        while (r >= 0 && o->going.n < MIN(o->n_going, (uint64_t) OUTLOOK_NAMES)) {
                r = strv_add(&o->going, items[next].name);
                items[next].verdict = RETAIN_KEEP;
                next = retain_next(items, n, &o->limits);
        }
        return r;
}

int vacuum_foresee(Outlook *ret, const Vacuum *v, const Store *store, const RetainLimits *limits) {
        _cleanup_free_ RetainItem *items = malloc((v->n + 1) * sizeof(*items)); /* a copy */
        _cleanup_outlook_ Outlook o = { .limits = vacuum_limits_now(limits, store) };
        uint64_t now = now_ns(CLOCK_REALTIME);
        int r;

        if (!items)
                return -ENOMEM;
        for (size_t i = 0; i < v->n; i++) {
                items[i] = v->items[i];
                o.growth_bytes += MIN(items[i].growth_bytes, UINT64_MAX - o.growth_bytes);
        }
        r = measure(v, store, &o.used_bytes, &o.free_bytes)
                    ?: retain_decide(items, v->n, &o.limits, now, o.free_bytes);
        if (r < 0)
                return r;
        o.is_full = retain_is_full(&o.limits, o.used_bytes, o.free_bytes);
        for (size_t i = 0; i < v->n; i++)
                o.is_full = o.is_full && items[i].verdict == RETAIN_KEEP;
        r = foresee_verdicts(&o, items, v->n, now) ?: name_next(&o, items, v->n, now);
        if (r < 0)
                return r;
        *ret = TAKE(o, (Outlook){});
        return 0;
}

int vacuum_describe_verdict(char **ret, const Vacuum *v, const RetainItem *i,
                            const RetainLimits *limits) {
        switch (i->verdict) {
        case RETAIN_TOO_OLD:
                return text_format(ret, "it was kept longer than %s ago (MaxRetentionSec=)",
                                   FORMAT_DURATION(limits->max_age_ns));
        case RETAIN_OVER_USE:
                return text_format(ret, "all recordings together took %s, of %s (MaxUse=)",
                                   FORMAT_BYTES(v->used_bytes),
                                   FORMAT_BYTES(limits->max_use_bytes));
        case RETAIN_OVER_FREE:
                return text_format(ret, "%s of the disk was free, and %s should be (KeepFree=)",
                                   FORMAT_BYTES(v->free_bytes),
                                   FORMAT_BYTES(limits->keep_free_bytes));
        default:
                return text_format(ret, "%s", verdict_texts[i->verdict]);
        }
}

const char *vacuum_item_reason(const RetainItem *i) {
        static const char *const reasons[] = {
                [KEEP_PINNED] = "it is pinned",
                [KEEP_IN_USE] = "somebody reads it",
                [KEEP_FOREIGN] = "it holds a file that ftraced did not make",
                [KEEP_UNKNOWN] = "this ftraced cannot read its session.json",
        };

        if (i->error < 0)
                return strerror(-i->error);
        if (i->verdict != RETAIN_KEEP)
                return verdict_texts[i->verdict];
        if (i->is_live)
                return "it records";
        if (i->keep == KEEP_NOT && i->stays_ns > 0)
                return "it was kept a short while ago (MinRetentionSec=)";
        if (i->keep == KEEP_NOT && i->is_age_unsure)
                return "the clock was set by more than a day: nothing goes for its age until the "
                       "host boots";
        return i->keep == KEEP_NOT ? NULL : reasons[i->keep];
}

static json_t *item_to_json(const RetainItem *i) {
        return json_pack("{s:s, s:I, s:s*}", "name", i->name, "n_bytes", (json_int_t) i->n_bytes,
                         "reason", vacuum_item_reason(i));
}

json_t *vacuum_to_json(const Vacuum *v) {
        json_auto_t *removed = json_array(), *kept = json_array();

        for (size_t i = 0; i < v->n; i++) {
                const RetainItem *item = &v->items[i];
                bool is_gone = item->verdict != RETAIN_KEEP && item->error == 0;

                if (json_array_append_new(is_gone ? removed : kept, item_to_json(item)) < 0)
                        return NULL;
        }
        return json_pack("{s:O, s:O, s:I}", "removed", removed, "kept", kept, "freed_bytes",
                         (json_int_t) v->freed_bytes);
}
