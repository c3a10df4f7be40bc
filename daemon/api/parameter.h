/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Parameter: what a call says and what its reply does, one member each
 */

#include "daemon/server/server.h"

/* REFUSED: what parameter @name should have been. */
int parameter_refuse(Refusal *refusal, const char *name, const char *wanted);
/* A string that may be absent or null: *@ret is NULL then.  0, REFUSED. */
int parameter_get_string(json_t *parameters, const char *name, const char **ret, Refusal *refusal);
/* The same for a number (0) and a boolean (false). */
int parameter_get_number(json_t *parameters, const char *name, uint64_t *ret, Refusal *refusal);
int parameter_get_boolean(json_t *parameters, const char *name, bool *ret, Refusal *refusal);
/* @value is consumed; NULL is what a failed json_*() gives. */
int parameter_reply(ServerCall *call, const char *name, json_t *value);
