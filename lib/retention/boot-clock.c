/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CLOCK_BOOTTIME goes on while the host sleeps, so that the difference of the two changes only if somebody sets one. */

#include <fcntl.h>
#include <inttypes.h>

#include "base/array.h"
#include "base/io.h"
#include "base/unit.h"
#include "retention/boot-clock.h"
#include "store/entry.h"

#define FILE_NAME "clock"
#define FILE_BYTES_MAX ((size_t) 4096)
#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
#define SET_NS (86400 * NSEC_PER_SEC)

void boot_id_read(char ret[static BOOT_ID_CHARS + 1]) {
        _cleanup_free_ char *text = NULL;

        ret[0] = 0;
        if (file_read(AT_FDCWD, BOOT_ID_PATH, &text, NULL, 128) < 0)
                return;
        text[strcspn(text, "\n")] = 0;
        if (strlen(text) == BOOT_ID_CHARS)
                (void) strcpy(ret, text);
}

static uint64_t now_since_ns(void) {
        return now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
}

/* True if @ret was noted in the boot @boot_id. */
static bool read_noted(int store_fd, const char *boot_id, uint64_t *ret) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv words = {};

        return entry_read(store_fd, FILE_NAME, &text, NULL, FILE_BYTES_MAX) >= 0 &&
               strv_split(&words, text, " \n") >= 0 && words.n == 2 &&
               streq(words.items[0], boot_id) && parse_u64(words.items[1], UINT64_MAX, ret) >= 0;
}

void boot_clock_note(int store_fd) {
        char boot_id[BOOT_ID_CHARS + 1], line[BOOT_ID_CHARS + 32];
        uint64_t noted_ns;
        int n;

        boot_id_read(boot_id);
        if (read_noted(store_fd, boot_id, &noted_ns))
                return;
        n = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", boot_id, now_since_ns());
        (void) entry_replace(store_fd, FILE_NAME, line, (size_t) n, false);
}

bool boot_clock_was_set(int store_fd) {
        char boot_id[BOOT_ID_CHARS + 1];
        uint64_t since_ns = now_since_ns(), noted_ns;

        boot_id_read(boot_id);
        return read_noted(store_fd, boot_id, &noted_ns) &&
               (since_ns > noted_ns ? since_ns - noted_ns : noted_ns - since_ns) > SET_NS;
}
