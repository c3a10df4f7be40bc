/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * list, show and check.  Profiles are what the daemon says they are; a file that is none yet, and
 * those below --config-root, are read here.  Both come as the same JSON.
 */

#include "base/name.h"
#include "base/typo.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/record/selection.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "meta/profile.h"

static int fail(int r) {
        return failed_errno(r, "Failed to read profiles: %m");
}

static const char *text_of(const json_t *o, const char *key) {
        return json_string_value(json_object_get(o, key)) ?: "";
}

/* --- where they are from ---------------------------------------------------------------------- */

static int load_local(json_t **ret, const Options *o, const char *name) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        int r = PROFILE_E_NOT_FOUND;

        if (profile_name_is_valid(name))
                r = profile_load(&p, o->config_root, name);
        if (r > 0)
                return failed(STATUS_NOT_FOUND, "there is no profile \"%s\" below %s%s.",
                              NAME_QUOTED(name), o->config_root,
                              r == PROFILE_E_HIDDEN ? ": it is switched off" : "");
        if (r < 0)
                return fail(r);
        *ret = profile_to_json(&p);
        return *ret ? STATUS_OK : fail(-ENOMEM);
}

static int load_file(json_t **ret, const char *path) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        int r = profile_load_file(&p, path);

        if (r < 0) {
                log_error_errno(r, "Cannot read %s: %m", path);
                return r == -ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED;
        }
        *ret = profile_to_json(&p);
        return *ret ? STATUS_OK : fail(-ENOMEM);
}

static int list_local(json_t **ret, const Options *o) {
        json_auto_t *list = json_array();
        _cleanup_strv_ Strv names = {};
        int r = list ? profile_list(&names, o->config_root) : -ENOMEM;

        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_profile_ Profile p = PROFILE_INIT;

                r = profile_load(&p, o->config_root, names.items[i]);
                if (r == 0 && json_array_append_new(list, profile_to_json(&p)) < 0)
                        r = -ENOMEM;
        }
        if (r < 0)
                return fail(r);
        *ret = json_incref(list);
        return STATUS_OK;
}

/* What method @method answers as @member; the connection is kept. */
static int ask(json_t **ret, Client **c, const Options *o, const char *method, json_t *parameters,
               const char *member) {
        json_auto_t *reply = NULL;
        int status = *c ? STATUS_OK : contact_recorder(c, o, NULL);

        if (status != STATUS_OK) {
                json_decref(parameters);
                return status;
        }
        status = contact_call(*c, method, parameters, &reply, NULL);
        if (status != STATUS_OK)
                return status;
        *ret = json_incref(json_object_get(reply, member));
        if (*ret)
                return STATUS_OK;
        return failed(STATUS_FAILED, "the daemon's answer has no \"%s\".", member);
}

static int get_all(json_t **ret, Client **c, const Options *o) {
        return o->config_root ? list_local(ret, o)
                              : ask(ret, c, o, "ListProfiles", NULL, "profiles");
}

static int get_one(json_t **ret, Client **c, const Options *o, const char *name) {
        json_t *parameters;

        if (o->config_root)
                return load_local(ret, o, name);
        parameters = json_pack("{s:s}", "profile", name);
        if (!parameters)
                return failed(STATUS_USAGE, "a profile's name is UTF-8.");
        return ask(ret, c, o, "GetProfile", parameters, "profile");
}

/* --- list, show ------------------------------------------------------------------------------- */

static int list(const Options *o, const char *word) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_table_ Table t = {};
        json_auto_t *profiles = NULL;
        json_t *p;
        size_t i;
        int status = get_all(&profiles, &c, o), r;

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(profiles));
        if (json_array_size(profiles) == 0) {
                talk(o, "No profiles. They are files /etc/ftraced/profiles.d/NAME.conf: see "
                        "ftraced.profile(5).");
                return STATUS_OK;
        }
        table_init(&t, "NAME|DESCRIPTION|FILE");
        json_array_foreach (profiles, i, p) {
                bool is_wrong = json_array_size(json_object_get(p, "problems")) > 0;

                table_add(&t, "%s", text_of(p, "name"));
                table_add(&t, "%s%s", text_of(p, "description"),
                          is_wrong ? " (invalid: see profile check)" : "");
                table_add(&t, "%s",
                          json_string_value(json_array_get(json_object_get(p, "files"), 0)) ?: "");
        }
        r = table_print(&t, &out, !o->no_legend);
        return r < 0 ? stdout_status(r) : stdout_end(&out);
}

static int show(const Options *o, const char *word) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *p = NULL;
        json_t *item;
        size_t i;
        int status = get_one(&p, &c, o, word);

        if (status != STATUS_OK)
                return status;
        json_array_foreach (json_object_get(p, "problems"), i, item)
                log_warning("%s.", json_string_value(item) ?: "");
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(p));
        buf_adds(&out, "[Profile]\n");
        json_array_foreach (json_object_get(p, "settings"), i, item)
                buf_printf(&out, "# %s:%lli\n%s=%s\n", text_of(item, "file"),
                           (long long) json_integer_value(json_object_get(item, "line")),
                           text_of(item, "key"), text_of(item, "value"));
        return stdout_end(&out);
}

/* --- check ------------------------------------------------------------------------------------ */

