/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is null is absent, for some languages' Varlink sends it so.
 */

#include "daemon/api/parameter.h"

int parameter_refuse(Refusal *refusal, const char *name, const char *wanted) {
        return refusal_set(refusal, REFUSAL_INVALID_PARAMETER,
                           json_pack("{s:s}", "parameter", name),
                           "parameter '%s' is missing or not %s", name, wanted);
}

int parameter_get_string(json_t *parameters, const char *name, const char **ret, Refusal *refusal) {
        json_t *value = json_object_get(parameters, name);

        if (value && !json_is_null(value) && !json_is_string(value))
                return parameter_refuse(refusal, name, "a string");
        *ret = json_string_value(value);
        return 0;
}

int parameter_get_number(json_t *parameters, const char *name, uint64_t *ret, Refusal *refusal) {
        json_t *value = json_object_get(parameters, name);

        if (value && !json_is_null(value) &&
            (!json_is_integer(value) || json_integer_value(value) < 0))
                return parameter_refuse(refusal, name, "a number from 0 on");
        *ret = (uint64_t) json_integer_value(value);
        return 0;
}

int parameter_get_boolean(json_t *parameters, const char *name, bool *ret, Refusal *refusal) {
        json_t *value = json_object_get(parameters, name);

        if (value && !json_is_null(value) && !json_is_boolean(value))
                return parameter_refuse(refusal, name, "a boolean");
        *ret = json_is_true(value);
        return 0;
}

int parameter_reply(ServerCall *call, const char *name, json_t *value) {
        json_t *reply = value ? json_pack("{s:o}", name, value) : NULL;

        return reply ? server_call_reply(call, reply, NULL, 0) : -ENOMEM;
}
