/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The writer never holds a page: splice() moves it from the pipe into the file, or read() puts it
 * into a mapping of the file.  The header's n_pages is written after the pages it counts.
 *
 *      0          4096                              4096 + n_bytes
 *      | header   | page | page | ... | page | part | tail: allocated, mapped, being read into
 *        n_pages ---------------------------^
 *
 * So the file's length says more than the header of a writer that died: a page is whole when all its bytes
 * are in the file, because splice() and write() only ever append.  The one exception is the tail, which is
 * allocated before it is read into, and one that was never read into is all zero.
 *
 * The header is written with pwrite(), not through a mapping: on a file system that copies on write
 * it may need a new block, and a full disk is then an error instead of SIGBUS.  (The tail is
 * mapped, but its blocks are allocated first and were never written before.)
 *
 * Nothing is synced here.  What is in the page cache outlives the process however it dies, and that is
 * what a segment that is written to promises; once it is closed the daemon syncs it (daemon/record/reader.h).
 */

#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/io.h"
#include "store/entry.h"
#include "store/page.h"
#include "store/sealed.h"
#include "store/segment.h"

static uint64_t end_of(const SegmentWriter *w) {
        return SEGMENT_HEADER_BYTES + w->n_bytes;
}

static void unmap_tail(SegmentWriter *w) {
        if (w->tail_map)
                (void) munmap(w->tail_map, w->n_tail_map);
        w->tail_map = NULL;
}

SegmentWriter *segment_writer_free(SegmentWriter *w) {
        if (!w)
                return NULL;
        unmap_tail(w);
        safe_close(w->fd);
        return mfree(w);
}

static int write_n_pages(int fd, uint64_t n_pages) {
        n_pages = htole64(n_pages);
        return pwrite_full(fd, &n_pages, sizeof(n_pages), offsetof(SegmentHeader, n_pages));
}

/* Cuts off what is behind the pages.  The state is written last, so that a recovery that dies half way
 * is simply repeated. */
static int close_file(int fd, uint32_t page_bytes, uint64_t n_pages) {
        uint32_t state = htole32(SEGMENT_STATE_CLOSED);

        if (ftruncate(fd, (off_t) (SEGMENT_HEADER_BYTES + n_pages * page_bytes)) < 0)
                return ORIGIN(-errno);
        return write_n_pages(fd, n_pages)
                       ?: pwrite_full(fd, &state, sizeof(state), offsetof(SegmentHeader, state));
}

/* *@n_pages without the pages of zeroes at the end of the file. */
static int drop_empty(int fd, uint32_t page_bytes, uint64_t *n_pages) {
        _cleanup_free_ char *page = malloc(page_bytes);
        uint64_t end;

        if (!page)
                return -ENOMEM;
        /* All that is behind the last data is empty, however much. */
        end = fd_data_end(fd, SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES + *n_pages * page_bytes);
        *n_pages = (end - SEGMENT_HEADER_BYTES + page_bytes - 1) / page_bytes;
        for (; *n_pages > 0; (*n_pages)--) {
                uint64_t at = SEGMENT_HEADER_BYTES + (*n_pages - 1) * page_bytes;
                ssize_t n = pread_up_to(fd, page, page_bytes, at);
                PageInfo info;

                if (n < 0)
                        return (int) n;
                if ((size_t) n < page_bytes)
                        return ORIGIN(-EIO); /* somebody cuts it under our hands */
                if (page_parse(&info, page, page_bytes, false) != PAGE_E_EMPTY)
                        break;
        }
        return 0;
}

int segment_create(SegmentWriter **ret, int cpu_dir_fd, uint64_t sequence, uint64_t previous,
                   uint32_t cpu, uint32_t page_bytes, const char *session_id) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        SegmentHeader h = {
                .version = SEGMENT_VERSION,
                .header_bytes = SEGMENT_HEADER_BYTES,
                .page_bytes = page_bytes,
                .cpu = cpu,
                .sequence = sequence,
                .state = SEGMENT_STATE_WRITING,
                .previous = (uint32_t) (previous + 1), /* UINT64_MAX becomes 0 */
        };
        char name[SEGMENT_NAME_MAX], block[SEGMENT_HEADER_BYTES] = {};
        int r;

        assert(page_bytes_are_valid(page_bytes));
        assert(previous == UINT64_MAX || previous < sequence);

        if (sequence > UINT32_MAX)
                return ORIGIN(-EOVERFLOW);
        segment_format_name(name, sequence);
        segment_swap(&h, SEGMENT_WIDTHS);
        memcpy(h.magic, SEGMENT_MAGIC, sizeof(h.magic));
        memcpy(h.session_id, session_id, strnlen(session_id, sizeof(h.session_id)));

        w = NEW(SegmentWriter, .fd = -EBADF, .page_bytes = page_bytes);
        if (!w)
                return -ENOMEM;
        w->fd = openat(cpu_dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       STORE_FILE_MODE);
        if (w->fd < 0)
                return ORIGIN(-errno);
        memcpy(block, &h, sizeof(h));
        r = write_full(w->fd, block, sizeof(block)); /* leaves the file's position behind it */
        if (r < 0) {
                (void) unlinkat(cpu_dir_fd, name, 0);
                return r;
        }
        *ret = TAKE_PTR(w);
        return 0;
}

