/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Functions of a recording become symbols of the kernel or of a module, by their names, and where several have one
 * name by their addresses.  A call's sites are those of the caller's calls that go there; and those of what it calls
 * that no recording shows, for these are between the two as well.
 */

#include "analyze/role.h"
#include "lines/lines-private.h"

#define SHIFT_SAMPLES 256 /* functions that are compared to find out where the kernel was */
/* What is not recorded may call what is not either; beyond that nobody looks. */
#define HIDDEN_DEPTH_MAX 4
#define HIDDEN_MAX 1000
#define CALLS_MAX 256
#define MODULE_SPAN (UINT64_C(1) << 22)

/* What a Function is. */
typedef struct Known {
        LinesObject *object; /* NULL: not known */
        uint32_t symbol;
} Known;

/* --- objects ---------------------------------------------------------------------------------- */

static bool is_of(const Symbol *s, const LinesObject *o) {
        return o->module ? s->module && s->n_module == strlen(o->module) &&
                                   memcmp(s->module, o->module, s->n_module) == 0
                         : !s->module;
}

/* How far the object was moved, by what is known of its symbols; @near: where some of them are.  False: they are
 * elsewhere, each by another distance. */
static bool object_find_shift(const Lines *l, LinesObject *o, uint64_t near) {
        SymbolTimelineSpan span;
        size_t n_alike = 0, n_other = 0, n_known = 0;
        uint64_t at = o->module ? near - MIN(near, MODULE_SPAN) : 0;
        Symbol s;

        if (!l->recording.symbols || symbol_timeline_span(l->recording.symbols, 0, &span) < 0)
                return true;
        for (; n_alike + n_other < SHIFT_SAMPLES && symbols_find_behind(span.newer, at, &s);
             at = s.address) {
                bool is_only;
                uint32_t k;
                uint64_t shift;

                if (o->module && at > near + MODULE_SPAN)
                        break;
                if (!strchr("tT", s.type) || !is_of(&s, o))
                        continue;
                n_known++;
                k = code_symbols_named(&o->symbols, s.name, s.n_name, &is_only);
                if (k == NO_SYMBOL || !is_only)
                        continue;
                shift = s.address - o->symbols.items[k].address;
                if (!o->is_shifted) {
                        o->shift = shift;
                        o->is_shifted = true;
                }
                if (shift == o->shift)
                        n_alike++;
                else
                        n_other++;
        }
        /* A module's sections each have a distance of their own.  A kernel without symbols cannot be compared. */
        return o->module || (n_other <= n_alike / 8 && (n_alike > 0 || n_known == 0));
}

/* Marks what was not hooked, at least for a while. */
static void object_mark_left_out(const Lines *l, LinesObject *o) {
        for (size_t i = 0; l->recording.meta && i < l->recording.meta->left_out.n; i++) {
                const char *name = l->recording.meta->left_out.items[i];
                size_t n = strcspn(name, " ");
                const HashSlot *slot;

                hash_each (slot, &o->symbols.names, hash_bytes(HASH_BYTES_FIRST, name, n)) {
                        const char *is = o->symbols.items[slot->value - 1].name;

                        if (strlen(is) == n && memcmp(is, name, n) == 0)
                                o->marks[slot->value - 1] |= OBJECT_IS_LEFT_OUT;
                }
        }
}

