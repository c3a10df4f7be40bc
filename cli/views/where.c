/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A tree in an array, made by recursive descent; each node's children come before it. */

#include <ctype.h>

#include "base/name.h"
#include "base/unit.h"
#include "calls/step.h"
#include "cli/views/views.h"

#define NODES_MAX 256
#define DEPTH_MAX 64
#define NAME_MAX_BYTES 63
#define ERRNO_MAX 4095

/* What a register may hold, with a sign or without. */
typedef __int128 Number;

/* Of two that begin alike the longer one first. */
static const struct Operator {
        const char *text;
        bool less, equal, greater; /* what is so is let through ... */
        bool has_bits;             /* ... or, if this is set, what has any of them */
        bool is_equality;          /* texts have it, too */
} operators[] = {
        { "==", false, true, false, false, true }, { "!=", true, false, true, false, true },
        { "<=", true, true, false, false, false }, { ">=", false, true, true, false, false },
        { "<", true, false, false, false, false }, { ">", false, false, true, false, false },
        { "&", false, false, false, true, false },
};

typedef struct Node {
        enum { NODE_OR, NODE_AND, NODE_NOT, NODE_COMPARE } kind;
        unsigned left, right;
        char name[NAME_MAX_BYTES + 1];
        const struct Operator *op;
        const char *text; /* the value as it was said, without quotes; n_text bytes */
        size_t n_text;
        bool is_number; /* it is one, too */
        Number value;
        bool was_met; /* a call had it */
} Node;

struct Where {
        Node nodes[NODES_MAX];
        unsigned n; /* the last is the root */
        char text[];
};

typedef struct Parser {
        Where *w;
        const char *p;
        char *why; /* empty: nothing is wrong */
        unsigned depth;
} Parser;

static void skip_blanks(Parser *s) {
        while (*s->p == ' ' || *s->p == '\t')
                s->p++;
}

/* -1, for whoever returns it. */
static int wrong(Parser *s, const char *what) {
        if (!*s->why)
                (void) snprintf(s->why, WHERE_WHY_MAX, "%s at \"%.60s\"", what,
                                *s->p ? NAME_QUOTED(s->p) : "its end");
        return -1;
}

static bool take(Parser *s, const char *text) {
        skip_blanks(s);
        if (!startswith(s->p, text))
                return false;
        s->p += strlen(text);
        return true;
}

/* The index of a new node, or -1. */
static int add(Parser *s, const Node *n) {
        if (s->w->n == NODES_MAX)
                return wrong(s, "it is too long");
        s->w->nodes[s->w->n] = *n;
        return (int) s->w->n++;
}

static size_t word_length(const char *s) {
        size_t n = 0;

        while (isalnum((unsigned char) s[n]) || s[n] == '_')
                n++;
        return n;
}

static bool is_time(const char *name) {
        return streq(name, "duration") || streq(name, "self");
}

static bool find_errno(const char *word, size_t n, Number *ret) {
        for (int i = 1; i <= ERRNO_MAX; i++) {
                const char *name = strerrorname_np(i);

                if (name && strlen(name) == n && memcmp(name, word, n) == 0) {
                        *ret = i;
                        return true;
                }
        }
        return false;
}

static bool read_number(Parser *s, const char *name, Number *ret) {
        char word[NAME_MAX_BYTES + 1], *end;
        bool minus = take(s, "-");
        uint64_t v;
        size_t n;

        skip_blanks(s);
        n = word_length(s->p);
        while (is_time(name) && s->p[n] == '.')
                n += 1 + word_length(s->p + n + 1);
        if (n == 0 || n > NAME_MAX_BYTES)
                return false;
        memcpy(word, s->p, n);
        word[n] = 0;
        errno = 0;
        v = strtoull(word, &end, 0);
        if (isdigit((unsigned char) *word) && *end == 0 && errno == 0)
                *ret = v;
        else if (!minus && is_time(name) && parse_duration(word, &v) >= 0)
                *ret = v;
        else if (!find_errno(word, n, ret))
                return false;
        if (minus)
                *ret = -*ret;
        s->p += n;
        return true;
}

static bool is_built_in(const char *name) {
        return is_time(name) || streq(name, "ret") || streq(name, "cpu") || streq(name, "pid");
}

/* A number; of a field's name and == or !=, else a text, in quotes or up to a blank, a parenthesis, & or |.  0, -1. */
static int read_value(Parser *s, Node *node) {
        const char *from, *end;
        bool is_quoted;

        skip_blanks(s);
        from = s->p;
        node->is_number = read_number(s, node->name, &node->value);
        if (node->is_number && (!*s->p || strchr(" \t()&|", *s->p))) {
                node->text = from;
                node->n_text = (size_t) (s->p - from);
                return 0;
        }
        is_quoted = *from == '"';
        node->is_number = false;
        node->text = from + is_quoted;
        node->n_text = strcspn(node->text, is_quoted ? "\"" : " \t()&|\"");
        end = node->text + node->n_text;
        s->p = from;
        if (is_built_in(node->name) || !node->op->is_equality || (node->n_text == 0 && !is_quoted))
                return wrong(s, "there is no number, nor the name of an error,");
        if (is_quoted && *end != '"')
                return wrong(s, "there is no second \"");
        s->p = end + is_quoted;
        return 0;
}

