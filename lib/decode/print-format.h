/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Print format: an event's format file, changed so that libtraceevent prints by it what the kernel prints
 *
 *      constants       "(1 << 3)", "((gfp_t)(0x400u | 0x800u))" become numbers: libtraceevent 1.7.1 forgets
 *                      the parentheses of "FLAGS & (4 | 8)", and FormatText lets only numbers into lists; so
 *                      do names of enums that are known, and the "{ 0, ((void *)0) }" behind a list goes
 *      %p              %016lx: what the kernel prints without hashing
 *      %pS %ps         %ps: libtraceevent prints no size and no module, so what it prints is made
 *                      elsewhere, of which kind is in PrintFormat.names
 *      %#x             0x%x: the kernel's zero is 0x0
 *      (%lx)           of REC->__probe_ip, and "(%lx <- %lx)": names, as probes print them, and in
 *                      their order
 *      0x%08lx         %lx, of system calls; %lu of openat() since 6.19, which also has O_TMPFILE
 *
 * Source: linux 6.12 kernel/trace/trace_probe.c, set_print_fmt(), and trace_kprobe.c, print_kprobe_event();
 * trace_syscalls.c, __set_enter_print_fmt() and print_syscall_enter(); lib/vsprintf.c, number().
 */

#include "base/cleanup.h"

typedef enum PrintFormatName {
        PRINT_FORMAT_NAME = 'n',   /* "udp_sendmsg" */
        PRINT_FORMAT_PLACE = 's',  /* "udp_sendmsg", "p9_client_rpc [9pnet]" */
        PRINT_FORMAT_OFFSET = 'S', /* "udp_sendmsg+0x4/0xf20", "p9_client_rpc+0x10/0x380 [9pnet]" */
} PrintFormatName;

typedef struct PrintFormat {
        char *text;
        char *names; /* a PrintFormatName for each conversion that prints one, in their order */
} PrintFormat;

/* @text: of a format file that format_text_is_valid().  0, -ENOMEM. */
int print_format_parse(PrintFormat *ret, const char *system, const char *text);
/* Leaves it the fields alone: what libtraceevent may not be given is printed as "NAME: FIELDS".  0, -ENOMEM. */
int print_format_drop(PrintFormat *f);
void print_format_done(PrintFormat *f);
