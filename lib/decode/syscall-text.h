/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Syscall text: a call of the system as kernels since 6.18 print it, which their print formats do not say
 *
 *      sys_close(fd: 3)                        less than 10: decimal
 *      sys_lseek(fd: 0xff, offset: 0, whence: 1)
 *      sys_access(filename: 0x7ffff7ff42a0 "/etc/ld.so.preload", mode: 4)
 *      sys_write(fd: 1, buf: 0x5555555592a0 (68:69:0a) "hi.", count: 3)
 *      sys_openat(dfd: 4294967196, filename: 140737354084529 "/etc/passwd", flags: O_RDONLY|O_CLOEXEC)
 *
 * What a pointer of the caller's points to is recorded since 6.19, in a field "__NAME_val" of offset and length.
 * openat()'s line is made by its print format (decode/print-format.h), which has a mode where the kernel's has none.
 *
 * Source: linux 6.18 and 7.2 kernel/trace/trace_syscalls.c, print_syscall_enter(), sys_enter_openat_print().
 */

#include "base/buf.h"

struct tep_event; /* libtraceevent's */

/* Whether an event with this format file records what pointers point to. */
bool syscall_text_has_data(const char *format);
/* Whether its flags have names. */
bool syscall_text_has_flags(const char *format);
/* A letter for each "__NAME_val", in their order: 's', a string, or 'a', bytes.  The caller frees; NULL: -ENOMEM. */
char *syscall_text_kinds(const struct tep_event *event, const char *format);
/* "fd: 3, buf: ...", of a record that was found to hold all fields and what they point to. */
void syscall_text_put(Buf *out, const struct tep_event *event, const char *kinds,
                      const uint8_t *data, bool swap);
/* Takes the mode out of openat()'s line if it opens what is there: as the kernel has it, O_DIRECTORY creates. */
void syscall_text_trim(Buf *line);
