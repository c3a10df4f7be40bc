/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * ftracectl: the table of verbs, and what is the same for all of them.
 */

#include <locale.h>
#include <signal.h>
#include <stdint.h>

#include "base/log.h"
#include "base/name.h"
#include "base/typo.h"
#include "cli/fleet.h"
#include "cli/remote.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/verb.h"

#define MANY SIZE_MAX

static int verb_help(const Options *o);
static int verb_version(const Options *o);

static const Verb verbs[] = {
        { "run", "FUNCTION... [OPTIONS] -- COMMAND...", "record while COMMAND runs, then draw",
          "Records every call of the FUNCTIONs, and all that they call, on all CPUs, while\n"
          "COMMAND runs; then draws the calls on standard output.  FUNCTION is a kernel\n"
          "function's name or a pattern like 'udp_*msg'.  As root no daemon is needed.\n"
          "The exit status is COMMAND's, or 6 if COMMAND was fine and the recording is\n"
          "incomplete.\n",
          OPTIONS_RECORD | OPTIONS_RUN | OPTIONS_DRAW, 0, MANY, verb_run },
        { "start", "FUNCTION... [OPTIONS]", "begin to record, and print the session's name",
          "The recording goes on until \"ftracectl stop\", or what --duration or --max-size say.\n",
          OPTIONS_RECORD | OPTIONS_IN_KERNEL | OPTIONS_LATER | OPTIONS_FLEET | OPTIONS_JSON, 0,
          MANY, verb_start },
        { "arm", "FUNCTION... --on TRIGGER... [OPTIONS]",
          "prepare, and record when a trigger fires",
          "Programs everything, and records nothing until a TRIGGER fires; without one, until\n"
          "\"ftracectl trigger\".  With --do=stop:TIME each recording is kept as a session of its\n"
          "own, NAME-snap-N, and it waits again.  With --in-kernel it records all the time, into "
          "the\n"
          "kernel's buffer alone, and a TRIGGER keeps what led up to it.\n",
          OPTIONS_RECORD | OPTIONS_ARM | OPTIONS_IN_KERNEL | OPTIONS_JSON, 0, MANY, verb_arm },
        { "trigger", "SESSION", "fire the trigger of an armed session", NULL, OPTIONS_JSON, 1, 1,
          verb_trigger },
        { "snapshot", "SESSION", "keep what a ring has, as a session of its own",
          "Prints the new session's name.  The recording goes on.\n", OPTIONS_JSON, 1, 1,
          verb_snapshot },
        { "stop", "SESSION... | --all", "end recordings",
          "Without a SESSION: the one that records, if there is only one.\n",
          OPTIONS_STOP | OPTIONS_FLEET | OPTIONS_JSON, 0, MANY, verb_stop },
        { "follow", "[SESSION | FUNCTION...] [OPTIONS]", "draw calls live, until Ctrl-C",
          "With FUNCTIONs: records them, and puts the kernel back at the end; the recording is\n"
          "removed unless it has a name (-n) or --keep is given.  With the name of a session that\n"
          "records: watches it, and leaves it alone.  As root no daemon is needed.  With --top\n"
          "not the calls are drawn, but every second where their time goes; q ends that, too.\n",
          OPTIONS_RECORD | OPTIONS_FOLLOW | OPTIONS_DRAW | OPTIONS_LIVE | OPTIONS_TOP |
                  OPTIONS_LIMIT | OPTIONS_ANALYZE,
          0, MANY, verb_follow },
        { "status", "", "what happens now (the default)", NULL, OPTIONS_FLEET | OPTIONS_JSON, 0, 0,
          verb_status },
        { "list", "", "all sessions, a line each", NULL, OPTIONS_JSON, 0, 0, verb_list },
        { "show", "SOURCE", "everything about one session", NULL, OPTIONS_JSON, 1, 1, verb_show },
        { "report", "SOURCE... [OPTIONS]", "draw the calls of a recording",
          "Draws on standard output; what was lost is said on standard error, and makes the exit\n"
          "status 6.  SOURCE is a session, or a file: a trace.dat, or a text that the kernel's\n"
          "function_graph, perf-tools' funcgraph, \"perf ftrace\" or a SystemTap script with\n"
          "thread_indent() has printed, \"-\" for standard input.  A text is drawn as it was, "
          "unless\n"
          "options are given; a line of it that is damaged is named, left out, and makes the exit\n"
          "status 1.  With --json: an object for each call, one a line.  Several recordings, of "
          "one\n"
          "host or of many, are merged by the clock on the wall.\n",
          OPTIONS_DRAW | OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON, 1, MANY, verb_report },
        { "top", "SOURCE [OPTIONS]", "where the time of a recording went",
          "SELF is what a function took without the calls below it, TOTAL with them; recursion\n"
          "counts once.  What was cut off by the beginning or the end counts with what was seen.\n",
          OPTIONS_TOP | OPTIONS_LIMIT | OPTIONS_ANALYZE | OPTIONS_FILTER | OPTIONS_KEEP_GOING |
                  OPTIONS_JSON,
          1, 1, verb_top },
        { "tree", "SOURCE [OPTIONS]", "the trees of all calls, merged",
          "A line for each function under the path of its callers: what took longest first, and "
          "the\n"
          "way to where most time went marked with \">\".\n",
          OPTIONS_TREE | OPTIONS_CALLERS | OPTIONS_ANALYZE | OPTIONS_FILTER | OPTIONS_KEEP_GOING |
                  OPTIONS_JSON,
          1, 1, verb_tree },
        { "hist", "SOURCE [FUNCTION] [OPTIONS]", "how long calls took, as a histogram",
          "One for each root; with FUNCTION, a name or a glob, one of all its calls, and how long "
          "they\n"
          "took under each root.\n",
          OPTIONS_HIST | OPTIONS_LIMIT | OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON, 1, 2,
          verb_hist },
        { "slow", "SOURCE [OPTIONS]", "the slowest calls of roots, and what they spent",
          "Each with what it spent and a usual call of the same root does not, and with its own "
          "tree.\n"
          "\"+\": what the usual one does not call, \"-\": what it does and this one does not.\n",
          OPTIONS_SLOW | OPTIONS_TREE | OPTIONS_ANALYZE | OPTIONS_FILTER | OPTIONS_KEEP_GOING |
                  OPTIONS_JSON,
          1, 1, verb_slow },
        { "waits", "SOURCE [OPTIONS]", "where calls waited, and who woke them",
          "Of recordings made with --sched.  WAITED is from leaving the CPU to coming back to it,\n"
          "WAKE-UP the part of it from being woken on, as a median.\n",
          OPTIONS_LIMIT | OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON, 1, 1, verb_waits },
        { "calls", "SOURCE [FUNCTION] [OPTIONS]", "every call of a function, a line each",
          "In the order in which they ended; without FUNCTION the outermost calls.  A \"+\" behind "
          "a\n"
          "duration: it was cut, and took longer.\n",
          OPTIONS_LIMIT | OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON, 1, 2, verb_calls },
        { "diff", "BEFORE NOW [OPTIONS]", "what has changed from one recording to another",
          "Compares each root that both have, and the functions below it: what an outermost call\n"
          "spends in them on average, and how often it calls them.  What may be chance is left "
          "out.\n",
          OPTIONS_LIMIT | OPTIONS_FILTER | OPTIONS_KEEP_GOING | OPTIONS_JSON, 2, 2, verb_diff },
        { "check", "SOURCE", "what there is in a recording, and what is missing",
          "Counts lines or records of each kind, and names what does not fit.  The exit status is\n"
          "6 if the recording is not complete.  With options that leave something out: what there\n"
          "is of the rest.\n",
          OPTIONS_FILTER | OPTIONS_JSON, 1, 1, verb_check },
        { "verify", "SOURCE", "whether a recording is complete and undamaged",
          "The exit status is 6 if anything is missing or damaged.\n",
          OPTIONS_VERIFY | OPTIONS_JSON, 1, 1, verb_verify },
        { "fetch", "SOURCE -o FILE [OPTIONS]", "a trace.dat for trace-cmd and KernelShark",
          "Pages are copied as they are, so of a window (--from, --to) there is somewhat more "
          "than\n"
          "asked for.  What was lost is said, and makes the exit status 6.\n",
          OPTIONS_OUTPUT | OPTIONS_FETCH | OPTIONS_FLEET, 1, 1, verb_fetch },
        { "keep", "SOURCE -n NAME | -o FILE [OPTIONS]", "a part of a recording, as one of its own",
          "What the options leave of SOURCE becomes a session in the store, which must be no "
          "running\n"
          "daemon's, or a trace.dat.  The records are the same, bit for bit.\n",
          OPTIONS_KEEP | OPTIONS_FILTER | OPTIONS_OUTPUT, 1, 1, verb_keep },
        { "export", "[BEFORE] SOURCE --format=FORMAT [-o FILE]", "pictures, timelines, tables",
          "FORMAT is flame (a flame graph; of two recordings, what has changed), html (a page\n"
          "with everything), folded or dot; chrome, speedscope or perfetto (timelines); csv, json\n"
          "or ndjson (tables of calls).  Without -o it is written to standard output.\n",
          OPTIONS_EXPORT | OPTIONS_OUTPUT | OPTIONS_FILTER | OPTIONS_KEEP_GOING, 1, 2,
          verb_export },
        { "remove", "SESSION...", "remove sessions and their data", NULL, 0, 1, MANY, verb_remove },
        { "pin", "SESSION...", "never remove sessions, until unpin",
          "Neither \"remove\" nor a lack of room removes a pinned session; \"list\" marks it with "
          "a *.\n",
          0, 1, MANY, verb_pin },
        { "unpin", "SESSION...", "let sessions be removed again", NULL, 0, 1, MANY, verb_unpin },
        { "seal", "SESSION...", "wait until recordings take as little room as they can",
          "What has ended is sealed by itself, one file after the other.\n", OPTIONS_JSON, 1, MANY,
          verb_seal },
        { "vacuum", "[OPTIONS]", "remove old sessions, now",
          "Removes sessions that have ended, the oldest first, until what the options say is\n"
          "true; without any, what ftraced.conf says.  What is pinned or being read stays.\n",
          OPTIONS_VACUUM | OPTIONS_CONFIG | OPTIONS_JSON, 0, 0, verb_vacuum },
        { "cat-config", "", "what ftraced.conf says, and where", NULL,
          OPTIONS_CONFIG | OPTIONS_JSON, 0, 0, verb_cat_config },
        { "functions", "[PATTERN]", "what can be traced here", NULL, OPTIONS_JSON, 0, 1,
          verb_functions },
        { "profile", "list | show NAME | check [NAME | FILE]", "recordings that have a name",
          "Profiles are files profiles.d/NAME.conf, see ftraced.profile(5), for --profile NAME.\n"
          "check says what is wrong in all of them, in one, or in a FILE that need not be\n"
          "installed, and exits with 1 if anything is; functions that this kernel does not have\n"
          "are warnings.\n",
          OPTIONS_CONFIG | OPTIONS_JSON, 0, 2, verb_profile },
        { "schedule", "list | add NAME --calendar=WHEN FUNCTION... | remove NAME | run NAME",
          "recordings that a timer begins",
          "A schedule is a timer of systemd's, ftraced-capture@NAME.timer; its recordings are\n"
          "sessions NAME-1 and so on.  One needs an end: --duration or --max-size.  What is due\n"
          "while another one holds the tracer is skipped, or waits with --wait.  run records "
          "now.\n",
          OPTIONS_RECORD | OPTIONS_SCHEDULE | OPTIONS_CONFIG | OPTIONS_JSON, 0, MANY,
          verb_schedule },
        { "metrics", "[-o FILE]", "numbers for a monitoring system",
          "Prints OpenMetrics; with -o writes FILE at once, for node_exporter's textfile\n"
          "collector.\n",
          OPTIONS_OUTPUT | OPTIONS_JSON, 0, 0, verb_metrics },
        { "doctor", "", "what stands in the way, and what to do about it",
          "The exit status is 1 if nothing can be recorded.\n", OPTIONS_JSON, 0, 0, verb_doctor },
        { "help", "[VERB]", "this text, or a verb's", NULL, 0, 0, 1, verb_help },
        { "version", "", "the version of ftracectl", NULL, 0, 0, 0, verb_version },
};

