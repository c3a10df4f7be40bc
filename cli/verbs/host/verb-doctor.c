/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * First what this process can see for itself: is there a daemon, may it talk to
 * it.  Then the daemon's own checks, which need its rights; root gets them from
 * a private daemon.  If there is no daemon to ask, what any process may read
 * has to do: /proc/filesystems, the state of lockdown.  If nothing is in the way, a recording is tried: begun and
 * ended where it has a tracing instance of its own and disturbs nobody, else planned only.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/cpu-list.h"
#include "base/io.h"
#include "base/release.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/options/verb.h"
#include "cli/record/recording.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "meta/boot-instance.h"

/* --- a black box ------------------------------------------------------------------------------ */

/* Each answer ends the questions: an old kernel's command line is of no matter. */
#define NAME "black_box"
#define CPU_MIB 8 /* some seconds of calls below a busy function */
#define LEAST_MIB 16
#define WORDS "reserve_mem=%" PRIu64 "M:4096:trace trace_instance=boot_mapped^traceoff@trace"
#define NEAREST                                                                                    \
        "boot Linux 6.12 or newer. What comes nearest here: ftracectl arm --in-kernel --on=... "   \
        "keeps what led up to a fault that the machine survives"

static json_t *say(const char *state, const char *text, const char *fix) {
        return json_pack("{s:s, s:s, s:s, s:s*}", "name", NAME, "state", state, "text", text, "fix",
                         fix);
}

/* The kernel divides that memory by all CPUs that it could ever have, of which a guest may have few. */
static uint64_t possible_cpus(void) {
        _cleanup_free_ char *text = NULL;
        unsigned first, last;
        const char *list;
        uint64_t n = 0;

        if (file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", &text, NULL, 65536) >= 0)
                for (list = text; cpu_list_next(&list, &first, &last) > 0;)
                        n = last + 1;
        return n > 0 ? n : (uint64_t) MAX(sysconf(_SC_NPROCESSORS_CONF), 1L);
}

/* No more than a thirtieth of what there is. */
static uint64_t proposed_mib(uint64_t n_cpus) {
        long n_pages = sysconf(_SC_PHYS_PAGES);
        uint64_t mib = n_cpus * CPU_MIB, most = UINT64_MAX;

        if (n_pages > 0)
                most = (uint64_t) n_pages * (uint64_t) sysconf(_SC_PAGESIZE) / 30 >> 20;
        mib = MIN(mib, most);
        return MAX(mib, (uint64_t) LEAST_MIB);
}

static json_t *say_how(void) {
        char fix[1024], text[256];
        uint64_t n_cpus = possible_cpus(), mib = proposed_mib(n_cpus);

        (void) snprintf(text, sizeof(text),
                        "black box: this kernel can keep a trace over a crash, and was not booted "
                        "with memory for it");
        (void) snprintf(fix, sizeof(fix),
                        "add these words to the kernel's command line and reboot, which takes "
                        "%" PRIu64 " MiB of memory for good (%s for each of %" PRIu64
                        " possible CPUs):\n\n"
                        "      " WORDS "\n\n"
                        "    grub: in GRUB_CMDLINE_LINUX of /etc/default/grub, then update-grub "
                        "(elsewhere grub2-mkconfig -o /boot/grub2/grub.cfg)\n"
                        "    systemd-boot: in /etc/kernel/cmdline, then kernel-install add-all; or "
                        "the options line of the entry in /boot/loader/entries\n"
                        "    Another size at the next boot, or firmware that clears memory, leaves "
                        "nothing to rescue; so does KASLR where it loads the kernel over that "
                        "memory, the likelier the less memory there is: nokaslr rules that out",
                        mib, FORMAT_BYTES((mib << 20) / n_cpus), n_cpus, mib);
        return say("bad", text, fix);
}

/* 1: it is there; 0: it is not; -EACCES: only root can tell. */
static int look_for(const char *name) {
        char path[BOOT_INSTANCE_NAME_MAX + 64];

        if (access("/sys/kernel/tracing/instances", X_OK) < 0 && errno == EACCES)
                return -EACCES;
        (void) snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/%s/last_boot_info",
                        name);
        return access(path, F_OK) >= 0;
}

/* With less memory than this a kernel is loaded over what survives once in some hundred boots, or more often. */
#define LITTLE_MEMORY_BYTES (UINT64_C(32) << 30)

static bool kaslr_matters(const char *command_line) {
        long n_pages = sysconf(_SC_PHYS_PAGES);

        for (const char *s = command_line; *s; s = boot_instance_next_word(s))
                if (startswith(s, "nokaslr") && strchr(" \t\n", s[strlen("nokaslr")]))
                        return false;
        return n_pages > 0 &&
               (uint64_t) n_pages * (uint64_t) sysconf(_SC_PAGESIZE) < LITTLE_MEMORY_BYTES;
}

static json_t *say_named(const char *name, const char *command_line) {
        char text[256];
        int r = look_for(name);

        if (r == 0)
                (void) snprintf(text, sizeof(text),
                                "black box: the command line names the instance %s, and the kernel "
                                "has not made it",
                                name);
        else
                (void) snprintf(text, sizeof(text),
                                "black box: the instance %s survives a crash%s; record into it "
                                "with --black-box",
                                name, r < 0 ? ", as the command line says" : "");
        return r == 0 ? say("bad", text,
                            "dmesg | grep -i -e reserve_mem -e 'boot instance' says why: there is "
                            "not so much memory in one piece, or its name is another")
                      : say("good", text,
                            kaslr_matters(command_line)
                                    ? "nokaslr as well, or now and then a kernel is loaded over it"
                                    : NULL);
}

