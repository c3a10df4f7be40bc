/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A walk has a type and a chain of offsets.  A member of a structure that is in memory adds to the last offset; one behind
 * a pointer begins another.  A cast changes the type alone.
 */

#include <ctype.h>
#include <stdarg.h>

#include "base/array.h"
#include "base/name.h"
#include "types/btf.h"
#include "types/members.h"

#define DEPTH_MAX 16         /* of anonymous structures, of parentheses, of arrays of arrays */
#define LOOKS_MAX (1U << 16) /* members that are compared for one name */
#define LISTED_MAX 8         /* members that a refusal names */
#define GATHERED_MAX 512     /* of which it chooses */
#define OFFSET_MAX (INT32_MAX / 2)
#define MEMBER_BYTES 12U
#define BITS_ARE_TOLD (UINT32_C(1) << 31) /* kind_flag: a member's offset has its bits above 24 */

/* Behind what is there. */
static _printf_(2, 3) int refuse(char *why, const char *format, ...) {
        size_t n = strlen(why);
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(why + n, MEMBER_WHY_MAX - n, format, ap);
        va_end(ap);
        return MEMBER_E_REFUSED;
}

/* --- types --------------------------------------------------------------------------------------- */

static const char *name_of(const Btf *b, const Type *t) {
        return btf_name(b, t->part, t->name) ?: "";
}

static bool is_structure(const Type *t) {
        return t->data && (t->kind == KIND_STRUCT || t->kind == KIND_UNION);
}

static bool is_char(const Btf *b, const Type *t) {
        return t->data && t->kind == KIND_INT && t->size_or_type == 1 &&
               streq(name_of(b, t), "char");
}

/* In whatever part: structures that a file only declares are elsewhere. */
static bool find_structure(const Btf *b, const char *name, size_t n_name, Type *ret,
                           uint32_t *ret_number) {
        for (size_t i = 0; i < b->n_parts; i++)
                for (uint32_t k = 0; k < b->parts[i].n; k++) {
                        Type t = btf_read(&b->parts[i], b->parts[i].types + b->parts[i].at[k]);
                        const char *other = is_structure(&t) ? name_of(b, &t) : "";

                        if (strncmp(other, name, n_name) != 0 || other[n_name])
                                continue;
                        *ret = t;
                        *ret_number = b->parts[i].first + k;
                        return true;
                }
        return false;
}

static Type complete(const Btf *b, Type t) {
        const char *name = t.data && t.kind == KIND_FWD ? name_of(b, &t) : "";
        uint32_t number;

        if (*name)
                (void) find_structure(b, name, strlen(name), &t, &number);
        return t;
}

/* struct btf_array: the type of its items, and how many. */
static Type items_of(const Btf *b, const Type *array, uint32_t *ret_number, uint32_t *ret_n) {
        *ret_number = load_u32(array->data + TYPE_BYTES, array->part->swap);
        *ret_n = load_u32(array->data + TYPE_BYTES + 8, array->part->swap);
        return btf_resolve(b, array->part, *ret_number);
}

static uint64_t bytes_of(const Btf *b, const Type *t, unsigned depth) {
        uint32_t number, n;
        Type item;

        if (!t->data)
                return 0;
        switch (t->kind) {
        case KIND_PTR:
                return sizeof(uint64_t);
        case KIND_INT:
        case KIND_STRUCT:
        case KIND_UNION:
        case KIND_ENUM:
        case KIND_ENUM64:
        case KIND_FLOAT:
                return t->size_or_type;
        case KIND_ARRAY:
                item = items_of(b, t, &number, &n);
                return depth < DEPTH_MAX
                               ? MIN(bytes_of(b, &item, depth + 1), (uint64_t) UINT32_MAX) * n
                               : 0;
        default:
                return 0;
        }
}

static bool is_big_endian(const Btf *b, const Part *part, uint32_t number) {
        Type t = btf_type(b, part, number);

        for (int i = 0; i < MODIFIERS_MAX && t.data &&
                        (t.kind == KIND_TYPEDEF || t.kind == KIND_CONST ||
                         t.kind == KIND_VOLATILE || t.kind == KIND_TYPE_TAG);
             i++) {
                if (t.kind == KIND_TYPEDEF && startswith(name_of(b, &t), "__be"))
                        return true;
                t = btf_type(b, t.part, t.size_or_type);
        }
        return false;
}

