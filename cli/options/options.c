/* SPDX-License-Identifier: GPL-2.0-or-later */

/* getopt runs in its "return in order" mode (a leading '-'), so that options and words may be mixed while
 * everything after "--" stays untouched: that is another program's command line.  Which options a verb takes is
 * checked afterwards, because the verb itself may come last. */

#include <getopt.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/options/options.h"
#include "types/args-choice.h"
#include "meta/config.h"
#include "meta/event-choice.h"

#define AT(member) offsetof(Options, member)

static int color_from_name(const char *word) {
        static const char *const names[] = {
                [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"
        };

        return text_find(names, ELEMENTSOF(names), word);
}

static int compress_from_name(const char *word) {
        return streq(word, "zstd")   ? (int) COMPRESS_ZSTD
               : streq(word, "none") ? (int) COMPRESS_NONE
                                     : -EINVAL;
}

static bool is_pid(const char *word) {
        uint64_t pid;

        return parse_u64(word, INT32_MAX, &pid) >= 0;
}

/* NTH_TRACE_ALL, or the number; not 0, which is nothing said. */
static int nth_trace_from_name(const char *word) {
        uint64_t n;

        if (streq(word, "all"))
                return NTH_TRACE_ALL;
        return parse_u64(word, NTH_TRACE_ALL - 1, &n) >= 0 && n > 0 ? (int) n : -EINVAL;
}

static bool is_all(const char *word) {
        return streq(word, "all");
}

/* What help says may be several texts, "TEXT|VERB VERB: TEXT": for these verbs another one. */
static const Option options[] = {
        /* clang-format off */
        { "name",          'n', OPTIONS_RECORD | OPTIONS_COLLECT, OPTION_TEXT, AT(name), "NAME",
          "name of the session; default: made from the first function|collect: name of the recording" },
        { "profile",        0,  OPTIONS_RECORD, OPTION_TEXT,     AT(profile), "NAME",
          "record as the profile says; other options override it; see \"ftracectl profile list\"" },
        { "depth",          0,  OPTIONS_RECORD | OPTIONS_FILTER | OPTIONS_TREE, OPTION_NUMBER, AT(spec.depth), "N",
          "N levels; the root is level 1; 0: all", 0, SPEC_DEPTH_MAX },
        { "notrace",        0,  OPTIONS_RECORD | OPTIONS_FILTER, OPTION_WORDS, AT(spec.notrace), "FUNCTION",
          "leave out FUNCTION and everything it calls; a name or a glob, may be repeated" },
        { "pid",           'p', OPTIONS_RECORD | OPTIONS_FILTER, OPTION_WORDS, AT(spec.pids), "PID",
          "only process PID; may be repeated|run start arm follow schedule: only process PID and its children; may be repeated",
          .is_valid = is_pid, .noun = "process number" },
        { "args",           0,  OPTIONS_RECORD | OPTIONS_DRAW, OPTION_FLAG_OF,  AT(spec.args), "FUNCTION",
          "also record the arguments of roots, or of FUNCTION; may be repeated|report: draw arguments",
          .is_valid = args_choice_is_valid, .noun = "function or FUNCTION(FIELD,...)", .list = AT(spec.args_functions) },
        { "retval",         0,  OPTIONS_RECORD | OPTIONS_DRAW, OPTION_FLAG_OF,  AT(spec.retval), "FUNCTION",
          "also record what the roots return, or FUNCTION; may be repeated|report: draw what functions return",
          .is_valid = function_pattern_is_valid, .noun = "function", .list = AT(spec.retval_functions) },
        { "kernel-stack",   0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.kernel_stack), NULL,
          "also record who calls the roots: the kernel's functions above them" },
        { "user-stack",     0,  OPTIONS_RECORD, OPTION_STACK,    AT(spec.user_stack), "copy[:BYTES][,1/N]",
          "also record which functions of the program led to the roots; \"copy\": by copies of the stacks, for programs without frame pointers" },
        { "what",           0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.what), NULL,
          "also record what the roots work on: file, port, device, task" },
        { "whose",          0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.whose), NULL,
          "also record whose tasks are: process, user, unit, container" },
        { "event",          0,  OPTIONS_RECORD, OPTION_NAMES,    AT(spec.events), "EVENT",
          "also record EVENT: SYSTEM:NAME or SYSTEM:NAME:FILTER; may be repeated", .is_valid = event_choice_is_valid,
          .noun = "SYSTEM:NAME or SYSTEM:NAME:FILTER, as in sched:sched_switch" },
        { "sched",          0,  OPTIONS_RECORD, OPTION_FLAG,     AT(sched), NULL,
          "also record what \"waits\" and \"path\" need; task switches and wake-ups, the same as --event=sched:sched_switch --event=sched:sched_waking" },
        { "comm",           0,  OPTIONS_RECORD, OPTION_NAMES,    AT(spec.comms), "NAME",
          "only processes and threads of that name, including later ones; may be repeated", .is_valid = comm_is_valid,
          .noun = "task's name (at most 15 characters, without quotes)" },
        { "cgroup",         0,  OPTIONS_RECORD, OPTION_NAMES,    AT(spec.cgroups), "PATH",
          "only processes in control group PATH (\"/system.slice/a.service\") and below it; may be repeated", .is_valid = cgroup_path_is_valid,
          .noun = "path of a control group" },
        { "cpus",           0,  OPTIONS_RECORD | OPTIONS_FILTER | OPTIONS_LIVE | OPTIONS_FETCH, OPTION_WORDS,    AT(spec.cpus), "LIST",
          "only these CPUs (\"0-3,8\")", .is_valid = cpu_range_is_valid,
          .noun = "CPU or range of CPUs like 0-3" },
        { "flat",           0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.flat), NULL,
          "only the functions themselves, not what they call" },
        { "only",           0,  OPTIONS_RECORD, OPTION_WORDS,    AT(spec.hooked), "FUNCTION",
          "of their callees, only FUNCTION; a name or a glob, may be repeated" },
        { "slower",         0,  OPTIONS_RECORD | OPTIONS_FILTER, OPTION_DURATION, AT(spec.slower_ns), "TIME",
          "only calls that take at least TIME (\"5ms\", \"20us\")|run start arm follow schedule: only the ends of calls that take at least TIME (\"5ms\", \"20us\")",
          SPEC_SLOWER_NS_MIN },
        { "clock",          0,  OPTIONS_RECORD, OPTION_NAME,     AT(spec.clock), "CLOCK",
          "the trace clock (\"boot\", \"local\"; default: \"mono\")",
          .is_valid = clock_name_is_valid,
          .noun = "trace clock" },
        { "duration",       0,  OPTIONS_RECORD, OPTION_DURATION, AT(spec.duration_ns), "TIME",
          "stop after TIME (\"30s\", \"10min\")" },
        { "max-size",       0,  OPTIONS_RECORD | OPTIONS_VACUUM, OPTION_BYTES, AT(spec.max_bytes), "BYTES",
          "stop when BYTES (\"500M\", \"2G\") are stored|vacuum: until all sessions together take at most BYTES" },
        { "ring",           0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.ring), NULL,
          "do not stop at --max-size, but drop the oldest data" },
        { "segment-size",   0,  OPTIONS_RECORD, OPTION_BYTES,    AT(spec.segment_bytes), "BYTES",
          "begin new files on all CPUs when one has BYTES" },
        { "buffer-size",    0,  OPTIONS_RECORD, OPTION_BYTES,    AT(spec.buffer_bytes), "BYTES",
          "the kernel's buffer per CPU (default: 8M)" },
        { "lean",           0,  OPTIONS_RECORD, OPTION_LEAN,     AT(spec.lean), "WHAT",
          "hook what these call and where tasks wait (\"auto\", the default), all functions of the kernel (\"off\"), or those in FILE: one per line, or what a recording saw" },
        { "set",            0,  OPTIONS_RECORD, OPTION_SET,      AT(settings), "KEY=VALUE",
          "as in a profile: NoIRQs=yes, NoSleepTime=yes, SegmentTime=, MaxFunctions=, OnFull=stop, Lesson=no, Budget=5%, MaxHooked=, MaxEventRate=, MaxWriteRate=, MaxCPU=20% or MinGap=1h (ftraced.profile(5)); may be repeated" },
        { "wait",           0,  OPTIONS_RECORD, OPTION_WAIT,     AT(wait_ns), "TIME",
          "wait, at most TIME, while what this needs is in use" },
        { "force",          0,  OPTIONS_RECORD, OPTION_FLAG,     AT(force), NULL,
          "switch off somebody else's tracer meanwhile" },
        { "on",             0,  OPTIONS_ARM,    OPTION_ON,       AT(rules), "TRIGGER",
          "wait for function:NAME, event:SYSTEM:NAME[:FILTER], return:NAME[:FILTER], slower:TIME, count:N, at:HH:MM, in:TIME, signal or command; may be repeated" },
        { "do",             0,  OPTIONS_ARM,    OPTION_DO,       AT(rules), "ACTION",
          "what the preceding triggers do: start (default), stop[:TIME], or snapshot[:TIME] (default of a ring); may be repeated" },
        { "max-captures",   0,  OPTIONS_ARM | OPTIONS_SCHEDULE, OPTION_CAPTURES, 0, "N[/day]",
          "at most N in total, or in any 24 hours (default: 20/day; a schedule: no limit)" },
        { "in-kernel",      0,  OPTIONS_IN_KERNEL, OPTION_FLAG,  AT(spec.in_kernel), NULL,
          "a flight recorder: the newest calls stay in the kernel's buffer, and nothing is written until a snapshot" },
        { "black-box",      0,  OPTIONS_IN_KERNEL | OPTIONS_DOCTOR, OPTION_FLAG, AT(spec.black_box), NULL,
          "a flight recorder in memory that survives a crash: the next boot keeps it as a session "
          "of its own|doctor: whether this host can record into memory that survives a crash, and what it takes" },
        { "keep",           0,  OPTIONS_FOLLOW | OPTIONS_SCHEDULE, OPTION_KEEP, AT(schedule.keep), "N",
          "keep the recording (default: only with -n)|schedule: keep the newest N captures", 1, 1000 },
        { "calendar",       0,  OPTIONS_SCHEDULE, OPTION_TEXT,   AT(schedule.calendar), "WHEN",
          "when to capture, as in systemd.time(7): 'Mon..Fri 02:00', hourly" },
        { "at",             0,  OPTIONS_LATER,  OPTION_TEXT,     AT(schedule.at), "WHEN",
          "start at WHEN instead of now: systemd.time(7), @SECONDS since 1970, or next:10s for the next full 10 s" },
        { "in",             0,  OPTIONS_LATER,  OPTION_DURATION, AT(schedule.in_ns), "TIME",
          "start after TIME instead of now" },
        { "all",           'a', OPTIONS_STOP | OPTIONS_PATH | OPTIONS_CARRY, OPTION_FLAG, AT(all), NULL,
          "every session that records|path: add up the paths of the slowest hundredth of the calls|lines: of the whole kernel" },
        { "off",            0,  OPTIONS_PIN,    OPTION_FLAG,     AT(off), NULL,
          "protect them no longer" },
        { "time",           0,  OPTIONS_VACUUM, OPTION_DURATION, AT(vacuum_age_ns), "TIME",
          "those that ended more than TIME (\"2weeks\") ago" },
        { "dry-run",        0,  OPTIONS_VACUUM | OPTIONS_RECORD, OPTION_FLAG, AT(dry_run), NULL,
          "print the writes to tracefs as shell commands; change nothing|vacuum: print what would be removed; remove nothing" },
        { "config-root",    0,  OPTIONS_CONFIG, OPTION_TEXT,     AT(config_root), "DIR",
          "read ftraced.conf, profiles and their drop-ins below DIR" },
        { "deep",           0,  OPTIONS_VERIFY, OPTION_FLAG,     AT(deep), NULL,
          "also compare every block with the checksum of its original pages" },
        { "format",         0,  OPTIONS_DRAW | OPTIONS_EXPORT, OPTION_TEXT, AT(format), "FORMAT",
          "\"graph\" (default, as the kernel draws) or \"indent\"|run: \"graph\" (default, as the kernel draws), "
          "\"indent\" or \"none\"|export: see above" },
        { "option",        'O', OPTIONS_DRAW,   OPTION_WORDS,    AT(render), "OPTION",
          "switch a column of the kernel's drawing on or, with \"no\" in front, off: funcgraph-cpu, funcgraph-proc, funcgraph-abstime, funcgraph-duration, funcgraph-overhead, funcgraph-overrun, funcgraph-irqs, funcgraph-tail, funcgraph-args, funcgraph-retval, funcgraph-retval-hex; may be repeated" },
        { "by",             0,  OPTIONS_TOP | OPTIONS_DIFF, OPTION_TEXT, AT(by), "WHAT",
          "what a row is: function (default), module, task, cpu, root, caller, what calls worked on or a field of that, with --whose unit, container, process, user, or of the source file, dir or layer "
          "(\"TCP\", \"block\")|diff: compare what calls take in each file, dir or layer of the source|follow: print where the time goes instead of the calls, by function, module, task, cpu "
          "or root" },
        { "limit",         'n', OPTIONS_LIMIT | OPTIONS_VACUUM, OPTION_NUMBER, AT(limit), "N",
          "at most N rows, or \"all\"|slow: the N slowest calls|list: the N newest sessions|vacuum: keep N sessions "
          "that have ended", 1, UINT32_MAX,
          .takes_all = true, .verbs = "top hist slow why waits path calls diff list vacuum" },
        { "where",          0,  OPTIONS_CALLS,  OPTION_TEXT,     AT(analysis.where), "CONDITION",
          "only calls for which CONDITION is true: \"ret < 0 && len > 1400\"" },
        { "sort",           0,  OPTIONS_TOP,    OPTION_TEXT,     AT(analysis.sort), "COLUMN",
          "self (default), or any other of --columns" },
        { "columns",        0,  OPTIONS_TOP,    OPTION_TEXT,     AT(analysis.columns), "LIST",
          "some of self, share, total, stolen, softirq, waking, net, blocked, on-cpu, count, avg, min, p50, p90, p99, max and name, or all (default: self,share,total,count,p99,name); JSON always has all" },
        { "fail-over",      0,  OPTIONS_DIFF,   OPTION_PERCENT,  AT(analysis.fail_over_ppm), "PERCENT",
          "exit with 8 if a root is more than PERCENT slower; its median, and that is not chance; with 125 if it cannot be told; for \"git bisect run\"", 0, INT64_MAX },
        { "min",            0,  OPTIONS_TREE,   OPTION_PERCENT,  AT(analysis.min_ppm), "PERCENT",
          "leave out what took less of the total (default: 0.5%)|slow: leave out what took less of the call (default: 5%)", 0, 1000000 },
        { "callers",        0,  OPTIONS_CALLERS,   OPTION_WORDS,    AT(analysis.callers), "FUNCTION",
          "upside down: who calls FUNCTION; a name or a glob, may be repeated" },
        { "corrected",      0,  OPTIONS_ANALYZE, OPTION_FLAG,    AT(analysis.corrected), NULL,
          "subtract the estimated cost of tracing" },
        { "over-time",      0,  OPTIONS_HIST,   OPTION_FLAG,     AT(analysis.over_time), NULL,
          "a heat map: when calls began, and how long they took" },
        { "keep-going",     0,  OPTIONS_KEEP_GOING, OPTION_FLAG,     AT(keep_going), NULL,
          "skip damaged lines of a text; \"report\" always does" },
        { "nth-trace",      0,  OPTIONS_FILTER | OPTIONS_VERIFY, OPTION_CHOICE,   AT(nth_trace), "N|all",
          "which trace of a text with several, or all of them as one (default: the first)",
          .choose = nth_trace_from_name },
        { "task",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS,    AT(filter.tasks), "NAME",
          "only tasks of this name; a name or a glob, may be repeated" },
        { "unit",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS, AT(filter.owners[OWNER_UNIT]), "UNIT",
          "only tasks of UNIT (\"nginx.service\"), as --whose recorded it; a name or a glob, may be repeated" },
        { "container",      0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS, AT(filter.owners[OWNER_CONTAINER]), "NAME",
          "the same by the container's name, or the first 12 characters of its ID" },
        { "user",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS, AT(filter.owners[OWNER_USER]), "USER",
          "the same by user" },
        { "root",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS,    AT(filter.roots), "FUNCTION",
          "only calls of FUNCTION, and what they call; a name or a glob" },
        { "function",       0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS,    AT(filter.functions), "FUNCTION",
          "only calls of FUNCTION, without what they call; a name or a glob" },
        { "fold",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS, AT(filter.fold), "FUNCTION",
          "leave out what FUNCTION calls; \"irq\": what interrupts call" },
        { "from",           0,  OPTIONS_FILTER | OPTIONS_FETCH, OPTION_TEXT,     AT(filter.from), "WHEN",
          "leave out everything before WHEN; seconds of the trace clock (\"1234.5\"), time since the first event (\"+20ms\"), or time of day (\"10:42:03.5\")" },
        { "to",             0,  OPTIONS_FILTER | OPTIONS_FETCH, OPTION_TEXT,     AT(filter.to), "WHEN",
          "leave out everything after WHEN" },
        { "nth",            0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_NUMBER,   AT(filter.nth), "N",
          "only the N-th call of a root, with everything it calls", 1, UINT32_MAX },
        { "slowest",        0,  OPTIONS_FILTER, OPTION_NUMBER,   AT(filter.n_slowest), "N",
          "only the N slowest calls of roots; with everything they call", 1, 1000000 },
        { "keep-slower",    0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_TEXT, AT(filter.keep_slower), "TIME",
          "only calls of roots that take at least TIME (\"5ms\"), with everything they call; \"p99\": the slowest hundredth of each root" },
        { "keep-failed",    0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_FLAG, AT(filter.keep_failed), NULL,
          "only calls of roots that return an error, as --retval recorded it, or also those|why: compare calls that "
          "returned an error, as --retval recorded it, with the others" },
        { "lines",          0,  OPTIONS_WAYS,   OPTION_FLAG,     AT(analysis.lines), NULL,
          "also show from which line of the source a call was made, and the functions that the compiler inlined there" },
        { "vmlinux",        0,  OPTIONS_LINES,  OPTION_TEXT,     AT(analysis.vmlinux), "FILE",
          "the kernel's vmlinux with debug information, or a lines file (default: the store's, /usr/lib/debug, or what "
          "DEBUGINFOD_URLS names)" },
        { "source",         0,  OPTIONS_EXPORT, OPTION_TEXT,     AT(analysis.source), "DIR",
          "html with --lines: also show the source of each call, from an unpacked source of the kernel" },
        { "against",        0,  OPTIONS_WHY,    OPTION_TEXT,     AT(against), "SOURCE",
          "compare with the calls of another recording" },
        { "buffer",         0,  OPTIONS_FILTER | OPTIONS_FETCH | OPTIONS_VERIFY | OPTIONS_BUFFER, OPTION_TEXT, AT(buffer), "NAME",
          "which tracing instance of a trace.dat to read, \"top\" for the top-level buffer; \"show\" lists them" },
        { "compress",       0,  OPTIONS_FETCH,  OPTION_CHOICE,   AT(fetch.compress), "zstd|none",
          "write version 7, for trace-cmd 3 and later, compressed or not (default: version 6, which every trace-cmd and KernelShark reads)",
          .choose = compress_from_name },
        { "ended",          0,  OPTIONS_FETCH,  OPTION_FLAG,     AT(fetch.ended), NULL,
          "refuse a recording that has not ended" },
        { "output",        'o', OPTIONS_OUTPUT, OPTION_TEXT,     AT(output), "FILE",
          "write to FILE; \"-\" is standard output" },
        { "json",          'j', OPTIONS_JSON,   OPTION_JSON_MODE, AT(json), "MODE",
          "print JSON; MODE is \"short\" or \"pretty\"" },
        { "socket",         0,  OPTIONS_GLOBAL, OPTION_TEXT,     AT(socket), "PATH",
          "the daemon's socket (or FTRACED_SOCKET)" },
        { "store",          0,  OPTIONS_GLOBAL, OPTION_TEXT,     AT(store), "DIR",
          "read recordings in DIR without the daemon (or FTRACED_STORE)|run follow: record into DIR with a private "
          "daemon (or FTRACED_STORE)" },
        { "host",          'H', OPTIONS_GLOBAL | OPTIONS_REMOTE, OPTION_TEXT, AT(host), "HOST",
          "run on HOST, [user@]host[:port], by ssh" },
        { "hosts",          0,  OPTIONS_FLEET | OPTIONS_REMOTE, OPTION_TEXT, AT(hosts), "FILE",
          "run on all hosts in FILE, one per line, in parallel" },
        { "no-pager",       0,  OPTIONS_GLOBAL, OPTION_FLAG,     AT(no_pager), NULL,
          "use no pager, even on a terminal" },
        { "no-legend",      0,  OPTIONS_GLOBAL, OPTION_FLAG,     AT(no_legend), NULL,
          "print no headings above tables" },
        { "color",          0,  OPTIONS_GLOBAL, OPTION_CHOICE,   AT(color), "auto|always|never",
          "when to use colours (default: auto, on a terminal unless NO_COLOR is set)",
          .choose = color_from_name },
        { "quiet",         'q', OPTIONS_GLOBAL, OPTION_FLAG,     AT(quiet), NULL,
          "print only results and errors" },
        { "help",          'h', OPTIONS_GLOBAL, OPTION_FLAG_OF,  AT(help), "all",
          "print the options that one uses most, or all", .is_valid = is_all, .noun = "list of options (\"all\" is one)", .list = AT(help_of) },
        { "version",        0,  OPTIONS_GLOBAL, OPTION_FLAG,     AT(version), NULL,
          "print the version" },
        /* clang-format on */
};