static json_t *black_box_check(void) {
        char name[BOOT_INSTANCE_NAME_MAX + 1], text[256];
        _cleanup_free_ char *line = NULL;
        struct utsname u = {};

        (void) uname(&u);
        if (release_compare(u.release, 6, 12) != RELEASE_SINCE) {
                (void) snprintf(text, sizeof(text),
                                "black box: Linux %.64s cannot keep a trace over a crash",
                                u.release);
                return say("bad", text, NEAREST);
        }
        if (file_read(AT_FDCWD, "/proc/cmdline", &line, NULL, BOOT_INSTANCE_COMMAND_LINE_MAX) < 0)
                return say("bad", "black box: /proc/cmdline cannot be read", "mount /proc");
        for (const char *s = line; *s; s = boot_instance_next_word(s)) {
                size_t n = boot_instance_parse(s);

                if (n == 0)
                        continue;
                (void) snprintf(name, sizeof(name), "%.*s", (int) n,
                                s + strlen(BOOT_INSTANCE_WORD));
                return say_named(name, line);
        }
        return say_how();
}

#define SMALL_FILE_MAX ((size_t) 64 << 10)
/* What is tried: one function, which every kernel has and nobody calls, is hooked for a moment.  set_graph_function is
 * of all instances (linux 7.2 kernel/trace/ftrace.c), so that its calls would be in the recordings of others, too. */
#define TRIED "emergency_sync"
#define TRIED_BUFFER (64 << 10)

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
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        (void) json_array_append_new(checks,
                                     json_pack("{s:s, s:s, s:o, s:o*}", "name", name, "state",
                                               state, "text", terminal_json_string(text), "fix",
                                               fix ? terminal_json_string(fix) : NULL));
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
                            "no daemon listens on %s: run, follow and what reads recordings work "
                            "for root, the other verbs do not",
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
        else if (c->is_private)
                add(checks, "answer", "bad", NULL,
                    "a private daemon cannot work here; see its message above");
        else
                add(checks, "answer", "bad", "journalctl -u ftraced",
                    "the daemon does not answer: %s",
                    r < 0 ? origin_text(r) : "the connection ended");
}

/* --- a recording ------------------------------------------------------------------------------ */

static const char *text_of(const json_t *check, const char *key) {
        return json_string_value(json_object_get(check, key));
}

/* Whether one of that name (NULL: any) is in that state. */
static bool has(const json_t *checks, const char *name, const char *state) {
        json_t *check;
        size_t i;

        json_array_foreach (checks, i, check)
                if ((!name || streq_ptr(text_of(check, "name"), name)) &&
                    streq_ptr(text_of(check, "state"), state))
                        return true;
        return false;
}

/* Ended and removed, however far it came. */
static int begin_and_end(Client *c, json_t *parameters, Refusal *refusal) {
        json_auto_t *started = NULL, *stopped = NULL, *removed = NULL;
        json_t *name;
        int r = client_call(c, "Start", parameters, &started, NULL, refusal);

        if (r != 0)
                return r;
        name = json_object_get(json_object_get(started, "session"), "name");
        r = client_call(c, "Stop", json_pack("{sO}", "session", name), &stopped, NULL, refusal);
        return client_call(c, "Remove", json_pack("{sO}", "session", name), &removed, NULL,
                           r == 0 ? refusal : NULL)
                       ?: r;
}

/* A start beside them makes them pause on some kernels, and that they record shows enough. */
static bool others_record(Client *c) {
        _cleanup_strv_ Strv live = {};

        return recording_list_live(&live, c) == STATUS_OK && live.n > 0;
}

static void try(Client *c, json_t *checks) {
        bool is_tried = has(checks, "sessions", "good") && !others_record(c);
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
        const char *state = text_of(check, "state");
        const char *text = text_of(check, "text");
        const char *fix = text_of(check, "fix");
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

static bool is_capability(const json_t *check) {
        return json_object_get(check, "since");
}

static int print_capabilities(Buf *out, const Options *o, const json_t *checks) {
        _cleanup_table_ Table t = {};
        json_t *check;
        size_t i;

        table_init(&t, "HERE|WHAT A KERNEL CAN RECORD|SINCE LINUX");
        json_array_foreach (checks, i, check)
                if (is_capability(check)) {
                        const char *state = text_of(check, "state");

                        table_add(&t, "%s", streq_ptr(state, "good") ? "yes" : "no");
                        table_add(&t, "%s", text_of(check, "text") ?: "?");
                        table_add(&t, "%s", text_of(check, "since") ?: "?");
                }
        if (table_n_rows(&t) == 0)
                return 0;
        buf_adds(out, "\n");
        return table_print(&t, out, !o->no_legend);
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
        else
                look_as_user(checks);
        if (c && !has(checks, NULL, "bad"))
                try(c, checks);
        if (o->spec.black_box)
                (void) json_array_append_new(checks, black_box_check());
        json_array_foreach (checks, i, check)
                if (!is_capability(check))
                        print_check(&out, o, check);
        if (print_capabilities(&out, o, checks) < 0)
                return failed(STATUS_FAILED,
                              "Failed to print what this kernel can record: out of memory");
        status = o->json != JSON_OFF ? stdout_json(o, json_incref(checks)) : stdout_end(&out);
        return status != STATUS_OK ? status : has(checks, NULL, "bad") ? STATUS_FAILED : STATUS_OK;
}