/* Whether @h is the header of the segment that the caller means, and nobody has closed it. */
static int check_open(const SegmentHeader *h, uint64_t sequence, uint32_t cpu, uint32_t page_bytes,
                      const char *session_id) {
        if (h->sequence != sequence || h->cpu != cpu || h->page_bytes != page_bytes ||
            strncmp(h->session_id, session_id, sizeof(h->session_id)) != 0)
                return SEGMENT_E_DAMAGED;
        return h->state == SEGMENT_STATE_WRITING ? 0 : SEGMENT_E_CLOSED;
}

/* Decides how many bytes of the file are pages, and cuts the others off. */
static int find_end(SegmentWriter *w, const SegmentRest *rest, size_t *ret_torn) {
        uint64_t n_pages;
        struct stat st;
        int r;

        if (fstat(w->fd, &st) < 0)
                return ORIGIN(-errno);
        w->n_bytes = (uint64_t) st.st_size - SEGMENT_HEADER_BYTES;
        *ret_torn =
                (w->n_bytes + rest->n_piped) % w->page_bytes != 0 ? w->n_bytes % w->page_bytes : 0;
        w->n_bytes -= *ret_torn;
        if (rest->n_tail > 0 && w->n_bytes >= w->page_bytes) {
                w->n_bytes -= w->page_bytes; /* segment_tail() maps it as it is */
                return 0;
        }
        if (rest->n_piped == 0) {
                n_pages = segment_writer_n_pages(w);
                r = drop_empty(w->fd, w->page_bytes, &n_pages);
                if (r < 0)
                        return r;
                w->n_bytes = n_pages * w->page_bytes;
        }
        return ftruncate(w->fd, (off_t) end_of(w)) < 0 ? ORIGIN(-errno) : 0;
}

int segment_append(SegmentWriter **ret, int cpu_dir_fd, uint64_t sequence, uint32_t cpu,
                   uint32_t page_bytes, const char *session_id, const SegmentRest *rest,
                   size_t *ret_torn) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        char name[SEGMENT_NAME_MAX];
        SegmentHeader h;
        struct stat st;
        size_t n_torn = 0;
        int r;

        w = NEW(SegmentWriter, .fd = -EBADF, .page_bytes = page_bytes);
        if (!w)
                return -ENOMEM;
        w->fd = entry_open_file(cpu_dir_fd, segment_format_name(name, sequence), O_RDWR);
        if (w->fd < 0)
                return w->fd;
        r = fstat(w->fd, &st) < 0 ? ORIGIN(-errno) : segment_read_header(w->fd, &h);
        if (r == SEGMENT_E_SEALED)
                r = SEGMENT_E_CLOSED;
        else if (r >= 0 && st.st_size < SEGMENT_HEADER_BYTES)
                r = -ENODATA;
        r = r ?: check_open(&h, sequence, cpu, page_bytes, session_id)
                    ?: find_end(w, rest, &n_torn);
        if (r == 0 && lseek(w->fd, (off_t) end_of(w), SEEK_SET) < 0)
                r = ORIGIN(-errno);
        if (r != 0)
                return r;
        (void) write_n_pages(w->fd, segment_writer_n_pages(w));
        *ret_torn = n_torn;
        *ret = TAKE_PTR(w);
        return 0;
}

uint64_t segment_writer_n_pages(const SegmentWriter *w) {
        return w->n_bytes / w->page_bytes;
}

uint64_t segment_writer_last_ns(const SegmentWriter *w) {
        uint64_t n_pages = segment_writer_n_pages(w), timestamp;

        if (n_pages == 0 ||
            pread_up_to(w->fd, &timestamp, sizeof(timestamp),
                        SEGMENT_HEADER_BYTES + (n_pages - 1) * w->page_bytes) != sizeof(timestamp))
                return 0;
        return timestamp;
}

void segment_publish(SegmentWriter *w, size_t n_bytes) {
        w->n_bytes += n_bytes;
        /* If it fails, readers see the pages with the next one, or when the segment is closed. */
        (void) write_n_pages(w->fd, segment_writer_n_pages(w));
}

/* Makes the file @n bytes longer, with their space allocated. */
static int allocate(const SegmentWriter *w, size_t n) {
        int r;

        do
                r = -posix_fallocate(w->fd, (off_t) end_of(w), (off_t) n);
        while (r == -EINTR);
        return r < 0 ? ORIGIN(r) : 0;
}

/* One byte of each page of memory onto itself, by the kernel. */
static int touch(const SegmentWriter *w, void *p, size_t n, uint64_t at) {
        const size_t n_page = (size_t) sysconf(_SC_PAGESIZE);
        int r = 0;

        for (size_t i = 0; r >= 0 && i < n; i += n_page)
                r = pread(w->fd, (char *) p + i, 1, (off_t) (at + i)) < 0 ? ORIGIN(-errno) : 0;
        return r;
}

