/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lists of functions are kept once each.  Of programs' stacks most have been met before: what was made of the same addresses
 * in a process that has the same mappings is found without looking at them again.
 */

#include <inttypes.h>

#include "calls/steps.h"

#define UNKNOWN_LABEL "[unknown]"
#define SKIPPED_LABEL "..."
#define LABEL_MAX 4096 /* of a function; what is longer is cut */

/* --- lists -------------------------------------------------------------------------------------- */

/* A program's file is told where it begins: "__libc_start_call_main [libc.so.6] < main [client] < even < send_one". */
static void add_names(Buf *text, const Callers *c) {
        const char *last = NULL;
        size_t n_last = 0;

        for (size_t i = c->n; i-- > 0;) {
                const Function *f = c->functions[i];
                size_t n = 0;
                const char *place = c->is_program ? function_module(f, &n) : NULL;
                bool is_same = place && last && n == n_last && memcmp(place, last, n) == 0;

                buf_add(text, f->label, is_same ? f->n_name : f->n_label);
                buf_adds(text, i > 0 ? " < " : "");
                if (place || !c->is_program) {
                        last = place;
                        n_last = n;
                }
        }
}

static Callers *make_callers(const Function *root, const Function *const *functions, size_t n,
                             bool is_program) {
        _cleanup_free_ Callers *c = calloc(1, sizeof(*c) + n * sizeof(*functions));
        _cleanup_buf_ Buf text = BUF_INIT;

        if (!c)
                return NULL;
        c->root = root;
        c->is_program = is_program;
        c->n = (uint32_t) n;
        memcpy(c->functions, functions, n * sizeof(*functions));
        buf_adds(&text, callers_word(c));
        add_names(&text, c);
        return buf_take_string(&text, &c->text) < 0 ? NULL : TAKE_PTR(c);
}

int callers_get(CallersSet *c, const Function *root, const Function *const *functions, size_t n,
                bool is_program, const Callers **ret) {
        size_t n_bytes = n * sizeof(*functions);
        uint64_t key = hash_bytes(hash_key(root), (const char *) functions, n_bytes) + is_program;
        const HashSlot *slot;

        hash_each (slot, &c->by_key, key) {
                *ret = c->items[slot->value - 1];
                if ((*ret)->root == root && (*ret)->n == n && (*ret)->is_program == is_program &&
                    memcmp((*ret)->functions, functions, n_bytes) == 0)
                        return 0;
        }
        if (!ARRAY_GROW(c->items, c->n))
                return -ENOMEM;
        *ret = c->items[c->n] = make_callers(root, functions, n, is_program);
        return *ret ? hash_add(&c->by_key, key, ++c->n) : -ENOMEM;
}

void callers_done(CallersSet *c) {
        for (size_t i = 0; i < c->n; i++) {
                free(c->items[i]->text);
                free(c->items[i]);
        }
        free(c->items);
        hash_done(&c->by_key);
}

/* --- of the kernel -------------------------------------------------------------------------------- */

int callers_above(Functions *functions, const Function *root, uint64_t timestamp_ns,
                  const uint64_t *addresses, size_t n, const Function **ret, bool *ret_is_there) {
        int n_found = 0;

        *ret_is_there = false;
        for (size_t i = 0; i < n; i++) {
                /* Where it returns to may be behind the last instruction of a function that does not return; but where
                 * probes are breakpoints, as on arm64, the root's is where it begins. */
                uint64_t address = addresses[i] - 1;
                const Function *f;
                Symbol s;

                if (addresses[i] == root->address)
                        address = addresses[i];
                else if (functions_find_symbol(functions, address, timestamp_ns, &s))
                        address = s.address;
                f = functions_get(functions, address, timestamp_ns);
                if (!f)
                        return -ENOMEM;
                if (*ret_is_there)
                        ret[n_found++] = f;
                *ret_is_there = *ret_is_there || function_is_same(f, root);
        }
        return n_found;
}

/* --- of programs ---------------------------------------------------------------------------------- */

#define KNOWN_MAX ((size_t) 1 << 18) /* then all are made anew */

typedef struct KnownStack {
        const Callers *callers;
        const Function *root;
        uint64_t state;
        int32_t tgid;
        uint32_t n;
        enum { STACK_UNTOLD, STACK_FULL, STACK_EARLY, STACK_UNKNOWN } how; /* what lacks in it */
        const char *file; /* EARLY: the outermost function's; NULL: not known */
        bool is_unwound;
        UnwindEnd end; /* of one that is */
        uint64_t *addresses;
} KnownStack;

