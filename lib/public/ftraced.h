/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * libftraced: recordings of kernel functions, for other programs
 *
 *      ftraced_source *s;
 *      const ftraced_event *e;
 *
 *      r = ftraced_source_open(&s, "/var/lib/ftraced/sessions/slow-dns");
 *      while (r >= 0 && (r = ftraced_source_next(s, &e)) > 0)
 *              ...
 *      ftraced_source_free(s);
 *
 * Functions that return int return 0, a documented positive number, or a negative errno.  Nothing is
 * thread-safe: one thread at a time for each object.  Strings are UTF-8 or ASCII, and are valid as
 * long as said.  Structures are the library's own, and may get more members at their end.
 *
 * Link with `pkg-config --cflags --libs libftraced`.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FTRACED_PUBLIC __attribute__((visibility("default")))
#else
#define FTRACED_PUBLIC
#endif

/* The library's version, "0.1.0"; static. */
FTRACED_PUBLIC const char *ftraced_version(void);

/* --- recordings ------------------------------------------------------------------------------- */

typedef struct ftraced_source ftraced_source;

typedef enum ftraced_kind {
        FTRACED_ENTER = 1, /* a function begins */
        FTRACED_LEAF = 2,  /* a function begins and ends, and calls nothing that was recorded */
        FTRACED_LEAVE = 3, /* a function ends */
        FTRACED_LOST = 4,  /* here events of this CPU are missing */
        FTRACED_OTHER = 5  /* an event of another kind */
} ftraced_kind;

typedef struct ftraced_event {
        ftraced_kind kind;
        uint32_t cpu;
        int32_t pid;          /* negative: a text that does not say */
        int32_t depth;        /* 0: outermost */
        uint64_t time_ns;     /* trace clock; of a LEAF its begin */
        uint64_t duration_ns; /* LEAF, LEAVE */
        uint64_t n_lost;      /* LOST; 0: the kernel did not say */
        const char *task;     /* the task's name; until the next event */
        const char *function; /* ENTER, LEAF, LEAVE: "udp_sendmsg", "ovl_open [overlay]"; as long
                               * as the source */
        const char *text;     /* OTHER: "NAME: FIELDS", or NULL; until the next event */
        int is_root;          /* it is one of the functions that were asked for */
} ftraced_event;

/*
 * ftraced_source_open() - a recording
 * @path: the directory of a session, or a trace.dat; or a text that the kernel's function_graph,
 *        perf-tools or SystemTap printed
 *
 * Return: 0; -EBADMSG: it is none, or cannot be decoded; -errno.
 */
FTRACED_PUBLIC int ftraced_source_open(ftraced_source **ret, const char *path);
/*
 * ftraced_source_next() - the next event of all CPUs
 *
 * In the order of time; of a text in the order of its lines.
 * Return: 1 and *@ret, which is the source's own until the next call; 0: there are no more; -errno.
 */
FTRACED_PUBLIC int ftraced_source_next(ftraced_source *s, const ftraced_event **ret);
/* What is known of a session as JSON, as in session.json; "{}" of a text.  As long as the source. */
FTRACED_PUBLIC const char *ftraced_source_describe(ftraced_source *s);
/* Returns NULL; @s may be NULL. */
FTRACED_PUBLIC ftraced_source *ftraced_source_free(ftraced_source *s);

/* --- the daemon ------------------------------------------------------------------------------- */

typedef struct ftraced_client ftraced_client;

/* @socket: NULL: the usual one.  -ENOENT or -ECONNREFUSED: no daemon runs; -EACCES; -errno. */
FTRACED_PUBLIC int ftraced_client_connect(ftraced_client **ret, const char *socket);
/*
 * ftraced_client_call() - call a method of org.ftraced, and wait for its one reply
 * @method:     "Start", or a full name
 * @parameters: a JSON object; NULL: none
 * @ret:        the reply's parameters, or an error's, as JSON; until the next call
 *
 * Return: 0; 1: the daemon answered with an error, whose name ftraced_client_error() has; -errno, and
 * nothing more can be called.
 */
FTRACED_PUBLIC int ftraced_client_call(ftraced_client *c, const char *method,
                                       const char *parameters, const char **ret);
/* "org.ftraced.SessionNotFound"; NULL unless the last call returned 1. */
FTRACED_PUBLIC const char *ftraced_client_error(const ftraced_client *c);
/* Opens a session that the daemon has, by its name or id; as ftraced_source_open(), -ENOENT. */
FTRACED_PUBLIC int ftraced_client_open(ftraced_client *c, const char *session,
                                       ftraced_source **ret);
FTRACED_PUBLIC ftraced_client *ftraced_client_free(ftraced_client *c);

#ifdef __cplusplus
}
#endif
