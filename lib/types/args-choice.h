/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Args choice: of which functions the arguments are recorded, or which fields of them
 *
 *      udp_sendmsg                                             all arguments
 *      udp_*                                                   of all these
 *      udp_sendmsg(sk.__sk_common.skc_dport:be16, size=len)    these fields and nothing else
 *
 * A field is [NAME=]EXPRESSION[:TYPE]: only whoever has the kernel's types can read it (types/members.h).
 */

#include "base/array.h"

#define ARGS_CHOICE_MAX 1023
#define ARGS_CHOICE_FIELDS_MAX 24 /* in one */

bool args_choice_is_valid(const char *s);
/* Where its '(' is; NULL: it has none. */
const char *args_choice_fields(const char *s);
/* The function's name or pattern, which the caller frees; NULL without memory. */
char *args_choice_function(const char *s);
/* Adds the fields of one that is valid, without blanks around them.  0 or -ENOMEM. */
int args_choice_split(Strv *v, const char *s);
