/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The words are retention/outlook.h's. */

#include <ctype.h>
#include <sys/statvfs.h>

#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "retention/outlook.h"

/* What @reply says of it, which outlook_done() frees: a sentence that begins with a capital, as long as no name begins
 * it; the caller frees; NULL: none. */
static char *sentence(Outlook *ret, const json_t *reply) {
        char *text;

        if (outlook_from_json(ret, json_object_get(reply, "retention")) != 0 ||
            outlook_describe(&text, ret) < 0)
                return NULL;
        if (!ret->next || !startswith(text, ret->next))
                *text = (char) toupper((unsigned char) *text);
        return text;
}

json_t *retention_of_store(const Options *o, const Store *store, const Vacuum *v) {
        _cleanup_outlook_ Outlook outlook = {};
        _cleanup_strv_ Strv problems = {}; /* which "ftraced --check-config" says */
        _cleanup_config_ Config c = CONFIG_INIT;
        struct statvfs fs;
        RetainLimits limits;
        Limits l;

        if (config_load(&c, o->config_root, NULL, &problems) < 0 ||
            fstatvfs(store_fd(store), &fs) < 0)
                return NULL;
        l = config_limits(&c, (uint64_t) fs.f_blocks * fs.f_frsize,
                          (unsigned) MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L));
        limits = vacuum_limits(&l);
        return vacuum_foresee(&outlook, v, store, &limits) >= 0 ? outlook_to_json(&outlook) : NULL;
}

void retention_add_line(Buf *out, const json_t *reply, const char *indent) {
        _cleanup_outlook_ Outlook o = {};
        _cleanup_free_ char *text = sentence(&o, reply);

        if (text)
                buf_printf(out, "%s%s.\n", indent, text);
}

void put_back_add_line(Buf *out, const json_t *reply, const char *indent) {
        const char *why = json_string_value(json_object_get(reply, "not_put_back"));

        if (why)
                buf_printf(out,
                           "%sthe kernel's settings could not be restored yet: %s; ftraced tries "
                           "again every few seconds: ftracectl doctor\n",
                           indent, why);
}

void retention_talk(const Options *o, const json_t *reply) {
        _cleanup_outlook_ Outlook outlook = {};
        _cleanup_free_ char *text = sentence(&outlook, reply);

        if (text && outlook_is_tight(&outlook))
                talk(o, "Note: %s.", text);
}

void retention_mark(json_t *sessions, const json_t *reply) {
        json_t *retention = json_object_get(reply, "retention"), *session;
        size_t i;

        json_array_foreach (sessions, i, session)
                if (streq(json_text(session, "name"), json_text(retention, "next")))
                        (void) json_object_set(session, "goes", retention);
}
