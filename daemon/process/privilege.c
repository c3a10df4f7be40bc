/* SPDX-License-Identifier: GPL-2.0-or-later */

/* capset(2) by hand: the one call does not justify a library. */

#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "daemon/process/privilege.h"

int privilege_drop(bool keeps_syslog) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
        uint32_t kept[ELEMENTSOF(data)] = {};

        if (keeps_syslog)
                kept[CAP_TO_INDEX(CAP_SYSLOG)] = CAP_TO_MASK(CAP_SYSLOG);
        if (syscall(SYS_capget, &header, data) < 0)
                return ORIGIN(-errno);

        /* What root's exec would give back is dropped too, while we still may: it needs CAP_SETPCAP.  Who
         * has given that up has nothing left that no_new_privs does not keep from coming back. */
        for (unsigned c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
                if (!keeps_syslog || c != CAP_SYSLOG)
                        (void) prctl(PR_CAPBSET_DROP, c, 0, 0, 0);

        for (size_t i = 0; i < ELEMENTSOF(data); i++) {
                data[i].permitted &= kept[i];
                data[i].effective = data[i].permitted;
                data[i].inheritable = 0; /* nor is anything ambient then */
        }
        if (syscall(SYS_capset, &header, data) < 0)
                return ORIGIN(-errno);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return ORIGIN(-errno);
        return 0;
}

int privilege_raise_descriptors(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return ORIGIN(-errno);
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
                return ORIGIN(-errno);
        return 0;
}
