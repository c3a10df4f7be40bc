/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where the code of the kernel or of a module may be: what was named, what the store has, where distributions put
 * it, and a debuginfod.  The first file that has the build ID is taken.  What has none cannot be told apart by it.
 *
 * libdebuginfod is loaded when it is needed: with it come libcurl and twenty others.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "lines/lines-private.h"

#ifdef HAVE_DEBUGINFOD
#include <elfutils/debuginfod.h>
#endif

#define DEBUG_DIRECTORY "/usr/lib/debug"
#define MODULE_DIRECTORIES_MAX 10000
#define DEPTH_MAX 12
#define LINES_FILE_SUFFIX ".lines"

/* What one search is about. */
typedef struct Search {
        Lines *l;
        LinesObject *o;
        const char *wanted; /* the build ID; NULL: not known */
        Strv problems;      /* what was there and could not be taken */
} Search;

static const char *wanted_id(const Lines *l, const char *module) {
        for (size_t i = 0; i < l->recording.n_ids; i++)
                if (streq_ptr(l->recording.ids[i].module, module))
                        return l->recording.ids[i].build_id;
        return NULL;
}

/* Takes what was opened, if it is the one that is wanted: 0, or LINES_E_NONE. */
static int accept(Search *s, const char *path, const char *build_id, const char *machine) {
        const char *recorded = s->l->recording.machine;

        if (s->wanted && build_id && !streq(s->wanted, build_id))
                return strv_addf(&s->problems, "%s has the build ID %s, and not %s", path, build_id,
                                 s->wanted)
                               ?: LINES_E_NONE;
        if (recorded && machine && !streq(recorded, machine))
                return strv_addf(&s->problems, "%s is of %s, and the recording of %s", path,
                                 machine, recorded)
                               ?: LINES_E_NONE;
        s->o->origin = strdup(path);
        s->o->build_id = build_id;
        return s->o->origin ? 0 : -ENOMEM;
}

/* Of a lines file, which is the Lines' from then on. */
static int take_from_file(Search *s, const char *path) {
        const LinesFile *f = s->l->file;
        const char *release = s->l->recording.release;
        int at = lines_file_find(f, s->o->module), r;

        if (at < 0)
                return strv_addf(&s->problems, "is not in %s", path) ?: LINES_E_NONE;
        if (release && !(s->wanted && lines_file_build_id(f, at)) && *f->release &&
            !streq(release, f->release))
                return strv_addf(&s->problems, "%s is of %s, and the recording of %s", path,
                                 f->release, release)
                               ?: LINES_E_NONE;
        r = accept(s, path, lines_file_build_id(f, at), lines_file_machine(f));
        if (r != 0)
                return r;
        s->o->file = f;
        s->o->in_file = at;
        return lines_file_symbols(f, at, &s->o->symbols);
}

static int take_lines_file(Search *s, int fd, const char *path) {
        _cleanup_free_ char *data = NULL;
        const char *problem;
        LinesFile *f;
        size_t n;
        int r = fd_read(fd, &data, &n, LINES_FILE_MAX);

        if (r < 0)
                return r;
        r = lines_file_open(&f, data, n, &problem);
        if (r > 0)
                r = strv_addf(&s->problems, "%s %s", path, problem) ?: r;
        if (r != 0)
                return r;
        (void) lines_file_free(s->l->file);
        s->l->file = f;
        r = take_from_file(s, path);
        if (r != 0)
                s->l->file = lines_file_free(s->l->file);
        return r;
}

