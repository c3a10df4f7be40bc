/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One table from the kind of a refusal to its name on the wire, which stands for the words of a peer that
 * sent none, and to the client's exit status.
 */

#include <stdarg.h>

#include "wire/refusal.h"

static const struct {
        const char *error_name;
        int exit_status;
        const char *words; /* of what a service says without a message */
} refusals[_REFUSAL_N] = {
        [REFUSAL_FUNCTION_NOT_FOUND] = { "org.ftraced.FunctionNotFound", 3 },
        [REFUSAL_NO_FUNCTION_MATCHES] = { "org.ftraced.NoFunctionMatches", 3 },
        [REFUSAL_EVENT_NOT_FOUND] = { "org.ftraced.EventNotFound", 3 },
        [REFUSAL_TOO_MANY_FUNCTIONS] = { "org.ftraced.TooManyFunctions", 7 },
        [REFUSAL_INVALID_NAME] = { "org.ftraced.InvalidName", 2 },
        [REFUSAL_INVALID_SPEC] = { "org.ftraced.InvalidSpec", 2 },
        [REFUSAL_PROFILE_NOT_FOUND] = { "org.ftraced.ProfileNotFound", 3 },
        [REFUSAL_INVALID_PROFILE] = { "org.ftraced.InvalidProfile", 2 },
        [REFUSAL_SESSION_NOT_FOUND] = { "org.ftraced.SessionNotFound", 3 },
        [REFUSAL_SESSION_EXISTS] = { "org.ftraced.SessionExists", 5 },
        [REFUSAL_SESSION_STATE] = { "org.ftraced.SessionState", 1 },
        [REFUSAL_BUSY] = { "org.ftraced.Busy", 5 },
        [REFUSAL_NOT_SUPPORTED] = { "org.ftraced.NotSupported", 77 },
        [REFUSAL_NO_MEMORY] = { "org.ftraced.NoMemory", 7 },
        [REFUSAL_QUOTA_EXCEEDED] = { "org.ftraced.QuotaExceeded", 7 },
        [REFUSAL_SYSTEM_ERROR] = { "org.ftraced.SystemError", 1 },
        [REFUSAL_PERMISSION_DENIED] = { "org.varlink.service.PermissionDenied", 4,
                                        "permission denied" },
        [REFUSAL_INVALID_PARAMETER] = { "org.varlink.service.InvalidParameter", 2,
                                        "a parameter of the call is not valid" },
        [REFUSAL_METHOD_NOT_FOUND] = { "org.varlink.service.MethodNotFound", 1,
                                       "the daemon does not know the method" },
        [REFUSAL_METHOD_NOT_IMPLEMENTED] = { "org.varlink.service.MethodNotImplemented", 1,
                                             "the daemon does not implement the method" },
        [REFUSAL_INTERFACE_NOT_FOUND] = { "org.varlink.service.InterfaceNotFound", 1,
                                          "the daemon does not know the interface" },
        [REFUSAL_EXPECTED_MORE] = { "org.varlink.service.ExpectedMore", 1,
                                    "the method must be called with \"more\"" },
};

const char *refusal_error_name(RefusalKind kind) {
        return refusals[kind].error_name;
}

int refusal_exit_status(RefusalKind kind) {
        return refusals[kind].exit_status;
}

int refusal_from_error_name(const char *name) {
        for (int i = 0; i < _REFUSAL_N; i++)
                if (streq(refusals[i].error_name, name))
                        return i;
        return ORIGIN(-EINVAL);
}

/* Text from the kernel or a file system need not be UTF-8, JSON must. */
static json_t *json_string_of_any(char *s) {
        json_t *j = json_string(s);

        if (j)
                return j;
        for (char *p = s; *p; p++)
                if ((unsigned char) *p >= 0x80)
                        *p = '?';
        return json_string(s);
}

int refusal_set(Refusal *r, RefusalKind kind, json_t *parameters, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int n;

        refusal_done(r);
        *r = (Refusal){ .kind = kind, .parameters = parameters ?: json_object() };

        va_start(ap, format);
        n = vasprintf(&text, format, ap);
        va_end(ap);
        if (n < 0) {
                text = NULL;
                return -ENOMEM;
        }
        if (json_object_set_new(r->parameters, "message", json_string_of_any(text)) < 0)
                return -ENOMEM;
        return REFUSED;
}

const char *refusal_message(const Refusal *r) {
        return json_string_value(json_object_get(r->parameters, "message"))
                       ?: refusals[r->kind].words ?: refusals[r->kind].error_name;
}

void refusal_done(Refusal *r) {
        json_decref(r->parameters);
        *r = (Refusal){};
}
