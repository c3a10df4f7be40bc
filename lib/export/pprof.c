/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A profile as pprof reads it: a sample for each node of the call tree, with what its calls took themselves; what they
 * took with all below is what the reader adds up.  Numbers of strings, mappings, functions and locations are given as
 * they are met, and each is written then.
 *
 * Where the ways of calls are known a function has a location for each line that it calls from, and what was inlined there is
 * in the same one, innermost first; the innermost function of a stack has its own line.
 *
 * Calls that were cut have a sample of their own with the label "cut", so that it can be left out; what may be the time of
 * functions that were not hooked has the label "not_hooked_below".
 *
 * Source: github.com/google/pprof, proto/profile.proto (2026).
 */

#include "encode/protobuf.h"
#include "export/exporter.h"
#include "meta/meta.h"

enum { /* fields */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_MAPPING = 3,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING = 6,
       PROFILE_TIME_NS = 9,
       PROFILE_DURATION_NS = 10,
       PROFILE_COMMENT = 13,
       PROFILE_DEFAULT_TYPE = 14,
       TYPE_TYPE = 1,
       TYPE_UNIT = 2,
       SAMPLE_LOCATIONS = 1,
       SAMPLE_VALUES = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_TEXT = 2,
       MAPPING_ID = 1,
       MAPPING_FILE = 5,
       MAPPING_BUILD_ID = 6,
       MAPPING_HAS_FUNCTIONS = 7,
       MAPPING_HAS_FILES = 8,
       MAPPING_HAS_LINES = 9,
       MAPPING_HAS_INLINES = 10,
       LOCATION_ID = 1,
       LOCATION_MAPPING = 2,
       LOCATION_ADDRESS = 3,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       LINE_LINE = 2,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_FILE = 4,
       FUNCTION_LINE = 5,
};

static const char *const types[][2] = {
        { "calls", "count" },
        { "time", "nanoseconds" },
        { "waiting", "nanoseconds" },
};

typedef struct Pprof {
        ExportState s;
        Buf message, inner;
        Intern functions; /* ids are the number, plus 1, likewise: */
        Strv modules;     /* of a mapping each */
        Hash locations;   /* ids, by their lines and what was called there */
        uint64_t n_locations;
        uint64_t n_strings;
        uint64_t cut, cut_text, not_hooked, note; /* strings */
        int32_t noted;                            /* what the note is of */
} Pprof;

static uint64_t add_string(Pprof *p, const char *s, size_t n) {
        proto_string(p->s.out, PROFILE_STRING, s, n);
        return p->n_strings++;
}

static uint64_t add_word(Pprof *p, const char *s) {
        return add_string(p, s, strlen(s));
}

static void add_comment(Pprof *p, const char *before, const char *s) {
        _cleanup_buf_ Buf text = BUF_INIT;

        if (!s || !*s)
                return;
        buf_adds(&text, before);
        buf_adds(&text, s);
        proto_u64(p->s.out, PROFILE_COMMENT, add_string(p, text.data, text.n_data));
}

/* 0 without memory. */
static uint64_t mapping_of(Pprof *p, const Function *f) {
        _cleanup_free_ char *name = NULL;
        size_t n, i = 0;
        const char *module = function_module(f, &n), *build_id;
        bool is_program = f->kind == FUNCTION_OF_PROGRAM;

        if (asprintf(&name, is_program && module ? "%.*s" : "[%.*s]", module ? (int) n : -1,
                     module       ? module
                     : is_program ? "unknown"
                                  : "kernel.kallsyms") < 0) {
                name = NULL; /* it is not defined then */
                return 0;
        }
        while (i < p->modules.n && !streq(p->modules.items[i], name))
                i++;
        if (i == p->modules.n) {
                if (strv_add(&p->modules, name) < 0)
                        return 0;
                proto_u64(&p->message, MAPPING_ID, i + 1);
                build_id = p->s.info->build_ids && !is_program
                                   ? build_ids_get(p->s.info->build_ids, module, n)
                                   : NULL;
                proto_u64(&p->message, MAPPING_FILE, add_word(p, name));
                if (build_id)
                        proto_u64(&p->message, MAPPING_BUILD_ID, add_word(p, build_id));
                proto_u64(&p->message, MAPPING_HAS_FUNCTIONS, true);
                for (unsigned field = MAPPING_HAS_FILES; field <= MAPPING_HAS_INLINES; field++)
                        proto_u64(&p->message, field, p->s.info->define != NULL);
                proto_message(p->s.out, PROFILE_MAPPING, &p->message);
        }
        return i + 1;
}

