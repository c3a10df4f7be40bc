/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Privilege: what root's process gives up
 *
 * Files of tracefs belong to uid 0 and need no capability; addresses in
 * /proc/kallsyms need CAP_SYSLOG (linux 6.1 kernel/ksyms_common.c,
 * kallsyms_show_value()).  So that one is kept, and all others go for good.
 */

#include <stdbool.h>

/* Keeps CAP_SYSLOG alone, or nothing, and sets no_new_privs; before the first thread.  0 or -errno. */
int privilege_drop(bool keeps_syslog);
/* The soft limit of descriptors becomes the hard one: a session needs up to four for each CPU. */
int privilege_raise_descriptors(void);
