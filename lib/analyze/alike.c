/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The kernel's own functions for system calls, from linux 3.10 (SyS_) over 4.17
 * (arch/x86/include/asm/syscall_wrapper.h and its like: __x64_sys_) and fs/'s ksys_.
 */

#include "analyze/alike.h"
#include "analyze/role.h"
#include "base/hash.h"

static const char *const syscall_prefixes[] = {
        "SyS_",        "sys_",         "ksys_",          "__se_sys_",  "__do_sys_",
        "__x64_sys_",  "__ia32_sys_",  "__arm64_sys_",   "__arm_sys_", "__riscv_sys_",
        "__s390_sys_", "__s390x_sys_", "__powerpc_sys_",
};

Alike alike_of(const Function *function) {
        size_t n = role_plain_name(function);

        for (size_t i = 0; i < ELEMENTSOF(syscall_prefixes); i++) {
                size_t n_prefix = strlen(syscall_prefixes[i]);

                if (n > n_prefix && memcmp(function->label, syscall_prefixes[i], n_prefix) == 0)
                        return (Alike){ "sys_", function->label + n_prefix, n - n_prefix };
        }
        return (Alike){ "", function->label, n };
}

bool alike_equal(const Alike *a, const Alike *b) {
        return a->n_name == b->n_name && streq(a->prefix, b->prefix) &&
               memcmp(a->name, b->name, a->n_name) == 0;
}

uint64_t alike_hash(const Alike *a) {
        return hash_bytes(*a->prefix ? 1 : 0, a->name, a->n_name);
}