/* @path: where some of its lines are; NULL: not known.  0 without memory. */
static uint64_t function_of(Pprof *p, const Function *f, const char *path) {
        const ExportInfo *info = p->s.info;
        uint64_t name, file = 0;
        uint32_t number, line = 0;
        int r = intern_add(&p->functions, f, &number);

        if (r <= 0)
                return r < 0 ? 0 : number + 1;
        /* Without a system name: one would say that it is mangled. */
        name = add_string(p, f->label, f->n_label);
        if (info->define)
                (void) info->define(info->ways, f, &path, &line);
        if (path)
                file = add_word(p, path);
        proto_u64(&p->message, FUNCTION_ID, number + 1);
        proto_u64(&p->message, FUNCTION_NAME, name);
        if (file > 0)
                proto_u64(&p->message, FUNCTION_FILE, file);
        if (line > 0)
                proto_u64(&p->message, FUNCTION_LINE, line);
        proto_message(p->s.out, PROFILE_FUNCTION, &p->message);
        return number + 1;
}

/* A line of the location that is under way in @lines. */
static int add_line(Pprof *p, Buf *lines, const Function *f, const char *path, uint32_t line) {
        uint64_t function = function_of(p, f, path);

        if (function == 0)
                return -ENOMEM;
        proto_u64(&p->inner, LINE_FUNCTION, function);
        if (line > 0)
                proto_u64(&p->inner, LINE_LINE, line);
        proto_message(lines, LOCATION_LINE, &p->inner);
        return lines->error;
}

/* Where *@at is, or was when it called *@callee (NULL: it is the innermost): its line, and before it those of what was inlined
 * between the two.  Then who called it, NULL: nobody, and what.  The id of its location; 0 without memory. */
static uint64_t take_location(Pprof *p, const CallNode **at, const Function **callee) {
        _cleanup_buf_ Buf lines = BUF_INIT;
        const CallNode *n = *at;
        const ExportInfo *info = p->s.info;
        uint64_t key, id, mapping;

        for (;; n = n->parent) {
                const Function *f = function_plain(n->function), *called = *callee;
                const char *path = called ? called->file : NULL;
                uint32_t line = called ? called->line : 0;

                if (!called && info->define)
                        (void) info->define(info->ways, f, &path, &line);
                if (add_line(p, &lines, f, path, line) < 0)
                        return 0;
                *callee = n->function;
                if (n->function->kind != FUNCTION_INLINED || !n->parent->function)
                        break;
        }
        *at = n->parent->function ? n->parent : NULL;
        key = hash_mix(hash_bytes(HASH_BYTES_FIRST, lines.data, lines.n_data));
        id = hash_get(&p->locations, key);
        if (id > 0)
                return id;
        mapping = mapping_of(p, function_plain(n->function));
        id = ++p->n_locations;
        if (mapping == 0 || hash_add(&p->locations, key, id) < 0)
                return 0;
        proto_u64(&p->message, LOCATION_ID, id);
        proto_u64(&p->message, LOCATION_MAPPING, mapping);
        proto_u64(&p->message, LOCATION_ADDRESS, n->function->address);
        buf_add(&p->message, lines.data, lines.n_data);
        proto_message(p->s.out, PROFILE_LOCATION, &p->message);
        return id;
}

static void add_label(Pprof *p, Buf *sample, uint64_t key, uint64_t text) {
        proto_u64(&p->inner, LABEL_KEY, key);
        proto_u64(&p->inner, LABEL_TEXT, text);
        proto_message(sample, SAMPLE_LABEL, &p->inner);
}

