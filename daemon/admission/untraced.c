/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel's symbols tell three cases apart: the function is there and kept from tracing; the compiler
 * has left but a variant of it (".isra.0", ".constprop.0", ".part.0", ".cold"); it is not there at all,
 * because it was inlined wherever it is called, or because its module is not loaded, which
 * modules.symbols tells of those that modules export.
 */

#include <sys/utsname.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/admission/untraced.h"
#include "store/symbol-file.h"

#define MODULES_MAX ((size_t) 16 << 20)

typedef enum Found {
        FOUND_NOTHING,
        FOUND_VARIANT,
        FOUND_DATA,
        FOUND_FUNCTION,
} Found;

/* "ADDRESS TYPE NAME[\tMODULE]" at the end of whose address @line is. */
static Found look_at(const char *line, const char *name, size_t n_name) {
        char type = line[1];

        if (strncmp(line + 3, name, n_name) != 0)
                return FOUND_NOTHING;
        switch (line[3 + n_name]) {
        case '\n':
        case '\t':
        case 0:
                return strchr("tTwW", type) ? FOUND_FUNCTION : FOUND_DATA;
        case '.':
                return strchr("tT", type) ? FOUND_VARIANT : FOUND_NOTHING;
        default:
                return FOUND_NOTHING;
        }
}

/* @ret_variant: the first, in @symbols, when there is but a variant. */
static Found find_symbol(const char *symbols, const char *name, const char **ret_variant) {
        size_t n_name = strlen(name);
        Found best = FOUND_NOTHING;

        for (const char *s = symbols; *s; s += strcspn(s, "\n"), s += *s == '\n') {
                const char *space = s + strcspn(s, " \n");
                Found f;

                if (*space != ' ' || space[1] == 0 || space[2] != ' ')
                        continue;
                f = look_at(space, name, n_name);
                if (f == FOUND_VARIANT && best < f)
                        *ret_variant = space + 3;
                best = MAX(best, f);
        }
        return best;
}

/* "alias symbol:NAME MODULE" */
static int find_module(int root_fd, const char *name, char **ret) {
        _cleanup_free_ char *path = NULL, *text = NULL, *wanted = NULL;
        struct utsname u;
        const char *at;

        if (uname(&u) < 0)
                return ORIGIN(-errno);
        if (asprintf(&path, "lib/modules/%s/modules.symbols", u.release) < 0 ||
            asprintf(&wanted, "\nalias symbol:%s ", name) < 0)
                return -ENOMEM;
        if (file_read(root_fd, path, &text, NULL, MODULES_MAX) < 0)
                return ORIGIN(-ENOENT);
        at = strstr(text, wanted);
        if (!at)
                return ORIGIN(-ENOENT);
        at += strlen(wanted);
        *ret = strndup(at, strcspn(at, "\n"));
        return *ret ? 0 : -ENOMEM;
}

int untraced_explain(char **ret, int root_fd, const char *name) {
        _cleanup_free_ char *symbols = NULL, *module = NULL;
        const char *variant = NULL;
        int n = -1, r;

        if (file_read(root_fd, "proc/kallsyms", &symbols, NULL, SYMBOL_FILE_MAX) < 0) {
                *ret = strdup("");
                return *ret ? 0 : -ENOMEM;
        }
        switch (find_symbol(symbols, name, &variant)) {
        case FOUND_FUNCTION:
                n = asprintf(ret, ": this kernel has it and keeps tracing out of it (notrace)");
                break;
        case FOUND_DATA:
                n = asprintf(ret, ": it is no function");
                break;
        case FOUND_VARIANT:
                n = asprintf(ret, ": the compiler has left %.*s of it",
                             (int) strcspn(variant, "\t\n"), variant);
                break;
        case FOUND_NOTHING:
                r = find_module(root_fd, name, &module);
                if (r == -ENOMEM)
                        return r;
                n = r >= 0 ? asprintf(ret, ": its module is not loaded (modprobe %s)", module)
                           : asprintf(ret, "%s", "");
                break;
        }
        return n < 0 ? -ENOMEM : 0;
}
