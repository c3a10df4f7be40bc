/* SPDX-License-Identifier: GPL-2.0-or-later */

/* From which lines of the source calls were made: how many are known, and a file of them to carry along. */

#include "base/array.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"
#include "lines/lines.h"

#define FILE_MODE 0644 /* it is about the kernel's package, not about the recording */

/* What is known of a call. */
typedef enum Known {
        KNOWN_ONE,     /* its only line */
        KNOWN_ORDER,   /* the only one that the order of the calls leaves */
        KNOWN_SEVERAL, /* one of several */
        KNOWN_POINTER, /* by the only pointer or static call */
        KNOWN_POINTERS,
        KNOWN_INTERRUPT,
        KNOWN_NONE, /* there is no such call in its caller */
        KNOWN_NOTHING,
        N_KNOWN,
} Known;

static const struct {
        const char *word, *text;
} known[N_KNOWN] = {
        [KNOWN_ONE] = { "one", "have one line" },
        [KNOWN_ORDER] = { "order", "have one line by the order of the calls" },
        [KNOWN_SEVERAL] = { "several", "have one of several" },
        [KNOWN_POINTER] = { "pointer", "have the caller's only indirect call" },
        [KNOWN_POINTERS] = { "pointers", "have one of several indirect calls" },
        [KNOWN_INTERRUPT] = { "interrupt", "are interrupts" },
        [KNOWN_NONE] = { "none", "are made by what was not recorded" },
        [KNOWN_NOTHING] = { "unknown",
                            "are of functions without lines, or with callees not known" },
};

typedef struct LinesView {
        Lines *lines;
        bool is_sparse;          /* nobody can say who called what */
        const LineSites **sites; /* of one call's calls */
        uint64_t *possible;
        size_t n_sites_room, n_possible_room;
        uint64_t n[N_KNOWN], n_inlined, n_all;
} LinesView;

static Known what_is_known(const LineSites *s, uint64_t possible) {
        switch (s->answer) {
        case LINES_DIRECT:
                return s->n_sites == 1                    ? KNOWN_ONE
                       : (possible & (possible - 1)) == 0 ? KNOWN_ORDER
                                                          : KNOWN_SEVERAL;
        case LINES_INDIRECT:
                return s->n_sites == 1 ? KNOWN_POINTER : KNOWN_POINTERS;
        case LINES_INTERRUPT:
                return KNOWN_INTERRUPT;
        case LINES_NONE:
                return KNOWN_NONE;
        case LINES_UNKNOWN:
                return KNOWN_NOTHING;
        }
        return KNOWN_NOTHING;
}

static void count(LinesView *v, Known k) {
        v->n[k]++;
        v->n_all++;
}

/* A PairingWays: gives none, and counts. */
static int find(void *userdata, const Function *caller, const Function *const *callees, size_t n,
                bool has_ended, const CallWay **ret) {
        LinesView *v = userdata;
        int r;

        if (!ARRAY_ROOM(v->sites, v->n_sites_room, n) ||
            !ARRAY_ROOM(v->possible, v->n_possible_room, n))
                return -ENOMEM;
        r = lines_follow_calls(v->lines, caller, callees, n, has_ended, v->sites, v->possible);
        for (size_t i = 0; i < n && r >= 0; i++) {
                const LineSites *s = v->sites[i];
                Known k;

                ret[i] = NULL;
                if (!s)
                        continue;
                k = what_is_known(s, v->possible[i]);
                count(v, k);
                if (k == KNOWN_ONE || k == KNOWN_ORDER)
                        v->n_inlined += s->sites[__builtin_ctzll(v->possible[i])].n_frames > 1;
        }
        return r;
}

/* What find() is not asked about. */
static int end(void *userdata, const Call *call) {
        LinesView *v = userdata;

        if (call->caller && call->frame->role == ROLE_IRQ)
                count(v, KNOWN_INTERRUPT);
        else if (call->caller && (v->is_sparse || call->frame->depth != call->caller->depth + 1))
                count(v, KNOWN_NOTHING);
        return 0;
}

/* --- what is printed -------------------------------------------------------------------------- */

static int print(const Options *o, const LinesView *v) {
        _cleanup_table_ Table t = {};
        _cleanup_buf_ Buf above = BUF_OF_TEXT(STDOUT_FILENO);

        table_begin(&t, o->json);
        for (size_t i = 0; i < N_KNOWN; i++) {
                Row r;

                if (v->n[i] == 0 && o->json == JSON_OFF)
                        continue;
                r = table_row(&t);
                row_count(r, "1>CALLS", "n", v->n[i]);
                row_share(r, "1>SHARE", "share", (double) v->n[i], (double) v->n_all);
                row_string(r, NULL, "what", known[i].word);
                row_cell(r, "LINES", "%s", known[i].text);
        }
        if (o->json != JSON_OFF)
                return stdout_json(o, json_pack("{s:s, s:I, s:I, s:o}", "origin",
                                                lines_origin(v->lines), "n", (json_int_t) v->n_all,
                                                "n_inlined", (json_int_t) v->n_inlined, "known",
                                                TAKE_PTR(t.list)));
        if (!o->no_legend)
                buf_printf(&above, "Lines from %s\n%s calls, %s through inlined functions\n\n",
                           lines_origin(v->lines), FORMAT_COUNT(v->n_all),
                           FORMAT_COUNT(v->n_inlined));
        return table_show(&t, o, &above);
}

static int write_file(const Options *o, const LinesView *v) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_buf_ Buf out = BUF_TO_FD(STDOUT_FILENO);
        int r;

        if (streq(o->output, "-"))
                return stdout_status(lines_write(v->lines, o->all, &out) ?: buf_flush(&out));
        r = outfile_open(&f, o->output, FILE_MODE);
        out.fd = f.fd;
        if (r >= 0)
                r = lines_write(v->lines, o->all, &out) ?: buf_flush(&out) ?: outfile_commit(&f);
        return r < 0 ? failed_errno(r, "Failed to write %s: %m", o->output) : STATUS_OK;
}

int verb_lines(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        LinesView v = {};
        int status;

        if (o->all && !o->output)
                return failed(STATUS_USAGE, "--all is of the file that -o writes.");
        status = counting_status(counting_init(&counting, false));
        if (status != STATUS_OK)
                return status;
        pairing_add_sink(counting.pairing, NULL, end, &v);
        status = counting_open(&counting, o, o->words.items[0]) ?: reading_lines(&counting.reading);
        v.lines = counting.reading.lines.lines;
        v.is_sparse = counting.pairing->is_sparse;
        counting.pairing->find_ways = find;
        counting.pairing->ways_userdata = &v;
        if (status == STATUS_OK)
                status = counting_run(&counting);
        if (status == STATUS_OK)
                status = o->output ? write_file(o, &v) : print(o, &v);
        free(v.sites);
        free(v.possible);
        return status == STATUS_OK ? counting_end(&counting) : status;
}
