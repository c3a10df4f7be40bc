/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Two tables of the same pointers, by address, and before them one that is
 * mapped directly (FunctionsHead).  `now` holds one span's functions: what was
 * asked for since the span began.  `all` owns what was ever made and gives a
 * name's Function back in the next span.
 */

#include "base/buf.h"
#include "base/hash.h"
#include "calls/function.h"

struct Functions {
        FunctionsHead head;
        SymbolTimeline *symbol_timeline;
        const Strv *roots;
        Prototypes *prototypes; /* may be NULL, as the next one */
        Unhooked *unhooked;
        SymbolTimelineSpan span;     /* begin_ns == end_ns: none yet */
        uint64_t irq_begin, irq_end; /* of the span; equal: not known */
        Hash now, all;
};

/* The names that were found are void. */
static void forget_names(Functions *f) {
        memset(f->head.recent, 0, sizeof(f->head.recent));
        hash_clear(&f->now);
}

/* Which of the address's functions has this label. */
static Function *find(const Functions *f, uint64_t address, const char *label) {
        const HashSlot *slot;

        hash_each (slot, &f->all, address) {
                Function *function = (void *) (uintptr_t) slot->value;

                if (streq(function->label, label))
                        return function;
        }
        return NULL;
}

/* The name's bytes, without a NUL, with an item of the list. */
static int compare_names(const void *a, const void *b) {
        const Symbol *symbol = a;
        const char *name = *(char *const *) b;
        int r = strncmp(symbol->name, name, symbol->n_name);

        return r != 0 ? r : name[symbol->n_name] ? -1 : 0;
}

static Function *function_new(Functions *f, uint64_t address) {
        _cleanup_buf_ Buf label = BUF_INIT;
        char hex[24], *copy, **root = NULL;
        Symbol symbol;
        Function *ret;
        size_t n_name;

        if (symbol_timeline_span_find(&f->span, address, &symbol)) {
                if (f->roots->n > 0)
                        root = bsearch(&symbol, f->roots->items, f->roots->n, sizeof(char *),
                                       compare_names);
        } else {
                symbol = (Symbol){ .name = hex };
                symbol.n_name =
                        (size_t) snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long) address);
        }
        symbol.n_name = MIN(symbol.n_name, (size_t) FUNCTION_SYMBOL_MAX);
        symbol.n_module = MIN(symbol.n_module, (size_t) FUNCTION_MODULE_MAX);
        buf_add_plain(&label, symbol.name, symbol.n_name, PLAIN_WORD);
        n_name = label.n_data;
        if (symbol.module) {
                buf_adds(&label, " [");
                buf_add_plain(&label, symbol.module, symbol.n_module, PLAIN_WORD);
                buf_adds(&label, "]");
        }
        ret = label.error < 0 ? NULL : malloc(sizeof(*ret) + label.n_data + 1 + FUNCTION_SLACK);
        if (!ret)
                return NULL;
        copy = (char *) (ret + 1);
        memcpy(copy, label.data ?: "", label.n_data);
        memset(copy + label.n_data, 0, 1 + FUNCTION_SLACK);
        *ret = (Function){
                .address = address,
                .label = copy,
                .n_label = (uint32_t) label.n_data,
                .n_name = (uint32_t) n_name,
                .root = root ? (int32_t) (root - f->roots->items) : -1,
                .is_irq_entry = address - f->irq_begin < f->irq_end - f->irq_begin,
                .prototype = f->prototypes
                                     ? prototypes_find(f->prototypes, symbol.name, symbol.n_name)
                                     : NULL,
        };
        copy[n_name] = 0; /* without its module */
        ret->n_unhooked = f->unhooked ? unhooked_below(f->unhooked, copy, &ret->was_left_out)
                                      : UNHOOKED_UNTOLD;
        copy[n_name] = symbol.module ? ' ' : 0;
        return ret;
}

/* Makes it, or finds what an earlier span made. */
static const Function *functions_add(Functions *f, uint64_t address) {
        bool had_turned = f->span.has_turned;
        Function *made = function_new(f, address), *known;

        if (!made)
                return NULL;
        if (f->span.has_turned != had_turned)
                forget_names(f);
        known = find(f, address, made->label);
        if (known) {
                free(made);
                made = known;
        } else if (hash_add_ptr(&f->all, address, made) < 0) {
                free(made);
                return NULL;
        }
        return hash_add_ptr(&f->now, address, made) < 0 ? NULL : made;
}

/* Source: linux 6.1 kernel/trace/trace_functions_graph.c, check_irq_entry(). */
static void find_irq_entries(Functions *f) {
        Symbol begin, end;

        f->irq_begin = f->irq_end = 0;
        if (symbols_find_name(f->span.older, "__irqentry_text_start", &begin) &&
            symbols_find_name(f->span.older, "__irqentry_text_end", &end) &&
            begin.address < end.address) {
                f->irq_begin = begin.address;
                f->irq_end = end.address;
        }
}

/* The names of another time. */
static int functions_turn(Functions *f, uint64_t timestamp_ns) {
        int r = symbol_timeline_span(f->symbol_timeline, timestamp_ns, &f->span);

        if (r < 0) {
                functions_forget_times(f);
                return r;
        }
        forget_names(f);
        find_irq_entries(f);
        f->head.begin_ns = f->span.begin_ns;
        f->head.length_ns = f->span.end_ns - f->span.begin_ns;
        return 0;
}

bool functions_find_symbol(Functions *f, uint64_t address, uint64_t timestamp_ns, Symbol *ret) {
        SymbolTimelineSpan span;

        if (timestamp_ns - f->head.begin_ns >= f->head.length_ns &&
            functions_turn(f, timestamp_ns) < 0)
                return false;
        span = f->span; /* which what is no call must not turn */
        return symbol_timeline_span_find(&span, address, ret);
}

const Function *functions_look_up(Functions *f, uint64_t address, uint64_t timestamp_ns) {
        size_t i = functions_recent_slot(address);
        const Function *function;

        if (timestamp_ns - f->head.begin_ns >= f->head.length_ns &&
            functions_turn(f, timestamp_ns) < 0)
                return NULL;
        function = hash_get_ptr(&f->now, address) ?: functions_add(f, address);
        f->head.recent[i].address = address;
        f->head.recent[i].function = function;
        return function;
}

void functions_forget_times(Functions *f) {
        f->span = (SymbolTimelineSpan){};
        f->head.begin_ns = f->head.length_ns = 0;
}

int functions_new(Functions **ret, SymbolTimeline *symbol_timeline, const Strv *roots,
                  Prototypes *prototypes) {
        *ret = NEW(Functions, .symbol_timeline = symbol_timeline, .roots = roots,
                   .prototypes = prototypes);
        return *ret ? 0 : -ENOMEM;
}

void functions_set_unhooked(Functions *f, Unhooked *unhooked) {
        f->unhooked = unhooked;
}

Functions *functions_free(Functions *f) {
        if (!f)
                return NULL;
        for (size_t i = 0; i < f->all.n_slots; i++)
                free((void *) (uintptr_t) f->all.slots[i].value);
        hash_done(&f->all);
        hash_done(&f->now);
        return mfree(f);
}
