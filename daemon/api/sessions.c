/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What concerns those that record, which are few, is a walk over an array of those that are awake; what concerns
 * all is a walk over the roster, through memory only.  How they get there: sessions-survey.c.
 */

#include <ctype.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/log.h"
#include "base/name.h"
#include "base/typo.h"
#include "base/unit.h"
#include "daemon/api/allowance.h"
#include "daemon/api/sessions-private.h"
#include "daemon/symbols/kernel-symbols.h"
#include "daemon/watch/guard.h"
#include "store/removed.h"

#define NAME_STEM_MAX 48 /* characters of a generated name before the -XXXX */
#define NAME_TRIES 64
#define NEAR_PERCENT 80 /* of a limit is worth a word of doctor's */

static void sessions_on_change(Session *session, void *userdata) {
        Sessions *s = userdata;

        if (s->changed)
                s->changed(session, s->userdata);
}

static int sessions_add_symbols(Strv *ret, void *userdata) {
        const Sessions *s = userdata;
        /* One that is about to be has its symbols already, and a task may be storing some. */
        int r = !sessions_are_known(s, NULL, NULL)                            ? REMOVAL_E_LATER
                : s->n_unreadable > 0                                         ? STORE_E_UNKNOWN
                : s->is_starting || background_is_busy(s->context.background) ? REMOVAL_E_LATER
                                                                              : 0;

        for (size_t i = 0; r == 0 && i < s->n; i++)
                r = store_add_symbols_in_use(ret, session_meta(s->items[i]));
        return r == 0 ? roster_add_symbols(s->roster, ret) : r;
}

static int sessions_on_found(const char *name, Session **ret, void *userdata) {
        Sessions *s = userdata;
        _cleanup_(session_freep) Session *one = NULL;
        int r;

        r = session_load(&one, &s->context, name); /* others may come and go meanwhile */
        if (r == 0)
                r = sessions_make_room(s);
        if (r == 0)
                r = sessions_add(s, one);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        *ret = TAKE_PTR(one);
        sessions_on_change(*ret, s);
        return 0;
}

int sessions_new(Sessions **ret, sd_event *event, Background *background, Background *sweeper,
                 Controller *controller, Store *store, FdStore *fdstore) {
        _cleanup_(sessions_freep) Sessions *s = NULL;
        int r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        r = roster_new(&s->roster);
        if (r >= 0)
                r = kernel_symbols_new(&s->symbols, "/proc");
        if (r >= 0)
                r = removal_new(&s->removal, event, sweeper, store, sessions_add_symbols, s);
        if (r < 0)
                return r;
        s->context = (SessionContext){
                .event = event,
                .background = background,
                .controller = controller,
                .store = store,
                .symbols = s->symbols,
                .fdstore = fdstore,
                .changed = sessions_on_change,
                .found = sessions_on_found,
                .admit = sessions_admit_snapshot,
                .userdata = s,
        };
        *ret = TAKE_PTR(s);
        return 0;
}

void sessions_store_symbols(Sessions *s) {
        const SymbolNames *ignored;

        (void) kernel_symbols_store(s->symbols, store_symbols_fd(s->context.store), &ignored);
}

void sessions_set_limits(Sessions *s, const Limits *limits) {
        s->limits = s->context.limits = limits;
}

void sessions_set_room(Sessions *s, int (*has_room)(Refusal *refusal, void *userdata),
                       void *userdata) {
        s->has_room = has_room;
        s->room_userdata = userdata;
}

bool sessions_yield(Sessions *s) {
        bool did = false;

        for (size_t i = 0; i < s->n; i++)
                did = (session_is_live(s->items[i]) && session_yield(s->items[i])) || did;
        return did;
}

void sessions_set_handlers(Sessions *s, SessionChanged changed, SessionsKnown known,
                           void *userdata) {
        s->changed = changed;
        s->known = known;
        s->userdata = userdata;
}

int sessions_make_room(Sessions *s) {
        Session **items = reallocarray(s->items, s->n + 1 + s->is_starting, sizeof(*items));

        if (!items)
                return -ENOMEM;
        s->items = items;
        return 0;
}

