/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Each answer ends the questions: an old kernel's command line is of no matter. */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/verbs/host/black-box-check.h"
#include "meta/event-choice.h"

#define NAME "black_box"
#define CPU_MIB 8 /* some seconds of calls below a busy function */
#define LEAST_MIB 16
#define WORDS "reserve_mem=%" PRIu64 "M:4096:trace trace_instance=boot_mapped^traceoff@trace"
#define NEAREST                                                                                    \
        "boot Linux 6.12 or newer. What comes nearest here: ftracectl arm --in-kernel --on=... "   \
        "keeps what led up to a fault that the machine survives"

static json_t *say(const char *state, const char *text, const char *fix) {
        return json_pack("{s:s, s:s, s:s, s:s*}", "name", NAME, "state", state, "text", text, "fix",
                         fix);
}

/* The kernel divides that memory by all CPUs that it could ever have, of which a guest may have few. */
static uint64_t possible_cpus(void) {
        _cleanup_free_ char *text = NULL;
        unsigned first, last;
        const char *list;
        uint64_t n = 0;

        if (file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", &text, NULL, 65536) >= 0)
                for (list = text; cpu_list_next(&list, &first, &last) > 0;)
                        n = last + 1;
        return n > 0 ? n : (uint64_t) MAX(sysconf(_SC_NPROCESSORS_CONF), 1L);
}

/* No more than a thirtieth of what there is. */
static uint64_t proposed_mib(uint64_t n_cpus) {
        long n_pages = sysconf(_SC_PHYS_PAGES);
        uint64_t mib = n_cpus * CPU_MIB, most = UINT64_MAX;

        if (n_pages > 0)
                most = (uint64_t) n_pages * (uint64_t) sysconf(_SC_PAGESIZE) / 30 >> 20;
        mib = MIN(mib, most);
        return MAX(mib, (uint64_t) LEAST_MIB);
}

static json_t *say_how(void) {
        char fix[1024], text[256];
        uint64_t n_cpus = possible_cpus(), mib = proposed_mib(n_cpus);

        (void) snprintf(text, sizeof(text),
                        "black box: this kernel can keep a trace over a crash, and was not booted "
                        "with memory for it");
        (void) snprintf(fix, sizeof(fix),
                        "add these words to the kernel's command line and reboot, which takes "
                        "%" PRIu64 " MiB of memory for good (%s for each of %" PRIu64
                        " possible CPUs):\n\n"
                        "      " WORDS "\n\n"
                        "    grub: in GRUB_CMDLINE_LINUX of /etc/default/grub, then update-grub "
                        "(elsewhere grub2-mkconfig -o /boot/grub2/grub.cfg)\n"
                        "    systemd-boot: in /etc/kernel/cmdline, then kernel-install add-all; or "
                        "the options line of the entry in /boot/loader/entries\n"
                        "    Another size at the next boot, or firmware that clears memory, leaves "
                        "nothing to rescue; so does KASLR where it loads the kernel over that "
                        "memory, the likelier the less memory there is: nokaslr rules that out",
                        mib, FORMAT_BYTES((mib << 20) / n_cpus), n_cpus, mib);
        return say("bad", text, fix);
}

/* 1: it is there; 0: it is not; -EACCES: only root can tell. */
static int look_for(const char *name) {
        char path[BOOT_INSTANCE_NAME_MAX + 64];

        if (access("/sys/kernel/tracing/instances", X_OK) < 0 && errno == EACCES)
                return -EACCES;
        (void) snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/%s/last_boot_info",
                        name);
        return access(path, F_OK) >= 0;
}

/* With less memory than this a kernel is loaded over what survives once in some hundred boots, or more often. */
#define LITTLE_MEMORY_BYTES (UINT64_C(32) << 30)

static bool kaslr_matters(const char *command_line) {
        long n_pages = sysconf(_SC_PHYS_PAGES);

        for (const char *s = command_line; *s; s = boot_instance_next_word(s))
                if (startswith(s, "nokaslr") && strchr(" \t\n", s[strlen("nokaslr")]))
                        return false;
        return n_pages > 0 &&
               (uint64_t) n_pages * (uint64_t) sysconf(_SC_PAGESIZE) < LITTLE_MEMORY_BYTES;
}

static json_t *say_named(const char *name, const char *command_line) {
        char text[256];
        int r = look_for(name);

        if (r == 0)
                (void) snprintf(text, sizeof(text),
                                "black box: the command line names the instance %s, and the kernel "
                                "has not made it",
                                name);
        else
                (void) snprintf(text, sizeof(text),
                                "black box: the instance %s survives a crash%s; record into it "
                                "with --black-box",
                                name, r < 0 ? ", as the command line says" : "");
        return r == 0 ? say("bad", text,
                            "dmesg | grep -i -e reserve_mem -e 'boot instance' says why: there is "
                            "not so much memory in one piece, or its name is another")
                      : say("good", text,
                            kaslr_matters(command_line)
                                    ? "nokaslr as well, or now and then a kernel is loaded over it"
                                    : NULL);
}

json_t *black_box_check(void) {
        char name[BOOT_INSTANCE_NAME_MAX + 1], text[256];
        _cleanup_free_ char *line = NULL;
        struct utsname u = {};

        (void) uname(&u);
        if (release_compare(u.release, 6, 12) != RELEASE_SINCE) {
                (void) snprintf(text, sizeof(text),
                                "black box: Linux %.64s cannot keep a trace over a crash",
                                u.release);
                return say("bad", text, NEAREST);
        }
        if (file_read(AT_FDCWD, "/proc/cmdline", &line, NULL, BOOT_INSTANCE_COMMAND_LINE_MAX) < 0)
                return say("bad", "black box: /proc/cmdline cannot be read", "mount /proc");
        for (const char *s = line; *s; s = boot_instance_next_word(s)) {
                size_t n = boot_instance_parse(s);

                if (n == 0)
                        continue;
                (void) snprintf(name, sizeof(name), "%.*s", (int) n,
                                s + strlen(BOOT_INSTANCE_WORD));
                return say_named(name, line);
        }
        return say_how();
}