/* What @m points to: no type, if that is void or it is no pointer. */
static Type target_of(const Btf *b, const Member *m, uint32_t *ret_number) {
        Type t = btf_resolve(b, m->part, m->number);

        *ret_number = m->number;
        if (m->is_cast)
                return t;
        if (!t.data || t.kind != KIND_PTR)
                return (Type){ .part = m->part };
        *ret_number = t.size_or_type;
        return complete(b, btf_resolve(b, t.part, t.size_or_type));
}

/* Fills in what the type says. */
static void settle(const Btf *b, Member *m) {
        Type t = btf_resolve(b, m->part, m->number), target;
        uint32_t number, n;

        m->type = "";
        m->n_bytes = m->is_cast ? sizeof(uint64_t) : bytes_of(b, &t, 0);
        m->kind = MEMBER_OBJECT;
        if (m->is_cast || (t.data && t.kind == KIND_PTR)) {
                target = target_of(b, m, &number);
                m->kind = is_char(b, &target) ? MEMBER_TEXT_POINTER : MEMBER_POINTER;
                if (is_structure(&target))
                        m->type = name_of(b, &target);
        } else if (is_structure(&t))
                m->type = name_of(b, &t);
        else if (t.data && t.kind == KIND_ARRAY) {
                target = items_of(b, &t, &number, &n);
                if (is_char(b, &target))
                        m->kind = MEMBER_TEXT;
        } else if (t.data && t.kind == KIND_INT)
                m->kind = is_big_endian(b, m->part, m->number)                    ? MEMBER_BE
                          : load_u32(t.data + TYPE_BYTES, t.part->swap) >> 24 & 1 ? MEMBER_SIGNED
                                                                                  : MEMBER_UNSIGNED;
        else if (t.data && (t.kind == KIND_ENUM || t.kind == KIND_ENUM64))
                m->kind = load_u32(t.data + 4, t.part->swap) & BITS_ARE_TOLD ? MEMBER_SIGNED
                                                                             : MEMBER_UNSIGNED;
        if (m->kind != MEMBER_OBJECT && m->kind != MEMBER_TEXT && m->n_bytes > sizeof(uint64_t))
                m->kind = MEMBER_OBJECT;
}

/* --- members ------------------------------------------------------------------------------------- */

typedef struct Found {
        Type type; /* of what it is a member of */
        const char *name;
        uint64_t bit;
        uint32_t n_bits, number;
} Found;

/* For each member of @t, those of anonymous ones among them; true: @visit was, and that is it. */
typedef bool (*Visit)(const Found *f, void *userdata);
static bool visit_members(const Btf *b, const Type *t, uint64_t bit, unsigned depth,
                          unsigned *looks, Visit visit, void *userdata) {
        bool is_told = load_u32(t->data + 4, t->part->swap) & BITS_ARE_TOLD;

        for (uint32_t i = 0; i < t->n_members && (*looks)++ < LOOKS_MAX; i++) {
                const uint8_t *data = t->data + TYPE_BYTES + (size_t) MEMBER_BYTES * i;
                uint32_t at = load_u32(data + 8, t->part->swap);
                Found f = {
                        .type = *t,
                        .name = btf_name(b, t->part, load_u32(data, t->part->swap)) ?: "",
                        .bit = bit + (is_told ? at & 0xffffff : at),
                        .n_bits = is_told ? at >> 24 : 0,
                        .number = load_u32(data + 4, t->part->swap),
                };
                Type inner;

                if (*f.name && visit(&f, userdata))
                        return true;
                inner = *f.name ? (Type){} : btf_resolve(b, t->part, f.number);
                if (is_structure(&inner) && depth < DEPTH_MAX &&
                    visit_members(b, &inner, f.bit, depth + 1, looks, visit, userdata))
                        return true;
        }
        return false;
}

typedef struct Search {
        const char *name;
        size_t n_name;
        Found found;
} Search;

static bool is_meant(const Found *f, void *userdata) {
        Search *s = userdata;

        if (strncmp(f->name, s->name, s->n_name) != 0 || f->name[s->n_name])
                return false;
        s->found = *f;
        return true;
}

