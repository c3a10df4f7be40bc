/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A function for each kind that is more than a number; each refuses with the option, the value, and
 * what would do. */

#include <fcntl.h>
#include <inttypes.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/options/options.h"
#include "meta/config.h"
#include "meta/profile.h"
#include "meta/trigger.h"

#define LEAN_FILE_MAX ((size_t) 8 << 20)

/* --- rules ------------------------------------------------------------------------------------ */

static int add_on(Rules *r, const char *trigger) {
        if (r->is_doing)
                r->n_complete = r->items.n;
        r->is_doing = false;
        return strv_addf(&r->items, " %s", trigger);
}

static int add_action(char **rule, const char *action) {
        int n_do = trigger_rule_n_do(*rule);
        char *text;

        if (asprintf(&text, "%.*s%s%s%s", n_do, *rule, n_do > 0 ? "," : "", action, *rule + n_do) <
            0)
                return -ENOMEM;
        free(*rule);
        *rule = text;
        return 0;
}

static int add_do(Rules *r, const char *action) {
        int k = r->items.n == 0 ? add_on(r, "command") : 0;

        r->is_doing = true;
        for (size_t i = r->n_complete; k >= 0 && i < r->items.n; i++)
                k = add_action(&r->items.items[i], action);
        return k;
}

int options_rules(Strv *ret, const Options *o) {
        _cleanup_strv_ Strv rules = {};
        int r = strv_copy(&rules, &o->rules.items);

        if (r >= 0 && rules.n == 0)
                r = strv_add(&rules, " command");
        for (size_t i = 0; r >= 0 && i < rules.n; i++) {
                _cleanup_trigger_ Trigger t = {};
                char why[TRIGGER_WHY_MAX];

                if (rules.items[i][0] == ' ')
                        r = add_action(&rules.items[i], o->spec.ring ? "snapshot" : "start");
                if (r >= 0)
                        r = trigger_parse(&t, rules.items[i], why);
                if (r > 0)
                        return failed(STATUS_USAGE, "--on, --do: %s; see \"ftracectl arm --help\".",
                                      why);
        }
        if (r < 0)
                return failed_errno(r, "Failed to read the triggers: %m");
        if (rules.n > TRIGGER_MAX)
                return failed(STATUS_USAGE, "--on: a session can wait for %d triggers, not %zu.",
                              TRIGGER_MAX, rules.n);
        *ret = TAKE(rules, (Strv){});
        return STATUS_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

int option_usage(const char *verb, const char *format, ...) {
        char text[512];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        return failed(STATUS_USAGE, "%s; see \"ftracectl %s%s--help\".", text, verb ?: "",
                      verb ? " " : "");
}

/* A list of functions, or else a SOURCE, which is read when it is known whose kernel is asked. */
static int set_lean(Options *o, const char *value) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv words = {};
        int r = spec_lean_from_name(value);
        bool is_list;

        if (r == LEAN_FULL)
                return option_usage(o->verb, "--lean=full is no more: --lean=auto, the default, "
                                             "hooks what the functions call, and with "
                                             "--set=Budget=100%% leaves none of it out");
        if (r > LEAN_DEFAULT) {
                o->spec.lean = (SpecLean) r;
                return STATUS_OK;
        }
        r = file_read(AT_FDCWD, value, &text, NULL, LEAN_FILE_MAX)
                    ?: strv_split(&words, text, " \t\n");
        is_list = r >= 0 && words.n <= SPEC_MAX_HOOKED;
        for (size_t i = 0; is_list && i < words.n; i++)
                is_list = function_pattern_is_valid(words.items[i]);
        if (!is_list) {
                o->lean_source = value;
                return STATUS_OK;
        }
        if (words.n == 0)
                return option_usage(o->verb, "--lean: %s names no functions", value);
        return strv_extend(&o->spec.hooked, &words) < 0 ? out_of_memory() : STATUS_OK;
}

static int refuse_value(const Options *o, const Option *option, const char *value) {
        const char *quoted = NAME_QUOTED(value), *instead;
        char whole[NAME_QUOTE_MAX + 32];

        (void) snprintf(whole, sizeof(whole), "--%s=%s", option->name, quoted);
        instead = gone_instead(GONE_OPTION, whole);
        return option_usage(o->verb, "--%s: \"%s\" is no %s%s%s", option->name, quoted,
                            option->noun, instead ? ": " : "", instead ?: "");
}