/* One message for all: whoever put them there may have had a reason. */
void sessions_name_foreign(const Sessions *s) {
        _cleanup_strv_ Strv names = {};
        char quoted[NAME_QUOTE_MAX];

        if (store_list_foreign(s->context.store, &names) < 0 || names.n == 0)
                return;
        log_warning("In %s/sessions are %zu entries that ftraced did not make, \"%s\" for one: "
                    "left alone.",
                    store_path(s->context.store), names.n, name_quote(quoted, names.items[0]));
}

/* --- names ----------------------------------------------------------------------------------- */

const char *sessions_nearest(const Sessions *s, const char *name) {
        size_t n = roster_n(s->roster);
        const char **names = calloc(n + 1, sizeof(*names)), *like;

        for (size_t i = 0; names && i < n; i++)
                names[i] = roster_get(s->roster, i)->name;
        like = names ? typo_nearest(name, names, n) : NULL;
        free(names);
        return like;
}

/* "udp_*msg" becomes "udp_msg-4f1c"; so does a profile's name. */
static int sessions_make_name(Sessions *s, const char *function, char **ret) {
        char stem[NAME_STEM_MAX + 1];
        size_t n = 0;

        for (const char *p = function; *p && n < NAME_STEM_MAX; p++)
                if (isalnum((unsigned char) *p) || (n > 0 && (*p == '_' || *p == '-')))
                        stem[n++] = *p;
        stem[n] = 0;

        for (unsigned i = 0; i < NAME_TRIES; i++) {
                _cleanup_free_ char *name = NULL;
                uint16_t random;

                if (getrandom(&random, sizeof(random), 0) != sizeof(random))
                        return ORIGIN(-errno);
                if (asprintf(&name, "%s-%04x", n > 0 ? stem : "session", random) < 0) {
                        name = NULL;
                        return -ENOMEM;
                }
                if (session_name_is_valid(name) && !roster_find(s->roster, name)) {
                        *ret = TAKE_PTR(name);
                        return 0;
                }
        }
        return ORIGIN(-EEXIST);
}

/* --- starting and ending --------------------------------------------------------------------- */

/* Root, or whoever the daemon belongs to, may ask for more than ftraced.conf allows; others get what
 * it allows. */
