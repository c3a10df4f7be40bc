/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The table is turned into getopt_long()'s two forms when a command line is
 * read.  getopt runs in its "return in order" mode (a leading '-'), so that
 * options and words may be mixed while everything after "--" stays untouched:
 * that is another program's command line.  Which options a verb takes is
 * checked afterwards, because the verb itself may come last.
 */

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu-list.h"
#include "base/log.h"
#include "base/name.h"
#include "cli/option-value.h"
#include "cli/options.h"
#include "cli/status.h"
#include "store/event-choice.h"

#define AT(member) offsetof(Options, member)

static int color_from_name(const char *word) {
        static const char *const names[] = {
                [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (streq(word, names[i]))
                        return (int) i;
        return -EINVAL;
}

/* NTH_TRACE_ALL, or the number; not 0, which is nothing said. */
static int nth_trace_from_name(const char *word) {
        unsigned long n;
        char *end;

        if (streq(word, "all"))
                return NTH_TRACE_ALL;
        errno = 0;
        n = strtoul(word, &end, 10);
        return errno == 0 && *word >= '0' && *word <= '9' && *end == 0 && n > 0 &&
                               n < NTH_TRACE_ALL
                       ? (int) n
                       : -EINVAL;
}

static const Option options[] = {
        /* clang-format off */
        { "name",          'n', OPTIONS_RECORD | OPTIONS_KEEP, OPTION_TEXT,     AT(name), "NAME",
          "name of the session; else one is made from the first function" },
        { "profile",        0,  OPTIONS_RECORD, OPTION_TEXT,     AT(profile), "NAME",
          "as the profile says, but for what is given here as well; see\n"
          "\"ftracectl profile list\"" },
        { "depth",          0,  OPTIONS_RECORD | OPTIONS_FILTER | OPTIONS_TREE, OPTION_NUMBER, AT(spec.depth), "N",
          "N levels from the root, which is level 1; 0: all", 0, SPEC_DEPTH_MAX },
        { "notrace",        0,  OPTIONS_RECORD | OPTIONS_FILTER, OPTION_WORDS, AT(spec.notrace), "FUNCTION",
          "leave FUNCTION out with all it calls; a name or a glob, may be repeated" },
        { "pid",           'p', OPTIONS_RECORD | OPTIONS_FILTER, OPTION_WORDS, AT(spec.pids), "PID",
          "only what process PID calls; recording, its threads and children, too; may be\n"
          "repeated" },
        { "args",           0,  OPTIONS_RECORD | OPTIONS_DRAW, OPTION_FLAG,     AT(spec.args), NULL,
          "record the calls' arguments, too (linux 6.15 on)" },
        { "retval",         0,  OPTIONS_RECORD | OPTIONS_DRAW, OPTION_FLAG,     AT(spec.retval), NULL,
          "and what they return (linux 6.5 on, if it was built for that)" },
        { "event",          0,  OPTIONS_RECORD, OPTION_NAMES,    AT(spec.events), "EVENT",
          "record EVENT beside the calls: SYSTEM:NAME or SYSTEM:NAME:FILTER; may be\n"
          "repeated", .is_valid = event_choice_is_valid,
          .noun = "SYSTEM:NAME or SYSTEM:NAME:FILTER, as in sched:sched_switch" },
        { "sched",          0,  OPTIONS_RECORD, OPTION_FLAG,     AT(sched), NULL,
          "record who leaves the CPU and who is woken, too, for \"ftracectl waits\":\n"
          "--event=sched:sched_switch --event=sched:sched_waking" },
        { "comm",           0,  OPTIONS_RECORD, OPTION_NAMES,    AT(spec.comms), "NAME",
          "only what processes and threads of that name call, those to come too;\n"
          "may be repeated", .is_valid = comm_is_valid,
          .noun = "task's name (at most 15 characters, without quotes)" },
        { "cgroup",         0,  OPTIONS_RECORD, OPTION_NAMES,    AT(spec.cgroups), "PATH",
          "only what processes in control group PATH (\"/system.slice/a.service\")\n"
          "or below it call; may be repeated", .is_valid = cgroup_path_is_valid,
          .noun = "path of a control group" },
        { "cpus",           0,  OPTIONS_RECORD, OPTION_WORDS,    AT(spec.cpus), "LIST",
          "only what happens on these CPUs (\"0-3,8\")", .is_valid = cpu_range_is_valid,
          .noun = "CPU or range of CPUs like 0-3" },
        { "flat",           0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.flat), NULL,
          "only the functions themselves, not what they call" },
        { "only",           0,  OPTIONS_RECORD, OPTION_WORDS,    AT(spec.hooked), "FUNCTION",
          "of what they call only FUNCTION; a name or a glob, may be repeated" },
        { "slower",         0,  OPTIONS_RECORD | OPTIONS_FILTER, OPTION_DURATION, AT(spec.slower_ns), "TIME",
          "only calls that take TIME (\"5ms\", \"20us\") or more; recording, their ends alone",
          SPEC_SLOWER_NS_MIN },
        { "no-irqs",        0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.no_irqs), NULL,
          "not what interrupts call" },
        { "no-sleep-time",  0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.no_sleep_time), NULL,
          "do not count into a call's time what its task slept meanwhile" },
        { "clock",          0,  OPTIONS_RECORD, OPTION_NAME,     AT(spec.clock), "CLOCK",
          "the trace clock (\"boot\", \"local\"); \"mono\" unless said",
          .is_valid = clock_name_is_valid,
          .noun = "trace clock" },
        { "duration",       0,  OPTIONS_RECORD, OPTION_DURATION, AT(spec.duration_ns), "TIME",
          "end after TIME (\"30s\", \"10min\")" },
        { "max-size",       0,  OPTIONS_RECORD, OPTION_BYTES,    AT(spec.max_bytes), "BYTES",
          "end when BYTES (\"500M\", \"2G\") are stored" },
        { "ring",           0,  OPTIONS_RECORD, OPTION_FLAG,     AT(spec.ring), NULL,
          "do not end at --max-size: keep the newest, drop the oldest" },
        { "segment-size",   0,  OPTIONS_RECORD, OPTION_BYTES,    AT(spec.segment_bytes), "BYTES",
          "begin new files on all CPUs when one of a CPU has BYTES" },
        { "segment-time",   0,  OPTIONS_RECORD, OPTION_DURATION, AT(spec.segment_ns), "TIME",
          "begin new files on all CPUs every TIME" },
        { "buffer-size",    0,  OPTIONS_RECORD, OPTION_BYTES,    AT(spec.buffer_bytes), "BYTES",
          "the kernel's buffer for each CPU; 8M unless said" },
        { "max-functions",  0,  OPTIONS_RECORD, OPTION_NUMBER,   AT(spec.max_functions), "N",
          "how many functions the patterns may stand for; 200 unless said", 1, UINT32_MAX },
        { "on-full",        0,  OPTIONS_RECORD, OPTION_CHOICE,   AT(spec.on_full), "wait|stop",
          "when the disk takes no more: wait until it does (the default), with what\n"
          "is recorded in the kernel's buffer, or stop",
          .choose = spec_on_full_from_name },
        { "lean",           0,  OPTIONS_RECORD, OPTION_LEAN,     AT(spec.lean), "WHAT",
          "hook only what the functions were seen to call (\"full\"), of that only\n"
          "what costs others little (\"auto\"), all functions of the kernel (\"off\",\n"
          "unless said), or only those that FILE names, one a line" },
        { "budget",         0,  OPTIONS_RECORD, OPTION_PERCENT,  AT(spec.budget_ppm), "PERCENT",
          "what --lean=auto may cost the work of others; 2% unless said", 0, 1000000 },
        { "max-hooked",     0,  OPTIONS_RECORD, OPTION_COUNT,    AT(spec.max_hooked), "N",
          "how many functions may be hooked by name; of this and the next three\n"
          "ftraced.conf has what counts unless said; only root may say more", .is_limit = true },
        { "max-event-rate", 0,  OPTIONS_RECORD, OPTION_COUNT,    AT(spec.max_event_rate), "N",
          "end when more than N events (\"500K\") are recorded in a second", .is_limit = true },
        { "max-write-rate", 0,  OPTIONS_RECORD, OPTION_BYTES,    AT(spec.max_write_rate), "BYTES",
          "end when more than BYTES (\"64M\") are stored in a second", .is_limit = true },
        { "max-cpu",        0,  OPTIONS_RECORD, OPTION_PERCENT,  AT(spec.max_cpu_ppm), "PERCENT",
          "end when storing takes more than PERCENT of a CPU", 1, INT64_MAX, .is_limit = true },
        { "wait",           0,  OPTIONS_RECORD, OPTION_WAIT,     AT(wait_ns), "TIME",
          "wait, for TIME at most, while another one uses what this needs" },
        { "force",          0,  OPTIONS_RECORD, OPTION_FLAG,     AT(force), NULL,
          "switch a tracer of somebody else off meanwhile" },
        { "on",             0,  OPTIONS_ARM,    OPTION_ON,       AT(rules), "TRIGGER",
          "wait for function:NAME, event:SYSTEM:NAME[:FILTER], slower:TIME, count:N,\n"
          "at:HH:MM, in:TIME, signal or command; may be repeated" },
        { "do",             0,  OPTIONS_ARM,    OPTION_DO,       AT(rules), "ACTION",
          "what the triggers before it do: start (unless said), stop[:TIME], or of\n"
          "a ring snapshot[:TIME] (unless said); may be repeated" },
        { "max-captures",   0,  OPTIONS_ARM,    OPTION_CAPTURES, 0, "N[/day]",
          "at most N in all, or in any 24 hours; 20/day unless said" },
        { "min-gap",        0,  OPTIONS_ARM,    OPTION_DURATION, AT(spec.min_gap_ns), "TIME",
          "no capture sooner than TIME after the one before; 10s unless said" },
        { "in-kernel",      0,  OPTIONS_IN_KERNEL, OPTION_FLAG,  AT(spec.in_kernel), NULL,
          "a flight recorder: the newest calls stay in the kernel's buffer, and\n"
          "nothing is written until a snapshot" },
        { "no-report",      0,  OPTIONS_RUN,    OPTION_FLAG,     AT(no_report), NULL,
          "do not draw the calls" },
        { "top",            0,  OPTIONS_FOLLOW, OPTION_FLAG,     AT(analysis.live_top), NULL,
          "not the calls, but a table of where time goes, in place on a terminal" },
        { "keep",           0,  OPTIONS_FOLLOW | OPTIONS_SCHEDULE, OPTION_KEEP, AT(schedule.keep), "N",
          "follow: keep the recording; else only a named one (-n) is kept; schedule:\n"
          "keep the newest N captures", 1, 1000 },
        { "calendar",       0,  OPTIONS_SCHEDULE, OPTION_TEXT,   AT(schedule.calendar), "WHEN",
          "when, as in systemd.time(7): 'Mon..Fri 02:00', hourly" },
        { "randomize",      0,  OPTIONS_SCHEDULE, OPTION_DURATION, AT(schedule.randomize_ns), "TIME",
          "up to TIME later, always the same on one host" },
        { "max-per-day",    0,  OPTIONS_SCHEDULE, OPTION_NUMBER, AT(schedule.max_per_day), "N",
          "no more than N captures in any 24 hours", 1, 1000 },
        { "at",             0,  OPTIONS_LATER,  OPTION_TEXT,     AT(schedule.at), "WHEN",
          "not now: when WHEN, as in systemd.time(7), comes next" },
        { "in",             0,  OPTIONS_LATER,  OPTION_DURATION, AT(schedule.in_ns), "TIME",
          "not now: TIME later" },
        { "all",           'a', OPTIONS_STOP,   OPTION_FLAG,     AT(all), NULL,
          "every session that records" },
        { "size",           0,  OPTIONS_VACUUM, OPTION_BYTES,    AT(vacuum_bytes), "BYTES",
          "until all sessions together take at most BYTES" },
        { "time",           0,  OPTIONS_VACUUM, OPTION_DURATION, AT(vacuum_age_ns), "TIME",
          "those that ended more than TIME (\"2weeks\") ago" },
        { "sessions",       0,  OPTIONS_VACUUM, OPTION_NUMBER,   AT(vacuum_sessions), "N",
          "until N that have ended are left", 1, UINT32_MAX },
        { "dry-run",        0,  OPTIONS_VACUUM | OPTIONS_RECORD, OPTION_FLAG, AT(dry_run), NULL,
          "change nothing: say what would be removed, or print what would be\n"
          "written into tracefs, as shell lines" },
        { "config-root",    0,  OPTIONS_CONFIG, OPTION_TEXT,     AT(config_root), "DIR",
          "look for ftraced.conf, profiles and their drop-ins below DIR" },
        { "deep",           0,  OPTIONS_VERIFY, OPTION_FLAG,     AT(deep), NULL,
          "also compare every block with the checksum of the pages it was made of" },
        { "format",         0,  OPTIONS_DRAW | OPTIONS_EXPORT, OPTION_TEXT, AT(format), "FORMAT",
          "in what format; drawings are \"graph\" (as the kernel draws) unless said" },
        { "option",        'O', OPTIONS_DRAW,   OPTION_WORDS,    AT(render), "OPTION",
          "switch a column of the kernel's drawing on or, with \"no\" before it,\n"
          "off: funcgraph-cpu, funcgraph-proc, funcgraph-abstime, funcgraph-duration,\n"
          "funcgraph-overhead, funcgraph-overrun, funcgraph-irqs, funcgraph-tail, funcgraph-args,\n"
          "funcgraph-retval, funcgraph-retval-hex; may be repeated" },
        { "by",             0,  OPTIONS_TOP,    OPTION_TEXT,     AT(by), "WHAT",
          "what a row is: function (unless said), module, task, cpu, or root" },
        { "limit",          0,  OPTIONS_LIMIT,  OPTION_NUMBER,   AT(limit), "N",
          "no more than N rows", 1, UINT32_MAX },
        { "sort",           0,  OPTIONS_TOP,    OPTION_TEXT,     AT(analysis.sort), "COLUMN",
          "self (unless said), total, count, avg, min, max, p50, p90, p99 or name" },
        { "number",        'n', OPTIONS_SLOW,   OPTION_NUMBER,   AT(analysis.n_slow), "N",
          "that many calls; 10 unless said", 1, 10000, .verb = "slow" },
        { "min",            0,  OPTIONS_TREE,   OPTION_PERCENT,  AT(analysis.min_ppm), "PERCENT",
          "leave out what took less of the whole time; 0.5% unless said, of slow 5%", 0, 1000000 },
        { "callers",        0,  OPTIONS_CALLERS,   OPTION_WORDS,    AT(analysis.callers), "FUNCTION",
          "upside down: who calls FUNCTION; a name or a glob, may be repeated" },
        { "corrected",      0,  OPTIONS_ANALYZE, OPTION_FLAG,    AT(analysis.corrected), NULL,
          "times without what tracing costs, as far as that can be told" },
        { "linear",         0,  OPTIONS_HIST,   OPTION_FLAG,     AT(analysis.is_linear), NULL,
          "ranges of the same length, not each twice as long as the one before" },
        { "keep-going",     0,  OPTIONS_KEEP_GOING, OPTION_FLAG,     AT(keep_going), NULL,
          "step over lines of a text that are damaged; \"report\" does anyhow" },
        { "nth-trace",      0,  OPTIONS_FILTER, OPTION_CHOICE,   AT(nth_trace), "N|all",
          "of a text that has several traces the N-th, or all of them as if they\n"
          "were one; the first unless said",
          .choose = nth_trace_from_name },
        { "task",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS,    AT(filter.tasks), "NAME",
          "only tasks of this name, which may be a glob; may be repeated" },
        { "cpu",            0,  OPTIONS_FILTER | OPTIONS_LIVE | OPTIONS_FETCH, OPTION_TEXT,     AT(filter.cpus), "LIST",
          "only these CPUs (\"0,2-3\")" },
        { "root",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS,    AT(filter.roots), "FUNCTION",
          "only calls of FUNCTION, with all that they call; a name or a glob" },
        { "function",       0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS,    AT(filter.functions), "FUNCTION",
          "only calls of FUNCTION, without what they call; a name or a glob" },
        { "fold",           0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_WORDS, AT(filter.fold), "FUNCTION",
          "not what FUNCTION calls, nor, of \"irq\", what interrupts call" },
        { "from",           0,  OPTIONS_FILTER | OPTIONS_FETCH, OPTION_TEXT,     AT(filter.from), "WHEN",
          "not what comes before: seconds of the trace clock (\"1234.5\"), a time since\n"
          "the first event (\"+20ms\"), or a time of day (\"10:42:03.5\")" },
        { "to",             0,  OPTIONS_FILTER | OPTIONS_FETCH, OPTION_TEXT,     AT(filter.to), "WHEN",
          "not what comes after" },
        { "nth",            0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_NUMBER,   AT(filter.nth), "N",
          "only the N-th call of a root, with all that it calls", 1, UINT32_MAX },
        { "slowest",        0,  OPTIONS_FILTER, OPTION_NUMBER,   AT(filter.n_slowest), "N",
          "only the N slowest calls of roots, with all that they call", 1, 1000000 },
        { "keep-slower",    0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_TEXT, AT(filter.keep_slower), "TIME",
          "only calls of roots that take TIME (\"5ms\") or more, with all that they call;\n"
          "\"p99\": the slowest hundredth of each root's" },
        { "keep-failed",    0,  OPTIONS_FILTER | OPTIONS_LIVE, OPTION_FLAG, AT(filter.keep_failed), NULL,
          "and those that return an error, or only those; see --retval" },
        { "v6",             0,  OPTIONS_FETCH,  OPTION_FLAG,     AT(fetch.v6), NULL,
          "of version 6, which every trace-cmd and KernelShark reads (the default)" },
        { "v7",             0,  OPTIONS_FETCH,  OPTION_FLAG,     AT(fetch.v7), NULL,
          "of version 7, which trace-cmd 3 on reads, compressed unless --compress=none" },
        { "compress",       0,  OPTIONS_FETCH,  OPTION_TEXT,     AT(fetch.compress), "zstd|none",
          "how; zstd means --v7" },
        { "full",           0,  OPTIONS_FETCH,  OPTION_FLAG,     AT(fetch.full), NULL,
          "all symbols and formats, also those that do not occur" },
        { "output",        'o', OPTIONS_OUTPUT, OPTION_TEXT,     AT(output), "FILE",
          "write to FILE; \"-\" is standard output" },
        { "json",          'j', OPTIONS_JSON,   OPTION_JSON_MODE, AT(json), "MODE",
          "print JSON; MODE is \"short\" or \"pretty\"" },
        { "socket",         0,  OPTIONS_GLOBAL, OPTION_TEXT,     AT(socket), "PATH",
          "where the daemon listens (or FTRACED_SOCKET)" },
        { "store",          0,  OPTIONS_GLOBAL, OPTION_TEXT,     AT(store), "DIR",
          "read recordings in DIR without the daemon; run, follow: record into DIR\n"
          "with a private daemon (or FTRACED_STORE)" },
        { "host",          'H', OPTIONS_GLOBAL | OPTIONS_REMOTE, OPTION_TEXT, AT(host), "HOST",
          "do it on HOST, [user@]host[:port], by ssh" },
        { "hosts",          0,  OPTIONS_FLEET | OPTIONS_REMOTE, OPTION_TEXT, AT(hosts), "FILE",
          "do it on all hosts of FILE, one a line, at the same time" },
        { "no-pager",       0,  OPTIONS_GLOBAL, OPTION_FLAG,     AT(no_pager), NULL,
          "no pager, even on a terminal" },
        { "no-legend",      0,  OPTIONS_GLOBAL, OPTION_FLAG,     AT(no_legend), NULL,
          "no headings above tables" },
        { "color",          0,  OPTIONS_GLOBAL, OPTION_CHOICE,   AT(color), "auto|always|never",
          "when to use colours: auto is on a terminal, unless NO_COLOR is set",
          .choose = color_from_name },
        { "no-color",       0,  OPTIONS_GLOBAL, OPTION_FLAG,     AT(no_color), NULL,
          "no colours, as --color=never" },
        { "quiet",         'q', OPTIONS_GLOBAL, OPTION_FLAG,     AT(quiet), NULL,
          "only results and errors" },
        { "help",          'h', OPTIONS_GLOBAL, OPTION_FLAG,     AT(help), NULL,
          "this text" },
        { "version",        0,  OPTIONS_GLOBAL, OPTION_FLAG,     AT(version), NULL,
          "the version of ftracectl" },
        /* clang-format on */
};

