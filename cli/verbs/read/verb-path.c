/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The critical path of a call: what it waited for, and what those did that it waited for.
 *
 * A SOURCE is read twice: with the filters of the command line, to choose a call, and without any, as what others
 * did meanwhile is what is asked for; once, if no event tells who waited.  Both stay open, for functions are theirs.
 */

#include "base/name.h"
#include "causes/critical-path.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

#define CALLS_MAX 1000 /* of --all */

typedef struct Paths {
        const Options *o;
        Chosen chosen;
        Options first_options, second_options; /* whose lists are borrowed */
        Counting first, second;
        RootCalls calls;
        SlowestCalls slowest;
        Timelines *timelines;
        Waits *between;
} Paths;

static void paths_done(Paths *p) {
        waits_free(p->between);
        timelines_free(p->timelines);
        free(p->slowest.windows);
        root_calls_done(&p->calls);
        counting_done(&p->second);
        counting_done(&p->first);
        chosen_done(&p->chosen);
}

/* --- which call ------------------------------------------------------------------------------- */

static int check(const Paths *p) {
        const Options *o = p->o;

        if (streq(p->chosen.source, "-"))
                return failed(STATUS_USAGE,
                              "standard input can be read only once, and a path takes "
                              "two readings: give a file.");
        if (o->all && o->filter.nth > 0)
                return failed(STATUS_USAGE, "--all is of many calls, and --nth of one: give one of "
                                            "the two.");
        if (p->chosen.names && o->filter.roots.n > 0)
                return failed(STATUS_USAGE, "--root and \"%s\" both name a root: give one of them.",
                              NAME_QUOTED(p->chosen.patterns.items[0]));
        return STATUS_OK;
}

static int no_sched(const Paths *p) {
        return failed(STATUS_FAILED,
                      "\"%s\" has no events that tell who waited for whom: record with --sched.",
                      p->chosen.source);
}

static int choose(Paths *p) {
        const SessionMeta *meta;
        const Pairing *all;
        Options *o = &p->first_options;
        int status = counting_status(counting_init(&p->first, false));

        if (status != STATUS_OK)
                return status;
        root_calls_init(&p->calls, p->first.pairing, p->o->all ? CALLS_MAX : 1);
        p->calls.idle.is_wanted = !p->chosen.names && o->filter.roots.n == 0;
        if (p->chosen.names)
                o->filter.roots = p->chosen.patterns;
        status = counting_open(&p->first, o, p->chosen.source);
        if (status != STATUS_OK)
                return status;
        meta = reading_meta(&p->first.reading);
        if (meta && meta->spec.no_sleep_time)
                return failed(STATUS_FAILED,
                              "\"%s\" was recorded with NoSleepTime=, so that its calls do not "
                              "have the time in which they waited: record without it.",
                              p->chosen.source);
        status = counting_run(&p->first)
                         ?: counting_status(root_calls_choose(&p->calls, &p->slowest));
        if (status != STATUS_OK)
                return status;
        if (!p->slowest.root)
                return chosen_not_found(&p->chosen, p->o);
        if (p->slowest.n == 0)
                return failed(STATUS_NOT_FOUND,
                              "no call of \"%s\" was recorded from its beginning to its end.",
                              NAME_QUOTED(p->slowest.root->label));
        all = p->first.pairing->all ?: p->first.pairing;
        return all->has_sched || o->filter.from || o->filter.to ? STATUS_OK : no_sched(p);
}

/* --- what there was meanwhile ----------------------------------------------------------------- */

static int read_steps(Paths *p) {
        Step step;
        int r;

        while ((r = reading_next(&p->second.reading, &step)) > 0) {
                r = timelines_step(p->timelines, &step) ?: pairing_step(p->second.pairing, &step);
                if (r < 0)
                        return counting_status(r);
        }
        return -r;
}

static int finish_timelines(Paths *p) {
        int r = pairing_finish(p->second.pairing) ?: timelines_finish(p->timelines);

        if (r == TIMELINES_E_FULL)
                return failed(
                        STATUS_FAILED,
                        "more than %zu calls were recorded while \"%s\" took its time: choose "
                        "a shorter call, with --nth or --to.",
                        TIMELINES_CHANGES_MAX / 2, NAME_QUOTED(p->slowest.root->label));
        return r >= 0 && !p->second.pairing->has_sched ? no_sched(p) : counting_status(r);
}

static int read_all(Paths *p) {
        Options *o = &p->second_options;
        int r;

        o->filter = (FilterOptions){};
        o->spec.notrace = o->spec.pids = (Strv){};
        o->spec.depth = o->spec.slower_ns = 0;
        r = counting_init(&p->second, false)
                    ?: timelines_new(&p->timelines, p->second.pairing, p->slowest.windows,
                                     p->slowest.n)
                    ?: waits_new(&p->between, p->second.pairing, true);
        return counting_status(r)
                    ?: counting_open(&p->second, o, p->chosen.source)
                    ?: read_steps(p)
                    ?: finish_timelines(p);
}

/* --- the answer ------------------------------------------------------------------------------- */

static int show(const Options *o, const PathView *v) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_table_ Table t = {};
        int r;

        table_begin(&t, o->json);
        r = path_view_tell(v, &t, (size_t) o->limit);
        if (r < 0)
                return counting_status(r);
        if (o->json != JSON_OFF) {
                json_t *list = json_array();

                (void) json_array_append_new(list, path_view_json(v, TAKE_PTR(t.list)));
                return stdout_json(o, list);
        }
        if (!o->no_legend) {
                path_view_sentence(v, &out);
                buf_adds(&out, "\n");
        }
        return table_show(&t, o, &out);
}

static int print(const Paths *p) {
        const Timeline *first = timelines_get(p->timelines, p->slowest.windows[0].task);
        _cleanup_path_sum_ PathSum sum = { .tells_pids = p->slowest.n == 1 };
        _cleanup_path_ CriticalPath path = {};
        PathView v = {
                .function = p->slowest.root,
                .comm = first ? first->comm : "",
                .task = p->slowest.windows[0].task,
                .start_ns = p->slowest.windows[0].begin_ns,
                .n_calls = p->slowest.n,
                .n_all = p->slowest.n_all,
                .path = &path,
                .sum = &sum,
                .idle = &p->calls.idle,
        };
        int r = 0;

        v.between = p->slowest.n == 1
                            ? (v.task >= 0 ? waits_between(p->between, v.task, NULL) : NULL)
                            : waits_between(p->between, -1, v.function->label);
        v.number = p->o->filter.nth ?: p->slowest.number;
        for (size_t i = 0; i < p->slowest.n && r >= 0; i++) {
                critical_path_done(&path);
                r = critical_path_find(&path, p->timelines, &p->slowest.windows[i])
                            ?: path_sum_add(&sum, &path);
                v.duration_ns += p->slowest.windows[i].end_ns - p->slowest.windows[i].begin_ns;
        }
        path_sum_sort(&sum);
        r = counting_status(r) ?: show(p->o, &v);
        idle_say(p->o, v.idle);
        for (size_t i = 0; i < path.n && r == STATUS_OK; i++)
                if (path.segments[i].receiver) {
                        waits_view_hint(&p->second, path.segments[i].receiver,
                                        path.segments[i].had_comm, path.segments[i].had);
                        break;
                }
        return r;
}

int verb_path(const Options *o) {
        _cleanup_(paths_done) Paths p = { .o = o, .first_options = *o, .second_options = *o };
        return chosen_init(&p.chosen, o)
                    ?: check(&p)
                    ?: choose(&p)
                    ?: read_all(&p)
                    ?: print(&p)
                    ?: counting_end(&p.second);
}
