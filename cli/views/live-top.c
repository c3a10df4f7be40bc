/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What began before it was watched is counted from there on; calls that are open now are not yet
 * in. */

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/now.h"
#include "base/unit.h"
#include "cli/views/views.h"

#define INTERVAL_NS NSEC_PER_SEC
#define ROWS_BESIDES 6 /* lines above the rows, and one below them */

struct LiveTop {
        const Options *o;
        BreakdownBy by;
        Counting counting; /* without a reading */
        Breakdown *breakdown;
        bool in_place; /* stdout is a terminal */
        bool has_keys; /* stdin is one, and sends each key */
        struct termios before;
        uint64_t drawn_ns, n_drawn; /* when, and how many calls there were */
};

int live_top_step(void *userdata, const Step *step) {
        LiveTop *t = userdata;

        return pairing_step(t->counting.pairing, step);
}

static void add_state(const LiveTop *t, const Census *census, uint64_t now, Buf *out) {
        uint64_t n = pairing_n_calls(t->counting.pairing), passed_ns = now - t->drawn_ns;

        buf_printf(out, "%s calls", FORMAT_COUNT(n));
        if (t->drawn_ns > 0 && passed_ns > 0)
                buf_printf(out, ", %s a second",
                           FORMAT_COUNT((uint64_t) ((double) (n - t->n_drawn) * 1e9 /
                                                    (double) passed_ns)));
        if (census->n_lost > 0)
                buf_printf(out, ", %s events lost", FORMAT_COUNT(census->n_lost));
        else
                buf_adds(out, census->n_gaps > 0 ? ", events lost" : ", nothing lost");
        buf_adds(out, t->has_keys ? "; q ends\n" : "\n");
}

/* As many as the terminal has lines for. */
static size_t n_rows(const LiveTop *t, size_t n) {
        struct winsize w = {};

        if (t->o->limit > 0)
                n = MIN(n, (size_t) t->o->limit);
        else if (!t->in_place)
                n = MIN(n, (size_t) TOP_VIEW_LIMIT);
        if (!t->in_place)
                return n;
        (void) ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
        return MIN(n, (size_t) (w.ws_row > ROWS_BESIDES ? w.ws_row : 24) - ROWS_BESIDES);
}

int live_top_draw(LiveTop *t, const Census *census, bool is_last) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_top_view_ TopView v = {};
        _cleanup_table_ Table table = {};
        const Overhead *overhead;
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        int r;

        if (!is_last && now - t->drawn_ns < INTERVAL_NS)
                return 0;
        r = pairing_tell(t->counting.pairing);
        if (r < 0)
                return r;
        t->counting.overhead = overhead_of(t->counting.floor);
        overhead = &t->counting.overhead;
        r = top_view_init(&v, &t->o->analysis, t->breakdown, t->by,
                          t->o->analysis.corrected && overhead->has_cost ? &overhead->cost : NULL,
                          pairing_total_ns(t->counting.pairing));
        if (r < 0)
                return r;
        buf_add_code(&out, t->in_place ? "\033[H\033[J" : t->drawn_ns > 0 ? "\n" : "");
        add_state(t, census, now, &out);
        counting_headline(&t->counting, &out);
        table_begin(&table, JSON_OFF);
        top_view_tell(&v, &table, n_rows(t, v.n));
        r = table_print(&table, &out, !t->o->no_legend);
        if (!t->o->no_legend)
                table_explain(&table.marks, &out);
        t->drawn_ns = now;
        t->n_drawn = pairing_n_calls(t->counting.pairing);
        return r < 0 ? r : buf_flush(&out);
}

bool live_top_wants_end(LiveTop *t) {
        struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
        char key;

        while (t->has_keys && poll(&p, 1, 0) > 0) {
                if (read(STDIN_FILENO, &key, 1) != 1) {
                        t->has_keys = false;
                        return false;
                }
                if (key == 'q' || key == 'Q')
                        return true;
        }
        return false;
}

static void take_keys(LiveTop *t) {
        struct termios each;

        if (!t->in_place || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &t->before) < 0)
                return;
        each = t->before;
        each.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
        each.c_cc[VMIN] = 1;
        each.c_cc[VTIME] = 0;
        t->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &each) == 0;
}

int live_top_new(LiveTop **ret, const Options *o) {
        _cleanup_(live_top_freep) LiveTop *t = calloc(1, sizeof(*t));
        int r, status;

        if (!t)
                return counting_failure(-ENOMEM);
        t->o = o;
        status = top_view_check(o, &t->by);
        if (status != STATUS_OK)
                return status;
        r = counting_init(&t->counting, true)
                    ?: breakdown_new(&t->breakdown, t->by, t->counting.pairing);
        if (r < 0)
                return counting_failure(r);
        if (o->filter.functions.n > 0)
                pairing_set_sparse(t->counting.pairing);
        t->in_place = isatty(STDOUT_FILENO);
        take_keys(t);
        *ret = TAKE_PTR(t);
        return STATUS_OK;
}

LiveTop *live_top_free(LiveTop *t) {
        if (!t)
                return NULL;
        if (t->has_keys)
                (void) tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
        breakdown_free(t->breakdown);
        counting_done(&t->counting);
        return mfree(t);
}
