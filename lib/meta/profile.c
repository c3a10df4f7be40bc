/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One table: a key, the member of Spec that it sets, and how its value is written.  What a member
 * may be is known to spec.c, which is asked, so that nothing is said twice.
 */

#include <fcntl.h>

#include "base/cleanup.h"
#include "base/conf-files.h"
#include "base/ini.h"
#include "base/io.h"
#include "base/name.h"
#include "base/text.h"
#include "base/typo.h"
#include "base/unit.h"
#include "meta/gone.h"
#include "meta/json-field.h"
#include "meta/profile.h"
#include "meta/spec.h"

#define SECTION "Profile"
#define DESCRIPTION "Description"
#define WAIT "Wait"
#define TOO_MANY (-E2BIG) /* ends the parse; the profile is of no use anyway */

typedef enum ValueType {
        VALUE_TEXT,
        VALUE_WORDS, /* separated by blanks or commas; each assignment adds to those before */
        VALUE_LINE,  /* a list, too, each assignment one of it */
        VALUE_WORD,
        VALUE_NUMBER,
        VALUE_COUNT,
        VALUE_BYTES,
        VALUE_DURATION,
        VALUE_PERCENT,
        VALUE_SAMPLE,
        VALUE_BOOL,
} ValueType;

static const struct {
        const char *key, *member;
        ValueType type;
        bool is_limit; /* "infinity" is SPEC_UNLIMITED */
} keys[] = {
        { DESCRIPTION, NULL, VALUE_TEXT },
        { WAIT, NULL, VALUE_DURATION },
        { "Functions", "functions", VALUE_WORDS },
        { "NoTrace", "notrace", VALUE_WORDS },
        { "Depth", "depth", VALUE_NUMBER },
        { "Pids", "pids", VALUE_WORDS },
        { "Comm", "comms", VALUE_LINE },
        { "ControlGroup", "cgroups", VALUE_LINE },
        { "CPUs", "cpus", VALUE_WORDS },
        { "Flat", "flat", VALUE_BOOL },
        { "Slower", "slower_ns", VALUE_DURATION },
        { "NoIRQs", "no_irqs", VALUE_BOOL },
        { "NoSleepTime", "no_sleep_time", VALUE_BOOL },
        { "Clock", "clock", VALUE_WORD },
        { "Duration", "duration_ns", VALUE_DURATION },
        { "MaxSize", "max_bytes", VALUE_BYTES },
        { "Ring", "ring", VALUE_BOOL },
        { "SegmentSize", "segment_bytes", VALUE_BYTES },
        { "SegmentTime", "segment_ns", VALUE_DURATION },
        { "BufferSize", "buffer_bytes", VALUE_BYTES },
        { "MaxFunctions", "max_functions", VALUE_NUMBER },
        { "MaxHooked", "max_hooked", VALUE_COUNT, true },
        { "MaxEventRate", "max_event_rate", VALUE_COUNT, true },
        { "MaxWriteRate", "max_write_rate", VALUE_BYTES, true },
        { "MaxCPU", "max_cpu_ppm", VALUE_PERCENT, true },
        { "Event", "events", VALUE_LINE },
        { "Args", "args", VALUE_BOOL },
        { "RetVal", "retval", VALUE_BOOL },
        { "RetValFunctions", "retval_functions", VALUE_WORDS },
        { "ArgsFunctions", "args_functions", VALUE_WORDS },
        { "Trigger", "triggers", VALUE_LINE },
        { "InKernel", "in_kernel", VALUE_BOOL },
        { "BlackBox", "black_box", VALUE_BOOL },
        { "MaxCaptures", "max_captures", VALUE_NUMBER },
        { "MaxCapturesADay", "max_captures_a_day", VALUE_NUMBER },
        { "MinGap", "min_gap_ns", VALUE_DURATION },
        { "Sample", "sample_ppm", VALUE_SAMPLE },
        { "OnFull", "on_full", VALUE_WORD },
        { "Lean", "lean", VALUE_WORD },
        { "Lesson", "lesson", VALUE_WORD },
        { "Budget", "budget_ppm", VALUE_PERCENT },
        { "Hooked", "hooked", VALUE_WORDS },
};

