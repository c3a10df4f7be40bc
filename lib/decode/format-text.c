/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A recursive descent that builds nothing.  Precedence does not matter to it: an expression is
 * operands with operators between them.  Whatever is not expected is refused.
 */

#include <ctype.h>

#include "base/cleanup.h"
#include "decode/format-text.h"

#define DEPTH_MAX 32

typedef struct Parser {
        const char *fields, *fields_end; /* the lines before */
        const char *at;
        int depth;
} Parser;

static bool parse_expression(Parser *p);

static void skip_space(Parser *p) {
        p->at += strspn(p->at, " \t\n");
}

static bool take(Parser *p, const char *token) {
        size_t n = strlen(token);

        skip_space(p);
        if (strncmp(p->at, token, n) != 0)
                return false;
        p->at += n;
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

static bool parse_number(Parser *p) {
        size_t n;

        skip_space(p);
        if (!isdigit((unsigned char) *p->at))
                return false;
        n = strspn(p->at, "0123456789abcdefABCDEFxX");
        n += strspn(p->at + n, "uUlL");
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

/* "\tfield:char prev_comm[16];\toffset:8;..." has the name before a ';' or a '['. */
static bool parse_field(Parser *p) {
        size_t n = peek_word(p);
        const char *name = p->at;

        if (n == 0)
                return false;
        p->at += n;
        for (const char *s = p->fields; (s = memmem(s, (size_t) (p->fields_end - s), name, n)); s++)
                if (s > p->fields && strchr(" *", s[-1]) && strchr(";[", s[n]))
                        return true;
        return false;
}

/* "{ 0x1, "S" }", one or more, each behind a comma. */
static bool parse_pairs(Parser *p) {
        do
                if (!take(p, "{") || !parse_number(p) || !take(p, ",") || !parse_string(p) ||
                    !take(p, "}"))
                        return false;
        while (take(p, ","));
        return take(p, ")");
}

/* "(long)", "(unsigned long long)", "(const void *)"; the '(' is taken. */
static bool take_type(Parser *p) {
        const char *begin = p->at;
        bool any = false;

        for (size_t n; (n = peek_word(p)) > 0; p->at += n) {
                if ((n == 3 && strncmp(p->at, "REC", 3) == 0) || strncmp(p->at, "__", 2) == 0)
                        break;
                any = true;
        }
        while (any && take(p, "*"))
                continue;
        if (any && take(p, ")"))
                return true;
        p->at = begin;
        return false;
}

static bool parse_function(Parser *p) {
        static const char *const of_fields[] = { "__get_str", "__get_bitmask",
                                                 "__get_dynamic_array_len" };

        for (size_t i = 0; i < ELEMENTSOF(of_fields); i++)
                if (take_word(p, of_fields[i]))
                        return take(p, "(") && parse_field(p) && take(p, ")");
        if (take_word(p, "__print_symbolic"))
                return take(p, "(") && parse_expression(p) && take(p, ",") && parse_pairs(p);
        if (take_word(p, "__print_flags"))
                return take(p, "(") && parse_expression(p) && take(p, ",") && parse_string(p) &&
                       take(p, ",") && parse_pairs(p);
        return false;
}

static bool parse_operand(Parser *p) {
        while (take(p, "!") || take(p, "~") || take(p, "-"))
                continue;
        skip_space(p);
        if (*p->at == '"')
                return parse_string(p);
        if (isdigit((unsigned char) *p->at))
                return parse_number(p);
        if (take(p, "("))
                return take_type(p) ? parse_operand(p) : parse_expression(p) && take(p, ")");
        if (!take_word(p, "REC"))
                return parse_function(p);
        if (!take(p, "->") || !parse_field(p))
                return false;
        return !take(p, "[") || (parse_number(p) && take(p, "]"));
}

static bool take_operator(Parser *p) {
        /* Those that begin with others come first. */
        static const char *const operators[] = { "<<", ">>", "&&", "||", "==", "!=", "<=", ">=",
                                                 "<",  ">",  "&",  "|",  "^",  "+",  "-",  "*" };

        for (size_t i = 0; i < ELEMENTSOF(operators); i++)
                if (take(p, operators[i]))
                        return true;
        return false;
}

/* libtraceevent divides by whatever it finds, and 0 and -1 end the process.  Nothing stands behind it that could
 * become part of it. */
static bool parse_divisor(Parser *p) {
        unsigned long long n;

        skip_space(p);
        n = isdigit((unsigned char) *p->at) ? strtoull(p->at, NULL, 0) : 0;
        return n > 0 && n <= INT32_MAX && parse_number(p);
}

static bool parse_expression(Parser *p) {
        bool good;

        if (++p->depth > DEPTH_MAX)
                return false;
        do
                good = parse_operand(p);
        while (good && take_operator(p));
        if (good && (take(p, "/") || take(p, "%")))
                good = parse_divisor(p);
        if (good && take(p, "?"))
                good = parse_expression(p) && take(p, ":") && parse_expression(p);
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
                        (void) parse_number(p);
                        if (n_words == 0 || !take(p, "]"))
                                return false;
                } else if (n_words == 0 || !take(p, "*"))
                        return n_words > 1 && take(p, ";");
        }
}

static bool parse_property(Parser *p, const char *name) {
        return take(p, name) && take(p, ":") && parse_number(p) && take(p, ";");
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
        if (p.at == name || !take(&p, "ID:") || !parse_number(&p) || !take(&p, "format:"))
                return false;
        while (take(&p, "field:"))
                if (!parse_declaration(&p) || !parse_property(&p, "offset") ||
                    !parse_property(&p, "size") || !parse_property(&p, "signed"))
                        return false;
        skip_space(&p);
        return !*p.at || startswith(p.at, "print fmt:");
}

bool format_text_prints_plainly(const char *text) {
        const char *format = strstr(text, "print fmt:");
        Parser p = { .fields = text, .fields_end = format };

        if (!format)
                return false;
        p.at = format + strlen("print fmt:");
        if (!parse_string(&p))
                return false;
        while (take(&p, ","))
                if (!parse_expression(&p))
                        return false;
        skip_space(&p);
        return !*p.at;
}
