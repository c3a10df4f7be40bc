/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lines: its parts
 *
 *      lines.c       one recording's kernel and modules, each a LinesObject; what views ask
 *      follow.c      which sites the order of the calls leaves
 *      search.c      where an object's code is: files, symbols/, a debuginfod
 *      object.c      what an object says, from wherever it is
 *      image.c       an ELF file with DWARF: symbols and bytes; dwarf.c: inlined functions (by elfutils; image.h)
 *      walk.c        the bytes of a function -> its calls, and which may follow which
 *      lines-file.c  the same of many functions from a file, which lines-write.c writes
 *      layer.c       the part of the kernel that a path belongs to
 */

#include "base/cleanup.h"
#include "lines/lines.h"

/*
 * Code: how long each machine instruction is, and where it may lead
 *
 * No disassembler: of what does not call, jump or return only the length is told.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A; Arm
 * Architecture Reference Manual for A-profile, C4.1 (branches).
 */

typedef enum CodeMachine {
        CODE_X86_64,
        CODE_ARM64,
} CodeMachine;

typedef enum CodeKind {
        CODE_OTHER,  /* goes on behind it */
        CODE_NOP,    /* the same, and what a static key may make a jump of */
        CODE_CALL,   /* to `target` */
        CODE_JUMP,   /* there, and does not come back */
        CODE_BRANCH, /* there, or behind it */
        CODE_CALL_POINTER,
        CODE_JUMP_POINTER,
        CODE_RETURN,
} CodeKind;

typedef struct Instruction {
        CodeKind kind;
        unsigned n_bytes; /* 1, or 4, also of what cannot be read */
        bool is_known;    /* false: what there is cannot be read */
        int64_t target;   /* CALL, JUMP, BRANCH: from the beginning of the instruction [bytes] */
} Instruction;

/* The one at @p, of @n bytes (at least 1). */
Instruction code_decode(CodeMachine machine, const uint8_t *p, size_t n);

#define NO_SYMBOL UINT32_MAX
#define CODE_MAX ((size_t) 1 << 22) /* of one function [bytes] */

/* --- functions -------------------------------------------------------------------------------- */

typedef struct CodeSymbol {
        const char *name; /* owned by who made the table */
        uint64_t address; /* as linked; of a module, as its sections were laid out to be read */
        uint64_t n_bytes;
} CodeSymbol;

/* By address; several may have one address, or one name. */
typedef struct CodeSymbols {
        CodeSymbol *items;
        size_t n;
        Hash names;
} CodeSymbols;

/* Sorts what was added, and code_symbols_index() it.  0 or -ENOMEM. */
int code_symbols_finish(CodeSymbols *s);
/* Of what is sorted: by name.  0 or -ENOMEM. */
int code_symbols_index(CodeSymbols *s);
/* The first that begins there; NO_SYMBOL: none. */
uint32_t code_symbols_at(const CodeSymbols *s, uint64_t address);
/* The one of that name; NO_SYMBOL: none; *@ret_is_only: no other has it at another address. */
uint32_t code_symbols_named(const CodeSymbols *s, const char *name, size_t n_name,
                            bool *ret_is_only);
void code_symbols_done(CodeSymbols *s);

/* --- callers ---------------------------------------------------------------------------------- */

/* A place in the code of a caller that calls something. */
typedef struct LinesNode {
        uint64_t address;
        uint32_t target; /* a symbol of the same object; NO_SYMBOL: the next, or none */
        const char
                *name; /* what it calls in another object, or the static call; NULL: none of both */
        bool is_jump, is_static;
        bool is_resolved; /* the frames were asked for */
        uint32_t n_frames;
        LineFrame *frames;
} LinesNode;

/*
 * After node i come, without any call in between, nodes nexts[begins[i]] to nexts[begins[i + 1]].  Of i, n_nodes is the
 * beginning of the function, and of what comes its end.  That is not known where is_torn.
 */
typedef struct LinesCaller {
        LinesNode *nodes; /* by address */
        uint32_t n_nodes;
        uint32_t *begins; /* n_nodes + 2 */
        uint32_t *nexts;
        bool is_torn;
} LinesCaller;

LinesCaller *lines_caller_free(LinesCaller *c);
DEFINE_CLEANUP(LinesCaller *, lines_caller_free);

/* A pointer, or a static call. */
static inline bool node_is_indirect(const LinesNode *n) {
        return n->target == NO_SYMBOL && (!n->name || n->is_static);
}

/* --- images ----------------------------------------------------------------------------------- */

typedef struct Image Image;

/* image_open() consumes @fd, also on failure; @root: what paths begin with in the kernel's image; NULL: it is found out.
 * 0, LINES_E_NONE and half a sentence, a constant: "has no debug information", -errno.  Nothing else of an image is
 * built without elfutils, nor ever called: there is none. */
