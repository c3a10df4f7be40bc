/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <event-parse.h>

#include "base/name.h"
#include "decode/event-text.h"

#define SWITCH_FORMAT                                                                              \
        "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "    \
        "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
#define SWITCH_END ", REC->next_comm, REC->next_pid, REC->next_prio"
#define WAKING_FORMAT                                                                              \
        "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, "             \
        "REC->target_cpu"

/* True if @text, up to @end, prints the state and nothing else, without an '=', so that no key is in it. */
static bool is_of_state(const char *text, const char *end) {
        size_t n = (size_t) (end - text);

        for (const char *p = text; (p = strstr(p, "REC->")) && p < end; p++)
                if (!startswith(p, "REC->prev_state "))
                        return false;
        return !memchr(text, '=', n) && !memmem(text, n, "__get", strlen("__get"));
}

/* Where it is; -1: it has another form. */
static int offset_of(struct tep_event *event, const char *name, int size) {
        const struct tep_format_field *field = tep_find_any_field(event, name);
        unsigned long string = TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING,
                      others = string | TEP_FIELD_IS_POINTER | TEP_FIELD_IS_DYNAMIC;

        return field && field->size == size &&
                               (field->flags & others) == (size == SCHED_COMM_BYTES ? string : 0)
                       ? field->offset
                       : -1;
}

bool sched_layout_learn(SchedLayout *ret, struct tep_event *event, const char *format) {
        const char *print = strstr(format, "\nprint fmt: \""), *end = NULL;
        bool is_switch = streq(event->name, "sched_switch");

        ret->kind = is_switch ? SCHED_SWITCH
                    : streq(event->name, "sched_waking") || streq(event->name, "sched_wakeup")
                            ? SCHED_WAKING
                    : streq(event->name, "sched_wakeup_new") ? SCHED_WAKING_NEW
                                                             : SCHED_NONE;
        if (ret->kind == SCHED_NONE || !print)
                return false;
        print = startswith(print + strlen("\nprint fmt: "),
                           is_switch ? SWITCH_FORMAT : WAKING_FORMAT);
        if (print && is_switch)
                end = strstr(print, SWITCH_END);
        if (!print || (is_switch && (!end || !is_of_state(print, end))))
                return false;
        end = end ? end + strlen(SWITCH_END) : print;
        ret->comm = offset_of(event, is_switch ? "next_comm" : "comm", SCHED_COMM_BYTES);
        ret->pid = offset_of(event, is_switch ? "next_pid" : "pid", 4);
        ret->left_comm = is_switch ? offset_of(event, "prev_comm", SCHED_COMM_BYTES) : 0;
        ret->left_pid = is_switch ? offset_of(event, "prev_pid", 4) : 0;
        ret->state = is_switch ? offset_of(event, "prev_state", 8) : 0;
        return !end[strspn(end, "\n")] &&
               (ret->comm | ret->pid | ret->left_comm | ret->left_pid | ret->state) >= 0;
}