/* What is written of @node: its stack, innermost first, and the values.  0 or -ENOMEM. */
static int add_sample(Pprof *p, const CallNode *node, bool is_cut, const uint64_t *values) {
        _cleanup_buf_ Buf stack = BUF_INIT, sample = BUF_INIT;
        const Function *callee = NULL;

        for (const CallNode *n = node; n;) {
                uint64_t location = take_location(p, &n, &callee);

                if (location == 0)
                        return -ENOMEM;
                buf_add_varint(&stack, location);
        }
        proto_message(&sample, SAMPLE_LOCATIONS, &stack);
        for (size_t i = 0; i < ELEMENTSOF(types); i++)
                buf_add_varint(&stack, values[i]);
        proto_message(&sample, SAMPLE_VALUES, &stack);
        if (is_cut)
                add_label(p, &sample, p->cut, p->cut_text);
        if (!unhooked_is_none(node->n_unhooked)) {
                if (p->note == 0 ||
                    p->noted != node->n_unhooked) /* neighbours have mostly the same */
                        p->note = add_word(p, UNHOOKED_NOTE(node->n_unhooked));
                p->noted = node->n_unhooked;
                add_label(p, &sample, p->not_hooked, p->note);
        }
        proto_message(p->s.out, PROFILE_SAMPLE, &sample);
        return p->s.out->error;
}

static void add_head(Pprof *p) {
        const ExportInfo *info = p->s.info;
        const SessionMeta *m = info->meta;
        _cleanup_buf_ Buf hooked = BUF_INIT;
        uint64_t names[2];

        p->message = p->inner = BUF_INIT;
        (void) add_word(p, "");
        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                names[0] = add_word(p, types[i][0]);
                names[1] = add_word(p, info->has_ticks ? "count" : types[i][1]);
                proto_u64(&p->message, TYPE_TYPE, names[0]);
                proto_u64(&p->message, TYPE_UNIT, names[1]);
                proto_message(p->s.out, PROFILE_SAMPLE_TYPE, &p->message);
                if (streq(types[i][0], "time"))
                        proto_u64(p->s.out, PROFILE_DEFAULT_TYPE, names[0]);
        }
        p->cut = add_word(p, "cut");
        p->cut_text = add_word(p, "not seen to end: lower bounds");
        p->not_hooked = add_word(p, "not_hooked_below");
        add_comment(p, "recording: ", info->title);
        add_comment(p, "host: ", info->host);
        add_comment(p, "kernel: ", info->kernel);
        add_comment(p, "left out by: ", info->filters);
        if (m)
                unhooked_describe(&hooked, m);
        buf_add(&hooked, "", 1);
        add_comment(p, "", hooked.data);
        if (m && clock_tuple_is_set(&m->start) && !info->has_ticks && p->s.begin_ns > 0)
                proto_u64(p->s.out, PROFILE_TIME_NS, session_meta_realtime_ns(m, p->s.begin_ns));
        if (info->has_ticks)
                add_comment(p, "", "times are what the trace clock counts, no nanoseconds");
        else
                proto_u64(p->s.out, PROFILE_DURATION_NS, p->s.end_ns - p->s.begin_ns);
        if (p->s.n_losses > 0)
                add_comment(p, "incomplete: ", "events were lost");
}

static int pprof_end(void *userdata) {
        Pprof *p = userdata;
        const CallNode *root = call_tree_root(p->s.tree);
        int r = 0;

        add_head(p);
        for (const CallNode *n = call_node_next(root, root); n && r >= 0;
             n = call_node_next(root, n)) {
                uint64_t whole[] = { n->n - n->n_cut, n->self_ns - n->cut_self_ns,
                                     n->blocked_ns - n->cut_blocked_ns };
                uint64_t cut[] = { n->n_cut, n->cut_self_ns, n->cut_blocked_ns };

                if (n->n > n->n_cut)
                        r = add_sample(p, n, false, whole);
                if (r >= 0 && n->n_cut > 0)
                        r = add_sample(p, n, true, cut);
        }
        return r;
}

static void pprof_done(void *userdata) {
        Pprof *p = userdata;

        buf_done(&p->message);
        buf_done(&p->inner);
        intern_done(&p->functions);
        hash_done(&p->locations);
        strv_done(&p->modules);
}

const Exporter exporter_pprof = {
        .name = "pprof",
        .summary = "a profile for \"go tool pprof\" and others: calls, own times, and waiting, by "
                   "stack",
        .is_binary = true,
        .n_bytes = sizeof(Pprof),
        .has_tree = true,
        .end = pprof_end,
        .done = pprof_done,
};
