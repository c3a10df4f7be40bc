/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a word is, cli/source/source.h tells; a text and a recording have their own readers, and here is the one
 * place that asks the one or the other.
 */

#include <fnmatch.h>

#include "base/hash.h"
#include "base/name.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

/* --- a text ----------------------------------------------------------------------------------- */

/* A StepSource: says why it fails. */
static int next_text_step(void *data, uint64_t until_ns, Step *ret) {
        Reading *r = data;
        const char *problem;
        int e = text_source_next(&r->text, ret);

        if (e > 0 && _unlikely_(!r->has_begun)) {
                r->has_begun = true;
                if (filtering_resolve(&r->filtering, NULL, ret->timestamp_ns, &problem) != 0) {
                        log_error("%s cannot be read: %s.", r->text.name, problem);
                        e = -STATUS_FAILED;
                }
        }
        if (e >= 0)
                return e;
        r->failure = e;
        return ORIGIN(-EIO);
}

/* 0 or a negative exit status. */
static int text_failure(const Reading *r, int e) {
        if (r->failure != 0 || e >= 0)
                return r->failure;
        return -failed_errno(e, "Failed to read %s: %m", r->text.name);
}

/* A text is read twice for what only its whole can tell. */
static int rank_text(Reading *r, const char *word) {
        _cleanup_text_source_ TextSource text = {};
        SourceFound found;
        int e, status;

        if (streq(word, "-"))
                return failed(STATUS_USAGE,
                              "standard input can be read only once, and --slowest or a percentile "
                              "of --keep-slower needs all of it first: give a file.");
        status =
                source_find(&found, r->o, word) ?: text_source_take_fd(&text, r->o, word, found.fd);
        if (status != STATUS_OK)
                return status;
        text_trace_keep_going(text.trace, true);
        SWAP(r->text, text);
        e = filter_rank(r->filter, &(StepSource){ next_text_step, r });
        SWAP(r->text, text);
        return -text_failure(r, e);
}

static int filter_text(Reading *r, const char *word) {
        int e;

        if (r->filtering.spec.keep_failed)
                return failed(STATUS_USAGE,
                              "--keep-failed: %s is a text, which does not say what calls return.",
                              r->text.name);
        if (filter_spec_needs_owners(&r->filtering.spec))
                return failed(STATUS_USAGE, "%s is a text, which does not say whose tasks are.",
                              r->text.name);
        e = filter_new(&r->filter, &r->filtering.spec);
        if (e < 0)
                return -text_failure(r, e);
        return filter_spec_needs_rank(&r->filtering.spec) ? rank_text(r, word) : STATUS_OK;
}

/* --- anything --------------------------------------------------------------------------------- */

int reading_find(Reading *ret, const Options *o, const char *word) {
        SourceFound found;
        int status;

        *ret = (Reading){ .o = o, .word = word };
        status = filtering_init(&ret->filtering, o) ?: source_find(&found, o, word);
        if (status != STATUS_OK)
                return status;
        if (found.form != SOURCE_TEXT)
                return source_open_found(&ret->source, o, word, found);
        status = text_source_take_fd(&ret->text, o, word, found.fd);
        return status == STATUS_OK && !filtering_is_empty(&ret->filtering) ? filter_text(ret, word)
                                                                           : status;
}

/* Figures are not to depend on what is left out. */
static int witness_whole(Reading *r) {
        int e;

        if (filtering_is_empty(&r->filtering))
                return STATUS_OK;
        e = pairing_new(&r->whole);
        if (e < 0)
                return failed_errno(e, "Failed to look at what is left out: %m");
        r->whole->is_whole = true;
        r->whole->from_ns = &r->filtering.spec.from_ns;
        r->filtering.spec.see = pairing_see;
        r->filtering.spec.witness = r->whole;
        return STATUS_OK;
}

static int open_lines(Reading *r) {
        return r->o->analysis.lines ? reading_lines(r) : STATUS_OK;
}