static int parse_comparison(Parser *s) {
        Node node = { .kind = NODE_COMPARE };
        size_t n;

        skip_blanks(s);
        n = word_length(s->p);
        if (n == 0 || n > NAME_MAX_BYTES || isdigit((unsigned char) *s->p))
                return wrong(s, "there is no name");
        memcpy(node.name, s->p, n);
        s->p += n;
        skip_blanks(s);
        for (const struct Operator *o = operators;
             o < operators + ELEMENTSOF(operators) && !node.op; o++)
                if (!(o->has_bits && startswith(s->p, "&&")) && take(s, o->text))
                        node.op = o;
        if (!node.op)
                return wrong(s, "there is none of == != < <= > >= &");
        return read_value(s, &node) < 0 ? -1 : add(s, &node);
}

static int parse_or(Parser *s);

static int parse_not(Parser *s) {
        int r;

        if (++s->depth > DEPTH_MAX)
                return wrong(s, "it is too deep");
        skip_blanks(s);
        if (*s->p == '!' && s->p[1] != '=') {
                s->p++;
                r = parse_not(s);
                if (r >= 0)
                        r = add(s, &(Node){ .kind = NODE_NOT, .left = (unsigned) r });
        } else if (take(s, "(")) {
                r = parse_or(s);
                if (r >= 0 && !take(s, ")"))
                        r = wrong(s, "there is no \")\"");
        } else
                r = parse_comparison(s);
        s->depth--;
        return r;
}

/* Some of what @parse reads, with @text between two. */
static int parse_chain(Parser *s, const char *text, int kind, int (*parse)(Parser *s)) {
        int r = parse(s);

        while (r >= 0 && take(s, text)) {
                int right = parse(s);

                r = right < 0 ? right
                              : add(s, &(Node){ .kind = kind,
                                                .left = (unsigned) r,
                                                .right = (unsigned) right });
        }
        return r;
}

static int parse_and(Parser *s) {
        return parse_chain(s, "&&", NODE_AND, parse_not);
}

static int parse_or(Parser *s) {
        return parse_chain(s, "||", NODE_OR, parse_and);
}

int where_parse(Where **ret, const char *text, char why[static WHERE_WHY_MAX]) {
        _cleanup_free_ Where *w = calloc(1, sizeof(*w) + strlen(text) + 1);
        Parser s = { .w = w, .why = why };
        int r;

        if (!w)
                return -ENOMEM;
        s.p = strcpy(w->text, text);
        *why = 0;
        r = parse_or(&s);
        skip_blanks(&s);
        if (r >= 0 && *s.p)
                r = wrong(&s, "there is more");
        if (r < 0)
                return WHERE_E_INVALID;
        *ret = TAKE_PTR(w);
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

static Number number_of(ValueNumber v) {
        return v.is_negative ? -(Number) v.magnitude : (Number) v.magnitude;
}

static bool find_argument(const char *args, const char *name, Number *ret) {
        size_t n = strlen(name), n_found;
        const char *found;
        ValueNumber v;

        while (args && arguments_next(&args, &found, &n_found, &v))
                if (n_found == n && memcmp(found, name, n) == 0) {
                        *ret = number_of(v);
                        return true;
                }
        return false;
}

static bool find_number(const Call *c, const char *name, Number *ret) {
        if (streq(name, "ret")) {
                *ret = number_of(retval_number(c->retval));
                return c->has_retval;
        }
        if (find_argument(c->frame->args, name, ret))
                return true;
        if (is_time(name)) {
                *ret = *name == 'd' ? c->duration_ns : c->self_ns;
                return true;
        }
        if (streq(name, "cpu")) {
                *ret = c->cpu;
                return c->has_end;
        }
        *ret = c->stack->pid;
        return streq(name, "pid") && c->stack->pid >= 0;
}

static bool compare(Node *n, const Call *c) {
        const Object *o = c->frame->object;
        const ObjectField *f = object_find(o, n->name);
        Number v;

        if (f && !(f->is_number && n->is_number)) {
                bool is_equal = f->n_value == n->n_text &&
                                memcmp(object_text(o) + f->value, n->text, n->n_text) == 0;

                n->was_met = true;
                return n->op->is_equality && is_equal == n->op->equal;
        }
        if (f)
                v = number_of(f->number);
        else if (!find_number(c, n->name, &v))
                return false;
        n->was_met = true;
        if (!n->is_number)
                return !n->op->equal;
        if (n->op->has_bits)
                return (v & n->value) != 0;
        return v < n->value ? n->op->less : v > n->value ? n->op->greater : n->op->equal;
}

/* Nodes before @i are known: no recursion, whatever the depth. */
bool where_matches(Where *w, const Call *call) {
        bool is[NODES_MAX];

        for (unsigned i = 0; i < w->n; i++) {
                Node *n = &w->nodes[i];

                switch (n->kind) {
                case NODE_OR:
                        is[i] = is[n->left] || is[n->right];
                        break;
                case NODE_AND:
                        is[i] = is[n->left] && is[n->right];
                        break;
                case NODE_NOT:
                        is[i] = !is[n->left];
                        break;
                case NODE_COMPARE:
                        is[i] = compare(n, call);
                        break;
                }
        }
        return is[w->n - 1];
}

const char *where_unmet(const Where *w) {
        for (unsigned i = 0; i < w->n; i++)
                if (w->nodes[i].kind == NODE_COMPARE && !w->nodes[i].was_met)
                        return w->nodes[i].name;
        return NULL;
}
