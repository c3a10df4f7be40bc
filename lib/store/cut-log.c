/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Text, because it is read by people at least as often as by programs, and a line is written once. */

#include <inttypes.h>

#include "base/buf.h"
#include "base/grow.h"
#include "base/unit.h"
#include "store/cut-log.h"
#include "store/entry.h"

#define CUTS_NAME "cuts"
#define CUTS_BYTES_MAX ((size_t) 64 << 20)
#define LINE_NUMBERS 5

static void add_line(Buf *b, const Cut *c) {
        buf_printf(b, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->sequence,
                   c->clocks.trace_ns, c->clocks.monotonic_ns, c->clocks.boottime_ns,
                   c->clocks.realtime_ns);
}

int cut_log_append(const SessionDir *d, const Cut *cut) {
        _cleanup_buf_ Buf b = BUF_INIT;
        uint64_t n_file;

        add_line(&b, cut);
        return b.error ?: entry_append(session_dir_fd(d), CUTS_NAME, b.data, b.n_data, &n_file);
}

/* Takes a line off *@text; false if it is none. */
static bool read_line(char **text, Cut *ret) {
        uint64_t numbers[LINE_NUMBERS];
        char *end = strchr(*text, '\n'), *p = *text;

        if (!end)
                return false;
        *end = 0;
        for (size_t i = 0; i < LINE_NUMBERS; i++) {
                char *word = p;

                p += strcspn(p, " ");
                if ((*p == 0) != (i + 1 == LINE_NUMBERS))
                        return false;
                *p++ = 0;
                if (parse_u64(word, i == 0 ? UINT32_MAX : INT64_MAX, &numbers[i]) < 0)
                        return false;
        }
        *ret = (Cut){ numbers[0], { numbers[1], numbers[2], numbers[3], numbers[4] } };
        *text = end + 1;
        return true;
}

int cut_log_read(const SessionDir *d, Cut **ret, size_t *ret_n) {
        _cleanup_free_ char *text = NULL;
        _cleanup_free_ Cut *cuts = NULL;
        size_t n = 0;
        char *p;
        Cut cut;
        int r = entry_read(session_dir_fd(d), CUTS_NAME, &text, NULL, CUTS_BYTES_MAX);

        if (r < 0 && r != -ENOENT)
                return r;
        for (p = text; p && read_line(&p, &cut);) {
                if (n > 0 && cut.sequence <= cuts[n - 1].sequence)
                        break;
                if (!ARRAY_ADD(cuts, n, cut))
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(cuts);
        *ret_n = n;
        return 0;
}

int cut_log_replace(const SessionDir *d, const Cut *cuts, size_t n) {
        _cleanup_buf_ Buf b = BUF_INIT;

        for (size_t i = 0; i < n; i++)
                add_line(&b, &cuts[i]);
        if (b.error < 0)
                return b.error;
        return entry_replace(session_dir_fd(d), CUTS_NAME, b.data ?: "", b.n_data, false);
}
