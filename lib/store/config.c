/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One table: a key, where its value goes, and how it is read.  Defaults that depend on the disk are
 * worked out at the end, by config_limits(), so that what was written can be shown as it was.
 */

#include <fcntl.h>
#include <stdio.h>

#include "base/conf-files.h"
#include "base/ini.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "store/config.h"
#include "store/spec.h"

#define FILE_NAME "ftraced.conf"
#define USE_PERCENT 10 /* the defaults are journald's (systemd 252, man 5 journald.conf) */
#define FREE_PERCENT 15
#define DEFAULT_BYTES_MAX (4ULL << 30)
#define USE_BYTES_MIN (16ULL << 20)
#define SEGMENT_BYTES_MAX (128ULL << 20)
#define EVENT_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:*?[]!"
#define PARTS 8 /* of MaxUse= is one segment, or a ring */

typedef enum ValueType {
        VALUE_SHARE,
        VALUE_BYTES,
        VALUE_DURATION,
        VALUE_LEAST_DURATION, /* "infinity" is no lack of a limit */
        VALUE_COUNT,
        VALUE_PERCENT,
        VALUE_LEAN,
        VALUE_FUNCTIONS,
        VALUE_EVENTS,
        _VALUE_TYPE_N,
} ValueType;

static int parse_lean(const char *s, uint64_t *ret) {
        int r = spec_lean_from_name(s);

        if (r <= LEAN_DEFAULT)
                return ORIGIN(-EINVAL);
        *ret = (uint64_t) r;
        return 0;
}

/* How a number is read, and what it is said to be. */
static const struct {
        int (*parse)(const char *s, uint64_t *ret);
        const char *like;
} value_types[_VALUE_TYPE_N] = {
        [VALUE_SHARE] = { parse_bytes, "size like 4G or 10%" },
        [VALUE_BYTES] = { parse_bytes, "size like 64M that is large enough" },
        [VALUE_DURATION] = { parse_duration, "time like 30s or 2weeks that is long enough" },
        [VALUE_LEAST_DURATION] = { parse_duration, "time like 1h or 2weeks" },
        [VALUE_COUNT] = { parse_count, "number like 4096 or 500K" },
        [VALUE_PERCENT] = { parse_percent, "share like 50%" },
        [VALUE_LEAN] = { parse_lean, "word like auto, full or off" },
        [VALUE_FUNCTIONS] = { NULL, "list of functions' names and globs" },
        [VALUE_EVENTS] = { NULL, "list of events and globs like sched:sched_switch irq:*" },
};