/* Each of the words must be valid. */
static int add_words(Options *o, const Option *option, Strv *list, const char *value,
                     const char *separators) {
        size_t n_before = list->n;

        if ((separators ? strv_split_outside(list, value, separators) : strv_add(list, value)) < 0)
                return out_of_memory();
        if (option->is_valid && list->n == n_before)
                return option_usage(o->verb, "--%s needs a %s that is not empty", option->name,
                                    option->value);
        for (size_t i = n_before; option->is_valid && i < list->n; i++)
                if (!option->is_valid(list->items[i]))
                        return refuse_value(o, option, list->items[i]);
        return STATUS_OK;
}

static int set_captures(Options *o, const char *value) {
        const char *rest = strchrnul(value, '/');
        _cleanup_free_ char *number = strndup(value, (size_t) (rest - value));
        bool a_day = streq(rest, "/day");
        uint64_t n;

        if (!number || (!a_day && *rest) ||
            parse_u64(number, a_day ? CAPTURES_MAX_A_DAY : INT64_MAX, &n) < 0 || n == 0)
                return option_usage(o->verb,
                                    "--max-captures: \"%s\" is not a number like 3 or 20/day",
                                    NAME_QUOTED(value));
        *(a_day ? &o->spec.max_captures_a_day : &o->spec.max_captures) = n;
        if (a_day)
                o->schedule.max_per_day = n;
        return STATUS_OK;
}

/* One line of a profile, of what no other option says. */
static int add_setting(Options *o, const char *value) {
        static const char members[] =
                " no_irqs no_sleep_time segment_ns max_functions on_full lesson "
                "budget_ppm max_hooked max_event_rate max_write_rate "
                "max_cpu_ppm min_gap_ns ";
        _cleanup_profile_ Profile p = PROFILE_INIT;
        _cleanup_free_ char *text = NULL;
        const char *member;
        char word[64];
        json_t *item;
        int r = text_format(&text, "[Profile]\n%s\n", value)
                        ?: profile_parse(&p, "--set", text, strlen(text));

        o->settings = o->settings ?: json_object();
        if (r < 0)
                return out_of_memory();
        if (p.problems.n > 0) /* behind "--set:2: " */
                return option_usage(o->verb, "--set: %s", strchr(p.problems.items[0], ' ') + 1);
        if (json_object_size(p.spec) != 1)
                return option_usage(o->verb, "--set: \"%s\" is not KEY=VALUE of a recording",
                                    NAME_QUOTED(value));
        json_object_foreach (p.spec, member, item) {
                (void) snprintf(word, sizeof(word), " %s ", member);
                if (!strstr(members, word))
                        return option_usage(o->verb, "--set: \"%s\" has an option of its own",
                                            NAME_QUOTED(value));
                if (json_object_set(o->settings, member, item) < 0)
                        return out_of_memory();
        }
        return STATUS_OK;
}

static int set_number(Options *o, const Option *option, uint64_t *at, const char *value) {
        uint64_t n;

        if (parse_u64(value, option->max, &n) < 0 || n < option->min)
                return option_usage(o->verb,
                                    "--%s: \"%s\" is not a number from %" PRIu64 " to %" PRIu64,
                                    option->name, NAME_QUOTED(value), option->min, option->max);
        *at = n;
        return STATUS_OK;
}

/* What has a unit. */
static int set_quantity(Options *o, const Option *option, uint64_t *at, const char *value) {
        static const struct {
                int (*parse)(const char *s, uint64_t *ret);
                const char *like;
        } units[] = {
                [OPTION_BYTES] = { parse_bytes, "a size like 64M or 2G" },
                [OPTION_DURATION] = { parse_duration, "a time like 30s or 10min" },
                [OPTION_PERCENT] = { parse_percent, "a share like 2% or 0.5%" },
                [OPTION_WAIT] = { parse_duration, "a time like 30s or 10min" },
        };
        uint64_t n,
                min = option->kind == OPTION_PERCENT ? option->min : MAX(option->min, UINT64_C(1));

        if (units[option->kind].parse(value, &n) < 0 || n < min ||
            (option->max > 0 && n > option->max))
                return option_usage(o->verb, "--%s: \"%s\" is not %s", option->name,
                                    NAME_QUOTED(value), units[option->kind].like);
        *at = option->kind == OPTION_WAIT ? MIN(n, (uint64_t) INT64_MAX) : n;
        return STATUS_OK;
}

