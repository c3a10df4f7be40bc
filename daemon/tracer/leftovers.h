/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Leftovers: what is in the kernel and in no ledger
 *
 * A ledger may be lost.  What carries ftraced's name can be told without: instances
 * called "ftraced-..." and "ftraced....", and dynamic events "ftraced_...".  Those that another
 * store's ledger has are of the daemon there.  What there is one of in the kernel is ftraced's as well
 * if one of these instances was tracing, and goes to what the kernel begins with, for what it said
 * before is lost.  Of all else nobody can say whose it is.
 */

#include "base/array.h"
#include "daemon/tracefs/ledger.h"
#include "daemon/tracefs/tracefs.h"

/*
 * leftovers_claim() - add to the ledger what is ours by its name, for ledger_undo()
 *
 * Every record is logged.  What a process holds open, of a daemon that is alive perhaps, is left alone.
 * Return: 0 or -errno.
 */
int leftovers_claim(Ledger *l, const Tracefs *fs);
/* Adds a sentence with a way out for each thing that has ftraced's name and is not in @l.  0 or -errno. */
int leftovers_find(const Ledger *l, const Tracefs *fs, Strv *ret);
/* The same for what @l has, and for a function_graph at the top level, which may be anybody's. */
int leftovers_find_rest(const Ledger *l, const Tracefs *fs, Strv *ret);
/*
 * leftovers_find_values() - what sessions override and is not as the kernel begins with
 * @has_instances: what each instance has of its own is of no matter
 * @ret:           "max_graph_depth is 4"
 * @all:           also what people set for good: clocks, sizes
 * @ret_commands:  "echo 0 > /sys/kernel/tracing/max_graph_depth"
 */
int leftovers_find_values(const Tracefs *fs, bool has_instances, bool all, Strv *ret,
                          Strv *ret_commands);
