/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What begins a session, and what says what it would be.  A profile and the spec of a call are the
 * same kind of object; the call's members are put over the profile's before anything is checked.
 */

#include <sys/utsname.h>

#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/admission/admission.h"
#include "daemon/api/api.h"
#include "daemon/tracefs/plan.h"
#include "meta/json-field.h"
#include "meta/profile.h"

/* --- profiles --------------------------------------------------------------------------------- */

static int refuse_profile_not_found(const Methods *m, const char *name, Refusal *refusal) {
        _cleanup_free_ char *like = NULL;
        char quoted[NAME_QUOTE_MAX];
        int r = profile_suggest(&like, m->config_root, name);

        if (r < 0)
                return r;
        name_quote(quoted, name);
        return refusal_set_of(refusal, REFUSAL_PROFILE_NOT_FOUND, "profile", quoted,
                              "there is no profile \"%s\"%s%s%s; see \"ftracectl profile list\"",
                              quoted, like ? ". Did you mean \"" : "", like ?: "",
                              like ? "\"?" : "");
}

/* One that may have problems.  0, REFUSED, -ENOMEM. */
static int load_profile(const Methods *m, Profile *ret, const char *name, Refusal *refusal) {
        int r;

        if (!session_name_is_valid(name))
                return refuse_profile_not_found(m, name, refusal);
        r = profile_load(ret, m->config_root, name);
        if (r == PROFILE_E_HIDDEN)
                return refusal_set_of(
                        refusal, REFUSAL_PROFILE_NOT_FOUND, "profile", name,
                        "profile \"%s\" is switched off: its file is empty, or a link to "
                        "/dev/null",
                        name);
        return r == PROFILE_E_NOT_FOUND ? refuse_profile_not_found(m, name, refusal) : r;
}

/* One that may be used. */
static int take_profile(const Methods *m, Profile *ret, const char *name, Refusal *refusal) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        json_auto_t *json = NULL;
        int r = load_profile(m, &p, name, refusal);

        if (r != 0)
                return r;
        if (p.problems.n == 0) {
                *ret = TAKE(p, PROFILE_INIT);
                return 0;
        }
        json = profile_to_json(&p);
        return refusal_set(refusal, REFUSAL_INVALID_PROFILE,
                           json_pack("{s:s, s:O}", "profile", name, "problems",
                                     json_object_get(json, "problems")),
                           "profile \"%s\" is invalid: %s. See \"ftracectl profile check %s\"",
                           name, p.problems.items[0], name);
}

int method_list_profiles(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        json_auto_t *list = json_array();
        _cleanup_strv_ Strv names = {};
        Methods *m = userdata;
        int r = profile_list(&names, m->config_root);

        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_profile_ Profile p = PROFILE_INIT;

                r = profile_load(&p, m->config_root, names.items[i]);
                if (r == 0 && json_array_append_new(list, profile_to_json(&p)) < 0)
                        r = -ENOMEM;
        }
        return r < 0 ? r : parameter_reply(call, "profiles", json_incref(list));
}

int method_get_profile(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        const char *name = json_string_value(json_object_get(parameters, "profile"));

        return load_profile(userdata, &p, name, refusal)
                       ?: parameter_reply(call, "profile", profile_to_json(&p));
}

/* --- what is asked for ------------------------------------------------------------------------ */

/* An invalid function name is worth its own error; everything else names the field. */
static int refuse_spec(json_t *spec, const char *field, Refusal *refusal) {
        char quoted[NAME_QUOTE_MAX];
        json_t *list = json_object_get(spec, field), *value;
        size_t i;

        if (streq(field, "functions") || streq(field, "notrace"))
                json_array_foreach (list, i, value)
                        if (json_is_string(value) &&
                            !function_pattern_is_valid(json_string_value(value)))
                                return refusal_set_of(
                                        refusal, REFUSAL_INVALID_NAME, "name",
                                        name_quote(quoted, json_string_value(value)),
                                        "\"%s\" cannot be a kernel function's name or a glob of "
                                        "them; "
                                        "\"ftracectl functions\" lists those there are",
                                        quoted);
        name_quote(quoted, field);
        return refusal_set_of(
                refusal, REFUSAL_INVALID_SPEC, "field", quoted,
                "what to record is not valid: the member \"%s\" is unknown, missing or out "
                "of range; see ftracectl(1)",
                quoted);
}

