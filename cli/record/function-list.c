/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The daemon hands over the whole list as a descriptor (half a megabyte for
 * 40,000 names), so that what a pattern means is found out here, as the user.
 */

#include <errno.h>

#include "base/io.h"
#include "cli/contact/contact.h"
#include "cli/options/status.h"
#include "cli/record/function-list.h"

#define LIST_MAX ((size_t) 64 << 20)

int function_list_parse(FunctionList *ret, char *text) {
        _cleanup_function_list_ FunctionList l = { .text = text };
        size_t n_lines = 0;

        for (const char *s = text; *s; s++)
                n_lines += *s == '\n';
        l.items = calloc(n_lines + 1, sizeof(*l.items));
        if (!l.items)
                return -ENOMEM;

        for (char *s = text; *s;) {
                char *line = s, *space;

                s += strcspn(s, "\n");
                if (*s)
                        *s++ = 0;
                if (*line == 0)
                        continue;
                l.items[l.n].name = line;
                space = strchr(line, ' ');
                if (space && space[1] == '[') {
                        *space = 0;
                        l.items[l.n].module = space + 2;
                        space[2 + strcspn(space + 2, "]")] = 0;
                }
                l.n++;
        }
        *ret = TAKE(l, (FunctionList){});
        return 0;
}

int function_list_get(FunctionList *ret, const Options *o, Client *c) {
        json_auto_t *reply = NULL;
        const json_t *index;
        int fds[FRAME_FDS_MAX], r = -EBADMSG, status;
        char *text = NULL;

        status = contact_call(c, o, "ListFunctions", NULL, &reply, fds);
        if (status != STATUS_OK)
                return status;
        index = json_object_get(reply, "functions");
        if (json_is_integer(index) && json_integer_value(index) >= 0 &&
            json_integer_value(index) < FRAME_FDS_MAX && fds[json_integer_value(index)] >= 0) {
                int fd = fds[json_integer_value(index)];

                (void) lseek(fd, 0, SEEK_SET);
                r = fd_read(fd, &text, NULL, LIST_MAX);
        }
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                safe_close(fds[i]);
        if (r >= 0)
                r = function_list_parse(ret, text);
        if (r < 0)
                return failed_errno(r, "Failed to read the list of functions from the daemon: %m");
        return STATUS_OK;
}

void function_list_done(FunctionList *l) {
        free(l->items);
        free(l->text);
        *l = (FunctionList){};
}
