/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One pass over the text behind "print fmt:".  Where a parenthesis or a list's element begins, what
 * follows is read as a constant expression; if it is one, its value stands in its place.
 */

#include <ctype.h>
#include <inttypes.h>

#include "base/buf.h"
#include "decode/print-format.h"
#include "decode/syscall-text.h"

#define DEPTH_MAX 32
#define BEGIN "print fmt:"

/* --- constants -------------------------------------------------------------------------------- */

typedef struct Constant {
        const char *at;
        int depth;
} Constant;

static bool read_expression(Constant *c, size_t level, uint64_t *ret);

static void skip_space(Constant *c) {
        c->at += strspn(c->at, " \t");
}

static bool take(Constant *c, const char *token) {
        skip_space(c);
        if (!startswith(c->at, token))
                return false;
        c->at += strlen(token);
        return true;
}

/* "( unsigned long)", "( gfp_t)"; the parenthesis is taken. */
static bool take_type(Constant *c) {
        static const char *const words[] = { "unsigned", "long", "int", "gfp_t", "u32" };
        const char *begin = c->at;

        for (bool any = false;; any = true) {
                size_t i = 0;

                while (i < ELEMENTSOF(words) && !take(c, words[i]))
                        i++;
                if (i < ELEMENTSOF(words))
                        continue;
                if (any && take(c, ")"))
                        return true;
                c->at = begin;
                return false;
        }
}

/* Of enums that the kernel's own text has by name since 7.2; these numbers are fixed (linux 7.2
 * include/linux/hrtimer.h, enum hrtimer_mode; include/uapi/linux/ioprio.h). */