/* @fd, which is consumed, is open for reading.  0: it is taken; LINES_E_NONE; -errno. */
static int take_fd(Search *s, int fd, const char *path) {
        _cleanup_close_ int file = fd;
        _cleanup_(image_freep) Image *i = NULL;
        const LinesObject *kernel = s->l->n_objects > 0 ? s->l->objects[0] : NULL;
        const char *problem = NULL;
        char magic[16];
        ssize_t n = pread_up_to(file, magic, sizeof(magic), 0);
        int r;

        if (n < 0)
                return (int) n;
        if (!s->o->module && n >= (ssize_t) LINES_FILE_MAGIC_BYTES &&
            memcmp(magic, LINES_FILE_MAGIC, LINES_FILE_MAGIC_BYTES - 1) == 0)
                return take_lines_file(s, file, path);
        r = image_open(&i, TAKE_FD(file), path,
                       kernel && kernel->image ? image_root(kernel->image) : NULL, &problem);
        if (r > 0)
                r = strv_addf(&s->problems, "%s %s", path, problem) ?: r;
        if (r == 0)
                r = accept(s, path, image_build_id(i), image_machine(i));
        if (r == 0)
                r = image_symbols(i, &s->o->symbols);
        if (r == 0 && s->o->symbols.n == 0) {
                s->o->origin = mfree(s->o->origin);
                return strv_addf(&s->problems, "%s has no code", path) ?: LINES_E_NONE;
        }
        if (r == 0)
                s->o->image = TAKE_PTR(i);
        return r;
}

/* The same of a file, which need not be there unless it is named. */
static int take_path(Search *s, int dir_fd, const char *path, bool is_named) {
        struct stat st;
        int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

        if (fd < 0 && !is_named && (errno == ENOENT || errno == ENOTDIR))
                return LINES_E_NONE;
        if (fd < 0)
                return strv_addf(&s->problems, "%s: %s", path, strerror(errno)) ?: LINES_E_NONE;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
                safe_close(fd);
                return strv_addf(&s->problems, "%s is no regular file", path) ?: LINES_E_NONE;
        }
        return take_fd(s, fd, path);
}

/* --- modules ---------------------------------------------------------------------------------- */

static bool is_suffix(const char *s) {
        return s && (streq(s, ".ko") || streq(s, ".ko.debug"));
}

/* "nf_tables" is in nf_tables.ko, nf-tables.ko.debug, ... */
static bool is_file_of(const char *file, const char *module) {
        for (; *module; file++, module++)
                if (*file != *module && !(*file == '-' && *module == '_'))
                        return false;
        return is_suffix(file);
}

/* Adds those that are in @dir_fd, which is consumed, and below. */
static int list_modules(Strv *paths, int dir_fd, const char *path, unsigned depth,
                        unsigned *n_left) {
        DIR *d;
        struct dirent *e;
        int r = dir_list(&d, dir_fd), added = 0;

        if (r < 0)
                return 0; /* nothing is there */
        while (added >= 0 && (e = dir_next(d, &r))) {
                if (is_suffix(strchr(e->d_name, '.')))
                        added = strv_addf(paths, "%s/%s", path, e->d_name);
                else if (e->d_type == DT_DIR && depth<DEPTH_MAX && * n_left> 0) {
                        _cleanup_free_ char *name = NULL;

                        --*n_left;
                        if (asprintf(&name, "%s/%s", path, e->d_name) < 0) {
                                name = NULL; /* it is not defined then */
                                added = -ENOMEM;
                        } else
                                added = list_modules(paths, dir_open(dirfd(d), e->d_name), name,
                                                     depth + 1, n_left);
                }
        }
        (void) closedir(d);
        return added;
}

/* Looks for the module's file below @path, which @files are of: it is listed for the first module, for there may
 * be thousands of directories, and many modules that are nowhere. */
static int take_below(Search *s, LinesModules *files, const char *path) {
        unsigned n_left = MODULE_DIRECTORIES_MAX;
        int r = 0;

        if (!files->is_listed)
                r = list_modules(&files->paths, dir_open(AT_FDCWD, path), path, 0, &n_left);
        if (r < 0)
                return r;
        files->is_listed = true;
        r = LINES_E_NONE;
        for (size_t i = 0; i < files->paths.n && r == LINES_E_NONE; i++)
                if (is_file_of(strrchr(files->paths.items[i], '/') + 1, s->o->module))
                        r = take_path(s, AT_FDCWD, files->paths.items[i], false);
        return r;
}

