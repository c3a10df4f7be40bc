/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Arrays of a fixed size.  A clock that was set back makes times of the future: they count as of
 * now, so that a cap neither opens nor stays shut for longer than it says.
 */

#include "base/cleanup.h"
#include "meta/captures.h"
#include "meta/json-field.h"

static const JsonField count_fields[] = {
        JSON_FIELD(TriggerCount, fired, U64, .max = INT64_MAX),
        JSON_FIELD(TriggerCount, suppressed, U64, .max = INT64_MAX),
        JSON_FIELD(TriggerCount, last_ns, U64, .max = INT64_MAX),
};

static const JsonTable count_table = JSON_TABLE(TriggerCount, count_fields, .n_max = TRIGGER_MAX);

/* What is left of @length_ns that began at @from_ns. */
static uint64_t left(uint64_t from_ns, uint64_t length_ns, uint64_t now_ns) {
        uint64_t gone = now_ns > from_ns ? now_ns - from_ns : 0;

        return gone < length_ns ? length_ns - gone : 0;
}

uint64_t captures_wait(const Captures *c, const CaptureCaps *caps, uint64_t now_ns) {
        uint64_t wait = 0, max_a_day = MIN(caps->max_a_day, (uint64_t) CAPTURES_MAX_A_DAY);

        if (caps->max > 0 && c->n >= caps->max)
                return UINT64_MAX;
        if (caps->min_gap_ns > 0 && c->n_times > 0)
                wait = left(c->times_ns[c->n_times - 1], caps->min_gap_ns, now_ns);
        if (max_a_day > 0 && c->n_times >= max_a_day)
                wait = MAX(wait,
                           left(c->times_ns[c->n_times - max_a_day], CAPTURES_DAY_NS, now_ns));
        return wait;
}

void captures_note(Captures *c, uint64_t now_ns) {
        size_t n_old = 0;

        while (n_old < c->n_times && left(c->times_ns[n_old], CAPTURES_DAY_NS, now_ns) == 0)
                n_old++;
        if (n_old == 0 && c->n_times == CAPTURES_MAX_A_DAY)
                n_old = 1;
        c->n_times -= n_old;
        memmove(c->times_ns, c->times_ns + n_old, c->n_times * sizeof(*c->times_ns));
        c->times_ns[c->n_times++] = now_ns;
        c->n++;
}

json_t *captures_to_json(const Captures *c) {
        JsonList counts = { (void *) c->triggers, c->n_triggers };
        json_auto_t *times = json_array();
        int r = times ? 0 : -1;

        if (c->n == 0 && c->n_triggers == 0)
                return json_null();
        for (size_t i = 0; r >= 0 && i < c->n_times; i++)
                r = json_array_append_new(times, json_integer((json_int_t) MIN(
                                                         c->times_ns[i], (uint64_t) INT64_MAX)));
        if (r < 0)
                return NULL;
        return json_pack("{s:I, s:O, s:o}", "n", (json_int_t) MIN(c->n, (uint64_t) INT64_MAX),
                         "times_ns", times, "triggers", json_list_new(&count_table, &counts));
}

static int read_number(uint64_t *ret, const json_t *v) {
        if (!json_is_integer(v) || json_integer_value(v) < 0)
                return CAPTURES_E_INVALID;
        *ret = (uint64_t) json_integer_value(v);
        return 0;
}

int captures_from_json(Captures *ret, const json_t *o) {
        const json_t *times, *triggers;
        JsonList counts = {};
        Captures c = {};
        int r;

        if (!o || json_is_null(o)) {
                *ret = c;
                return 0;
        }
        times = json_object_get(o, "times_ns");
        triggers = json_object_get(o, "triggers");
        if (!json_is_array(times) || json_array_size(times) > CAPTURES_MAX_A_DAY ||
            !json_is_array(triggers))
                return CAPTURES_E_INVALID;
        r = read_number(&c.n, json_object_get(o, "n"));
        for (; r == 0 && c.n_times < json_array_size(times); c.n_times++)
                r = read_number(&c.times_ns[c.n_times], json_array_get(times, c.n_times));
        if (r == 0)
                r = json_list_read(&counts, &count_table, triggers);
        if (r == 0) {
                c.n_triggers = counts.n;
                memcpy(c.triggers, counts.items, counts.n * sizeof(*c.triggers));
        }
        json_list_done(&count_table, &counts);
        if (r != 0)
                return CAPTURES_E_INVALID;
        *ret = c;
        return 0;
}
