/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What somebody asks for in words and what a type stands for is one language, [NAME=]EXPRESSION[:TYPE], so that objects are
 * a table of such words, in which '@' is the parameter.  Nothing of a function's name decides, but of system calls, which
 * have their arguments in a structure of registers: what those are is in the formats of the kernel's own events.
 */

#include "base/buf.h"
#include "base/io.h"
#include "base/name.h"
#include "daemon/admission/admission.h"
#include "daemon/instances/instance.h"
#include "daemon/symbols/kernel-symbols.h"
#include "types/args-choice.h"
#include "types/members.h"

#define NAME_CHARS_MAX                                                                             \
        31 /* MAX_ARG_NAME_LEN with its NUL is 32, linux 5.10 kernel/trace/trace_probe.h */
#define FETCH_CHARS_MAX 63 /* MAX_ARGSTR_LEN, there */
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define PATH_PARTS 6
#define DEEP_PARTS 8 /* where calls are rare; FETCH_CHARS_MAX ends it at 7 for a mapping's */
#define PARAMS_MAX 6 /* in registers */
#define FORMAT_MAX ((size_t) 16 << 10)
#define UNKNOWN_MAX 8 /* that a warning names */
#define NOT_THERE                                                                                  \
        "the kernel's types (/sys/kernel/btf) do not have this function; name fields of others"

typedef struct FieldType {
        const char *word, *prefix,
                *form; /* form: as the kernel's probes say it; NULL: by the type */
        enum { NUMBER, BYTES, TEXT, PATH } as;
} FieldType;

static const FieldType types[] = {
        { "u", "u_", NULL, NUMBER },          { "d", "d_", NULL, NUMBER },
        { "x", "x_", NULL, NUMBER },          { "be16", "be_", "u16", NUMBER },
        { "be32", "be_", "u32", NUMBER },     { "be64", "be_", "u64", NUMBER },
        { "ip4", "ip4_", "u32", NUMBER },     { "ip6", "ip6_", "x8[16]", BYTES },
        { "dev", "dev_", "u32", NUMBER },     { "string", "s_", "string", TEXT },
        { "ustring", "s_", "ustring", TEXT }, { "path", "p", "string", PATH },
        { "family", "fam_", "u16", NUMBER },  { "int", "d_", "s32", NUMBER },
        { "port", "po_", "u16", NUMBER },     { "socket", "st_", "u16", NUMBER },
        { "deep", "p", "string", PATH },
};
#define N_ASKED (ELEMENTSOF(types) - 5) /* that may be asked for */

/* By the type of a parameter.  What a kernel does not have is left out. */
static const struct {
        const char *type, *via; /* via: the parameter has it there */
        const char *only;       /* in the function's name; NULL: in all */
        const char *fields[9];
} objects[] = {
#define FILE_FIELDS                                                                                \
        { "file=@.f_path.dentry:path", "ino=@.f_inode.i_ino" }
#define DENTRY_FIELDS                                                                              \
        { "file=@:path", "ino=@.d_inode.i_ino" }
#define SOCK_FIELDS                                                                                \
        {                                                                                          \
                "family=@.__sk_common.skc_family:family", "type=@.sk_type:socket",                 \
                        "sport=@.__sk_common.skc_num:port",                                        \
                        "dport=@.__sk_common.skc_dport:be16",                                      \
                        "saddr=@.__sk_common.skc_rcv_saddr:ip4",                                   \
                        "daddr=@.__sk_common.skc_daddr:ip4",                                       \
                        "saddr6=@.__sk_common.skc_v6_rcv_saddr:ip6",                               \
                        "daddr6=@.__sk_common.skc_v6_daddr:ip6"                                    \
        }
        { "file", "@", NULL, FILE_FIELDS },
        { "kiocb", "@.ki_filp", NULL, FILE_FIELDS },
        { "dentry", "@", NULL, DENTRY_FIELDS },
        { "path", "@.dentry", NULL, DENTRY_FIELDS },
        { "inode", "@", NULL, { "ino=@.i_ino", "dev=@.i_sb.s_dev:dev" } },
        { "sock", "@", NULL, SOCK_FIELDS },
        { "socket", "@.sk", NULL, SOCK_FIELDS },
        { "msghdr",
          "(sockaddr_in)(@.msg_name)",
          "sendmsg",
          { "to_family=@.sin_family:family", "to_port=@.sin_port:be16",
            "to=@.sin_addr.s_addr:ip4" } },
        { "msghdr", "(sockaddr_in6)(@.msg_name)", "sendmsg", { "to6=@.sin6_addr:ip6" } },
        { "bio", "@", NULL, { "dev=@.bi_bdev.bd_dev:dev", "sector=@.bi_iter.bi_sector" } },
        { "request", "@", NULL, { "dev=@.q.disk.part0.bd_dev:dev", "sector=@.__sector" } },
        { "task_struct", "@", NULL, { "comm=@.comm", "pid=@.pid" } },
        { "sk_buff", "@", NULL, { "dev=@.dev.name" } },
        { "net_device", "@", NULL, { "dev=@.name" } },
        { "filename", "@", NULL, { "name=@.name:string" } },
};

