/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * ftracectl: the table of verbs, and what is the same for all of them.
 */

#include <locale.h>
#include <signal.h>

#include "base/name.h"
#include "cli/contact/contact.h"
#include "cli/files/files.h"
#include "cli/terminal/terminal.h"
#include "meta/config.h"

#define MANY SIZE_MAX

/* What one uses most of the options of verbs that record, and of others. */
/* What one uses most of the options of verbs that record, and of others. */
#define OFTEN_RECORDING                                                                            \
        "name depth args sched duration max-size ring dry-run on do calendar keep by"
#define OFTEN                                                                                      \
        "by root task from to slowest min limit sort corrected over-time callers against where "   \
        "fail-over all format output hosts deep compress time max-size off black-box json"

static const Verb verbs[] = {
        { "run", "FUNCTION... [OPTIONS] -- COMMAND...", "record while a command runs, then draw",
          "Records every call of the FUNCTIONs, and all that they call, on all CPUs, while\n"
          "COMMAND runs; then draws the calls on standard output.  FUNCTION is a kernel\n"
          "function's name or a pattern like 'udp_*msg'.  As root no daemon is needed.\n"
          "The exit status is COMMAND's, or 6 if COMMAND was fine and the recording is\n"
          "incomplete.\n",
          OPTIONS_RECORD | OPTIONS_RUN | OPTIONS_DRAW, 0, MANY, verb_run,
          .often = OFTEN_RECORDING },
        { "start", "FUNCTION... [OPTIONS]", "start a recording and print its name",
          "Records until \"ftracectl stop\", --duration or --max-size.  With --hosts and --at all\n"
          "hosts begin at one moment.\n",
          OPTIONS_RECORD | OPTIONS_IN_KERNEL | OPTIONS_LATER | OPTIONS_FLEET | OPTIONS_JSON, 0,
          MANY, verb_start, .has_fleet = true, .often = OFTEN_RECORDING },
        { "arm", "FUNCTION... --on TRIGGER... [OPTIONS]", "wait for a trigger, then record",
          "Programs everything, but records nothing until a TRIGGER fires; without --on, until\n"
          "\"ftracectl trigger\".  With --do=stop:TIME each recording becomes a session of its\n"
          "own, NAME-snap-N, and the session waits again.  With --in-kernel it records\n"
          "continuously into the kernel's buffer, and a TRIGGER keeps what led up to it.\n",
          OPTIONS_RECORD | OPTIONS_ARM | OPTIONS_IN_KERNEL | OPTIONS_JSON, 0, MANY, verb_arm,
          .often = OFTEN_RECORDING },
        { "trigger", "SESSION", "fire the trigger of an armed session", NULL, OPTIONS_JSON, 1, 1,
          verb_trigger },
        { "snapshot", "SESSION", "keep the content of a ring as a new session",
          "Prints the new session's name.  The recording continues.\n", OPTIONS_JSON, 1, 1,
          verb_snapshot },
        { "stop", "SESSION... | --all", "stop recordings",
          "Without a SESSION: the only one that records.\n",
          OPTIONS_STOP | OPTIONS_FLEET | OPTIONS_JSON, 0, MANY, verb_stop },
        { "follow", "[SESSION | FUNCTION...] [OPTIONS]", "draw calls live until Ctrl-C",
          "With FUNCTIONs: records them, and restores the kernel at the end; the recording is\n"
          "removed unless it has a name (-n) or --keep is given.  With a SESSION: watches it\n"
          "without changing it.  As root, no daemon is needed.  --by prints a table of where\n"
          "the time goes every second instead; q ends it.\n",
          OPTIONS_RECORD | OPTIONS_FOLLOW | OPTIONS_DRAW | OPTIONS_LIVE | OPTIONS_TOP |
                  OPTIONS_LIMIT | OPTIONS_ANALYZE,
          0, MANY, verb_follow, .often = OFTEN_RECORDING },
        { "status", "", "print what is going on (default)", NULL, OPTIONS_FLEET | OPTIONS_JSON, 0,
          0, verb_status },
        { "list", "", "list the sessions", NULL, OPTIONS_LIMIT | OPTIONS_JSON, 0, 0, verb_list },
        { "show", "SOURCE", "print everything about one session", NULL,
          OPTIONS_BUFFER | OPTIONS_FLEET | OPTIONS_JSON, 1, 1, verb_show },
        { "report", "SOURCE... [OPTIONS]", "draw the calls of a recording",
          "Losses are reported on standard error, and the exit status is then 6.  SOURCE is a\n"
          "session or a file: a trace.dat, or text from the kernel's function_graph,\n"
          "perf-tools' funcgraph, \"perf ftrace\" or a SystemTap script with thread_indent(); "
          "\"-\"\n"
          "is standard input.  A text is drawn unchanged unless an option changes it; damaged\n"
          "lines are reported and left out, and the exit status is then 1.  With --json: one\n"
          "object per call and line.  Several recordings, of one host or of many, are merged by\n"
          "their time of day.\n",
          OPTIONS_DRAW | OPTIONS_LINES | OPTIONS_WAYS | OPTIONS_FILTER | OPTIONS_KEEP_GOING |
                  OPTIONS_JSON,
          1, MANY, verb_report },
        { "top", "SOURCE [OPTIONS]", "show where the time went",
          "SELF is a function's time without the calls below it, TOTAL includes them; recursion\n"
          "counts once.  Calls cut off at either end count for the recorded part.\n",
          OPTIONS_TOP | OPTIONS_LINES | OPTIONS_LIMIT | OPTIONS_ANALYZE | OPTIONS_FILTER |
                  OPTIONS_KEEP_GOING | OPTIONS_JSON,
          1, 1, verb_top },
        { "tree", "SOURCE [OPTIONS]", "show the trees of all calls, merged",
          "One line for each function below the path of its callers, longest first; \">\" marks\n"
          "the path to where most time went.\n",
          OPTIONS_TREE | OPTIONS_LINES | OPTIONS_WAYS | OPTIONS_CALLERS | OPTIONS_ANALYZE |
                  OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON,
          1, 1, verb_tree },
        { "hist", "SOURCE [FUNCTION] [OPTIONS]", "show how long calls took",
          "A histogram for each root; with FUNCTION, a name or a glob, one of all its calls,\n"
          "and their share below each root.  With --over-time a heat map: time across, latency\n"
          "up, and shades for the number of calls; its times are those of --from and --to.  -o\n"
          "writes it as a picture, one SVG for any browser.\n",
          OPTIONS_HIST | OPTIONS_OUTPUT | OPTIONS_LIMIT | OPTIONS_FILTER | OPTIONS_KEEP_GOING |
                  OPTIONS_JSON,
          1, 2, verb_hist },
        { "slow", "SOURCE [OPTIONS]", "show the slowest calls of roots",
          "Each with its tree and with what it spent that a median call of the same root did\n"
          "not.  \"+\": functions that the median call does not call, \"-\": functions that only "
          "it\n"
          "calls.  Without --root, calls that waited for input most of their time are left out.\n",
          OPTIONS_LIMIT | OPTIONS_LINES | OPTIONS_WAYS | OPTIONS_TREE | OPTIONS_ANALYZE |
                  OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON,
          1, 1, verb_slow },
        { "why", "SOURCE [ROOT] [OPTIONS]", "show what slow calls have that usual ones do not",
          "Compares the slowest hundredth of the calls of ROOT (default: the one with the most "
          "time\n"
          "that has something to tell), path by path, with the middle half of all; with\n"
          "--slower=TIME, the calls that\n"
          "took so long; with --from and --to, --keep-failed or --against, these with all others.\n"
          "The causes add up to the difference.  P is corrected for their number.\n",
          OPTIONS_WHY | OPTIONS_LINES | OPTIONS_WAYS | OPTIONS_LIMIT | OPTIONS_FILTER |
                  OPTIONS_KEEP_GOING | OPTIONS_JSON,
          1, 2, verb_why },
        { "waits", "SOURCE [OPTIONS]", "show where calls waited and who woke them",
          "Needs a recording made with --sched.  WAITED is the time off the CPU, WAKE-UP the\n"
          "part of it after being woken, as a median.\n",
          OPTIONS_LIMIT | OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON, 1, 1, verb_waits },
        { "path", "SOURCE [ROOT] [OPTIONS]", "show what a slow call was waiting for",
          "The critical path of one call across wake-ups: what it ran, what it waited for, what\n"
          "the task that woke it did meanwhile, and so on.  The times add up to the call's\n"
          "duration.  Of ROOT, a name or a glob (default: the root with most time), the slowest\n"
          "call that the filters leave; --nth chooses another.  Needs a recording made with\n"
          "--sched.\n",
          OPTIONS_PATH | OPTIONS_LINES | OPTIONS_WAYS | OPTIONS_LIMIT | OPTIONS_FILTER |
                  OPTIONS_KEEP_GOING | OPTIONS_JSON,
          1, 2, verb_path },
        { "calls", "SOURCE [FUNCTION] [OPTIONS]", "list every call of a function",
          "In the order in which they ended; without FUNCTION, the outermost calls.  \"+\" after\n"
          "a duration: the call was cut and took longer.\n",
          OPTIONS_CALLS | OPTIONS_LINES | OPTIONS_WAYS | OPTIONS_LIMIT | OPTIONS_FILTER |
                  OPTIONS_KEEP_GOING | OPTIONS_JSON,
          1, 2, verb_calls },
        { "diff", "BEFORE NOW [OPTIONS]", "show what changed between two recordings",
          "Tells of each root that both have what \"why NOW --against=BEFORE\" tells: the causes\n"
          "that the difference is the sum of, and whether it may be chance.  With --fail-over the\n"
          "exit status is 0, 8 (slower), 125 (cannot be told) or 129 (wrong usage), as \"git\n"
          "bisect run\" wants it.\n",
          OPTIONS_DIFF | OPTIONS_LINES | OPTIONS_LIMIT | OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON, 2, 2,
          verb_diff },
        { "verify", "SOURCE [OPTIONS]", "check that a recording is complete and undamaged",
          "Of a text: counts lines of each kind, and reports those that do not fit.  The exit\n"
          "status is 6 if anything is missing or damaged.\n",
          OPTIONS_VERIFY | OPTIONS_JSON, 1, 1, verb_verify },
        { "fetch", "SOURCE -o FILE [OPTIONS]", "write a trace.dat for trace-cmd and KernelShark",
          "Whole pages are copied, so a window (--from, --to) has somewhat more than asked for.\n"
          "Losses are reported, and the exit status is then 6.\n",
          OPTIONS_OUTPUT | OPTIONS_FETCH | OPTIONS_FLEET, 1, 1, verb_fetch, .check = verify_sent },
        { "lines", "SOURCE [-o FILE] [OPTIONS]", "from which lines of the source calls were made",
          "Says how many calls have one line that they were made from.  With -o: writes a lines\n"
          "file with what the recording needs, which --vmlinux takes in place of the kernel's\n"
          "debug information, and a store as symbols/BUILD-ID.lines.\n",
          OPTIONS_LINES | OPTIONS_CARRY | OPTIONS_OUTPUT | OPTIONS_FILTER | OPTIONS_KEEP_GOING |
                  OPTIONS_JSON,
          1, 1, verb_lines },
        { "collect", "--hosts=FILE -n NAME -o DIR [OPTIONS]", "fetch a recording of many hosts",
          "Fetches the recording NAME of each host into DIR/NAME@HOST.dat, and says who lacks\n"
          "what; the exit status is then 6.  What is there whole is not fetched again, unless\n"
          "the host has another recording of that name now; for other options take another DIR.\n",
          OPTIONS_COLLECT | OPTIONS_OUTPUT | OPTIONS_FETCH | OPTIONS_FLEET | OPTIONS_JSON, 0, 0,
          verb_collect, .has_fleet = true },
        { "export", "[BEFORE] SOURCE... --format=FORMAT [-o FILE|DIR/]",
          "write pictures, timelines or tables",
          "FORMAT is flame (a flame graph; of two recordings, the difference), heatmap (when\n"
          "calls were slow), html (a page with everything), folded or pprof (profiles); perfetto "
          "(a\n"
          "timeline); csv, json or ndjson (tables of calls); parquet (the same by columns, of\n"
          "any number of recordings, into FILE or partitions of DIR/) or tsv (its rows as text,\n"
          "for databases without it).\n"
          "Without -o, writes to standard output.\n",
          OPTIONS_EXPORT | OPTIONS_LINES | OPTIONS_WAYS | OPTIONS_OUTPUT | OPTIONS_FILTER |
                  OPTIONS_KEEP_GOING,
          1, MANY, verb_export },
        { "remove", "SESSION...", "remove sessions and their data", NULL, OPTIONS_FLEET, 1, MANY,
          verb_remove },
        { "pin", "SESSION...", "protect sessions from removal",
          "Neither \"remove\" nor lack of space removes a pinned session; \"list\" marks it with "
          "*.\n",
          OPTIONS_PIN, 1, MANY, verb_pin },
        { "vacuum", "[OPTIONS]", "remove old sessions now",
          "Removes sessions that have ended, the oldest first, until what the options say is\n"
          "true; without any, what ftraced.conf says.  What is pinned or being read stays.\n",
          OPTIONS_VACUUM | OPTIONS_CONFIG | OPTIONS_JSON, 0, 0, verb_vacuum },
        { "functions", "[PATTERN]", "list the functions that can be traced", NULL, OPTIONS_JSON, 0,
          1, verb_functions },
        { "profile", "list | show NAME | check [NAME | FILE]", "list, show or check profiles",
          "Profiles are files profiles.d/NAME.conf for --profile NAME; see ftraced.profile(5).\n"
          "check looks at all profiles, at one, or at a FILE that is not installed, and exits\n"
          "with 1 on an error; functions that this kernel lacks are warnings.\n",
          OPTIONS_CONFIG | OPTIONS_JSON, 0, 2, verb_profile },
        { "schedule", "list | add NAME --calendar=WHEN FUNCTION... | remove NAME | run NAME",
          "manage recordings that timers start",
          "A schedule is a systemd timer, ftraced-capture@NAME.timer; its recordings are\n"
          "sessions NAME-1 and so on.  It needs an end: --duration or --max-size.  A capture\n"
          "that is due while the tracer is in use is skipped, or waits with --wait.  run\n"
          "captures now.\n",
          OPTIONS_RECORD | OPTIONS_SCHEDULE | OPTIONS_CONFIG | OPTIONS_JSON, 0, MANY, verb_schedule,
          .often = OFTEN_RECORDING },
        { "metrics", "[-o FILE]", "print metrics for a monitoring system",
          "Prints OpenMetrics; with -o replaces FILE atomically, for node_exporter's textfile\n"
          "collector.\n",
          OPTIONS_OUTPUT | OPTIONS_JSON, 0, 0, verb_metrics },
        { "doctor", "", "check this machine", "The exit status is 1 if nothing can be recorded.\n",
          OPTIONS_JSON | OPTIONS_DOCTOR, 0, 0, verb_doctor },
};

