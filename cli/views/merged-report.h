/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Merged report: several recordings in one timeline
 *
 *      # web-1: before, Linux 6.1.0-18-amd64, from 2026-11-21 10:42:03
 *      # db-1: before, Linux 6.12.9-amd64, from 2026-11-21 10:42:04
 *      #
 *      #                       CPU  DURATION                  FUNCTION CALLS
 *      #                       |     |   |                     |   |   |   |
 *      10:42:04.120713 web-1    0)               |  udp_sendmsg() {
 *      10:42:04.120722 db-1     3)   4.027 us    |  udp_recvmsg();
 *
 * Each is drawn as it would be alone; what stands in front of its lines is the clock on its host's
 * wall and its label, the host's name or, where that does not tell them apart, the session's or the
 * word on the command line.
 */

#include "cli/options/options.h"

/* All of o->words; an exit status. */
int merged_report(const Options *o);
