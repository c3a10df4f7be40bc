/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * show on every host, and then fetch on each whose recording is not here: a file here has the time at which its
 * recording began, to the nanosecond, which tells that from another recording of the same name.  It is given
 * after the file has its name, so that whatever ends this program leaves files that are whole and known, or
 * fetched again.  So is one that lacks something and does not tell it itself.
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"
#include "cli/files/files.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

#define DAT_BYTES_BESIDES                                                                          \
        ((uint64_t) 64 << 20) /* of symbols, formats and tasks there are never as many */

typedef struct Collect {
        const Options *o;
        json_t *start_ns; /* by host: CLOCK_REALTIME */
        size_t n_whole, n_lacking, n_here, n_missing;
} Collect;

/* @said: what it lacks, or why there is none. */
static void tell(Collect *c, Fleet *f, const Member *m, int status, uint64_t n_bytes, bool was_here,
                 const char *said) {
        bool is_here = remote_is_good(status);
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        c->n_whole += status == STATUS_OK;
        c->n_lacking += status == STATUS_INCOMPLETE;
        c->n_missing += !is_here;
        c->n_here += was_here;
        if (c->o->json != JSON_OFF) {
                (void) json_array_append_new(
                        f->results,
                        json_pack("{s:s, s:i, s:b, s:o, s:o, s:o}", "host", m->name, "status",
                                  status, "was_here", was_here, "file",
                                  is_here ? terminal_json_string(m->path) : json_null(), "bytes",
                                  is_here ? json_integer((json_int_t) n_bytes) : json_null(),
                                  "lacks", terminal_json_string(said)));
                return;
        }
        if (was_here)
                return;
        if (is_here)
                buf_printf(&out, "%s: %s (%s)%s%s\n", m->name, m->path, FORMAT_BYTES(n_bytes),
                           said ? " lacks something: " : "", said ?: "");
        else
                buf_printf(&out, "%s: none: %s\n", m->name, said && *said ? said : "no answer");
        (void) buf_flush(&out);
}

static void on_fetched(Fleet *f, Member *m, void *userdata) {
        Collect *c = userdata;
        _cleanup_free_ char *line = m->status == STATUS_OK ? NULL : fleet_line(&m->err, true);
        uint64_t start_ns = json_number(c->start_ns, m->name);
        const struct timespec times[] = {
                { .tv_nsec = UTIME_OMIT },
                { .tv_sec = (time_t) (start_ns / NSEC_PER_SEC),
                  .tv_nsec = (long) (start_ns % NSEC_PER_SEC) },
        };

        /* If that fails, it is fetched again. */
        if (remote_is_good(m->status) && m->is_told)
                (void) utimensat(AT_FDCWD, m->path, times, 0);
        tell(c, f, m, m->status, m->n_bytes, false, line);
}

