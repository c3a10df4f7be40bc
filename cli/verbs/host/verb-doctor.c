/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What this process sees for itself, the daemon's own checks, and, if nothing is in the way, a recording: begun
 * and ended where it has a tracing instance of its own and disturbs nobody, else planned only. */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/record/record.h"
#include "cli/terminal/terminal.h"
#include "meta/event-choice.h"

/* What is tried: one function, which every kernel has and nobody calls, is hooked for a moment.
 * set_graph_function is of all instances (linux 7.2 kernel/trace/ftrace.c), so that its calls would be in the
 * recordings of others, too. */
#define TRIED "emergency_sync"
#define TRIED_BUFFER (64 << 10)

static const struct Mark {
        const char *state, *utf8, *ascii;
        Colour colour;
} marks[] = {
        { "good", "✓", "+", COLOUR_GOOD },
        { "warning", "!", "!", COLOUR_WARNING },
        { "bad", "✗", "x", COLOUR_BAD },
};

static _printf_(5, 6) void add(json_t *checks, const char *name, const char *state, const char *fix,
                               const char *format, ...) {
        char text[512];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        (void) json_array_append_new(checks,
                                     json_pack("{s:s, s:s, s:o, s:o*}", "name", name, "state",
                                               state, "text", terminal_json_string(text), "fix",
                                               fix ? terminal_json_string(fix) : NULL));
}

/* --- a black box: each answer ends the questions ----------------------------------------------- */

#define BOX "black_box"
#define CPU_MIB 8 /* some seconds of calls below a busy function */
#define LEAST_MIB 16

/* No more than a thirtieth of what there is. */
static void say_how(json_t *checks) {
        uint64_t n_cpus = 0, mib;
        uint64_t pages = (uint64_t) MAX(sysconf(_SC_PHYS_PAGES), 0L),
                 most = pages * (uint64_t) sysconf(_SC_PAGESIZE) / 30 >> 20;
        _cleanup_free_ char *text = NULL;
        unsigned first, last;
        const char *list;
        char fix[1024];

        /* The kernel divides that memory by all CPUs that it could ever have, of which a guest may have few. */
        if (file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", &text, NULL, 65536) >= 0)
                for (list = text; cpu_list_next(&list, &first, &last) > 0;)
                        n_cpus = last + 1;
        if (n_cpus == 0)
                n_cpus = (uint64_t) MAX(sysconf(_SC_NPROCESSORS_CONF), 1L);
        mib = n_cpus * CPU_MIB;
        if (most > 0)
                mib = MIN(mib, most);
        mib = MAX(mib, (uint64_t) LEAST_MIB);
        (void) snprintf(fix, sizeof(fix),
                        "add these words to the kernel's command line and reboot, which takes "
                        "%" PRIu64 " MiB of memory for good (%s for each of %" PRIu64
                        " possible CPUs):\n\n"
                        "      reserve_mem=%" PRIu64
                        "M:4096:trace trace_instance=boot_mapped^traceoff@trace\n\n"
                        "    grub: in GRUB_CMDLINE_LINUX of /etc/default/grub, then update-grub "
                        "(elsewhere grub2-mkconfig -o /boot/grub2/grub.cfg)\n"
                        "    systemd-boot: in /etc/kernel/cmdline, then kernel-install add-all; or "
                        "the options line of the entry in /boot/loader/entries\n"
                        "    Another size at the next boot, or firmware that clears memory, leaves "
                        "nothing to rescue; so does KASLR where it loads the kernel over that "
                        "memory, the likelier the less memory there is: nokaslr rules that out",
                        mib, FORMAT_BYTES((mib << 20) / n_cpus), n_cpus, mib);
        add(checks, BOX, "bad", fix,
            "black box: this kernel can keep a trace over a crash, and was not booted with memory "
            "for it");
}

static void say_named(json_t *checks, const char *name) {
        /* Only root can tell. */
        bool is_hidden = access("/sys/kernel/tracing/instances", X_OK) < 0 && errno == EACCES;
        char path[BOOT_INSTANCE_NAME_MAX + 64];

        (void) snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/%s/last_boot_info",
                        name);
        if (!is_hidden && access(path, F_OK) < 0)
                add(checks, BOX, "bad",
                    "dmesg | grep -i -e reserve_mem -e 'boot instance' says why: there is not so "
                    "much memory in one piece, or its name is another",
                    "black box: the command line names the instance %s, and the kernel has not "
                    "made it",
                    name);
        else
                add(checks, BOX, "good", NULL,
                    "black box: the instance %s survives a crash%s; record into it with "
                    "--black-box",
                    name, is_hidden ? ", as the command line says" : "");
}