static bool take_enumerator(Constant *c, uint64_t *ret) {
        static const struct {
                const char *name;
                uint64_t value;
        } enumerators[] = {
                { "HRTIMER_MODE_ABS", 0 },
                { "HRTIMER_MODE_REL", 1 },
                { "HRTIMER_MODE_ABS_PINNED", 2 },
                { "HRTIMER_MODE_REL_PINNED", 3 },
                { "HRTIMER_MODE_ABS_SOFT", 4 },
                { "HRTIMER_MODE_REL_SOFT", 5 },
                { "HRTIMER_MODE_ABS_PINNED_SOFT", 6 },
                { "HRTIMER_MODE_REL_PINNED_SOFT", 7 },
                { "HRTIMER_MODE_ABS_HARD", 8 },
                { "HRTIMER_MODE_REL_HARD", 9 },
                { "HRTIMER_MODE_ABS_PINNED_HARD", 10 },
                { "HRTIMER_MODE_REL_PINNED_HARD", 11 },
                { "IOPRIO_CLASS_NONE", 0 },
                { "IOPRIO_CLASS_RT", 1 },
                { "IOPRIO_CLASS_BE", 2 },
                { "IOPRIO_CLASS_IDLE", 3 },
                { "IOPRIO_CLASS_INVALID", 7 },
        };
        size_t n = strspn(c->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

        for (size_t i = 0; i < ELEMENTSOF(enumerators); i++)
                if (strlen(enumerators[i].name) == n &&
                    strncmp(c->at, enumerators[i].name, n) == 0) {
                        c->at += n;
                        *ret = enumerators[i].value;
                        return true;
                }
        return false;
}

static bool read_operand(Constant *c, uint64_t *ret) {
        char *end;

        if (take(c, "~")) {
                if (!read_operand(c, ret))
                        return false;
                *ret = ~*ret;
                return true;
        }
        if (take(c, "("))
                return take_type(c) ? read_operand(c, ret)
                                    : read_expression(c, 0, ret) && take(c, ")");
        if (!isdigit((unsigned char) *c->at))
                return take_enumerator(c, ret);
        errno = 0;
        *ret = strtoull(c->at, &end, 0);
        c->at = end + strspn(end, "uUlL");
        return errno == 0 && !isalnum((unsigned char) *c->at) && *c->at != '_';
}

static bool compute(const char *sign, uint64_t *left, uint64_t right) {
        if (*sign == '|')
                *left |= right;
        else if (*sign == '^')
                *left ^= right;
        else if (*sign == '&')
                *left &= right;
        else if (*sign == '+')
                *left += right;
        else if (*sign == '-')
                *left -= right;
        else if (*sign == '*')
                *left *= right;
        else if (right >= 64)
                return false;
        else
                *left = *sign == '<' ? *left << right : *left >> right;
        return true;
}

/* Operators of level @level, as C has them, and of those that bind more tightly. */
static bool read_expression(Constant *c, size_t level, uint64_t *ret) {
        static const char *const levels[][2] = { { "|" },        { "^" },      { "&" },
                                                 { "<<", ">>" }, { "+", "-" }, { "*" } };
        bool good;

        if (level == ELEMENTSOF(levels))
                return read_operand(c, ret);
        if (level == 0 && ++c->depth > DEPTH_MAX)
                return false;
        good = read_expression(c, level + 1, ret);
        while (good) {
                const char *const *signs = levels[level];
                const char *sign = take(c, signs[0])               ? signs[0]
                                   : signs[1] && take(c, signs[1]) ? signs[1]
                                                                   : NULL;
                uint64_t right;

                if (!sign)
                        break;
                good = read_expression(c, level + 1, &right) && compute(sign, ret, right);
        }
        if (level == 0)
                c->depth--;
        return good;
}

/* The constant between @p, a '(' or a '{', and the ')' or the ',' that belongs to it; where it ends, or NULL:
 * there is none.  A negative one would be no number in a list. */
static const char *read_constant(const char *p, uint64_t *ret) {
        Constant c = { .at = p + 1 };
        bool in_list = *p == '{';

        if (!read_expression(&c, 0, ret) || *ret > INT64_MAX)
                return NULL;
        skip_space(&c);
        if (*c.at != (in_list ? ',' : ')'))
                return NULL;
        return in_list ? c.at : c.at + 1;
}

/* --- conversions ------------------------------------------------------------------------------ */

/* What the kernel prints differently; its length in the text, 0 if @p is none. */
static size_t add_conversion(Buf *out, Buf *names, const char *p) {
        size_t n;

        if (p[1] == '%') {
                buf_adds(out, "%%");
                return 2;
        }
        if (p[1] == 'p') {
                bool has_offset = p[2] == 'S' || p[2] == 'F';

                if (has_offset || p[2] == 's' || p[2] == 'f') {
                        buf_adds(out, "%ps");
                        buf_pad(names, 1, has_offset ? PRINT_FORMAT_OFFSET : PRINT_FORMAT_PLACE);
                        return 3;
                }
                if (isalpha((unsigned char) p[2]))
                        return 0;
                buf_adds(out, "%016lx");
                return 2;
        }
        if (p[1] != '#')
                return 0;
        n = strspn(p + 2, "lL");
        if (p[2 + n] != 'x')
                return 0;
        buf_adds(out, "0x%");
        buf_add(out, p + 2, n + 1);
        return n + 3;
}

/* Where a probe is: its length in the text, 0 if it says none. */
static size_t add_place(Buf *out, Buf *names, const char *format) {
        static const char one[] = "\"(%lx)", two[] = "\"(%lx <- %lx)";

        if (startswith(format, one) && strstr(format, ", REC->__probe_ip")) {
                buf_adds(out, "\"(%ps)");
                buf_pad(names, 1, PRINT_FORMAT_OFFSET);
                return strlen(one);
        }
        if (startswith(format, two) && strstr(format, ", REC->__probe_func, REC->__probe_ret_ip")) {
                buf_adds(out, "\"(%ps <- %ps)");
                buf_pad(names, 1, PRINT_FORMAT_OFFSET);
                buf_pad(names, 1, PRINT_FORMAT_NAME);
                return strlen(two);
        }
        return 0;
}

/* Other words for those at @p, outside of a string; 0: there are none. */
static size_t add_words(Buf *out, const char *p) {
        static const char both[] = "REC->__probe_func, REC->__probe_ret_ip",
                          end_of_list[] = ", { 0, ((void *)0) }";
        const char *end;
        uint64_t value;

        if (*p == 'R' && startswith(p, both)) {
                buf_adds(out, "REC->__probe_ret_ip, REC->__probe_func");
                return strlen(both);
        }
        if (*p == ',' && startswith(p, end_of_list))
                return strlen(end_of_list);
        if (*p != '{' && (*p != '(' || isalnum((unsigned char) p[-1]) || p[-1] == '_'))
                return 0;
        end = read_constant(p, &value);
        if (!end)
                return 0;
        buf_printf(out, "%s%" PRIu64, *p == '{' ? "{ " : "", value);
        return (size_t) (end - p);
}

/* O_TMPFILE, which the kernel knows and the format does not: O_DIRECTORY, which differs by architecture, and a bit
 * (linux 7.2 include/uapi/asm-generic/fcntl.h, __O_TMPFILE). */
static void add_tmpfile(Buf *out, const char *flags) {
        const char *end = strstr(flags, ", \"O_DIRECTORY\" }"), *p = end;

        while (p && p > flags && p[-1] != ' ')
                p--;
        if (p)
                buf_printf(out, "{ %lu, \"O_TMPFILE\" }, ", strtoul(p, NULL, 0) | 020000000);
}

int print_format_parse(PrintFormat *ret, const char *system, const char *text) {
        _cleanup_buf_ Buf out = BUF_INIT, names = BUF_INIT;
        _cleanup_free_ char *changed = NULL;
        const char *format = strstr(text, BEGIN), *p;
        bool is_syscall = streq(system, "syscalls"), in_string = false,
             has_flags = is_syscall && syscall_text_has_flags(text);
        int r;

        p = format ? format + strlen(BEGIN) : text + strlen(text);
        p += strspn(p, " ");
        buf_add(&out, text, (size_t) (p - text));
        if (*p == '"') {
                size_t n = add_place(&out, &names, p);

                in_string = n > 0;
                p += n;
        }
        while (*p) {
                size_t n = 0;

                if (*p == '"' && p[-1] != '\\')
                        in_string = !in_string;
                else if (*p == '%')
                        n = add_conversion(&out, &names, p);
                else if (is_syscall && in_string && startswith(p, "0x%08lx")) {
                        buf_adds(&out, has_flags ? "%lu" : "%lx");
                        n = strlen("0x%08lx");
                } else if (has_flags && startswith(p, "{ 0x1, \"O_WRONLY\" }"))
                        add_tmpfile(&out, p);
                else if (!in_string)
                        n = add_words(&out, p);
                if (n == 0)
                        buf_add(&out, p, n = 1);
                p += n;
        }
        r = buf_take_string(&out, &changed);
        if (r >= 0)
                r = buf_take_string(&names, &ret->names);
        if (r >= 0)
                ret->text = TAKE_PTR(changed);
        return r;
}

int print_format_drop(PrintFormat *f) {
        const char *format = strstr(f->text, BEGIN) ?: f->text + strlen(f->text);
        char *head;

        if (asprintf(&head, "%.*s\n" BEGIN " \"\"\n", (int) (format - f->text), f->text) < 0)
                return -ENOMEM;
        free(f->text);
        f->text = head;
        return 0;
}

void print_format_done(PrintFormat *f) {
        free(f->text);
        free(f->names);
        *f = (PrintFormat){};
}
