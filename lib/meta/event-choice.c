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

bool event_choice_parse(EventChoice *ret, const char *text) {
        EventChoice e = {};
        size_t n = parse_word(e.system, text), n_filter;

        if (n == 0 || text[n] != ':')
                return false;
        text += n + 1;
        n = parse_word(e.name, text);
        if (n == 0)
                return false;
        text += n;
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
        static const char events[] = "events/";
        EventChoice e = {};
        size_t n;

        if (strncmp(path, events, sizeof(events) - 1) != 0)
                return false;
        path += sizeof(events) - 1;
        n = parse_word(e.system, path);
        if (n == 0 || path[n] != '/')
                return false;
        path += n + 1;
        n = parse_word(e.name, path);
        if (n == 0 || strcmp(path + n, "/format") != 0)
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
