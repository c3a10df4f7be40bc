/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The recording is played back as if to be drawn: cursors count what they had to step over and the census what
 * has no partner.  The counts are held against the account in session.json, whose numbers are the kernel's own. */

#include <fcntl.h>

#include "base/unit.h"
#include "calls/playback.h"
#include "cli/files/files.h"
#include "cli/source/source.h"
#include "pages/page-source.h"

/* --- last words ------------------------------------------------------------------------------- */

/*
 * linux 6.12: kernel/panic.c (panic(), oops), kernel/reboot.c (kernel_restart() and its like), kernel/watchdog.c.
 * What killed it goes before what followed from it: a panic after an oops is told as the panic, and the oops with
 * it. A fault that the machine survived did not end it.
 */
#define CONSOLE "console: "
#define PANIC "a panic"
#define FAULT "a fault of the kernel"
#define SILENT                                                                                     \
        "it ended with the machine, without a message of the kernel: a reset, a hang or a forced " \
        "reboot"

static const struct {
        const char *words, *what;
} ends[] = {
        { "Kernel panic - not syncing", PANIC },
        { "watchdog: BUG: ", "a lockup" }, /* before what it contains */
        { "BUG: ", FAULT },
        { "Oops: ", FAULT },
        { "kernel BUG at ", FAULT },
        { "reboot: Restarting system", "a reboot" },
        { "reboot: Power down", "a power-off" },
        { "sysrq: Resetting", "a reset that somebody asked for (SysRq)" },
        { "reboot: System halted", "a halt" },
};

#define AT_ONCE_NS                                                                                 \
        (10 * NSEC_PER_SEC) /* what belongs together, or to the end, comes within this time */

void last_words_step(LastWords *w, const Step *s) {
        const char *message =
                s->kind == STEP_OTHER && s->text ? startswith(s->text, CONSOLE) : NULL;

        w->now_ns = MAX(w->now_ns, s->timestamp_ns);
        for (size_t i = 0; message && i < ELEMENTSOF(ends); i++) {
                const char *found = strstr(message, ends[i].words);

                if (!found || (w->what && streq(w->what, PANIC) && !streq(ends[i].what, PANIC)))
                        continue;
                /* The first that is said of a fault says most: a panic that follows says "Fatal exception" alone. */
                if (streq(ends[i].what, FAULT) &&
                    (!*w->fault || s->timestamp_ns - w->fault_ns > AT_ONCE_NS)) {
                        (void) snprintf(w->fault, sizeof(w->fault), "%s", found);
                        w->fault_ns = s->timestamp_ns;
                }
                w->what = ends[i].what;
                w->said_ns = s->timestamp_ns;
                (void) snprintf(w->text, sizeof(w->text), "%s", found);
                return;
        }
}

bool last_words_are_due(const SessionMeta *m) {
        const char *boot_id = startswith(m->name, "blackbox-");

        /* a snapshot of a black box has an origin as well, and may have any name */
        return m->spec.black_box && m->origin && boot_id && m->boot_id &&
               startswith(boot_id, m->boot_id);
}

int last_words_note(const LastWords *w, Strv *notes) {
        uint64_t ago_ns = w->now_ns - w->said_ns;

        if (!w->what)
                return strv_add(notes, SILENT);
        if (ago_ns > AT_ONCE_NS)
                return strv_addf(notes, SILENT "; %s before, it said \"%s\"",
                                 FORMAT_DURATION(ago_ns), w->text);
        if (streq(w->what, PANIC) && *w->fault && w->said_ns - w->fault_ns <= AT_ONCE_NS)
                return strv_addf(notes, "it ended with the machine, by %s: \"%s\", after \"%s\"",
                                 w->what, w->text, w->fault);
        return strv_addf(notes, "it ended with the machine, by %s: \"%s\"", w->what, w->text);
}

/* @is_sound: the kernel's counters can be held against what is stored. */
static int check_account(VerifyResult *v, const CpuAccount *a, const PageCount *c, bool is_sound) {
        const DamageCount losses[] = {
                { a->overrun, "event", "events",
                  "lost: overwritten in the kernel's buffer before being read" },
                { a->commit_overrun, "event", "events",
                  "lost: an interrupted writer held the page" },
                { a->dropped_events, "event", "events", "lost: the kernel's buffer was full" },
                { a->pages_lost, "page", "pages", "read from the kernel but not stored" },
        };
        char where[32];
        int r = 0;

        (void) snprintf(where, sizeof(where), "CPU %u: ", a->cpu);
        if (is_sound && a->read_events != c->n_records)
                r = strv_addf(&v->problems, "%s%s events are stored, but the kernel handed out %s",
                              where, FORMAT_COUNT(c->n_records), FORMAT_COUNT(a->read_events));
        return r < 0 ? r : damage_add_counts(&v->problems, where, losses, ELEMENTSOF(losses));
}