static int sessions_apply_guards(const Sessions *s, SessionMeta *m) {
        const struct {
                uint64_t *value, limit;
                const char *setting;
        } guards[] = {
                { &m->spec.max_hooked, s->limits->max_hooked, "MaxHookedFunctions=" },
                { &m->spec.max_event_rate, s->limits->max_event_rate, "MaxEventRate=" },
                { &m->spec.max_write_rate, s->limits->max_write_rate, "MaxWriteRate=" },
                { &m->spec.max_cpu_ppm, s->limits->max_cpu_ppm, "MaxCPU=" },
        };
        bool may_raise = m->owner_uid == 0 || m->owner_uid == geteuid();

        for (size_t i = 0; i < ELEMENTSOF(guards); i++) {
                uint64_t limit = MIN(guards[i].limit ?: SPEC_UNLIMITED, SPEC_UNLIMITED),
                         asked = *guards[i].value;
                int r;

                if (asked > 0 && (asked <= limit || may_raise))
                        continue;
                *guards[i].value = limit;
                /* Who watches sees whether it takes long: a slow host is no danger. */
                if (asked == 0 && may_raise && m->spec.lesson == LESSON_WHOLE &&
                    guards[i].value == &m->spec.max_cpu_ppm)
                        *guards[i].value = SPEC_UNLIMITED;
                if (asked == 0)
                        continue;
                r = strv_addf(&m->warnings,
                              "only root may ask for more than %s in ftraced.conf allows",
                              guards[i].setting);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Writes into the spec what ftraced.conf says where the spec says nothing, and less where it says
 * too much. */
static int sessions_apply_limits(const Sessions *s, SessionMeta *m) {
        const Limits *l = s->limits;
        Spec *spec = &m->spec;
        char text[UNIT_TEXT_MAX];
        int r;

        if (!l)
                return 0;
        r = sessions_apply_guards(s, m);
        if (r < 0)
                return r;
        /* 0 in a spec is "as ftraced.conf says", there it is "no limit". */
        spec->segment_bytes = spec->segment_bytes ?: l->max_segment_bytes ?: SPEC_UNLIMITED;
        spec->segment_ns = spec->segment_ns ?: l->max_segment_ns;
        if (spec->lean == LEAN_DEFAULT)
                spec->lean = (SpecLean) l->lean;
        if (spec->max_bytes == 0 && (spec->ring || l->session_is_limited))
                spec->max_bytes = l->max_session_bytes;
        if (!l->session_is_limited || spec->max_bytes <= l->max_session_bytes)
                return 0;
        spec->max_bytes = l->max_session_bytes;
        return strv_addf(&m->warnings, "its size is limited to %s by MaxSessionSize=",
                         format_bytes(text, l->max_session_bytes));
}

static int refuse_existing(const char *name, Refusal *refusal) {
        return refusal_set_of(refusal, REFUSAL_SESSION_EXISTS, "session", name,
                              "a session named '%s' exists; choose another name, or remove it with "
                              "`ftracectl remove %s`",
                              name, name);
}

/* A ring in the kernel of its own accord, with what the kernel says: of a panic, for one. */
static int complete_black_box(Spec *spec) {
        static const char messages[] = "printk:console";

        if (!spec->black_box)
                return 0;
        spec->in_kernel = spec->ring = true;
        for (size_t i = 0; i < spec->events.n; i++)
                if (startswith(spec->events.items[i], messages))
                        return 0;
        return spec->events.n < SPEC_MAX_EVENTS ? strv_add(&spec->events, messages) : 0;
}

/* @use: NULL: root's. */
static int sessions_make_meta(Sessions *s, SessionMeta **ret, const SessionRequest *q,
                              const AllowanceUse *use) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        int r = session_meta_new(&m);

        if (r < 0)
                return r;
        spec_done(&m->spec);
        r = spec_copy(&m->spec, q->spec);
        if (r < 0)
                return r;
        m->owner_uid = q->owner_uid;
        m->owner_pid = q->owner_pid;
        if (q->profile && !(m->profile = strdup(q->profile)))
                return -ENOMEM;
        if (q->name)
                r = (m->name = strdup(q->name)) ? 0 : -ENOMEM;
        else
                r = sessions_make_name(s, q->profile ?: q->spec->functions.items[0], &m->name);
        if (r >= 0 && use)
                r = allowance_narrow(&s->limits->member, use, &m->spec, &m->warnings);
        if (r >= 0)
                r = complete_black_box(&m->spec);
        if (r >= 0)
                r = sessions_apply_limits(s, m);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

/* --- what a user has --------------------------------------------------------------------------- */

static bool is_members(uid_t uid) {
        return uid != 0 && uid != geteuid();
}

static AllowanceUse sessions_use_of(Sessions *s, uid_t uid) {
        AllowanceUse use = { .uid = uid };

        sessions_survey_all(s);
        for (size_t i = 0; i < roster_n(s->roster); i++) {
                const RosterEntry *e = roster_get(s->roster, i);

                if ((e->session ? session_meta(e->session)->owner_uid : e->rest.brief.owner_uid) !=
                    uid)
                        continue;
                use.n_sessions += e->session && session_is_live(e->session);
                use.stored_bytes +=
                        MAX(e->session ? session_disk_bytes(e->session) : e->rest.footprint.n_bytes,
                            (uint64_t) ALLOWANCE_SESSION_BYTES);
        }
        return use;
}

int sessions_admit_snapshot(const Session *session, Refusal *refusal, void *userdata) {
        uid_t uid = session_meta(session)->owner_uid;
        Sessions *s = userdata;
        AllowanceUse use;

        if (!s->limits || s->limits->member.max_stored_bytes == 0 || !is_members(uid))
                return 0;
        use = sessions_use_of(s, uid);
        use.n_sessions = 0; /* no more of them record than before */
        return allowance_admit(&s->limits->member, &use, refusal);
}

/* ----------------------------------------------------------------------------------------------- */

int sessions_prepare(Sessions *s, SessionMeta **ret, const SessionRequest *q, Refusal *refusal) {
        AllowanceUse use;
        int r;

        if (q->name && roster_find(s->roster, q->name))
                return refuse_existing(q->name, refusal);
        r = s->has_room ? s->has_room(refusal, s->room_userdata) : 0;
        if (r != 0)
                return r;
        if (!q->is_member || !s->limits)
                return sessions_make_meta(s, ret, q, NULL);
        use = sessions_use_of(s, q->owner_uid);
        r = allowance_check(s->limits, q->spec, q->asked, refusal);
        if (r == 0)
                r = allowance_admit(&s->limits->member, &use, refusal);
        return r != 0 ? r : sessions_make_meta(s, ret, q, &use);
}

static int refuse_learning(const Spec *spec, Refusal *refusal) {
        bool is_one = spec->functions.n == 1;

        return refusal_set(refusal, REFUSAL_LEARNING, NULL,
                           "what %s%s call%s is being learned, so that nothing else is hooked",
                           spec->functions.items[0], is_one ? "" : " and others",
                           is_one ? "s" : "");
}

/* All that can be asked of @q before anything is made, and before anybody is told of a neighbour. */
static int sessions_look(Sessions *s, SessionMeta **ret_meta, Admission **ret,
                         const SessionRequest *q, Refusal *refusal) {
        Controller *c = s->context.controller;
        ControllerOutlook outlook;
        int r = sessions_prepare(s, ret_meta, q, refusal);

        if (r == 0)
                r = controller_admit(c, ret, *ret_meta, q->force, refusal);
        if (r != 0)
                return r;
        outlook = controller_foresee(c, *ret_meta, *ret);
        if (outlook.is_learning)
                return refuse_learning(&(*ret_meta)->spec, refusal);
        if (q->arming)
                q->arming(&outlook, q->userdata);
        return 0;
}

/* First, so that whoever draws them live is ready for what the new roots bring.  @told: the ids of
 * those for whom it is news. */
static int tell_neighbours(Sessions *s, const SessionMeta *m, Strv *told) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n; i++)
                if (session_add_neighbour(s->items[i], m->name))
                        r = strv_add(told, session_meta(s->items[i])->id);
        return r;
}