/*
 * Makes the mapping of @n bytes at @at present and writable, so that read() into it does not fault: a
 * fault of a process that is being killed fails, and would cut the copy of a page in two.  What the
 * file system refuses is an error here and not a SIGBUS, also on kernels that do not know the word
 * (before 5.14).
 */
static int populate(const SegmentWriter *w, void *p, size_t n, uint64_t at) {
        int r = madvise(p, n, MADV_POPULATE_WRITE) < 0 ? ORIGIN(-errno) : 0;

        if (r == -EINVAL)
                r = touch(w, p, n, at);
        if (r < 0)
                (void) munmap(p, n);
        return r;
}

int segment_tail(SegmentWriter *w, void **ret) {
        uint64_t at = end_of(w);
        /* mmap() wants a multiple of this machine's page, which may be larger than the header. */
        size_t n_before = at & ((uint64_t) sysconf(_SC_PAGESIZE) - 1);
        struct stat st;
        bool is_new;
        void *p;
        int r;

        if (w->tail_map || w->n_bytes % w->page_bytes != 0)
                return ORIGIN(-EBUSY);
        if (fstat(w->fd, &st) < 0)
                return ORIGIN(-errno);
        is_new = (uint64_t) st.st_size < at + w->page_bytes;
        r = is_new ? allocate(w, w->page_bytes) : 0;
        if (r >= 0) {
                p = mmap(NULL, n_before + w->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd,
                         (off_t) (at - n_before));
                if (p == MAP_FAILED)
                        r = ORIGIN(-errno);
                else
                        r = populate(w, p, n_before + w->page_bytes, at - n_before);
        }
        if (r < 0) {
                if (is_new)
                        (void) ftruncate(w->fd, (off_t) at);
                return r;
        }
        w->tail_map = p;
        w->n_tail_map = n_before + w->page_bytes;
        *ret = (char *) p + n_before;
        return 0;
}

void segment_tail_commit(SegmentWriter *w) {
        assert(w->tail_map);

        unmap_tail(w);
        segment_publish(w, w->page_bytes);
        (void) lseek(w->fd, (off_t) end_of(w), SEEK_SET);
}

void segment_tail_abort(SegmentWriter *w) {
        assert(w->tail_map);

        unmap_tail(w);
        /* If this fails a page of zeroes is left behind n_pages: closing or recovery cuts it. */
        (void) ftruncate(w->fd, (off_t) end_of(w));
}

static int finish_file(SegmentWriter *w) {
        uint64_t n_pages = segment_writer_n_pages(w);
        struct stat st;

        /* A file that somebody cut meanwhile keeps the header it has: its pages are as many as it
         * has whole. */
        if (fstat(w->fd, &st) < 0)
                return ORIGIN(-errno);
        if ((uint64_t) st.st_size < SEGMENT_HEADER_BYTES + n_pages * w->page_bytes)
                return ORIGIN(-EIO);
        return close_file(w->fd, w->page_bytes, n_pages);
}

int segment_writer_close(SegmentWriter *w, size_t *ret_torn_bytes, int *ret_fd) {
        size_t n_torn = w->n_bytes % w->page_bytes;
        int r;

        if (w->tail_map)
                segment_tail_abort(w);
        r = finish_file(w);
        if (ret_fd)
                *ret_fd = TAKE_FD(w->fd);
        segment_writer_free(w);
        if (r >= 0 && ret_torn_bytes)
                *ret_torn_bytes = n_torn;
        return r;
}

/* --- of a writer that died ------------------------------------------------------------------------ */

int segment_recover(int dir_fd, const char *path, uint64_t *ret_n_pages) {
        _cleanup_close_ int fd = entry_open_file(dir_fd, path, O_RDWR);
        SegmentHeader h;
        struct stat st;
        uint64_t n_pages;
        int r;

        if (fd == -EISDIR || fd == -EBADFD)
                return SEGMENT_E_DAMAGED;
        if (fd < 0)
                return fd;
        r = segment_read_header(fd, &h);
        if (r == SEGMENT_E_SEALED) {
                *ret_n_pages = h.n_pages;
                return 0;
        }
        if (r != 0)
                return r;
        if (fstat(fd, &st) < 0)
                return ORIGIN(-errno);
        if ((uint64_t) st.st_size < SEGMENT_HEADER_BYTES)
                return SEGMENT_E_DAMAGED;
        n_pages = ((uint64_t) st.st_size - SEGMENT_HEADER_BYTES) / h.page_bytes;
        if (h.state == SEGMENT_STATE_CLOSED) {
                *ret_n_pages = MIN(n_pages, h.n_pages);
                return 0;
        }
        r = drop_empty(fd, h.page_bytes, &n_pages);
        if (r >= 0)
                r = close_file(fd, h.page_bytes, n_pages);
        if (r < 0)
                return r;
        *ret_n_pages = n_pages;
        return 0;
}