static const Verb *find_verb(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                if (streq(verbs[i].name, name))
                        return &verbs[i];
        return NULL;
}

static int help_all(void) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        buf_adds(&out,
                 "ftracectl: record what the kernel does under the functions you name\n\n"
                 "  ftracectl run udp_sendmsg -- ./client     record, draw\n"
                 "  ftracectl follow udp_sendmsg              the same, live\n"
                 "  ftracectl start udp_sendmsg               record until \"ftracectl stop\"\n"
                 "\nVerbs (ftracectl VERB --help says more):\n");
        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                buf_printf(&out, "  %-10s  %s\n", verbs[i].name, verbs[i].summary);
        buf_adds(&out, "\nOptions of every verb:\n");
        options_help(&out, OPTIONS_GLOBAL);
        return stdout_end(&out);
}

static int help_verb(const Verb *v) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        buf_printf(&out, "ftracectl %s%s%s\n%s.\n", v->name, *v->synopsis ? " " : "", v->synopsis,
                   v->summary);
        if (v->details)
                buf_printf(&out, "\n%s", v->details);
        if (v->groups) {
                buf_adds(&out, "\nOptions:\n");
                options_help(&out, v->groups);
        }
        buf_adds(&out, "\nOptions of every verb:\n");
        options_help(&out, OPTIONS_GLOBAL);
        return stdout_end(&out);
}

