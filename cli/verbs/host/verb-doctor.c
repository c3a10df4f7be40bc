/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * First what this process can see for itself: is there a daemon, may it talk to
 * it.  Then the daemon's own checks, which need its rights; root gets them from
 * a private daemon.  If there is no daemon to ask, what any process may read
 * has to do: /proc/filesystems, the state of lockdown.
 */

#include <fcntl.h>
#include <sys/utsname.h>

#include "base/io.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/terminal/terminal.h"

#define SMALL_FILE_MAX ((size_t) 64 << 10)

typedef struct Mark {
        const char *state, *utf8, *ascii;
        Colour colour;
} Mark;

static const Mark marks[] = {
        { "good", "✓", "+", COLOUR_GOOD },
        { "warning", "!", "!", COLOUR_WARNING },
        { "bad", "✗", "x", COLOUR_BAD },
};

static _printf_(5, 6) void add(json_t *checks, const char *name, const char *state, const char *fix,
                               const char *format, ...) {
        char text[512];
        json_t *check;
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        check = json_pack("{s:s, s:s, s:s}", "name", name, "state", state, "text", text);
        if (check && fix)
                (void) json_object_set_new(check, "fix", json_string(fix));
        (void) json_array_append_new(checks, check);
}

/* --- what anybody can see --------------------------------------------------------------------- */

static void look_at_lockdown(json_t *checks) {
        _cleanup_free_ char *text = NULL;

        if (file_read(AT_FDCWD, "/sys/kernel/security/lockdown", &text, NULL, SMALL_FILE_MAX) < 0)
                return; /* not readable, or no lockdown: nothing to say */
        if (strstr(text, "[confidentiality]"))
                add(checks, "lockdown", "bad",
                    "boot without lockdown=confidentiality (and see the firmware's secure boot)",
                    "the kernel is locked down (confidentiality): nobody may open tracefs");
}

static void look_at_tracefs(json_t *checks) {
        _cleanup_free_ char *text = NULL;
        struct utsname u = {};

        (void) uname(&u);
        if (file_read(AT_FDCWD, "/proc/filesystems", &text, NULL, SMALL_FILE_MAX) >= 0 &&
            !strstr(text, "\ttracefs\n"))
                add(checks, "kernel", "bad",
                    "boot a kernel with CONFIG_FUNCTION_GRAPH_TRACER; Debian's have it",
                    "kernel %s was built without tracing", u.release);
        else
                add(checks, "kernel", "good", NULL, "kernel %s knows tracefs", u.release);
}

static void look_as_user(json_t *checks) {
        if (geteuid() != 0)
                add(checks, "rights", "warning", "sudo ftracectl doctor",
                    "not root, and no daemon to ask: nothing more can be checked");
        look_at_tracefs(checks);
        look_at_lockdown(checks);
}

/* --- the daemon ------------------------------------------------------------------------------- */

static void connect_and_note(Client **ret, const Options *o, json_t *checks) {
        char why[CONTACT_TEXT_MAX], fix[CONTACT_TEXT_MAX];
        const char *path = contact_socket(o);
        int r = client_connect(ret, path);

        switch (r) {
        case 0:
                add(checks, "daemon", "good", NULL, "a daemon answers on %s", path);
                return;
        case CLIENT_E_NO_DAEMON:
                if (geteuid() == 0)
                        add(checks, "daemon", "warning", "systemctl enable --now ftraced.socket",
                            "no daemon listens on %s: run and follow work for root, the other "
                            "verbs do not",
                            path);
                else
                        add(checks, "daemon", "bad", "sudo systemctl enable --now ftraced.socket",
                            "no daemon listens on %s", path);
                break;
        case CLIENT_E_FORBIDDEN:
                contact_forbidden_texts(o, why, fix);
                add(checks, "daemon", "bad", fix, "a daemon listens on %s, but not for you: %s",
                    path, why);
                break;
        default:
                add(checks, "daemon", "bad", "journalctl -u ftraced", "cannot connect to %s: %s",
                    path, origin_text(r < 0 ? r : -EPROTO));
                break;
        }
        if (geteuid() == 0 && r == CLIENT_E_NO_DAEMON &&
            (r = client_start_private(ret, o->store, getenv("FTRACED_TRACEFS"))) < 0)
                add(checks, "private daemon", "bad", "install ftraced, or set FTRACED_DAEMON",
                    "a private daemon cannot be started: %s", origin_text(r));
}

static void ask(Client *c, json_t *checks) {
        _cleanup_refusal_ Refusal refusal = {};
        json_auto_t *reply = NULL;
        int r = client_call(c, "Check", NULL, &reply, NULL, &refusal);

        if (r == 0)
                (void) json_array_extend(checks, json_object_get(reply, "checks"));
        else if (r == CLIENT_E_REFUSED)
                add(checks, "answer", "bad", NULL, "the daemon refuses: %s",
                    refusal_message(&refusal));
        else if (client_is_private(c))
                add(checks, "answer", "bad", NULL,
                    "a private daemon cannot work here; see its message above");
        else
                add(checks, "answer", "bad", "journalctl -u ftraced",
                    "the daemon does not answer: %s",
                    r < 0 ? origin_text(r) : "the connection ended");
}

/* --- the result ------------------------------------------------------------------------------- */

static void print_check(Buf *out, const Options *o, const json_t *check) {
        const char *state = json_string_value(json_object_get(check, "state"));
        const char *text = json_string_value(json_object_get(check, "text"));
        const char *fix = json_string_value(json_object_get(check, "fix"));
        const Mark *mark = &marks[ELEMENTSOF(marks) - 1];

        for (size_t i = 0; i < ELEMENTSOF(marks); i++)
                if (streq_ptr(marks[i].state, state))
                        mark = &marks[i];
        terminal_add(out, o, mark->colour, terminal_is_utf8() ? mark->utf8 : mark->ascii);
        buf_printf(out, " %s", text ?: "?");
        if (fix)
                buf_printf(out, "%s  Fix: %s",
                           text && *text && text[strlen(text) - 1] == '.' ? "" : ".", fix);
        buf_adds(out, "\n");
}

int verb_doctor(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *checks = json_array();
        json_t *check;
        bool is_bad = false;
        int status;
        size_t i;

        connect_and_note(&c, o, checks);
        if (c)
                ask(c, checks);
        else
                look_as_user(checks);
        json_array_foreach (checks, i, check) {
                const char *state = json_string_value(json_object_get(check, "state"));

                is_bad = is_bad || streq_ptr(state, "bad");
                print_check(&out, o, check);
        }
        status = o->json != JSON_OFF ? stdout_json(o, json_incref(checks)) : stdout_end(&out);
        return status != STATUS_OK ? status : is_bad ? STATUS_FAILED : STATUS_OK;
}
