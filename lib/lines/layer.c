/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Directories of the kernel, and files of some, by what somebody who looks for time calls them.  The longest that a
 * path begins with counts.
 *
 * Source: linux 7.2, the directories, and MAINTAINERS.
 */

#include "lines/lines.h"

/* In byte order, so that the longest of those that fit comes last. */
static const struct {
        const char *prefix, *layer;
} layers[] = {
        { "arch/", "architecture" },
        { "arch/arm64/kernel/entry", "entry" },
        { "arch/arm64/kernel/syscall", "entry" },
        { "arch/arm64/mm/", "memory" },
        { "arch/x86/entry/", "entry" },
        { "arch/x86/kernel/irq", "interrupts" },
        { "arch/x86/mm/", "memory" },
        { "block/", "block" },
        { "crypto/", "crypto" },
        { "drivers/", "drivers" },
        { "drivers/ata/", "disk driver" },
        { "drivers/block/", "disk driver" },
        { "drivers/gpu/", "graphics driver" },
        { "drivers/irqchip/", "interrupts" },
        { "drivers/md/", "device mapper" },
        { "drivers/net/", "network driver" },
        { "drivers/nvme/", "disk driver" },
        { "drivers/scsi/", "disk driver" },
        { "drivers/tty/", "terminal" },
        { "drivers/usb/", "USB" },
        { "drivers/virtio/", "virtio" },
        { "fs/", "VFS" },
        { "io_uring/", "io_uring" },
        { "ipc/", "IPC" },
        { "kernel/", "kernel" },
        { "kernel/bpf/", "BPF" },
        { "kernel/cgroup/", "control groups" },
        { "kernel/entry/", "entry" },
        { "kernel/futex/", "futex" },
        { "kernel/irq/", "interrupts" },
        { "kernel/locking/", "locks" },
        { "kernel/rcu/", "RCU" },
        { "kernel/sched/", "scheduler" },
        { "kernel/signal", "signals" },
        { "kernel/softirq", "softirq" },
        { "kernel/time/", "timers" },
        { "kernel/trace/", "tracing" },
        { "kernel/workqueue", "work queues" },
        { "lib/", "library" },
        { "mm/", "memory" },
        { "mm/filemap", "page cache" },
        { "mm/page-writeback", "page cache" },
        { "mm/readahead", "page cache" },
        { "mm/slab", "allocator" },
        { "mm/slub", "allocator" },
        { "net/", "network" },
        { "net/bridge/", "bridge" },
        { "net/core/", "network core" },
        { "net/core/sock", "socket" },
        { "net/ipv4/", "IP" },
        { "net/ipv4/netfilter/", "netfilter" },
        { "net/ipv4/tcp", "TCP" },
        { "net/ipv4/udp", "UDP" },
        { "net/ipv6/", "IP" },
        { "net/ipv6/netfilter/", "netfilter" },
        { "net/ipv6/tcp", "TCP" },
        { "net/ipv6/udp", "UDP" },
        { "net/netfilter/", "netfilter" },
        { "net/netlink/", "netlink" },
        { "net/sched/", "qdisc" },
        { "net/socket", "socket" },
        { "net/unix/", "Unix sockets" },
        { "security/", "security" },
        { "sound/", "sound" },
        { "virt/", "virtualization" },
};

/* Below these each directory is a layer of its own: "fs/ext4/inode.c" is of ext4. */
static const char *const families[] = { "fs/" };

static bool is_file(const char *file) {
        return file && *file && *file != '/';
}

const char *lines_layer(const char *file, size_t *ret_n) {
        const char *found = NULL, *rest, *slash;

        for (size_t i = 0; i < ELEMENTSOF(families) && is_file(file); i++) {
                rest = startswith(file, families[i]);
                slash = rest ? strchr(rest, '/') : NULL;
                if (slash) {
                        *ret_n = (size_t) (slash - rest);
                        return rest;
                }
        }
        for (size_t i = 0; i < ELEMENTSOF(layers) && is_file(file); i++)
                if (startswith(file, layers[i].prefix))
                        found = layers[i].layer;
        if (!found)
                return lines_directory(file, ret_n);
        *ret_n = strlen(found);
        return found;
}

const char *lines_directory(const char *file, size_t *ret_n) {
        static const char unknown[] = "(unknown)";
        const char *slash = file ? strrchr(file, '/') : NULL;

        if (!slash) {
                *ret_n = sizeof(unknown) - 1;
                return unknown;
        }
        *ret_n = (size_t) (slash - file);
        return file;
}
