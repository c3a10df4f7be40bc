/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lines: from which line of the source each call was made, and through which inlined functions
 *
 * A recording says that F called G.  The code of F, in a vmlinux or a module that was built with debug information,
 * or in a lines file that was made of one, says from where: at each call of G's address.  What the compiler inlined
 * there lies between the two:
 *
 *      ip_route_output_flow                    frames[0]   net/ipv4/route.c:2850
 *        [__ip_route_output_key]               frames[1]   include/net/route.h:135
 *          [ip_route_output_key_hash]          frames[2]   net/ipv4/route.c:2626
 *            [rcu_read_lock]                   frames[3]   include/linux/rcupdate.h:840
 *              __rcu_read_lock                             the callee
 *
 * Nothing is guessed: of several calls of G in F those are kept that the calls before and behind leave possible.
 */

#include "calls/function.h"
#include "calls/steps.h"

typedef struct Lines Lines;

/* --- opening ---------------------------------------------------------------------------------- */

/* The build ID of the kernel, or of a module. */
typedef struct LinesId {
        const char *module;   /* NULL: the kernel */
        const char *build_id; /* hexadecimal digits, lower case */
} LinesId;

/* What is known of the recording; borrowed until the Lines are freed. */
typedef struct LinesRecording {
        const char *release, *machine; /* of uname(1); NULL: not known */
        SymbolTimeline
                *symbols; /* NULL: none, as of a text: then a name alone has to tell a function */
        const LinesId
                *ids; /* what is not listed is not known, and the symbols alone are compared */
        size_t n_ids;
        const SessionMeta *
                meta; /* NULL: not known, as of a text; else what was not hooked may lie in between, too */
        int symbols_fd; /* the store's symbols/, where "BUILD-ID.lines" may be; -EBADF: none */
} LinesRecording;

typedef struct LinesPlace {
        const char *
                vmlinux; /* --vmlinux=: a vmlinux with debug information, or a lines file, and nothing else is
                              * asked; NULL: it is looked for where lines_open() says */
        /* Told before a debuginfod is asked, and while it sends; NULL: it is not asked.  A value that is not 0 ends
         * that. */
        int (*progress)(void *userdata, uint64_t n_bytes, uint64_t n_all);
        void *userdata;
} LinesPlace;

enum {
        LINES_E_NONE = 1, /* there is nothing to have lines from, or it is of another kernel */
};

/*
 * lines_open() - opens what the lines of a recording can be had from
 * @ret_problem: on LINES_E_NONE a sentence's end, which names the file, the build ID and the way out; the caller
 *               frees it
 *
 * In this order: @place->vmlinux; symbols/BUILD-ID.lines; /usr/lib/debug/boot/vmlinux-RELEASE and
 * /usr/lib/debug/.build-id; debuginfod, by build ID.  Modules are looked for likewise, when the first of their
 * functions is asked for.
 *
 * Return: 0, LINES_E_NONE, -errno.
 */
int lines_open(Lines **ret, const LinesRecording *recording, const LinesPlace *place,
               char **ret_problem);
/* What the lines are from: "/usr/lib/debug/boot/vmlinux-6.12.117+deb12-amd64". */
const char *lines_origin(const Lines *l);
/* What has no lines, and why, a sentence for each module that was asked for in vain. */
const Strv *lines_lacking(const Lines *l);
Lines *lines_free(Lines *l);
DEFINE_CLEANUP(Lines *, lines_free);

/* --- asking ----------------------------------------------------------------------------------- */

/* All strings and sites live as long as the Lines. */

typedef struct LineFrame {
        const char
                *function; /* of which this is a line; as the source has it, of frames[0] as well */
        const char *file;  /* "net/ipv4/udp.c"; NULL: not known */
        uint32_t line;     /* where it calls the next; 0: not known */
        bool is_untraced; /* no inlined function, but one that is called and that the tracer does not see */
} LineFrame;

typedef struct LineSite {
        bool is_jump;            /* a tail call: the caller was left by it */
        bool is_static;          /* a static call, which the kernel patches at run time */
        uint32_t n_frames;       /* at least 1: the caller's own */
        const LineFrame *frames; /* outermost first */
} LineSite;

typedef enum LinesAnswer {
        LINES_UNKNOWN, /* one of the two is not known, or there is no such code, or what the caller calls unhooked */
        LINES_DIRECT, /* sites that call it, one or more, and as LINES_INDIRECT */
        LINES_INDIRECT, /* none does; sites that call by a pointer, or static calls, and a pointer may have it */
        LINES_NONE,      /* none of both */
        LINES_INTERRUPT, /* nothing calls it: it is an interrupt's (role_of()) */
} LinesAnswer;