_Static_assert(ELEMENTSOF(options) <= 128, "Options.given has 128 bits");

#define LONG_BASE 256 /* getopt's value of entry i is LONG_BASE + i, beyond all letters */

static int add_word(Options *o, const char *word) {
        int r = o->verb ? strv_add(&o->words, word) : text_replace(&o->verb, word);

        return r < 0 ? failed_errno(r, "Failed to read the arguments: %m") : STATUS_OK;
}

/* What getopt complained of, as it was spelt: @at is the argument it had come to. */
static int refuse(const char *verb, int c, const char *at) {
        char word[NAME_QUOTE_MAX];
        const char *instead;

        if (c == ':' && optopt >= LONG_BASE)
                return option_usage(verb, "--%s needs a value (%s)",
                                    options[optopt - LONG_BASE].name,
                                    options[optopt - LONG_BASE].value);
        if (c == ':')
                return option_usage(verb, "-%c needs a value", optopt);
        if (optopt >= LONG_BASE)
                return option_usage(verb, "--%s takes no value", options[optopt - LONG_BASE].name);
        if (optopt > 0 && at[0] == '-' && at[1] != '-')
                (void) snprintf(word, sizeof(word), "-%c", optopt);
        else
                (void) snprintf(word, sizeof(word), "%.*s", (int) strcspn(at, "="), at);
        instead = gone_instead(GONE_OPTION, word);
        if (instead)
                return option_usage(verb, "there is no option \"%s\": %s", word, instead);
        if (optopt > 0)
                return option_usage(verb, "unknown option \"%s\"", word);
        return option_usage(verb, "unknown or ambiguous option \"%s\"", NAME_QUOTED(at));
}