typedef struct Gathered {
        const char *names[GATHERED_MAX];
        size_t n;
} Gathered;

static bool gather(const Found *f, void *userdata) {
        Gathered *g = userdata;

        if (g->n < GATHERED_MAX)
                g->names[g->n++] = f->name;
        return false;
}

/* How far @name is from @word: those with one in the other are nearest. */
static size_t distance(const char *word, const char *name) {
        return strstr(name, word) || strstr(word, name) ? 0 : 1 + typo_distance(word, name, 16);
}

/* "...; it has a, b, c and 4 others": the nearest first. */
static int refuse_name(const char *what, const char *of, const char *kind, const char *word,
                       Gathered *g, char *why) {
        size_t n = 0;

        (void) refuse(why, "%s%s has no %s \"%s\"", what, of, kind, NAME_QUOTED(word));
        for (; n < MIN(g->n, (size_t) LISTED_MAX); n++) {
                size_t best = n;
                const char *name;

                for (size_t i = n + 1; i < g->n; i++)
                        if (distance(word, g->names[i]) < distance(word, g->names[best]))
                                best = i;
                name = g->names[best];
                memmove(&g->names[n + 1], &g->names[n], (best - n) * sizeof(name));
                g->names[n] = name;
                (void) refuse(why, "%s%s", n > 0 ? ", " : "; it has ", name);
        }
        if (g->n > n)
                (void) refuse(why, " and %zu others", g->n - n);
        return MEMBER_E_REFUSED;
}

static bool is_word(char c) {
        return isalnum((unsigned char) c) || c == '_';
}

static size_t n_word(const char *s) {
        size_t n = 0;

        while (is_word(s[n]))
                n++;
        return isdigit((unsigned char) *s) ? 0 : n;
}

/* Adds @n bytes to the place; @through: behind what the value points to. */
static int move_by(Member *m, uint64_t n, bool through, char *why) {
        if (through && m->n_offsets == MEMBER_OFFSETS_MAX)
                return refuse(why, "it goes through more than %d pointers", MEMBER_OFFSETS_MAX);
        if (through)
                m->offsets[m->n_offsets++] = 0;
        n += m->offsets[m->n_offsets - 1];
        if (n > OFFSET_MAX)
                return refuse(why, "\"%s\" is too far from what it is a part of", m->name);
        m->offsets[m->n_offsets - 1] = (uint32_t) n;
        return 0;
}

/* ".name" */
static int walk_name(const Btf *b, Member *m, const char *name, size_t n_name, char *why) {
        bool through = m->kind == MEMBER_POINTER;
        Search s = { .name = name, .n_name = n_name };
        char word[FUNCTION_NAME_MAX + 1];
        unsigned looks = 0;
        uint32_t number;
        Type t = through ? target_of(b, m, &number) : btf_resolve(b, m->part, m->number);
        int r;

        if (!is_structure(&t) || m->n_bits > 0)
                return refuse(why, "\"%s\" is no structure and does not point to one", m->name);
        if (!through && m->n_offsets == 0)
                return refuse(why, "\"%s\" is given by value", m->name);
        if (!visit_members(b, &t, 0, 0, &looks, is_meant, &s)) {
                Gathered g = {};

                looks = 0;
                (void) visit_members(b, &t, 0, 0, &looks, gather, &g);
                (void) snprintf(word, sizeof(word), "%.*s", (int) MIN(n_name, sizeof(word) - 1),
                                name);
                return refuse_name(t.kind == KIND_UNION ? "union " : "struct ", name_of(b, &t),
                                   "member", word, &g, why);
        }
        if (s.found.n_bits == 0 && s.found.bit % 8 > 0)
                return refuse(why, "\"%s\" is a bit field of a kind that is not known",
                              s.found.name);
        r = move_by(m, s.found.bit / 8, through, why);
        if (r != 0)
                return r;
        m->name = s.found.name;
        m->part = s.found.type.part;
        m->number = s.found.number;
        m->is_cast = false;
        m->bit = s.found.bit % 8;
        m->n_bits = s.found.n_bits;
        settle(b, m);
        return m->bit + m->n_bits <= 64 && m->n_bits <= m->n_bytes * 8
                       ? 0
                       : refuse(why, "\"%s\" is a bit field that no probe can take", m->name);
}