#ifdef HAVE_ELFUTILS
#define OF_IMAGE
int image_open(Image **ret, int fd, const char *path, const char *root, const char **ret_problem);
#else
#define OF_IMAGE __attribute__((weak))
static inline int image_open(Image **ret, int fd, const char *path, const char *root,
                             const char **ret_problem) {
        safe_close(fd);
        *ret_problem = "cannot be read: this ftracectl was built without elfutils (libdw)";
        return LINES_E_NONE;
}
#endif
OF_IMAGE Image *image_free(Image *i);
DEFINE_CLEANUP(Image *, image_free);
OF_IMAGE const char *image_build_id(const Image *i); /* hexadecimal; NULL: it has none */
OF_IMAGE const char *image_machine(const Image *i);  /* as uname(1) has it */
OF_IMAGE const char *image_root(const Image *i);
OF_IMAGE CodeMachine image_code(const Image *i);
OF_IMAGE int image_symbols(Image *i, CodeSymbols *ret); /* 0 or -ENOMEM */

typedef struct CodeRange {
        uint64_t begin, end;
} CodeRange;
/* Where the code of @symbol is; the caller frees.  0 or -ENOMEM. */
OF_IMAGE int image_ranges(Image *i, const CodeSymbol *symbol, CodeRange **ret, size_t *ret_n);
/* The code there, up to its section's end; NULL: there is none. */
OF_IMAGE const uint8_t *image_bytes(const Image *i, uint64_t address, size_t *ret_n);
/* What a relocation says of the address that an instruction has at @at: false: there is none; else *@ret_name is what is
 * in no section of this file, or NULL and *@ret is where. */
OF_IMAGE bool image_relocated(const Image *i, uint64_t at, uint64_t *ret, const char **ret_name);
/* Where the static key at that address jumps to; 0: there is none. */
OF_IMAGE uint64_t image_key_target(const Image *i, uint64_t at);
/* Marks each symbol whose address the image has otherwise than to call it; all, if it does not tell. */
OF_IMAGE void image_find_pointed(const Image *i, const CodeSymbols *s, uint8_t *marks,
                                 uint8_t mark);
/* Fills in the frames of @node, of the function at @symbol.  0 or -ENOMEM. */
OF_IMAGE int image_frames(Image *i, const CodeSymbol *symbol, LinesNode *node);
OF_IMAGE bool image_definition(Image *i, const CodeSymbol *symbol, LineFrame *ret);

/* --- walking ---------------------------------------------------------------------------------- */

/* The calls of @symbol, without frames.  0 or -ENOMEM. */
int walk_caller(LinesCaller **ret, Image *i, const CodeSymbols *symbols, uint32_t symbol);
/* Whether it begins with what the function tracer patches. */
bool walk_is_traced(const Image *i, const CodeSymbols *symbols, uint32_t symbol);

/* --- files ------------------------------------------------------------------------------------ */

/*
 * Lines file: what some functions call, from which lines, without the program that it was made of
 *
 *      magic      "ftlines", 2
 *      body       zstd; numbers are LEB128, signed ones as zigzag
 *        n        strings:   bytes, and a NUL
 *        string   machine, release
 *        n        objects:   string module ("": the kernel), build ID, then
 *          n      symbols:   string name, how far from the one before, bytes, flags LINES_FILE_*, if it has a
 *                            definition string file, line; if it has calls how many bytes they take, those of
 *                            all symbols behind the last object, one after the other
 *        calls    n, flags, then
 *          n      each:      how far from the one before (signed), flags, symbol + 1 or 0 and string, n frames of
 *                            string function, string file + 1 or 0, line
 *          n      next:      of each, and of the beginning: n, and how far from the one before (signed); n is the end
 *
 * What is of another version is refused.  Everything is checked when it is read: the file may be a stranger's.
 */
#define LINES_FILE_MAGIC "ftlines\2"
#define LINES_FILE_MAGIC_BYTES (sizeof(LINES_FILE_MAGIC) - 1)

enum { /* of a symbol */
       FILE_IS_TRACED = 1 << 0,
       FILE_HAS_DEFINITION = 1 << 1,
       FILE_HAS_CALLS = 1 << 2,
       FILE_IS_POINTED = 1 << 3,
};

enum { /* of a call */
       FILE_IS_JUMP = 1 << 0,
       FILE_IS_STATIC = 1 << 1,
};

enum { /* of calls */
       FILE_IS_TORN = 1 << 0,
};

#define LINES_FILE_MAX ((size_t) 256 << 20) /* bytes of the body */
/* The body is at most that many times what it is packed in, 2.8 for all of a Linux 6.12; a small one may be more. */
#define LINES_FILE_RATIO_MAX 16
#define LINES_FILE_SMALL ((size_t) 256 << 10)

/* What a body may have: a Linux 6.12 has 79030 strings, 55681 symbols, and one of 4914 calls. */
enum {
        FILE_STRINGS_MAX = 1 << 20,
        FILE_STRING_MAX = 1024, /* bytes, and its NUL */
        FILE_OBJECTS_MAX = 4096,
        FILE_SYMBOLS_MAX = 1 << 20, /* of all objects */
        FILE_CALLS_MAX = 1 << 16,   /* of one function */
};