static void make_getopt_tables(char *letters, struct option *longs) {
        char *l = letters;

        *l++ = '-'; /* in order */
        *l++ = ':'; /* tell a missing value from an unknown option */
        for (size_t i = 0; i < ELEMENTSOF(options); i++) {
                const Option *option = &options[i];
                int has_arg = option->kind == OPTION_FLAG         ? no_argument
                              : option_has_optional_value(option) ? optional_argument
                                                                  : required_argument;

                longs[i] = (struct option){ option->name, has_arg, NULL, LONG_BASE + (int) i };
                if (!option->letter)
                        continue;
                *l++ = option->letter;
                if (has_arg == required_argument)
                        *l++ = ':';
        }
        *l = 0;
        longs[ELEMENTSOF(options)] = (struct option){};
}

/* Whether @option has its letter behind @verb, which is NULL unless it came before. */
static bool has_letter(const Option *option, const char *verb) {
        _cleanup_strv_ Strv verbs = {};

        return !option->verbs ||
               (verb && strv_split(&verbs, option->verbs, " ") >= 0 && strv_contains(&verbs, verb));
}

static int find_letter(int c, const char *verb) {
        int found = -1;

        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (options[i].letter == c && has_letter(&options[i], verb) &&
                    (found < 0 || options[i].verbs))
                        found = (int) i;
        return found;
}

