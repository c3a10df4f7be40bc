/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/cleanup.h"
#include "meta/gone.h"

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
        { GONE_VERB, "help", "\"ftracectl VERB --help\" says what VERB does" },
        { GONE_VERB, "keep",
          "\"ftracectl fetch --from=WHEN --to=WHEN\" makes a trace.dat of a part" },
        { GONE_VERB, "cat-config", "\"ftraced --cat-config\" prints the settings in effect" },
        { GONE_VERB, "check", "\"ftracectl verify\" says what a recording or a text lacks" },
        { GONE_VERB, "seal",
          "the daemon does it by itself, and \"ftracectl verify --deep\" says what is left" },
        { GONE_VERB, "unpin", "\"ftracectl pin --off\" protects a session no longer" },
        { GONE_VERB, "version", "\"ftracectl --version\" prints it" },
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
        { GONE_FORMAT, "otlp", "parquet and tsv have the request of each call as trace_id" },
};

const char *gone_instead(GoneKind kind, const char *word) {
        for (size_t i = 0; i < ELEMENTSOF(gone); i++)
                if (gone[i].kind == kind && streq(gone[i].word, word))
                        return gone[i].instead;
        return NULL;
}
