/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One table: a key, where its value goes, and how it is read.  Defaults that depend on the disk are
 * worked out at the end, by config_limits(), so that what was written can be shown as it was.
 */

#include <fcntl.h>

#include "base/io.h"
#include "base/name.h"
#include "meta/config.h"

#define FILE_NAME "ftraced.conf"
#define USE_PERCENT 10 /* the defaults are journald's (systemd 252, man 5 journald.conf) */
#define FREE_PERCENT 15
#define DEFAULT_BYTES_MAX (4ULL << 30)
#define USE_BYTES_MIN (16ULL << 20)
#define SEGMENT_BYTES_MAX (128ULL << 20)
#define EVENT_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:*?[]!"
#define PARTS 8 /* of MaxUse= is one segment, or a ring */

enum {
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
};

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

#define KEY(in, as, kind, member, by_default, ...)                                                 \
        { (in), (as), VALUE_##kind, offsetof(Config, member), (by_default), __VA_ARGS__ }
#define LIMIT(in, as, kind, member, ...) KEY(in, as, kind, limits.member, __VA_ARGS__)

const ConfigKey config_keys[] = {
        KEY("Store", "MaxUse", SHARE, max_use, "10%, at most 4G"),
        KEY("Store", "KeepFree", SHARE, keep_free, "15%, at most 4G"),
        LIMIT("Store", "MaxSessionSize", BYTES, max_session_bytes,
              "none; of a ring an eighth of MaxUse"),
        LIMIT("Store", "MaxSegmentSize", BYTES, max_segment_bytes,
              "an eighth of MaxUse, at most 128M", .min = SPEC_SEGMENT_BYTES_MIN),
        LIMIT("Store", "MaxSegmentSec", DURATION, max_segment_ns, "1h", .min = SPEC_SEGMENT_NS_MIN),
        LIMIT("Store", "MaxRetentionSec", DURATION, max_retention_ns, "0"),
        LIMIT("Store", "MinRetentionSec", LEAST_DURATION, min_retention_ns, "1h"),
        LIMIT("Guard", "Lean", LEAN, lean, "auto"),
        LIMIT("Guard", "RelearnSec", DURATION, relearn_ns, "1h"),
        LIMIT("Guard", "MaxHookedFunctions", COUNT, spec.max_hooked, "4096"),
        KEY("Guard", "MaxBufferMemory", SHARE, max_buffer_memory, "50%"),
        LIMIT("Guard", "MaxEventRate", COUNT, spec.max_event_rate, "1M for each CPU"),
        LIMIT("Guard", "MaxWriteRate", BYTES, spec.max_write_rate, "256M"),
        LIMIT("Guard", "MaxCPU", PERCENT, spec.max_cpu_ppm, "50%"),
        KEY("Members", "Functions", FUNCTIONS, member_functions, "*"),
        KEY("Members", "Events", EVENTS, member_events, "none"),
        LIMIT("Members", "MaxSessions", COUNT, member.max_sessions, "4"),
        LIMIT("Members", "MaxStored", BYTES, member.max_stored_bytes, "2G"),
        LIMIT("Members", "MaxConnections", COUNT, member.max_connections, "64"),
        LIMIT("Members", "MaxCalls", COUNT, member.max_calls, "32"),
        {},
};
_Static_assert(ELEMENTSOF(config_keys) <= CONFIG_KEYS_MAX, "raise CONFIG_KEYS_MAX");

size_t config_find(const char *section, const char *name) {
        size_t i = 0;

        while (config_keys[i].name &&
               !(streq(config_keys[i].section, section) && streq(config_keys[i].name, name)))
                i++;
        return i;
}

bool config_limits_member(const ConfigKey *key, size_t *ret_offset) {
        *ret_offset =
                key->offset - offsetof(Config, limits.spec); /* beyond it if that is negative */
        return *ret_offset < sizeof(Spec);
}

const char *config_text(const Config *c, size_t key) {
        return c->origins[key].text ?: config_keys[key].default_text;
}

/* --- values ----------------------------------------------------------------------------------- */

static int parse_number(const char *s, unsigned type, uint64_t *ret) {
        if (streq(s, "infinity") && type != VALUE_LEAN) {
                *ret = type == VALUE_LEAST_DURATION ? CONFIG_FOREVER_NS : 0;
                return 0;
        }
        return value_types[type].parse(s, ret);
}

static int parse_share(const char *s, ConfigShare *ret) {
        uint64_t ppm;

        if (!strchr(s, '%')) {
                *ret = (ConfigShare){};
                return parse_number(s, VALUE_BYTES, &ret->bytes);
        }
        if (parse_percent(s, &ppm) < 0 || ppm > 1000000 || ppm % 10000 > 0)
                return ORIGIN(-EINVAL);
        *ret = (ConfigShare){ .percent = (uint32_t) (ppm / 10000) }; /* 0%: no limit */
        return 0;
}

static bool is_list(size_t key) {
        return config_keys[key].type == VALUE_FUNCTIONS || config_keys[key].type == VALUE_EVENTS;
}

/* Words of characters that are in no name but harmless in a message; "none" is the empty list. */
static int parse_list(const char *s, unsigned type, Strv *ret) {
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

static int parse_value(Config *c, size_t key, const char *s) {
        void *at = (char *) c + config_keys[key].offset;
        ConfigShare share;
        uint64_t n;
        int r;

        if (is_list(key))
                return parse_list(s, config_keys[key].type, at);
        if (config_keys[key].type == VALUE_SHARE) {
                r = parse_share(s, &share);
                if (r >= 0)
                        *(ConfigShare *) at = share;
                return r;
        }
        r = parse_number(s, config_keys[key].type, &n);
        if (r < 0)
                return r;
        if (n > 0 && n < config_keys[key].min)
                return ORIGIN(-ERANGE);
        *(uint64_t *) at = n;
        return 0;
}

static void set_origin(Config *c, size_t key, ConfigOrigin origin) {
        free(c->origins[key].text);
        free(c->origins[key].file);
        c->origins[key] = origin;
}

static void set_default(Config *c, size_t key) {
        void *at = (char *) c + config_keys[key].offset;

        if (is_list(key))
                strv_done(at);
        else if (parse_value(c, key, config_keys[key].default_text) < 0) {
                if (config_keys[key].type == VALUE_SHARE)
                        *(ConfigShare *) at = (ConfigShare){ .bytes = UINT64_MAX };
                else
                        *(uint64_t *) at = UINT64_MAX;
        }
        set_origin(c, key, (ConfigOrigin){});
}

Config config_defaults(void) {
        Config c = {};

        for (size_t key = 0; config_keys[key].name; key++)
                set_default(&c, key);
        return c;
}

/* --- one file --------------------------------------------------------------------------------- */

typedef struct Parse {
        Config *config;
        const char *file;
        Strv *problems;
} Parse;

#define complain(p, line, ...) ini_complain((p)->problems, (p)->file, (line), __VA_ARGS__)

static bool knows(const char *section) {
        for (const ConfigKey *key = config_keys; key->name; key++)
                if (streq(key->section, section))
                        return true;
        return false;
}

static int on_bad_line(unsigned line, const char *what, void *userdata) {
        return complain((Parse *) userdata, line, "%s, ignored", what);
}

static int on_set(const IniEntry *e, void *userdata) {
        Parse *p = userdata;
        ConfigOrigin origin;
        const char *instead;
        size_t i;

        i = config_find(e->section, e->key);
        instead = config_keys[i].name ? NULL : gone_instead(GONE_KEY, e->key);
        if (instead)
                return complain(p, e->line, "the key %s= is gone: %s", e->key, instead);
        if (!config_keys[i].name)
                return complain(p, e->line, "unknown key %s= %s%s%s, ignored", NAME_QUOTED(e->key),
                                *e->section ? "in [" : "before a section", e->section,
                                *e->section ? "]" : "");
        if (*e->value == 0) {
                set_default(p->config, i);
                return 0;
        }
        if (parse_value(p->config, i, e->value) < 0)
                return complain(p, e->line, "%s=%s is not a %s, ignored", config_keys[i].name,
                                NAME_QUOTED(e->value), value_types[config_keys[i].type].like);
        origin = (ConfigOrigin){ strdup(e->value), strdup(p->file), e->line };
        set_origin(p->config, i, origin);
        return origin.text && origin.file ? 0 : -ENOMEM;
}

int config_parse(Config *c, const char *name, char *text, Strv *problems) {
        Parse p = { .config = c, .file = name, .problems = problems };

        return ini_parse(text, &(IniHandler){ on_set, knows, on_bad_line, &p });
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
        for (size_t key = 0; config_keys[key].name; key++)
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
        if (c->origins[config_find("Members", "Functions")].text)
                l.member_functions = &c->member_functions;
        l.member_events = &c->member_events;
        if (c->max_use.bytes == UINT64_MAX)
                l.max_use_bytes = MAX(l.max_use_bytes, USE_BYTES_MIN);
        if (l.spec.max_event_rate == UINT64_MAX)
                l.spec.max_event_rate = CONFIG_CPU_EVENT_RATE * (uint64_t) MAX(n_cpus, 1U);
        part = (l.max_use_bytes ?: DEFAULT_BYTES_MAX) / PARTS;
        if (!l.session_is_limited)
                l.max_session_bytes = part;
        if (l.max_segment_bytes == UINT64_MAX) {
                part = MIN(part, SEGMENT_BYTES_MAX);
                l.max_segment_bytes = MAX(part, SPEC_SEGMENT_BYTES_MIN);
        }
        return l;
}

/* --- gone ---------------------------------------------------------------------------------------- */

static const struct {
        GoneKind kind;
        const char *word, *instead;
} gone[] = {
        { GONE_VERB, "learn", "what is recorded teaches by itself" },
        { GONE_OPTION, "--via", "--hosts asks all hosts from here, 32 at a time" },
        { GONE_OPTION, "--relay", "--hosts asks all hosts from here, 32 at a time" },
        { GONE_OPTION, "--partial", "hosts that accept begin, whatever the others do" },
        { GONE_KEY, "MaxDepth", "profiles have a depth (Depth=)" },
        { GONE_KEY, "MaxDurationSec", "profiles have a duration (Duration=)" },
        { GONE_KEY, "MaxSize", "MaxStored= limits what all sessions of a member take" },
        { GONE_VERB, "keep",
          "\"ftracectl fetch --from=WHEN --to=WHEN\" makes a trace.dat of a part" },
        { GONE_VERB, "check", "\"ftracectl verify\" says what a recording or a text lacks" },
        { GONE_VERB, "seal",
          "the daemon does it by itself, and \"ftracectl verify --deep\" says what is left" },
        { GONE_VERB, "help", "\"ftracectl VERB --help\" says what VERB does" },
        { GONE_VERB, "cat-config", "\"ftraced --cat-config\" prints the settings in effect" },
        { GONE_VERB, "unpin", "\"ftracectl pin --off\" protects a session no longer" },
        { GONE_VERB, "version", "\"ftracectl --version\" prints it" },
        { GONE_VERB, "record",
          "\"ftracectl run FUNCTION -- COMMAND\" records while COMMAND runs, \"ftracectl start "
          "FUNCTION\" until \"ftracectl stop\"" },
        { GONE_VERB, "rm", "\"ftracectl remove SESSION\" removes a recording" },
        { GONE_VERB, "delete", "\"ftracectl remove SESSION\" removes a recording" },
        { GONE_VERB, "info", "\"ftracectl show SOURCE\" prints everything about a recording" },
        { GONE_VERB, "trace", "\"ftracectl follow FUNCTION\" draws its calls live" },
        { GONE_VERB, "live", "\"ftracectl follow FUNCTION\" draws its calls live" },
        { GONE_VERB, "stat", "\"ftracectl top SOURCE\" counts calls and adds up their times" },
        { GONE_VERB, "replay", "\"ftracectl report SOURCE\" draws a recording" },
        { GONE_VERB, "graph", "\"ftracectl tree SOURCE\" shows who calls whom" },
        { GONE_OPTION, "-g", "functions need no option: \"ftracectl start udp_sendmsg\"" },
        { GONE_OPTION, "-l",
          "functions need no option (\"ftracectl start udp_sendmsg\"); --only=FUNCTION records of "
          "what they call only these, and --flat nothing" },
        { GONE_OPTION, "-e", "\"--event=SYSTEM:NAME\" also records an event" },
        { GONE_OPTION, "-F", "\"ftracectl run FUNCTION -- COMMAND\" records while COMMAND runs" },
        { GONE_OPTION, "-P", "\"-p PID\", or \"--pid=PID\", records only that process" },
        { GONE_OPTION, "-b", "\"--buffer-size=BYTES\" sets the kernel's buffer per CPU" },
        { GONE_OPTION, "--max-graph-depth", "\"--depth=N\"" },
        { GONE_OPTION, "--pid=function_graph",
          "-p is --pid, a process; function_graph is always the tracer" },
        { GONE_OPTION, "--pid=function",
          "-p is --pid, a process; function_graph is always the tracer" },
        { GONE_OPTION, "--budget", "\"--set=Budget=PERCENT\"" },
        { GONE_OPTION, "--failed", "\"why --keep-failed\" compares these calls with the others" },
        { GONE_OPTION, "--full", "a trace.dat has the symbols and formats that occur in it" },
        { GONE_OPTION, "--lesson", "\"--set=Lesson=no\"" },
        { GONE_OPTION, "--linear", "each range is twice as long as the previous one" },
        { GONE_OPTION, "--max-cpu", "\"--set=MaxCPU=PERCENT\"" },
        { GONE_OPTION, "--max-event-rate", "\"--set=MaxEventRate=N\"" },
        { GONE_OPTION, "--max-functions", "\"--set=MaxFunctions=N\"" },
        { GONE_OPTION, "--max-hooked", "\"--set=MaxHooked=N\"" },
        { GONE_OPTION, "--max-per-day", "\"--max-captures=N/day\"" },
        { GONE_OPTION, "--max-write-rate", "\"--set=MaxWriteRate=BYTES\"" },
        { GONE_OPTION, "--min-gap", "\"--set=MinGap=TIME\"" },
        { GONE_OPTION, "--newest", "\"-n N\", or \"--limit=N\"" },
        { GONE_OPTION, "--no-color", "\"--color=never\" has no colours" },
        { GONE_OPTION, "--no-irqs", "\"--set=NoIRQs=yes\"" },
        { GONE_OPTION, "--no-report", "\"--format=none\" draws nothing" },
        { GONE_OPTION, "--no-sleep-time", "\"--set=NoSleepTime=yes\"" },
        { GONE_OPTION, "--number", "\"-n N\", or \"--limit=N\"" },
        { GONE_OPTION, "--on-full", "\"--set=OnFull=stop\"" },
        { GONE_OPTION, "--randomize",
          "RandomizedDelaySec= in \"systemctl edit ftraced-capture@NAME.timer\"" },
        { GONE_OPTION, "--segment-time", "\"--set=SegmentTime=TIME\"" },
        { GONE_OPTION, "--sessions", "\"vacuum --limit=N\"" },
        { GONE_OPTION, "--size", "\"vacuum --max-size=BYTES\"" },
        { GONE_OPTION, "--top", "\"follow --by=function\" prints that table" },
        { GONE_OPTION, "--v6", "version 6 is what \"fetch\" writes by default" },
        { GONE_OPTION, "--v7", "\"--compress=zstd\" and \"--compress=none\" write version 7" },
        { GONE_OPTION, "--verbose", "a pipe or a file gets long lists whole" },
        { GONE_FORMAT, "chrome", "perfetto is a timeline of the same calls" },
        { GONE_FORMAT, "speedscope", "speedscope.app opens folded, too" },
        { GONE_FORMAT, "dot", "flame and \"ftracectl tree\" show who calls whom" },
        { GONE_FORMAT, "tsv-waits", "parquet with -o has waits in a file beside calls" },
        { GONE_FORMAT, "tsv-losses", "parquet with -o has losses in a file beside calls" },
        { GONE_FORMAT, "otlp", "parquet and tsv have the request of each call as trace_id" },
};

const char *gone_instead(GoneKind kind, const char *word) {
        for (size_t i = 0; i < ELEMENTSOF(gone); i++)
                if (gone[i].kind == kind && streq(gone[i].word, word))
                        return gone[i].instead;
        return NULL;
}