/* What a probe takes, as it is put together. */
typedef struct Probed {
        const Prototypes *types;
        const char *function;
        Buf registers, rest; /* parameters themselves come first: no pointer is read for them */
        Strv names;          /* without their kinds */
        char through[MEMBER_PLACE_MAX]; /* what was last read through */
        unsigned n_pointers;
        size_t n_fields;
} Probed;

static void probed_done(Probed *p) {
        buf_done(&p->registers);
        buf_done(&p->rest);
        strv_done(&p->names);
}

/* 0; MEMBER_E_REFUSED: it is too long for the kernel. */
static int put(Buf *b, const char *prefix, const char *name, const char *fetch,
               char why[static MEMBER_WHY_MAX]) {
        if (strlen(prefix) + strlen(name) > NAME_CHARS_MAX || strlen(fetch) > FETCH_CHARS_MAX) {
                (void) snprintf(
                        why, MEMBER_WHY_MAX,
                        "\"%s\" is too long for a probe of the kernel, which takes names of %d "
                        "characters and places of %d (\"%s\")",
                        name, NAME_CHARS_MAX - 4, FETCH_CHARS_MAX, fetch);
                return MEMBER_E_REFUSED;
        }
        buf_printf(b, " %s%s=%s", prefix, name, fetch);
        return b->error;
}

/* The pointers that @m is read through, unless the last number was read through the same. */
static int put_pointers(Probed *p, const Member *m, char why[static MEMBER_WHY_MAX]) {
        char place[MEMBER_PLACE_MAX], fetch[MEMBER_PLACE_MAX + 8], name[16];
        Member through = *m;
        int r = 0;

        through.n_offsets = m->n_offsets - 1;
        if (streq(member_place(&through, place), p->through))
                return 0;
        (void) snprintf(p->through, sizeof(p->through), "%s", place);
        for (unsigned i = 0; r == 0 && i < m->n_offsets; i++) {
                through.n_offsets = i;
                (void) snprintf(fetch, sizeof(fetch), "%s:x64", member_place(&through, place));
                (void) snprintf(name, sizeof(name), "%u", p->n_pointers++);
                r = put(&p->rest, "at_", name, fetch, why);
        }
        return r;
}

/* The type that the kernel's own says; NULL: it is no number and no text. */
static const FieldType *default_type(const Member *m) {
        static const char *const words[] = {
                [MEMBER_UNSIGNED] = "u", [MEMBER_SIGNED] = "d",    [MEMBER_BE] = "be16",
                [MEMBER_POINTER] = "x",  [MEMBER_TEXT] = "string", [MEMBER_TEXT_POINTER] = "string",
                [MEMBER_OBJECT] = NULL,
        };
        const char *word = words[m->kind];

        if (m->kind == MEMBER_BE)
                word = m->n_bytes == 2 ? "be16" : m->n_bytes == 4 ? "be32" : "be64";
        if (m->kind == MEMBER_OBJECT && streq(m->type, "in6_addr"))
                word = "ip6";
        for (size_t i = 0; word && i < ELEMENTSOF(types); i++)
                if (streq(types[i].word, word))
                        return &types[i];
        return NULL;
}

