/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * list, show and check.  Profiles are what the daemon says they are; a file that is none yet, and
 * those below --config-root, are read here.  Both come as the same JSON.
 */

#include "base/name.h"
#include "cli/contact/contact.h"
#include "cli/record/record.h"
#include "cli/terminal/terminal.h"
#include "meta/profile.h"

static int fail(int r) {
        return failed_errno(r, "Failed to read profiles: %m");
}

static json_t *member_of(const json_t *o, const char *key, size_t i) {
        return json_array_get(json_object_get(o, key), i);
}

/* --- where they are from ---------------------------------------------------------------------- */

static int add_profile(json_t *list, const Profile *p) {
        return json_array_append_new(list, profile_to_json(p)) < 0 ? fail(-ENOMEM) : STATUS_OK;
}

/* Below --config-root; @name: NULL: all. */
static int load_local(json_t *list, const char *root, const char *name) {
        _cleanup_strv_ Strv names = {};
        int r = name ? strv_add(&names, name) : profile_list(&names, root), status = STATUS_OK;

        for (size_t i = 0; r >= 0 && status == STATUS_OK && i < names.n; i++) {
                _cleanup_profile_ Profile p = PROFILE_INIT;

                r = session_name_is_valid(names.items[i]) ? profile_load(&p, root, names.items[i])
                                                          : PROFILE_E_NOT_FOUND;
                if (r > 0 && name)
                        return failed(STATUS_NOT_FOUND, "there is no profile \"%s\" below %s%s.",
                                      NAME_QUOTED(name), root,
                                      r == PROFILE_E_HIDDEN ? ": it is switched off" : "");
                if (r == 0)
                        status = add_profile(list, &p);
        }
        return r < 0 ? fail(r) : status;
}

static int load_file(json_t *list, const char *path) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        int r = profile_load_file(&p, path);

        if (r >= 0)
                return add_profile(list, &p);
        log_error_errno(r, "Cannot read %s: %m", path);
        return r == -ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED;
}

/* Adds the profile @name, NULL: all; the connection, if there is one, is kept.  An exit status. */
static int get(json_t *list, Client **c, const Options *o, const char *name) {
        json_auto_t *reply = NULL;
        int status;

        if (o->config_root)
                return load_local(list, o->config_root, name);
        status = contact_recorder(c, o, NULL)
                         ?: contact_call(*c, name ? "GetProfile" : "ListProfiles",
                                         name ? json_pack("{s:s}", "profile", name) : NULL, &reply,
                                         NULL);
        if (status != STATUS_OK)
                return status;
        if (name ? json_array_append(list, json_object_get(reply, "profile")) < 0
                 : json_array_extend(list, json_object_get(reply, "profiles")) < 0)
                return failed(STATUS_FAILED, "the daemon's answer has no profiles.");
        return STATUS_OK;
}

/* --- list, show ------------------------------------------------------------------------------- */

static int list(const Options *o, const char *word) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_table_ Table t = {};
        json_auto_t *profiles = json_array();
        json_t *p;
        size_t i;
        int status = get(profiles, &c, o, NULL);

        if (status != STATUS_OK)
                return status;
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(profiles));
        if (json_array_size(profiles) == 0)
                talk(o, "No profiles. They are files /etc/ftraced/profiles.d/NAME.conf: see "
                        "ftraced.profile(5).");
        table_begin(&t, JSON_OFF);
        json_array_foreach (profiles, i, p) {
                Row r = table_row(&t);

                row_cell(r, "NAME", "%s", json_text(p, "name"));
                row_cell(r, "DESCRIPTION", "%s%s", json_text(p, "description"),
                         member_of(p, "problems", 0) ? " (invalid: see profile check)" : "");
                row_cell(r, "FILE", "%s", json_string_value(member_of(p, "files", 0)) ?: "");
        }
        return table_show(&t, o, NULL);
}

