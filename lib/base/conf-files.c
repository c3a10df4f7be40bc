/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Four places, and every question is a walk over them. */

#include "base/conf-files.h"

/* The first has precedence. */
static const char *const places[] = {
        SYSCONFDIR "/ftraced",
        RUNSTATEDIR "/ftraced",
        "/usr/local/lib/ftraced",
        "/usr/lib/ftraced",
};

/* Adds the path in the first place that has it.  1, 0 if none does, -ENOMEM. */
static int add_first(Strv *ret, const char *root, const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                _cleanup_free_ char *path = NULL;

                if (asprintf(&path, "%s%s/%s", root ?: "", places[i], name) < 0)
                        return -ENOMEM;
                if (access(path, F_OK) >= 0)
                        return strv_take(ret, TAKE_PTR(path)) ?: 1;
        }
        return 0;
}

static int list_place(Strv *ret, const char *root, const char *place, const char *dir) {
        _cleanup_free_ char *path = NULL;
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = 0;

        if (asprintf(&path, "%s%s/%s", root ?: "", place, dir) < 0)
                return -ENOMEM;
        d = opendir(path);
        while (r >= 0 && d && (e = readdir(d))) {
                size_t n = strlen(e->d_name);

                if (e->d_name[0] != '.' && n > 5 && streq(e->d_name + n - 5, ".conf"))
                        r = strv_add(ret, e->d_name);
        }
        return r;
}

int conf_files_list(Strv *ret, const char *root, const char *dir) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(places); i++)
                r = list_place(ret, root, places[i], dir);
        strv_sort_unique(ret);
        return r;
}

int conf_files_find(Strv *ret, const char *root, const char *name, bool *ret_has_main) {
        _cleanup_free_ char *dir = NULL;
        _cleanup_strv_ Strv names = {};
        int r;

        if (asprintf(&dir, "%s.d", name) < 0)
                return -ENOMEM;
        r = add_first(ret, root, name);
        if (r >= 0 && ret_has_main)
                *ret_has_main = r > 0;
        if (r >= 0)
                r = conf_files_list(&names, root, dir);
        for (size_t i = 0; r >= 0 && i < names.n; i++) {
                _cleanup_free_ char *path = NULL;

                r = asprintf(&path, "%s/%s", dir, names.items[i]) < 0 ? -ENOMEM
                                                                      : add_first(ret, root, path);
        }
        return MIN(r, 0);
}