static int put_number(Probed *p, const FieldType *t, const char *name, const Member *m,
                      char why[static MEMBER_WHY_MAX]) {
        char place[MEMBER_PLACE_MAX], fetch[MEMBER_PLACE_MAX + 40];
        unsigned n_bits = 8;
        int r = m->n_offsets > 0 ? put_pointers(p, m, why) : 0;

        if (r != 0)
                return r;
        (void) member_place(m, place);
        while (n_bits < m->bit + m->n_bits)
                n_bits *= 2;
        if (m->n_bits > 0)
                (void) snprintf(fetch, sizeof(fetch), "%s:b%u@%u/%u", place, m->n_bits, m->bit,
                                n_bits);
        else if (t->form)
                (void) snprintf(fetch, sizeof(fetch), "%s:%s", place, t->form);
        else
                (void) snprintf(fetch, sizeof(fetch), "%s:%c%u", place,
                                *t->prefix == 'd' ? 's' : *t->prefix, (unsigned) m->n_bytes * 8);
        return put(m->n_offsets > 0 ? &p->rest : &p->registers, t->prefix, name, fetch, why);
}

/* A text, or 16 bytes: where they are, or what points to them. */
static int put_bytes(Probed *p, const FieldType *t, const char *name, const Member *m, char part,
                     char why[static MEMBER_WHY_MAX]) {
        bool is_there = m->kind == MEMBER_TEXT || m->kind == MEMBER_OBJECT;
        char place[MEMBER_PLACE_MAX], fetch[MEMBER_PLACE_MAX + 40], prefix[8];
        int r = t->as == BYTES && m->n_offsets > 0 ? put_pointers(p, m, why) : 0;

        (void) snprintf(fetch, sizeof(fetch), "%s%s%s:%s", is_there ? "" : "+0(",
                        member_place(m, place), is_there ? "" : ")", t->form);
        (void) snprintf(prefix, sizeof(prefix), "p%c_", part);
        return r ?: put(&p->rest, part ? prefix : t->prefix, name, fetch, why);
}

/* The names of a dentry and of those above it, as many as a probe can reach. */
static int put_path(Probed *p, const FieldType *t, const char *name, const Member *m,
                    char why[static MEMBER_WHY_MAX]) {
        const char *to_dentry = streq(m->type, "file")   ? "f_path.dentry"
                                : streq(m->type, "path") ? "dentry"
                                                         : NULL;
        Member dentry = *m;
        int r = to_dentry ? member_walk(&dentry, p->types, to_dentry, why) : 0;

        for (int i = 0; r == 0 && i < (streq(t->word, "deep") ? DEEP_PARTS : PATH_PARTS); i++) {
                Member text = dentry;

                r = member_walk(&text, p->types, "d_name.name", why)
                            ?: put_bytes(p, t, name, &text, (char) ('0' + i), why);
                if (r == MEMBER_E_REFUSED && i > 0)
                        return 0;
                r = r ?: member_walk(&dentry, p->types, "d_parent", why);
        }
        return r;
}

/* True if probes take it so. */
static bool fits(const FieldType *t, const Member *m) {
        bool is_number = m->kind < MEMBER_TEXT &&
                         (m->n_bytes == 1 || m->n_bytes == 2 || m->n_bytes == 4 || m->n_bytes == 8);

        switch (t->as) {
        case NUMBER:
                return is_number && (!t->form || m->n_bits == 0);
        case BYTES:
                return m->kind == MEMBER_POINTER || (m->n_bytes >= 16 && m->n_offsets > 0);
        case TEXT:
                return (m->kind == MEMBER_TEXT && m->n_offsets > 0) ||
                       (is_number && m->n_bytes == sizeof(uint64_t));
        default:
                return streq(m->type, "dentry") || streq(m->type, "file") || streq(m->type, "path");
        }
}

/*
 * One field, [NAME=]EXPRESSION[:TYPE].  @n_types: how many of the types it may have.
 * 0, MEMBER_E_NONE (the kernel's types do not have the function), MEMBER_E_REFUSED, -ENOMEM.
 */