_Static_assert(ELEMENTSOF(options) <= 128, "Options.given has 128 bits");

#define LONG_BASE 256 /* getopt's value of entry i is LONG_BASE + i, beyond all letters */

static int add_word(Options *o, const char *word) {
        int r = 0;

        if (!o->verb) {
                o->verb = strdup(word);
                if (!o->verb)
                        r = -ENOMEM;
        } else
                r = strv_add(&o->words, word);
        if (r < 0) {
                log_error_errno(r, "Failed to read the arguments: %m");
                return STATUS_FAILED;
        }
        return STATUS_OK;
}

/* What getopt complained of, as it was spelt: @at is the argument it had come to. */
static int refuse(const Options *o, int c, const char *at) {
        char quoted[NAME_QUOTE_MAX];

        if (c == ':' && optopt >= LONG_BASE)
                return option_usage(o->verb, "--%s needs a value (%s)",
                                    options[optopt - LONG_BASE].name,
                                    options[optopt - LONG_BASE].value);
        if (c == ':')
                return option_usage(o->verb, "-%c needs a value", optopt);
        if (optopt >= LONG_BASE)
                return option_usage(o->verb, "--%s takes no value",
                                    options[optopt - LONG_BASE].name);
        if (optopt > 0 && at[0] == '-' && at[1] != '-')
                return option_usage(o->verb, "unknown option \"-%c\"", optopt);
        return option_usage(o->verb, "unknown or ambiguous option \"%s\"", name_quote(quoted, at));
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

/* @verb: NULL unless it came before. */
static int find_letter(int c, const char *verb) {
        int found = -1;

        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if (options[i].letter == c &&
                    (options[i].verb ? streq_ptr(options[i].verb, verb) : found < 0))
                        found = (int) i;
        return found;
}

static int say(Options *o, const Option *option, const char *value) {
        return strv_addf(&o->said, "--%s%s%s", option->name, value ? "=" : "", value ?: "");
}

int options_said(Strv *ret, const Options *o, unsigned groups, unsigned others) {
        for (size_t i = 0; i < o->said.n; i++)
                for (size_t k = 0; k < ELEMENTSOF(options); k++) {
                        const char *rest = startswith(o->said.items[i] + 2, options[k].name);

                        if (rest && (*rest == 0 || *rest == '=') && options[k].groups & groups &&
                            !(options[k].groups & others) && strv_add(ret, o->said.items[i]) < 0)
                                return -ENOMEM;
                }
        return 0;
}

/* What tells where tasks wait and who wakes them. */
static int add_sched(Strv *events) {
        static const char *const names[] = { "sched:sched_switch", "sched:sched_waking" };
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(names) && r >= 0; i++)
                if (!strv_contains(events, names[i]))
                        r = strv_add(events, names[i]);
        return r;
}

