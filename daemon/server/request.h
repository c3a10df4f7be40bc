/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Request: a Varlink call as it came, strictly read
 *
 * Source: https://varlink.org/Method-Call; as systemd does, a member that is
 * not known, or of the wrong type, or two flags at once, make it no call.
 */

#include <jansson.h>
#include <stdbool.h>

typedef struct Request {
        const char *method;
        json_t *parameters; /* NULL: none */
        bool more;
        bool oneway;
        bool upgrade;
} Request;

/* @ret: borrows from @message.  0, or -EBADMSG: not a call, so that there is nothing to answer. */
int request_parse(Request *ret, json_t *message);
