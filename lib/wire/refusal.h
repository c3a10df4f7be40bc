/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Refusal: why a call is not carried out
 *
 * Made where the reason is known, sent as a Varlink error, and turned into an
 * exit status by the client; one table serves both sides.  A function that may
 * refuse returns REFUSED (> 0) and has filled the Refusal, or < 0 (-errno).
 */

#include <jansson.h>

#include "base/cleanup.h"

#define REFUSED 1

typedef enum RefusalKind {
        REFUSAL_FUNCTION_NOT_FOUND,
        REFUSAL_NO_FUNCTION_MATCHES,
        REFUSAL_EVENT_NOT_FOUND,
        REFUSAL_TOO_MANY_FUNCTIONS,
        REFUSAL_INVALID_NAME,
        REFUSAL_INVALID_SPEC,
        REFUSAL_PROFILE_NOT_FOUND,
        REFUSAL_INVALID_PROFILE,
        REFUSAL_SESSION_NOT_FOUND,
        REFUSAL_SESSION_EXISTS,
        REFUSAL_SESSION_STATE,
        REFUSAL_BUSY,
        REFUSAL_NOT_SUPPORTED,
        REFUSAL_NO_MEMORY, /* the buffers would not fit MemAvailable */
        REFUSAL_QUOTA_EXCEEDED,
        REFUSAL_SYSTEM_ERROR,
        REFUSAL_PERMISSION_DENIED,
        REFUSAL_INVALID_PARAMETER,
        REFUSAL_METHOD_NOT_FOUND,
        REFUSAL_METHOD_NOT_IMPLEMENTED,
        REFUSAL_INTERFACE_NOT_FOUND,
        REFUSAL_EXPECTED_MORE,
        _REFUSAL_N,
} RefusalKind;

typedef struct Refusal {
        RefusalKind kind;
        json_t *parameters; /* object; has "message" */
} Refusal;

const char *refusal_error_name(RefusalKind kind); /* "org.ftraced.Busy" */
int refusal_exit_status(RefusalKind kind);
/* The kind of an error name, or -EINVAL for one we do not know. */
int refusal_from_error_name(const char *name);

/*
 * refusal_set() - fill @r
 * @parameters: consumed, may be NULL (then an empty object); "message" is added
 *
 * Return: REFUSED, or -ENOMEM.  Replaces an earlier content.
 */
int refusal_set(Refusal *r, RefusalKind kind, json_t *parameters, const char *format, ...)
        _printf_(4, 5);
/* A REFUSAL_SYSTEM_ERROR of @error, an errno or its negative. */
#define refusal_set_errno(r, error, ...)                                                           \
        refusal_set((r), REFUSAL_SYSTEM_ERROR, json_pack("{s:i}", "errno", abs(error)), __VA_ARGS__)
/* With one parameter. */
#define refusal_set_of(r, kind, parameter, value, ...)                                             \
        refusal_set((r), (kind), json_pack("{ss}", (parameter), (value)), __VA_ARGS__)
/* A REFUSAL_QUOTA_EXCEEDED: of which limit, and how much it is. */
#define refusal_set_quota(r, name, limit, ...)                                                     \
        refusal_set((r), REFUSAL_QUOTA_EXCEEDED,                                                   \
                    json_pack("{ss sI}", "quota", (name), "limit", (json_int_t) (limit)),          \
                    __VA_ARGS__)
const char *refusal_message(const Refusal *r);
void refusal_done(Refusal *r);
#define _cleanup_refusal_ _cleanup_(refusal_done)