int options_said(Strv *ret, const Options *o, uint64_t groups, uint64_t others) {
        for (size_t i = 0; i < o->said.n; i++)
                for (size_t k = 0; k < ELEMENTSOF(options); k++) {
                        const char *rest = startswith(o->said.items[i] + 2, options[k].name);

                        if (rest && (*rest == 0 || *rest == '=') && options[k].groups & groups &&
                            !(options[k].groups & others) && strv_add(ret, o->said.items[i]) < 0)
                                return -ENOMEM;
                }
        return 0;
}

char *options_said_filters(const Options *o) {
        _cleanup_strv_ Strv said = {};
        _cleanup_free_ char *list = NULL;
        char *text;

        if (options_said(&said, o, OPTIONS_FILTER, 0) < 0)
                return NULL;
        if (said.n == 0)
                return strdup("");
        list = strv_join(&said, " ");
        return list && asprintf(&text, " with %s", list) >= 0 ? text : NULL;
}

int options_parse(Options *ret, int argc, char **argv) {
        struct option longs[ELEMENTSOF(options) + 1];
        char letters[3 + 2 * ELEMENTSOF(options)];
        int c, i, status;

        *ret = (Options){ .spec = SPEC_INIT, .analysis.min_ppm = UINT64_MAX };
        ret->analysis.fail_over_ppm = UINT64_MAX;
        ret->socket = getenv("FTRACED_SOCKET");
        ret->store = getenv("FTRACED_STORE");
        make_getopt_tables(letters, longs);
        opterr = 0;
        for (optind = 0;;) { /* 0: also forget an earlier command line */
                int before = optind > 0 ? optind : 1;

                c = getopt_long(argc, argv, letters, longs, NULL);
                if (c < 0)
                        break;
                if (c == 1) {
                        status = add_word(ret, optarg);
                        if (status != STATUS_OK)
                                return status;
                        continue;
                }
                if (c == '?' || c == ':')
                        return refuse(ret->verb, c, argv[before]);
                i = c >= LONG_BASE ? c - LONG_BASE : find_letter(c, ret->verb);
                ret->given[i / 64] |= UINT64_C(1) << i % 64;
                status = option_set_value(ret, &options[i], optarg);
                if (status == STATUS_OK && strv_addf(&ret->said, "--%s%s%s", options[i].name,
                                                     optarg ? "=" : "", optarg ?: "") < 0)
                        status = STATUS_FAILED;
                if (status != STATUS_OK)
                        return status;
        }
        ret->spec.in_kernel = ret->spec.in_kernel || ret->spec.black_box;
        ret->spec.ring = ret->spec.ring || ret->spec.in_kernel;
        /* What tells where tasks wait and who wakes them. */
        if (ret->sched && (strv_add_new(&ret->spec.events, "sched:sched_switch") < 0 ||
                           strv_add_new(&ret->spec.events, "sched:sched_waking") < 0))
                return out_of_memory();
        ret->command = argv + optind;
        ret->n_command = (size_t) (argc - optind);
        if (streq_ptr(ret->socket, ""))
                ret->socket = NULL;
        if (streq_ptr(ret->store, ""))
                ret->store = NULL;
        return STATUS_OK;
}