static int help_verbs(bool is_all) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        buf_adds(&out,
                 "ftracectl: record the calls below the kernel functions you name\n\n"
                 "  ftracectl run udp_sendmsg -- ./client     record, draw\n"
                 "  ftracectl follow udp_sendmsg              the same, live\n"
                 "  ftracectl start udp_sendmsg               record until \"ftracectl stop\"\n"
                 "\nVerbs (ftracectl VERB --help says more):\n");
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                buf_printf(&out, "  %-10s  %s\n", verbs[i].name, verbs[i].summary);
        if (is_all) {
                buf_adds(&out, "\nOptions of every verb:\n");
                (void) options_help(&out, NULL, OPTIONS_GLOBAL, NULL);
        } else
                buf_adds(&out, "\nOptions of every verb: ftracectl --help=all\n");
        return stdout_end(&out);
}

static int help_verb(const Verb *v, bool is_all) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO), title = BUF_INIT;
        size_t n = 0;

        buf_printf(&title, "ftracectl %s%s%s\n%s.\n", v->name, *v->synopsis ? " " : "", v->synopsis,
                   v->summary);
        buf_add_folded(&out, title.data, title.n_data, HELP_WIDTH, 4);
        if (v->details) { /* a paragraph */
                _cleanup_free_ char *text = strdup(v->details);

                for (char *p = text; p && *p; p++)
                        *p = *p == '\n' && p[1] ? ' ' : *p;
                buf_adds(&out, "\n");
                buf_add_folded(&out, text ?: v->details, strlen(v->details), HELP_WIDTH, 0);
        }
        if (v->groups) {
                buf_adds(&out, "\nOptions:\n");
                n = options_help(&out, v->name, v->groups, is_all ? NULL : v->often ?: OFTEN);
        }
        if (is_all)
                buf_adds(&out, "\nOptions of every verb:\n");
        n += options_help(&out, v->name, OPTIONS_GLOBAL, is_all ? NULL : "");
        if (n > 0)
                buf_printf(&out, "%zu more: ftracectl %s --help=all\n", n, v->name);
        return stdout_end(&out);
}

