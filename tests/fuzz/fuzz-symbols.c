/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever text claims to be kallsyms or saved_cmdlines: the tables can be made,
 * and an address that is found has a symbol at or before it.
 *
 * Input: u64 address, text.
 */

#include "base/cleanup.h"
#include "decode/names.h"
#include "fuzz.h"

static void look_up(const Symbols *s, uint64_t address) {
        _cleanup_free_ char *name = NULL;
        Symbol y, named;

        if (!symbols_find(s, address, &y))
                return;
        FUZZ_CHECK(y.address <= address && address - y.address <= SYMBOL_BYTES_MAX);
        name = strndup(y.name, y.n_name);
        FUZZ_CHECK(name && strlen(name) == y.n_name && !strpbrk(name, "\t\n \r"));
        FUZZ_CHECK(symbols_find_name(s, name, &named) && named.n_name == y.n_name);
        FUZZ_CHECK(!y.module || strnlen(y.module, y.n_module) == y.n_module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(symbols_freep) Symbols *symbols = NULL;
        _cleanup_(tasks_freep) Tasks *tasks = NULL;
        uint64_t address;
        char *text;

        if (size < sizeof(address))
                return 0;
        memcpy(&address, data, sizeof(address));
        text = strndup((const char *) data + sizeof(address), size - sizeof(address));
        FUZZ_CHECK(text);
        FUZZ_CHECK(tasks_new(&tasks, text) == 0);
        FUZZ_CHECK(tasks_comm(tasks, (int32_t) address) != NULL);
        FUZZ_CHECK(symbols_new(&symbols, text, strlen(text)) == 0);
        for (uint64_t i = 0; i < 64; i++)
                look_up(symbols, address + (i * i << (i / 2)));
        return 0;
}
