/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One table of what is limited.  Each kind is a total that grows and a limit for a second; the rest
 * is finding the sample that is far enough back, and dividing.
 */

#include "daemon/watch/watch.h"

#define EVENT_BYTES_MIN 16U /* less than any function_graph record takes, linux 6.1 to 7.x */

static char *format_cpu(char text[static UNIT_TEXT_MAX], uint64_t us) {
        (void) snprintf(text, UNIT_TEXT_MAX, "%.1f %%", (double) us / 1e4);
        return text;
}

static const struct {
        const char *member; /* of a spec, which has the limit */
        char *(*format)(char text[static UNIT_TEXT_MAX], uint64_t n);
        const char *what;
} kinds[_SESSION_LIMIT_N] = {
        [SESSION_LIMIT_EVENT_RATE] = { "max_event_rate", format_count, "events a second" },
        [SESSION_LIMIT_WRITE_RATE] = { "max_write_rate", format_bytes, "stored a second" },
        [SESSION_LIMIT_CPU] = { "max_cpu_ppm", format_cpu, "of a CPU for storing" },
};

static const GuardSample *sample(const Guard *g, uint64_t i) {
        return &g->samples[i % GUARD_SAMPLES];
}

static void add_sample(Guard *g, const GuardSample *now) {
        g->samples[g->n_samples++ % GUARD_SAMPLES] = *now;
}

void guard_init(Guard *g, const Spec *spec, const GuardSample *now) {
        *g = (Guard){};
        for (size_t k = SESSION_LIMIT_NONE + 1; k < _SESSION_LIMIT_N; k++) {
                size_t at = spec_find_member(kinds[k].member)->json.offset;
                uint64_t limit = *(const uint64_t *) (const void *) ((const char *) spec + at);

                g->limits[k] = limit == SPEC_UNLIMITED ? 0 : limit;
        }
        add_sample(g, now);
}

/* The newest sample that is at least @window_ns old, or NULL. */
static const GuardSample *sample_before(const Guard *g, uint64_t now_ns, uint64_t window_ns) {
        uint64_t oldest = g->n_samples - MIN(g->n_samples, (uint64_t) GUARD_SAMPLES);

        for (uint64_t i = g->n_samples; i-- > oldest;)
                if (now_ns >= sample(g, i)->at_ns && now_ns - sample(g, i)->at_ns >= window_ns)
                        return sample(g, i);
        return NULL;
}

/* A second's worth of @kind between the two. */
static uint64_t rate(const GuardSample *from, const GuardSample *to, size_t kind) {
        uint64_t before = from->totals[kind], now = to->totals[kind], ns = to->at_ns - from->at_ns;

        if (now <= before || ns == 0)
                return 0;
        return (uint64_t) ((double) (now - before) * (double) NSEC_PER_SEC / (double) ns);
}

static int look(const Guard *g, const GuardSample *now, uint64_t window_ns, unsigned factor,
                GuardVerdict *ret) {
        const GuardSample *before = sample_before(g, now->at_ns, window_ns);

        for (size_t k = 0; before && k < _SESSION_LIMIT_N; k++) {
                uint64_t limit, r = rate(before, now, k);

                if (g->limits[k] == 0 || __builtin_mul_overflow(g->limits[k], factor, &limit) ||
                    r <= limit)
                        continue;
                *ret = (GuardVerdict){ .kind = (SessionLimit) k,
                                       .rate = r,
                                       .limit = limit,
                                       .window_ns = now->at_ns - before->at_ns };
                return GUARD_E_PASSED;
        }
        return 0;
}

int guard_look(Guard *g, const GuardSample *now, GuardVerdict *ret) {
        int r = look(g, now, GUARD_WINDOW_NS, 1, ret)
                        ?: look(g, now, GUARD_FLOOD_NS, GUARD_FLOOD, ret);

        if (now->at_ns >= sample(g, g->n_samples - 1)->at_ns + GUARD_FLOOD_NS)
                add_sample(g, now);
        return r;
}

uint64_t guard_look_bytes(const Guard *g) {
        uint64_t second = UINT64_MAX, of_events;

        if (g->limits[SESSION_LIMIT_WRITE_RATE] > 0)
                second = g->limits[SESSION_LIMIT_WRITE_RATE];
        if (g->limits[SESSION_LIMIT_EVENT_RATE] > 0 &&
            !__builtin_mul_overflow(g->limits[SESSION_LIMIT_EVENT_RATE], EVENT_BYTES_MIN, &of_events))
                second = MIN(second, of_events);
        /* What passes at the rate of a flood in the time in which one is told. */
        return second == UINT64_MAX
                       ? second
                       : MAX(second / (NSEC_PER_SEC / GUARD_FLOOD_NS), (uint64_t) 1) * GUARD_FLOOD;
}

char *guard_sentence(char text[static GUARD_TEXT_MAX], const GuardVerdict *v) {
        char seen[UNIT_TEXT_MAX], limit[UNIT_TEXT_MAX];
        const char *setting = spec_find_member(kinds[v->kind].member)->key;

        (void) snprintf(text, GUARD_TEXT_MAX,
                        "%s %s over %s, more than the %s of %s=; name fewer functions, or raise "
                        "--set=%s=",
                        kinds[v->kind].format(seen, v->rate), kinds[v->kind].what,
                        FORMAT_DURATION(v->window_ns),
                        kinds[v->kind].format(limit, v->limit), setting, setting);
        return text;
}
