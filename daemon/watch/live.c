/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Small and written seldom: at the start, when it is taken up, when a daemon leaves. */

#include <jansson.h>

#include "daemon/watch/live.h"
#include "store/entry.h"

#define LIVE_MAX_BYTES (8U << 20)

void live_done(Live *l) {
        free(l->cpus);
        *l = (Live){};
}

static json_t *numbers_to_json(const uint64_t numbers[static INSTANCE_N_COUNTERS]) {
        json_t *a = json_array();

        for (size_t i = 0; i < INSTANCE_N_COUNTERS; i++)
                (void) json_array_append_new(
                        a, json_integer((json_int_t) MIN(numbers[i], (uint64_t) INT64_MAX)));
        return a;
}

static bool numbers_from_json(uint64_t ret[static INSTANCE_N_COUNTERS], const json_t *a) {
        const json_t *v;
        size_t i;

        json_array_foreach (a, i, v) {
                if (i >= INSTANCE_N_COUNTERS || json_integer_value(v) < 0)
                        return false;
                ret[i] = (uint64_t) json_integer_value(v);
        }
        return i == INSTANCE_N_COUNTERS;
}

int live_write(const SessionDir *dir, const Live *l) {
        json_auto_t *root = NULL;
        _cleanup_free_ char *text = NULL;
        json_t *cpus = json_array();

        for (size_t i = 0; i < l->n_cpus; i++) {
                const LiveCpu *c = &l->cpus[i];

                if (json_array_append_new(cpus, json_pack("{si so so}", "cpu", (int) c->cpu, "last",
                                                          numbers_to_json(c->counters.last), "sum",
                                                          numbers_to_json(c->counters.sum))) < 0) {
                        json_decref(cpus);
                        return -ENOMEM;
                }
        }
        root = json_pack("{si sb sb sb so}", "version", LIVE_VERSION, "attached", l->attached,
                         "held", l->held, "left", l->left, "cpus", cpus);
        text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
        if (!text)
                return -ENOMEM;
        return entry_replace(session_dir_fd(dir), LIVE_NAME, text, strlen(text));
}

static int cpus_from_json(Live *l, const json_t *cpus) {
        const json_t *o;
        size_t i;

        if (!json_is_array(cpus) || json_array_size(cpus) > STORE_MAX_CPUS)
                return LIVE_E_INVALID;
        l->cpus = calloc(json_array_size(cpus) + 1, sizeof(*l->cpus));
        if (!l->cpus)
                return -ENOMEM;
        json_array_foreach (cpus, i, o) {
                LiveCpu *c = &l->cpus[l->n_cpus++];
                json_int_t cpu = json_integer_value(json_object_get(o, "cpu"));

                if (cpu < 0 || cpu >= STORE_MAX_CPUS ||
                    !numbers_from_json(c->counters.last, json_object_get(o, "last")) ||
                    !numbers_from_json(c->counters.sum, json_object_get(o, "sum")))
                        return LIVE_E_INVALID;
                c->cpu = (uint32_t) cpu;
        }
        return 0;
}

int live_read(const SessionDir *dir, Live *ret) {
        _cleanup_live_ Live l = {};
        _cleanup_free_ char *text = NULL;
        json_auto_t *root = NULL;
        int attached, held, left, r;

        r = entry_read(session_dir_fd(dir), LIVE_NAME, &text, NULL, LIVE_MAX_BYTES);
        if (r < 0)
                return r;
        root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (json_unpack(root, "{si}", "version", &l.version) < 0 || l.version < 1)
                return LIVE_E_INVALID;
        if (l.version > LIVE_VERSION) {
                *ret = TAKE(l, (Live){});
                return LIVE_E_NEWER;
        }
        if (json_unpack(root, "{sb sb sb}", "attached", &attached, "held", &held, "left", &left) <
            0)
                return LIVE_E_INVALID;
        l.attached = attached;
        l.held = held;
        l.left = left;
        r = cpus_from_json(&l, json_object_get(root, "cpus"));
        if (r != 0)
                return r;
        *ret = TAKE(l, (Live){});
        return 0;
}

void live_remove(const SessionDir *dir) {
        (void) unlinkat(session_dir_fd(dir), LIVE_NAME, 0);
}
