/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <inttypes.h>

#include "base/array.h"
#include "decode/event-text.h"

#define DEPTH_MAX 32
#define BEGIN "print fmt:"

typedef struct Parser {
        const char *at;
        const char *fields,
                *fields_end; /* the lines before; NULL: it is a constant that is looked for */
        int depth;
} Parser;

static void skip_space(Parser *p) {
        p->at += strspn(p->at, " \t\n");
}

static bool take(Parser *p, const char *token) {
        skip_space(p);
        if (!startswith(p->at, token))
                return false;
        p->at += strlen(token);
        return true;
}

/* Its length; 0: there is none. */
static size_t peek_word(Parser *p) {
        size_t n = 0;

        skip_space(p);
        if (!isalpha((unsigned char) *p->at) && *p->at != '_')
                return 0;
        while (isalnum((unsigned char) p->at[n]) || p->at[n] == '_')
                n++;
        return n;
}

static bool take_word(Parser *p, const char *word) {
        size_t n = peek_word(p);

        if (n != strlen(word) || strncmp(p->at, word, n) != 0)
                return false;
        p->at += n;
        return true;
}

/* --- what is valid ---------------------------------------------------------------------------- */

/*
 * A recursive descent that builds nothing, but knows what constants come to.  Whatever is not
 * expected is refused.
 */

typedef struct Value {
        bool is_known;
        uint64_t number;
} Value;

/* @ret: may be NULL. */
static bool parse_number(Parser *p, Value *ret) {
        Value unused;
        size_t n;
        char *end;

        skip_space(p);
        if (!isdigit((unsigned char) *p->at))
                return false;
        ret = ret ?: &unused;
        errno = 0;
        ret->number = strtoull(p->at, &end, 0);
        n = strspn(p->at, "0123456789abcdefABCDEFxX");
        n += strspn(p->at + n, "uUlL");
        ret->is_known = errno == 0 && end + strspn(end, "uUlL") == p->at + n;
        p->at += n;
        return n <= 24;
}

/* One or more; an escape is two characters. */
static bool parse_string(Parser *p) {
        bool any = false;

        for (skip_space(p); *p->at == '"'; skip_space(p)) {
                for (p->at++; *p->at != '"'; p->at++) {
                        if (*p->at == '\\')
                                p->at++;
                        if (!*p->at || *p->at == '\n')
                                return false;
                }
                p->at++;
                any = true;
        }
        return any;
}

/* What stands behind the name in "\tfield:char prev_comm[16];\toffset:8;...", a ';' or a '['; NULL: there is no
 * such field.  Libtraceevent takes "u8 x[4] y" for a y. */
static const char *take_field(Parser *p) {
        size_t n = peek_word(p);
        const char *name = p->at, *s = p->fields;

        p->at += n;
        for (; n > 0 && (s = memmem(s, (size_t) (p->fields_end - s), name, n)); s++) {
                const char *end = s + n;

                while (*end == '[' && strchr(end, ']'))
                        end = strchr(end, ']') + 1;
                if (s > p->fields && strchr(" *", s[-1]) && *end == ';')
                        return s + n;
        }
        return NULL;
}

/* A field whose record says where its bytes are: foreign_print() has looked at no other's. */
static bool parse_dynamic(Parser *p) {
        const char *behind = take_field(p), *line = behind;

        while (line && line > p->fields && line[-1] != '\n')
                line--;
        return line &&
               (startswith(line, "\tfield:__data_loc ") || startswith(line, "\tfield:__rel_loc "));
}

/* "args[1]": the index is a number, and inside. */
static bool parse_element(Parser *p) {
        const char *behind = take_field(p);
        Value index;
        char *end;

        if (!behind || !take(p, "["))
                return behind;
        return parse_number(p, &index) && index.is_known && take(p, "]") && *behind == '[' &&
               strtoul(behind + 1, &end, 0) > index.number && startswith(end, "];");
}

/* "{ 0x1, "S" }", one or more, each behind a comma. */
static bool parse_pairs(Parser *p) {
        do
                if (!take(p, "{") || !parse_number(p, NULL) || !take(p, ",") || !parse_string(p) ||
                    !take(p, "}"))
                        return false;
        while (take(p, ","));
        return take(p, ")");
}

static bool parse_expression(Parser *p, Value *ret);

