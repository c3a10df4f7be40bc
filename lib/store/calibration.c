/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One that makes no sense, as where the lowest is above the median, is refused like a wrong type. */

#include "base/cleanup.h"
#include "store/calibration.h"
#include "store/json-field.h"

#define NUMBER(name, member, most)                                                                 \
        {                                                                                          \
                .key = (name), .type = JSON_FIELD_U64, .flags = JSON_FIELD_REQUIRED,               \
                .offset = offsetof(Calibration, member), .max = (most)                             \
        }

static const JsonField fields[] = {
        NUMBER("calls", n, INT64_MAX),
        NUMBER("outer_ns", outer_ns, CALIBRATION_MAX_NS),
        NUMBER("inner_low_ns", inner_low_ns, CALIBRATION_MAX_NS),
        NUMBER("inner_ns", inner_ns, CALIBRATION_MAX_NS),
        NUMBER("inner_high_ns", inner_high_ns, CALIBRATION_MAX_NS),
        NUMBER("realtime_ns", realtime_ns, INT64_MAX),
};

json_t *calibration_to_json(const Calibration *c) {
        json_t *o = json_object();

        if (o && json_fields_write(o, fields, ELEMENTSOF(fields), c) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

int calibration_from_json(Calibration *ret, const json_t *o) {
        Calibration c = {};
        const char *member;

        if (!o || json_is_null(o))
                return 0;
        if (!json_is_object(o) ||
            json_fields_read(&c, fields, ELEMENTSOF(fields), o, &member) != 0 || c.n == 0 ||
            c.inner_low_ns > c.inner_ns || c.inner_ns > c.inner_high_ns)
                return CALIBRATION_E_INVALID;
        *ret = c;
        return 0;
}
