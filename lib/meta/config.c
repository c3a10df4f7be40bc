/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One table: a key, where its value goes, and how it is read.  Defaults that depend on the disk are
 * worked out at the end, by config_limits(), so that what was written can be shown as it was.
 */

#include <fcntl.h>

#include "base/conf-files.h"
#include "base/ini.h"
#include "base/io.h"
#include "base/name.h"
#include "meta/config.h"
#include "meta/gone.h"

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

        if (r != LEAN_OFF && r != LEAN_AUTO)
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
        [VALUE_LEAN] = { parse_lean, "word: auto or off (instead of full)" },
        [VALUE_FUNCTIONS] = { NULL, "list of functions' names and globs" },
        [VALUE_EVENTS] = { NULL, "list of events and globs like sched:sched_switch irq:*" },
};

/* A key, where its value goes, and what it is by default in words. */
#define KEY(key, in, as, kind, member, by_default, ...)                                            \
        [CONFIG_##key] = { .section = (in),                                                        \
                           .name = (as),                                                           \
                           .type = VALUE_##kind,                                                   \
                           .offset = offsetof(Config, member),                                     \
                           .default_text = (by_default),                                           \
                           __VA_ARGS__ }
#define LIMIT(key, in, as, kind, member, ...) KEY(key, in, as, kind, limits.member, __VA_ARGS__)

