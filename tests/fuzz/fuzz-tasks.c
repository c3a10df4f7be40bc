/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever is in saved_cmdlines: of a process id the last line counts, cut to what a kernel has, and
 * all others are unknown.
 *
 * Input: the file.
 */

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>

#include "decode/names.h"
#include "fuzz.h"

#define PIDS_MAX 64 /* that are compared with a slow reader */

/* The name in the last line of @pid; false: there is none. */
static bool find_slowly(const char *text, int32_t pid, char ret[static TASK_COMM_BYTES]) {
        bool found = false;

        while (*text) {
                size_t n = strcspn(text, "\n"), i = strspn(text, "0123456789");

                if (i > 0 && i < n && text[i] == ' ' &&
                    strtoull(text, NULL, 10) == (uint64_t) pid) {
                        (void) snprintf(ret, TASK_COMM_BYTES, "%.*s", (int) (n - i - 1),
                                        text + i + 1);
                        found = true;
                }
                text += n + (text[n] == '\n');
        }
        return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_free_ char *text = strndup((const char *) data, n_data);
        _cleanup_(tasks_freep) Tasks *t = NULL;
        const char *p = text;

        FUZZ_CHECK(text && tasks_new(&t, text) == 0);
        FUZZ_CHECK(streq(tasks_comm(t, 0), "<idle>") && streq(tasks_comm(t, -1), "<XXX>"));
        for (size_t i = 0; i < PIDS_MAX && *p; i++) {
                unsigned long long pid = strtoull(p, NULL, 10);
                char wanted[TASK_COMM_BYTES] = "<...>";

                if (isdigit((unsigned char) *p) && pid > 0 && pid <= INT32_MAX) {
                        (void) find_slowly(text, (int32_t) pid, wanted);
                        FUZZ_CHECK(streq(tasks_comm(t, (int32_t) pid), wanted));
                }
                p += strcspn(p, "\n");
                p += *p == '\n';
        }
        return 0;
}