/* The profile's members and over them the call's: a new object. */
static int merge_spec(const Profile *p, json_t *given, json_t **ret, Refusal *refusal) {
        json_t *o;

        if (!p->name && !json_is_object(given))
                return refusal_set_of(refusal, REFUSAL_INVALID_PARAMETER, "parameter", "spec",
                                      "a call has a profile or a spec");
        o = p->spec ? json_deep_copy(p->spec) : json_object();
        if (!o || (json_is_object(given) && json_object_update(o, given) < 0)) {
                json_decref(o);
                return -ENOMEM;
        }
        *ret = o;
        return 0;
}

/* One that is begun by hand on a host that is not in the sample stands for nobody else. */
static void look_at_sample(Spec *spec) {
        bool is_in = false;

        if (spec->sample_ppm > 0 && (sample_has_us(&is_in, spec->sample_ppm) < 0 || !is_in))
                spec->sample_ppm = 0;
}

/* What Start and DryRun are told.  @ret->meta: the caller frees it. */
static int read_request(const Methods *m, const ServerCall *call, json_t *parameters,
                        SessionRequest *ret, Refusal *refusal) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        _cleanup_profile_ Profile p = PROFILE_INIT;
        json_auto_t *spec = NULL;
        char quoted[NAME_QUOTE_MAX];
        const char *name = json_string_value(json_object_get(parameters, "name")),
                   *profile = json_string_value(json_object_get(parameters, "profile")), *field;
        json_t *given = json_object_get(parameters, "spec");
        bool is_member = call->who.right != PEER_ALL,
             force = json_is_true(json_object_get(parameters, "force"));
        unsigned asked = 0;
        int r = session_meta_new(&meta);

        if (name && !session_name_is_valid(name))
                return refusal_set_of(
                        refusal, REFUSAL_INVALID_NAME, "name", name_quote(quoted, name),
                        "\"%s\" cannot be a session's name: letters, digits, '.', '_' and "
                        "'-', at most %i, the first a letter or digit",
                        quoted, SESSION_NAME_MAX);
        if (force && is_member)
                return refusal_set(refusal, REFUSAL_PERMISSION_DENIED, NULL,
                                   "only root may switch off a tracer of somebody else (--force)");
        if (r == 0 && profile)
                r = take_profile(m, &p, profile, refusal);
        r = r ?: merge_spec(&p, given, &spec, refusal);
        if (r != 0)
                return r;
        r = spec_from_json(&meta->spec, spec, &field);
        if (r > 0)
                return refuse_spec(spec, field, refusal);
        r = r ?: text_replace(&meta->name, name) ?: text_replace(&meta->profile, p.name);
        if (r == 0 && is_member)
                r = allowance_ask(&asked, given, p.name, refusal);
        if (r == 0) /* of a profile, they are root's words */
                r = BACKGROUND_CALL(caller_translate(
                        "/proc", call->who.pid,
                        json_object_get(given, "pids") ? &meta->spec.pids : NULL,
                        json_object_get(given, "cgroups") ? &meta->spec.cgroups : NULL, refusal));
        if (r != 0)
                return r;
        look_at_sample(&meta->spec);
        meta->owner_uid = call->who.uid;
        meta->owner_pid = call->who.pid;
        *ret = (SessionRequest){
                .meta = TAKE_PTR(meta), .force = force, .is_member = is_member, .asked = asked
        };
        return 0;
}

static void request_done(SessionRequest *q) {
        (void) session_meta_free(q->meta);
}

/* --- start ------------------------------------------------------------------------------------ */

