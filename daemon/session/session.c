/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a session tells of itself, and what others may ask of it. */

#include "base/io.h"
#include "base/log.h"
#include "daemon/session/session-private.h"
#include "meta/brief.h"
#include "retention/vacuum.h"

#define TASKS_GAP_FACTOR 10 /* between two copies of their names: of what one takes */

/* --- while it records ------------------------------------------------------------------------ */

void session_refresh(Session *s) {
        if (!s->health)
                return;
        if (s->meta->state == SESSION_RECORDING)
                session_look_at_modules_soon(s);
        if (health_refresh(s->health) || !s->is_saved)
                session_save(s);
}

bool session_add_neighbour(Session *s, const char *name) {
        if (!session_is_live(s) || s->sync.is_syncing || strv_contains(&s->meta->neighbours, name) ||
            strv_add(&s->meta->neighbours, name) < 0)
                return false;
        session_save(s);
        return true;
}

void session_drop_neighbour(Session *s, const char *name) {
        Strv *list = &s->meta->neighbours;

        for (size_t i = 0; i < list->n; i++)
                if (streq(list->items[i], name)) {
                        free(list->items[i]);
                        list->items[i] = list->items[--list->n];
                        session_save(s);
                        return;
                }
}

void session_set_watched(Session *s, bool watched) {
        if (s->recorder)
                recorder_set_watched(s->recorder, watched);
}

void session_save_tasks(Session *s) {
        uint64_t from_ns = now_ns(CLOCK_MONOTONIC), until_ns;
        const char *path;
        int r;

        if (!s->tracer || s->meta->state != SESSION_RECORDING || from_ns < s->next_tasks_ns ||
            tracer_is_held_up(s->tracer))
                return;
        r = tracing_copy_end(s->dir, s->tracer, s->meta->spec.black_box, &path);
        until_ns = now_ns(CLOCK_MONOTONIC);
        s->next_tasks_ns = until_ns + TASKS_GAP_FACTOR * (until_ns - from_ns);
        if (r < 0)
                log_debug("session", "%s: copying tracing file %s failed: %s", s->meta->name, path,
                          origin_text(r));
}

/* Asked again as long as it records. */
void session_look_at_silence(Session *s) {
        _cleanup_strv_ Strv found = {};
        int r;

        free(TAKE_PTR(s->meta->silence));
        if (!s->tracer || tracer_is_held_up(s->tracer) || !silence_is_total(s->meta) ||
            instance_n_waiting(tracer_instance(s->tracer)) > 0)
                return;
        r = tracer_find_silence(s->tracer, s->meta, &found)
                    ?: silence_explain(&s->meta->silence, s->meta, &found);
        if (r < 0)
                log_debug("session", "%s: why it is silent is not known: %s", s->meta->name,
                          origin_text(r));
}

bool session_yield(Session *s) {
        if (!s->rotation || rotation_make_room(s->rotation) == 0)
                return false;
        session_save(s);
        return true;
}

bool session_is_leaving(const Session *s) {
        return s->is_leaving;
}

bool session_is_hung(const Session *s) {
        return s->health && health_is_hung(s->health);
}

uint64_t session_peer(const Session *s) {
        return s->peer;
}

/* --- what it tells --------------------------------------------------------------------------- */

/* Of one that has ended: until when nothing but a request removes it, and when it is too old. */
static int add_stay(json_t *o, const Session *s) {
        const SessionMeta *m = s->meta;
        RetainItem item = { .kept_ns = session_meta_kept_ns(m) };
        uint64_t now = now_ns(CLOCK_REALTIME), stays_ns, goes_ns;
        RetainLimits l;
        int r = 0;

        if (!s->context->limits || session_is_live(s) || m->pinned)
                return 0;
        l = vacuum_limits(s->context->limits);
        l = vacuum_limits_now(&l, s->context->store);
        stays_ns = MIN(retain_stays_until(&item, &l, now), (uint64_t) INT64_MAX);
        goes_ns = retain_goes_at(&item, &l, now);
        if (stays_ns > now)
                r = json_object_set_new(o, "stays_until_ns", json_integer((json_int_t) stays_ns));
        if (r >= 0 && goes_ns > now && goes_ns < UINT64_MAX)
                r = json_object_set_new(
                        o, "goes_at_ns",
                        json_integer((json_int_t) MIN(goes_ns, (uint64_t) INT64_MAX)));
        return r;
}

