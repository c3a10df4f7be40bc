/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

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

#include "calls/steps.h"
#include "lines/lines.h"

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