static const Verb *find_verb(const char *name) {
        for (const Verb *v = verbs; v < verbs + ELEMENTSOF(verbs); v++)
                if (streq(v->name, name))
                        return v;
        return NULL;
}

static int unknown_verb(const char *name) {
        const char *names[ELEMENTSOF(verbs)], *like;
        const char *quoted = NAME_QUOTED(name), *instead = gone_instead(GONE_VERB, name);

        if (instead)
                return failed(STATUS_USAGE, "there is no verb \"%s\": %s.", quoted, instead);
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                names[i] = verbs[i].name;
        like = typo_nearest(name, names, ELEMENTSOF(names));
        if (like)
                return failed(STATUS_USAGE, "unknown verb \"%s\". Did you mean \"%s\"?", quoted,
                              like);
        return failed(STATUS_USAGE, "unknown verb \"%s\"; see \"ftracectl --help\".", quoted);
}

/* Whether the exit status is to be a verdict, however wrong the rest of the command line is. */
static bool wants_verdict(int argc, char **argv) {
        bool is_diff = false, is_judged = false;

        for (int i = 1; i < argc; i++) {
                is_diff |= strcmp(argv[i], "diff") == 0;
                is_judged |= strncmp(argv[i], "--fail", strlen("--fail")) == 0;
        }
        return is_diff && is_judged;
}