/* A module of the kernel whose vmlinux was named: packages have it in ../lib/modules of boot/, builds below it. */
static int take_beside(Search *s) {
        _cleanup_free_ char *path = realpath(s->l->place.vmlinux, NULL);
        char *name = path ? strrchr(path, '/') : NULL; /* it is absolute */
        const char *release = s->l->recording.release;
        _cleanup_strv_ Strv packaged = {};
        int r = LINES_E_NONE;

        if (!name)
                return LINES_E_NONE;
        *name++ = '\0';
        release = release ?: startswith(name, "vmlinux-"); /* a text does not tell */
        if (release)
                r = strv_addf(&packaged, "%s/../lib/modules/%s", path, release)
                            ?: take_below(s, &s->l->modules[0], packaged.items[0]);
        return r == LINES_E_NONE ? take_below(s, &s->l->modules[1], path) : r;
}

/* --- the usual places ------------------------------------------------------------------------- */

/* Those that are named after the release, then after the build ID. */
static int take_installed(Search *s) {
        const char *release = s->l->recording.release, *id = s->wanted;
        const char *debug = getenv("FTRACED_DEBUG_DIRECTORY") ?: DEBUG_DIRECTORY;
        _cleanup_strv_ Strv paths = {}, modules = {};
        int r = 0;

        if (release && !strchr(release, '/'))
                r = s->o->module ? strv_addf(&modules, "%s/lib/modules/%s", debug, release)
                                 : strv_addf(&paths, "%s/boot/vmlinux-%s", debug, release)
                                           ?: strv_addf(&paths, "%s/lib/modules/%s/vmlinux", debug,
                                                        release);
        if (r >= 0 && id && strlen(id) > 2)
                r = strv_addf(&paths, "%s/.build-id/%.2s/%s.debug", debug, id, id + 2);
        if (r >= 0)
                r = modules.n > 0 ? take_below(s, &s->l->modules[0], modules.items[0])
                                  : LINES_E_NONE;
        for (size_t i = 0; i < paths.n && r == LINES_E_NONE; i++)
                r = take_path(s, AT_FDCWD, paths.items[i], false);
        return r;
}

#ifdef HAVE_DEBUGINFOD
/* What is used of the library. */
typedef struct Debuginfod {
        typeof(debuginfod_begin) *begin;
        typeof(debuginfod_set_progressfn) *set_progress;
        typeof(debuginfod_set_user_data) *set_data;
        typeof(debuginfod_get_user_data) *data;
        typeof(debuginfod_find_debuginfo) *find;
        typeof(debuginfod_end) *end;
} Debuginfod;

/* It stays: what its own libraries have allocated only they know of. */
static bool debuginfod_load(Debuginfod *d) {
        const struct {
                const char *name;
                void *at;
        } functions[] = {
                { "debuginfod_begin", &d->begin },
                { "debuginfod_set_progressfn", &d->set_progress },
                { "debuginfod_set_user_data", &d->set_data },
                { "debuginfod_get_user_data", &d->data },
                { "debuginfod_find_debuginfo", &d->find },
                { "debuginfod_end", &d->end },
        };
        void *library = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY);

        for (size_t i = 0; library && i < ELEMENTSOF(functions); i++) {
                void *function = dlsym(library, functions[i].name);

                if (!function)
                        return false;
                memcpy(functions[i].at, &function, sizeof(function));
        }
        return library;
}

static int on_progress(debuginfod_client *c, long n_bytes, long n_all) {
        Debuginfod d = {};
        const LinesPlace *place;

        if (!debuginfod_load(&d)) /* it is loaded */
                return 1;
        place = d.data(c);
        return place->progress(place->userdata, (uint64_t) MAX(n_bytes, 0L),
                               (uint64_t) MAX(n_all, 0L));
}