/* The object of @module, which is looked for the first time; NULL in @ret: there is none.  0 or -errno. */
static int object_get(Lines *l, const char *module, size_t n_module, uint64_t near,
                      LinesObject **ret) {
        _cleanup_(object_freep) LinesObject *o = NULL;
        _cleanup_free_ char *problem = NULL;
        int r;

        for (size_t i = 0; i < l->n_objects; i++) {
                const char *is = l->objects[i]->module;

                if (module ? is && strlen(is) == n_module && memcmp(is, module, n_module) == 0
                           : !is) {
                        *ret = l->objects[i]->origin ? l->objects[i] : NULL;
                        return 0;
                }
        }
        o = NEW(LinesObject, .in_file = -1);
        if (!o)
                return -ENOMEM;
        o->module = module ? strndup(module, n_module) : NULL;
        if (module && !o->module)
                return -ENOMEM;
        r = search_object(l, o, &problem);
        if (r == LINES_E_NONE)
                r = strv_take(&l->lacking, TAKE_PTR(problem));
        else if (r >= 0) {
                o->callers = calloc(o->symbols.n + 1, sizeof(LinesCaller *));
                o->marks = calloc(o->symbols.n + 1, 1);
                r = o->callers && o->marks ? 0 : -ENOMEM;
                if (r >= 0)
                        object_mark_left_out(l, o);
                if (r >= 0 && !object_find_shift(l, o, near))
                        r = strv_addf(&l->lacking,
                                      "%s is of another kernel: its functions are not where "
                                      "the recording has them",
                                      o->origin);
        }
        if (r >= 0 && !ARRAY_ADD(l->objects, l->n_objects, o))
                r = -ENOMEM;
        if (r < 0)
                return r;
        *ret = o->origin ? o : NULL;
        (void) TAKE_PTR(o);
        return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

int lines_open(Lines **ret, const LinesRecording *recording, const LinesPlace *place,
               char **ret_problem) {
        _cleanup_(lines_freep) Lines *l = NEW(Lines, .recording = *recording, .place = *place);
        LinesObject *kernel;
        int r;

        if (!l)
                return -ENOMEM;
        r = object_get(l, NULL, 0, 0, &kernel);
        if (r < 0)
                return r;
        if (l->lacking.n > 0) {
                *ret_problem = strv_take_first(&l->lacking);
                return LINES_E_NONE;
        }
        *ret = TAKE_PTR(l);
        return 0;
}

const char *lines_origin(const Lines *l) {
        return l->objects[0]->origin;
}

const Strv *lines_lacking(const Lines *l) {
        return &l->lacking;
}

static void free_pair(Pair *p) {
        for (uint32_t i = 0; i < p->sites.n_sites; i++)
                free((LineFrame *) p->items[i].frames);
        free(p->items);
        free(p->calls);
        free(p);
}

Lines *lines_free(Lines *l) {
        if (!l)
                return NULL;
        for (size_t i = 0; i < l->pairs.n_slots; i++)
                if (l->pairs.slots[i].value)
                        free_pair((Pair *) (uintptr_t) l->pairs.slots[i].value);
        for (size_t i = 0; i < l->functions.n_slots; i++)
                free((void *) (uintptr_t) l->functions.slots[i].value);
        hash_done(&l->pairs);
        hash_done(&l->functions);
        for (size_t i = 0; i < l->n_objects; i++)
                (void) object_free(l->objects[i]);
        free(l->objects);
        (void) lines_file_free(l->file);
        for (size_t i = 0; i < ELEMENTSOF(l->modules); i++)
                strv_done(&l->modules[i].paths);
        strv_done(&l->lacking);
        return mfree(l);
}

/* --- functions -------------------------------------------------------------------------------- */

/* Where the function began in the recording. */
static uint64_t recorded_address(const Lines *l, const Function *f) {
        SymbolTimelineSpan span;
        Symbol s;

        if (l->recording.symbols && symbol_timeline_span(l->recording.symbols, 0, &span) >= 0 &&
            symbols_find(span.newer, f->address, &s) && s.n_name == f->n_name &&
            memcmp(s.name, f->label, s.n_name) == 0)
                return s.address;
        return f->address;
}

static int find_symbol(Lines *l, const Function *f, Known *k) {
        size_t n_module;
        const char *module = function_module(f, &n_module);
        const LinesObject *o;
        bool is_only;
        uint32_t first;
        uint64_t want;
        int r = object_get(l, module, n_module, f->address, &k->object);

        o = k->object;
        if (r < 0 || !o)
                return r;
        first = code_symbols_named(&o->symbols, f->label, f->n_name, &is_only);
        k->symbol = first;
        if (first == NO_SYMBOL || is_only)
                return 0;
        /* Several have this name. */
        k->symbol = NO_SYMBOL;
        if (!o->is_shifted)
                return 0;
        want = recorded_address(l, f) - o->shift;
        for (uint32_t i = code_symbols_at(&o->symbols, want);
             i < o->symbols.n && o->symbols.items[i].address == want; i++)
                if (strlen(o->symbols.items[i].name) == f->n_name &&
                    memcmp(o->symbols.items[i].name, f->label, f->n_name) == 0)
                        k->symbol = i;
        return 0;
}

/* NULL without memory. */
static const Known *known_of(Lines *l, const Function *f) {
        Known *k = hash_get_ptr(&l->functions, hash_key(f));

        if (k)
                return k;
        k = NEW(Known, .symbol = NO_SYMBOL);
        if (!k || find_symbol(l, f, k) < 0 || hash_add_ptr(&l->functions, hash_key(f), k) < 0)
                return mfree(k);
        if (k->symbol == NO_SYMBOL)
                k->object = NULL;
        return k;
}

bool lines_definition(Lines *l, const Function *f, LineFrame *ret) {
        const Known *k = known_of(l, f);

        if (!k || !k->object)
                return false;
        k->object->marks[k->symbol] |= OBJECT_IS_WANTED;
        return object_definition(k->object, k->symbol, ret);
}

/* --- sites ------------------------------------------------------------------------------------ */

/* Whether @n, of @o, calls what @callee is. */
static bool node_calls(const LinesObject *o, const LinesNode *n, const Known *callee) {
        const CodeSymbols *s = &callee->object->symbols;
        uint64_t address = s->items[callee->symbol].address;
        const HashSlot *slot;

        if (n->target != NO_SYMBOL)
                return o == callee->object && o->symbols.items[n->target].address == address;
        if (!n->name || n->is_static || o == callee->object)
                return false;
        hash_each (slot, &s->names, hash_bytes(HASH_BYTES_FIRST, n->name, strlen(n->name)))
                if (s->items[slot->value - 1].address == address &&
                    streq(s->items[slot->value - 1].name, n->name))
                        return true;
        return false;
}

/* What @n, of @o, calls if no recording shows that; false: it does, or that is not known. */
static bool node_is_hidden(const Lines *l, LinesObject *o, const LinesNode *n, LinesObject **ret,
                           uint32_t *ret_symbol) {
        LinesObject *to = o;
        uint32_t symbol = n->target;
        bool is_only = true;

        if (symbol == NO_SYMBOL && n->name && !n->is_static && o->module) {
                to = l->objects[0];
                symbol = code_symbols_named(&to->symbols, n->name, strlen(n->name), &is_only);
        }
        if (symbol == NO_SYMBOL || !is_only)
                return false;
        if (object_is_traced(to, symbol) && !(to->marks[symbol] & OBJECT_IS_LEFT_OUT))
                return false;
        *ret = to;
        *ret_symbol = symbol;
        return true;
}

/* The site that has these frames; none: a new number. */
static uint32_t find_site(const Pair *p, const LineSite *like) {
        uint32_t i = 0;

        for (; i < p->sites.n_sites; i++) {
                const LineSite *s = &p->items[i];
                uint32_t k = 0;

                if (s->n_frames != like->n_frames || s->is_static != like->is_static ||
                    s->frames[like->n_frames - 1].line == 0)
                        continue;
                while (k < s->n_frames && s->frames[k].line == like->frames[k].line &&
                       s->frames[k].is_untraced == like->frames[k].is_untraced &&
                       streq_ptr(s->frames[k].file, like->frames[k].file) &&
                       streq_ptr(s->frames[k].function, like->frames[k].function))
                        k++;
                if (k == s->n_frames)
                        break;
        }
        return i;
}

/* A function on the way from the caller to the callee: the caller, or what no recording shows. */
typedef struct Hop {
        const struct Hop *before; /* what calls it; NULL: it is the caller */
        LinesNode *node;          /* where that does */
        LinesObject *object;
        uint32_t symbol;
        LinesCaller *caller; /* its calls */
        uint32_t first;      /* which of the caller's calls led here */
        unsigned depth;
} Hop;

/* Adds the call at @node of @hop, the caller's node @first. */
static int add_call(Pair *p, const Hop *hop, LinesNode *node, uint32_t first) {
        _cleanup_free_ LineFrame *frames = NULL;
        LineSite site = { .is_jump = p->caller->nodes[first].is_jump,
                          .is_static = node->is_static };
        size_t n_sites = p->sites.n_sites, n_calls = p->n_calls;
        uint32_t at;
        int r = object_frames(hop->object, hop->symbol, node);

        site.n_frames = node->n_frames;
        for (const Hop *h = hop; h->before && r >= 0; h = h->before) {
                r = object_frames(h->before->object, h->before->symbol, h->node);
                site.n_frames += h->node->n_frames;
        }
        if (r < 0)
                return r;
        site.frames = frames = calloc((size_t) site.n_frames + 1, sizeof(*frames));
        if (!frames)
                return -ENOMEM;
        at = site.n_frames;
        for (const Hop *h = hop; h; node = h->node, h = h->before) {
                at -= node->n_frames;
                memcpy(frames + at, node->frames, node->n_frames * sizeof(*frames));
                if (h->before && node->n_frames > 0)
                        frames[at].is_untraced = true;
        }
        at = find_site(p, &site);
        if (!ARRAY_ADD(p->calls, n_calls, (PairCall){ first, at, hop->before }) ||
            (at == n_sites && !ARRAY_ADD(p->items, n_sites, site)))
                return -ENOMEM;
        if (n_sites > p->sites.n_sites)
                (void) TAKE_PTR(frames);
        p->n_calls = (uint32_t) n_calls;
        p->sites.n_sites = (uint32_t) n_sites;
        return 0;
}

/* Those that call @callee, or, if it is NULL, a pointer or a static call, from @hop on. */
static int add_calls(Lines *l, Pair *p, const Hop *hop, const Known *callee) {
        int r = 0;

        for (uint32_t n = 0; n < hop->caller->n_nodes && p->n_calls < CALLS_MAX && r >= 0; n++) {
                LinesNode *node = &hop->caller->nodes[n];
                Hop next = { .before = hop,
                             .node = node,
                             .first = hop->before ? hop->first : n,
                             .depth = hop->depth + 1 };
                const Hop *same = hop;

                if (callee ? node_calls(hop->object, node, callee) : node_is_indirect(node))
                        r = add_call(p, hop, node, next.first);
                else if (hop->depth < HIDDEN_DEPTH_MAX && p->n_hidden < HIDDEN_MAX &&
                         node_is_hidden(l, hop->object, node, &next.object, &next.symbol)) {
                        while (same && (same->object != next.object || same->symbol != next.symbol))
                                same = same->before;
                        if (same)
                                continue;
                        p->n_hidden++;
                        next.object->marks[next.symbol] |= OBJECT_IS_WANTED;
                        r = object_caller(next.object, next.symbol, &next.caller);
                        if (r >= 0 && next.caller)
                                r = add_calls(l, p, &next, callee);
                }
        }
        return r;
}

static int find_sites(Lines *l, Pair *p, const Function *caller, const Function *callee) {
        const Known *from = known_of(l, caller), *to = known_of(l, callee);
        Hop hop;
        int r;

        if (!from || !to)
                return -ENOMEM;
        if (role_of(callee) == ROLE_IRQ)
                p->sites.answer = LINES_INTERRUPT;
        if (!from->object || !to->object)
                return 0;
        from->object->marks[from->symbol] |= OBJECT_IS_WANTED;
        to->object->marks[to->symbol] |= OBJECT_IS_WANTED;
        if (p->sites.answer == LINES_INTERRUPT)
                return 0;
        r = object_caller(from->object, from->symbol, &p->caller);
        if (r < 0 || !p->caller)
                return r;
        /* What was not hooked may lie in between, and of that nobody knows. */
        if (caller->n_unhooked == UNHOOKED_UNKNOWN ||
            (l->recording.meta && l->recording.meta->spec.hooked.n > 0))
                return 0;
        hop = (Hop){ .object = from->object, .symbol = from->symbol, .caller = p->caller };
        r = add_calls(l, p, &hop, to);
        p->sites.answer = p->sites.n_sites > 0 ? LINES_DIRECT : LINES_INDIRECT;
        if (r >= 0 && object_is_pointed(to->object, to->symbol))
                r = add_calls(l, p, &hop, NULL);
        if (p->sites.n_sites == 0)
                p->sites.answer = LINES_NONE;
        p->sites.sites = p->items;
        return r;
}

const LineSites *lines_sites(Lines *l, const Function *caller, const Function *callee) {
        uint64_t key = hash_mix(hash_key(caller)) ^ hash_key(callee);
        const HashSlot *slot;
        Pair *p;

        hash_each (slot, &l->pairs, key) {
                p = (Pair *) (uintptr_t) slot->value;
                if (p->of[0] == caller && p->of[1] == callee)
                        return &p->sites;
        }
        p = NEW(Pair, .of = { caller, callee });
        if (!p)
                return NULL;
        if (find_sites(l, p, caller, callee) < 0 || hash_add_ptr(&l->pairs, key, p) < 0) {
                free_pair(p);
                return NULL;
        }
        return &p->sites;
}
