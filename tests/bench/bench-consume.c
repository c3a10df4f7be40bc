/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * bench-consume: what moving one CPU's pages to a file costs, by four ways
 *
 *      splice   trace_pipe_raw -> pipe -> file, as daemon/record/reader.c does
 *      read     read() of each page into a shared mapping of the file
 *      map      the kernel's buffer is mapped; pages are copied into a shared mapping of the file
 *      write    the kernel's buffer is mapped; pages are written with write()
 *
 * usage: bench-consume WAY BUFFER CPU FILE [PAGE_BYTES]
 *
 * Moves whole pages every INTERVAL_MS until SIGTERM, then says "WAY CPU PAGES USER_US SYSTEM_US".
 *
 * Source: linux 6.12 include/uapi/linux/trace_mmap.h and Documentation/trace/ring-buffer-map.rst.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"

#define INTERVAL_MS 20
#define PIPE_BYTES (1U << 20)
#define WINDOW_BYTES (1U << 20) /* of the file, mapped at a time */
#define EVENT_BYTES_MIN 24      /* so many times more unread events are on two pages */

#define GET_READER _IO('R', 0x20)

typedef struct Meta {
        uint32_t meta_page_size, meta_struct_len, subbuf_size, nr_subbufs;
        struct {
                uint64_t lost_events;
                uint32_t id, read;
        } reader;
        uint64_t flags, entries, overrun, read, reserved[2];
} Meta;

typedef struct Consumer {
        int raw_fd, file_fd, pipe_fds[2];
        const Meta *meta;
        const uint8_t *pages;
        uint8_t *window;
        size_t n_window; /* bytes of it that are filled */
        uint64_t n_pages;
        size_t page_bytes;
        uint64_t events_of_a_page;
} Consumer;

static volatile sig_atomic_t want_end;

static void on_signal(int signal) {
        want_end = 1;
}

static void die(const char *what) {
        perror(what);
        exit(1);
}

/* --- the file, as a mapping -------------------------------------------------------------------- */

/* Room for one page in the file's page cache. */
static uint8_t *next_page(Consumer *c) {
        off_t at = (off_t) (c->n_pages * c->page_bytes);

        if (!c->window || c->n_window == WINDOW_BYTES) {
                if (c->window)
                        (void) munmap(c->window, WINDOW_BYTES);
                if (ftruncate(c->file_fd, at + WINDOW_BYTES) < 0)
                        die("ftruncate");
                c->window = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_POPULATE, c->file_fd, at);
                if (c->window == MAP_FAILED)
                        die("mmap of the file");
                c->n_window = 0;
        }
        return c->window + c->n_window;
}

static void page_filled(Consumer *c) {
        c->n_window += c->page_bytes;
        c->n_pages++;
}

/* --- the ways ---------------------------------------------------------------------------------- */

static void splice_turn(Consumer *c) {
        for (;;) {
                ssize_t n = splice(c->raw_fd, NULL, c->pipe_fds[1], NULL, PIPE_BYTES,
                                   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

                if (n <= 0)
                        return;
                c->n_pages += (uint64_t) n / c->page_bytes;
                while (n > 0) {
                        ssize_t k = splice(c->pipe_fds[0], NULL, c->file_fd, NULL, (size_t) n,
                                           SPLICE_F_MOVE);

                        if (k <= 0)
                                die("splice to the file");
                        n -= k;
                }
        }
}

static void read_turn(Consumer *c) {
        for (;;) {
                ssize_t n = read(c->raw_fd, next_page(c), c->page_bytes);
                uint64_t commit; /* of the page's header */

                if (n <= 0)
                        return;
                page_filled(c);
                memcpy(&commit, c->window + c->n_window - c->page_bytes + sizeof(commit),
                       sizeof(commit));
                if (commit % c->page_bytes < c->page_bytes - 256)
                        return; /* partly filled: the last one */
        }
}

static void mapped_turn(Consumer *c, bool with_write) {
        for (;;) {
                const uint8_t *page;

                if (c->meta->entries - c->meta->overrun - c->meta->read < c->events_of_a_page) {
                        if (ioctl(c->raw_fd, GET_READER) < 0)
                                return;
                        if (c->meta->entries - c->meta->overrun - c->meta->read <
                            c->events_of_a_page)
                                return;
                } else if (ioctl(c->raw_fd, GET_READER) < 0)
                        return;
                page = c->pages + (size_t) c->meta->reader.id * c->page_bytes;
                if (with_write) {
                        if (write(c->file_fd, page, c->page_bytes) != (ssize_t) c->page_bytes)
                                die("write");
                        c->n_pages++;
                } else {
                        memcpy(next_page(c), page, c->page_bytes);
                        page_filled(c);
                }
        }
}

static void map_turn(Consumer *c) {
        mapped_turn(c, false);
}

static void write_turn(Consumer *c) {
        mapped_turn(c, true);
}

static void map_buffer(Consumer *c) {
        c->meta = mmap(NULL, 4096, PROT_READ, MAP_SHARED, c->raw_fd, 0);
        if (c->meta == MAP_FAILED)
                die("mmap of the buffer's meta page");
        c->pages = mmap(NULL, (size_t) c->meta->nr_subbufs * c->page_bytes, PROT_READ, MAP_SHARED,
                        c->raw_fd, c->meta->meta_page_size);
        if (c->pages == MAP_FAILED)
                die("mmap of the buffer");
}

static const struct {
        const char *name;
        bool maps;
        void (*turn)(Consumer *c);
} ways[] = {
        { "splice", false, splice_turn },
        { "read", false, read_turn },
        { "map", true, map_turn },
        { "write", true, write_turn },
};

int main(int argc, char **argv) {
        const struct timespec interval = { .tv_nsec = INTERVAL_MS * 1000000L };
        Consumer c = { .page_bytes = 4096 };
        struct rusage before, after;
        char path[4096];
        size_t way = 0;

        while (argc >= 5 && way < ELEMENTSOF(ways) && !streq(argv[1], ways[way].name))
                way++;
        if (argc < 5 || argc > 6 || way == ELEMENTSOF(ways)) {
                fprintf(stderr, "usage: bench-consume splice|read|map|write BUFFER CPU FILE "
                                "[PAGE_BYTES]\n");
                return 2;
        }
        if (argc == 6)
                c.page_bytes = strtoul(argv[5], NULL, 10);
        c.events_of_a_page = c.page_bytes / EVENT_BYTES_MIN;
        (void) snprintf(path, sizeof(path), "%s/per_cpu/cpu%s/trace_pipe_raw", argv[2], argv[3]);
        c.raw_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (c.raw_fd < 0)
                die(path);
        c.file_fd = open(argv[4], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (c.file_fd < 0)
                die(argv[4]);
        if (pipe2(c.pipe_fds, O_CLOEXEC) < 0 || fcntl(c.pipe_fds[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
                die("pipe");
        if (ways[way].maps)
                map_buffer(&c);
        (void) sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_signal }, NULL);
        printf("ready\n");
        (void) fflush(stdout);
        (void) getrusage(RUSAGE_SELF, &before);
        while (!want_end) {
                ways[way].turn(&c);
                (void) nanosleep(&interval, NULL);
        }
        (void) getrusage(RUSAGE_SELF, &after);
        printf("%s %s %llu %lld %lld\n", argv[1], argv[3], (unsigned long long) c.n_pages,
               (long long) (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000 +
                       after.ru_utime.tv_usec - before.ru_utime.tv_usec,
               (long long) (after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000000 +
                       after.ru_stime.tv_usec - before.ru_stime.tv_usec);
        return 0;
}
