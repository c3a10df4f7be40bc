/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A spec crosses from any user to root, so everything that may be in one stands in one table:
 * its keys, its range, which words may be in its lists, and who may say it.  Nothing that is not in the table
 * gets through, and each refusal can name its key.  What one member brings along is there once the spec is read, so that
 * whoever judges it judges all of it.
 */

#include "base/name.h"
#include "base/unit.h"
#include "types/args-choice.h"
#include "meta/event-choice.h"
#include "meta/spec.h"
#include "meta/trigger.h"

#define BUFFER_BYTES_MIN 4096
#define BUFFER_BYTES_MAX (UINT64_C(1) << 40)
#define MAX_FUNCTIONS_MAX 65536 /* more than any kernel has; also META's bound on roots */
#define PID_TEXT_MAX 7
#define CPU_RANGE_TEXT_MAX 9

static bool pid_is_valid(const char *s) {
        uint64_t pid;

        return parse_u64(s, SPEC_PID_MAX, &pid) >= 0 && pid > 0 && *s != '0';
}

static const char *const lean_names[] = {
        [LEAN_DEFAULT] = "default",
        [LEAN_OFF] = "off",
        [LEAN_FULL] = "full",
        [LEAN_AUTO] = "auto",
};

static const char *const lesson_names[_LESSON_N] = {
        [LESSON_YES] = "yes",
        [LESSON_NO] = "no",
        [LESSON_WHOLE] = "whole",
};

static const char *const on_full_names[] = {
        [SPEC_ON_FULL_WAIT] = "wait",
        [SPEC_ON_FULL_STOP] = "stop",
};

const char *const session_limit_names[_SESSION_LIMIT_N] = {
        [SESSION_LIMIT_NONE] = "none",
        [SESSION_LIMIT_EVENT_RATE] = "max_event_rate",
        [SESSION_LIMIT_WRITE_RATE] = "max_write_rate",
        [SESSION_LIMIT_CPU] = "max_cpu",
};

int spec_lean_from_name(const char *s) {
        return text_find(lean_names, _LEAN_N, s);
}

const char *spec_on_full_name(SpecOnFull o) {
        return (size_t) o < ELEMENTSOF(on_full_names) ? on_full_names[o] : "unknown";
}

/*
 * Who changes what is seen of the functions and events that are named, or when, is asked for those: a profile's
 * are allowed as they stand, and not otherwise.  Tasks and control groups may be named by whoever may record the
 * functions: a recording has every task's id and name in it, so that one of all tasks tells more than one of a
 * few.
 */
#define VIEW (SPEC_ASKS_FUNCTIONS | SPEC_ASKS_EVENTS | SPEC_ASKS_TRIGGERS)
/* Neither names anything nor shows more: members are trusted with what it costs, within [Guard]. */
#define COST 0

