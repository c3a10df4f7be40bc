/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The daemon has the last word on what may be recorded.  Names are checked here
 * too because not every argument can be a JSON string at all.
 */

#include <unistd.h>

#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact.h"
#include "cli/recording.h"
#include "cli/source.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "store/store.h"

static int check_pattern(const char *pattern) {
        char quoted[NAME_QUOTE_MAX];

        if (function_pattern_is_valid(pattern))
                return STATUS_OK;
        name_quote(quoted, pattern);
        if (*pattern && strspn(pattern, "*?") == strlen(pattern))
                log_error("\"%s\" stands for every function of the kernel, and recording them all "
                          "would stop this machine. Name fewer: \"udp_*\".",
                          quoted);
        else
                log_error("\"%s\" cannot be a function's name, nor a pattern of names like "
                          "\"udp_*\".",
                          quoted);
        return STATUS_USAGE;
}

static int check_patterns(const Strv *patterns) {
        int status = STATUS_OK;

        for (size_t i = 0; status == STATUS_OK && i < patterns->n; i++)
                status = check_pattern(patterns->items[i]);
        return status;
}

static int check_pids(const Strv *pids) {
        char quoted[NAME_QUOTE_MAX];

        for (size_t i = 0; i < pids->n; i++) {
                char *end;
                long pid = strtol(pids->items[i], &end, 10);

                if (*end == 0 && pid > 0 && pid <= 4194304 &&
                    strspn(pids->items[i], "0123456789") == strlen(pids->items[i]))
                        continue;
                log_error("--pid: \"%s\" is not the number of a process.",
                          name_quote(quoted, pids->items[i]));
                return STATUS_USAGE;
        }
        return STATUS_OK;
}

int recording_check(const Options *o, const Strv *functions) {
        int status = check_patterns(functions);

        if (status == STATUS_OK)
                status = check_patterns(&o->spec.notrace);
        if (status == STATUS_OK)
                status = check_pids(&o->spec.pids);
        if (status == STATUS_OK && o->name)
                status = source_check_name(o->name);
        return status;
}

static int out_of_memory(void) {
        log_error("Failed to describe the recording: out of memory");
        return STATUS_FAILED;
}

/* The parameters of Start; NULL without memory. */
static json_t *start_parameters(const Options *o, const Strv *functions, bool attach) {
        _cleanup_spec_ Spec spec = {};
        json_t *object, *parameters;

        if (spec_copy(&spec, &o->spec) < 0)
                return NULL;
        strv_done(&spec.functions);
        spec.functions = (Strv){};
        if (strv_copy(&spec.functions, functions) < 0)
                return NULL;
        object = spec_to_json(&spec);
        if (!object)
                return NULL;
        parameters = json_pack("{s:o, s:b}", "spec", object, "attach", attach);
        if (parameters && o->name &&
            json_object_set_new(parameters, "name", json_string(o->name)) < 0) {
                json_decref(parameters);
                return NULL;
        }
        return parameters;
}

int recording_start(SessionMeta **ret, const Options *o, Client *c, const Strv *functions,
                    bool attach) {
        json_auto_t *reply = NULL;
        json_t *parameters;
        int status;

        parameters = start_parameters(o, functions, attach);
        if (!parameters)
                return out_of_memory();
        status = contact_call(c, o, "Start", parameters, &reply, NULL);
        if (status != STATUS_OK)
                return status;
        return source_meta_from_reply(ret, reply);
}

int recording_stop(SessionMeta **ret, const Options *o, Client *c, const char *name) {
        _cleanup_refusal_ Refusal refusal = {};
        json_auto_t *reply = NULL;
        int r, status;

        r = client_call(c, "Stop", json_pack("{s:s}", "session", name), &reply, NULL, &refusal);
        if (r == CLIENT_E_REFUSED && refusal.kind == REFUSAL_SESSION_STATE) {
                status = contact_call(c, o, "Describe", json_pack("{s:s}", "session", name), &reply,
                                      NULL);
                if (status != STATUS_OK)
                        return status;
        } else if (r != 0)
                return contact_failure(o, r, &refusal);
        return source_meta_from_reply(ret, reply);
}

/* The private daemon has left, and its store is anybody's who is root. */
static int remove_from_store(const Options *o, const char *name) {
        const char *path = o->store ?: SOURCE_DEFAULT_STORE;
        _cleanup_(store_freep) Store *store = NULL;
        pid_t holder;
        int r;

        r = store_open_for_writing(&store, path, &holder);
        if (r == 0)
                r = store_remove_session(store, name);
        if (r == 0)
                return STATUS_OK;
        log_error_errno(r < 0 ? r : -EBUSY, "Failed to remove session \"%s\" from %s: %m", name,
                        path);
        return STATUS_FAILED;
}

int recording_remove(const Options *o, Client *c, const char *name) {
        if (!c)
                return remove_from_store(o, name);
        return contact_call(c, o, "Remove", json_pack("{s:s}", "session", name), NULL, NULL);
}

void recording_talk_warnings(const Options *o, const SessionMeta *m) {
        for (size_t i = 0; i < m->warnings.n; i++)
                talk(o, "Note: %s", m->warnings.items[i]);
}

void recording_talk_kept(const Options *o, const SessionMeta *m) {
        char size[UNIT_TEXT_MAX];

        talk(o, "Kept as %s (%s): ftracectl report %s%s%s", m->name,
             format_bytes(size, session_meta_n_bytes(m)), m->name, o->store ? " --store " : "",
             o->store ?: "");
}
