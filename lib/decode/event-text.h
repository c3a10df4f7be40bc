/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What makes text of events of other kinds (decode/foreign.h), and whether an event's format file may be read at all. */

#include "base/buf.h"
#include "base/hash.h"

struct tep_event; /* libtraceevent's */

/* --- print-format.c --------------------------------------------------------------------------- */

/*
 * Whether an event's format file is one that may be given to libtraceevent
 *
 * Which ends the process (1.7.1) over declarations that are not C, and over an expression with a
 * field that is not there.  What kernels write is a small part of C, and that alone is let through:
 *
 *      name: WORD     or 9p_client_req
 *      ID: NUMBER
 *      format:
 *      <tab>field:TYPE NAME;<tab>offset:NUMBER;<tab>size:NUMBER;<tab>signed:NUMBER;
 *
 *      print fmt: "format" [, expression]...
 *
 *      TYPE NAME    words, '*', and "[]" with a word or a number in it or none
 *
 *      expression   REC->FIELD, REC->FIELD[NUMBER] inside of it, numbers, "text", (TYPE) casts, + - * & | ^
 *                   << >> && || ! ~ == != < > <= >= ?:, last of all / or % NUMBER but 0,
 *                   __get_str(FIELD), __get_bitmask(FIELD), __get_dynamic_array_len(FIELD),
 *                   __print_symbolic(expression, { NUMBER, "text" }...),
 *                   __print_flags(expression, "text", { NUMBER, "text" }...)
 *
 * Source: linux 6.1 kernel/trace/trace_events.c, f_show(), and include/trace/stages/stage3_trace_output.h.
 */
/* All but the print format. */
bool format_text_is_valid(const char *text);
/* False: it has no print format, or one of another kind.  The rest must be valid. */
bool format_text_prints_plainly(const char *text);

/*
 * PrintFormat: an event's format file, changed so that libtraceevent prints by it what the kernel prints
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

/* --- syscall-text.c --------------------------------------------------------------------------- */

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
 * openat()'s line is made by its print format, which has a mode where the kernel's has none.
 *
 * Source: linux 6.18 and 7.2 kernel/trace/trace_syscalls.c, print_syscall_enter(), sys_enter_openat_print().
 */

/* Whether its flags have names. */
bool syscall_text_has_flags(const char *format);
/* A letter for each "__NAME_val", in their order: 's', a string, or 'a', bytes.  The caller frees; NULL: -ENOMEM. */
char *syscall_text_kinds(const struct tep_event *event, const char *format);
/* "fd: 3, buf: ...", of a record that was found to hold all fields and what they point to. */
void syscall_text_put(Buf *out, const struct tep_event *event, const char *kinds,
                      const uint8_t *data, bool swap);
/* Takes the mode out of openat()'s line if it opens what is there: as the kernel has it, O_DIRECTORY creates. */
void syscall_text_trim(Buf *line);

/* --- printk.c --------------------------------------------------------------------------------- */

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
typedef struct Printk {
        Hash formats; /* by address, malloc()ed */
} Printk;

/* @text: of printk_formats, hostile; may be NULL.  0 or -ENOMEM, and printk_done() it all the same. */
int printk_init(Printk *p, const char *text);
void printk_done(Printk *p);
/* The format at @address; NULL: there is none. */
static inline const char *printk_find(const Printk *p, uint64_t address) {
        return hash_get_ptr(&p->formats, address);
}
/*
 * printk_put() - append the text of a format and its values
 * @n_long:   bytes of a long and of an address: 8, or 4
 * @put_name: appends the name of what is at an address; @offset: with where in it
 *
 * Where the values end before the format does, so does the text.  An error is @out's.
 */
void printk_put(Buf *out, const char *format, const uint8_t *values, size_t n, bool swap,
                size_t n_long,
                void (*put_name)(void *userdata, Buf *out, uint64_t address, bool offset),
                void *userdata);