int reading_open(Reading *ret, const Options *o, const char *word, ReadingFor purpose) {
        char *problem = NULL;
        int status = reading_find(ret, o, word), e;

        ret->filtering.spec.keep_sched = purpose >= READING_FOR_CALLS;
        ret->filtering.spec.keep_contexts = purpose == READING_FOR_REQUESTS;
        ret->draws_ways = purpose == READING_FOR_DRAWING;
        if (status == STATUS_OK && purpose >= READING_FOR_CALLS)
                status = witness_whole(ret);
        if (status != STATUS_OK || ret->text.trace)
                return status ?: open_lines(ret);
        e = playback_open(&ret->playback, ret->source->dir, ret->source->meta, &problem)
                    ?: source_programs_open(&ret->programs, ret->playback)
                    ?: filtering_apply(&ret->filtering, ret->playback, &problem);
        if (e == 0 && purpose >= READING_FOR_CALLS) /* of those few are open at a time */
                e = stream_go_ahead(ret->playback->stream);
        if (e == 0)
                playback_count(ret->playback);
        return display_status(e, ret->source->meta, problem) ?: open_lines(ret);
}

static int next_step(Reading *r, Step *ret) {
        int e;

        if (r->text.trace && !r->filter)
                return text_source_next(&r->text, ret);
        if (r->text.trace) {
                e = filter_next(r->filter, &(StepSource){ next_text_step, r }, STREAM_NO_LIMIT,
                                ret);
                return e >= 0 ? e : text_failure(r, e);
        }
        e = playback_next(r->playback, STREAM_NO_LIMIT, ret);
        if (e >= 0)
                return e;
        return -failed_errno(e, "Failed to read session \"%s\": %m", r->source->meta->name);
}

int reading_next(Reading *r, Step *ret) {
        int e = next_step(r, ret);

        r->filtering.has_left |= e > 0 && step_is_call(ret);
        if (e > 0 && r->draws_ways && r->lines.ways && ways_step(r->lines.ways, ret) < 0)
                return -out_of_memory();
        return e;
}

static int find_damage(const Reading *r, Strv *ret) {
        const SessionMeta *m = r->source->meta;

        return display_status(damage_describe(r->playback, session_state_is_live(m->state), ret), m,
                              NULL);
}

int reading_close(Reading *r) {
        int status = r->playback ? find_damage(r, &r->damage) : STATUS_OK;

        if (r->playback && source_programs_describe(r->programs, r->playback, &r->said) < 0)
                return out_of_memory();
        source_lines_done(&r->lines);
        r->playback = playback_free(r->playback);
        r->programs = programs_free(r->programs);
        r->source->dir = session_dir_free(r->source->dir);
        r->source->readers_fd = safe_close(r->source->readers_fd);
        return status;
}

int reading_finish(const Reading *r) {
        _cleanup_strv_ Strv found = {}, told = {};
        const Strv *damage = r->playback ? &found : &r->damage,
                   *said = r->playback ? &told : &r->said;
        const SessionMeta *m;
        int status;

        source_lines_say(&r->lines, r->o);
        if (r->text.trace) {
                text_source_say_untimed(&r->text);
                return text_source_finish(&r->text, r->o);
        }
        status = r->playback ? find_damage(r, &found) : STATUS_OK;
        if (status == STATUS_OK && r->playback &&
            source_programs_describe(r->programs, r->playback, &told) < 0)
                status = out_of_memory();
        if (status != STATUS_OK)
                return status;
        m = r->source->meta;
        warn_each(damage);
        for (size_t i = 0; i < said->n; i++)
                talk(r->o, "%s: %s", m->name, said->items[i]);
        display_clock(r->o, m);
        display_lacks(r->o, m);
        return damage->n > 0 || !summary_is_complete(m) ? STATUS_INCOMPLETE : STATUS_OK;
}

void reading_done(Reading *r) {
        filter_free(r->filter);
        pairing_free(r->whole);
        text_source_done(&r->text);
        strv_done(&r->damage);
        strv_done(&r->said);
        source_lines_done(&r->lines);
        playback_free(r->playback);
        programs_free(r->programs);
        filtering_done(&r->filtering);
        source_free(r->source);
        *r = (Reading){};
}

/* --- names ------------------------------------------------------------------------------------ */

int reading_names(Strv *functions, Strv *tasks, Reading *r) {
        Hash seen = {};
        Step step;
        int status;

        while ((status = reading_next(r, &step)) > 0) {
                const Function *f = step_is_call(&step) ? step.function : NULL;
                int e = tasks && step.comm ? strv_add_new(tasks, step.comm) : 0;

                if (e >= 0 && f && f->n_name > 0 && !hash_get(&seen, hash_key(f)))
                        e = hash_add(&seen, hash_key(f), 1)
                                    ?: strv_addn(functions, f->label, f->n_name);
                if (e < 0) {
                        status = -out_of_memory();
                        break;
                }
        }
        hash_done(&seen);
        return -status;
}