/* 0 in a Spec is no sample, which has all hosts. */
static int parse_sample(const char *s, uint64_t *ret_ppm) {
        int r = parse_percent(s, ret_ppm);

        return r < 0 ? r : *ret_ppm > 0 ? 0 : -ERANGE;
}

/* How a number is read, and the rest of "KEY=VALUE is ...". */
static const struct {
        int (*parse)(const char *s, uint64_t *ret);
        const char *wanted;
} types[] = {
        [VALUE_TEXT] = { NULL, "not a text" },
        [VALUE_WORDS] = { NULL, "not a list of what it takes" },
        [VALUE_LINE] = { NULL, "not what it takes" },
        [VALUE_WORD] = { NULL, "not a word that it takes" },
        [VALUE_NUMBER] = { NULL, "not a number, or out of range" },
        [VALUE_COUNT] = { parse_count, "not a number like 500K, or out of range" },
        [VALUE_BYTES] = { parse_bytes, "not a size like 64M, or out of range" },
        [VALUE_DURATION] = { parse_duration, "not a time like 30s, or out of range" },
        [VALUE_PERCENT] = { parse_percent, "not a share like 2%" },
        [VALUE_SAMPLE] = { parse_sample, "not a share of hosts like 1%, of 0.0001% at least" },
        [VALUE_BOOL] = { NULL, "neither yes nor no" },
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

static json_t *parse_words(const char *value) {
        _cleanup_strv_ Strv words = {};

        return strv_split(&words, value, " \t,") < 0 ? NULL : json_strv_new(&words);
}

/* A new value, or NULL if @s is none. */
static json_t *parse_value(ValueType type, const char *s) {
        uint64_t n = 0;
        int r;

        switch (type) {
        case VALUE_TEXT:
        case VALUE_WORD:
                return json_string(s);
        case VALUE_WORDS:
                return parse_words(s);
        case VALUE_LINE:
                return json_pack("[s]", s);
        case VALUE_BOOL:
                return parse_bool(s);
        case VALUE_NUMBER:
                r = parse_u64(s, INT64_MAX, &n);
                break;
        default:
                r = types[type].parse(s, &n);
        }
        return r < 0 || n > INT64_MAX ? NULL : json_integer((json_int_t) n);
}

/* Whether a Spec may have @value as its @member. */
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
        bool is_foreign; /* in a section that is not ours to judge */
} Parse;

#define complain(p, line, ...)                                                                     \
        ((p)->profile->problems.n >= PROFILE_MAX_PROBLEMS                                          \
                 ? TOO_MANY                                                                        \
                 : ini_complain(&(p)->profile->problems, (p)->file, (line), __VA_ARGS__))

static int on_section(const char *name, unsigned line, void *userdata) {
        Parse *p = userdata;

        p->is_foreign = !streq(name, SECTION);
        if (!p->is_foreign || startswith(name, "X-"))
                return 0;
        return complain(p, line, "unknown section [%s]; it is [" SECTION "]", NAME_QUOTED(name));
}

static int on_bad_line(unsigned line, const char *what, void *userdata) {
        return complain((Parse *) userdata, line, "%s", what);
}

/* The line counts; @adds: beside those before it. */
static int note(Parse *p, const IniEntry *e, bool adds) {
        json_t *o = json_pack("{ss ss so si}", "key", e->key, "value", e->value, "file",
                              text_to_json(p->file), "line", (int) e->line);

        if (!adds)
                forget(p->profile, e->key);
        return json_array_append_new(p->profile->settings, o) < 0 ? -ENOMEM : 0;
}

static int refuse_key(Parse *p, const IniEntry *e) {
        size_t best = typo_limit(e->key) + 1;
        const char *like = NULL, *instead = gone_instead(GONE_KEY, e->key);

        if (instead)
                return complain(p, e->line, "the key %s= is gone: %s", e->key, instead);
        for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
                size_t d = strcasecmp(e->key, keys[i].key) == 0
                                   ? 0
                                   : typo_distance(e->key, keys[i].key, best);

                if (d < best) {
                        best = d;
                        like = keys[i].key;
                }
        }
        return complain(p, e->line, "unknown key %s=%s%s%s", NAME_QUOTED(e->key),
                        like ? "; did you mean " : "; see ftraced.profile(5)", like ?: "",
                        like ? "=?" : "");
}