/* "[3]" */
static int walk_item(const Btf *b, Member *m, uint64_t i, char *why) {
        bool through = m->kind == MEMBER_POINTER || m->kind == MEMBER_TEXT_POINTER;
        Type t = btf_resolve(b, m->part, m->number), item = { .part = m->part };
        uint32_t number = 0, n = 0;
        uint64_t n_bytes;
        int r;

        if (through)
                item = target_of(b, m, &number);
        else if (t.data && t.kind == KIND_ARRAY && m->n_offsets > 0)
                item = items_of(b, &t, &number, &n);
        n_bytes = bytes_of(b, &item, 0);
        if (n_bytes == 0)
                return refuse(why, "\"%s\" has no items", m->name);
        if (n > 0 && i >= n)
                return refuse(why, "\"%s\" has %u items, so that [%llu] is none", m->name, n,
                              (unsigned long long) i);
        r = move_by(m, MIN(n_bytes, (uint64_t) OFFSET_MAX) * i, through, why);
        if (r != 0)
                return r;
        m->part = item.part;
        m->number = number;
        m->is_cast = false;
        settle(b, m);
        return 0;
}

/* All of ".name", "->name" and "[N]" that there is at *@at; a name at the beginning needs no dot. */
static int walk_all(const Btf *b, Member *m, const char **at, bool is_begun, char *why) {
        int r = 0;

        while (r == 0) {
                const char *s = *at, *next = startswith(s, ".") ?: startswith(s, "->");
                size_t n = n_word(next ?: s);
                uint64_t i = 0;

                if ((next || !is_begun) && n > 0) {
                        r = walk_name(b, m, next ?: s, n, why);
                        *at = (next ?: s) + n;
                } else if (*s == '[') {
                        n = strspn(s + 1, "0123456789");
                        for (size_t k = 1; k <= n && i < OFFSET_MAX; k++)
                                i = i * 10 + (uint64_t) (s[k] - '0');
                        if (n == 0 || s[n + 1] != ']')
                                return refuse(why, "\"%s\" is no item like [3]", NAME_QUOTED(s));
                        r = walk_item(b, m, i, why);
                        *at = s + n + 2;
                } else if (next)
                        return refuse(why, "no member is named behind \"%.2s\"", s);
                else
                        break;
                is_begun = true;
        }
        return r;
}

/* --- functions ----------------------------------------------------------------------------------- */

static Type proto_of(const Btf *b, const char *function) {
        Type t = {};

        if (!btf_function(b, function, strlen(function), &t))
                return (Type){};
        t = btf_type(b, t.part, t.size_or_type);
        return t.data && t.kind == KIND_FUNC_PROTO ? t : (Type){};
}

static Member param_of(const Btf *b, const Type *proto, unsigned i) {
        const uint8_t *data = proto->data + TYPE_BYTES + (size_t) 8 * i;
        Member m = {
                .param = i,
                .name = btf_name(b, proto->part, load_u32(data, proto->part->swap)) ?: "",
                .part = proto->part,
                .number = load_u32(data + 4, proto->part->swap),
        };

        settle(b, &m);
        return m;
}

int member_of_param(Member *ret, const Prototypes *p, const char *function, unsigned i) {
        Type proto = proto_of(prototypes_btf(p), function);

        if (!proto.data || i >= proto.n_members)
                return MEMBER_E_NONE;
        *ret = param_of(prototypes_btf(p), &proto, i);
        return 0;
}

/* Makes a pointer to the structure of a name out of @m. */
static bool cast(const Btf *b, Member *m, const char *name, size_t n_name) {
        Type t;

        if (!find_structure(b, name, n_name, &t, &m->number))
                return false;
        m->part = t.part;
        m->is_cast = true;
        settle(b, m);
        return true;
}

int member_of_struct(Member *ret, const Prototypes *p, const char *name) {
        Member m = { .name = "" };

        if (!cast(prototypes_btf(p), &m, name, strlen(name)))
                return MEMBER_E_NONE;
        *ret = m;
        return 0;
}