static int check_cpus(VerifyResult *v, Playback *p, bool live) {
        const SessionMeta *m = p->meta;
        bool was_emptied = false; /* the kernel's counters began anew in between */
        int r = symbol_timeline_check(p->symbol_timeline) ?: damage_describe(p, live, &v->problems);

        for (size_t i = 0; i < m->gaps.n; i++)
                was_emptied |= m->gaps.items[i].cause == GAP_CLEARED;

        for (size_t k = 0; r >= 0 && k < m->n_cpus; k++) {
                const CpuAccount *a = &m->cpus[k];
                PageCount c = {};

                for (size_t i = 0; i < stream_n_cpus(p->stream); i++)
                        if (cursor_cpu(stream_cursor(p->stream, i)) == a->cpu)
                                cursor_count(stream_cursor(p->stream, i), &c);
                r = check_account(v, a, &c,
                                  !live && !was_emptied && a->pages_lost == 0 &&
                                          a->pages_dropped == 0 && !session_meta_is_of_file(m) &&
                                          !m->origin && !m->spec.in_kernel);
        }
        return MIN(r, 0);
}

static int count_steps(Playback *p, Progress *progress, LastWords *words) {
        uint64_t n_events = 0, n = 0;
        Step step;
        int r;

        for (size_t i = 0; i < p->meta->n_cpus; i++)
                n_events += p->meta->cpus[i].read_events;
        while ((r = playback_next(p, STREAM_NO_LIMIT, &step)) > 0) {
                last_words_step(words, &step);
                n += step.kind == STEP_LEAF ? 2 : 1;
                progress_step(progress, n, n_events);
        }
        return r;
}

static int check_all(VerifyResult *v, Playback *p, Progress *progress, bool live) {
        const SessionMeta *m = p->meta;
        _cleanup_buf_ Buf unhooked = BUF_INIT;
        LastWords words = {};
        size_t n_empty = 0;
        int r = count_steps(p, progress, &words) ?: check_cpus(v, p, live);

        if (r >= 0)
                r = damage_add_counts(&v->notes, "",
                                      &(DamageCount){ damage_dropped(&p->census, m),
                                                      "return of irq_exit_rcu()",
                                                      "returns of irq_exit_rcu()",
                                                      "not recorded: this kernel drops it if an "
                                                      "interrupt interrupts the tracer" },
                                      1);
        if (r >= 0 && m->filters)
                r = strv_addf(&v->notes, "it is a part of its recording: it was made with %s",
                              m->filters);
        if (r >= 0 && last_words_are_due(m))
                r = last_words_note(&words, &v->notes);
        /* How many events there were is known of none; that there were some: GAP_NOT_RESCUED. */
        for (size_t i = 0; i < m->n_cpus; i++)
                n_empty += m->cpus[i].n_pages == 0;
        if (r >= 0 && last_words_are_due(m) && n_empty > 0)
                r = strv_addf(&v->notes,
                              "nothing of %zu of %zu CPUs was in memory: they recorded nothing, or "
                              "the kernel that booted emptied damaged parts",
                              n_empty, m->n_cpus);
        summary_hooked(&unhooked, m);
        if (r >= 0)
                r = unhooked.error < 0 ? unhooked.error
                    : unhooked.n_data > 0
                            ? strv_addf(&v->notes, "%.*s", (int) unhooked.n_data, unhooked.data)
                            : 0;
        if (r >= 0 && p->formats.page_bytes != m->page_bytes && !live)
                r = strv_addf(&v->problems,
                              "events/header_page says pages of %u bytes, the session's "
                              "account %u",
                              p->formats.page_bytes, m->page_bytes);
        return r;
}