/* Of such a type a constant has the same value. */
static bool is_wide(const char *word, size_t n) {
        static const char *const words[] = { "unsigned", "long", "int", "gfp_t", "u32" };

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (strlen(words[i]) == n && strncmp(word, words[i], n) == 0)
                        return true;
        return false;
}

/* "(long)", "(unsigned long long)", "(const void *)"; the '(' is taken. */
static bool take_type(Parser *p, bool *ret_is_wide) {
        const char *begin = p->at;
        bool any = false;

        *ret_is_wide = true;
        for (size_t n; (n = peek_word(p)) > 0; p->at += n) {
                if ((n == 3 && strncmp(p->at, "REC", 3) == 0) || strncmp(p->at, "__", 2) == 0)
                        break;
                any = true;
                *ret_is_wide = *ret_is_wide && is_wide(p->at, n);
        }
        while (any && take(p, "*"))
                *ret_is_wide = false;
        if (any && take(p, ")"))
                return true;
        p->at = begin;
        return false;
}

static bool parse_function(Parser *p) {
        static const char *const of_fields[] = { "__get_str", "__get_bitmask",
                                                 "__get_dynamic_array_len" };
        Value v;

        for (size_t i = 0; i < ELEMENTSOF(of_fields); i++)
                if (take_word(p, of_fields[i]))
                        return take(p, "(") && parse_dynamic(p) && take(p, ")");
        if (take_word(p, "__print_symbolic"))
                return take(p, "(") && parse_expression(p, &v) && take(p, ",") && parse_pairs(p);
        if (take_word(p, "__print_flags"))
                return take(p, "(") && parse_expression(p, &v) && take(p, ",") && parse_string(p) &&
                       take(p, ",") && parse_pairs(p);
        return false;
}

/* Of enums that the kernel's own text has by name since 7.2; these numbers are fixed (linux 7.2
 * include/linux/hrtimer.h, enum hrtimer_mode; include/uapi/linux/ioprio.h). */
