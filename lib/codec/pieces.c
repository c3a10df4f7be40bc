/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A piece is in a slot, and a slot goes from state to state:
 *
 *      FREE -> WAITING -> BUSY -> DONE
 *
 * All of that under the Ahead's lock, but for what is in a slot that is BUSY, which is whoever's that made it so.
 */

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "codec/pieces.h"

enum { SLOT_FREE, SLOT_WAITING, SLOT_BUSY, SLOT_DONE };

typedef struct Job {
        Pieces *pieces;
        Piece *piece;
} Job;

struct Ahead {
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;     /* something waits, or is done, or it has to end */
        Job jobs[PIECES_AHEAD_MAX]; /* that wait, in their order */
        size_t n_jobs;
        unsigned n_slots; /* that files have taken for what is ahead */
        bool has_thread, ends;
};

/* Does the first job, unlocked meanwhile.  @who: whose scratch. */
static void do_job(Ahead *a, unsigned who) {
        Job job = a->jobs[0];

        memmove(a->jobs, a->jobs + 1, --a->n_jobs * sizeof(*a->jobs));
        job.piece->state = SLOT_BUSY;
        (void) pthread_mutex_unlock(&a->lock);
        job.piece->result =
                job.pieces->unpack(job.pieces->source, job.piece, &job.pieces->scratch[who]);
        (void) pthread_mutex_lock(&a->lock);
        job.piece->state = SLOT_DONE;
        (void) pthread_cond_broadcast(&a->changed);
}

static void *run(void *userdata) {
        Ahead *a = userdata;

        (void) pthread_mutex_lock(&a->lock);
        while (!a->ends)
                if (a->n_jobs > 0)
                        do_job(a, 1);
                else
                        (void) pthread_cond_wait(&a->changed, &a->lock);
        (void) pthread_mutex_unlock(&a->lock);
        return NULL;
}

/* Without it whoever asks does everything. */
static bool start(Ahead *a) {
        sigset_t all, before;

        if (a->has_thread)
                return true;
        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &before);
        a->has_thread = pthread_create(&a->thread, NULL, run, a) == 0;
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        return a->has_thread;
}

int ahead_new(Ahead **ret) {
        Ahead *a;
        cpu_set_t cpus;

        *ret = NULL;
        if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1)
                return 0;
        a = NEW(Ahead);
        if (!a)
                return -ENOMEM;
        (void) pthread_mutex_init(&a->lock, NULL);
        (void) pthread_cond_init(&a->changed, NULL);
        *ret = a;
        return 0;
}

Ahead *ahead_free(Ahead *a) {
        if (!a)
                return NULL;
        if (a->has_thread) {
                (void) pthread_mutex_lock(&a->lock);
                a->ends = true;
                (void) pthread_cond_broadcast(&a->changed);
                (void) pthread_mutex_unlock(&a->lock);
                (void) pthread_join(a->thread, NULL);
        }
        (void) pthread_cond_destroy(&a->changed);
        (void) pthread_mutex_destroy(&a->lock);
        return mfree(a);
}

void pieces_go_ahead(Pieces *p, Ahead *a) {
        if (p->ahead || !a || a->n_slots + PIECES_AHEAD > PIECES_AHEAD_MAX)
                return;
        a->n_slots += PIECES_AHEAD;
        p->ahead = a;
}

static Piece *find(Pieces *p, size_t i) {
        for (Piece *s = p->slots; s < p->slots + ELEMENTSOF(p->slots); s++)
                if (s->state != SLOT_FREE && s->i == i)
                        return s;
        return NULL;
}

/* Takes @s from those that wait; one that is unpacked, until it is. */
static void withdraw(const Pieces *p, Piece *s) {
        Ahead *a = p->ahead;

        for (size_t i = 0; s->state == SLOT_WAITING && i < a->n_jobs; i++)
                if (a->jobs[i].piece == s) {
                        memmove(a->jobs + i, a->jobs + i + 1, (--a->n_jobs - i) * sizeof(*a->jobs));
                        s->state = SLOT_FREE;
                }
        while (s->state == SLOT_BUSY)
                if (a->n_jobs > 0)
                        do_job(a, 0);
                else
                        (void) pthread_cond_wait(&a->changed, &a->lock);
}

/* Those behind @current, in slots of pieces that are none of them. */
static void queue_next(Pieces *p, const Piece *current) {
        size_t last = MIN(p->n - 1, current->i + PIECES_AHEAD);

        for (size_t next = current->i + 1; next <= last; next++) {
                Piece *s = p->slots;

                if (find(p, next))
                        continue;
                while (s == current || (s->state != SLOT_FREE && s->i > current->i && s->i <= last))
                        s++;
                withdraw(p, s);
                s->i = next;
                s->state = SLOT_WAITING;
                p->ahead->jobs[p->ahead->n_jobs++] = (Job){ p, s };
                (void) pthread_cond_signal(&p->ahead->changed);
        }
}

/* The slot of piece @i, which is BUSY, and the caller's, if it is not unpacked. */
static Piece *claim(Pieces *p, size_t i) {
        Ahead *a = p->ahead;
        bool is_next = p->current && i == p->current->i + 1;
        Piece *s;

        (void) pthread_mutex_lock(&a->lock);
        s = find(p, i) ?: p->current ?: p->slots;
        withdraw(p, s);
        if (s->state == SLOT_FREE || s->i != i)
                s->state = SLOT_BUSY;
        s->i = i;
        if (is_next && start(a))
                queue_next(p, s);
        (void) pthread_mutex_unlock(&a->lock);
        return s;
}

int pieces_get(Pieces *p, size_t i, const Piece **ret) {
        Piece *s = p->current;

        if (!s || s->i != i || s->result < 0) {
                s = p->ahead ? claim(p, i) : p->slots;
                /* An error is met again here, where it is told. */
                if (!p->ahead || s->state == SLOT_BUSY || s->result < 0) {
                        s->i = i;
                        s->result = p->unpack(p->source, s, &p->scratch[0]);
                }
                s->state = SLOT_DONE;
                p->current = s;
        }
        *ret = s;
        return s->result;
}

void pieces_done(Pieces *p) {
        Ahead *a = p->ahead;

        if (a) {
                (void) pthread_mutex_lock(&a->lock);
                for (size_t i = 0; i < ELEMENTSOF(p->slots); i++)
                        withdraw(p, &p->slots[i]);
                (void) pthread_mutex_unlock(&a->lock);
                a->n_slots -= PIECES_AHEAD;
        }
        for (size_t i = 0; i < ELEMENTSOF(p->scratch); i++)
                p->free_scratch(p->scratch[i]);
        for (size_t i = 0; i < ELEMENTSOF(p->slots); i++) {
                free(p->slots[i].packed);
                free(p->slots[i].plain);
        }
        *p = (Pieces){};
}