/* What a live session has cost so far: Cost of org.ftraced.varlink. */
static int add_cost(json_t *o, const Session *s) {
        uint64_t cpu_ns;

        if (!s->rotation || !s->tracer || !s->recorder || !s->health)
                return 0;
        cpu_ns = recorder_cpu_ns(s->recorder) + health_cpu_ns(s->health);
        return json_object_set_new(
                o, "cost",
                json_pack("{s:I, s:I, s:I}", "cpu_ns", (json_int_t) cpu_ns, "unread_events",
                          (json_int_t) instance_n_waiting(tracer_instance(s->tracer)), "segments",
                          (json_int_t) rotation_look_at_segments(s->rotation).n));
}

static json_t *to_json(Session *s) {
        json_t *o = session_meta_to_json(s->meta);

        if (!o || (json_object_set_new(o, "disk_bytes",
                                       json_integer((json_int_t) session_disk_bytes(s))) >= 0 &&
                   add_stay(o, s) >= 0 && add_cost(o, s) >= 0))
                return o;
        json_decref(o);
        return NULL;
}

json_t *session_to_json(Session *s) {
        session_refresh(s);
        if (s->health)
                free(TAKE_PTR(s->meta->silence));
        return to_json(s);
}

json_t *session_explain(Session *s) {
        session_refresh(s);
        if (s->health)
                session_look_at_silence(s);
        return to_json(s);
}

/* --- when it has ended ------------------------------------------------------------------------ */

int session_set_pinned(Session *s, bool pinned) {
        bool was_pinned = TAKE(s->meta->pinned, pinned);
        int r = session_write_meta(s);

        if (r < 0)
                s->meta->pinned = was_pinned;
        return r;
}

int session_look_keep(Session *s, char **ret_foreign) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        int r = store_open_session(s->context->store, s->meta->name, &dir);

        if (r == -ENOENT)
                return KEEP_NOT; /* gone already */
        return r ?: keep_look(dir, s->meta, ret_foreign);
}

bool session_is_held(const Session *s) {
        return s->lean.learning_pass || (s->sync.syncer && s->sync.is_syncing);
}

void session_keep_awake(Session *s, bool awake) {
        s->n_users = awake ? s->n_users + 1 : s->n_users - 1;
}

bool session_may_rest(const Session *s) {
        return !session_is_live(s) && s->meta->state != SESSION_NEW && s->n_users == 0 &&
               s->is_saved && !s->dir && !s->recorder && !s->tracer && !s->health &&
               s->triggers.n == 0 && !s->snapshot && !session_hooks_are_changing(s) &&
               !session_is_held(s) && !s->is_leaving;
}

int session_rest(Session *s, SessionRest *ret) {
        _cleanup_brief_ Brief brief = {};
        int r = brief_of_meta(&brief, s->meta, session_disk_bytes(s));

        if (r < 0)
                return r;
        *ret = (SessionRest){ .footprint = s->footprint,
                              .kept_ns = session_meta_kept_ns(s->meta),
                              .brief = TAKE(brief, (Brief){}) };
        return 0;
}

void session_rest_done(SessionRest *rest) {
        brief_done(&rest->brief);
        *rest = (SessionRest){};
}

void session_rest_sealed(SessionRest *rest, uint64_t n_before, uint64_t n_bytes) {
        footprint_replace(&rest->footprint, n_before, n_bytes);
        rest->brief.disk_bytes = rest->footprint.n_bytes;
}