/* Whether a trace would survive a crash here, and else what that takes: words for a boot loader are printed, and
 * written nowhere. */
static void check_black_box(json_t *checks) {
        char name[BOOT_INSTANCE_NAME_MAX + 1];
        _cleanup_free_ char *line = NULL;
        struct utsname u = {};

        (void) uname(&u);
        if (release_compare(u.release, 6, 12) != RELEASE_SINCE) {
                add(checks, BOX, "bad",
                    "boot Linux 6.12 or newer. What comes nearest here: ftracectl arm --in-kernel "
                    "--on=... keeps what led up to a fault that the machine survives",
                    "black box: Linux %.64s cannot keep a trace over a crash", u.release);
                return;
        }
        if (file_read(AT_FDCWD, "/proc/cmdline", &line, NULL, BOOT_INSTANCE_COMMAND_LINE_MAX) < 0) {
                add(checks, BOX, "bad", "mount /proc", "black box: /proc/cmdline cannot be read");
                return;
        }
        for (const char *s = line; *s; s = boot_instance_next_word(s)) {
                size_t n = boot_instance_parse(s);

                if (n == 0)
                        continue;
                (void) snprintf(name, sizeof(name), "%.*s", (int) n,
                                s + strlen(BOOT_INSTANCE_WORD));
                say_named(checks, name);
                return;
        }
        say_how(checks);
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
                            "no daemon listens on %s: run, follow and what reads recordings work "
                            "for root, the other verbs do not",
                            path);
                else
                        add(checks, "daemon", "bad", "sudo systemctl enable --now ftraced.socket",
                            "no daemon listens on %s", path);
                break;
        case CLIENT_E_FORBIDDEN:
                contact_forbidden_texts(path, why, fix);
                add(checks, "daemon", "bad", fix, "a daemon listens on %s, but not for you: %s",
                    path, why);
                break;
        default:
                add(checks, "daemon", "bad", "journalctl -u ftraced", "cannot connect to %s: %s",
                    path, origin_text(r < 0 ? r : -EPROTO));
                break;
        }
        if (geteuid() == 0 && r == CLIENT_E_NO_DAEMON &&
            (r = client_start_private(ret, o->store, NULL)) < 0)
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
        else if (c->is_private)
                add(checks, "answer", "bad", NULL,
                    "a private daemon cannot work here; see its message above");
        else
                add(checks, "answer", "bad", "journalctl -u ftraced",
                    "the daemon does not answer: %s",
                    r < 0 ? origin_text(r) : "the connection ended");
}

/* --- a recording ------------------------------------------------------------------------------ */

/* Whether one of that name (NULL: any) is in that state. */
static bool has(const json_t *checks, const char *name, const char *state) {
        json_t *check;
        size_t i;

        json_array_foreach (checks, i, check)
                if ((!name || streq(json_text(check, "name"), name)) &&
                    streq(json_text(check, "state"), state))
                        return true;
        return false;
}

/* Ended and removed, however far it came. */
static int begin_and_end(Client *c, json_t *parameters, Refusal *refusal) {
        json_auto_t *started = NULL;
        json_t *name;
        int r = client_call(c, "Start", parameters, &started, NULL, refusal);

        if (r != 0)
                return r;
        name = json_object_get(json_object_get(started, "session"), "name");
        r = client_call(c, "Stop", json_pack("{sO}", "session", name), NULL, NULL, refusal);
        return client_call(c, "Remove", json_pack("{sO}", "session", name), NULL, NULL,
                           r == 0 ? refusal : NULL)
                       ?: r;
}