static int add_field(Probed *p, const char *field, size_t n_types,
                     char why[static MEMBER_WHY_MAX]) {
        const char *equals = strchr(field, '='), *colon = strrchr(field, ':');
        const char *from = equals ? equals + 1 : field;
        size_t n = colon && colon > from ? (size_t) (colon - from) : strlen(from);
        _cleanup_free_ char *expression = strndup(from, n),
                            *given = equals ? strndup(field, (size_t) (equals - field)) : NULL;
        const FieldType *t = NULL;
        const char *name;
        Member m;
        int r;

        if (!expression || (equals && !given))
                return -ENOMEM;
        r = member_find(&m, p->types, p->function, expression, why);
        if (r != 0)
                return r;
        for (size_t i = 0; colon && i < n_types; i++)
                if (streq(types[i].word, colon + 1))
                        t = &types[i];
        name = given ?: m.name;
        *why = 0;
        if (!colon)
                t = default_type(&m);
        if (colon && !t)
                (void) snprintf(
                        why, MEMBER_WHY_MAX,
                        "\"%s\" is no type: there are u, d, x, be16, be32, be64, ip4, ip6, dev, "
                        "string, ustring and path",
                        NAME_QUOTED(colon + 1));
        else if (!t)
                (void) snprintf(why, MEMBER_WHY_MAX,
                                "\"%s\" is no number and no text: name a member of it", m.name);
        else if (!fits(t, &m))
                (void) snprintf(why, MEMBER_WHY_MAX, "\"%s\" cannot be read as %s", m.name,
                                t->word);
        else if (!*name || strspn(name, NAME_LETTERS) != strlen(name) ||
                 strchr("0123456789", *name))
                (void) snprintf(why, MEMBER_WHY_MAX, "\"%s\" is no name for a field", name);
        else if (strv_contains(&p->names, name))
                (void) snprintf(why, MEMBER_WHY_MAX,
                                "two fields are called %s: call one otherwise, as in other=%s",
                                name, expression);
        if (*why)
                return MEMBER_E_REFUSED;
        if (strv_add(&p->names, name) < 0)
                return -ENOMEM;
        r = t->as == NUMBER ? put_number(p, t, name, &m, why)
            : t->as == PATH ? put_path(p, t, name, &m, why)
                            : put_bytes(p, t, name, &m, 0, why);
        p->n_fields += r == 0;
        return r;
}

/* One of a table: what does not exist on this kernel, or is there already, is left out.  @base: instead of '@'. */
static int add_known(Probed *p, const char *field, const char *via, const char *base) {
        _cleanup_buf_ Buf once = BUF_INIT, twice = BUF_INIT;
        _cleanup_free_ char *first = NULL, *text = NULL;
        char why[MEMBER_WHY_MAX] = "";
        int r;

        for (const char *s = via; *s; s++)
                *s == '@' ? buf_adds(&once, base) : buf_add(&once, s, 1);
        r = buf_take_string(&once, &first);
        for (const char *s = field; r == 0 && *s; s++)
                *s == '@' ? buf_adds(&twice, first) : buf_add(&twice, s, 1);
        r = r ?: buf_take_string(&twice, &text);
        return MIN(r < 0 ? r : add_field(p, text, ELEMENTSOF(types), why), 0);
}

/* What a system call is given, by its event's format: a name or a path, and a descriptor. */
static int add_syscall(Probed *p, const Tracefs *fs, const char *base) {
        static const char *const registers[PARAMS_MAX] = {
#if defined(__aarch64__)
                "regs[0]",
                "regs[1]",
                "regs[2]",
                "regs[3]",
                "regs[4]",
                "regs[5]",
#else
                "di",
                "si",
                "dx",
                "r10",
                "r8",
                "r9",
#endif
        };
        const char *name =
                startswith(p->function, "__x64_sys_") ?: startswith(p->function, "__arm64_sys_");
        _cleanup_free_ char *path = NULL, *text = NULL;
        _cleanup_strv_ Strv lines = {};
        bool has_name = false, has_fd = false;
        size_t arg = 0;
        int r;

        if (!name)
                return 0;
        if (asprintf(&path, "events/syscalls/sys_enter_%s/format", name) < 0)
                return -ENOMEM;
        r = file_read(fs->fd, path, &text, NULL, FORMAT_MAX);
        if (r < 0)
                return r == -ENOMEM ? r : 0; /* the kernel has no such events */
        r = strv_split(&lines, text, "\n");
        for (size_t i = 0, is_behind = 0; r >= 0 && i < lines.n && arg < PARAMS_MAX; i++) {
                const char *field = strstr(lines.items[i], "field:"),
                           *end = field ? strchr(field, ';') : NULL, *word = end;
                char names[NAME_CHARS_MAX + 1], known[128];
                bool is_text, is_fd;

                if (!end)
                        continue;
                while (word > field && !strchr(" *", word[-1]))
                        word--;
                (void) snprintf(names, sizeof(names), "%.*s", (int) (end - word), word);
                if (!is_behind) {
                        is_behind = streq(names, "__syscall_nr") || streq(names, "nr");
                        continue;
                }
                is_text = strstr(field, "const char *") && strstr(field, "const char *") < end &&
                          (strstr(names, "name") || strstr(names, "path"));
                is_fd = streq(names, "fd");
                if (is_text && !has_name)
                        (void) snprintf(known, sizeof(known), "%s=@.%s:ustring", names,
                                        registers[arg]);
                else if (is_fd && !has_fd)
                        (void) snprintf(known, sizeof(known), "fd=@.%s:int", registers[arg]);
                else
                        is_text = is_fd = false;
                has_name = has_name || is_text;
                has_fd = has_fd || is_fd;
                if (is_text || is_fd)
                        r = add_known(p, known, "@", base);
                arg++;
        }
        return r;
}