static int show(const Options *o, const char *word) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *profiles = json_array();
        json_t *p, *item;
        size_t i;
        int status = get(profiles, &c, o, word);

        if (status != STATUS_OK)
                return status;
        p = json_array_get(profiles, 0);
        json_array_foreach (json_object_get(p, "problems"), i, item)
                log_warning("%s.", json_string_value(item) ?: "");
        if (o->json != JSON_OFF)
                return stdout_json(o, json_incref(p));
        buf_adds(&out, "[Profile]\n");
        json_array_foreach (json_object_get(p, "settings"), i, item)
                buf_printf(&out, "# %s:%lli\n%s=%s\n", json_text(item, "file"),
                           (long long) json_integer_value(json_object_get(item, "line")),
                           json_text(item, "key"), json_text(item, "value"));
        return stdout_end(&out);
}

/* --- check ------------------------------------------------------------------------------------ */

/* A word of a line that names functions. */
static int check_word(json_t *warnings, const json_t *setting, const char *word,
                      const FunctionList *l) {
        _cleanup_strv_ Strv names = {};
        size_t best = typo_limit(word) + 1;
        const char *like = NULL;
        int status = selection_match(&names, word, l);

        if (status != STATUS_OK || names.n > 0)
                return status;
        for (size_t i = 0; !function_pattern_is_glob(word) && i < l->n; i++) {
                size_t d = typo_distance(word, l->items[i].name, best);

                if (d < best)
                        like = l->items[i].name;
                best = MIN(best, d);
        }
        return json_array_append_new(
                       warnings,
                       json_sprintf(
                               "%s:%lli: no function that can be traced here is \"%s\"%s%s%s",
                               json_text(setting, "file"),
                               (long long) json_integer_value(json_object_get(setting, "line")),
                               NAME_QUOTED(word), like ? "; did you mean \"" : "", like ?: "",
                               like ? "\"?" : "")) < 0
                       ? fail(-ENOMEM)
                       : STATUS_OK;
}

static int check_functions(json_t *warnings, const json_t *p, const FunctionList *l) {
        json_t *setting;
        size_t i;
        int status = STATUS_OK;

        json_array_foreach (json_object_get(p, "settings"), i, setting) {
                const char *key = json_text(setting, "key");
                _cleanup_strv_ Strv words = {};

                if (!streq(key, "Functions") && !streq(key, "NoTrace") && !streq(key, "Hooked"))
                        continue;
                if (strv_split(&words, json_text(setting, "value"), " \t") < 0)
                        return fail(-ENOMEM);
                for (size_t w = 0; status == STATUS_OK && w < words.n; w++)
                        status = check_word(warnings, setting, words.items[w], l);
        }
        return status;
}

static void print_check(Buf *out, const json_t *p, const json_t *warnings) {
        json_t *problems = json_object_get(p, "problems"), *item;
        size_t i;

        json_array_foreach (problems, i, item)
                buf_printf(out, "%s\n", json_string_value(item) ?: "");
        json_array_foreach (warnings, i, item)
                buf_printf(out, "%s (a warning)\n", json_string_value(item) ?: "");
        if (json_array_size(problems) + json_array_size(warnings) == 0)
                buf_printf(out, "%s: good\n",
                           *json_text(p, "name") ? json_text(p, "name")
                                               : json_string_value(member_of(p, "files", 0)) ?: "");
}

static int check(const Options *o, const char *word) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_function_list_ FunctionList functions = {};
        json_auto_t *profiles = json_array(), *result = json_array();
        bool is_bad = false, has_functions = false;
        size_t n_word = strlen(word ?: "");
        json_t *p;
        size_t i;
        int status =
                word && (strchr(word, '/') || (n_word > 5 && streq(word + n_word - 5, ".conf")))
                        ? load_file(profiles, word)
                        : get(profiles, &c, o, word);

        if (status != STATUS_OK)
                return status;
        /* What can be traced is known of a daemon that runs: without one nothing is said of it. */
        if (json_array_size(profiles) > 0) {
                if (c || client_connect(&c, contact_socket(o)) == 0)
                        has_functions = function_list_get(&functions, c) == STATUS_OK;
                else
                        talk(o, "Functions are not checked: no daemon runs.");
        }
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
                is_bad = is_bad || member_of(p, "problems", 0);
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