static void try(Client *c, json_t *checks) {
        _cleanup_strv_ Strv live = {};
        /* A start beside others makes them pause on some kernels, and that they record shows enough. */
        bool is_tried = has(checks, "sessions", "good") &&
                        (recording_list_live(&live, c) != STATUS_OK || live.n == 0);
        _cleanup_refusal_ Refusal refusal = {};
        json_auto_t *reply = NULL;
        json_t *parameters = json_pack("{s{s[s] s[s] si}}", "spec", "functions", TRIED, "hooked",
                                       TRIED, "buffer_bytes", TRIED_BUFFER);
        int r;

        if (parameters && is_tried)
                (void) json_object_set_new(parameters, "attach", json_true());
        r = is_tried ? begin_and_end(c, parameters, &refusal)
                     : client_call(c, "DryRun", parameters, &reply, NULL, &refusal);
        if (r == 0)
                add(checks, "start", "good", NULL, "a recording of %s %s", TRIED,
                    is_tried ? "was begun and ended" : "can be begun");
        else if (r != CLIENT_E_REFUSED)
                add(checks, "start", "bad", "journalctl -u ftraced", "a recording of %s failed: %s",
                    TRIED, r < 0 ? origin_text(r) : "the connection ended");
        else if (refusal.kind == REFUSAL_BUSY)
                add(checks, "start", "warning", "--wait", "a recording would have to wait: %s",
                    refusal_message(&refusal));
        else if (refusal.kind == REFUSAL_QUOTA_EXCEEDED)
                add(checks, "start", "warning", NULL, "a recording would be refused: %s",
                    refusal_message(&refusal));
        else if (refusal.kind != REFUSAL_PERMISSION_DENIED &&
                 refusal.kind != REFUSAL_FUNCTION_NOT_FOUND)
                add(checks, "start", "bad", NULL, "a recording of %s is refused: %s", TRIED,
                    refusal_message(&refusal));
}

/* --- the result ------------------------------------------------------------------------------- */

static void print_check(Buf *out, const Options *o, const json_t *check) {
        const char *text = json_text(check, "text"), *fix = json_text(check, "fix");
        const struct Mark *mark = &marks[ELEMENTSOF(marks) - 1];

        for (size_t i = 0; i < ELEMENTSOF(marks); i++)
                if (streq(marks[i].state, json_text(check, "state")))
                        mark = &marks[i];
        terminal_add(out, o, mark->colour, terminal_is_utf8() ? mark->utf8 : mark->ascii);
        buf_printf(out, " %s", text);
        if (*fix)
                buf_printf(out, "%s  Fix: %s", *text && text[strlen(text) - 1] == '.' ? "" : ".",
                           fix);
        buf_adds(out, "\n");
}

static bool is_capability(const json_t *check) {
        return json_object_get(check, "since");
}

static int print_capabilities(Buf *out, const json_t *checks, bool legend) {
        _cleanup_table_ Table t = {};
        json_t *check;
        size_t i;

        table_begin(&t, JSON_OFF);
        json_array_foreach (checks, i, check)
                if (is_capability(check)) {
                        Row r = table_row(&t);

                        row_cell(r, "HERE", "%s",
                                 streq(json_text(check, "state"), "good") ? "yes" : "no");
                        row_cell(r, "WHAT A KERNEL CAN RECORD", "%s", json_text(check, "text"));
                        row_cell(r, "SINCE LINUX", "%s", json_text(check, "since"));
                }
        if (t.n_rows == 0)
                return 0;
        buf_adds(out, "\n");
        return table_print(&t, out, legend);
}

int verb_doctor(const Options *o) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        json_auto_t *checks = json_array();
        json_t *check;
        int status;
        size_t i;

        connect_and_note(&c, o, checks);
        if (c)
                ask(c, checks);
        else if (geteuid() != 0)
                add(checks, "rights", "warning", "sudo ftracectl doctor",
                    "not root, and no daemon to ask: nothing more can be checked");
        if (c && !has(checks, NULL, "bad"))
                try(c, checks);
        if (o->spec.black_box)
                check_black_box(checks);
        json_array_foreach (checks, i, check)
                if (!is_capability(check))
                        print_check(&out, o, check);
        if (print_capabilities(&out, checks, !o->no_legend) < 0)
                return out_of_memory();
        status = o->json != JSON_OFF ? stdout_json(o, json_incref(checks)) : stdout_folded(&out);
        return status != STATUS_OK ? status : has(checks, NULL, "bad") ? STATUS_FAILED : STATUS_OK;
}