int sessions_start(Sessions *s, Session **ret, const SessionRequest *q, Refusal *refusal) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(admission_freep) Admission *admission = NULL;
        _cleanup_strv_ Strv told = {};
        Session *session = NULL;
        int r = sessions_look(s, &m, &admission, q, refusal);

        if (r == 0)
                r = sessions_make_room(s);
        if (r != 0)
                return r;
        s->is_starting = true;
        r = tell_neighbours(s, m, &told);
        if (r >= 0)
                r = session_start(&session, &s->context, m, admission, q->peer, refusal);
        s->is_starting = false;
        if (r != 0) {
                for (size_t i = 0; i < told.n; i++) {
                        const RosterEntry *other = roster_find_id(s->roster, told.items[i]);

                        if (other && other->session)
                                session_drop_neighbour(other->session, m->name);
                }
                return r;
        }
        TAKE_PTR(m);
        r = sessions_make_room(s);
        if (r >= 0)
                r = sessions_add(s, session);
        if (r < 0) {
                (void) session_free(session); /* what it recorded so far is kept */
                return r;
        }
        *ret = session;
        sessions_on_change(*ret, s);
        return 0;
}

static void note_removed(const Sessions *s, Session *session, const char *why) {
        const SessionMeta *m = session_meta(session);
        int r = removed_note(store_fd(s->context.store),
                             &(Removed){ .n_bytes = session_disk_bytes(session),
                                         .name = m->name,
                                         .id = m->id,
                                         .why = (char *) why });

        if (r < 0)
                log_debug("sessions", "That '%s' was removed cannot be noted: %s", m->name,
                          origin_text(r));
}