int options_parse(Options *ret, int argc, char **argv) {
        struct option longs[ELEMENTSOF(options) + 1];
        char letters[3 + 2 * ELEMENTSOF(options)];
        int c, i, status;

        *ret = (Options){ .spec = SPEC_INIT, .analysis.min_ppm = UINT64_MAX };
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
                        return refuse(ret, c, argv[before]);
                i = c >= LONG_BASE ? c - LONG_BASE : find_letter(c, ret->verb);
                ret->given[i / 64] |= UINT64_C(1) << i % 64;
                status = option_set_value(ret, &options[i], optarg);
                if (status == STATUS_OK && say(ret, &options[i], optarg) < 0)
                        status = STATUS_FAILED;
                if (status != STATUS_OK)
                        return status;
        }
        ret->spec.ring = ret->spec.ring || ret->spec.in_kernel;
        if (ret->sched && add_sched(&ret->spec.events) < 0) {
                log_error("Failed to read the command line: out of memory");
                return STATUS_FAILED;
        }
        ret->command = argv + optind;
        ret->n_command = (size_t) (argc - optind);
        if (streq_ptr(ret->socket, ""))
                ret->socket = NULL;
        if (streq_ptr(ret->store, ""))
                ret->store = NULL;
        return STATUS_OK;
}