/* "copy[:BYTES][,1/N]" */
static int set_stack(Options *o, const Option *option, const char *value) {
        const char *comma = value ? strchrnul(value, ',') : NULL;
        _cleanup_free_ char *first = value ? strndup(value, (size_t) (comma - value)) : NULL;
        uint64_t bytes = SPEC_DEFAULT_STACK_BYTES, every = 0;

        o->spec.user_stack = true;
        o->spec.stack_bytes = o->spec.stack_every = 0;
        if (!value)
                return STATUS_OK;
        if (!first)
                return out_of_memory();
        if (!(streq(first, "copy") ||
              (startswith(first, "copy:") && parse_bytes(first + 5, &bytes) >= 0 &&
               bytes >= SPEC_STACK_BYTES_MIN && bytes <= SPEC_STACK_BYTES_MAX)) ||
            (*comma && !(startswith(comma, ",1/") &&
                         parse_u64(comma + 3, SPEC_STACK_EVERY_MAX, &every) >= 0 && every > 0)))
                return option_usage(o->verb,
                                    "--%s: \"%s\" is not copy, copy:BYTES (1K to 48K) or either "
                                    "with ,1/N behind it",
                                    option->name, NAME_QUOTED(value));
        o->spec.stack_bytes = bytes;
        o->spec.stack_every = every;
        return STATUS_OK;
}

bool option_has_optional_value(const Option *option) {
        return option->kind == OPTION_JSON_MODE || option->kind == OPTION_WAIT ||
               option->kind == OPTION_KEEP || option->kind == OPTION_FLAG_OF ||
               option->kind == OPTION_STACK;
}

int option_set_value(Options *o, const Option *option, const char *value) {
        void *at = (char *) o + option->offset;
        int r;

        if (option->takes_all && streq(value, "all")) {
                *(uint64_t *) at = UINT64_MAX;
                return STATUS_OK;
        }
        switch (option->kind) {
        case OPTION_FLAG:
        case OPTION_FLAG_OF:
                if (value)
                        return add_words(o, option, (void *) ((char *) o + option->list), value,
                                         ", ");
                *(bool *) at = true;
                return STATUS_OK;
        case OPTION_TEXT:
                if (*value == 0)
                        return option_usage(o->verb, "--%s needs a %s that is not empty",
                                            option->name, option->value);
                *(const char **) at = value;
                return STATUS_OK;
        case OPTION_JSON_MODE:
                o->json = !value                   ? JSON_AUTO
                          : streq(value, "short")  ? JSON_SHORT
                          : streq(value, "pretty") ? JSON_PRETTY
                                                   : JSON_OFF;
                if (value && o->json == JSON_OFF && !streq(value, "off"))
                        return option_usage(o->verb, "--json: \"%s\" is neither short nor pretty",
                                            value);
                return STATUS_OK;
        case OPTION_STACK:
                return set_stack(o, option, value);
        case OPTION_KEEP:
                o->keep = true;
                return value ? set_number(o, option, at, value) : STATUS_OK;
        case OPTION_LEAN:
                return set_lean(o, value);
        case OPTION_WORDS:
                return add_words(o, option, at, value, ",");
        case OPTION_NAMES:
                return add_words(o, option, at, value, NULL);
        case OPTION_NAME:
                if (!option->is_valid(value))
                        return refuse_value(o, option, value);
                return text_replace(at, value) < 0 ? out_of_memory() : STATUS_OK;
        case OPTION_ON:
                return add_on(at, value) < 0 ? out_of_memory() : STATUS_OK;
        case OPTION_DO:
                return add_do(at, value) < 0 ? out_of_memory() : STATUS_OK;
        case OPTION_CAPTURES:
                return set_captures(o, value);
        case OPTION_SET:
                return add_setting(o, value);
        case OPTION_CHOICE:
                r = option->choose(value);
                if (r < 0)
                        return option_usage(o->verb, "--%s: \"%s\" is not one of %s", option->name,
                                            NAME_QUOTED(value), option->value);
                *(unsigned *) at = (unsigned) r;
                return STATUS_OK;
        case OPTION_NUMBER:
                return set_number(o, option, at, value);
        case OPTION_WAIT:
                *(uint64_t *) at = INT64_MAX; /* for ever */
                return value ? set_quantity(o, option, at, value) : STATUS_OK;
        case OPTION_BYTES:
        case OPTION_DURATION:
        case OPTION_PERCENT:
                return set_quantity(o, option, at, value);
        }
        return STATUS_USAGE;
}
