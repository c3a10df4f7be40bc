/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever text claims to be kallsyms or saved_cmdlines: the tables can be made, and an address that
 * is found has the symbol that a slow reader finds, also if the text is in parts (store/symbol-file.h).  A file that is
 * damaged, or has an index that lies, makes no reader stumble.  Of a process id the last line counts, cut to what a kernel
 * has, and all others are unknown.
 *
 * Input: u64 address, text.
 */

#include <ctype.h>

#include "base/buf.h"
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

#define HASH "0123456789abcdef0123456789abcdef"

/* In parts of a few bytes, of which @damage says what is changed: nothing, a byte, the index. */
static void look_up_parts(const char *text, uint64_t address, uint64_t damage) {
        _cleanup_(symbols_freep) Symbols *s = NULL;
        Buf b = BUF_INIT;
        SymbolParts p;
        Symbol y;

        FUZZ_CHECK(symbol_file_pack(&b, text, strlen(text), HASH, 1 + damage / 4 % 512) == 0);
        if (damage % 4 == 1)
                b.data[damage / 64 % b.n_data] ^= (char) (1 + damage / 8 % 255);
        if (symbol_parts_open(&p, b.data, b.n_data, HASH) < 0)
                return; /* or it is one frame, of another hash */
        if (damage % 4 == 2 && p.n > 0) {
                SymbolPart *part = &p.items[damage / 64 % p.n];

                part->low ^= damage & 0xf0;
                part->high ^= damage & 0xf00;
                part->has_irqentry ^= 1;
                part->n_symbols -= MIN(part->n_symbols, (uint32_t) (damage >> 12 & 1));
        }
        FUZZ_CHECK(symbols_take(&s, &p) == 0);
        for (uint64_t i = 0; i < 64; i++) {
                uint64_t at = address + (i * i << (i / 2));

                if (damage % 4 == 0)
                        look_up(s, text, at);
                else if (symbols_find(s, at, &y) || symbols_find_behind(s, at, &y))
                        FUZZ_CHECK(strnlen(y.name, y.n_name) == y.n_name);
        }
        (void) symbols_find_name(s, SYMBOL_IRQENTRY "start", &y);
        FUZZ_CHECK(damage % 4 != 0 || !symbols_are_damaged(s));
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
        for (uint64_t i = 0; i < 4; i++)
                look_up_parts(copy, address, address / 4 * 4 + i);
        return 0;
}
