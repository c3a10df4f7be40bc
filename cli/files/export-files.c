/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/unit.h"
#include "cli/files/files.h"

#define NAME_BYTES 100 /* of each of two names in a file's */

bool export_files_is_dir(const char *path) {
        size_t n = strlen(path);
        struct stat st;

        return (n > 0 && path[n - 1] == '/') || (stat(path, &st) >= 0 && S_ISDIR(st.st_mode));
}

/* What is longer than a file system may take has a hash at its end. */
static void add_name(Buf *path, const char *s, size_t n) {
        size_t begin = path->n_data;
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789_-.";

        for (size_t i = 0; i < n; i++)
                if (memchr(plain, s[i], sizeof(plain) - 1) && (s[i] != '.' || i > 0))
                        buf_add(path, s + i, 1);
                else
                        buf_printf(path, "%%%02X", (unsigned char) s[i]);
        if (path->error < 0 || path->n_data - begin <= NAME_BYTES)
                return;
        path->n_data = begin + NAME_BYTES;
        buf_printf(path, "~%016" PRIx64, hash_bytes(HASH_BYTES_FIRST, s, n));
}

/* The caller frees; NULL without memory. */
static char *path_of(const ExportFiles *f, const ExportInfo *info, const char *name,
                     const Function *root) {
        static const char suffix[] = ".parquet";
        _cleanup_buf_ Buf path = BUF_INIT;
        size_t n = strlen(f->path);
        char *text, day[32];
        struct tm tm;
        time_t t;

        if (!f->is_dir) {
                if (n > sizeof(suffix) - 1 && streq(f->path + n - (sizeof(suffix) - 1), suffix))
                        n -= sizeof(suffix) - 1;
                buf_printf(&path, "%.*s.%s%s", (int) n, f->path, name, suffix);
                return buf_take_string(&path, &text) < 0 ? NULL : text;
        }
        while (n > 1 && f->path[n - 1] == '/')
                n--;
        buf_printf(&path, "%.*s/", (int) n, f->path);
        if (!root)
                buf_printf(&path, "_%s/", name);
        t = info->meta ? (time_t) (info->meta->start.realtime_ns / NSEC_PER_SEC) : 0;
        if (!info->meta || !clock_tuple_is_set(&info->meta->start))
                buf_adds(&path, "date=unknown");
        else if (gmtime_r(&t, &tm) && strftime(day, sizeof(day), "date=%Y-%m-%d", &tm) > 0)
                buf_adds(&path, day);
        if (root) {
                buf_adds(&path, "/root=");
                add_name(&path, root->label, root->n_name);
        }
        buf_adds(&path, "/");
        if (info->host && *info->host) {
                add_name(&path, info->host, strlen(info->host));
                buf_adds(&path, "-");
        }
        add_name(&path, info->recording, strlen(info->recording));
        buf_adds(&path, suffix);
        return buf_take_string(&path, &text) < 0 ? NULL : text;
}

/* The directories that @path is below. */
static int make_parents(char *path) {
        for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
                int r;

                *p = 0;
                r = mkdir(path, 0777) < 0 && errno != EEXIST ? ORIGIN(-errno) : 0;
                *p = '/';
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_temporary(ExportFiles *f) {
        _cleanup_free_ char *path = NULL;
        struct stat st;
        int r;

        r = text_format(&path, "%s/.ftraced-XXXXXX", f->path) ?: make_parents(path);
        if (r < 0)
                return r;
        /* A link in its place is followed by the kernel, or not (cli/terminal/terminal.h). */
        if (stat(f->path, &st) < 0 || !mkdtemp(path))
                return ORIGIN(-errno);
        f->temporary = TAKE_PTR(path);
        f->sweeper_fd = sweeper_start(f->temporary);
        return MIN(f->sweeper_fd, 0);
}

/* The next one of a directory. */
static int open_part(ExportFiles *f, ExportFile *file, const char *path) {
        _cleanup_free_ char *temporary = NULL;
        int r = f->temporary ? 0 : make_temporary(f);

        if (r < 0)
                return r;
        if (f->is_unknown && access(path, F_OK) >= 0)
                return ORIGIN(-EEXIST);
        return text_format(&temporary, "%s/%zu", f->temporary, f->n)
                       ?: outfile_open_as(&file->file, path, temporary, f->mode);
}

int export_files_open(const ExportInfo *info, const char *name, const Function *root, Buf **ret) {
        ExportFiles *f = info->files;
        _cleanup_free_ char *path = path_of(f, info, name, root);
        ExportFile *file = path ? NEW(ExportFile, .file = OUTFILE_INIT, .next = f->files) : NULL;
        int r;

        if (!file)
                return -ENOMEM;
        f->is_unknown = streq(info->recording, info->title);
        r = f->is_dir ? open_part(f, file, path) : outfile_open(&file->file, path, f->mode);
        if (r < 0) {
                free(file);
                (void) text_replace(&f->failed, path);
                return r;
        }
        file->out = BUF_TO_FD(file->file.fd);
        f->files = file;
        f->n++;
        *ret = &file->out;
        return 0;
}

int export_files_close(const ExportInfo *info, Buf *out) {
        ExportFile *file = (ExportFile *) out;
        const ExportFiles *f = info->files;
        int r = buf_flush(out);

        buf_done(out);
        return r < 0 || !f->is_dir ? r : outfile_close(&file->file);
}

int export_files_commit(ExportFiles *f) {
        int r = 0;

        for (ExportFile *file = f->files; file && r >= 0; file = file->next) {
                if (f->is_dir)
                        r = make_parents(file->file.path);
                if (r >= 0)
                        r = outfile_commit(&file->file);
                if (r < 0)
                        (void) text_replace(&f->failed, file->file.path);
        }
        return r;
}

void export_files_done(ExportFiles *f) {
        for (ExportFile *file; (file = POP(f->files));) {
                buf_done(&file->out);
                outfile_done(&file->file);
                free(file);
        }
        if (f->temporary)
                (void) tree_remove(AT_FDCWD, f->temporary);
        safe_close(f->sweeper_fd);
        free(f->temporary);
        free(f->failed);
        *f = EXPORT_FILES_INIT;
}
