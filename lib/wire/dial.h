/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Dial: connecting to those whom we talk to
 */

/* A stream to the Unix socket at @path: a descriptor, -ENAMETOOLONG, -ENOENT, -ECONNREFUSED (nobody
 * listens), -EACCES, other -errno. */
int dial(const char *path);