static const struct {
        const char *section, *name;
        ValueType type;
        size_t offset;
        const char *default_text;
        uint64_t min; /* of what is not 0 */
} keys[_CONFIG_KEY_N] = {
        [CONFIG_MAX_USE] = { "Store", "MaxUse", VALUE_SHARE, offsetof(Config, max_use),
                             "10%, at most 4G", 0 },
        [CONFIG_KEEP_FREE] = { "Store", "KeepFree", VALUE_SHARE, offsetof(Config, keep_free),
                               "15%, at most 4G", 0 },
        [CONFIG_MAX_SESSION_SIZE] = { "Store", "MaxSessionSize", VALUE_BYTES,
                                      offsetof(Config, max_session_bytes),
                                      "none; of a ring an eighth of MaxUse", 0 },
        [CONFIG_MAX_SEGMENT_SIZE] = { "Store", "MaxSegmentSize", VALUE_BYTES,
                                      offsetof(Config, max_segment_bytes),
                                      "an eighth of MaxUse, at most 128M", SPEC_SEGMENT_BYTES_MIN },
        [CONFIG_MAX_SEGMENT_SEC] = { "Store", "MaxSegmentSec", VALUE_DURATION,
                                     offsetof(Config, max_segment_ns), "1h", SPEC_SEGMENT_NS_MIN },
        [CONFIG_MAX_RETENTION_SEC] = { "Store", "MaxRetentionSec", VALUE_DURATION,
                                       offsetof(Config, max_retention_ns), "0", 0 },
        [CONFIG_MIN_RETENTION_SEC] = { "Store", "MinRetentionSec", VALUE_LEAST_DURATION,
                                       offsetof(Config, min_retention_ns), "1h", 0 },
        [CONFIG_LEAN] = { "Guard", "Lean", VALUE_LEAN, offsetof(Config, lean), "auto", 0 },
        [CONFIG_MAX_HOOKED_FUNCTIONS] = { "Guard", "MaxHookedFunctions", VALUE_COUNT,
                                          offsetof(Config, max_hooked), "4096", 0 },
        [CONFIG_MAX_BUFFER_MEMORY] = { "Guard", "MaxBufferMemory", VALUE_SHARE,
                                       offsetof(Config, max_buffer_memory), "50%", 0 },
        [CONFIG_MAX_EVENT_RATE] = { "Guard", "MaxEventRate", VALUE_COUNT,
                                    offsetof(Config, max_event_rate), "1M for each CPU", 0 },
        [CONFIG_MAX_WRITE_RATE] = { "Guard", "MaxWriteRate", VALUE_BYTES,
                                    offsetof(Config, max_write_rate), "256M", 0 },
        [CONFIG_MAX_CPU] = { "Guard", "MaxCPU", VALUE_PERCENT, offsetof(Config, max_cpu_ppm), "50%",
                             0 },
        [CONFIG_MEMBER_FUNCTIONS] = { "Members", "Functions", VALUE_FUNCTIONS,
                                      offsetof(Config, member_functions), "*", 0 },
        [CONFIG_MEMBER_EVENTS] = { "Members", "Events", VALUE_EVENTS,
                                   offsetof(Config, member_events), "none", 0 },
        [CONFIG_MEMBER_MAX_DEPTH] = { "Members", "MaxDepth", VALUE_COUNT,
                                      offsetof(Config, member.max_depth), "0", 0 },
        [CONFIG_MEMBER_MAX_DURATION_SEC] = { "Members", "MaxDurationSec", VALUE_DURATION,
                                             offsetof(Config, member.max_duration_ns), "1h", 0 },
        [CONFIG_MEMBER_MAX_SIZE] = { "Members", "MaxSize", VALUE_BYTES,
                                     offsetof(Config, member.max_bytes), "1G", 0 },
        [CONFIG_MEMBER_MAX_SESSIONS] = { "Members", "MaxSessions", VALUE_COUNT,
                                         offsetof(Config, member.max_sessions), "4", 0 },
        [CONFIG_MEMBER_MAX_STORED] = { "Members", "MaxStored", VALUE_BYTES,
                                       offsetof(Config, member.max_stored_bytes), "2G", 0 },
        [CONFIG_MEMBER_MAX_CONNECTIONS] = { "Members", "MaxConnections", VALUE_COUNT,
                                            offsetof(Config, member.max_connections), "64", 0 },
        [CONFIG_MEMBER_MAX_CALLS] = { "Members", "MaxCalls", VALUE_COUNT,
                                      offsetof(Config, member.max_calls), "32", 0 },
};

const char *config_section(ConfigKey key) {
        return keys[key].section;
}

const char *config_name(ConfigKey key) {
        return keys[key].name;
}

const char *config_text(const Config *c, ConfigKey key) {
        return c->origins[key].text ?: keys[key].default_text;
}

/* --- values ----------------------------------------------------------------------------------- */

static int parse_number(const char *s, ValueType type, uint64_t *ret) {
        if (streq(s, "infinity") && type != VALUE_LEAN) {
                *ret = type == VALUE_LEAST_DURATION ? CONFIG_FOREVER_NS : 0;
                return 0;
        }
        return value_types[type].parse(s, ret);
}

static int parse_share(const char *s, ConfigShare *ret) {
        char digits[8];
        size_t n = strlen(s);
        uint64_t percent;

        if (n == 0 || n > sizeof(digits) || s[n - 1] != '%') {
                *ret = (ConfigShare){};
                return parse_number(s, VALUE_BYTES, &ret->bytes);
        }
        memcpy(digits, s, n - 1);
        digits[n - 1] = 0;
        if (parse_u64(digits, 100, &percent) < 0)
                return ORIGIN(-EINVAL);
        *ret = (ConfigShare){ .percent = (uint32_t) percent }; /* 0%: no limit */
        return 0;
}

static bool is_list(ConfigKey key) {
        return keys[key].type == VALUE_FUNCTIONS || keys[key].type == VALUE_EVENTS;
}

