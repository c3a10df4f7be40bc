/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One block of text, one array of pointers into it, sorted.  An exact name is a binary search, and a
 * name that does not exist is compared with every other by the number of typing errors between them.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/io.h"
#include "daemon/admission/admission.h"
#include "daemon/process/background.h"
#include "daemon/symbols/kernel-symbols.h"

#define MAX_LIST_BYTES (64U << 20)
/* A place whose symbol is unknown: linux 6.1 kernel/trace/ftrace.c, FTRACE_INVALID_FUNCTION. */
#define INVALID_PREFIX "__ftrace_invalid_address___"

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int compare_lines(const void *a, const void *b) {
        const FunctionLine *x = a, *y = b;

        return strcmp(x->name, y->name) ?: (x->line > y->line) - (x->line < y->line);
}

/* A line that names nothing counts as a line all the same. */
static int parse(Functions *f) {
        size_t n_lines = 0, line = 0;

        for (const char *s = f->text; *s; s++)
                n_lines += *s == '\n';
        f->names = calloc(n_lines + 2, sizeof(*f->names));
        f->lines = calloc(n_lines + 2, sizeof(*f->lines));
        if (!f->names || !f->lines)
                return -ENOMEM;
        for (char *s = f->text; *s;) {
                char *next = s + strcspn(s, "\n");

                if (*next)
                        *next++ = 0;
                s[strcspn(s, " \t")] = 0;
                line++;
                if (*s && !startswith(s, INVALID_PREFIX))
                        f->lines[f->n_lines++] = (FunctionLine){ s, (uint32_t) line };
                s = next;
        }
        qsort(f->lines, f->n_lines, sizeof(*f->lines), compare_lines);
        for (size_t i = 0; i < f->n_lines; i++)
                if (f->n == 0 || !streq(f->names[f->n - 1], f->lines[i].name))
                        f->names[f->n++] = f->lines[i].name;
        return 0;
}

/* The module of the @i-th function as "[module]", or NULL. */
static const char *module_of(const Functions *f, size_t i) {
        const char *s = f->names[i] + strlen(f->names[i]) + 1;

        return s < f->text + f->n_text && *s == '[' ? s : NULL;
}

static int write_list(const Functions *f) {
        _cleanup_close_ int fd = memfd_create("functions", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        _cleanup_buf_ Buf b = BUF_TO_FD(fd);
        int r;

        if (fd < 0)
                return ORIGIN(-errno);
        for (size_t i = 0; i < f->n; i++) {
                const char *module = module_of(f, i);

                buf_adds(&b, f->names[i]);
                if (module) {
                        buf_adds(&b, " ");
                        buf_adds(&b, module);
                }
                buf_adds(&b, "\n");
        }
        r = buf_flush(&b);
        if (r < 0)
                return r;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
                return ORIGIN(-errno);
        return TAKE_FD(fd);
}

bool functions_are_current(const Functions *f, const Tracefs *fs) {
        _cleanup_free_ char *modules = NULL;

        return f->n > 0 && kernel_modules_read(fs->root_fd, "proc/modules", &modules) >= 0 &&
               streq_ptr(f->modules, modules);
}

int functions_load(Functions *f, const Tracefs *fs) {
        _cleanup_(functions_done) Functions new = {};
        int r = kernel_modules_read(fs->root_fd, "proc/modules", &new.modules);

        if (r < 0)
                return r;
        if (f->n > 0 && streq_ptr(f->modules, new.modules))
                return 0;
        background_leave();
        r = file_read(fs->fd, "available_filter_functions", &new.text, &new.n_text, MAX_LIST_BYTES);
        if (r >= 0)
                r = parse(&new);
        if (r >= 0 && new.n > 0)
                new.list_fd = r = write_list(&new);
        background_return();
        if (r < 0)
                return r;
        new.root_fd = fs->root_fd;
        functions_done(f);
        *f = TAKE(new, (Functions){});
        return 0;
}

void functions_done(Functions *f) {
        if (f->n > 0)
                safe_close(f->list_fd);
        free(f->text);
        free(f->names);
        free(f->lines);
        free(f->modules);
        *f = (Functions){};
}

static const char **find_name(const Functions *f, const char *name) {
        return bsearch(&name, f->names, f->n, sizeof(*f->names), compare_names);
}

bool functions_contain(const Functions *f, const char *name) {
        return find_name(f, name);
}

const char *functions_find_module(const Functions *f, const char *name) {
        const char **at = find_name(f, name);

        return at ? module_of(f, (size_t) (at - f->names)) : NULL;
}

int functions_find_lines(const Functions *f, const Strv *names, Strv *ret) {
        int r = 0;

        for (size_t i = 0; i < names->n; i++)
                for (size_t k = BISECT(0, f->n_lines, m,
                                       strcmp(f->lines[m].name, names->items[i]) < 0);
                     r >= 0 && k < f->n_lines && streq(f->lines[k].name, names->items[i]); k++)
                        r = strv_addf(ret, "%" PRIu32, f->lines[k].line);
        return r;
}

int functions_open_list(const Functions *f) {
        char path[sizeof("/proc/self/fd/") + 11];
        int fd;

        if (f->n == 0)
                return write_list(f);
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%i", f->list_fd);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? ORIGIN(-errno) : fd;
}

/* --- clock readers ------------------------------------------------------------------------------ */

/* Only the clock source in use matters: naming a function in a filter costs the kernel a walk over all of them, so the
 * usual host, on its TSC, pays nothing. */
static const struct {
        const char *clock_source, *function;
} readers[] = {
        { "hpet", "read_hpet" },
        { "acpi_pm", "acpi_pm_read" },
        { "acpi_pm", "acpi_pm_read_slow" },
        { "acpi_pm", "acpi_pm_read_verified" },
        { "jiffies", "jiffies_read" },
};

int clock_reader_find(const Tracefs *fs, const Functions *f, Strv *ret) {
        _cleanup_free_ char *now = NULL;
        int r = file_read(fs->root_fd,
                          "sys/devices/system/clocksource/clocksource0/current_clocksource", &now,
                          NULL, 256);

        if (r < 0) /* a machine without the choice has none of these */
                return 0;
        now[strcspn(now, "\n")] = 0;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(readers); i++)
                if (streq(now, readers[i].clock_source) &&
                    functions_contain(f, readers[i].function))
                        r = strv_add(ret, readers[i].function);
        return r;
}
