/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an event tells of is the file of a look, if it has that one's inode: the look has more words for it. */

#include "base/name.h"
#include "spaces/spaces-private.h"

#define FILES_MAX 65536
#define DELETED " (deleted)"

/* Where the last part of a path is, without what the kernel says of it. */
static const char *last_part(const char *path, size_t *n) {
        const char *slash;

        if (*n > strlen(DELETED) &&
            memcmp(path + *n - strlen(DELETED), DELETED, strlen(DELETED)) == 0)
                *n -= strlen(DELETED);
        slash = memrchr(path, '/', *n);
        if (slash) {
                *n -= (size_t) (slash + 1 - path);
                return slash + 1;
        }
        if (*n > 2 && path[0] == '[' && path[*n - 1] == ']') {
                *n -= 2;
                return path + 1;
        }
        return path;
}

static FileItem *file_new(const MappedFile *f, const FileWords *w) {
        _cleanup_buf_ Buf text = BUF_INIT;
        size_t n_name = w->n_path, build_id, name_at;
        const char *name = last_part(w->path, &n_name);
        _cleanup_free_ FileItem *item = NEW(FileItem, .file = *f);

        buf_add(&text, w->path, w->n_path);
        buf_add(&text, "", 1);
        build_id = text.n_data;
        buf_add(&text, w->build_id, w->n_build_id);
        buf_add(&text, "", 1);
        name_at = text.n_data;
        buf_add_plain(&text, name, n_name, PLAIN_WORD);
        if (!item || buf_take_string(&text, &item->text) < 0)
                return NULL;
        item->file.path = item->text;
        item->file.build_id = w->n_build_id > 0 ? item->text + build_id : NULL;
        item->file.name = item->text + name_at;
        return TAKE_PTR(item);
}

static bool equals(const char *known, const char *s, size_t n) {
        return known ? strlen(known) == n && memcmp(known, s, n) == 0 : n == 0;
}

int mapped_files_get(MappedFiles *s, const MappedFile *f, const FileWords *w,
                     const MappedFile **ret) {
        uint64_t inode = hash_mix(f->inode) ^ ((uint64_t) f->major << 32 | f->minor), key;
        const HashSlot *slot;
        FileItem *item;

        *ret = NULL;
        if (f->is_of_event && hash_get(&s->seen_at, inode) > 0) {
                const MappedFile *seen = &s->items[hash_get(&s->seen_at, inode) - 1]->file;

                if (seen->inode == f->inode && seen->major == f->major && seen->minor == f->minor) {
                        *ret = seen;
                        return 0;
                }
        }
        key = hash_bytes(inode ^ HASH_BYTES_FIRST, w->path, w->n_path);
        key = hash_bytes(key, w->build_id, w->n_build_id);
        hash_each (slot, &s->all_at, key) {
                const MappedFile *known = &s->items[slot->value - 1]->file;

                if (known->inode == f->inode && known->major == f->major &&
                    known->minor == f->minor && known->is_of_event == f->is_of_event &&
                    equals(known->path, w->path, w->n_path) &&
                    equals(known->build_id, w->build_id, w->n_build_id)) {
                        *ret = known;
                        return 0;
                }
        }
        if (s->n >= FILES_MAX)
                return 0;
        item = file_new(f, w);
        if (!item)
                return -ENOMEM;
        item->file.index = (uint32_t) s->n;
        if (!ARRAY_ADD(s->items, s->n, item)) {
                free(item->text);
                free(item);
                return -ENOMEM;
        }
        *ret = &item->file;
        if (!f->is_of_event && f->inode != 0 && hash_set(&s->seen_at, inode, s->n) < 0)
                return -ENOMEM;
        return hash_add(&s->all_at, key, s->n);
}

void mapped_files_tell(MappedFiles *s, const MappedFile *f, const char *path, size_t n) {
        FileItem *item = s->items[f->index];
        const char *slash = memrchr(path, '/', n);

        if (f->is_of_event && !item->told && slash &&
            equals(f->name, slash + 1, n - (size_t) (slash + 1 - path)))
                item->file.told = item->told = strndup(path, n);
}

void mapped_files_done(MappedFiles *s) {
        for (size_t i = 0; i < s->n; i++) {
                free(s->items[i]->text);
                free(s->items[i]->told);
                free(s->items[i]);
        }
        free(s->items);
        hash_done(&s->all_at);
        hash_done(&s->seen_at);
}
