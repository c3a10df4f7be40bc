/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * In place: lines are cut out of the text by writing NULs into it.  A line that goes on is moved
 * together, so that a value is one string of the text whatever it was.
 */

#include "base/ini.h"
#include "base/name.h"

#define BLANKS " \t\r"

static char *strip(char *s) {
        size_t n;

        s += strspn(s, BLANKS);
        for (n = strlen(s); n > 0 && strchr(BLANKS, s[n - 1]); n--)
                s[n - 1] = 0;
        return s;
}

static bool is_comment(const char *s) {
        s += strspn(s, BLANKS);
        return *s == '#' || *s == ';';
}

/* Cuts a line off *@text; NULL at the end. */
static char *next_line(char **text, unsigned *line) {
        char *s = *text, *end;

        if (!s || *s == 0)
                return NULL;
        end = strchr(s, '\n');
        if (end)
                *end = 0;
        *text = end ? end + 1 : NULL;
        (*line)++;
        return s;
}

static bool goes_on(char *s, char **ret_end) {
        size_t n = strlen(s);

        if (n == 0 || s[n - 1] != '\\')
                return false;
        *ret_end = s + n - 1;
        return true;
}

/* Appends the lines that @s goes on with. */
static void join(char *s, char **text, unsigned *line) {
        char *end, *more;

        while (goes_on(s, &end)) {
                *end = 0;
                do
                        more = next_line(text, line);
                while (more && is_comment(more));
                if (!more)
                        return;
                /* The next line lies behind the backslash, whose place its blank takes. */
                *end = ' ';
                memmove(end + 1, more, strlen(more) + 1);
        }
}

static int bad(const IniHandler *h, unsigned line, const char *what) {
        return h->bad ? h->bad(line, what, h->userdata) : 0;
}

/* *@section: NULL: it is not ours. */
static int parse_section(const IniHandler *h, char *s, unsigned line, const char **section) {
        char *end = s + strlen(s) - 1, what[NAME_QUOTE_MAX + 32];

        if (*end != ']' || end == s + 1)
                return bad(h, line, "a section's name has no end");
        *end = 0;
        *section = !h->knows || h->knows(s + 1) ? s + 1 : NULL;
        if (*section || startswith(s + 1, "X-"))
                return 0;
        (void) snprintf(what, sizeof(what), "unknown section [%s]", NAME_QUOTED(s + 1));
        return bad(h, line, what);
}

static int parse_line(const IniHandler *h, char *s, unsigned line, const char **section) {
        char *equals;

        if (*s == 0)
                return 0;
        if (*s == '[')
                return parse_section(h, s, line, section);
        equals = strchr(s, '=');
        if (!equals || equals == s)
                return bad(h, line, "neither [Section] nor Key=Value");
        *equals = 0;
        if (!*section)
                return 0;
        return h->set(&(IniEntry){ *section, strip(s), strip(equals + 1), line }, h->userdata);
}

int ini_parse(char *text, const IniHandler *h) {
        const char *section = "";
        unsigned line = 0;
        char *s;

        while ((s = next_line(&text, &line))) {
                unsigned first = line;
                int r;

                if (is_comment(s))
                        continue;
                join(s, &text, &line);
                r = parse_line(h, strip(s), first, &section);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* --- where they are --------------------------------------------------------------------------- */

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