int options_join_words(Options *o, const Verb *v) {
        if (v->groups & OPTIONS_RECORD && !(v->groups & OPTIONS_SCHEDULE) && o->words.n > 0 &&
            o->n_command > 0)
                return failed(STATUS_USAGE,
                              "\"%s\" runs no command: \"ftracectl run %s -- %s\" records while it "
                              "runs.",
                              v->name, NAME_QUOTED(o->words.items[0]), NAME_QUOTED(o->command[0]));
        for (size_t i = 0; i < o->n_command; i++) {
                int status = add_word(o, o->command[i]);

                if (status != STATUS_OK)
                        return status;
        }
        o->n_command = 0;
        return STATUS_OK;
}

int options_check(const Options *o, const Verb *v) {
        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if ((o->given[i / 64] & UINT64_C(1) << i % 64) &&
                    !(options[i].groups & (v->groups | OPTIONS_GLOBAL)))
                        return option_usage(v->name, "\"%s\" has no option --%s", v->name,
                                            options[i].name);
        if (o->words.n < v->min_words)
                return option_usage(v->name, "\"%s\" needs %s (%s)%s", v->name,
                                    o->words.n > 0 ? "more arguments" : "an argument", v->synopsis,
                                    strstr(v->synopsis, "SOURCE") || strstr(v->synopsis, "SESSION")
                                            ? "; \"ftracectl list\" has the recordings"
                                            : "");
        if (o->words.n > v->max_words)
                return option_usage(v->name, "\"%s\" cannot use the argument \"%s\"", v->name,
                                    NAME_QUOTED(o->words.items[v->max_words]));
        return STATUS_OK;
}

