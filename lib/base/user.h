/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Users by name, as far as /etc/passwd has them: who asks a directory over a network waits for it.
 */

#include <sys/types.h>

#define USER_TEXT_MAX 48 /* with the 0 byte; useradd(8): names have 32 bytes at most */

/* Into @ret, which is returned: "alice", or "uid 1000" of who is not among the first 4,096 there. */
const char *format_user(char ret[USER_TEXT_MAX], uid_t uid);
#define FORMAT_USER(uid) format_user((char[USER_TEXT_MAX]){}, (uid))
