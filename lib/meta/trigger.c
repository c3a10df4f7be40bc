/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Two tables of words, one for each side of the space; behind a word and a colon stands what its
 * reader takes.  Names and filters end in paths and control files of tracefs, so nothing but what is
 * expressly allowed gets through.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <time.h>

#include "base/name.h"
#include "base/unit.h"
#include "meta/event-choice.h"
#include "meta/trigger.h"

static _printf_(2, 3) int wrong(char why[static TRIGGER_WHY_MAX], const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(why, TRIGGER_WHY_MAX, format, ap);
        va_end(ap);
        return TRIGGER_E_INVALID;
}

static int wrong_word(char why[static TRIGGER_WHY_MAX], const char *word, const char *what) {
        return wrong(why, "\"%s\" %s", NAME_QUOTED(word ?: ""), what);
}

/* @rest: what stands behind the colon, NULL: there is none. */
typedef int (*Reader)(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]);

static int read_nothing(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]) {
        return rest ? wrong(why, "\":%s\" stands behind a word that takes nothing",
                            NAME_QUOTED(rest))
                    : 0;
}

static int read_function(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]) {
        if (!rest || !function_pattern_is_valid(rest) || function_pattern_is_glob(rest))
                return wrong_word(why, rest, "is not the name of one function");
        t->name = strdup(rest);
        return t->name ? 0 : -ENOMEM;
}

/* One line of printable characters. */
static bool filter_is_valid(const char *s) {
        if (*s == 0)
                return false;
        for (; *s; s++)
                if ((unsigned char) *s < ' ' || (unsigned char) *s >= 0x7f)
                        return false;
        return true;
}

static int read_filter(Trigger *t, const char *filter, char why[static TRIGGER_WHY_MAX]) {
        if (!filter_is_valid(filter))
                return wrong(why, "the filter \"%s\" is empty or not one line",
                             NAME_QUOTED(filter));
        t->filter = strdup(filter);
        return t->filter ? 0 : -ENOMEM;
}

static int read_event(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]) {
        EventChoice e;

        if (!rest || !event_choice_parse(&e, rest))
                return wrong_word(why, rest, "is not SYSTEM:NAME or SYSTEM:NAME:FILTER");
        t->system = strdup(e.system);
        t->name = strdup(e.name);
        if (!t->system || !t->name)
                return -ENOMEM;
        return e.filter ? read_filter(t, e.filter, why) : 0;
}

static int read_return(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]) {
        size_t n = rest ? strcspn(rest, ":") : 0;
        _cleanup_free_ char *name = rest ? strndup(rest, n) : NULL;
        int r;

        if (rest && !name)
                return -ENOMEM;
        r = read_function(t, name, why);
        return r == 0 && rest[n] ? read_filter(t, rest + n + 1, why) : r;
}

static int read_time(const char *rest, uint64_t *ret, char why[static TRIGGER_WHY_MAX]) {
        if (!rest || parse_duration(rest, ret) < 0 || *ret == 0)
                return wrong_word(why, rest, "is not a time like 5ms or 10min");
        return 0;
}

static int read_duration(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]) {
        return read_time(rest, &t->value, why);
}

static int read_count(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]) {
        if (!rest || parse_u64(rest, INT64_MAX, &t->value) < 0 || t->value == 0)
                return wrong_word(why, rest, "is not a number from 1 on");
        return 0;
}

int trigger_read_moment(const char *text, uint64_t *ret) {
        const char *p = text + 1;
        uint64_t ns;

        if (*text != '@' || parse_seconds(&p, &ns) < 0 || *p ||
            ns / NSEC_PER_SEC >= (uint64_t) INT64_MAX / NSEC_PER_SEC)
                return -EINVAL;
        *ret = ns;
        return 0;
}

char *trigger_write_moment(char text[static TRIGGER_MOMENT_MAX], uint64_t moment_ns) {
        (void) snprintf(text, TRIGGER_MOMENT_MAX, "@%" PRIu64 ".%09" PRIu64,
                        (uint64_t) (moment_ns / NSEC_PER_SEC),
                        (uint64_t) (moment_ns % NSEC_PER_SEC));
        return text;
}

