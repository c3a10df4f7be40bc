/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What belongs to calls, and is no call, in files beside theirs: when they waited and who woke them, and
 * where events were lost.  Or one of these alone, as the only file.
 *
 *      waits    host recording tree left start_unix_ns start_ns woken_ns back_ns state cpu pid task
 *               function waker_task waker_pid waker_function waker_interrupt
 *      losses   host recording at_unix_ns at_ns cpu events
 *
 * tree and left are those of the call that waited.  events is how many; none: the kernel did not say.
 */

#include "analyze/pairing.h"
#include "export/exporter.h"
#include "export/form.h"
#include "export/parquet.h"

/* A wait of a tree that is open. */
typedef struct BesideWait {
        SchedWait wait;
        uint32_t left, cpu;
} BesideWait;

typedef struct Beside Beside;

/*
 * beside_new()
 * @state, @texts: borrowed; files are opened with the first row of each, or at the end
 * @alone: the name of the one that is wanted, which is written to the state's out; NULL: all that
 *         the state's info->open opens
 *
 * Return: 0 or -ENOMEM.
 */
int beside_new(Beside **ret, const ExportState *state, ParquetTexts *texts, const Form *form,
               const char *alone);
/* A text's number, whatever bytes it has, which stays; UINT32_MAX of NULL.  0 or -ENOMEM. */
int beside_text(Beside *b, const char *text, size_t n, uint32_t *ret);
/* The same for @n_rows rows alone. */
int beside_text_for(Beside *b, const char *text, size_t n, uint32_t n_rows, uint32_t *ret);
/* Each 0 or -errno. */
int beside_wait(Beside *b, const BesideWait *wait, uint64_t tree, const Stack *stack,
                const Function *function);
int beside_loss(Beside *b, const Step *lost);
/* Each file is there even without rows, so that whoever asks finds columns. */
int beside_finish(Beside *b);
Beside *beside_free(Beside *b);
DEFINE_CLEANUP(Beside *, beside_free);
