/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "meta/brief.h"
#include "tests/unit/unit.h"

static void make(Brief *ret, size_t n_roots) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;

        ck_assert_int_eq(session_meta_new(&m), 0);
        m->name = strdup("boot");
        free(m->id);
        m->id = strdup("0123456789abcdef");
        m->state = SESSION_SEALED;
        m->limit = SESSION_LIMIT_CPU;
        m->owner_uid = 1000;
        m->pinned = true;
        m->start.realtime_ns = 17;
        m->stop.realtime_ns = 18;
        for (size_t i = 0; i < n_roots; i++)
                ck_assert_int_eq(strv_add(&m->roots, "udp_sendmsg"), 0);
        ck_assert_int_eq(brief_of_meta(ret, m, 4096), 0);
}

START_TEST(what_is_written_is_read)
        {
                _cleanup_brief_ Brief b = {}, again = {};
                const char *field = "";
                json_auto_t *o = NULL;

                make(&b, 2);
                o = brief_to_json(&b);
                ck_assert_int_eq(brief_from_json(&again, o, &field), 0);
                ck_assert_str_eq(again.name, "boot");
                ck_assert_str_eq(again.id, "0123456789abcdef");
                ck_assert_int_eq(again.state, SESSION_SEALED);
                ck_assert_int_eq(again.limit, SESSION_LIMIT_CPU);
                ck_assert_uint_eq(again.owner_uid, 1000);
                ck_assert(again.pinned && !again.degraded);
                ck_assert(strv_equal(&again.roots, &b.roots));
                ck_assert_uint_eq(again.n_roots, 2);
                ck_assert_uint_eq(again.start_ns, 17);
                ck_assert_uint_eq(again.stop_ns, 18);
                ck_assert_uint_eq(again.disk_bytes, 4096);
        }
END_TEST

START_TEST(thousands_of_roots_are_counted_and_a_few_named)
        {
                _cleanup_brief_ Brief b = {};
                json_auto_t *o = NULL;
                char *text;

                make(&b, 60000);
                ck_assert_uint_eq(b.n_roots, 60000);
                ck_assert_uint_ge(b.roots.n, 2);
                o = brief_to_json(&b);
                text = json_dumps(o, JSON_COMPACT);
                ck_assert_uint_lt(strlen(text), 600);
                free(text);
        }
END_TEST

START_TEST(what_is_not_known_on_disk_stays_so)
        {
                _cleanup_brief_ Brief b = {}, again = {};
                const char *field = "";
                json_auto_t *o = NULL;

                make(&b, 1);
                b.disk_bytes = UINT64_MAX;
                o = brief_to_json(&b);
                ck_assert_ptr_null(json_object_get(o, "disk_bytes"));
                ck_assert_int_eq(brief_from_json(&again, o, &field), 0);
                ck_assert_uint_eq(again.disk_bytes, UINT64_MAX);
        }
END_TEST

START_TEST(what_is_not_valid_is_named)
        {
                static const struct {
                        const char *key, *value;
                } wrong[] = {
                        { "name", "\"a/b\"" },     { "id", "\"xyz\"" },
                        { "state", "\"asleep\"" }, { "state", "null" },
                        { "limit", "\"sky\"" },    { "n_gaps", "-1" },
                        { "disk_bytes", "-1" },    { "disk_bytes", "\"1\"" },
                        { "roots", "[1]" },
                };

                for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
                        _cleanup_brief_ Brief b = {}, none = {};
                        const char *field = "";
                        json_auto_t *o = NULL;

                        make(&b, 1);
                        o = brief_to_json(&b);
                        (void) json_object_set_new(
                                o, wrong[i].key, json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
                        ck_assert_int_eq(brief_from_json(&none, o, &field), META_E_INVALID);
                        ck_assert_str_eq(field, wrong[i].key);
                        ck_assert_ptr_null(none.name);
                }
        }
END_TEST

UNIT_SUITE("brief", what_is_written_is_read, thousands_of_roots_are_counted_and_a_few_named,
           what_is_not_known_on_disk_stays_so, what_is_not_valid_is_named)