static int add_object(Probed *p, const Tracefs *fs) {
        Member params[PARAMS_MAX];
        size_t n = 0;
        int r = 0;

        while (n < PARAMS_MAX &&
               member_of_param(&params[n], p->types, p->function, (unsigned) n) == 0)
                n++;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(objects); i++)
                for (size_t k = 0; r >= 0 && k < n; k++) {
                        if (params[k].kind != MEMBER_POINTER || !*params[k].name ||
                            !streq(params[k].type, objects[i].type) ||
                            (objects[i].only && !strstr(p->function, objects[i].only)))
                                continue;
                        for (const char *const *s = objects[i].fields; r >= 0 && *s; s++)
                                r = add_known(p, *s, objects[i].via, params[k].name);
                }
        if (r >= 0 && n == 1 && streq(params[0].type, "pt_regs") && *params[0].name)
                r = add_syscall(p, fs, params[0].name);
        return r;
}

int value_fields_of(const Prototypes *types_of, const char *function, const char *const *fields,
                    size_t n, char **ret, char why[static MEMBER_WHY_MAX]) {
        _cleanup_(probed_done) Probed p = {
                .types = types_of, .function = function, .registers = BUF_INIT, .rest = BUF_INIT
        };
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++)
                r = add_field(&p, fields[i], ELEMENTSOF(types), why);
        if (r == 0)
                buf_add(&p.registers, p.rest.data ?: "", p.rest.n_data);
        return r ?: buf_take_string(&p.registers, ret);
}

static int refuse_fields(const char *function, const char *field, const char *why,
                         Refusal *refusal) {
        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "args_functions",
                              "--args=%s(%s): %s.", function, NAME_QUOTED(field), why);
}

/* Fields of @p->function that the spec asks for in words. */
static int add_asked(Probed *p, const Spec *spec, Refusal *refusal) {
        int r = 0;

        for (size_t i = 0; r == 0 && i < spec->args_functions.n; i++) {
                const char *item = spec->args_functions.items[i];
                _cleanup_free_ char *pattern = args_choice_function(item);
                _cleanup_strv_ Strv fields = {};
                uint64_t n_steps = 0;

                if (!pattern || args_choice_split(&fields, item) < 0)
                        return -ENOMEM;
                if (fields.n == 0 || !function_glob_matches(pattern, p->function, &n_steps))
                        continue;
                for (size_t k = 0; r == 0 && k < fields.n; k++) {
                        char why[MEMBER_WHY_MAX];

                        r = add_field(p, fields.items[k], N_ASKED, why);
                        if (r > 0)
                                r = refuse_fields(p->function, fields.items[k],
                                                  r == MEMBER_E_NONE ? NOT_THERE : why, refusal);
                }
        }
        return r;
}

static int refuse_number(size_t n, Refusal *refusal) {
        return refusal_set_of(
                refusal, REFUSAL_INVALID_SPEC, "field", "args_functions",
                "what functions are given and work on is recorded by a probe of each, "
                "of at most %d, and these are %zu: record fewer.",
                VALUE_PROBES_MAX, n);
}

