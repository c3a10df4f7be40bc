/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What would be sent is kept; standard error is said to be the journal's.
 */

#include <sys/stat.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/process/journal.h"
#include "tests/unit/unit.h"

static char *sent; /* a line for each field */

int __wrap_sd_journal_sendv(const struct iovec *items, int n);

int __wrap_sd_journal_sendv(const struct iovec *items, int n) {
        Buf b = BUF_INIT;

        for (int i = 0; i < n; i++) {
                buf_add(&b, items[i].iov_base, items[i].iov_len);
                buf_adds(&b, "\n");
        }
        free(sent);
        ck_assert_int_eq(buf_take_string(&b, &sent), 0);
        return 0;
}

static void setup(void) {
        struct stat st;
        char stream[64];

        ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
        (void) snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t) st.st_dev,
                        (uintmax_t) st.st_ino);
        ck_assert_int_eq(setenv("JOURNAL_STREAM", stream, 1), 0);
        log_setup("test");
        origin_forget();
}

static bool has(const char *field) {
        const char *at = strstr(sent, field);

        return at && (at == sent || at[-1] == '\n');
}

static int line_of_failure;

static int fail_here(void) {
        line_of_failure = __LINE__ + 1;
        return ORIGIN(-EXDEV);
}

TEST(an_error_of_the_system_says_where_it_began) {
        char line[64];

        setup();
        (void) fail_here();
        journal_tell(&(JournalEntry){ JOURNAL_REFUSED, .uid = 1000, .pid = 7,
                                      .error = "org.ftraced.SystemError", .number = EXDEV },
                     "Refused uid %u", 1000U);
        (void) snprintf(line, sizeof(line), "CODE_LINE=%i\n", line_of_failure);
        ck_assert(has("MESSAGE=Refused uid 1000\n"));
        ck_assert(has("FTRACED_USER=1000\n"));
        ck_assert(has("FTRACED_ERROR=org.ftraced.SystemError\n"));
        ck_assert(has("ERRNO=18\n"));
        ck_assert(has("CODE_FILE=tests/unit/test-journal.c\n"));
        ck_assert(has("CODE_FUNC=fail_here\n"));
        ck_assert(has(line));
}

TEST(without_an_error_or_one_that_nobody_noted_no_place_is_told) {
        setup();
        (void) fail_here();
        journal_tell(&(JournalEntry){ JOURNAL_REFUSED, .number = ENOSPC }, "no");
        ck_assert(has("ERRNO=28\n"));
        ck_assert(!has("CODE_FILE="));
        journal_tell(&(JournalEntry){ JOURNAL_RELOADED }, "The configuration was read.");
        ck_assert(has("MESSAGE=The configuration was read.\n"));
        ck_assert(!has("ERRNO="));
        ck_assert(!has("CODE_FILE="));
}
