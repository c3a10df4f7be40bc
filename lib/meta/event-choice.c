/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Both words end in paths below events/, so they may hold what events' names hold and nothing else. */

#include <ctype.h>

#include "base/cleanup.h"
#include "meta/event-choice.h"

#define WORD_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

/* The word at @s, whose length is returned; 0: there is none. */
static size_t parse_word(char ret[static EVENT_WORD_MAX + 1], const char *s) {
        size_t n = strspn(s, WORD_CHARS);

        if (n == 0 || n > EVENT_WORD_MAX)
                return 0;
        memcpy(ret, s, n);
        ret[n] = 0;
        return n;
}

/* A system, @separator and a name: what follows them; NULL: they are not there. */
static const char *parse_names(EventChoice *e, const char *text, char separator) {
        size_t n = parse_word(e->system, text);

        if (n == 0 || text[n] != separator)
                return NULL;
        text += n + 1;
        n = parse_word(e->name, text);
        return n > 0 ? text + n : NULL;
}

bool event_choice_parse(EventChoice *ret, const char *text) {
        EventChoice e = {};
        size_t n_filter;

        text = parse_names(&e, text, ':');
        if (!text)
                return false;
        if (*text) {
                if (*text != ':')
                        return false;
                e.filter = text + 1;
                n_filter = strlen(e.filter);
                if (n_filter > EVENT_FILTER_MAX || strspn(e.filter, " ") == n_filter)
                        return false;
                for (const char *p = e.filter; *p; p++)
                        if (iscntrl((unsigned char) *p))
                                return false;
        }
        *ret = e;
        return true;
}

bool event_choice_is_valid(const char *text) {
        EventChoice e;

        return event_choice_parse(&e, text);
}

bool event_choice_from_path(EventChoice *ret, const char *path) {
        const char *rest = startswith(path, "events/");
        EventChoice e = {};

        rest = rest ? parse_names(&e, rest, '/') : NULL;
        if (!rest || !streq(rest, "/format"))
                return false;
        *ret = e;
        return true;
}

void event_choice_path(char ret[static EVENT_PATH_MAX], const EventChoice *e, const char *file) {
        (void) snprintf(ret, EVENT_PATH_MAX, "events/%s/%s/%s", e->system, e->name, file);
}

bool event_choice_is_marker(const EventChoice *e) {
        return streq(e->system, "ftrace") && streq(e->name, "print");
}

/* --- boot instances --------------------------------------------------------------------------- */

#define WHITE " \t\r\n"

size_t boot_instance_parse(const char *word) {
        const char *s = startswith(word, BOOT_INSTANCE_WORD);
        size_t n_name, n_all;

        if (!s)
                return 0;
        n_name = strcspn(s, "^@=," WHITE);
        n_all = strcspn(s, "," WHITE);
        if (n_name == 0 || n_name > BOOT_INSTANCE_NAME_MAX || s[n_name] == '=' || *s == '.')
                return 0;
        for (size_t i = 0; i < n_name; i++)
                if (s[i] == '/' || (unsigned char) s[i] < ' ' || s[i] == 127)
                        return 0;
        return memchr(s, '@', n_all) ? n_name : 0;
}

const char *boot_instance_next_word(const char *s) {
        s += strcspn(s, WHITE);
        return s + strspn(s, WHITE);
}