/* Whether @option sets the member of a Spec at @offset. */
static bool sets_member(const Option *option, size_t offset) {
        return option->offset == AT(spec) + offset ||
               (option->kind == OPTION_FLAG_OF && option->list == AT(spec) + offset) ||
               (option->kind == OPTION_LEAN && offset == offsetof(Spec, hooked)) ||
               (option->kind == OPTION_STACK && (offset == offsetof(Spec, stack_bytes) ||
                                                 offset == offsetof(Spec, stack_every)));
}

json_t *options_spec_to_json(const Options *o, const Spec *spec) {
        json_auto_t *object = spec_to_json(spec);

        if (object && o->settings && json_object_update(object, o->settings) < 0)
                return NULL;
        if (object && spec->functions.n == 0)
                (void) json_object_del(object, "functions");
        for (size_t i = 0; object && i < ELEMENTSOF(options); i++)
                for (size_t offset = 0; offset < sizeof(Spec); offset++)
                        if ((o->given[i / 64] & UINT64_C(1) << i % 64) &&
                            sets_member(&options[i], offset) &&
                            spec_member_to_json(object, spec, offset) == -ENOMEM)
                                return NULL;
        return json_incref(object);
}

void options_done(Options *o) {
        spec_done(&o->spec);
        strv_done(&o->rules.items);
        json_decref(o->settings);
        strv_done(&o->render);
        strv_done(&o->analysis.callers);
        for (OwnerWord i = 0; i < _OWNER_WORD_N; i++)
                strv_done(&o->filter.owners[i]);
        strv_done(&o->filter.tasks);
        strv_done(&o->filter.roots);
        strv_done(&o->filter.functions);
        strv_done(&o->filter.fold);
        strv_done(&o->help_of);
        strv_done(&o->words);
        strv_done(&o->said);
        free(o->verb);
        *o = (Options){};
}