static int unknown_verb(const char *name) {
        const char *names[ELEMENTSOF(verbs)], *like;
        char quoted[NAME_QUOTE_MAX];

        for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
                names[i] = verbs[i].name;
        like = typo_nearest(name, names, ELEMENTSOF(names));
        name_quote(quoted, name);
        if (like)
                log_error("unknown verb \"%s\". Did you mean \"%s\"?", quoted, like);
        else
                log_error("unknown verb \"%s\"; see \"ftracectl --help\".", quoted);
        return STATUS_USAGE;
}

static int verb_help(const Options *o) {
        const Verb *v;

        if (o->words.n == 0)
                return help_all();
        v = find_verb(o->words.items[0]);
        return v ? help_verb(v) : unknown_verb(o->words.items[0]);
}

static int verb_version(const Options *o) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        buf_adds(&out, PACKAGE_STRING "\n");
        return stdout_end(&out);
}

int main(int argc, char **argv) {
        _cleanup_options_ Options o = {};
        const Verb *v;
        int status;

        (void) setlocale(LC_CTYPE, "");
        (void) signal(SIGPIPE, SIG_IGN);
        (void) signal(SIGXFSZ, SIG_IGN);
        log_setup("ftracectl");
        status = options_parse(&o, argc, argv);
        if (status != STATUS_OK)
                return status;
        if (o.version)
                return verb_version(&o);
        if (!o.verb && o.help)
                return help_all();
        v = find_verb(o.verb ?: "status");
        if (!v)
                return unknown_verb(o.verb);
        if (o.help)
                return help_verb(v);
        if (!(v->groups & OPTIONS_RUN)) {
                status = options_join_words(&o);
                if (status != STATUS_OK)
                        return status;
        }
        status = options_check(&o, v->name, v->groups | OPTIONS_GLOBAL, v->min_words, v->max_words);
        if (status != STATUS_OK)
                return status;
        return o.host ? remote_run(&o) : o.hosts ? fleet_run(&o) : v->run(&o);
}
