/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a key sets, how its value is written and what may be one is known to spec.c, which is asked, so that
 * nothing is said twice.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/ini.h"
#include "base/io.h"
#include "base/name.h"
#include "meta/config.h"
#include "meta/profile.h"

#define SECTION "Profile"
#define DESCRIPTION "Description"
#define WAIT "Wait"
#define TOO_MANY (-E2BIG) /* ends the parse; the profile is of no use anyway */

/* 0 in a Spec is no sample, which has all hosts. */
static int parse_sample(const char *s, uint64_t *ret_ppm) {
        int r = parse_percent(s, ret_ppm);

        return r < 0 ? r : *ret_ppm > 0 ? 0 : -ERANGE;
}

/* How a number is read, and the rest of "KEY=VALUE is ...". */
static const struct {
        int (*parse)(const char *s, uint64_t *ret);
        const char *wanted;
} values[] = {
        [SPEC_VALUE_WORDS] = { NULL, "not a list of what it takes" },
        [SPEC_VALUE_LINE] = { NULL, "not what it takes" },
        [SPEC_VALUE_WORD] = { NULL, "not a word that it takes" },
        [SPEC_VALUE_NUMBER] = { NULL, "not a number, or out of range" },
        [SPEC_VALUE_COUNT] = { parse_count, "not a number like 500K, or out of range" },
        [SPEC_VALUE_BYTES] = { parse_bytes, "not a size like 64M, or out of range" },
        [SPEC_VALUE_DURATION] = { parse_duration, "not a time like 30s, or out of range" },
        [SPEC_VALUE_PERCENT] = { parse_percent, "not a share like 2%" },
        [SPEC_VALUE_SAMPLE] = { parse_sample, "not a share of hosts like 1%, of 0.0001% at least" },
        [SPEC_VALUE_BOOL] = { NULL, "neither yes nor no" },
};

/* --- values ----------------------------------------------------------------------------------- */

static json_t *parse_bool(const char *s) {
        static const char *const yes[] = { "yes", "true", "on", "1" }, *const no[] = { "no",
                                                                                       "false",
                                                                                       "off", "0" };

        for (size_t i = 0; i < ELEMENTSOF(yes); i++) {
                if (strcasecmp(s, yes[i]) == 0)
                        return json_true();
                if (strcasecmp(s, no[i]) == 0)
                        return json_false();
        }
        return NULL;
}

/* A new value, or NULL if @s is none. */
static json_t *parse_value(SpecValue type, const char *s) {
        _cleanup_strv_ Strv words = {};
        uint64_t n = 0;
        int r;

        switch (type) {
        case SPEC_VALUE_WORD:
                return json_string(s);
        case SPEC_VALUE_WORDS:
                return strv_split_outside(&words, s, " \t,") < 0 ? NULL : json_strv_new(&words);
        case SPEC_VALUE_LINE:
                return json_pack("[s]", s);
        case SPEC_VALUE_BOOL:
                return parse_bool(s);
        case SPEC_VALUE_NUMBER:
                r = parse_u64(s, INT64_MAX, &n);
                break;
        default:
                n = SPEC_UNLIMITED; /* is_member() refuses it where there is none */
                r = type != SPEC_VALUE_DURATION && streq(s, "infinity") ? 0
                                                                        : values[type].parse(s, &n);
        }
        return r < 0 || n > INT64_MAX ? NULL : json_integer((json_int_t) n);
}

/* True if a Spec may have @value as its @member. */
static bool is_member(const char *member, json_t *value) {
        json_auto_t *o = json_pack("{s[s]}", "functions", "x");
        _cleanup_spec_ Spec spec = {};
        const char *field;

        return o && json_object_set(o, member, value) >= 0 && spec_from_json(&spec, o, &field) == 0;
}

/* --- settings --------------------------------------------------------------------------------- */

/* A path need not be UTF-8. */
static json_t *text_to_json(const char *s) {
        return json_string(s) ?: json_string(NAME_QUOTED(s));
}

static void forget(Profile *p, const char *key) {
        for (size_t i = json_array_size(p->settings); i-- > 0;) {
                const json_t *setting = json_array_get(p->settings, i);

                if (streq(json_string_value(json_object_get(setting, "key")), key))
                        (void) json_array_remove(p->settings, i);
        }
}

/* --- one file --------------------------------------------------------------------------------- */

typedef struct Parse {
        Profile *profile;
        const char *file;
} Parse;

#define complain(p, line, ...)                                                                     \
        ((p)->profile->problems.n >= PROFILE_MAX_PROBLEMS                                          \
                 ? TOO_MANY                                                                        \
                 : ini_complain(&(p)->profile->problems, (p)->file, (line), __VA_ARGS__))

static bool knows(const char *section) {
        return streq(section, SECTION);
}

static int on_bad_line(unsigned line, const char *what, void *userdata) {
        return complain((Parse *) userdata, line, "%s", what);
}

