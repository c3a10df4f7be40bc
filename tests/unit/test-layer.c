/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "lines/lines.h"
#include "unit.h"

static void expect(const char *file, const char *layer, const char *directory) {
        size_t n;
        const char *s = lines_layer(file, &n);

        ck_assert_uint_eq(n, strlen(layer));
        ck_assert(memcmp(s, layer, n) == 0);
        s = lines_directory(file, &n);
        ck_assert_uint_eq(n, strlen(directory));
        ck_assert(memcmp(s, directory, n) == 0);
}

TEST(the_longest_prefix_tells_the_layer) {
        expect("net/ipv4/udp.c", "UDP", "net/ipv4");
        expect("net/ipv4/tcp_input.c", "TCP", "net/ipv4");
        expect("net/ipv4/route.c", "IP", "net/ipv4");
        expect("net/ipv6/route.c", "IP", "net/ipv6");
        expect("net/sched/sch_fq.c", "qdisc", "net/sched");
        expect("net/core/dev.c", "network core", "net/core");
        expect("net/socket.c", "socket", "net");
        expect("drivers/net/virtio_net.c", "network driver", "drivers/net");
        expect("kernel/softirq.c", "softirq", "kernel");
        expect("kernel/sched/core.c", "scheduler", "kernel/sched");
        expect("mm/slub.c", "allocator", "mm");
        expect("mm/memory.c", "memory", "mm");
}

TEST(each_file_system_is_a_layer) {
        expect("fs/ext4/inode.c", "ext4", "fs/ext4");
        expect("fs/proc/base.c", "proc", "fs/proc");
        expect("fs/namei.c", "VFS", "fs");
}

TEST(an_unknown_layer_is_its_directory) {
        expect("staging/odd/thing.c", "staging/odd", "staging/odd");
        expect("/home/me/module/thing.c", "/home/me/module", "/home/me/module");
        expect("thing.c", "(unknown)", "(unknown)");
        expect("", "(unknown)", "(unknown)");
        expect(NULL, "(unknown)", "(unknown)");
}
