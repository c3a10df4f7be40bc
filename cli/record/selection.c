/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A form for each way to say functions.  The daemon hands over the list of all as a descriptor (half a megabyte for
 * 40,000 names), so that what a word means is found out here, as the user. */

#include <fcntl.h>
#include <fnmatch.h>
#include <regex.h>

#include "base/io.h"
#include "base/name.h"
#include "cli/record/record.h"
#include "cli/terminal/terminal.h"

#define LIST_MAX ((size_t) 64 << 20)
#define FILE_BYTES_MAX ((size_t) 1 << 20)
#define REGEX_BYTES_MAX 1024U
#define SAID_NAMES 5 /* functions named in what is said of a word */

/* --- what there is ---------------------------------------------------------------------------- */

int function_list_parse(FunctionList *ret, char *text) {
        _cleanup_function_list_ FunctionList l = { .text = text };

        for (char *s = text; *s;) {
                char *line = s, *space;

                s += strcspn(s, "\n");
                if (*s)
                        *s++ = 0;
                if (*line == 0)
                        continue;
                if (!ARRAY_ADD(l.items, l.n, (ListedFunction){ .name = line }))
                        return -ENOMEM;
                space = strchr(line, ' ');
                if (space && space[1] == '[') {
                        *space = 0;
                        l.items[l.n - 1].module = space + 2;
                        space[2 + strcspn(space + 2, "]")] = 0;
                }
        }
        *ret = TAKE(l, (FunctionList){});
        return 0;
}

