/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the choice of the slowest calls makes of parts that vary by themselves.
 *
 * A call takes what the usual ones do, and what it has more of each cause.  Were these independent, the slowest would
 * still have much of each, because they were chosen: of one of ten alike parts a tenth of the difference.  How much, is
 * found by calls that are made up: each part is drawn by itself, as often as calls have it, from the lower seven tenths
 * of its values, and beyond them from the lognormal distribution that these belong to.  So what fewer than three of ten
 * calls have is not in them, be it a retry, or a function that takes longer now and then, and stands out.
 */

#include <math.h>

#include "base/array.h"
#include "causes/chance.h"
#include "causes/why-private.h"

#define LOOKED_AT 32       /* causes, the greatest; all others are one part */
#define SAMPLE_MAX 16384   /* calls that tell how parts vary */
#define WORK_MAX (1 << 20) /* calls that are made up, times parts */
#define MADE_UP_MAX (1 << 16)
#define DEALT_MAX 512    /* of these, for one mean */
#define Z_LOW (-0.8416)  /* of the quantile 0.2 of a normal distribution */
#define Z_HIGH 0.5244    /* and 0.7 */
#define TAIL_UNSURE 1.25 /* what is so much more may be a tail that is a little longer */

typedef struct Part {
        float *values; /* sorted; of the calls that have it */
        size_t n, n_low;
        double present; /* of all calls */
        double usual; /* is added to a value, which is what a call that has it has more than usual ones */
        double middle,
                spread; /* of the distribution, or, if it is none below 0, of its logarithms */
        bool is_log;
} Part;

typedef struct MadeUp {
        float sum;
        uint32_t i;
} MadeUp;

static double random_part(uint64_t *state) {
        return (double) ((chance_random(state) >> 11) + 1) * 0x1p-53;
}

/* Of a normal distribution, what is beyond Z_HIGH (Marsaglia 1964). */
static double random_tail(uint64_t *state) {
        double z;

        do
                z = sqrt(Z_HIGH * Z_HIGH - 2 * log(random_part(state)));
        while (random_part(state) * z > Z_HIGH);
        return z;
}

static int compare_floats(const void *a, const void *b) {
        return CMP(*(const float *) a, *(const float *) b);
}

static int slowest_first(const void *a, const void *b) {
        return CMP(((const MadeUp *) b)->sum, ((const MadeUp *) a)->sum);
}

/* --- how parts vary --------------------------------------------------------------------------- */

/* Returns what a call has more of a cause; NAN: it does not have what may take longer, or be called. */
static double more_of(const WhyCause *c, const WhyMean *has, const WhyMean *usual) {
        bool of_calls = c->kind >= WHY_CALLS;
        const CallNode *node = of_calls ? c->node->parent : c->node;

        if (has[node->id].n == 0)
                return NAN;
        return why_surplus(c, has, usual) *
               (of_calls ? usual[c->node->id].total_ns / usual[c->node->id].n : 1);
}

/* What usual calls hardly ever have is no part that varies. */
static bool is_looked_at(const WhyCause *c) {
        if (c->share <= 0 || c->kind > WHY_CALLS || c->is_rare)
                return false;
        return c->kind == WHY_RUNNING || c->share < WHY_SHARE_MOST;
}

static void fit(Part *p, size_t n_sampled) {
        double low, high;

        SORT(p->values, p->n, compare_floats);
        p->present = (double) p->n / (double) n_sampled;
        p->n_low = p->n * 7 / 10;
        if (p->n == 0)
                return;
        p->usual /= p->present;
        low = p->values[p->n / 5] + p->usual;
        p->middle = p->values[p->n / 2] + p->usual;
        high = p->values[p->n_low] + p->usual;
        p->is_log = low > 0;
        if (p->is_log) {
                low = log(low);
                p->middle = log(p->middle);
                high = log(high);
        }
        p->spread = MAX((high - p->middle) / Z_HIGH, (high - low) / (Z_HIGH - Z_LOW));
}

static double draw(const Part *p, uint64_t *state) {
        size_t i;
        double x;

        if (p->n == 0 || (p->present < 1 && random_part(state) > p->present))
                return 0;
        i = chance_random(state) % p->n;
        if (i < p->n_low)
                return p->values[i];
        x = p->middle + p->spread * random_tail(state);
        x = (p->is_log ? exp(x) : x) - p->usual;
        return MIN(x, (double) p->values[p->n - 1]);
}

static int find_parts(Part *parts, WhyCause **causes, size_t n_parts, const Why *w,
                      const Anatomy *a, const Cohorts *c, const WhyMean *u) {
        size_t n_sampled = MIN(c->n_all, (size_t) SAMPLE_MAX), rest = n_parts - 1;
        _cleanup_free_ WhyMean *has = calloc(a->n_nodes + 1, sizeof(*has));

        if (!has)
                return -ENOMEM;
        parts[rest].usual = w->usual_ns;
        for (size_t k = 0; k < n_parts; k++) {
                parts[k].values = calloc(n_sampled, sizeof(float));
                if (!parts[k].values)
                        return -ENOMEM;
                if (k < rest)
                        parts[rest].usual -= parts[k].usual = causes[k]->usual_ns;
        }
        for (size_t i = 0; i < n_sampled; i++) {
                const AnatomyCall *call = &a->calls[c->all[i * c->n_all / n_sampled]];
                double left = (double) call->duration_ns - w->usual_ns;

                why_add_call(has, a, call);
                for (size_t k = 0; k < rest; k++) {
                        double x = more_of(causes[k], has, u);

                        if (isnan(x))
                                continue;
                        parts[k].values[parts[k].n++] = (float) x;
                        left -= x;
                }
                parts[rest].values[parts[rest].n++] = (float) left;
                why_forget_call(has, a, call);
        }
        for (size_t k = 0; k < n_parts; k++)
                fit(&parts[k], n_sampled);
        return 0;
}