/* Takes @value over, or adds it to the words that are there.  Whether there is room for them. */
static bool put_member(json_t *spec, const char *member, json_t *value) {
        json_t *before = json_object_get(spec, member);

        if (!json_is_array(before))
                return json_object_set(spec, member, value) >= 0;
        return json_array_size(before) + json_array_size(value) <= SPEC_MAX_ROOTS &&
               json_array_extend(before, value) >= 0;
}

/* The same for one more line, of which there are few, and not every two go together. */
static bool put_line(json_t *spec, const char *member, json_t *value) {
        json_t *all = json_object_get(spec, member);

        if (!put_member(spec, member, value))
                return false;
        if (!all || is_member(member, all))
                return true;
        (void) json_array_remove(all, json_array_size(all) - 1);
        return false;
}

static int set_member(Parse *p, const IniEntry *e, size_t k) {
        json_auto_t *value = keys[k].is_limit && streq(e->value, "infinity")
                                     ? json_integer((json_int_t) SPEC_UNLIMITED)
                                     : parse_value(keys[k].type, e->value);

        if (!value || !is_member(keys[k].member, value))
                return complain(p, e->line, "%s=%s is %s", keys[k].key, NAME_QUOTED(e->value),
                                types[keys[k].type].wanted);
        if (keys[k].type == VALUE_LINE) {
                if (!put_line(p->profile->spec, keys[k].member, value))
                        return complain(p, e->line,
                                        "%s=%s is one line too many, or there is one for it above",
                                        keys[k].key, NAME_QUOTED(e->value));
        } else if (!put_member(p->profile->spec, keys[k].member, value))
                return complain(p, e->line, "%s= comes to more than %d words", keys[k].key,
                                SPEC_MAX_ROOTS);
        return note(p, e, json_is_array(value));
}

/* UTF-8 that no terminal obeys. */
static bool is_text(const char *s) {
        json_auto_t *text = json_string(s);

        for (const unsigned char *c = (const unsigned char *) s; *c; c++)
                if (*c < ' ' || *c == 0x7f || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f))
                        return false;
        return text != NULL;
}

static int set_description(Parse *p, const IniEntry *e) {
        if (!is_text(e->value))
                return complain(p, e->line,
                                DESCRIPTION "= is not UTF-8, or has control characters");
        if (text_replace(&p->profile->description, e->value) < 0)
                return -ENOMEM;
        return note(p, e, false);
}

static int set_wait(Parse *p, const IniEntry *e) {
        uint64_t n = INT64_MAX; /* for ever */

        if (!streq(e->value, "infinity") &&
            (parse_duration(e->value, &n) < 0 || n > (uint64_t) INT64_MAX))
                return complain(p, e->line, WAIT "=%s is neither infinity nor a time like 30s",
                                NAME_QUOTED(e->value));
        p->profile->wait_ns = n;
        return note(p, e, false);
}

static int on_set(const IniEntry *e, void *userdata) {
        Parse *p = userdata;
        size_t k = 0;

        if (p->is_foreign)
                return 0;
        if (*e->section == 0)
                return complain(p, e->line, "this stands before [" SECTION "]");
        while (k < ELEMENTSOF(keys) && !streq(keys[k].key, e->key))
                k++;
        if (k == ELEMENTSOF(keys))
                return refuse_key(p, e);
        if (*e->value && keys[k].member)
                return set_member(p, e, k);
        if (*e->value)
                return streq(e->key, WAIT) ? set_wait(p, e) : set_description(p, e);
        if (keys[k].member)
                (void) json_object_del(p->profile->spec, keys[k].member);
        else if (streq(e->key, WAIT))
                p->profile->wait_ns = 0;
        else
                (void) text_replace(&p->profile->description, NULL);
        forget(p->profile, e->key);
        return 0;
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
                r = ini_parse(text, &(IniHandler){ on_set, on_section, on_bad_line, &parse });
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

bool profile_name_is_valid(const char *name) {
        return session_name_is_valid(name);
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
                if (profile_name_is_valid(name))
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

bool profile_has_member(const char *member) {
        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                if (streq_ptr(keys[i].member, member))
                        return true;
        return false;
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
