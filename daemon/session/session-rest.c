/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/session/session-rest.h"

void session_rest_done(SessionRest *rest) {
        brief_done(&rest->brief);
        *rest = (SessionRest){};
}

void session_rest_sealed(SessionRest *rest, uint64_t n_before, uint64_t n_bytes) {
        footprint_replace(&rest->footprint, n_before, n_bytes);
        rest->brief.disk_bytes = rest->footprint.n_bytes;
}