static int read_at(Trigger *t, const char *rest, char why[static TRIGGER_WHY_MAX]) {
        const char *p = rest ?: "", *end;
        size_t n = strlen(p);
        struct tm tm = {};

        if (*p == '@') {
                t->is_moment = true;
                if (trigger_read_moment(p, &t->value) < 0)
                        return wrong_word(
                                why, rest,
                                "is not a moment like @1767225600.5, in seconds since 1970");
                return 0;
        }
        /* It would take blanks, single digits and leap seconds as well. */
        end = strptime(p, n == 8 ? "%H:%M:%S" : "%H:%M", &tm);
        if (!end || *end || (n != 5 && n != 8) || strspn(p, "0123456789:") != n || tm.tm_sec > 59)
                return wrong_word(why, rest, "is not a time of the day like 02:30 or 02:30:15");
        t->value = (uint64_t) (tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec);
        return 0;
}

static const struct {
        const char *word;
        Reader read;
} kinds[_TRIGGER_KIND_N] = {
        [TRIGGER_COMMAND] = { "command", read_nothing },
        [TRIGGER_SIGNAL] = { "signal", read_nothing },
        [TRIGGER_FUNCTION] = { "function", read_function },
        [TRIGGER_EVENT] = { "event", read_event },
        [TRIGGER_RETURN] = { "return", read_return },
        [TRIGGER_SLOWER] = { "slower", read_duration },
        [TRIGGER_COUNT] = { "count", read_count },
        [TRIGGER_AT] = { "at", read_at },
        [TRIGGER_IN] = { "in", read_duration },
};

static const char *const actions[_TRIGGER_ACTION_N] = {
        [TRIGGER_START] = "start",
        [TRIGGER_STOP] = "stop",
        [TRIGGER_SNAPSHOT] = "snapshot",
};

/* "stop" or "stop:10s" */
static int read_action(Trigger *t, const char *text, char why[static TRIGGER_WHY_MAX]) {
        size_t n = strcspn(text, ":");

        for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
                if (strlen(actions[i]) != n || strncmp(actions[i], text, n) != 0)
                        continue;
                if (t->does[i])
                        return wrong(why, "\"%s\" stands there twice", actions[i]);
                t->does[i] = true;
                if (text[n] == 0)
                        return 0;
                if (i == TRIGGER_START)
                        return wrong(why, "\"%s\" takes no time behind it", actions[i]);
                return read_time(text + n + 1, &t->delay_ns[i], why);
        }
        return wrong_word(why, text,
                          "is not one of start, stop, stop:TIME, snapshot, snapshot:TIME");
}

static int read_actions(Trigger *t, const char *text, size_t n, char why[static TRIGGER_WHY_MAX]) {
        _cleanup_free_ char *copy = strndup(text, n);
        int r = 0;

        if (!copy)
                return -ENOMEM;
        for (char *p = copy, *next; r == 0 && p; p = next) {
                next = strchr(p, ',');
                if (next)
                        *next++ = 0;
                r = read_action(t, p, why);
        }
        return r;
}

static int read_kind(Trigger *t, const char *text, char why[static TRIGGER_WHY_MAX]) {
        size_t n = strcspn(text, ":");

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (strlen(kinds[i].word) == n && strncmp(kinds[i].word, text, n) == 0) {
                        t->kind = (TriggerKind) i;
                        return kinds[i].read(t, text[n] ? text + n + 1 : NULL, why);
                }
        return wrong_word(
                why, text,
                "is not a trigger: function:NAME, event:SYSTEM:NAME[:FILTER], "
                "return:NAME[:FILTER], slower:TIME, count:N, at:HH:MM, in:TIME, signal or command");
}

