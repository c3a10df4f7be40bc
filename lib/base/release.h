/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Release: the version that a kernel says it is, "6.12.117+deb12-amd64" */

typedef enum Release {
        RELEASE_UNKNOWN, /* it does not begin with two numbers */
        RELEASE_BEFORE,
        RELEASE_SINCE,
} Release;

/* Whether a kernel of this release (NULL is fine) came before MAJOR.MINOR or not. */
Release release_compare(const char *release, unsigned major, unsigned minor);
