/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The daemon hands over the whole list as a descriptor (half a megabyte for
 * 40,000 names); the pattern is matched here.
 */

#include <fnmatch.h>
#include <stdbool.h>

#include "base/io.h"
#include "base/log.h"
#include "base/name.h"
#include "cli/contact.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/verb.h"

#define LIST_MAX ((size_t) 64 << 20)

/* All names, one a line; the caller frees; an exit status. */
static int get_list(char **ret, const Options *o, Client *c) {
        json_auto_t *reply = NULL;
        const json_t *index;
        int fds[FRAME_FDS_MAX], r = -EBADMSG, status;

        status = contact_call(c, o, "ListFunctions", NULL, &reply, fds);
        if (status != STATUS_OK)
                return status;
        index = json_object_get(reply, "functions");
        if (json_is_integer(index) && json_integer_value(index) >= 0 &&
            json_integer_value(index) < FRAME_FDS_MAX && fds[json_integer_value(index)] >= 0) {
                int fd = fds[json_integer_value(index)];

                (void) lseek(fd, 0, SEEK_SET);
                r = fd_read(fd, ret, NULL, LIST_MAX);
        }
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                safe_close(fds[i]);
        if (r < 0) {
                log_error_errno(r, "Failed to read the list of functions from the daemon: %m");
                return STATUS_FAILED;
        }
        return STATUS_OK;
}

static int print_names(Buf *out, const Strv *names) {
        for (size_t i = 0; i < names->n; i++)
                buf_printf(out, "%s\n", names->items[i]);
        return buf_flush(out);
}

static int print_json(const Options *o, const Strv *names) {
        json_t *list = json_array();

        for (size_t i = 0; i < names->n; i++)
                if (json_array_append_new(list, json_string(names->items[i])) < 0) {
                        json_decref(list);
                        list = NULL;
                        break;
                }
        return stdout_json(o, list);
}

/* Names of @list that @pattern matches; NULL: all. */
static int match_names(Strv *ret, char *list, const char *pattern) {
        char *state = NULL;
        int r;

        for (char *name = strtok_r(list, "\n", &state); name; name = strtok_r(NULL, "\n", &state)) {
                if (pattern && fnmatch(pattern, name, 0) != 0)
                        continue;
                r = strv_add(ret, name);
                if (r < 0)
                        return r;
        }
        return 0;
}

int verb_functions(const Options *o) {
        const char *pattern = o->words.n > 0 ? o->words.items[0] : NULL;
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_free_ char *list = NULL;
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_strv_ Strv names = {};
        _cleanup_buf_ Buf out = BUF_TO_FD(STDOUT_FILENO);
        char quoted[NAME_QUOTE_MAX];
        int r, status;

        status = contact_recorder(&c, o, NULL);
        if (status == STATUS_OK)
                status = get_list(&list, o, c);
        if (status != STATUS_OK)
                return status;
        r = match_names(&names, list, pattern);
        if (r < 0) {
                log_error_errno(r, "Failed to match the functions: %m");
                return STATUS_FAILED;
        }
        if (names.n == 0) {
                log_error("no function that can be traced here matches \"%s\".",
                          name_quote(quoted, pattern ?: "*"));
                return STATUS_NOT_FOUND;
        }
        if (o->json != JSON_OFF)
                return print_json(o, &names);
        pager_open(&pager, o, names.n);
        return stdout_status(pager_end(&pager, print_names(&out, &names)));
}
