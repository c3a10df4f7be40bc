/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The instructions of a function, one after the other, are a graph: what falls through, and what jumps.  Of that only
 * the calls remain, and which of them can be met next without another in between.  What is not known is taken to be
 * possible: a static key jumps and does not, a trap may return, and a function with a jump through a table, or with
 * bytes that cannot be read, has calls in any order.
 */

#include "lines/lines-private.h"

#define STRAY_MAX 64 /* instructions of code outside the function that it jumps to */
#define WORK_MAX                                                                                   \
        ((uint64_t) 1 << 26) /* instructions looked at to order the calls of one function */
#define NONE UINT32_MAX

/* --- instructions ----------------------------------------------------------------------------- */

typedef struct Place {
        uint64_t address, target;
        const char *name; /* of a target in another object */
        uint8_t kind, n_bytes;
        uint32_t node; /* NONE: it calls nothing */
        uint32_t seen; /* in which round */
} Place;

typedef struct Walk {
        const Image *image;
        const CodeSymbols *symbols;
        const CodeSymbol *symbol;
        CodeRange *ranges;
        size_t n_ranges;
        Place *places; /* by address, once they are all there */
        size_t n_places;
        LinesCaller *caller;
        uint32_t *stack;
} Walk;

static bool is_own(const Walk *w, uint64_t address) {
        for (size_t i = 0; i < w->n_ranges; i++)
                if (address >= w->ranges[i].begin && address < w->ranges[i].end)
                        return true;
        return false;
}

/* The function that begins at @address, or behind whose landing pad that is. */
static uint32_t function_called(const Walk *w, uint64_t address) {
        static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
        uint32_t k = code_symbols_at(w->symbols, address);
        const uint8_t *p;
        size_t n = 0;

        if (k != NO_SYMBOL)
                return k;
        p = image_bytes(w->image, address - sizeof(endbr64), &n);
        if (!p || n < sizeof(endbr64) || memcmp(p, endbr64, sizeof(endbr64)) != 0)
                return NO_SYMBOL;
        return code_symbols_at(w->symbols, address - sizeof(endbr64));
}

/* Those of [begin, end); of stray code up to where it goes elsewhere. */
static int add_places(Walk *w, CodeRange range, bool is_stray) {
        CodeMachine machine = image_code(w->image);
        size_t n = 0, n_places = 0;
        const uint8_t *p = image_bytes(w->image, range.begin, &n);

        if (!p || range.end - range.begin > CODE_MAX) {
                w->caller->is_torn = true;
                return 0;
        }
        n = MIN(n, (size_t) (range.end - range.begin));
        for (size_t at = 0; at < n; n_places++) {
                Instruction i = code_decode(machine, p + at, n - at);
                Place place = { .address = range.begin + at,
                                .kind = (uint8_t) i.kind,
                                .n_bytes = (uint8_t) i.n_bytes,
                                .node = NONE };
                uint64_t key = image_key_target(w->image, place.address);

                if (i.kind == CODE_CALL || i.kind == CODE_JUMP || i.kind == CODE_BRANCH) {
                        place.target = place.address + (uint64_t) i.target;
                        (void) image_relocated(w->image,
                                               place.address +
                                                       (machine == CODE_ARM64 ? 0 : i.n_bytes - 4),
                                               &place.target, &place.name);
                }
                if (key != 0 && (i.kind == CODE_NOP || i.kind == CODE_JUMP)) {
                        place.kind = CODE_BRANCH;
                        place.target = key;
                }
                if (!i.is_known || (is_stray && n_places == STRAY_MAX))
                        w->caller->is_torn = true;
                if (!ARRAY_ADD(w->places, w->n_places, place))
                        return -ENOMEM;
                if (is_stray && (n_places == STRAY_MAX || place.kind == CODE_JUMP ||
                                 place.kind == CODE_RETURN || place.kind == CODE_JUMP_POINTER))
                        break;
                at += i.n_bytes;
        }
        return 0;
}

static int compare_places(const void *a, const void *b) {
        return CMP(((const Place *) a)->address, ((const Place *) b)->address);
}

/* The first that is not before @address. */
static size_t place_at(const Walk *w, uint64_t address) {
        return BISECT(0, w->n_places, i, w->places[i].address < address);
}

static bool has_place(const Walk *w, size_t k, uint64_t address) {
        return k < w->n_places && w->places[k].address == address;
}

/* What the function jumps to that is neither its own nor another function: what was patched out of the way, such as
 * .altinstr_aux. */
