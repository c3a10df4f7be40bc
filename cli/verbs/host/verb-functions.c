/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One word, matched as `start` would understand it; as in the kernel's own list a module's function
 * has the module behind it. */

#include "base/name.h"
#include "cli/contact/contact.h"
#include "cli/record/record.h"
#include "cli/terminal/terminal.h"
#include "meta/json-field.h"

/* The names of @l that @word stands for; here "*" may mean all.  An exit status. */
static int match_names(Strv *ret, const char *word, const FunctionList *l) {
        _cleanup_strv_ Strv one = {}, words = {};
        int status = STATUS_OK;

        if (strspn(word, "*") == strlen(word))
                return selection_match(ret, "*", l);
        if (strv_add(&one, word) < 0)
                return STATUS_FAILED;
        status = selection_read(&words, &one);
        for (size_t i = 0; status == STATUS_OK && i < words.n; i++)
                status = selection_match(ret, words.items[i], l);
        return status;
}

int verb_functions(const Options *o) {
        const char *word = o->words.n > 0 ? o->words.items[0] : "*";
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_function_list_ FunctionList list = {};
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_strv_ Strv names = {};
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        int status = contact_recorder(&c, o, NULL)
                    ?: function_list_get(&list, c)
                    ?: match_names(&names, word, &list);
        if (status != STATUS_OK)
                return status;
        if (names.n == 0)
                return failed(STATUS_NOT_FOUND,
                              "no function that can be traced here matches \"%s\".",
                              NAME_QUOTED(word));
        strv_sort_unique(&names);
        if (o->json != JSON_OFF)
                return stdout_json(o, json_strv_new(&names));
        pager_open(&pager, o, names.n);
        for (const ListedFunction *f = list.items; f < list.items + list.n; f++)
                if (strv_finds(&names, f->name))
                        buf_printf(&out, "%s%s%s%s\n", f->name, f->module ? " [" : "",
                                   f->module ?: "", f->module ? "]" : "");
        return stdout_paged(&pager, &out, 0);
}