/* Whether the recording that began then is here, 0: any; and how large the file is. */
static bool is_here(const Member *m, uint64_t start_ns, uint64_t *ret_bytes) {
        struct stat st;

        if (stat(m->path, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        *ret_bytes = (uint64_t) st.st_size;
        return start_ns == 0 ||
               (uint64_t) st.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t) st.st_mtim.tv_nsec ==
                       start_ns;
}

/* When it began, if @m has printed a description of it; sets how large a file of it may be. */
static bool read_shown(const Collect *c, Member *m, uint64_t *ret_start_ns) {
        _cleanup_(session_meta_freep) SessionMeta *meta = NULL;
        json_auto_t *shown = json_loadb(m->out.data ?: "", m->out.n_data, 0, NULL);
        const char *field, *name = c->o->name;
        int r = session_meta_from_json(&meta, shown, &field);

        if ((r != 0 && r != META_E_NEWER) ||
            (!streq(json_text(shown, "name"), name) && !streq(json_text(shown, "id"), name)))
                return false;
        *ret_start_ns = json_number(json_object_get(shown, "start"), "realtime_ns");
        m->max_bytes = 0;
        if (meta) {
                const CpuAccount all = session_meta_total(meta);
                uint64_t n = 2 * (uint64_t) meta->page_bytes;

                if (!__builtin_mul_overflow(n, all.n_pages + all.pages_lost, &n) &&
                    n < UINT64_MAX - DAT_BYTES_BESIDES)
                        m->max_bytes = n + DAT_BYTES_BESIDES;
        }
        return true;
}

/* Which recording has that name there.  What is here of one that was removed there will not change.  One that is
 * made after this and before the fetch is fetched, and once more by the next collect. */
static void on_shown(Fleet *f, Member *m, void *userdata) {
        Collect *c = userdata;
        uint64_t start_ns = 0, n_bytes = 0;
        bool is_shown = remote_is_good(m->status) && read_shown(c, m, &start_ns);
        _cleanup_free_ char *line = NULL;
        _cleanup_(source_freep) Source *s = NULL;
        int status = STATUS_FAILED;
        bool is_there;

        if (!is_shown && remote_is_good(m->status)) {
                line = fleet_line(&m->out, false);
                buf_printf(&m->err, "it answered \"%s\", not with a description of the recording\n",
                           NAME_QUOTED(line ?: ""));
                free(line);
                m->status = STATUS_FAILED;
        }
        line = fleet_line(&m->err, true);
        is_there = is_here(m, start_ns, &n_bytes) && (!is_shown || start_ns > 0);
        if (is_there) {
                /* What the recording that is here lacks is in the file. */
                status = source_open(&s, &(Options){ .quiet = true }, m->path);
                if (status == STATUS_OK && !summary_is_complete(s->meta))
                        status = STATUS_INCOMPLETE;
        }
        m->is_chosen = is_shown && !remote_is_good(status);
        if (m->is_chosen)
                (void) json_object_set_new(c->start_ns, m->name,
                                           json_integer((json_int_t) start_ns));
        else if (is_there) {
                if (!is_shown && m->status != STATUS_NOT_FOUND)
                        log_warning("%s: the file that is here may be outdated, since the host did "
                                    "not answer: %s",
                                    m->name, line ?: "");
                tell(c, f, m, status, n_bytes, true,
                     status == STATUS_OK ? NULL : "\"ftracectl verify\" says what");
        } else
                tell(c, f, m, m->status, 0, false, line);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What each host is asked. */
static void ask(Collect *c, Fleet *f, const char *verb, const Strv *said,
                void (*ended)(Fleet *f, Member *m, void *userdata)) {
        char *words[] = { (char *) c->o->name };
        const Options o = {
                .verb = (char *) verb,
                .words = { .items = words, .n = ELEMENTSOF(words) },
                .said = *said,
                .output = streq(verb, "fetch") ? c->o->output : NULL,
        };

        f->asked = &o;
        f->check = verify_sent;
        f->ended = ended;
        f->userdata = c;
        fleet_work(f);
}

static int collect(Collect *c, Fleet *f) {
        _cleanup_strv_ Strv show = {}, fetch = {};
        const Options *o = c->o;
        int r = options_said(&fetch, o, OPTIONS_FETCH, OPTIONS_REMOTE);
        size_t n;

        if (r >= 0 && !o->fetch.ended)
                r = strv_add(&fetch, "--ended");
        if (r >= 0)
                r = strv_add(&show, "--json=short");
        if (r < 0 || !c->start_ns)
                return out_of_memory();
        ask(c, f, "show", &show, on_shown);
        ask(c, f, "fetch", &fetch, on_fetched);
        n = c->n_whole + c->n_lacking;
        talk(o, "%zu of %zu hosts are here%s; %zu of them lack something.", n, n + c->n_missing,
             c->n_here > 0 ? ", some from before" : "", c->n_lacking);
        if (o->json != JSON_OFF && stdout_json(o, json_incref(f->results)) != STATUS_OK)
                return STATUS_FAILED;
        return c->n_lacking + c->n_missing == 0 ? STATUS_OK : STATUS_INCOMPLETE;
}

int verb_collect(const Options *o) {
        _cleanup_fleet_ Fleet f = {};
        Collect c = { .o = o };
        char prefix[SESSION_NAME_MAX + 2];
        int status;

        if (!o->hosts || !o->name || !o->output)
                return failed(STATUS_USAGE,
                              "\"collect\" needs the hosts, the recording's name and a directory: "
                              "--hosts=FILE -n NAME -o DIR");
        /* A name has no '@', so that no other one is in its place. */
        (void) snprintf(prefix, sizeof(prefix), "%s@", o->name);
        status = source_check_name(o->name) ?: fleet_open(&f, o, prefix);
        if (status != STATUS_OK)
                return status;
        c.start_ns = json_object();
        status = collect(&c, &f);
        json_decref(c.start_ns);
        return status;
}
