/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Anatomy: what every outermost call consisted of
 *
 * A part is a function under the path of its callers (a node of one call tree), with how often it
 * was called in that outermost call, and its own time there, running and waiting.  The parts of a call add up to
 * its duration.  An interrupt stands directly below the outermost call, whomever it met:
 * whom it meets is chance.
 *
 *      call 1    5 us    root 1x 2 us    root/child 1x 3 us
 *      call 2    9 us    root 1x 2 us    root/child 2x 6 us    root/irq 1x 1 us
 *
 * Beside them stand the values of variables, where these were recorded: of arguments, of objects' fields, of what is
 * returned ("ret"), and of who called ("callers", "stack"), of functions under their paths.  An outermost call has one value of each of its own, and of those below it as many as
 * there were calls:
 *
 *      send(sk=0xffff888003d5c000, len=0x5c8) {        send  sk   0xffff888003d5c000
 *        copy(n=0x400) { } ret=0x400                   send  len  1480
 *        copy(n=0x1c8) { } ret=-14                     copy  n    1024, 456
 *      } ret=-14                                       copy  ret  1024, -14; send ret -14
 *
 * Calls of several recordings are comparable if one Anatomy is fed with all of them: functions of
 * the same name (Alike) are one then.
 *
 * Memory is bounded: of more than ANATOMY_BYTES_MAX of parts, or ANATOMY_CALLS_MAX calls, half of the calls is
 * forgotten, evenly, and so on, the same ones each time the same recording is read.  There are VARIABLES_MAX, the first
 * that are met; below the outermost call addresses are not kept, nor more than VARIABLES_VALUES_MAX values of one
 * outermost call; a text that is one too many is no value.  A part takes some 4 bytes, as varints:
 *
 *      the node's id, less that of the part before, zigzag, times 2; plus 1: what is in brackets is there
 *      running [calls, else 1] [waiting, else 0]
 */

#include "analyze/call-tree.h"
#include "base/buf.h"
#include "calls/step.h"
#include "causes/waits.h"

#define ANATOMY_BYTES_MAX (16U << 20)
#define ANATOMY_WAITS_MAX (4U << 20) /* likewise, as many values */
#define ANATOMY_CALLS_MAX (1U << 20)

#define VARIABLES_MAX 1024
#define VARIABLES_VALUES_MAX 256
#define VARIABLES_TEXTS_MAX 65536 /* likewise, different ones */
/* What is not less is an address, and has no order. */
#define VARIABLE_NUMBER_MAX (UINT64_C(1) << 44)

typedef struct Variable {
        uint32_t node; /* its id */
        char *name; /* "ret", "callers", "stack", or that of an argument or of an object's field */
        bool is_text;  /* a value is VARIABLE_NUMBER_MAX and an index of Anatomy.texts */
} Variable;

typedef struct VariableValue {
        uint32_t variable; /* its index */
        bool is_negative;
        uint64_t magnitude;
} VariableValue;

typedef struct AnatomyPart {
        uint32_t node; /* its id */
        uint32_t n;    /* calls */
        uint64_t run_ns, wait_ns;
} AnatomyPart;

typedef struct AnatomyWait {
        uint32_t node;  /* in which it left the CPU */
        uint32_t waker; /* of the anatomy's, index plus 1; 0: nobody was seen */
        uint64_t away_ns;
        uint64_t queued_ns; /* of that, after it was woken: waiting for a CPU */
} AnatomyWait;

typedef struct AnatomyCall {
        uint64_t number;   /* among its recording's outermost calls, by their beginnings, from 1 */
        uint64_t start_ns; /* trace clock */
        uint64_t duration_ns;
        uint32_t first_byte, first_wait, first_value; /* of its parts, waits and values */
        uint32_t n_parts, n_waits, n_values;
        uint32_t root; /* id of its node */
        uint32_t cpu;  /* on which it ended */
        int32_t pid;
        uint32_t task;   /* of the anatomy's names */
        uint32_t source; /* the first recording is 0 */
        bool has_retval, has_failed, is_idle;
} AnatomyCall;

typedef struct Anatomy {
        CallTree *tree;
        const CallNode **nodes; /* by id; NULL: the tree's root */
        size_t n_nodes;         /* ids are less */
        AnatomyCall *calls;     /* in the order in which they ended, those that were cut left out,
                                 * and those in which ftraced changed hooks */
        size_t n_calls;
        Buf parts;
        AnatomyWait *waits;
        VariableValue *values; /* of a call those of one variable side by side */
        Variable *variables;
        size_t n_variables;
        char **texts; /* that values are */
        size_t n_texts;
        Waker *wakers;
        size_t n_wakers;
        char (*tasks)[16]; /* names */
        size_t n_tasks;
        uint64_t n_all, n_cut; /* outermost calls; of them, those that were cut */
        uint32_t n_sources;
        Idle idle; /* is_wanted is the caller's */
} Anatomy;

/* The parts of a call: AnatomyParts p = anatomy_parts(a, call); while (anatomy_next(&p)) p.part */
typedef struct AnatomyParts {
        const uint8_t *at;
        uint32_t n_left;
        AnatomyPart part;
} AnatomyParts;

static inline AnatomyParts anatomy_parts(const Anatomy *a, const AnatomyCall *c) {
        return (AnatomyParts){ .at = (const uint8_t *) a->parts.data + c->first_byte,
                               .n_left = c->n_parts };
}

static _always_inline_ uint64_t anatomy_number(AnatomyParts *p) {
        uint64_t v = *p->at++, more = v;

        for (unsigned shift = 7; more >= 128; shift += 7) {
                more = *p->at++;
                v += (more - 1) << shift; /* without the bit that told of it */
        }
        return v;
}

static _always_inline_ bool anatomy_next(AnatomyParts *p) {
        uint64_t head;

        if (p->n_left == 0)
                return false;
        p->n_left--;
        head = anatomy_number(p);
        p->part.node += (uint32_t) (head >> 2 ^ -(head >> 1 & 1));
        p->part.run_ns = anatomy_number(p);
        p->part.n = head & 1 ? (uint32_t) anatomy_number(p) : 1;
        p->part.wait_ns = head & 1 ? anatomy_number(p) : 0;
        return true;
}

/* 0 or -ENOMEM. */
int anatomy_new(Anatomy **ret);
/* A sink of @pairing, and told of its waits; the pairing must outlive its last step, and its functions the
 * anatomy.  Calls that are fed from now on are of the next recording.  0 or -ENOMEM. */
int anatomy_add_source(Anatomy *a, Pairing *pairing);
Anatomy *anatomy_free(Anatomy *a);
DEFINE_CLEANUP(Anatomy *, anatomy_free);