static int take_fetched(Search *s) {
        const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
        Debuginfod d = {};
        _cleanup_free_ char *path = NULL;
        debuginfod_client *c;
        int fd;

        if (!s->wanted || !s->l->place.progress || !urls || !*urls)
                return LINES_E_NONE;
        if (!debuginfod_load(&d))
                return strv_addf(&s->problems,
                                 "%s, by which a debuginfod is asked, cannot be loaded",
                                 DEBUGINFOD_SONAME)
                               ?: LINES_E_NONE;
        c = d.begin();
        if (!c)
                return -ENOMEM;
        d.set_data(c, &s->l->place);
        d.set_progress(c, on_progress);
        /* 0 bytes: it is a string of hexadecimal digits. */
        fd = d.find(c, (const unsigned char *) s->wanted, 0, &path);
        d.end(c);
        if (fd < 0)
                return strv_addf(&s->problems, "%s has no build ID %s: %s", urls, s->wanted,
                                 strerror(-fd))
                               ?: LINES_E_NONE;
        return take_fd(s, fd, path);
}
#else
static int take_fetched(Search *s) {
        const char *urls = getenv("DEBUGINFOD_URLS");

        if (s->wanted && s->l->place.progress && urls && *urls)
                return strv_addf(&s->problems, "no debuginfod is asked: this ftracectl was built "
                                               "without libdebuginfod")
                               ?: LINES_E_NONE;
        return LINES_E_NONE;
}
#endif

/* --- all of them ------------------------------------------------------------------------------ */

/* What is lacking, and the way out. */
static int describe(Search *s, char **ret) {
        const LinesRecording *r = &s->l->recording;
        _cleanup_buf_ Buf out = BUF_INIT;

        if (s->o->module)
                buf_printf(&out, "module %s", s->o->module);
        else
                buf_printf(&out, "kernel %s", r->release ?: "of the recording");
        if (s->wanted)
                buf_printf(&out, " (build ID %s)", s->wanted);
        buf_adds(&out, " has no lines: ");
        if (s->problems.n > 0) {
                for (size_t i = 0; i < s->problems.n; i++)
                        buf_printf(&out, "%s%s", i > 0 ? "; " : "", s->problems.items[i]);
                if (s->l->place.vmlinux && !s->o->module)
                        return buf_take_string(&out, ret);
                buf_adds(&out, "; ");
        }
        if (s->o->module && s->l->place.vmlinux)
                buf_printf(&out, "there is no %s.ko with debug information beside %s", s->o->module,
                           s->l->place.vmlinux);
        else
                buf_printf(&out,
                           "install the kernel's debug package (Debian: linux-image-%s-dbg), %s or "
                           "set "
                           "DEBUGINFOD_URLS",
                           r->release ?: "VERSION", s->o->module ? "" : "give --vmlinux=FILE,");
        return buf_take_string(&out, ret);
}

int search_object(Lines *l, LinesObject *o, char **ret_problem) {
        Search s = { .l = l, .o = o, .wanted = wanted_id(l, o->module) };
        _cleanup_strv_ Strv kept = {};
        int r = LINES_E_NONE;

        if (o->module && l->file)
                r = take_from_file(&s, l->objects[0]->origin);
        else if (l->place.vmlinux)
                r = o->module ? take_beside(&s) : take_path(&s, AT_FDCWD, l->place.vmlinux, true);
        else {
                if (!o->module && s.wanted && !strchr(s.wanted, '/') &&
                    l->recording.symbols_fd >= 0)
                        r = strv_addf(&kept, "%s" LINES_FILE_SUFFIX, s.wanted)
                                    ?: take_path(&s, l->recording.symbols_fd, kept.items[0], false);
                if (r == LINES_E_NONE)
                        r = take_installed(&s);
                if (r == LINES_E_NONE)
                        r = take_fetched(&s);
        }
        if (r == LINES_E_NONE)
                r = describe(&s, ret_problem) ?: LINES_E_NONE;
        strv_done(&s.problems);
        return r;
}