/* Adds all functions of which fields are asked for. */
static int find_functions(const Functions *f, const Spec *spec, const Strv *roots, Strv *ret,
                          Refusal *refusal) {
        _cleanup_strv_ Strv patterns = {};
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < spec->args_functions.n; i++) {
                const char *item = spec->args_functions.items[i],
                           *fields = args_choice_fields(item);

                r = fields ? strv_addn(&patterns, item, (size_t) (fields - item)) : 0;
        }
        if (r >= 0)
                r = functions_expand(f, &patterns, VALUE_PROBES_MAX, ret, &n);
        if (r == FUNCTIONS_E_NOTHING)
                return refuse_no_function(f, patterns.items[n], refusal);
        if (r == FUNCTIONS_E_COSTLY)
                return refuse_fields(patterns.items[n], "...",
                                     "that pattern takes too long to compare; use a simpler one",
                                     refusal);
        if (r >= 0 && spec->what)
                r = strv_extend(ret, roots);
        strv_sort_unique(ret);
        return r < 0 || n <= VALUE_PROBES_MAX ? r : refuse_number(n, refusal);
}

int value_types_read(int root_fd, Prototypes **ret) {
        _cleanup_buf_ Buf b = BUF_INIT;
        int r = kernel_types_read(root_fd, &b);
        size_t n = b.n_data;

        return r ?: prototypes_new(ret, TAKE(b.data, NULL), n);
}

static int read_types(const Functions *f, Prototypes **ret, Refusal *refusal) {
        int r = value_types_read(f->root_fd, ret);

        if (r > 0)
                return refusal_set(
                        refusal, REFUSAL_NOT_SUPPORTED, json_pack("{ss}", "what", "what"),
                        "fields of arguments cannot be recorded (--what, "
                        "--args=FUNCTION(FIELD)): the kernel does not say where they are "
                        "(/sys/kernel/btf/vmlinux is missing or cannot be read). Boot one "
                        "with CONFIG_DEBUG_INFO_BTF.");
        return r;
}

int value_fields_choose(const Functions *f, const Tracefs *fs, const Spec *spec, const Strv *roots,
                        const Strv *given, const char *arguments, Strv *ret, Strv *warnings,
                        Refusal *refusal) {
        _cleanup_(prototypes_freep) Prototypes *types_of = NULL;
        _cleanup_strv_ Strv functions = {}, all = {}, unknown = {};
        int r;

        r = spec_asks_for_fields(spec) ? find_functions(f, spec, roots, &functions, refusal)
                                                 ?: read_types(f, &types_of, refusal)
                                       : 0;
        r = r ?: strv_extend(&functions, given);
        strv_sort_unique(&functions);
        if (r == 0 && functions.n > VALUE_PROBES_MAX)
                return refuse_number(functions.n, refusal);
        for (size_t i = 0; r == 0 && i < functions.n; i++) {
                const char *function = functions.items[i];
                _cleanup_(probed_done) Probed p = { .types = types_of,
                                                    .function = function,
                                                    .registers = BUF_INIT,
                                                    .rest = BUF_INIT };
                bool is_given = strv_contains(given, function);

                if (types_of)
                        r = add_asked(&p, spec, refusal);
                if (r == 0 && spec->what && strv_contains(roots, function)) {
                        size_t n_before = p.n_fields;

                        r = add_object(&p, fs);
                        if (r == 0 && p.n_fields == n_before)
                                r = strv_add(&unknown, function);
                }
                if (r == 0 && (is_given || p.n_fields > 0))
                        r = strv_addf(&all, "%s%s%s%.*s%.*s", function, is_given ? " " : "",
                                      is_given ? arguments : "", (int) p.registers.n_data,
                                      p.registers.data ?: "", (int) p.rest.n_data,
                                      p.rest.data ?: "");
        }
        if (r == 0 && unknown.n > 0) {
                size_t n_more = unknown.n - MIN(unknown.n, (size_t) UNKNOWN_MAX);
                _cleanup_free_ char *names = NULL;

                for (size_t i = unknown.n; i > UNKNOWN_MAX; i--)
                        free(TAKE_PTR(unknown.items[i - 1]));
                unknown.n = MIN(unknown.n, (size_t) UNKNOWN_MAX);
                names = strv_join(&unknown, ", ");
                r = !names ? -ENOMEM
                    : n_more > 0
                            ? strv_addf(warnings,
                                        "it is not known what these work on: %s and %zu others",
                                        names, n_more)
                            : strv_addf(warnings, "it is not known what these work on: %s", names);
        }
        if (r == 0)
                *ret = TAKE(all, (Strv){});
        return r;
}