/* Words of characters that are in no name but harmless in a message; "none" is the empty list. */
static int parse_list(const char *s, ValueType type, Strv *ret) {
        _cleanup_strv_ Strv list = {};
        int r;

        r = strv_split(&list, streq(s, "none") ? "" : s, " \t");
        if (r < 0)
                return r;
        for (size_t i = 0; i < list.n; i++)
                if (type == VALUE_FUNCTIONS
                            ? !function_pattern_is_valid(list.items[i])
                            : list.items[i][strspn(list.items[i], EVENT_CHARS)] != 0)
                        return ORIGIN(-EINVAL);
        strv_done(ret);
        *ret = TAKE(list, (Strv){});
        return 0;
}

static int parse_value(Config *c, ConfigKey key, const char *s) {
        void *at = (char *) c + keys[key].offset;
        ConfigShare share;
        uint64_t n;
        int r;

        if (is_list(key))
                return parse_list(s, keys[key].type, at);
        if (keys[key].type == VALUE_SHARE) {
                r = parse_share(s, &share);
                if (r >= 0)
                        *(ConfigShare *) at = share;
                return r;
        }
        r = parse_number(s, keys[key].type, &n);
        if (r < 0)
                return r;
        if (n > 0 && n < keys[key].min)
                return ORIGIN(-ERANGE);
        *(uint64_t *) at = n;
        return 0;
}

static void set_default(Config *c, ConfigKey key) {
        static const Config defaults = CONFIG_INIT;
        size_t at = keys[key].offset;

        if (is_list(key))
                strv_done((Strv *) (void *) ((char *) c + at));
        else
                memcpy((char *) c + at, (const char *) &defaults + at,
                       keys[key].type == VALUE_SHARE ? sizeof(ConfigShare) : sizeof(uint64_t));
        free(c->origins[key].text);
        free(c->origins[key].file);
        c->origins[key] = (ConfigOrigin){};
}

/* --- one file --------------------------------------------------------------------------------- */

typedef struct Parse {
        Config *config;
        const char *file;
        Strv *problems;
        bool is_foreign; /* in a section that is not ours to judge */
} Parse;

#define complain(p, line, ...) ini_complain((p)->problems, (p)->file, (line), __VA_ARGS__)

static int on_section(const char *name, unsigned line, void *userdata) {
        Parse *p = userdata;
        char quoted[NAME_QUOTE_MAX];

        p->is_foreign = true;
        for (size_t i = 0; i < _CONFIG_KEY_N; i++)
                if (streq(keys[i].section, name))
                        p->is_foreign = false;
        if (!p->is_foreign || startswith(name, "X-"))
                return 0;
        return complain(p, line, "unknown section [%s], ignored", name_quote(quoted, name));
}

static int on_bad_line(unsigned line, const char *what, void *userdata) {
        return complain((Parse *) userdata, line, "%s, ignored", what);
}

static int on_set(const IniEntry *e, void *userdata) {
        Parse *p = userdata;
        char key[NAME_QUOTE_MAX], value[NAME_QUOTE_MAX];
        ConfigOrigin *origin;
        size_t i = 0;

        if (p->is_foreign)
                return 0;
        while (i < _CONFIG_KEY_N &&
               !(streq(keys[i].section, e->section) && streq(keys[i].name, e->key)))
                i++;
        if (i == _CONFIG_KEY_N)
                return complain(p, e->line, "unknown key %s= %s%s%s, ignored",
                                name_quote(key, e->key), *e->section ? "in [" : "before a section",
                                e->section, *e->section ? "]" : "");
        if (*e->value == 0) {
                set_default(p->config, (ConfigKey) i);
                return 0;
        }
        if (parse_value(p->config, (ConfigKey) i, e->value) < 0)
                return complain(p, e->line, "%s=%s is not a %s, ignored", keys[i].name,
                                name_quote(value, e->value), value_types[keys[i].type].like);
        origin = &p->config->origins[i];
        free(origin->text);
        free(origin->file);
        *origin = (ConfigOrigin){ strdup(e->value), strdup(p->file), e->line };
        return origin->text && origin->file ? 0 : -ENOMEM;
}