/* The last three: its key in profiles, how that is said, and what a member of the group is asked for. */
#define MEMBER(member, kind, in_profile, as, who, ...)                                             \
        { JSON_FIELD(Spec, member, kind, __VA_ARGS__), in_profile, SPEC_VALUE_##as, who }
#define NUMBER(member, from, to, absent, ...)                                                      \
        MEMBER(member, U64, __VA_ARGS__, .flags = JSON_FIELD_OMIT, .min = (from), .max = (to),     \
               .fallback = (absent))
#define FLAG(member, ...) MEMBER(member, BOOL, __VA_ARGS__, .flags = JSON_FIELD_OMIT)
#define LIST(member, most, text, valid, ...)                                                       \
        MEMBER(member, STRV, __VA_ARGS__, .flags = JSON_FIELD_OMIT, .max = (most),                 \
               .max_text = (text), .is_valid = (valid))
#define PATTERNS(member, most, ...)                                                                \
        LIST(member, most, FUNCTION_NAME_MAX, function_pattern_is_valid, __VA_ARGS__)
#define CHOICE(member, all, absent, ...)                                                           \
        MEMBER(member, WORD, __VA_ARGS__, .flags = JSON_FIELD_OMIT, .words = (all),                \
               .max = ELEMENTSOF(all), .fallback = (absent))

static const SpecMember members[] = {
        { JSON_FIELD(Spec, functions, STRV, .flags = JSON_FIELD_REQUIRED, .max = SPEC_MAX_ROOTS,
                     .max_text = FUNCTION_NAME_MAX, .is_valid = function_pattern_is_valid),
          "Functions", SPEC_VALUE_WORDS, SPEC_ASKS_FUNCTIONS },
        PATTERNS(notrace, SPEC_MAX_ROOTS, "NoTrace", WORDS, SPEC_ASKS_NOTRACE | VIEW),
        LIST(pids, SPEC_MAX_ROOTS, PID_TEXT_MAX, pid_is_valid, "Pids", WORDS, VIEW),
        LIST(comms, SPEC_MAX_COMMS, COMM_MAX, comm_is_valid, "Comm", LINE, VIEW),
        LIST(cgroups, SPEC_MAX_CGROUPS, CGROUP_PATH_MAX, cgroup_path_is_valid, "ControlGroup", LINE,
             VIEW),
        LIST(cpus, CPU_RANGE_END, CPU_RANGE_TEXT_MAX, cpu_range_is_valid, "CPUs", WORDS, VIEW),
        FLAG(flat, "Flat", BOOL, VIEW),
        NUMBER(slower_ns, SPEC_SLOWER_NS_MIN, INT64_MAX, 0, "Slower", DURATION, VIEW),
        FLAG(no_irqs, "NoIRQs", BOOL, VIEW),
        FLAG(no_sleep_time, "NoSleepTime", BOOL, VIEW),
        { JSON_FIELD(Spec, clock, TEXT, .flags = JSON_FIELD_OMIT | JSON_FIELD_NULLABLE,
                     .max_text = 31, .is_valid = clock_name_is_valid),
          "Clock", SPEC_VALUE_WORD, COST },
        NUMBER(depth, 0, SPEC_DEPTH_MAX, 0, "Depth", NUMBER, VIEW),
        NUMBER(duration_ns, 0, INT64_MAX, 0, "Duration", DURATION, COST),
        NUMBER(max_bytes, 0, INT64_MAX, 0, "MaxSize", BYTES, COST),
        NUMBER(segment_bytes, SPEC_SEGMENT_BYTES_MIN, INT64_MAX, 0, "SegmentSize", BYTES, COST),
        NUMBER(segment_ns, SPEC_SEGMENT_NS_MIN, INT64_MAX, 0, "SegmentTime", DURATION, COST),
        FLAG(ring, "Ring", BOOL, VIEW),
        NUMBER(buffer_bytes, BUFFER_BYTES_MIN, BUFFER_BYTES_MAX, SPEC_DEFAULT_BUFFER_BYTES,
               "BufferSize", BYTES, COST),
        NUMBER(max_functions, 1, MAX_FUNCTIONS_MAX, SPEC_DEFAULT_MAX_FUNCTIONS, "MaxFunctions",
               NUMBER, COST),
        CHOICE(on_full, on_full_names, SPEC_ON_FULL_WAIT, "OnFull", WORD, COST),
        CHOICE(lean, lean_names, LEAN_DEFAULT, "Lean", WORD, COST),
        CHOICE(lesson, lesson_names, LESSON_YES, "Lesson", WORD, COST),
        FLAG(args, "Args", BOOL, VIEW),
        FLAG(retval, "RetVal", BOOL, VIEW),
        FLAG(kernel_stack, "KernelStack", BOOL, VIEW),
        FLAG(user_stack, "UserStack", BOOL, VIEW),
        NUMBER(stack_bytes, 0, SPEC_STACK_BYTES_MAX, 0, "StackCopy", BYTES, VIEW), /* complete() */
        NUMBER(stack_every, 0, SPEC_STACK_EVERY_MAX, 0, "StackEvery", NUMBER, VIEW),
        FLAG(whose, "Whose", BOOL, VIEW),
        PATTERNS(retval_functions, SPEC_MAX_VALUES, "RetValFunctions", WORDS, VIEW),
        LIST(args_functions, SPEC_MAX_VALUES, ARGS_CHOICE_MAX, args_choice_is_valid,
             "ArgsFunctions", WORDS, VIEW),
        FLAG(what, "What", BOOL, VIEW),
        LIST(events, SPEC_MAX_EVENTS, EVENT_CHOICE_MAX, event_choice_is_valid, "Event", LINE,
             SPEC_ASKS_EVENTS),
        NUMBER(budget_ppm, 0, 1000000, SPEC_DEFAULT_BUDGET_PPM, "Budget", PERCENT, COST),
        PATTERNS(hooked, SPEC_MAX_HOOKED, "Hooked", WORDS, SPEC_ASKS_HOOKED | VIEW),
        NUMBER(max_hooked, 1, SPEC_UNLIMITED, 0, "MaxHooked", COUNT, COST),
        NUMBER(max_event_rate, 1, SPEC_UNLIMITED, 0, "MaxEventRate", COUNT, COST),
        NUMBER(max_write_rate, 1, SPEC_UNLIMITED, 0, "MaxWriteRate", BYTES, COST),
        NUMBER(max_cpu_ppm, 1, SPEC_UNLIMITED, 0, "MaxCPU", PERCENT, COST),
        LIST(triggers, TRIGGER_MAX, TRIGGER_RULE_BYTES_MAX, trigger_rule_is_valid, "Trigger", LINE,
             VIEW),
        FLAG(in_kernel, "InKernel", BOOL, VIEW),
        FLAG(black_box, "BlackBox", BOOL, VIEW), /* complete() */
        NUMBER(max_captures, 0, INT64_MAX, 0, "MaxCaptures", NUMBER, VIEW),
        NUMBER(max_captures_a_day, 0, CAPTURES_MAX_A_DAY, SPEC_DEFAULT_CAPTURES_A_DAY,
               "MaxCapturesADay", NUMBER, VIEW),
        NUMBER(min_gap_ns, 0, INT64_MAX, SPEC_DEFAULT_GAP_NS, "MinGap", DURATION, VIEW),
        NUMBER(sample_ppm, 0, SAMPLE_ALL_PPM, 0, "Sample", SAMPLE, VIEW),
};

static const JsonTable table = { &members[0].json, ELEMENTSOF(members), sizeof(members[0]),
                                 sizeof(Spec) };

const SpecMember *spec_member(size_t i) {
        return i < ELEMENTSOF(members) ? &members[i] : NULL;
}

const SpecMember *spec_find_member(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(members); i++)
                if (streq(members[i].json.key, name))
                        return &members[i];
        return NULL;
}

