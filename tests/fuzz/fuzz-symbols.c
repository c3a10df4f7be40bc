/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever text claims to be kallsyms or saved_cmdlines: the tables can be made, and an address that
 * is found has the symbol that a slow reader finds.  Of a process id the last line counts, cut to what a kernel
 * has, and all others are unknown.
 *
 * Input: u64 address, text.
 */

#include <ctype.h>

#include "decode/names.h"
#include "fuzz.h"

/* Of the last symbol not behind @address, of several the first, where its name begins; 0: there is none. */
static size_t find_line(const char *text, uint64_t address, uint64_t *ret) {
        size_t at = 0;

        *ret = 0;
        for (const char *line = text; *line;) {
                size_t n = strspn(line, "0123456789abcdefABCDEF");
                const char *p = line + n;

                if (n > 0 && n <= 16 && p[0] == ' ' && p[1] > ' ' && p[2] == ' ' &&
                    (unsigned char) p[3] > ' ') {
                        uint64_t begin = strtoull(line, NULL, 16);

                        if (begin <= address && (at == 0 || begin > *ret)) {
                                *ret = begin;
                                at = (size_t) (p + 3 - text);
                        }
                }
                line += strcspn(line, "\n");
                line += *line == '\n';
        }
        return at;
}

static void look_up(const Symbols *s, const char *text, uint64_t address) {
        _cleanup_free_ char *name = NULL;
        uint64_t begin;
        size_t at = find_line(text, address, &begin);
        Symbol y, named;

        if (!symbols_find(s, address, &y)) {
                FUZZ_CHECK(at == 0 || !symbols_have_names(s) || address - begin > SYMBOL_BYTES_MAX);
                return;
        }
        FUZZ_CHECK(at > 0 && y.address == begin && strncmp(text + at, y.name, y.n_name) == 0);
        FUZZ_CHECK(y.address <= address && address - y.address <= SYMBOL_BYTES_MAX);
        name = strndup(y.name, y.n_name);
        FUZZ_CHECK(name && strlen(name) == y.n_name && !strpbrk(name, "\t\n \r"));
        FUZZ_CHECK(symbols_find_name(s, name, &named) && named.n_name == y.n_name &&
                   named.address <= y.address && strncmp(named.name, name, named.n_name) == 0);
        FUZZ_CHECK(!y.module || strnlen(y.module, y.n_module) == y.n_module);
}

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

static void look_up_tasks(const char *text) {
        _cleanup_(tasks_freep) Tasks *t = NULL;
        const char *p = text;

        FUZZ_CHECK(tasks_new(&t, text) == 0);
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(symbols_freep) Symbols *symbols = NULL;
        uint64_t address;
        _cleanup_free_ char *copy = NULL;
        char *text;

        if (size < sizeof(address))
                return 0;
        memcpy(&address, data, sizeof(address));
        text = fuzz_text(data + sizeof(address), size - sizeof(address));
        look_up_tasks(text);
        copy = strdup(text);
        FUZZ_CHECK(copy && symbols_new(&symbols, text, strlen(text)) == 0);
        for (uint64_t i = 0; i < 64; i++)
                look_up(symbols, copy, address + (i * i << (i / 2)));
        return 0;
}