int program_stacks_new(ProgramStacks **ret, Spaces *spaces) {
        *ret = NEW(ProgramStacks, .spaces = spaces);
        return *ret ? 0 : -ENOMEM;
}

/* The function of that label, of whose bytes @n_name are its name. */
static const Function *intern_function(ProgramStacks *p, const char *label, size_t n_label,
                                       size_t n_name) {
        uint64_t key = hash_bytes(HASH_BYTES_FIRST, label, n_label);
        const HashSlot *slot;
        Function *f;
        char *copy;

        hash_each (slot, &p->functions, key) {
                f = (void *) (uintptr_t) slot->value;
                if (f->n_label == n_label && memcmp(f->label, label, n_label) == 0)
                        return f;
        }
        f = malloc(sizeof(*f) + n_label + 1 + FUNCTION_SLACK);
        if (!f || hash_add_ptr(&p->functions, key, f) < 0) {
                free(f);
                return NULL;
        }
        copy = (char *) (f + 1);
        memset(append(copy, label, n_label), 0, 1 + FUNCTION_SLACK);
        *f = (Function){ .label = copy,
                         .n_label = (uint32_t) n_label,
                         .n_name = (uint32_t) n_name,
                         .root = -1,
                         .n_unhooked = UNHOOKED_UNTOLD,
                         .kind = FUNCTION_OF_PROGRAM };
        return f;
}

/* "main [client]", "0x2724a [libc.so.6]", "[unknown]"; NULL without memory. */
static const Function *name_frame(ProgramStacks *p, const SpacePlace *place, ProgramFrame *frame) {
        _cleanup_buf_ Buf label = BUF_INIT;
        size_t n_name;

        if (p->naming.name && place->is_known)
                p->naming.name(p->naming.userdata, place, frame);
        if (frame->n_name == 0 && !place->file)
                buf_adds(&label, UNKNOWN_LABEL);
        else if (frame->n_name > 0)
                buf_add_plain(&label, frame->name, MIN(frame->n_name, (size_t) LABEL_MAX),
                              PLAIN_WORD);
        else
                buf_printf(&label, "0x%" PRIx64, frame->address ?: place->at + frame->is_return);
        n_name = label.n_data;
        if (place->file || frame->origin)
                buf_printf(&label, " [%s]", place->file ? place->file->name : frame->origin);
        return label.error < 0 ? NULL : intern_function(p, label.data, label.n_data, n_name);
}