int function_list_get(FunctionList *ret, Client *c) {
        json_auto_t *reply = NULL;
        const json_t *index;
        int fds[FRAME_FDS_MAX], r = -EBADMSG, status;
        char *text = NULL;

        status = contact_call(c, "ListFunctions", NULL, &reply, fds);
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

/* --- forms: each finds in the list what a word stands for, or, without a list, checks the word ---- */

static int match_regex(Strv *ret, const char *word, const FunctionList *l) {
        char text[REGEX_BYTES_MAX + 1], why[128];
        size_t n = strlen(word);
        regex_t regex;
        int r;

        if (n < 3 || word[n - 1] != '/' || n - 2 > REGEX_BYTES_MAX)
                return failed(STATUS_USAGE,
                              "\"%s\" is not a regular expression: write it between two slashes, "
                              "like '/^udp_(send|recv)msg$/'.",
                              NAME_QUOTED(word));
        memcpy(text, word + 1, n - 2);
        text[n - 2] = 0;
        r = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
        if (r != 0) {
                (void) regerror(r, &regex, why, sizeof(why));
                return failed(STATUS_USAGE, "\"%s\" is not a regular expression: %s.",
                              NAME_QUOTED(word), why);
        }
        for (size_t i = 0; l && r >= 0 && i < l->n; i++)
                if (regexec(&regex, l->items[i].name, 0, NULL, 0) == 0)
                        r = strv_add(ret, l->items[i].name);
        regfree(&regex);
        return r < 0 ? out_of_memory() : STATUS_OK;
}

static int check_word_behind_colon(const char *word) {
        return function_name_is_valid(strchr(word, ':') + 1)
                       ? STATUS_OK
                       : failed(STATUS_USAGE, "\"%s\": a name must follow the colon.",
                                NAME_QUOTED(word));
}

/* The kernel has '_' where a file's name may have '-'. */
static bool module_matches(const char *module, const char *name) {
        for (; *module && (*module == *name || (*module == '_' && *name == '-')); module++)
                name++;
        return *module == *name;
}

static int match_module(Strv *ret, const char *word, const FunctionList *l) {
        if (!l)
                return check_word_behind_colon(word);
        for (size_t i = 0; i < l->n; i++)
                if (l->items[i].module &&
                    module_matches(l->items[i].module, strchr(word, ':') + 1) &&
                    strv_add(ret, l->items[i].name) < 0)
                        return out_of_memory();
        return STATUS_OK;
}

static int match_syscall(Strv *ret, const char *word, const FunctionList *l) {
        const char *name = strchr(word, ':') + 1, *found = NULL;
        size_t best = SIZE_MAX;

        if (!l)
                return check_word_behind_colon(word);
        for (size_t i = 0; i < l->n; i++)
                if (syscall_is_nearer(l->items[i].name, name, &best))
                        found = l->items[i].name;
        return found && strv_add(ret, found) < 0 ? out_of_memory() : STATUS_OK;
}

static int match_name(Strv *ret, const char *word, const FunctionList *l) {
        for (size_t i = 0; l && i < l->n; i++)
                if (fnmatch(word, l->items[i].name, 0) == 0 && strv_add(ret, l->items[i].name) < 0)
                        return out_of_memory();
        if (l || function_pattern_is_valid(word))
                return STATUS_OK;
        if (*word && strspn(word, "*?") == strlen(word))
                return failed(STATUS_USAGE,
                              "\"%s\" matches every function of the kernel; recording them all "
                              "would stall this machine. Name fewer: \"udp_*\".",
                              NAME_QUOTED(word));
        return failed(STATUS_USAGE,
                      "\"%s\" cannot be a function's name, nor a pattern of names like \"udp_*\".",
                      NAME_QUOTED(word));
}

static const struct Form {
        const char *prefix;
        int (*match)(Strv *ret, const char *word, const FunctionList *l);
        bool needs_list; /* the daemon does not know it */
} forms[] = {
        { "/", match_regex, true },
        { "mod:", match_module, true },
        { "syscall:", match_syscall, true },
        { "", match_name, false },
};

static const struct Form *form_of(const char *word) {
        const struct Form *f = forms;

        while (!startswith(word, f->prefix))
                f++;
        return f;
}

int selection_match(Strv *ret, const char *word, const FunctionList *l) {
        return form_of(word)->match(ret, word, l);
}

/* --- all of them ----------------------------------------------------------------------------- */

static int read_word(Strv *ret, const char *word) {
        return selection_match(NULL, word, NULL)
                       ?: strv_add(ret, word) < 0 ? out_of_memory()
                                                  : STATUS_OK;
}

static int read_file(Strv *ret, const char *path) {
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv lines = {};
        int r = file_read(AT_FDCWD, path, &text, NULL, FILE_BYTES_MAX)
                        ?: strv_split(&lines, text, "\n"),
            status = STATUS_OK;

        if (r < 0) {
                log_error_errno(r, "Failed to read functions from \"%s\": %m", NAME_QUOTED(path));
                return r == -ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED;
        }
        for (size_t i = 0; status == STATUS_OK && i < lines.n; i++) {
                char *line = lines.items[i] + strspn(lines.items[i], " \t");
                size_t n = strcspn(line, "#");

                while (n > 0 && strchr(" \t\r", line[n - 1]))
                        n--;
                line[n] = 0;
                if (n > 0)
                        status = read_word(ret, line);
        }
        return status;
}

int selection_read(Strv *ret, const Strv *words) {
        _cleanup_strv_ Strv all = {};
        int status = STATUS_OK;

        for (size_t i = 0; status == STATUS_OK && i < words->n; i++)
                status = words->items[i][0] == '@' ? read_file(&all, words->items[i] + 1)
                                                   : read_word(&all, words->items[i]);
        if (status == STATUS_OK && words->n > 0 && all.n == 0)
                return failed(STATUS_USAGE,
                              "the file of functions is empty: nothing would be recorded.");
        *ret = TAKE(all, (Strv){});
        return status;
}

int selection_expand(Strv *ret, const Options *o, Client *c, const char *option, const Strv *words,
                     FunctionList *l) {
        _cleanup_strv_ Strv all = {};

        for (size_t i = 0; i < words->n; i++) {
                const char *word = words->items[i];
                _cleanup_free_ char *joined = NULL;
                _cleanup_strv_ Strv names = {};
                char more[32] = "";
                Strv first;
                int status;

                if (!form_of(word)->needs_list) {
                        if (strv_add(&all, word) < 0)
                                return out_of_memory();
                        continue;
                }
                status = l->items ? STATUS_OK : function_list_get(l, c);
                status = status ?: selection_match(&names, word, l);
                if (status != STATUS_OK)
                        return status;
                if (names.n == 0)
                        return failed(STATUS_NOT_FOUND,
                                      "\"%s\" matches no function that can be traced here. List "
                                      "them with: ftracectl functions",
                                      NAME_QUOTED(word));
                first = (Strv){ .items = names.items, .n = MIN(names.n, (size_t) SAID_NAMES) };
                joined = strv_join(&first, ", ");
                if (names.n > SAID_NAMES)
                        (void) snprintf(more, sizeof(more), " and %zu more", names.n - SAID_NAMES);
                talk(o, "%s%s stands for %zu function%s: %s%s.", option, NAME_QUOTED(word), names.n,
                     names.n == 1 ? "" : "s", joined ?: "", more);
                if (strv_extend(&all, &names) < 0)
                        return out_of_memory();
        }
        *ret = TAKE(all, (Strv){});
        return STATUS_OK;
}