static void log_start(ServerCall *call, const Session *session) {
        const SessionMeta *m = session_meta(session);
        _cleanup_free_ char *roots = strv_join(&m->roots, " ");

        journal_tell(
                &(JournalEntry){ JOURNAL_STARTED, .meta = m, .uid = call->who.uid,
                                 .pid = call->who.pid },
                "Session \"%s\" started by %s (pid %i): %.200s%s on %zu CPUs%s%s, armed in %s.",
                m->name, FORMAT_USER(call->who.uid), (int) call->who.pid, roots ?: "",
                roots && strlen(roots) > 200 ? "..." : "", m->n_cpus,
                m->instance ? ", instance " : "", m->instance ?: "", FORMAT_DURATION(m->arm_ns));
}

static int start(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        _cleanup_(request_done) SessionRequest request = {};
        Methods *m = userdata;
        Session *session;
        json_t *reply;
        int r = read_request(m, call, parameters, &request, refusal);

        if (r != 0)
                return r;
        request.peer = json_is_true(json_object_get(parameters, "attach")) ? call->peer : 0;
        r = sessions_start(m->sessions, m->janitor, &session, &request, refusal);
        if (r < 0) {
                log_error_errno(r, "A start failed: %m");
                return refusal_set_errno(refusal, -r, "starting failed: %s", origin_report(r));
        }
        if (r > 0)
                return r;
        log_start(call, session);
        if (!server_call_is_connected(call)) {
                if (request.peer != 0)
                        sessions_peer_gone(m->sessions, request.peer); /* while it was armed */
                return 0;
        }
        reply = json_pack("{s:o, s:o*}", "session", session_to_json(session), "retention",
                          janitor_foresee(m->janitor));
        return reply ? server_call_reply(call, reply, NULL, 0) : -ENOMEM;
}

int method_start(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return methods_run_aside(userdata, call, parameters, start);
}

/* The message of DryRun; it may be long. */
static char *plan_to_text(const Methods *m, const Plan *p, size_t n_arm, const SessionMeta *meta) {
        _cleanup_buf_ Buf out = BUF_INIT;
        _cleanup_free_ char *script = NULL;
        json_auto_t *reply = NULL;
        struct utsname u;

        if (uname(&u) < 0)
                return NULL;
        script_write(&out, p,
                     &(ScriptInfo){ .session = meta->name,
                                    .kernel = u.release,
                                    .tracefs = controller_tracefs(m->controller),
                                    .warnings = &meta->warnings,
                                    .n_arm = n_arm,
                                    .waits = controller_waits_for_start(&meta->spec) });
        if (buf_take_string(&out, &script) < 0)
                return NULL;
        reply = json_pack("{s:{s:s, s:s, s:s, s:o, s:o, s:o}}", "parameters", "name", meta->name,
                          "tracefs", controller_tracefs(m->controller), "script", script, "steps",
                          script_steps(p, 0, n_arm), "undo", script_steps(p, n_arm, p->n),
                          "warnings", json_strv_new(&meta->warnings));
        return reply ? json_dumps(reply, JSON_COMPACT) : NULL;
}

static int dry_run(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        _cleanup_(request_done) SessionRequest request = {};
        _cleanup_plan_ Plan plan = {};
        Methods *m = userdata;
        size_t n_arm;
        char *text;
        int r = read_request(m, call, parameters, &request, refusal)
                        ?: sessions_prepare(m->sessions, m->janitor, &request, refusal)
                        ?: session_admit_triggers(&request.meta->spec, true, refusal)
                        ?: controller_rehearse(m->controller, &plan, &n_arm, request.meta,
                                               request.force, refusal);

        if (r != 0)
                return r;
        text = BACKGROUND_CALL(
                plan_to_text(m, &plan, n_arm, request.meta)); /* what is ours alone */
        return text ? server_call_reply_text(call, text) : -ENOMEM;
}

int method_dry_run(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return methods_run_aside(userdata, call, parameters, dry_run);
}