/* The line counts, unless it is empty; @adds: beside those before it. */
static int note(Parse *p, const IniEntry *e, bool adds) {
        json_t *o;

        if (!adds)
                forget(p->profile, e->key);
        if (*e->value == 0)
                return 0;
        o = json_pack("{ss ss so si}", "key", e->key, "value", e->value, "file",
                      text_to_json(p->file), "line", (int) e->line);
        return json_array_append_new(p->profile->settings, o) < 0 ? -ENOMEM : 0;
}

static int refuse_key(Parse *p, const IniEntry *e) {
        const char *keys[64] = { DESCRIPTION, WAIT }, *like, *instead;
        const SpecMember *m;
        size_t n = 2;

        instead = gone_instead(GONE_KEY, e->key);
        if (instead)
                return complain(p, e->line, "the key %s= is gone: %s", e->key, instead);
        while (n < ELEMENTSOF(keys) && (m = spec_member(n - 2)))
                keys[n++] = m->key;
        like = typo_nearest(e->key, keys, n);
        return complain(p, e->line, "unknown key %s=%s%s%s", NAME_QUOTED(e->key),
                        like ? "; did you mean " : "; see ftraced.profile(5)", like ?: "",
                        like ? "=?" : "");
}

/* Takes @value over, or adds it to the list that is there.  Whether there is room for it, and all goes together. */
static bool put_member(json_t *spec, const char *member, json_t *value) {
        json_t *before = json_object_get(spec, member);
        json_auto_t *all = json_is_array(before) ? json_copy(before) : json_incref(value);

        return (!json_is_array(before) || json_array_extend(all, value) >= 0) &&
               is_member(member, all) && json_object_set(spec, member, all) >= 0;
}

static int set_member(Parse *p, const IniEntry *e, const SpecMember *m) {
        json_auto_t *value = *e->value ? parse_value(m->value, e->value) : NULL;

        if (*e->value == 0) {
                (void) json_object_del(p->profile->spec, m->json.key);
                return note(p, e, false);
        }
        if (!value || !is_member(m->json.key, value))
                return complain(p, e->line, "%s=%s is %s", m->key, NAME_QUOTED(e->value),
                                values[m->value].wanted);
        if (!put_member(p->profile->spec, m->json.key, value))
                return complain(p, e->line, "%s=%s is one too many, or there is one for it above",
                                m->key, NAME_QUOTED(e->value));
        return note(p, e, json_is_array(value));
}

static int set_description(Parse *p, const IniEntry *e) {
        size_t n = strlen(e->value);

        if (plain_length(e->value, n, PLAIN_WORD) < n)
                return complain(p, e->line,
                                DESCRIPTION "= is not UTF-8, or has control characters");
        if (text_replace(&p->profile->description, *e->value ? e->value : NULL) < 0)
                return -ENOMEM;
        return note(p, e, false);
}

static int set_wait(Parse *p, const IniEntry *e) {
        uint64_t n = *e->value ? INT64_MAX : 0; /* for ever, or not at all */

        if (*e->value && !streq(e->value, "infinity") &&
            (parse_duration(e->value, &n) < 0 || n > (uint64_t) INT64_MAX))
                return complain(p, e->line, WAIT "=%s is neither infinity nor a time like 30s",
                                NAME_QUOTED(e->value));
        p->profile->wait_ns = n;
        return note(p, e, false);
}

static int on_set(const IniEntry *e, void *userdata) {
        Parse *p = userdata;
        const SpecMember *m;

        if (*e->section == 0)
                return complain(p, e->line, "this stands before [" SECTION "]");
        if (streq(e->key, DESCRIPTION))
                return set_description(p, e);
        if (streq(e->key, WAIT))
                return set_wait(p, e);
        for (size_t i = 0; (m = spec_member(i)); i++)
                if (streq(m->key, e->key))
                        return set_member(p, e, m);
        return refuse_key(p, e);
}

static int begin(Profile *p) {
        p->spec = p->spec ?: json_object();
        p->settings = p->settings ?: json_array();
        return p->spec && p->settings ? 0 : -ENOMEM;
}

int profile_parse(Profile *p, const char *file, char *text, size_t n_text) {
        Parse parse = { .profile = p, .file = file };
        size_t n = strlen(text);
        unsigned line = 1;
        int r = 0;

        if (begin(p) < 0)
                return -ENOMEM;
        for (size_t i = 0; n < n_text && i < n; i++)
                line += text[i] == '\n';
        if (n < n_text)
                r = complain(&parse, line, "a NUL byte, at which reading ends");
        if (r >= 0)
                r = ini_parse(text, &(IniHandler){ on_set, knows, on_bad_line, &parse });
        return r == TOO_MANY ? 0 : r;
}

/* --- all files -------------------------------------------------------------------------------- */

/* *@ret_n: its bytes, if it could be read. */
static int load_file(Profile *p, const char *path, size_t *ret_n) {
        _cleanup_free_ char *text = NULL;
        int r = file_read(AT_FDCWD, path, &text, ret_n, INI_BYTES_MAX);

        if (r < 0)
                return r;
        r = strv_add(&p->files, path);
        return r < 0 ? r : profile_parse(p, path, text, *ret_n);
}