int verify_session(const SessionDir *dir, const SessionMeta *meta, Progress *progress,
                   VerifyResult *ret) {
        _cleanup_(playback_freep) Playback *p = NULL;
        _cleanup_verify_result_ VerifyResult v = {};
        _cleanup_free_ char *reason = NULL;
        bool live = session_state_is_live(meta->state);
        int r = playback_open(&p, dir, meta, &reason);

        if (r == PLAYBACK_E_UNREADABLE)
                r = strv_addf(&v.problems, "it cannot be decoded: %s", reason);
        else if (r >= 0) {
                p->counts = true;
                p->census.only_exits = meta->spec.slower_ns > 0;
                r = stream_go_ahead(p->stream) ?: check_all(&v, p, progress, live);
                v.census = TAKE(p->census, (Census){});
        }
        if (r < 0 && r != -ENOMEM) /* what is known of it is said all the same */
                r = strv_addf(&v.problems, "it cannot be read: %s", origin_text(r));
        for (size_t i = 0; r >= 0 && i < meta->gaps.n; i++)
                r = strv_add(&v.problems, SUMMARY_GAP(meta, &meta->gaps.items[i]));
        for (size_t i = 0; r >= 0 && i < meta->lacks.n; i++)
                r = strv_addf(&v.problems, SUMMARY_LACK, meta->lacks.items[i]);
        if (r >= 0)
                r = damage_add_counts(&v.problems, "",
                                      &(DamageCount){ meta->pages_unsynced, "page", "pages",
                                                      "perhaps not on the disk yet" },
                                      1);
        if (r < 0)
                return r;
        v.complete = v.problems.n == 0;
        v.unreadable = !p;
        *ret = TAKE(v, (VerifyResult){});
        return 0;
}

void verify_result_done(VerifyResult *v) {
        strv_done(&v->problems);
        strv_done(&v->notes);
        census_done(&v->census);
        *v = (VerifyResult){};
}

int verify_sent(int fd, const char *path, Buf *said, bool *ret_is_told) {
        _cleanup_(source_freep) Source *s = NULL;
        _cleanup_verify_result_ VerifyResult v = {};
        SourceFound found = { .form = SOURCE_DAT };

        *ret_is_told = false;
        if (source_form_of(fd) != SOURCE_DAT) {
                buf_adds(said, "its answer is not a trace.dat");
                return STATUS_FAILED;
        }
        found.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (found.fd < 0 ||
            source_open_found(&s, &(Options){ .quiet = true }, path, found) != STATUS_OK ||
            verify_session(s->dir, s->meta, NULL, &v) < 0 || v.unreadable) {
                buf_adds(said, "its trace.dat cannot be read");
                return STATUS_FAILED;
        }
        *ret_is_told = v.complete == summary_is_complete(s->meta);
        if (!v.complete)
                buf_adds(said, v.problems.items[0]);
        return v.complete ? STATUS_OK : STATUS_INCOMPLETE;
}

/* --- blocks: a walk that knows nothing of events ---------------------------------------------- */

static int check_segment(VerifyBlocks *c, const SessionDir *dir, uint32_t cpu, uint64_t sequence) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        SealedCheck check = {};
        Damages damages = {};
        int r = page_source_open(&s, dir, cpu, sequence, &damages);

        if (r == -ENOENT || r == SEGMENT_E_UNBEGUN) /* dropped by a ring meanwhile; to come */
                return 0;
        if (r == 0 && s->sealed)
                r = sealed_reader_check(s->sealed, &check);
        if (r < 0)
                return r;
        c->n_segments++;
        c->n_sealed += r == 0 && s->sealed;
        c->n_blocks += check.n_blocks;
        c->n_blocks_good += check.n_good;
        c->n_pages += check.n_pages;
        return damage_describe_each(&damages, &c->damages);
}

int verify_blocks(const SessionDir *dir, Progress *progress, VerifyBlocks *ret) {
        _cleanup_verify_blocks_ VerifyBlocks c = {};
        _cleanup_free_ uint32_t *cpus = NULL;
        size_t n_cpus;
        int r = session_dir_list_cpus(dir, &cpus, &n_cpus);

        for (size_t i = 0; r >= 0 && i < n_cpus; i++) {
                _cleanup_free_ uint64_t *sequences = NULL;
                size_t n = 0;

                r = session_dir_list_segments(dir, cpus[i], &sequences, &n);
                for (size_t k = 0; r >= 0 && k < n; k++) {
                        r = check_segment(&c, dir, cpus[i], sequences[k]);
                        if (progress)
                                progress_write(progress, i * n + k + 1, n_cpus * n);
                }
        }
        if (r < 0)
                return r;
        *ret = TAKE(c, (VerifyBlocks){});
        return 0;
}

void verify_blocks_done(VerifyBlocks *c) {
        strv_done(&c->damages);
        *c = (VerifyBlocks){};
}