int sessions_remove(Sessions *s, Session *session, const char *why) {
        int r;

        if (session_is_live(session))
                return ORIGIN(-EBUSY);
        (void) session_disk_bytes(session); /* while it is there */
        r = removal_add(s->removal, session_name(session));
        if (r < 0 && r != -ENOENT)
                return r;
        note_removed(s, session, why);
        sessions_forget(s, roster_find(s->roster, session_name(session)));
        for (size_t i = 0; i < s->n; i++)
                if (s->items[i] == session) {
                        s->items[i] = s->items[--s->n];
                        break;
                }
        (void) session_free(session);
        return 0;
}

Removal *sessions_removal(const Sessions *s) {
        return s->removal;
}

void sessions_tidy(Sessions *s) {
        sessions_lay_down(s);
        removal_look(s->removal);
}

void sessions_check(Sessions *s, json_t *checks) {
        const char *name = NULL, *setting = NULL;
        unsigned nearest = 0, percent;
        char text[256];

        for (size_t i = 0; i < s->n; i++) {
                int kind = session_guard_nearest(s->items[i], &percent);

                if (kind < 0 || percent < nearest)
                        continue;
                nearest = percent;
                name = session_name(s->items[i]);
                setting = guard_setting((GuardKind) kind);
        }
        if (name && nearest >= NEAR_PERCENT)
                (void) snprintf(text, sizeof(text),
                                "session %s is at %u %% of %s past which it ends", name, nearest,
                                setting);
        else if (name)
                (void) snprintf(text, sizeof(text),
                                "no session is near what it may cost: %s is at %u %% of %s", name,
                                nearest, setting);
        else
                (void) snprintf(text, sizeof(text), "no session that records has limits");
        (void) json_array_append_new(
                checks,
                json_pack("{ss ss ss ss*}", "name", "limits", "state",
                          nearest >= NEAR_PERCENT ? "warning" : "good", "text", text, "fix",
                          nearest >= NEAR_PERCENT ? "record fewer functions, or allow more in "
                                                    "ftraced.conf"
                                                  : NULL));
}

size_t sessions_signal(Sessions *s) {
        size_t n = 0, n_sessions = s->n; /* a snapshot adds to them */

        for (size_t i = 0; i < n_sessions; i++)
                n += session_signal(s->items[i]);
        return n;
}

void sessions_stop_all(Sessions *s, const char *reason) {
        for (size_t i = 0; i < s->n; i++)
                session_stop(s->items[i], reason);
}

size_t sessions_leave_all(Sessions *s) {
        size_t n = 0;

        for (size_t i = 0; i < s->n; i++)
                n += session_leave(s->items[i]);
        return n;
}

bool sessions_have_ended(const Sessions *s) {
        for (size_t i = 0; i < s->n; i++)
                if (session_is_live(s->items[i]) && !session_is_leaving(s->items[i]))
                        return false;
        return true;
}

void sessions_peer_gone(Sessions *s, uint64_t peer) {
        for (size_t i = 0; i < s->n; i++)
                if (session_is_live(s->items[i]) && session_peer(s->items[i]) == peer)
                        session_stop(s->items[i], "its client left");
}

size_t sessions_n(const Sessions *s) {
        return s->n;
}

Session *sessions_get(Sessions *s, size_t i) {
        return s->items[i];
}

size_t sessions_n_live(const Sessions *s) {
        size_t n = 0;

        for (size_t i = 0; i < s->n; i++)
                n += session_is_live(s->items[i]);
        return n;
}

Sessions *sessions_free(Sessions *s) {
        if (!s)
                return NULL;

        s->changed = NULL;
        s->survey = sd_event_source_disable_unref(s->survey);
        s->removal = removal_free(s->removal);
        for (size_t i = 0; i < s->n; i++)
                (void) session_free(s->items[i]);
        free(s->items);
        (void) roster_free(s->roster);
        (void) kernel_symbols_free(s->symbols);
        return mfree(s);
}
