/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Each member is one of five names with a type of its own; whatever remains is
 * an error.
 */

#include "base/cleanup.h"
#include "daemon/server/request.h"

int request_parse(Request *ret, json_t *message) {
        Request q = {};
        const char *key;
        json_t *value;

        json_object_foreach (message, key, value) {
                bool *flag = streq(key, "more")      ? &q.more
                             : streq(key, "oneway")  ? &q.oneway
                             : streq(key, "upgrade") ? &q.upgrade
                                                     : NULL;

                if (flag && json_is_boolean(value))
                        *flag = json_is_true(value);
                else if (streq(key, "method") && json_is_string(value))
                        q.method = json_string_value(value);
                else if (streq(key, "parameters") && json_is_object(value))
                        q.parameters = value;
                else
                        return ORIGIN(-EBADMSG);
        }
        if (!q.method || q.more + q.oneway + q.upgrade > 1)
                return ORIGIN(-EBADMSG);

        *ret = q;
        return 0;
}
