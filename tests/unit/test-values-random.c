/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A kernel that makes calls, recursions and interrupts at random, and knows whose each value is. */

#include "value-stream.h"

#define OUTSIDE (F_LEAF + 0x10) /* a caller that is not recorded */

typedef struct World {
        unsigned seed;
        bool is_behind;    /* events are behind what they belong to */
        bool is_silent;    /* return addresses tell nothing */
        bool has_args;     /* arguments are recorded, not returns */
        int32_t depth_max; /* the graph has no calls from there on */
        unsigned missed;   /* of 100 calls that the probe misses */
        unsigned n_calls,
                n_told; /* of the probed function that are recorded; of them that have a value */
        bool is_quiet;  /* no interrupts, nothing missed */
} World;

static unsigned dice(World *w, unsigned n) {
        w->seed = w->seed * 1103515245 + 12345;
        return (w->seed >> 16) % n;
}

static void call(World *w, int32_t depth, uint8_t flags, uint64_t from);

/* Perhaps, wherever one may come. */
static void interrupt(World *w, int32_t depth, uint8_t flags) {
        if (w->is_quiet || flags & 8 || dice(w, 6) > 0 || page.n_payload > 3000)
                return;
        if (depth < w->depth_max) {
                func = F_LEAF;
                enter(flags | OFF, depth);
                leave(flags | IRQ, depth, 10);
        }
        for (unsigned n = dice(w, 3); n > 0; n--)
                call(w, depth, flags | IRQ, OUTSIDE);
}

static void tell(World *w, bool is_probed, bool is_recorded, uint8_t flags, int32_t id, bool entry,
                 uint64_t from) {
        if (!is_probed || entry != w->has_args)
                return;
        func = F_ROOT;
        if (entry)
                given(flags, (uint64_t) id);
        else
                value(flags, is_recorded && !w->is_behind && !w->is_silent ? TO_GRAPH : from, id);
}

/* A call of the probed function, or of another one; its value is its number, which its duration says, too. */
static void call(World *w, int32_t depth, uint8_t flags, uint64_t from) {
        static int32_t id;
        bool is_root = dice(w, 3) > 0, is_recorded = depth < w->depth_max;
        bool is_probed = is_root && (w->is_quiet || dice(w, 100) >= w->missed);
        uint64_t f = is_root ? F_ROOT : F_CHILD;
        int32_t own = ++id;

        w->n_calls += is_root && is_recorded;
        w->n_told += is_probed && is_recorded;
        if (!w->is_behind) {
                tell(w, is_probed, is_recorded, flags, own, true, from);
                interrupt(w, depth, flags);
        }
        func = f;
        if (is_recorded)
                enter(flags, depth);
        if (w->is_behind) {
                interrupt(w, depth + 1, flags);
                tell(w, is_probed, is_recorded, flags, own, true, from);
        }
        for (unsigned n = dice(w, 3); n > 0 && depth < 5 && page.n_payload < 2600 && !w->is_quiet;
             n--)
                call(w, depth + 1, flags, f + 0x10);
        interrupt(w, depth + 1, flags);
        if (!w->is_behind) {
                tell(w, is_probed, is_recorded, flags, own, false, from);
                interrupt(w, depth + 1, flags);
        }
        func = f;
        if (is_recorded)
                leave(flags, depth, (uint64_t) own);
        if (w->is_behind) {
                interrupt(w, depth, flags);
                tell(w, is_probed, is_recorded, flags, own, false, from);
        }
}

/* No value may be another call's; all that were told must be there. */
static void look(const World *w, Player *p) {
        uint64_t of_open[64] = {}, n_told = 0;
        int32_t n_open = 0;
        Step s;

        while (steps_next(&p->steps, STREAM_NO_LIMIT, &s) == 1) {
                bool is_root = s.function && s.function->label[0] == 'u';
                uint64_t args = s.kind <= STEP_LEAF && s.n_args > 0 ? s.args[0] : 0;

                if (s.kind == STEP_ENTER) {
                        ck_assert_int_lt(n_open, 64);
                        of_open[n_open++] = args;
                } else if (s.kind == STEP_LEAVE)
                        args = of_open[--n_open];
                if (s.kind == STEP_ENTER || s.kind > STEP_LEAVE)
                        continue;
                ck_assert(is_root || (args == 0 && !s.has_retval));
                if (args > 0)
                        ck_assert_uint_eq(args, step_duration_ns(&s));
                if (s.has_retval)
                        ck_assert_uint_eq(s.retval, step_duration_ns(&s));
                n_told += args > 0 || s.has_retval;
        }
        ck_assert_int_eq(n_open, 0);
        ck_assert_uint_eq(n_told, w->n_told);
}

static void live(unsigned seed, unsigned how) {
        World w = { .seed = seed,
                    .is_behind = how & 1,
                    .is_silent = how & 2,
                    .has_args = how & 4,
                    .depth_max = how & 8 ? 3 : 100,
                    .missed = how & 16 ? 20 : 0 };
        RECORDING(r, layout);
        _cleanup_player_ Player p;
        Values *values;

        begin();
        w.is_quiet = true; /* on which side they are must have been seen */
        while (w.n_told < 2)
                call(&w, 0, TASK, OUTSIDE);
        w.is_quiet = false;
        while (page.n_payload < 2600)
                call(&w, 0, dice(&w, 4) == 0 ? SOFTIRQ : TASK, OUTSIDE);
        recording_add(&r, 0, 0, &page, 1);
        player_init(&p, &r, layout, "17 client\n", STEPS_ALL);
        ck_assert_int_eq(values_new(&values, &p.formats, &p.functions), 0);
        ck_assert_int_eq(
                values_add(values, w.is_silent ? FPROBE : KRETPROBE, "udp_sendmsg", probe_format),
                0);
        ck_assert_int_eq(values_add(values, ENTRY, "udp_sendmsg", entry_format), 0);
        p.steps.values = values;
        look(&w, &p);
        values_free(values);
}

TEST(whatever_interrupts_whom_no_value_is_another_calls_and_none_is_missing) {
        for (unsigned seed = 1; seed <= 10; seed++)
                for (unsigned how = 0; how < 32; how++) {
                        bool is_short = how & 8, has_missed = how & 16;

                        /* Where one is missed, and the next below it not recorded, and nothing
                                 * tells their side, nothing can tell them apart. */
                        if (!is_short || !has_missed || !(how & (2 | 4)))
                                live(seed * 7919 + how, how);
                }
}
