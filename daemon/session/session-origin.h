/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What a recording says of where it was made: the host, its kernel's symbols and types
 */

#include "daemon/symbols/kernel-symbols.h"
#include "meta/meta.h"

/* Gives @m an id, and the names of this host and kernel.  0 or -errno. */
int session_origin_add_host(SessionMeta *m);
/* Before arming, which slows the kernel down; and again after it, when it costs nothing unless
 * modules came meanwhile.  @m is warned if the kernel hides them.  0 or -errno. */
int session_origin_add_symbols(SessionMeta *m, KernelSymbols *symbols, int symbols_fd);
/* What the arguments are called and how wide return values are, if they are recorded and the kernel's event does not say; without it they are drawn as "()", of which @m
 * is warned.  0 or -errno. */
int session_origin_add_types(SessionMeta *m, int symbols_fd);