static int run(int argc, char **argv) {
        _cleanup_options_ Options o = {};
        const Verb *v;
        int status;

        if (argc > 1 && argv[1][0] != '-' && !find_verb(argv[1]))
                return unknown_verb(argv[1]); /* before its options, of which it may have others */
        status = options_parse(&o, argc, argv);
        if (status != STATUS_OK)
                return status;
        if (o.version) {
                _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

                buf_adds(&out, PACKAGE_STRING "\n");
                return stdout_end(&out);
        }
        o.help = o.help || o.help_of.n > 0;
        if (!o.verb && o.help)
                return help_verbs(o.help_of.n > 0);
        v = find_verb(o.verb ?: "status");
        if (!v)
                return unknown_verb(o.verb);
        if (o.help)
                return help_verb(v, o.help_of.n > 0);
        status = v->groups & OPTIONS_RUN ? STATUS_OK : options_join_words(&o, v);
        status = status ?: options_check(&o, v);
        if (status != STATUS_OK)
                return status;
        return o.host                     ? remote_run(&o, v->check)
               : o.hosts && !v->has_fleet ? fleet_run(&o, v->check)
                                          : v->run(&o);
}

int main(int argc, char **argv) {
        int status;

        (void) setlocale(LC_CTYPE, "");
        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGXFSZ, SIG_IGN);
        log_setup("ftracectl");
        log_set_width(terminal_width(STDERR_FILENO));
        status = run(argc, argv);
        return status == STATUS_USAGE && wants_verdict(argc, argv) ? STATUS_NO_VERDICT : status;
}
