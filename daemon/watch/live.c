/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Small and written seldom: at the start, when it is taken up, when a daemon leaves. */

#include <fcntl.h>
#include <limits.h>

#include "daemon/watch/watch.h"
#include "meta/json-field.h"
#include "store/entry.h"

#define LIVE_MAX_BYTES (8U << 20)

#define NUMBERS(name, member)                                                                      \
        JSON_FIELD_AS(name, LiveCpu, counters.member, NUMBERS, .max = INSTANCE_N_COUNTERS)
#define FLAG(member) JSON_FIELD(Live, member, BOOL, .flags = JSON_FIELD_REQUIRED)

static const JsonField cpu_fields[] = {
        JSON_FIELD(LiveCpu, cpu, U32, .max = STORE_MAX_CPUS - 1),
        NUMBERS("last", last),
        NUMBERS("sum", sum),
};

static const JsonTable cpu_table = JSON_TABLE(LiveCpu, cpu_fields, .n_max = STORE_MAX_CPUS);

static const JsonField live_fields[] = {
        JSON_FIELD(Live, version, U32, .flags = JSON_FIELD_REQUIRED, .min = 1, .max = INT32_MAX),
        FLAG(attached),
        FLAG(held),
        FLAG(left),
        JSON_FIELD(Live, cpus, LIST, .flags = JSON_FIELD_REQUIRED, .table = &cpu_table),
};

static const JsonTable live_table = JSON_TABLE(Live, live_fields);

void live_done(Live *l) {
        json_fields_done(&live_table, l);
}

int live_write(const SessionDir *dir, const Live *l) {
        Live live = *l;
        json_auto_t *root = NULL;
        _cleanup_free_ char *text = NULL;

        live.version = LIVE_VERSION;
        root = json_fields_new(&live_table, &live);
        text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
        if (!text)
                return -ENOMEM;
        return entry_replace(session_dir_fd(dir), LIVE_NAME, text, strlen(text), false);
}

int live_read(const SessionDir *dir, Live *ret) {
        _cleanup_live_ Live l = {};
        _cleanup_free_ char *text = NULL;
        json_auto_t *root = NULL;
        json_int_t version;
        int r = entry_read(session_dir_fd(dir), LIVE_NAME, &text, NULL, LIVE_MAX_BYTES);

        if (r < 0)
                return r;
        root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        version = json_integer_value(json_object_get(root, "version"));
        if (version > LIVE_VERSION && version <= INT32_MAX) {
                *ret = (Live){ .version = (uint32_t) version };
                return LIVE_E_NEWER;
        }
        r = json_fields_read(&l, &live_table, root, NULL);
        if (r == 0)
                *ret = TAKE(l, (Live){});
        return r;
}

void live_remove(const SessionDir *dir) {
        (void) unlinkat(session_dir_fd(dir), LIVE_NAME, 0);
}

bool live_may_be(const Store *store, const char *name) {
        static const char *const files[] = { LIVE_NAME, STORE_RESERVE_NAME };
        char path[NAME_MAX + 32];

        for (size_t i = 0; i < ELEMENTSOF(files); i++) {
                (void) snprintf(path, sizeof(path), "%s/%s", name, files[i]);
                if (faccessat(store_sessions_fd(store), path, F_OK, AT_SYMLINK_NOFOLLOW) >= 0)
                        return true;
        }
        return false;
}