/* --- calls that are made up ------------------------------------------------------------------- */

typedef struct Choice {
        size_t n_made, n_slow, n_parts; /* calls made up; the slowest of them */
        float *values;                  /* of each call those of all parts */
        MadeUp *calls;                  /* the slowest first */
} Choice;

static float value_of(const Choice *ch, size_t i, size_t part) {
        return ch->values[ch->calls[i].i * ch->n_parts + part];
}

static int make_up(Choice *ch, const Part *parts) {
        uint64_t state = 1;

        ch->values = calloc(ch->n_made * ch->n_parts, sizeof(*ch->values));
        ch->calls = calloc(ch->n_made, sizeof(*ch->calls));
        if (!ch->values || !ch->calls)
                return -ENOMEM;
        for (size_t i = 0; i < ch->n_made; i++) {
                ch->calls[i].i = (uint32_t) i;
                for (size_t k = 0; k < ch->n_parts; k++) {
                        float x = (float) draw(&parts[k], &state);

                        ch->values[i * ch->n_parts + k] = x;
                        ch->calls[i].sum += x;
                }
        }
        SORT(ch->calls, ch->n_made, slowest_first);
        return 0;
}

/* What the slowest have of a part on average, and its deviation among them.  Returned: what that is more than the middle
 * half has. */
static double measure(double *ret_mean, double *ret_spread, const Choice *ch, size_t part) {
        size_t first = MAX(ch->n_slow, ch->n_made / 4), end = ch->n_made - ch->n_made / 4;
        double sum = 0, squares = 0, usual = 0;

        for (size_t i = 0; i < ch->n_slow; i++) {
                double x = value_of(ch, i, part);

                sum += x;
                squares += x * x;
        }
        for (size_t i = first; i < end; i++)
                usual += value_of(ch, i, part);
        *ret_mean = sum / (double) ch->n_slow;
        *ret_spread = sqrt(MAX(squares / (double) ch->n_slow - *ret_mean * *ret_mean, 0.0));
        return *ret_mean - (first < end ? usual / (double) (end - first) : 0);
}

/* A cause's p is how often as many of the slowest have as much more of some part, in deviations, as they are seen to
 * have of it.  Unsure are the means of both, of those seen and of those made up, and how parts vary is as much again. */
static void test(WhyCause **causes, const Choice *ch, Why *w) {
        double n_slow = (double) w->n_slow, n_made = (double) ch->n_slow;
        double n = MAX(floor(n_slow * n_made / (n_slow + n_made) / 2), 1.0);
        size_t n_dealt = MIN((size_t) n, (size_t) DEALT_MAX);
        double seen[LOOKED_AT + 1], mean[LOOKED_AT + 1], spread[LOOKED_AT + 1];
        unsigned n_reached[LOOKED_AT + 1] = {};
        uint64_t state = 1;

        for (size_t k = 0; k < ch->n_parts; k++) {
                double more = measure(&mean[k], &spread[k], ch, k);

                w->chosen_ns += TAIL_UNSURE * more;
                if (k + 1 < ch->n_parts)
                        seen[k] = causes[k]->change_ns - TAIL_UNSURE * more;
        }
        for (unsigned deal = 0; deal < CHANCE_DEALS; deal++) {
                double sums[LOOKED_AT + 1] = {}, most = 0;

                for (size_t i = 0; i < n_dealt; i++) {
                        size_t call = chance_random(&state) % ch->n_slow;

                        for (size_t k = 0; k < ch->n_parts; k++)
                                sums[k] += (double) value_of(ch, call, k);
                }
                for (size_t k = 0; k < ch->n_parts; k++)
                        if (spread[k] > 0)
                                most = MAX(most,
                                           (sums[k] / (double) n_dealt - mean[k]) / spread[k]);
                for (size_t k = 0; k + 1 < ch->n_parts; k++)
                        n_reached[k] += most * spread[k] >= seen[k];
        }
        for (size_t k = 0; k + 1 < ch->n_parts; k++)
                causes[k]->p = MAX(causes[k]->p, (1.0 + n_reached[k]) / (1.0 + CHANCE_DEALS));
}

int why_allow_for_choice(Why *w, const Anatomy *a, const Cohorts *c, const WhyMean *u) {
        Part parts[LOOKED_AT + 1] = {};
        WhyCause *causes[LOOKED_AT];
        Choice ch = { .n_parts = 1 };
        int r;

        for (size_t i = 0; i < w->n_causes && ch.n_parts <= LOOKED_AT; i++)
                if (is_looked_at(&w->causes[i]))
                        causes[ch.n_parts++ - 1] = &w->causes[i];
        ch.n_made = MIN((size_t) MADE_UP_MAX, WORK_MAX / ch.n_parts);
        ch.n_slow = MAX(ch.n_made * w->n_slow / w->n_all, (size_t) 1);
        r = find_parts(parts, causes, ch.n_parts, w, a, c, u);
        if (r >= 0)
                r = make_up(&ch, parts);
        if (r >= 0)
                test(causes, &ch, w);
        for (size_t k = 0; k < ch.n_parts; k++)
                free(parts[k].values);
        free(ch.values);
        free(ch.calls);
        return r;
}