int options_join_words(Options *o) {
        for (size_t i = 0; i < o->n_command; i++) {
                int status = add_word(o, o->command[i]);

                if (status != STATUS_OK)
                        return status;
        }
        o->n_command = 0;
        return STATUS_OK;
}

int options_check(const Options *o, const char *verb, unsigned groups, size_t min, size_t max) {
        char quoted[NAME_QUOTE_MAX];

        for (size_t i = 0; i < ELEMENTSOF(options); i++)
                if ((o->given[i / 64] & UINT64_C(1) << i % 64) && !(options[i].groups & groups))
                        return option_usage(verb, "\"%s\" has no option --%s", verb,
                                            options[i].name);
        if (o->words.n < min)
                return option_usage(verb, "\"%s\" needs %s", verb,
                                    o->words.n > 0 ? "more arguments" : "an argument");
        if (o->words.n > max)
                return option_usage(verb, "\"%s\" cannot use the argument \"%s\"", verb,
                                    name_quote(quoted, o->words.items[max]));
        return STATUS_OK;
}

/* Whether @option sets the member of a Spec at @offset. */
static bool sets_member(const Option *option, size_t offset) {
        return option->offset == AT(spec) + offset ||
               (option->kind == OPTION_LEAN && offset == offsetof(Spec, hooked));
}

