/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Content id: 16 hexadecimal digits that tell files apart, whatever their names
 *
 * What a session's id is for a file that has none: files of the same bytes have the same, on every host, and one
 * that has changed has another.  XXH3-64 of its bytes, and of what of it is read if that is said.
 */

#define CONTENT_ID_CHARS 16

/*
 * content_id()
 * @part: which of several recordings in the file; NULL: the usual one
 *
 * Return: 0, CONTENT_ID_E_STREAM (it can be read only once, and has none), -errno.
 */
enum { CONTENT_ID_E_STREAM = 1 };
int content_id(char ret[static CONTENT_ID_CHARS + 1], const char *path, const char *part);