static int load_files(Profile *p, const Strv *paths) {
        for (size_t i = 0; i < paths->n; i++) {
                size_t n = 1;
                int r = load_file(p, paths->items[i], &n);

                if (r < 0 && r != -ENOMEM)
                        r = strv_addf(&p->problems, "%s cannot be read: %s", paths->items[i],
                                      strerror(-r));
                if (r < 0)
                        return r;
                if (i == 0 && n == 0)
                        return PROFILE_E_HIDDEN;
        }
        return 0;
}

int profile_load(Profile *ret, const char *root, const char *name) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        char file[SESSION_NAME_MAX + sizeof(PROFILE_DIR "/.conf")];
        _cleanup_strv_ Strv paths = {};
        bool has_main = false;
        int r;

        (void) snprintf(file, sizeof(file), PROFILE_DIR "/%s.conf", name);
        r = conf_files_find(&paths, root, file, &has_main);
        if (r < 0)
                return r;
        if (!has_main)
                return PROFILE_E_NOT_FOUND;
        p.name = strdup(name);
        if (!p.name || begin(&p) < 0)
                return -ENOMEM;
        r = load_files(&p, &paths);
        if (r != 0)
                return r;
        *ret = TAKE(p, PROFILE_INIT);
        return 0;
}

int profile_load_file(Profile *ret, const char *path) {
        _cleanup_profile_ Profile p = PROFILE_INIT;
        size_t n;
        int r = load_file(&p, path, &n);

        if (r < 0)
                return r;
        *ret = TAKE(p, PROFILE_INIT);
        return 0;
}

int profile_list(Strv *ret, const char *root) {
        _cleanup_strv_ Strv files = {};
        int r = conf_files_list(&files, root, PROFILE_DIR);

        for (size_t i = 0; r >= 0 && i < files.n; i++) {
                char *name = files.items[i];

                name[strlen(name) - strlen(".conf")] = 0;
                if (session_name_is_valid(name))
                        r = strv_add(ret, name);
        }
        return r;
}

int profile_suggest(char **ret, const char *root, const char *name) {
        _cleanup_strv_ Strv names = {};
        const char *like;
        int r = profile_list(&names, root);

        if (r < 0)
                return r;
        like = typo_nearest(name, (const char *const *) names.items, names.n);
        *ret = like ? strdup(like) : NULL;
        return like && !*ret ? -ENOMEM : 0;
}

void profile_done(Profile *p) {
        free(p->name);
        free(p->description);
        json_decref(p->settings);
        json_decref(p->spec);
        strv_done(&p->files);
        strv_done(&p->problems);
        *p = PROFILE_INIT;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *words_to_json(const Strv *words) {
        json_auto_t *list = json_array();

        for (size_t i = 0; list && i < words->n; i++)
                if (json_array_append_new(list, text_to_json(words->items[i])) < 0)
                        return NULL;
        return TAKE_PTR(list);
}

json_t *profile_to_json(const Profile *p) {
        json_t *wait = p->wait_ns > 0 ? json_integer((json_int_t) p->wait_ns) : NULL;

        return json_pack("{ss* ss* so sO so so* sO}", "name", p->name, "description",
                         p->description, "files", words_to_json(&p->files), "settings", p->settings,
                         "problems", words_to_json(&p->problems), "wait_ns", wait, "spec", p->spec);
}

/* --- samples ------------------------------------------------------------------------------------- */

/* XXH64 of "MACHINE-ID DAYS", of which the upper 53 bits are compared with the share as a fraction. */
#define MACHINE_ID_PATH "/etc/machine-id"
#define DAY_NS (86400 * NSEC_PER_SEC)
#define FRACTION_BITS 53

bool sample_has(const char *machine_id, uint64_t now_ns, uint64_t ppm) {
        char text[SAMPLE_ID_BYTES + 32];
        int n = snprintf(text, sizeof(text), "%.*s %" PRIu64, SAMPLE_ID_BYTES, machine_id,
                         (uint64_t) (now_ns / DAY_NS));
        uint64_t h = XXH64(text, (size_t) n, 0) >> (64 - FRACTION_BITS);

        return ppm == 0 || ppm >= SAMPLE_ALL_PPM ||
               (double) h / (double) (UINT64_C(1) << FRACTION_BITS) * SAMPLE_ALL_PPM < (double) ppm;
}

int sample_has_us(bool *ret, uint64_t ppm) {
        _cleanup_free_ char *text = NULL;
        int r = file_read(AT_FDCWD, MACHINE_ID_PATH, &text, NULL, 4096);

        if (r < 0)
                return r;
        if (strspn(text, "0123456789abcdef") != SAMPLE_ID_BYTES)
                return ORIGIN(-ENOMEDIUM);
        *ret = sample_has(text, now_ns(CLOCK_REALTIME), ppm);
        return 0;
}