static int add_stray(Walk *w) {
        size_t n_own = w->n_places;

        for (size_t k = 0, n = n_own; k < n && n < n_own + STRAY_MAX * STRAY_MAX;
             k++, n = w->n_places) {
                Place p = w->places[k];
                size_t known = n_own;
                int r;

                if ((p.kind != CODE_JUMP && p.kind != CODE_BRANCH) || p.name ||
                    is_own(w, p.target) || function_called(w, p.target) != NO_SYMBOL)
                        continue;
                while (known < n && w->places[known].address != p.target)
                        known++;
                if (known < n)
                        continue;
                r = add_places(w, (CodeRange){ p.target, p.target + CODE_MAX }, true);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* What compilers and the kernel call on the way to something else. */
static const struct {
        const char *prefix;
        enum { IS_POINTER, IS_RETURN, IS_STATIC, IS_NOTHING } what;
} helpers[] = {
        { "__x86_indirect_", IS_POINTER }, { "__x86_return_thunk", IS_RETURN },
        { "__SCT__", IS_STATIC },          { "__fentry__", IS_NOTHING },
        { "_mcount", IS_NOTHING },         { "__x86_return_skl", IS_RETURN },
};

/* Which helper has this name; ELEMENTSOF(helpers): none. */
static size_t find_helper(const char *name) {
        size_t i = 0;

        while (i < ELEMENTSOF(helpers) && !startswith(name, helpers[i].prefix))
                i++;
        return i;
}

/* What @p calls; false: nothing.  It may become a return. */
static bool call_of(const Walk *w, Place *p, LinesNode *ret) {
        bool is_jump = p->kind == CODE_JUMP || p->kind == CODE_BRANCH;
        const CodeSymbol *items = w->symbols->items;
        const char *name = p->name;
        size_t helper = name ? find_helper(name) : ELEMENTSOF(helpers);

        *ret = (LinesNode){ .address = p->address,
                            .target = NO_SYMBOL,
                            .name = name,
                            .is_jump = is_jump || p->kind == CODE_JUMP_POINTER };
        if (p->kind == CODE_CALL_POINTER || p->kind == CODE_JUMP_POINTER)
                return true;
        if (p->kind != CODE_CALL && !is_jump)
                return false;
        if (!name) {
                if (is_jump && is_own(w, p->target))
                        return false;
                ret->target = function_called(w, p->target);
                if (ret->target == NO_SYMBOL)
                        return false;
                /* What ends in front of a helper has a name there, too: __softirqentry_text_end. */
                for (size_t k = ret->target; helper == ELEMENTSOF(helpers) && k < w->symbols->n &&
                                             items[k].address == items[ret->target].address;
                     k++)
                        helper = find_helper(name = items[k].name);
        }
        if (helper == ELEMENTSOF(helpers))
                return true;
        ret->target = NO_SYMBOL;
        ret->name = NULL;
        switch (helpers[helper].what) {
        case IS_STATIC:
                ret->is_static = true;
                ret->name = name;
                return true;
        case IS_POINTER:
                return true;
        case IS_RETURN:
                p->kind = is_jump ? CODE_RETURN : CODE_OTHER;
                return false;
        case IS_NOTHING:
                p->kind = CODE_OTHER;
                return false;
        }
        return true;
}

static int add_nodes(Walk *w) {
        LinesCaller *c = w->caller;
        size_t n = 0;

        for (size_t k = 0; k < w->n_places; k++) {
                LinesNode node;

                if (w->places[k].kind == CODE_JUMP_POINTER)
                        c->is_torn = true; /* it may be a table of the function's own places */
                if (!call_of(w, &w->places[k], &node))
                        continue;
                w->places[k].node = (uint32_t) n;
                if (!ARRAY_ADD(c->nodes, n, node))
                        return -ENOMEM;
        }
        c->n_nodes = (uint32_t) n;
        return 0;
}

/* Adds the calls that can be met next from place @from on, and the end. */
static int add_nexts(Walk *w, size_t from, uint32_t round, size_t *n_nexts) {
        LinesCaller *c = w->caller;
        bool has_end = from >= w->n_places;
        size_t n = 0;

        w->stack[n++] = (uint32_t) from;
        while (n > 0) {
                size_t k = w->stack[--n];
                Place *p = k < w->n_places ? &w->places[k] : NULL;
                bool goes_on;

                if (!p || p->seen == round)
                        continue;
                p->seen = round;
                goes_on = p->kind != CODE_JUMP && p->kind != CODE_RETURN;
                has_end |= p->kind == CODE_RETURN;
                if (p->node != NONE) {
                        if (!ARRAY_ADD(c->nexts, *n_nexts, p->node))
                                return -ENOMEM;
                        goes_on = p->kind == CODE_BRANCH; /* a tail call, or none */
                } else if (p->kind == CODE_JUMP || p->kind == CODE_BRANCH || p->kind == CODE_CALL) {
                        size_t to = place_at(w, p->target);

                        if (!has_place(w, to, p->target))
                                has_end |= p->kind != CODE_CALL;
                        else if (w->places[to].seen != round)
                                w->stack[n++] = (uint32_t) to;
                }
                if (!goes_on)
                        continue;
                if (!has_place(w, k + 1, p->address + p->n_bytes))
                        has_end = true;
                else if (w->places[k + 1].seen != round)
                        w->stack[n++] = (uint32_t) k + 1;
        }
        if (has_end && !ARRAY_ADD(c->nexts, *n_nexts, c->n_nodes))
                return -ENOMEM;
        return 0;
}

static int add_order(Walk *w) {
        LinesCaller *c = w->caller;
        size_t n_nexts = 0;
        int r = 0;

        c->begins = calloc((size_t) c->n_nodes + 2, sizeof(*c->begins));
        /* Each place is put there twice at most for each that leads to it. */
        w->stack = calloc(w->n_places * 2 + 2, sizeof(*w->stack));
        if (!c->begins || !w->stack)
                return -ENOMEM;
        if ((uint64_t) c->n_nodes * w->n_places > WORK_MAX)
                c->is_torn = true;
        if (c->is_torn)
                return 0;
        for (uint32_t i = 0; i <= c->n_nodes && r >= 0; i++) {
                c->begins[i] = (uint32_t) n_nexts;
                if (i == c->n_nodes)
                        r = add_nexts(w, place_at(w, w->symbol->address), i + 1, &n_nexts);
                else {
                        size_t k = place_at(w, c->nodes[i].address);

                        if (!c->nodes[i].is_jump || w->places[k].kind == CODE_BRANCH)
                                r = add_nexts(w, k + 1, i + 1, &n_nexts);
                        else if (!ARRAY_ADD(c->nexts, n_nexts, c->n_nodes))
                                r = -ENOMEM;
                }
        }
        c->begins[c->n_nodes + 1] = (uint32_t) n_nexts;
        return r;
}

LinesCaller *lines_caller_free(LinesCaller *c) {
        if (!c)
                return NULL;
        for (uint32_t i = 0; i < c->n_nodes; i++)
                free(c->nodes[i].frames);
        free(c->nodes);
        free(c->begins);
        free(c->nexts);
        return mfree(c);
}

static void walk_done(Walk *w) {
        free(w->ranges);
        free(w->places);
        free(w->stack);
}

int walk_caller(LinesCaller **ret, Image *i, const CodeSymbols *symbols, uint32_t symbol) {
        _cleanup_(lines_caller_freep) LinesCaller *c = NEW(LinesCaller, .n_nodes = 0);
        _cleanup_(walk_done) Walk w = {
                .image = i, .symbols = symbols, .symbol = &symbols->items[symbol], .caller = c
        };
        int r;

        if (!c)
                return -ENOMEM;
        r = image_ranges(i, w.symbol, &w.ranges, &w.n_ranges);
        for (size_t k = 0; k < w.n_ranges && r >= 0; k++)
                r = add_places(&w, w.ranges[k], false);
        if (r >= 0)
                r = add_stray(&w);
        if (r < 0)
                return r;
        if (w.n_places > 0)
                qsort(w.places, w.n_places, sizeof(*w.places), compare_places);
        r = add_nodes(&w);
        if (r >= 0)
                r = add_order(&w);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        return 0;
}

bool walk_is_traced(const Image *i, const CodeSymbols *symbols, uint32_t symbol) {
        static const unsigned n_first[] = { [CODE_X86_64] = 2, [CODE_ARM64] = 4 };
        Walk w = { .image = i, .symbols = symbols };
        CodeMachine machine = image_code(i);
        uint64_t address = symbols->items[symbol].address;
        size_t n = 0, at = 0;
        const uint8_t *p = image_bytes(i, address, &n);

        for (unsigned k = 0; p && k < n_first[machine] && at < n; k++) {
                Instruction is = code_decode(machine, p + at, n - at);
                Place place = { .address = address + at, .kind = CODE_CALL };

                if (is.kind == CODE_NOP && (machine == CODE_ARM64 || is.n_bytes == 5))
                        return true;
                if (is.kind == CODE_CALL) {
                        LinesNode node;

                        place.target = place.address + (uint64_t) is.target;
                        (void) image_relocated(
                                i, place.address + (machine == CODE_ARM64 ? 0 : is.n_bytes - 4),
                                &place.target, &place.name);
                        return !call_of(&w, &place, &node) && place.kind == CODE_OTHER;
                }
                at += is.n_bytes;
        }
        return false;
}
