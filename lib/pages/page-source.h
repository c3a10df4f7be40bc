/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * PageSource: the pages of one segment, whether it is sealed or not
 *
 * A segment that is sealed, dropped by its ring or removed while it is read goes on to be read, for the file that a
 * source began with stays what it was.
 */

#include "base/cleanup.h"
#include "codec/sealed-reader.h"
#include "pages/dat-file.h"
#include "store/session-dir.h"

typedef struct PageSource PageSource;

enum {
        PAGE_SOURCE_E_DAMAGED = 1, /* no segment, or not this CPU's and of this number */
        PAGE_SOURCE_E_NEWER = 2,   /* of a format version that this program does not know */
        PAGE_SOURCE_E_LOST = 3,    /* this page cannot be read */
        PAGE_SOURCE_E_UNBEGUN =
                4, /* empty: its writer is about to write the header, or died there */
};

/*
 * page_source_open() - the segment @sequence of @cpu
 * @dir:         borrowed for the source's life
 * @ret_version: set with PAGE_SOURCE_E_NEWER; may be NULL
 *
 * Return: 0, PAGE_SOURCE_E_DAMAGED, PAGE_SOURCE_E_NEWER, PAGE_SOURCE_E_UNBEGUN, -errno (-ENOENT).
 */
int page_source_open(PageSource **ret, const SessionDir *dir, uint32_t cpu, uint64_t sequence,
                     uint32_t *ret_version);
/* The same from a descriptor of a regular file, consumed also on failure, whosever it is. */
int page_source_take_fd(PageSource **ret, int fd, uint32_t *ret_version);
/* The same of a CPU's pages in a trace.dat, which is borrowed.  0, -ENOENT (no such CPU), -errno. */
int page_source_open_dat(PageSource **ret, const DatFile *f, uint32_t cpu);
/* Looks again how many pages there are: 1 if more than before, 0, -errno.  Sealed ones are
 * final. */
int page_source_refresh(PageSource *s);

uint32_t page_source_cpu(const PageSource *s);
uint64_t page_source_sequence(const PageSource *s);
uint64_t
page_source_previous(const PageSource *s); /* the one before it; UINT64_MAX: none, or not known */
uint32_t page_source_page_bytes(const PageSource *s);
bool page_source_is_closed(const PageSource *s); /* sealed or closed: no page will be added */
/* Of a trace.dat that is packed this looks through all of it, unlike the next one. */
uint64_t page_source_n_pages(const PageSource *s);
/* Whether there is a page @i: 1, 0, -ENOMEM. */
int page_source_has_page(const PageSource *s, uint64_t i);
uint64_t page_source_torn_bytes(const PageSource *s); /* Segment.n_torn; 0 if sealed */

/*
 * page_source_read() - page @i and those that lie behind it in memory
 * @i:     less than page_source_n_pages()
 * @ret:   set with 0; valid until another page is read, or a refresh
 * @ret_n: how many they are, at least 1; with PAGE_SOURCE_E_LOST how many cannot be read
 *
 * Pages asked for in order are decoded once.
 * Return: 0, PAGE_SOURCE_E_LOST, -errno.
 */
int page_source_read(PageSource *s, uint64_t i, const void **ret, uint64_t *ret_n);

/*
 * page_source_find() - the first page that has to be read for events from @ns on
 * @swap: of its numbers, seen from this machine
 *
 * Looks at few pages (of a sealed one at its index alone), and may name one that is somewhat early.
 * A page that is damaged or empty stops the search before it.  0 or -errno.
 */
int page_source_find(PageSource *s, uint64_t ns, bool swap, uint64_t *ret);

/* When the first page begins, as its header or its block's says: 1; 0: it does not; -errno. */
int page_source_begin(PageSource *s, bool swap, uint64_t *ret_ns);

/*
 * page_source_span() - when its first and its last page begin, as their headers say
 * @swap: of its numbers, seen from this machine
 *
 * Decodes nothing: of a sealed one the blocks' headers say it.  A page that was never read into, or
 * is damaged, has no time.
 * Return: 0, -ENODATA (no page has one), other -errno.
 */
int page_source_span(PageSource *s, bool swap, uint64_t *ret_first_ns, uint64_t *ret_last_ns);

/* Its blocks; NULL if it is not sealed. */
const SealedReader *page_source_sealed(const PageSource *s);
/* Decodes all blocks of a sealed one.  1; 0: it is not sealed; -errno. */
int page_source_check(PageSource *s, SealedCheck *ret);
/* What was found damaged so far; none if it is not sealed. */
const SealedDamage *page_source_damages(const PageSource *s, size_t *ret_n);

PageSource *page_source_free(PageSource *s);
DEFINE_CLEANUP(PageSource *, page_source_free);

/* --- what the pages of a trace.dat tell where nothing else does ------------------------------- */

/*
 * dat_losses_note() - losses, for files of `trace-cmd listen` and `split` have no CPUSTAT
 * @m:           of @dir; where CPUSTAT counts losses of a CPU, that is believed
 * @is_thorough: look through the pages of a CPU also if CPUSTAT says that nothing was lost, which
 *               takes reading, or unpacking, all of them; whoever reads them anyway finds what they
 *               say against it (cli/source/source.h)
 *
 * A page says that events were lost before it, and mostly how many (store/page.h).  That becomes what a session's own
 * account would have: a sum for each CPU, and a gap for each place, of GAP_UNKNOWN events where the kernel had no
 * room to say.  Nothing happens to a recording that is no trace.dat.  0 or -errno.
 */
int dat_losses_note(SessionMeta *m, const SessionDir *dir, bool is_thorough);
/* Fills @m->start, on all clocks with the time of the first page, if @dir is a trace.dat of `trace-cmd record --date`,
 * whose times are those of the clock on the wall, and nothing else has told when it was.  0 or -errno. */
int dat_start_note(SessionMeta *m, const SessionDir *dir);
