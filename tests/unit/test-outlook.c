/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/unit.h"
#include "retention/outlook.h"
#include "tests/unit/unit.h"

#define AT_NS (1700000000 * NSEC_PER_SEC) /* 2023-11-14 22:13:20 UTC */

static void describes(Outlook *o, const char *wanted) {
        _cleanup_free_ char *text = NULL;

        ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
        tzset();
        ck_assert_int_eq(outlook_describe(&text, o), 0);
        ck_assert_str_eq(text, wanted);
        outlook_done(o);
}

static Outlook next_is(const char *name, RetainVerdict why) {
        return (Outlook){ .limits = { .max_use_bytes = 1000, .keep_free_bytes = 2048 },
                          .used_bytes = 900,
                          .free_bytes = 4096,
                          .why = why,
                          .next = strdup(name),
                          .next_bytes = 300 };
}

TEST(a_sentence_says_who_goes_when_and_why) {
        Outlook o = {};

        describes(&o, "no recording is removed by itself");
        o = next_is("r1", RETAIN_KEEP);
        describes(&o, "next to be removed: r1 (300B), if all recordings exceed 1000B (MaxUse=; now "
                      "900B), or if less than 2K is free (KeepFree=; now 4K)");
        o = next_is("r1", RETAIN_KEEP);
        o.limits = (RetainLimits){};
        describes(&o, "no recording is removed by itself");
        o = next_is("r1", RETAIN_KEEP);
        o.limits = (RetainLimits){ .max_age_ns = 60 * NSEC_PER_SEC };
        o.at_ns = AT_NS;
        describes(&o, "next to be removed: r1 (300B), at 2023-11-14 22:13:20, "
                      "1min after it was kept (MaxRetentionSec=)");
        o = next_is("r1", RETAIN_OVER_FREE);
        describes(&o, "r1 (300B) is removed next: 4K of the disk is free, and 2K should be "
                      "(KeepFree=)");
        o = next_is("r1", RETAIN_OVER_USE);
        o.not_before_ns = AT_NS;
        o.n_going = 4;
        ck_assert_int_eq(strv_split(&o.going, "r1 r2 r3 r4", " "), 0);
        describes(&o, "r1 (300B) is removed next, at 2023-11-14 22:13:20, then r2, r3 and r4: "
                      "all recordings take 900B, of 1000B (MaxUse=)");
        o = next_is("r1", RETAIN_OVER_USE);
        o.n_going = 9;
        ck_assert_int_eq(strv_split(&o.going, "r1 r2", " "), 0);
        describes(&o, "r1 (300B) is removed next, then r2 and 7 others: all recordings take "
                      "900B, of 1000B (MaxUse=)");
        o = next_is("r1", RETAIN_OVER_USE);
        o.is_full = true;
        o.not_before_ns = INT64_MAX;
        describes(&o, "the store is full, 4K is free: no recording begins; r1 (300B) would "
                      "be removed next, but stays for good (MinRetentionSec=infinity): all "
                      "recordings take 900B, of 1000B (MaxUse=)");
}

TEST(what_is_written_can_be_read) {
        _cleanup_outlook_ Outlook o = next_is("r1", RETAIN_OVER_FREE), again = {};
        json_auto_t *json = NULL;

        o.not_before_ns = UINT64_MAX;
        o.is_full = true;
        o.n_going = 1;
        ck_assert_int_eq(strv_add(&o.going, "r1"), 0);
        json = outlook_to_json(&o);
        ck_assert_int_eq(outlook_from_json(&again, json), 0);
        ck_assert_str_eq(again.next, "r1");
        ck_assert_uint_eq(again.not_before_ns, INT64_MAX);
        ck_assert_int_eq(again.why, RETAIN_OVER_FREE);
        ck_assert(again.is_full);
        ck_assert_uint_eq(again.going.n, 1);
        ck_assert_uint_eq(again.limits.max_use_bytes, 1000);
}

TEST(what_is_not_valid_is_refused) {
        static const char *const bad[] = {
                "[]",
                "{\"next\": \"../x\", \"rule\": \"none\"}",
                "{\"used_bytes\": -1}",
                "{\"rule\": \"else\"}",
                "{\"going\": [1]}",
        };
        Outlook o;

        ck_assert_int_eq(outlook_from_json(&o, NULL), OUTLOOK_E_INVALID);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                json_auto_t *json = json_loads(bad[i], 0, NULL);

                ck_assert_msg(outlook_from_json(&o, json) == OUTLOOK_E_INVALID, "%s", bad[i]);
        }
}

TEST(there_is_a_way_out_if_one_is_needed) {
        _cleanup_outlook_ Outlook o = next_is("r1", RETAIN_KEEP);
        _cleanup_free_ char *text = NULL, *full = NULL;

        ck_assert(!outlook_is_tight(&o));
        ck_assert_int_eq(outlook_advise(&text, &o), 0);
        ck_assert_ptr_null(text);
        o.why = RETAIN_OVER_USE;
        ck_assert(outlook_is_tight(&o));
        ck_assert_int_eq(outlook_advise(&text, &o), 0);
        ck_assert_ptr_nonnull(strstr(text, "ftracectl pin r1"));
        free(TAKE_PTR(o.next));
        o.is_full = true;
        ck_assert_int_eq(outlook_advise(&full, &o), 0);
        ck_assert_str_eq(full, "make room on the store's disk");
}
