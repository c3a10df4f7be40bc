/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a client found in a recording, for lean.  Recordings may be anybody's, so of what is said of them
 * every word is looked at: it ends up in a file that says which functions are hooked.
 */

#include <inttypes.h>

#include "base/log.h"
#include "base/name.h"
#include "daemon/api/methods-private.h"
#include "daemon/lean/lean.h"
#include "meta/json-field.h"

/* Names, of which @name is a list.  0, REFUSED, -errno. */
static int read_roots(json_t *parameters, Strv *ret, Refusal *refusal) {
        const json_t *list = json_object_get(parameters, "roots"), *item;
        size_t i;
        int r;

        if (!json_is_array(list) || json_array_size(list) == 0 ||
            json_array_size(list) > SPEC_MAX_ROOTS)
                return parameter_refuse(refusal, "roots", "a list of function names");
        json_array_foreach (list, i, item) {
                const char *name = json_string_value(item);

                if (!name || !function_name_is_valid(name))
                        return parameter_refuse(refusal, "roots", "a list of function names");
                r = strv_add(ret, name);
                if (r < 0)
                        return r;
        }
        strv_sort_unique(ret);
        return 0;
}

/* "udp_sendmsg inet_sendmsg": 0, REFUSED: these are no names; -ENOMEM. */
static int read_function(LeanCache *c, const char *text) {
        _cleanup_strv_ Strv words = {};
        int r = strv_split(&words, text, " ");

        if (r >= 0 && (words.n == 0 || words.n > 1 + LEAN_MAX_CALLERS))
                return REFUSED;
        for (size_t i = 0; r >= 0 && i < words.n; i++) {
                if (!function_name_is_valid(words.items[i]))
                        return REFUSED;
                r = i == 0 ? lean_cache_add(c, words.items[i], NULL, 0)
                           : lean_cache_add_caller(c, words.items[i]);
        }
        return MIN(r, 0);
}

static int read_functions(json_t *parameters, LeanCache *ret, Refusal *refusal) {
        const json_t *list = json_object_get(parameters, "functions"), *item;
        size_t i;

        if (!json_is_array(list) || json_array_size(list) > LEAN_MAX_FUNCTIONS)
                return parameter_refuse(refusal, "functions",
                                        "a list of at most 16,384 functions with their callers");
        json_array_foreach (list, i, item) {
                const char *text = json_string_value(item);
                int r = text ? read_function(ret, text) : REFUSED;

                if (r == REFUSED)
                        return parameter_refuse(
                                refusal, "functions",
                                "a list of names, each with up to four of its callers behind it");
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Roots are hooked whatever was seen of them, and something has to be. */
static int add_roots(LeanCache *c, const Strv *roots) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < roots->n; i++)
                r = lean_cache_add(c, roots->items[i], NULL, 0);
        lean_cache_sort(c);
        return r;
}

static json_t *taught_to_json(const ControllerTaught *t) {
        return json_pack("{s:o, s:o, s:I, s:I, s:I, s:i}", "roots", json_strv_new(&t->roots),
                         "missing", json_strv_new(&t->missing), "functions",
                         (json_int_t) t->n_functions, "known_functions", (json_int_t) t->n_known,
                         "known_calls", (json_int_t) t->n_known_calls, "needed_calls",
                         LEAN_MIN_CALLS);
}

static int learn(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        _cleanup_(controller_taught_done) ControllerTaught taught = {};
        _cleanup_lean_cache_ LeanCache new = {};
        _cleanup_strv_ Strv roots = {};
        const char *kernel = NULL;
        Methods *m = userdata;
        bool force = false;
        json_t *reply;
        int r = read_roots(parameters, &roots, refusal);

        if (r == 0)
                r = read_functions(parameters, &new, refusal);
        if (r == 0)
                r = parameter_get_number(parameters, "calls", &new.n_calls, refusal);
        if (r == 0 && new.n_calls == 0)
                return parameter_refuse(refusal, "calls", "a number from 1 on");
        if (r == 0)
                r = parameter_get_boolean(parameters, "lacks_ordinary", &new.lacks_ordinary,
                                          refusal);
        if (r == 0)
                r = parameter_get_string(parameters, "kernel", &kernel, refusal);
        if (r == 0)
                r = parameter_get_boolean(parameters, "force", &force, refusal);
        if (r == 0)
                r = add_roots(&new, &roots);
        if (r == 0)
                r = controller_teach(m->controller, &roots, kernel, force, &new, &taught, refusal);
        if (r < 0)
                return refusal_set_errno(refusal, -r, "what %s calls cannot be learned in %s: %s",
                                         roots.n > 0 ? roots.items[0] : "?", store_path(m->store),
                                         origin_text(r));
        if (r != 0)
                return r;
        log_info("Learned %zu functions of %s%s for uid %u, from %" PRIu64 " calls seen elsewhere.",
                 taught.n_functions, taught.roots.items[0], taught.roots.n > 1 ? " and others" : "",
                 (unsigned) server_call_uid(call), new.n_calls);
        reply = taught_to_json(&taught);
        return reply ? server_call_reply(call, reply, NULL, 0) : -ENOMEM;
}

int method_learn(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;

        return controller_has_functions(m->controller)
                       ? learn(call, parameters, refusal, m)
                       : methods_run_aside(m, call, parameters, learn);
}