static bool take_enumerator(Parser *p, Value *ret) {
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
        size_t n = strspn(p->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

        for (size_t i = 0; i < ELEMENTSOF(enumerators); i++)
                if (strlen(enumerators[i].name) == n &&
                    strncmp(p->at, enumerators[i].name, n) == 0) {
                        p->at += n;
                        *ret = (Value){ true, enumerators[i].value };
                        return true;
                }
        return false;
}

static bool parse_operand(Parser *p, Value *ret) {
        bool is_inverted = false, is_other = false, is_kept, good;

        *ret = (Value){};
        /* libtraceevent calls itself for each sign and each cast, too. */
        for (int n = 0;; n++)
                if (n > DEPTH_MAX)
                        return false;
                else if (take(p, "~"))
                        is_inverted = !is_inverted;
                else if (take(p, "!") || take(p, "-"))
                        is_other = true;
                else
                        break;
        skip_space(p);
        if (*p->at == '"')
                good = parse_string(p);
        else if (isdigit((unsigned char) *p->at))
                good = parse_number(p, ret);
        else if (!take(p, "("))
                good = !p->fields            ? take_enumerator(p, ret)
                       : take_word(p, "REC") ? take(p, "->") && parse_element(p)
                                             : parse_function(p);
        else if (take_type(p, &is_kept)) {
                good = ++p->depth <= DEPTH_MAX && parse_operand(p, ret);
                p->depth--;
                ret->is_known &= is_kept;
        } else
                good = parse_expression(p, ret) && take(p, ")");
        ret->is_known &= !is_other;
        ret->number = is_inverted ? ~ret->number : ret->number;
        return good;
}

static const char *take_operator(Parser *p) {
        /* Those that begin with others come first. */
        static const char *const operators[] = { "<<", ">>", "&&", "||", "==", "!=", "<=", ">=",
                                                 "<",  ">",  "&",  "|",  "^",  "+",  "-",  "*" };

        for (size_t i = 0; i < ELEMENTSOF(operators); i++)
                if (take(p, operators[i]))
                        return operators[i];
        return NULL;
}

/* False: that is not known. */
static bool compute(const char *sign, uint64_t *left, uint64_t right) {
        if (streq(sign, "|"))
                *left |= right;
        else if (streq(sign, "&"))
                *left &= right;
        else if (streq(sign, "+"))
                *left += right;
        else if (streq(sign, "-"))
                *left -= right;
        else if (streq(sign, "<<") && right < 64)
                *left <<= right;
        else
                return false;
        return true;
}

static bool parse_expression(Parser *p, Value *ret) {
        const char *first = NULL, *sign;
        bool good;
        Value v;

        if (++p->depth > DEPTH_MAX)
                return false;
        good = parse_operand(p, ret);
        /* Of signs that differ it would matter which binds more tightly: kernels have parentheses there. */
        for (int n = 0; good && (sign = take_operator(p)); n++) {
                first = first ?: sign;
                good = n < DEPTH_MAX && parse_operand(p, &v);
                ret->is_known = ret->is_known && v.is_known && sign == first &&
                                compute(sign, &ret->number, v.number);
        }
        if (good && (take(p, "/") || take(p, "%"))) {
                /* libtraceevent divides by whatever it finds, and 0 and -1 end the process.  Nothing stands behind it
                 * that could become part of it. */
                good = parse_number(p, &v) && v.is_known && v.number > 0 && v.number <= INT32_MAX;
                ret->is_known = false;
        }
        if (good && take(p, "?")) {
                good = parse_expression(p, &v) && take(p, ":") && parse_expression(p, &v);
                ret->is_known = false;
        }
        p->depth--;
        return good;
}

/* "unsigned long args[6]", "__data_loc char[] name" */
static bool parse_declaration(Parser *p) {
        int n_words = 0;

        for (;;) {
                size_t n = peek_word(p);

                p->at += n;
                if (n > 0)
                        n_words++;
                else if (take(p, "[")) {
                        p->at += peek_word(p);
                        (void) parse_number(p, NULL);
                        if (n_words == 0 || !take(p, "]"))
                                return false;
                } else if (n_words == 0 || !take(p, "*"))
                        return n_words > 1 && take(p, ";");
        }
}

static bool parse_property(Parser *p, const char *name) {
        return take(p, name) && take(p, ":") && parse_number(p, NULL) && take(p, ";");
}

bool format_text_is_valid(const char *text) {
        Parser p = { .at = text };
        const char *name;

        if (!take(&p, "name:"))
                return false;
        skip_space(&p);
        name = p.at; /* "9p_client_req" is none of C's */
        while (isalnum((unsigned char) *p.at) || *p.at == '_')
                p.at++;
        if (p.at == name || !take(&p, "ID:") || !parse_number(&p, NULL) || !take(&p, "format:"))
                return false;
        while (take(&p, "field:"))
                if (!parse_declaration(&p) || !parse_property(&p, "offset") ||
                    !parse_property(&p, "size") || !parse_property(&p, "signed"))
                        return false;
        skip_space(&p);
        return !*p.at || startswith(p.at, BEGIN);
}

bool format_text_prints_plainly(const char *text) {
        const char *format = strstr(text, BEGIN);
        Parser p = { .fields = text, .fields_end = format };
        Value v;

        if (!format)
                return false;
        p.at = format + strlen(BEGIN);
        if (!parse_string(&p))
                return false;
        while (take(&p, ","))
                if (!parse_expression(&p, &v))
                        return false;
        skip_space(&p);
        return !*p.at;
}

/* --- constants -------------------------------------------------------------------------------- */

/* The constant between @p, a '(' or a '{', and the ')' or the ',' that belongs to it; where it ends, or NULL:
 * there is none.  A negative one would be no number in a list. */
static const char *read_constant(const char *p, uint64_t *ret) {
        Parser c = { .at = p + 1 };
        bool in_list = *p == '{';
        Value v;

        if (!parse_expression(&c, &v) || !v.is_known || v.number > INT64_MAX)
                return NULL;
        *ret = v.number;
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

/* One pass over the text behind "print fmt:".  Where a parenthesis or a list's element begins, what
 * follows is read as a constant expression; if it is one, its value stands in its place. */
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
        _cleanup_free_ char *text = f->text;
        const char *format = strstr(text, BEGIN) ?: text + strlen(text);

        return text_format(&f->text, "%.*s\n" BEGIN " \"\"\n", (int) (format - text), text);
}

void print_format_done(PrintFormat *f) {
        free(f->text);
        free(f->names);
        *f = (PrintFormat){};
}
