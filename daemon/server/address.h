/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Address: the path of the socket that clients connect to, when systemd did not make it
 */

/*
 * address_bind() - a listening Unix socket at @path, mode 0600
 *
 * The directory is made if it is missing.  A socket that nobody listens on is replaced.
 * Return: a descriptor; -EADDRINUSE if somebody listens there, -EEXIST if @path is no socket,
 * -ENAMETOOLONG, other -errno.
 */
int address_bind(const char *path);