int member_walk(Member *m, const Prototypes *p, const char *path, char why[static MEMBER_WHY_MAX]) {
        Member walked = *m;
        int r;

        *why = 0;
        r = walk_all(prototypes_btf(p), &walked, &path, false, why);
        if (r == 0 && *path)
                r = refuse(why, "\"%s\" is no member", NAME_QUOTED(path));
        if (r == 0)
                *m = walked;
        return r;
}

typedef struct Parser {
        const Btf *b;
        const char *function;
        Type proto;
        const char *at;
        char *why;
} Parser;

static int parse_param(Parser *p, Member *ret) {
        size_t n = n_word(p->at);
        char word[FUNCTION_NAME_MAX + 1];
        Gathered g = {};

        if (n == 0)
                return refuse(p->why, *p->at ? "\"%s\" is no parameter" : "no parameter is named",
                              NAME_QUOTED(p->at));
        for (unsigned i = 0; i < p->proto.n_members; i++) {
                Member m = param_of(p->b, &p->proto, i);

                if (strncmp(m.name, p->at, n) == 0 && !m.name[n]) {
                        p->at += n;
                        *ret = m;
                        return 0;
                }
                if (*m.name && g.n < GATHERED_MAX)
                        g.names[g.n++] = m.name;
        }
        (void) snprintf(word, sizeof(word), "%.*s", (int) MIN(n, sizeof(word) - 1), p->at);
        return refuse_name(p->function, "()", "parameter", word, &g, p->why);
}

static int parse_whole(Parser *p, Member *ret, unsigned depth);

/* A parameter, or what is in parentheses, with a cast before it or not. */
static int parse_base(Parser *p, Member *ret, unsigned depth) {
        size_t n = *p->at == '(' ? n_word(p->at + 1) : 0;
        const char *type = p->at + 1;
        int r;

        if (depth >= DEPTH_MAX)
                return refuse(p->why, "it has more than %d parentheses", DEPTH_MAX);
        if (*p->at != '(')
                return parse_param(p, ret);
        if (n > 0 && type[n] == ')' && (n_word(type + n + 1) > 0 || type[n + 1] == '(')) {
                p->at = type + n + 1;
                r = parse_base(p, ret, depth + 1);
                if (r == 0 && (ret->n_bits > 0 || ret->n_bytes != sizeof(uint64_t) ||
                               ret->kind >= MEMBER_TEXT))
                        return refuse(p->why, "\"%s\" is no pointer, so it cannot be one to %.*s",
                                      ret->name, (int) MIN(n, (size_t) FUNCTION_NAME_MAX), type);
                return r != 0 || cast(p->b, ret, type, n)
                               ? r
                               : refuse(p->why, "the kernel has no structure \"%.*s\"",
                                        (int) MIN(n, (size_t) FUNCTION_NAME_MAX), type);
        }
        p->at++;
        r = parse_whole(p, ret, depth + 1);
        if (r == 0 && *p->at++ != ')')
                return refuse(p->why, "a parenthesis is not closed");
        return r;
}

static int parse_whole(Parser *p, Member *ret, unsigned depth) {
        return parse_base(p, ret, depth) ?: walk_all(p->b, ret, &p->at, true, p->why);
}

int member_find(Member *ret, const Prototypes *p, const char *function, const char *expression,
                char why[static MEMBER_WHY_MAX]) {
        Parser parser = { prototypes_btf(p), function, proto_of(prototypes_btf(p), function),
                          expression, why };
        Member m = {};
        int r;

        *why = 0;
        if (!parser.proto.data)
                return MEMBER_E_NONE;
        r = parse_whole(&parser, &m, 0);
        if (r == 0 && *parser.at)
                r = refuse(why, "\"%s\" is no member", NAME_QUOTED(parser.at));
        if (r == 0)
                *ret = m;
        return r;
}

char *member_place(const Member *m, char text[static MEMBER_PLACE_MAX]) {
        char *at = text;

        for (unsigned i = m->n_offsets; i-- > 0;)
                at += sprintf(at, "+%u(", m->offsets[i]);
        at += sprintf(at, "$arg%u", m->param + 1);
        memset(at, ')', m->n_offsets);
        at[m->n_offsets] = 0;
        return text;
}