static const char *find_like(const FunctionList *l, const char *name) {
        size_t best = typo_limit(name) + 1;
        const char *like = NULL;

        for (size_t i = 0; i < l->n; i++) {
                size_t d = typo_distance(name, l->items[i].name, best);

                if (d < best) {
                        best = d;
                        like = l->items[i].name;
                }
        }
        return like;
}

/* A word of a line that names functions. */
static int check_word(json_t *warnings, const json_t *setting, const char *word,
                      const FunctionList *l) {
        _cleanup_strv_ Strv names = {};
        const char *like;
        int status = selection_match(&names, word, l);

        if (status != STATUS_OK || names.n > 0)
                return status;
        like = function_pattern_is_glob(word) ? NULL : find_like(l, word);
        return json_array_append_new(
                       warnings,
                       json_sprintf(
                               "%s:%lli: no function that can be traced here is \"%s\"%s%s%s",
                               text_of(setting, "file"),
                               (long long) json_integer_value(json_object_get(setting, "line")),
                               NAME_QUOTED(word), like ? "; did you mean \"" : "", like ?: "",
                               like ? "\"?" : "")) < 0
                       ? fail(-ENOMEM)
                       : STATUS_OK;
}

static int check_functions(json_t *warnings, const json_t *p, const FunctionList *l) {
        static const char *const keys[] = { "Functions", "NoTrace", "Hooked" };
        json_t *setting;
        size_t i;
        int status = STATUS_OK;

        json_array_foreach (json_object_get(p, "settings"), i, setting) {
                _cleanup_strv_ Strv words = {};
                bool is_list = false;

                for (size_t k = 0; k < ELEMENTSOF(keys); k++)
                        is_list = is_list || streq(text_of(setting, "key"), keys[k]);
                if (!is_list)
                        continue;
                if (strv_split(&words, text_of(setting, "value"), " \t") < 0)
                        return fail(-ENOMEM);
                for (size_t w = 0; status == STATUS_OK && w < words.n; w++)
                        status = check_word(warnings, setting, words.items[w], l);
        }
        return status;
}

/* What can be traced, of a daemon that runs or can be started: without one nothing is said of it. */
static bool get_functions(FunctionList *ret, Client **c, const Options *o) {
        if (!*c && (client_connect(c, contact_socket(o)) != 0 || !*c)) {
                talk(o, "Functions are not checked: no daemon runs.");
                return false;
        }
        return function_list_get(ret, *c) == STATUS_OK;
}

static void print_check(Buf *out, const json_t *p, const json_t *warnings) {
        json_t *problems = json_object_get(p, "problems"), *item;
        const char *name = text_of(p, "name");
        size_t i;

        if (*name == 0)
                name = json_string_value(json_array_get(json_object_get(p, "files"), 0)) ?: "";
        json_array_foreach (problems, i, item)
                buf_printf(out, "%s\n", json_string_value(item) ?: "");
        json_array_foreach (warnings, i, item)
                buf_printf(out, "%s (a warning)\n", json_string_value(item) ?: "");
        if (json_array_size(problems) + json_array_size(warnings) == 0)
                buf_printf(out, "%s: good\n", name);
}

static bool is_file(const char *word) {
        size_t n = strlen(word);

        return strchr(word, '/') || (n > 5 && streq(word + n - 5, ".conf"));
}

static int check(const Options *o, const char *word) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_function_list_ FunctionList functions = {};
        json_auto_t *profiles = json_array(), *result = json_array();
        bool is_bad = false, has_functions;
        json_t *p = NULL;
        size_t i;
        int status;

        if (!word) {
                json_decref(profiles);
                profiles = NULL;
                status = get_all(&profiles, &c, o);
        } else {
                status = is_file(word) ? load_file(&p, word) : get_one(&p, &c, o, word);
                if (status == STATUS_OK && json_array_append_new(profiles, p) < 0)
                        status = fail(-ENOMEM);
        }
        if (status != STATUS_OK)
                return status;
        has_functions = json_array_size(profiles) > 0 && get_functions(&functions, &c, o);
        json_array_foreach (profiles, i, p) {
                json_t *warnings = json_array();

                if (json_array_append_new(result, json_pack("{sO? so sO}", "name",
                                                            json_object_get(p, "name"), "warnings",
                                                            warnings, "problems",
                                                            json_object_get(p, "problems"))) < 0)
                        return fail(-ENOMEM);
                if (has_functions)
                        status = check_functions(warnings, p, &functions);
                if (status != STATUS_OK)
                        return status;
                is_bad = is_bad || json_array_size(json_object_get(p, "problems")) > 0;
                if (o->json == JSON_OFF)
                        print_check(&out, p, warnings);
        }
        status = o->json != JSON_OFF ? stdout_json(o, json_incref(result)) : stdout_end(&out);
        return status == STATUS_OK && is_bad ? STATUS_FAILED : status;
}

/* --- which of them ---------------------------------------------------------------------------- */

static const Action actions[] = {
        { "list", 0, 0, "no argument", list },
        { "show", 1, 1, "one argument", show },
        { "check", 0, 1, "one argument at most", check },
};

int verb_profile(const Options *o) {
        return action_run(o, "profile", actions, ELEMENTSOF(actions), "list, show or check");
}