int config_parse(Config *c, const char *name, char *text, Strv *problems) {
        Parse p = { .config = c, .file = name, .problems = problems };

        return ini_parse(text, &(IniHandler){ on_set, on_section, on_bad_line, &p });
}

/* --- all files -------------------------------------------------------------------------------- */

/* @is_asked_for: that it cannot be read is an error, not a problem. */
static int load_file(Config *c, const char *path, bool is_asked_for, Strv *problems) {
        _cleanup_free_ char *text = NULL, *problem = NULL;
        int r = file_read(AT_FDCWD, path, &text, NULL, INI_BYTES_MAX);

        if (r < 0 && is_asked_for)
                return r;
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                if (asprintf(&problem, "%s cannot be read: %s", path, strerror(-r)) < 0)
                        problem = NULL;
                return problem ? strv_add(problems, problem) : -ENOMEM;
        }
        r = strv_add(&c->files, path);
        return r < 0 ? r : config_parse(c, path, text, problems);
}

int config_load(Config *ret, const char *root, const char *file, Strv *problems) {
        _cleanup_config_ Config c = CONFIG_INIT;
        _cleanup_strv_ Strv paths = {};
        int r;

        if (file)
                r = load_file(&c, file, true, problems);
        else {
                r = conf_files_find(&paths, root, FILE_NAME, NULL);
                for (size_t i = 0; r >= 0 && i < paths.n; i++)
                        r = load_file(&c, paths.items[i], false, problems);
        }
        if (r < 0)
                return r;
        *ret = TAKE(c, (Config){});
        return 0;
}

void config_done(Config *c) {
        for (size_t i = 0; i < _CONFIG_KEY_N; i++) {
                free(c->origins[i].text);
                free(c->origins[i].file);
        }
        strv_done(&c->files);
        strv_done(&c->member_functions);
        strv_done(&c->member_events);
        *c = (Config){};
}

/* --- as numbers ------------------------------------------------------------------------------- */

static uint64_t share_of(const ConfigShare *s, uint64_t fs_bytes, unsigned default_percent) {
        if (s->percent > 0)
                return fs_bytes / 100 * s->percent;
        if (s->bytes != UINT64_MAX)
                return s->bytes;
        return MIN(fs_bytes / 100 * default_percent, DEFAULT_BYTES_MAX);
}

Limits config_limits(const Config *c, uint64_t fs_bytes, unsigned n_cpus) {
        Limits l = {
                .max_use_bytes = share_of(&c->max_use, fs_bytes, USE_PERCENT),
                .keep_free_bytes = share_of(&c->keep_free, fs_bytes, FREE_PERCENT),
                .session_is_limited = c->max_session_bytes != UINT64_MAX,
                .max_session_bytes = c->max_session_bytes,
                .max_segment_bytes = c->max_segment_bytes,
                .max_segment_ns = c->max_segment_ns,
                .max_retention_ns = c->max_retention_ns,
                .min_retention_ns = c->min_retention_ns,
                .max_buffer_memory = c->max_buffer_memory,
                .lean = (SpecLean) c->lean,
                .max_hooked = c->max_hooked,
                .max_event_rate = c->max_event_rate,
                .max_write_rate = c->max_write_rate,
                .max_cpu_ppm = c->max_cpu_ppm,
                .member_functions =
                        c->origins[CONFIG_MEMBER_FUNCTIONS].text ? &c->member_functions : NULL,
                .member_events = &c->member_events,
                .member = c->member,
        };
        uint64_t part;

        if (c->max_use.bytes == UINT64_MAX)
                l.max_use_bytes = MAX(l.max_use_bytes, USE_BYTES_MIN);
        if (l.max_event_rate == UINT64_MAX)
                l.max_event_rate = CONFIG_CPU_EVENT_RATE * (uint64_t) MAX(n_cpus, 1U);
        part = (l.max_use_bytes ?: DEFAULT_BYTES_MAX) / PARTS;
        if (!l.session_is_limited || l.max_session_bytes == 0) {
                l.session_is_limited = false;
                l.max_session_bytes = part;
        }
        if (l.max_segment_bytes == UINT64_MAX) {
                part = MIN(part, SEGMENT_BYTES_MAX);
                l.max_segment_bytes = MAX(part, SPEC_SEGMENT_BYTES_MIN);
        }
        return l;
}