typedef struct FileSymbol {
        const char *file;
        size_t calls_at;
        uint32_t n_calls_bytes;
        uint32_t line;
        uint8_t flags;
} FileSymbol;

typedef struct FileObject {
        const char *module, *build_id; /* "": the kernel, not known */
        CodeSymbol *symbols;
        FileSymbol *more; /* of each */
        size_t n;
} FileObject;

typedef struct LinesFile {
        uint8_t *data;
        size_t n_data;
        const char **strings; /* in it */
        size_t n_strings;
        const char *release, *machine;
        FileObject *objects;
        size_t n_objects;
        size_t n_symbols; /* of all of them */
} LinesFile;

/* @data is not needed afterwards.  0, LINES_E_NONE and half a sentence, -ENOMEM. */
int lines_file_open(LinesFile **ret, const void *data, size_t n, const char **ret_problem);
LinesFile *lines_file_free(LinesFile *f);
DEFINE_CLEANUP(LinesFile *, lines_file_free);
const char *lines_file_machine(const LinesFile *f);
/* The object of that module, NULL: the kernel; -1: it has none. */
int lines_file_find(const LinesFile *f, const char *module);
const char *lines_file_build_id(const LinesFile *f, int object);
/* A copy of its symbols, whose names are the file's.  0 or -ENOMEM. */
int lines_file_symbols(const LinesFile *f, int object, CodeSymbols *ret);
/* *@ret NULL: it has no calls of that one.  0, -EBADMSG, -ENOMEM. */
int lines_file_caller(const LinesFile *f, int object, uint32_t symbol, LinesCaller **ret);
bool lines_file_definition(const LinesFile *f, int object, uint32_t symbol, LineFrame *ret);

/* --- objects ---------------------------------------------------------------------------------- */

/* The kernel, or a module. */
typedef struct LinesObject {
        char *module; /* NULL: the kernel */
        const char *build_id;
        Image *image; /* its own; NULL: it is from the file, or from nowhere */
        const LinesFile *file;
        int in_file;
        char *origin; /* NULL: it is from nowhere */
        CodeSymbols symbols;
        LinesCaller **callers; /* of each symbol, once it was asked for */
        uint8_t *marks;        /* of each, OBJECT_* */
        uint64_t shift;        /* from where it is linked to where it was, as recorded */
        bool is_shifted;       /* that is known */
        bool has_pointed;      /* the image was asked */
} LinesObject;

enum {
        OBJECT_HAS_CALLER = 1 << 0,
        OBJECT_HAS_TRACED = 1 << 1,
        OBJECT_IS_TRACED = 1 << 2,
        OBJECT_IS_WANTED = 1 << 3,   /* in a file */
        OBJECT_IS_LEFT_OUT = 1 << 4, /* not hooked, in this recording */
        OBJECT_IS_POINTED = 1 << 5,
};

/* The files of modules below a directory, once one was looked for. */
typedef struct LinesModules {
        Strv paths;
        bool is_listed;
} LinesModules;

struct Lines {
        LinesRecording recording;
        LinesPlace place;
        LinesFile *file;
        LinesObject **objects; /* the first is the kernel */
        size_t n_objects;
        LinesModules modules[2]; /* lib/modules/RELEASE, beside the vmlinux */
        Hash functions;          /* Function -> Known */
        Hash pairs;              /* of two Knowns -> Pair */
        Strv lacking;
};

LinesObject *object_free(LinesObject *o);
DEFINE_CLEANUP(LinesObject *, object_free);
/* NULL in @ret: it is not there.  0 or -ENOMEM. */
int object_caller(LinesObject *o, uint32_t symbol, LinesCaller **ret);
int object_frames(LinesObject *o, uint32_t symbol, LinesNode *node);
bool object_is_traced(LinesObject *o, uint32_t symbol);
/* Whether a pointer may have its address. */
bool object_is_pointed(LinesObject *o, uint32_t symbol);
bool object_definition(LinesObject *o, uint32_t symbol, LineFrame *ret);

/*
 * search_object() - opens the kernel or a module
 * @o:           has its module, and what is found is put there
 * @ret_problem: half a sentence on LINES_E_NONE; the caller frees
 *
 * 0, LINES_E_NONE, -errno.
 */
int search_object(Lines *l, LinesObject *o, char **ret_problem);

/* A call of the caller's code that may have been the one. */
typedef struct PairCall {
        uint32_t node;   /* of the caller */
        uint32_t site;   /* what it looks like in the source */
        bool is_through; /* it was made by what that calls, which was not recorded */
} PairCall;

/* LineSites, and the calls that they stand for: compilers make several of one. */
typedef struct Pair {
        LineSites sites; /* what is handed out */
        LinesCaller *caller;
        LineSite *items;
        PairCall *calls;
        uint32_t n_calls;
        uint32_t n_hidden; /* functions that were looked into */
        const void *of[2]; /* caller, callee */
} Pair;