/* True if nothing that a program has calls it. */
static bool is_outermost(const Function *f) {
        static const char *const names[] = { "_start",
                                             "main",
                                             "start_thread",
                                             "clone3",
                                             "__clone3",
                                             "clone",
                                             "runtime.goexit",
                                             "runtime.goexit.abi0",
                                             "runtime.rt0_go",
                                             "runtime.rt0_go.abi0",
                                             "runtime.mcall",
                                             "runtime.systemstack",
                                             "__libc_start_call_main",
                                             "__libc_start_main" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (strlen(names[i]) == f->n_name && memcmp(names[i], f->label, f->n_name) == 0)
                        return true;
        return false;
}

/* Its functions.  0 or -ENOMEM. */
static int make_known(ProgramStacks *p, KnownStack *k, uint64_t timestamp_ns) {
        const Function *functions[2 * UNWIND_FRAMES_MAX + 1], *skipped;
        bool is_whole = false, is_known = false, is_told = false;
        size_t n = 0;

        skipped = intern_function(p, SKIPPED_LABEL, strlen(SKIPPED_LABEL), strlen(SKIPPED_LABEL));
        if (!skipped)
                return -ENOMEM;
        for (uint32_t i = 0; i < k->n; i++) {
                ProgramFrame frame = { .is_unwound = k->is_unwound, .is_return = i > 0 };
                SpacePlace place;

                /* The address behind the call may be another function's. */
                spaces_find(p->spaces, k->tgid, k->addresses[i] - frame.is_return, timestamp_ns,
                            &place);
                functions[n] = name_frame(p, &place, &frame);
                if (!functions[n])
                        return -ENOMEM;
                is_told = frame.n_name > 0 || frame.is_wrong;
                if (frame.is_wrong)
                        break;
                n++;
                is_known = is_known || place.file || frame.n_name > 0;
                k->file = place.file ? place.file->name : NULL;
                is_whole = is_whole || is_outermost(functions[n - 1]);
                if (!k->is_unwound && frame.hides_caller && i + 1 < k->n)
                        functions[n++] = skipped;
        }
        if (k->is_unwound && k->end == UNWIND_END_CUT)
                functions[n++] = skipped;
        k->how = !is_known                                                  ? STACK_UNKNOWN
                 : is_whole || (k->is_unwound && k->end != UNWIND_END_LOST) ? STACK_UNTOLD
                 : k->is_unwound                                            ? STACK_EARLY
                 : k->n == PROGRAM_FRAMES_MAX && n >= k->n                  ? STACK_FULL
                 : is_told                                                  ? STACK_EARLY
                                                                            : STACK_UNTOLD;
        return callers_get(&p->set, k->root, functions, n, true, &k->callers);
}

static void count(ProgramStacks *p, KnownStack *k) {
        p->told.n++;
        p->told.n_cut += k->is_unwound && k->end == UNWIND_END_CUT;
        p->told.n_full += k->how == STACK_FULL;
        p->told.n_early += k->how == STACK_EARLY;
        p->told.n_unknown += k->how == STACK_UNKNOWN;
        if (k->how == STACK_EARLY && k->file && !p->told.early_file)
                p->told.early_file = k->file;
}

static void forget_known(ProgramStacks *p) {
        for (size_t i = 0; i < p->n_known; i++)
                free(p->known[i].addresses);
        p->n_known = 0;
        hash_clear(&p->known_at);
        free(TAKE_PTR(p->known));
}

int program_stacks_get(ProgramStacks *p, int32_t tgid, const Function *root, uint64_t timestamp_ns,
                       const uint64_t *addresses, size_t n, StackCopy *copy, const Callers **ret) {
        uint64_t state = spaces_state(p->spaces, tgid, timestamp_ns), key;
        uint64_t unwound[UNWIND_FRAMES_MAX];
        KnownStack k = { .root = root, .state = state, .tgid = tgid };
        const HashSlot *slot;
        int r;

        *ret = NULL;
        n = MIN(n, (size_t) PROGRAM_FRAMES_MAX);
        if (copy && copy->tgid == tgid && p->naming.unwind) {
                size_t n_unwound = p->naming.unwind(p->naming.userdata, p->spaces, copy,
                                                    timestamp_ns, unwound, &k.end);

                k.is_unwound = n_unwound > n || k.end == UNWIND_END_WHOLE;
                addresses = k.is_unwound ? unwound : addresses;
                n = k.is_unwound ? n_unwound : n;
        }
        if (n == 0)
                return 0;
        p->told.n_uncopied += !copy;
        k.n = (uint32_t) n;
        key = hash_bytes(hash_key(root) ^ state ^ (uint64_t) tgid, (const char *) addresses,
                         n * sizeof(*addresses)) +
              k.is_unwound + 2 * k.end;
        hash_each (slot, &p->known_at, key) {
                KnownStack *known = &p->known[slot->value - 1];

                if (known->root == root && known->state == state && known->tgid == tgid &&
                    known->n == k.n && known->is_unwound == k.is_unwound && known->end == k.end &&
                    memcmp(known->addresses, addresses, n * sizeof(*addresses)) == 0) {
                        count(p, known);
                        *ret = known->callers;
                        return 0;
                }
        }
        if (p->n_known == KNOWN_MAX)
                forget_known(p);
        k.addresses = malloc(n * sizeof(*addresses));
        if (!k.addresses)
                return -ENOMEM;
        memcpy(k.addresses, addresses, n * sizeof(*addresses));
        r = make_known(p, &k, timestamp_ns);
        if (r < 0 || !ARRAY_ADD(p->known, p->n_known, k)) {
                free(k.addresses);
                return r < 0 ? r : -ENOMEM;
        }
        if (hash_add(&p->known_at, key, p->n_known) < 0)
                return -ENOMEM;
        count(p, &k);
        *ret = k.callers;
        return 0;
}

ProgramStacks *program_stacks_free(ProgramStacks *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->functions.n_slots; i++)
                free((void *) (uintptr_t) p->functions.slots[i].value);
        callers_done(&p->set);
        hash_done(&p->functions);
        forget_known(p);
        hash_done(&p->known_at);
        return mfree(p);
}