typedef struct LineSites {
        LinesAnswer answer;
        uint32_t n_sites; /* what compilers made several of is one */
        const LineSite *sites;
} LineSites;

/* Of a call of @callee in @caller; both live as long as @l.  NULL without memory.  The same for the same two. */
const LineSites *lines_sites(Lines *l, const Function *caller, const Function *callee);

/*
 * lines_follow() - which sites a call can have been made from, after the one before in the same call of the caller
 * @at:    zeroes where the caller begins; changed
 * @sites: of the call that was met next, or NULL: of anything may have been called unseen
 *
 * From each site the code leads to some others, and not past a call of what has been met: this is what decides,
 * loops included.  A bit for each site; more than 64: all bits.  Never 0 where there are sites: what contradicts is
 * not believed.
 */
typedef struct LinesPosition {
        const LineSites *last; /* NULL: at the beginning, or anywhere */
        uint64_t possible;     /* lines_follow()'s own */
        bool is_lost;          /* it may be anywhere */
} LinesPosition;
uint64_t lines_follow(Lines *l, LinesPosition *at, const LineSites *sites);
/* The same of all calls that one call of a caller made, in their order, of which later ones decide about earlier ones,
 * too.  @has_end: it has returned, and nothing lacks behind the last.  @ret_possible: room for @n.  0 or -ENOMEM. */
int lines_follow_all(Lines *l, const LineSites *const *calls, size_t n, bool has_end,
                     uint64_t *ret_possible);
/* The same of the calls of @callees in @caller, whose sites go into @ret_sites, room for @n; what is NULL may be any
 * calls, or none. */
int lines_follow_calls(Lines *l, const Function *caller, const Function *const *callees, size_t n,
                       bool has_end, const LineSites **ret_sites, uint64_t *ret_possible);

/* Where a function is defined; false: not known. */
bool lines_definition(Lines *l, const Function *f, LineFrame *ret);

/* --- by place --------------------------------------------------------------------------------- */

/* The part of the kernel that a file belongs to: "TCP", "ext4", "block"; of a file that no layer is known of, its
 * directory; "(unknown)" for NULL.  Static, or a part of @file. */
const char *lines_layer(const char *file, size_t *ret_n);
/* Its directory: "net/ipv4". */
const char *lines_directory(const char *file, size_t *ret_n);

/* --- carried along ---------------------------------------------------------------------------- */

/*
 * lines_write() - a lines file of what was asked for
 * @is_whole: of all functions of the kernel, and of the modules that were asked for
 *
 * 0; -EFBIG: more than is read again; -errno.
 */
int lines_write(Lines *l, bool is_whole, Buf *out);

/*
 * Ways: from where each call was made, for who draws calls or adds them up
 *
 * A CallWay (calls/function.h) is made of the sites that lines.h finds for a caller and a callee, of which the order of the
 * caller's calls leaves one or several.  What these have in common is told as it is; where they differ, all of them are:
 *
 *      net/ipv4/udp.c:1102
 *      one of 2: net/ipv4/udp.c:1102, :1266
 *      by a pointer: net/ipv4/af_inet.c:853        no direct call is there, and one by a pointer
 *      by a pointer                                there are more of these than are worth a list
 *      static call: security/security.c:4800       of those that the kernel patches at run time
 *      no call of it is known                      in its caller, nor in what that calls untraced
 *      line not known                              one of the two has no debug information, or nobody knows what was
 *                                                  not hooked between them
 */

typedef struct Ways Ways;

/* @lines: borrowed.  0 or -ENOMEM. */
int ways_new(Ways **ret, Lines *lines);
/* A PairingWays.  All live as long as the Ways. */
int ways_find(void *ways, const Function *caller, const Function *const *callees, size_t n,
              bool has_ended, const CallWay **ret);
/* The same for who does not wait for the end of a call: what is called later does not decide.  Each step of a recording, in
 * its order, whose `way` is set if it is a call.  0 or -ENOMEM. */
int ways_step(Ways *w, Step *step);
/* Where @f is defined; false: not known. */
bool ways_define(void *ways, const Function *f, const char **ret_file, uint32_t *ret_line);
Ways *ways_free(Ways *w);
DEFINE_CLEANUP(Ways *, ways_free);
