/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A boot that nobody knew of in the meantime counts from its own begin, not from the last one's end: how
 * long the host was off only the clock on the wall could tell.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "retention/uptime.h"
#include "store/entry.h"

#define FILE_NAME "uptime"
#define FILE_BYTES_MAX ((size_t) 4096)
#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
#define WORDS 4

void uptime_boot_id(char ret[static UPTIME_BOOT_ID_CHARS + 1]) {
        _cleanup_free_ char *text = NULL;

        ret[0] = 0;
        if (file_read(AT_FDCWD, BOOT_ID_PATH, &text, NULL, 128) < 0)
                return;
        text[strcspn(text, "\n")] = 0;
        if (strlen(text) == UPTIME_BOOT_ID_CHARS)
                (void) strcpy(ret, text);
}

/* 0 or -EBADMSG. */
static int parse(Uptime *ret, const char *text) {
        uint64_t ns, boottime_ns, now = now_ns(CLOCK_BOOTTIME);
        _cleanup_strv_ Strv words = {};
        Uptime u = {};
        int r = strv_split(&words, text, " \n");

        if (r < 0)
                return r;
        if (words.n != WORDS || strlen(words.items[0]) != UPTIME_ID_CHARS ||
            strspn(words.items[0], "0123456789abcdef") != UPTIME_ID_CHARS ||
            parse_u64(words.items[1], INT64_MAX / 2, &ns) < 0 ||
            parse_u64(words.items[3], INT64_MAX / 2, &boottime_ns) < 0)
                return ORIGIN(-EBADMSG);
        (void) strcpy(u.id, words.items[0]);
        uptime_boot_id(u.boot_id);
        if (streq(u.boot_id, words.items[2]) && boottime_ns <= now && boottime_ns <= ns)
                u.before_ns = ns - boottime_ns;
        else
                u.before_ns = ns;
        *ret = u;
        return 0;
}

int uptime_load(Uptime *ret, int store_fd) {
        _cleanup_free_ char *text = NULL;
        Uptime u = {};
        uint64_t id;
        int r = entry_read(store_fd, FILE_NAME, &text, NULL, FILE_BYTES_MAX);

        if (r >= 0)
                r = parse(&u, text);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                if (getrandom(&id, sizeof(id), 0) != sizeof(id))
                        return ORIGIN(-errno);
                u = (Uptime){ .before_ns = UPTIME_BEGIN_NS };
                uptime_boot_id(u.boot_id);
                (void) snprintf(u.id, sizeof(u.id), "%016" PRIx64, id);
        }
        *ret = u;
        return 0;
}

int uptime_save(const Uptime *u, int store_fd) {
        uint64_t now = now_ns(CLOCK_BOOTTIME);
        char line[256];
        int n = snprintf(line, sizeof(line), "%s %" PRIu64 " %s %" PRIu64 "\n", u->id,
                         u->before_ns + now, *u->boot_id ? u->boot_id : "-", now);

        return entry_replace(store_fd, FILE_NAME, line, (size_t) n, false);
}

uint64_t uptime_now(const Uptime *u) {
        return u->before_ns + now_ns(CLOCK_BOOTTIME);
}

uint64_t uptime_at(const Uptime *u, uint64_t boottime_ns) {
        return u->before_ns + MIN(boottime_ns, now_ns(CLOCK_BOOTTIME));
}

uint64_t uptime_to_realtime(const Uptime *u, uint64_t uptime_ns) {
        uint64_t now = uptime_now(u), realtime_ns = now_ns(CLOCK_REALTIME);

        return uptime_ns >= now ? realtime_ns + (uptime_ns - now)
                                : realtime_ns - MIN(now - uptime_ns, realtime_ns);
}