json_t *spec_to_json(const Spec *spec) {
        return json_fields_new(&table, spec);
}

/* Of two filters for one event only one could count. */
static bool names_an_event_twice(const Strv *events) {
        _cleanup_strv_ Strv names = {};
        EventChoice e;

        for (size_t i = 0; i < events->n; i++)
                if (event_choice_parse(&e, events->items[i])) /* it is valid */
                        (void) strv_addf(&names, "%s:%s", e.system, e.name);
        strv_sort_unique(&names);
        return names.n < events->n; /* without memory, too */
}

int spec_member_to_json(json_t *o, const Spec *spec, size_t offset) {
        for (size_t i = 0; i < ELEMENTSOF(members); i++) {
                JsonField f = members[i].json;

                if (f.offset != offset)
                        continue;
                f.flags &= ~(unsigned) JSON_FIELD_OMIT;
                return json_fields_write(o, &(JsonTable){ &f, 1 }, spec);
        }
        return ORIGIN(-ENOENT);
}

/* Copies of stacks are beside what the kernel says of them, in whole words.  A black box is a ring in the kernel, with what
 * the kernel says: of a panic, for one.  Whoever may say a member may say what it brings along: its row has the bits of
 * both. */
static int complete(Spec *spec) {
        static const char messages[] = "printk:console";

        spec->user_stack |= spec->stack_bytes > 0;
        spec->stack_bytes &= ~UINT64_C(7);
        if (!spec->black_box)
                return 0;
        spec->in_kernel = spec->ring = true;
        for (size_t i = 0; i < spec->events.n; i++)
                if (startswith(spec->events.items[i], messages))
                        return 0;
        return spec->events.n < SPEC_MAX_EVENTS ? strv_add(&spec->events, messages) : 0;
}

int spec_from_json(Spec *ret, const json_t *o, const char **ret_field) {
        _cleanup_spec_ Spec spec = {};
        int r;
        const char *field = json_is_object(o) ? json_fields_find_unknown(&table, o) : "spec";

        r = field ? SPEC_E_INVALID : json_fields_read(&spec, &table, o, &field);
        if (r == 0 && spec.functions.n == 0) {
                field = "functions";
                r = SPEC_E_INVALID;
        }
        if (r == 0 && names_an_event_twice(&spec.events)) {
                field = "events";
                r = SPEC_E_INVALID;
        }
        if (r == 0 && spec.stack_bytes > 0 && spec.stack_bytes < SPEC_STACK_BYTES_MIN) {
                field = "stack_bytes";
                r = SPEC_E_INVALID;
        }
        if (r == SPEC_E_INVALID)
                *ret_field = field;
        if (r == 0)
                r = complete(&spec);
        if (r == 0)
                *ret = TAKE(spec, (Spec){});
        return r;
}

int spec_copy(Spec *ret, const Spec *spec) {
        _cleanup_spec_ Spec copy = *spec;
        int r = 0;

        copy.clock = NULL;
        for (size_t i = 0; i < ELEMENTSOF(members); i++)
                if (members[i].json.type == JSON_FIELD_STRV)
                        memset((char *) &copy + members[i].json.offset, 0, sizeof(Strv));
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(members); i++) {
                size_t at = members[i].json.offset;

                if (members[i].json.type == JSON_FIELD_STRV)
                        r = strv_copy((void *) ((char *) &copy + at),
                                      (const void *) ((const char *) spec + at));
        }
        if (r >= 0)
                r = text_replace(&copy.clock, spec->clock);
        if (r < 0)
                return r;
        *ret = TAKE(copy, (Spec){});
        return 0;
}

static bool names_args(const Spec *spec, bool fields) {
        for (size_t i = 0; i < spec->args_functions.n; i++)
                if ((args_choice_fields(spec->args_functions.items[i]) != NULL) == fields)
                        return true;
        return false;
}

bool spec_asks_for_args(const Spec *spec) {
        return spec->args || names_args(spec, false);
}

bool spec_asks_for_fields(const Spec *spec) {
        return spec->what || names_args(spec, true);
}

void spec_done(Spec *spec) {
        json_fields_done(&table, spec);
}
