/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Printk: what trace_printk() recorded in binary (ftrace:bprint, ftrace:bputs)
 *
 * A record holds the address of a format, whose text is in tracefs' printk_formats, and the values:
 *
 *      0xffffffff82a1c0d8 : "x is %d and %s\n"        with \n \t \\ \" for what they stand for
 *
 *      %c %hhd 1 byte   %hd 2   %d 4   %ld %lld %zd %p %ps %pS %px 8, of 4-byte alignment; the others
 *      are aligned to their size; %s, and %pI4 and whatever else the kernel has expanded: text, NUL
 *
 * Source: linux 6.1 lib/vsprintf.c, vbin_printf(); kernel/trace/trace_printk.c, t_show().
 */

#include "base/buf.h"
#include "base/cleanup.h"

typedef struct Printk Printk;

/* @text: of printk_formats, hostile; may be NULL.  0 or -ENOMEM. */
int printk_new(Printk **ret, const char *text);
/* The format at @address; NULL: there is none. */
const char *printk_find(const Printk *p, uint64_t address);
/* Until @each returns less than 0, which is returned; in no order. */
int printk_each(const Printk *p, int (*each)(void *userdata, uint64_t address, const char *format),
                void *userdata);
/*
 * printk_put() - append the text of a format and its values
 * @put_name: appends the name of what is at an address; @offset: with where in it
 *
 * Where the values end before the format does, so does the text.  An error is @out's.
 */
void printk_put(Buf *out, const char *format, const uint8_t *values, size_t n, bool swap,
                void (*put_name)(void *userdata, Buf *out, uint64_t address, bool offset),
                void *userdata);
Printk *printk_free(Printk *p);
DEFINE_CLEANUP(Printk *, printk_free);