/* Functions are also what they are without what a compiler put behind the name (calls/filter.h). */
static int add_short_names(Strv *functions) {
        for (size_t i = 0, n = functions->n; i < n; i++) {
                const char *name = functions->items[i], *dot = strchr(name + 1, '.');

                if (dot && strv_addn(functions, name, (size_t) (dot - name)) < 0)
                        return out_of_memory();
        }
        return STATUS_OK;
}

/* Says it of the first of @patterns that is none of @there. */
static int check_patterns(const Strv *patterns, const Strv *there, const char *what,
                          const char *word) {
        for (size_t i = 0; patterns && i < patterns->n; i++) {
                const char *pattern = patterns->items[i], *like = NULL;
                size_t k = 0;

                while (k < there->n && fnmatch(pattern, there->items[k], 0) != 0)
                        k++;
                if (k < there->n)
                        continue;
                if (!function_pattern_is_glob(pattern))
                        like = typo_nearest(pattern, (const char *const *) there->items, there->n);
                return failed(STATUS_NOT_FOUND, "there are no calls of %s\"%s\" in \"%s\"%s%s%s",
                              what, NAME_QUOTED(pattern), word, like ? ". Did you mean \"" : ".",
                              like ? NAME_QUOTED(like) : "", like ? "\"?" : "");
        }
        return STATUS_OK;
}

int source_check_asked(const Options *o, const char *word, const Strv *also) {
        _cleanup_strv_ Strv functions = {}, tasks = {};
        _cleanup_reading_ Reading r = {};
        const FilterOptions *f = &o->filter;
        Options whole = *o; /* borrowed */
        int status;

        if (streq(word, "-") ||
            (f->roots.n == 0 && f->functions.n == 0 && f->tasks.n == 0 && !also))
                return STATUS_OK;
        whole.filter = (FilterOptions){};
        whole.spec = SPEC_INIT;
        whole.quiet = whole.keep_going = true;
        status = reading_open(&r, &whole, word, READING_FOR_DRAWING)
                         ?: reading_names(&functions, &tasks, &r)
                         ?: add_short_names(&functions);
        return status
                       ?: check_patterns(also, &functions, "", word)
                       ?: check_patterns(&f->roots, &functions, "", word)
                       ?: check_patterns(&f->functions, &functions, "", word)
                       ?: check_patterns(&f->tasks, &tasks, "task ", word);
}

int reading_none_left(const Options *o, const char *word, const Filtering *f) {
        _cleanup_free_ char *said = NULL;
        int status = STATUS_OK;

        if (f->has_left || filtering_is_empty(f))
                return STATUS_OK;
        if (word)
                status = source_check_asked(o, word, NULL);
        said = options_said_filters(o);
        if (status == STATUS_OK)
                talk(o, "There are no calls in it%s.", said ?: "");
        return status;
}

/* --- two words -------------------------------------------------------------------------------- */

int chosen_init(Chosen *ret, const Options *o) {
        *ret = (Chosen){ .source = o->words.items[0] };
        if (o->words.n < 2)
                return STATUS_OK;
        ret->name_set.patterns = &ret->patterns;
        ret->names = &ret->name_set;
        return strv_add(&ret->patterns, o->words.items[1]) < 0 ? out_of_memory() : STATUS_OK;
}

void chosen_done(Chosen *c) {
        name_set_done(&c->name_set);
        strv_done(&c->patterns);
        *c = (Chosen){};
}

int chosen_not_found(const Chosen *c, const Options *o) {
        _cleanup_free_ char *said = options_said_filters(o);
        int status = source_check_asked(o, c->source, &c->patterns);

        if (status != STATUS_OK)
                return status;
        if (c->patterns.n == 0)
                log_error("there are no calls in \"%s\"%s.", c->source, said ?: "");
        else
                log_error("there are no calls of \"%s\" in \"%s\"%s.",
                          NAME_QUOTED(c->patterns.items[0]), c->source, said ?: "");
        return STATUS_NOT_FOUND;
}