static const struct {
        const char *section, *name;
        ValueType type;
        size_t offset;
        const char *default_text;
        uint64_t min; /* of what is not 0 */
} keys[_CONFIG_KEY_N] = {
        KEY(MAX_USE, "Store", "MaxUse", SHARE, max_use, "10%, at most 4G"),
        KEY(KEEP_FREE, "Store", "KeepFree", SHARE, keep_free, "15%, at most 4G"),
        LIMIT(MAX_SESSION_SIZE, "Store", "MaxSessionSize", BYTES, max_session_bytes,
              "none; of a ring an eighth of MaxUse"),
        LIMIT(MAX_SEGMENT_SIZE, "Store", "MaxSegmentSize", BYTES, max_segment_bytes,
              "an eighth of MaxUse, at most 128M", .min = SPEC_SEGMENT_BYTES_MIN),
        LIMIT(MAX_SEGMENT_SEC, "Store", "MaxSegmentSec", DURATION, max_segment_ns, "1h",
              .min = SPEC_SEGMENT_NS_MIN),
        LIMIT(MAX_RETENTION_SEC, "Store", "MaxRetentionSec", DURATION, max_retention_ns, "0"),
        LIMIT(MIN_RETENTION_SEC, "Store", "MinRetentionSec", LEAST_DURATION, min_retention_ns,
              "1h"),
        LIMIT(LEAN, "Guard", "Lean", LEAN, lean, "auto"),
        LIMIT(RELEARN_SEC, "Guard", "RelearnSec", DURATION, relearn_ns, "1h"),
        LIMIT(MAX_HOOKED_FUNCTIONS, "Guard", "MaxHookedFunctions", COUNT, max_hooked, "4096"),
        KEY(MAX_BUFFER_MEMORY, "Guard", "MaxBufferMemory", SHARE, max_buffer_memory, "50%"),
        LIMIT(MAX_EVENT_RATE, "Guard", "MaxEventRate", COUNT, max_event_rate, "1M for each CPU"),
        LIMIT(MAX_WRITE_RATE, "Guard", "MaxWriteRate", BYTES, max_write_rate, "256M"),
        LIMIT(MAX_CPU, "Guard", "MaxCPU", PERCENT, max_cpu_ppm, "50%"),
        KEY(MEMBER_FUNCTIONS, "Members", "Functions", FUNCTIONS, member_functions, "*"),
        KEY(MEMBER_EVENTS, "Members", "Events", EVENTS, member_events, "none"),
        LIMIT(MEMBER_MAX_SESSIONS, "Members", "MaxSessions", COUNT, member.max_sessions, "4"),
        LIMIT(MEMBER_MAX_STORED, "Members", "MaxStored", BYTES, member.max_stored_bytes, "2G"),
        LIMIT(MEMBER_MAX_CONNECTIONS, "Members", "MaxConnections", COUNT, member.max_connections,
              "64"),
        LIMIT(MEMBER_MAX_CALLS, "Members", "MaxCalls", COUNT, member.max_calls, "32"),
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
        int r = strv_split(&list, streq(s, "none") ? "" : s, " \t");

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

static void set_origin(Config *c, ConfigKey key, ConfigOrigin origin) {
        free(c->origins[key].text);
        free(c->origins[key].file);
        c->origins[key] = origin;
}

static void set_default(Config *c, ConfigKey key) {
        static const Config defaults = CONFIG_INIT;
        void *at = (char *) c + keys[key].offset;

        if (is_list(key))
                strv_done(at);
        else
                memcpy(at, (const char *) &defaults + keys[key].offset,
                       keys[key].type == VALUE_SHARE ? sizeof(ConfigShare) : sizeof(uint64_t));
        set_origin(c, key, (ConfigOrigin){});
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

        p->is_foreign = true;
        for (size_t i = 0; i < _CONFIG_KEY_N; i++)
                if (streq(keys[i].section, name))
                        p->is_foreign = false;
        if (!p->is_foreign || startswith(name, "X-"))
                return 0;
        return complain(p, line, "unknown section [%s], ignored", NAME_QUOTED(name));
}

static int on_bad_line(unsigned line, const char *what, void *userdata) {
        return complain((Parse *) userdata, line, "%s, ignored", what);
}

static int on_set(const IniEntry *e, void *userdata) {
        Parse *p = userdata;
        ConfigOrigin origin;
        const char *instead;
        size_t i = 0;

        if (p->is_foreign)
                return 0;
        while (i < _CONFIG_KEY_N &&
               !(streq(keys[i].section, e->section) && streq(keys[i].name, e->key)))
                i++;
        instead = i == _CONFIG_KEY_N ? gone_instead(GONE_KEY, e->key) : NULL;
        if (instead)
                return complain(p, e->line, "the key %s= is gone: %s", e->key, instead);
        if (i == _CONFIG_KEY_N)
                return complain(p, e->line, "unknown key %s= %s%s%s, ignored", NAME_QUOTED(e->key),
                                *e->section ? "in [" : "before a section", e->section,
                                *e->section ? "]" : "");
        if (*e->value == 0) {
                set_default(p->config, (ConfigKey) i);
                return 0;
        }
        if (parse_value(p->config, (ConfigKey) i, e->value) < 0)
                return complain(p, e->line, "%s=%s is not a %s, ignored", keys[i].name,
                                NAME_QUOTED(e->value), value_types[keys[i].type].like);
        origin = (ConfigOrigin){ strdup(e->value), strdup(p->file), e->line };
        set_origin(p->config, (ConfigKey) i, origin);
        return origin.text && origin.file ? 0 : -ENOMEM;
}

int config_parse(Config *c, const char *name, char *text, Strv *problems) {
        Parse p = { .config = c, .file = name, .problems = problems };

        return ini_parse(text, &(IniHandler){ on_set, on_section, on_bad_line, &p });
}

/* --- all files -------------------------------------------------------------------------------- */

/* @is_asked_for: that it cannot be read is an error, not a problem. */
static int load_file(Config *c, const char *path, bool is_asked_for, Strv *problems) {
        _cleanup_free_ char *text = NULL;
        int r = file_read(AT_FDCWD, path, &text, NULL, INI_BYTES_MAX);

        if (r < 0 && r != -ENOMEM && !is_asked_for)
                return strv_addf(problems, "%s cannot be read: %s", path, strerror(-r));
        if (r < 0)
                return r;
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
        for (ConfigKey key = 0; key < _CONFIG_KEY_N; key++)
                set_origin(c, key, (ConfigOrigin){});
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
        Limits l = c->limits;
        uint64_t part;

        l.max_use_bytes = share_of(&c->max_use, fs_bytes, USE_PERCENT);
        l.keep_free_bytes = share_of(&c->keep_free, fs_bytes, FREE_PERCENT);
        l.max_buffer_memory = c->max_buffer_memory;
        l.session_is_limited = l.max_session_bytes != UINT64_MAX && l.max_session_bytes > 0;
        if (c->origins[CONFIG_MEMBER_FUNCTIONS].text)
                l.member_functions = &c->member_functions;
        l.member_events = &c->member_events;
        if (c->max_use.bytes == UINT64_MAX)
                l.max_use_bytes = MAX(l.max_use_bytes, USE_BYTES_MIN);
        if (l.max_event_rate == UINT64_MAX)
                l.max_event_rate = CONFIG_CPU_EVENT_RATE * (uint64_t) MAX(n_cpus, 1U);
        part = (l.max_use_bytes ?: DEFAULT_BYTES_MAX) / PARTS;
        if (!l.session_is_limited)
                l.max_session_bytes = part;
        if (l.max_segment_bytes == UINT64_MAX) {
                part = MIN(part, SEGMENT_BYTES_MAX);
                l.max_segment_bytes = MAX(part, SPEC_SEGMENT_BYTES_MIN);
        }
        return l;
}