int trigger_parse(Trigger *ret, const char *rule, char why[static TRIGGER_WHY_MAX]) {
        const char *space = strchr(rule, ' ');
        _cleanup_trigger_ Trigger t = {};
        int r;

        if (!space)
                return wrong(why, "a rule says what to do, a space, and when");
        if (strlen(rule) > TRIGGER_RULE_BYTES_MAX)
                return wrong(why, "a rule is longer than %d characters", TRIGGER_RULE_BYTES_MAX);
        r = read_actions(&t, rule, (size_t) (space - rule), why) ?: read_kind(&t, space + 1, why);
        if (r != 0)
                return r;
        *ret = TAKE(t, (Trigger){});
        return 0;
}

bool trigger_rule_is_valid(const char *rule) {
        _cleanup_trigger_ Trigger t = {};
        char why[TRIGGER_WHY_MAX];

        return trigger_parse(&t, rule, why) == 0;
}

void trigger_done(Trigger *t) {
        free(t->system);
        free(t->name);
        free(t->filter);
        *t = (Trigger){};
}

const char *trigger_rule_on(const char *rule) {
        const char *space = strchr(rule, ' ');

        return space ? space + 1 : rule;
}

int trigger_rule_n_do(const char *rule) {
        return (int) strcspn(rule, " ");
}

bool trigger_is_capture(const Trigger *t) {
        return t->does[TRIGGER_START] || t->does[TRIGGER_SNAPSHOT];
}

/* --- captures ------------------------------------------------------------------------------------ */

/* A clock that was set back makes times of the future: they count as of now, so that a cap neither opens nor
 * stays shut for longer than it says. */

#define NUMBER(object, member) JSON_FIELD(object, member, U64, .max = INT64_MAX)

static const JsonField count_fields[] = {
        NUMBER(TriggerCount, fired),
        NUMBER(TriggerCount, suppressed),
        NUMBER(TriggerCount, last_ns),
};

static const JsonField time_field[] = {
        { .type = JSON_FIELD_U64, .flags = JSON_FIELD_REQUIRED, .max = INT64_MAX },
};

static const JsonTable count_table = JSON_TABLE(TriggerCount, count_fields, .n_max = TRIGGER_MAX),
                       time_table = JSON_TABLE(uint64_t, time_field, .n_max = CAPTURES_MAX_A_DAY,
                                               .is_plain = true);

static const JsonField captures_fields[] = {
        NUMBER(Captures, n),
        JSON_FIELD(Captures, times_ns, LIST, .table = &time_table),
        JSON_FIELD(Captures, triggers, LIST, .table = &count_table),
};

const JsonTable captures_table = JSON_TABLE(Captures, captures_fields);

/* Returns what is left of @length_ns that began at @from_ns. */
static uint64_t left(uint64_t from_ns, uint64_t length_ns, uint64_t now_ns) {
        uint64_t gone = now_ns > from_ns ? now_ns - from_ns : 0;

        return gone < length_ns ? length_ns - gone : 0;
}

uint64_t captures_wait(const Captures *c, uint64_t max, uint64_t max_a_day, uint64_t min_gap_ns,
                       uint64_t now_ns) {
        uint64_t wait = 0;

        max_a_day = MIN(max_a_day, (uint64_t) CAPTURES_MAX_A_DAY);
        if (max > 0 && c->n >= max)
                return UINT64_MAX;
        if (min_gap_ns > 0 && c->n_times > 0)
                wait = left(c->times_ns[c->n_times - 1], min_gap_ns, now_ns);
        if (max_a_day > 0 && c->n_times >= max_a_day)
                wait = MAX(wait,
                           left(c->times_ns[c->n_times - max_a_day], CAPTURES_DAY_NS, now_ns));
        return wait;
}

int captures_note(Captures *c, uint64_t now_ns) {
        size_t n_old = 0;

        c->n++;
        while (n_old < c->n_times && left(c->times_ns[n_old], CAPTURES_DAY_NS, now_ns) == 0)
                n_old++;
        if (n_old == 0 && c->n_times == CAPTURES_MAX_A_DAY)
                n_old = 1;
        c->n_times -= n_old;
        if (n_old > 0)
                memmove(c->times_ns, c->times_ns + n_old, c->n_times * sizeof(*c->times_ns));
        return ARRAY_ADD(c->times_ns, c->n_times, now_ns) ? 0 : -ENOMEM;
}