#define HELP_COLUMN 28

static bool is_word_of(const char *word, const char *words, size_t n) {
        _cleanup_free_ char *list = strndup(words, n);
        _cleanup_strv_ Strv items = {};

        return list && strv_split(&items, list, " ") >= 0 && strv_contains(&items, word);
}

/* The text of @option for @verb. */
static const char *help_text(const Option *option, const char *verb, size_t *ret_n) {
        const char *text = option->help, *next = strchr(text, '|');

        for (; next && verb; next = strchr(next + 1, '|')) {
                const char *colon = strstr(next, ": ");

                if (colon && is_word_of(verb, next + 1, (size_t) (colon - next - 1))) {
                        text = colon + 2;
                        break;
                }
        }
        *ret_n = (size_t) (strchrnul(text, '|') - text);
        return text;
}

size_t options_help(Buf *out, const char *verb, uint64_t groups, const char *only) {
        size_t n_left = 0;

        for (size_t i = 0; i < ELEMENTSOF(options); i++) {
                const Option *option = &options[i];
                char letter = has_letter(option, verb) ? option->letter : 0;
                bool has_value = option->value != NULL,
                     is_optional = option_has_optional_value(option);
                _cleanup_buf_ Buf line = BUF_INIT;
                const char *text;
                size_t n;

                if (!(option->groups & groups))
                        continue;
                if (only && !is_word_of(option->name, only, strlen(only))) {
                        n_left++;
                        continue;
                }
                buf_printf(&line, "  %c%c%c --%s%s%s%s", letter ? '-' : ' ', letter ?: ' ',
                           letter ? ',' : ' ', option->name,
                           is_optional ? "[="
                           : has_value ? "="
                                       : "",
                           option->value ?: "", is_optional ? "]" : "");
                if (line.n_data >= HELP_COLUMN) {
                        buf_add(out, line.data, line.n_data);
                        buf_adds(out, "\n");
                        line.n_data = 0;
                }
                buf_pad(&line, HELP_COLUMN - line.n_data, ' ');
                text = help_text(option, verb, &n);
                if (only) /* the screen is small: the rest of the sentence is not for the first hour */
                        n = MIN(n, strcspn(text, ";"));
                buf_add(&line, text, n);
                buf_adds(&line, "\n");
                buf_add_folded(out, line.data, line.n_data, HELP_WIDTH, HELP_COLUMN);
        }
        return n_left;
}

/* --- verbs that are several ------------------------------------------------------------------- */

int action_run(const Options *o, const char *verb, const Action *actions, size_t n_actions,
               const char *names) {
        const char *name = o->words.n > 0 ? o->words.items[0] : actions[0].name;
        size_t n = o->words.n > 0 ? o->words.n - 1 : 0;

        for (const Action *a = actions; a < actions + n_actions; a++) {
                if (!streq(a->name, name))
                        continue;
                if (n >= a->min_words && n <= a->max_words)
                        return a->run(o, n > 0 ? o->words.items[1] : NULL);
                return failed(STATUS_USAGE, "\"%s %s\" takes %s; see \"ftracectl %s --help\".",
                              verb, name, a->takes, verb);
        }
        return failed(STATUS_USAGE, "\"%s\" does not know \"%s\": %s; see \"ftracectl %s --help\".",
                      verb, NAME_QUOTED(name), names, verb);
}
