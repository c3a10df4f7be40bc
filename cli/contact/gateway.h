/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Gateway: a host that runs a verb on a part of a fleet (--via)
 *
 * It is sent its part of the list on standard input, and answers for each host, as it is done, by a frame:
 *
 *      {"host":"web-3","status":0,"out":5,"err":0,"file":-1}\n    at most GATEWAY_HEAD_MAX bytes
 *      what it wrote to standard output     "out" bytes, at most MEMBER_SAID_MAX
 *      what it wrote to standard error      "err" bytes, likewise
 *      the file that it wrote               "file" bytes; -1: it wrote none
 *
 * A gateway may be anybody's: what it sends is checked.
 */

#include <stdint.h>

#include "cli/contact/member.h"

#define GATEWAY_HEAD_MAX 4096

/* How far a gateway's answer was read. */
typedef struct Gateway {
        /* Who that is, with a file opened if @has_file; NULL: nobody of whom an answer is due. */
        Member *(*begin)(const char *host, bool has_file, void *userdata);
        void (*end)(Member *m, int status, void *userdata); /* all of it is there */
        void *userdata;
        /* for gateway_feed() alone */
        Buf head;
        Member *member; /* NULL: the head is read */
        int status;
        uint64_t left[3]; /* out, err, file */
} Gateway;

/*
 * gateway_feed() - the next @n bytes of what it answers
 *
 * Return: 0, GATEWAY_E_INVALID (the rest is of no use), -ENOMEM.  A file that cannot be written is its
 * member's error.
 */
enum { GATEWAY_E_INVALID = 1 };
int gateway_feed(Gateway *g, const char *data, size_t n);
void gateway_done(Gateway *g);

/* On the gateway: writes the frame of @m to @fd.  0 or -errno. */
int gateway_answer(int fd, Member *m);
