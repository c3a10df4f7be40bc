/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A rule that is not complete yet begins with its space. */

#include "cli/options/rules.h"
#include "cli/options/status.h"
#include "meta/trigger.h"

int rules_add_on(Rules *r, const char *trigger) {
        if (r->is_doing) {
                r->n_complete = r->items.n;
                r->is_doing = false;
        }
        return strv_addf(&r->items, " %s", trigger);
}

static int add_action(char **rule, const char *action) {
        int n_do = trigger_rule_n_do(*rule);
        char *text;

        if (asprintf(&text, "%.*s%s%s%s", n_do, *rule, n_do > 0 ? "," : "", action, *rule + n_do) <
            0)
                return -ENOMEM;
        free(*rule);
        *rule = text;
        return 0;
}

int rules_add_do(Rules *r, const char *action) {
        int k = 0;

        if (r->items.n == 0)
                k = rules_add_on(r, "command");
        r->is_doing = true;
        for (size_t i = r->n_complete; k >= 0 && i < r->items.n; i++)
                k = add_action(&r->items.items[i], action);
        return k;
}

int rules_finish(Rules *r, bool is_ring) {
        int k = 0;

        for (size_t i = 0; k >= 0 && i < r->items.n; i++)
                if (r->items.items[i][0] == ' ')
                        k = add_action(&r->items.items[i], is_ring ? "snapshot" : "start");
        return k;
}

int rules_check(const Strv *items) {
        if (items->n > TRIGGER_MAX)
                return failed(STATUS_USAGE, "--on: a session can wait for %d triggers, not %zu.",
                              TRIGGER_MAX, items->n);
        for (size_t i = 0; i < items->n; i++) {
                _cleanup_trigger_ Trigger t = {};
                char why[TRIGGER_WHY_MAX];
                int r = trigger_parse(&t, items->items[i], why);

                if (r < 0)
                        return failed_errno(r, "Failed to read the triggers: %m");
                if (r > 0)
                        return failed(STATUS_USAGE, "--on, --do: %s; see \"ftracectl arm --help\".",
                                      why);
        }
        return STATUS_OK;
}

void rules_done(Rules *r) {
        strv_done(&r->items);
}