json_t *options_spec_to_json(const Options *o, const Spec *spec) {
        json_auto_t *object = spec_to_json(spec);

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
        rules_done(&o->rules);
        strv_done(&o->render);
        strv_done(&o->analysis.callers);
        strv_done(&o->filter.tasks);
        strv_done(&o->filter.roots);
        strv_done(&o->filter.functions);
        strv_done(&o->filter.fold);
        strv_done(&o->words);
        strv_done(&o->said);
        free(o->verb);
        *o = (Options){};
}

#define HELP_COLUMN 28

void options_help(Buf *out, unsigned groups) {
        for (size_t i = 0; i < ELEMENTSOF(options); i++) {
                const Option *option = &options[i];
                char left[64];
                int n;

                if (!(option->groups & groups))
                        continue;
                n = snprintf(left, sizeof(left), "  %c%c%c --%s%s%s%s", option->letter ? '-' : ' ',
                             option->letter ?: ' ', option->letter ? ',' : ' ', option->name,
                             option_has_optional_value(option) ? "[="
                             : option->value                   ? "="
                                                               : "",
                             option->value ?: "", option_has_optional_value(option) ? "]" : "");
                buf_adds(out, left);
                buf_pad(out, n < HELP_COLUMN ? (size_t) (HELP_COLUMN - n) : 1, ' ');
                for (const char *p = option->help; *p; p++) {
                        buf_add(out, p, 1);
                        if (*p == '\n')
                                buf_pad(out, HELP_COLUMN, ' ');
                }
                buf_adds(out, "\n");
        }
}
