/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planted: a root whose calls are slow for a known reason (bench-planted)
 *
 *      planted_root(len)
 *        planted_parse()
 *        planted_route()
 *          planted_lookup()
 *        planted_copy(len)
 *        planted_queue()
 *          planted_flush()
 *
 * Writing N to the parameter `calls` makes N calls, each with some microseconds of work in each function.  In one of
 * `one_in` the `victim`, a function by its place in the list below, is what `mode` says:
 *
 *      1 slower      it takes `delay_us` longer
 *      2 retry       it is called 5 to 20 times
 *      3 lock        below it planted_take_lock() waits for a mutex that planted-holder has for `delay_us` and
 *                    lets go in planted_release()
 *      4 waker       below it planted_ask() waits in all calls for planted-waker, which answers in planted_answer() and
 *                    takes `delay_us` longer
 *      5 argument    it takes longer in calls whose len is above 1400, which is as rare
 */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>

#define TRACED noinline __used __attribute__((noipa))

enum { PARSE, ROUTE, LOOKUP, COPY, QUEUE, FLUSH };
enum { NOTHING, SLOWER, RETRY, LOCK, WAKER, ARGUMENT };

static unsigned int mode, victim, one_in = 100, delay_us = 500;
module_param(mode, uint, 0644);
module_param(victim, uint, 0644);
module_param(one_in, uint, 0644);
module_param(delay_us, uint, 0644);

static bool is_slow; /* the call that goes on */
static DEFINE_MUTEX(calling);
static DEFINE_MUTEX(contended);
static DECLARE_COMPLETION(please_hold);
static DECLARE_COMPLETION(held);
static DECLARE_COMPLETION(asked);
static DECLARE_COMPLETION(answered);
static struct task_struct *holder, *waker;

static u32 draw(u32 below) {
        return get_random_u32() % below;
}

void planted_release(void);
void planted_answer(void);
void planted_take_lock(void);
void planted_ask(void);
void planted_parse(void);
void planted_route(void);
void planted_lookup(void);
void planted_copy(unsigned int len);
void planted_queue(void);
void planted_flush(void);
int planted_root(unsigned int len);

TRACED void planted_release(void) {
        mutex_unlock(&contended);
}

TRACED void planted_answer(void) {
        complete(&answered);
}

TRACED void planted_take_lock(void) {
        mutex_lock(&contended);
        udelay(1);
        mutex_unlock(&contended);
}

TRACED void planted_ask(void) {
        complete(&asked);
        wait_for_completion(&answered);
}

static __always_inline void work(unsigned int place) {
        udelay(3 + draw(5));
        if (place != victim)
                return;
        if (is_slow && (mode == SLOWER || mode == ARGUMENT))
                udelay(delay_us);
        if (mode == LOCK)
                planted_take_lock();
        if (mode == WAKER)
                planted_ask();
}

static __always_inline unsigned int times(unsigned int place) {
        return is_slow && mode == RETRY && place == victim ? 5 + draw(16) : 1;
}

TRACED void planted_parse(void) {
        work(PARSE);
}

TRACED void planted_lookup(void) {
        work(LOOKUP);
}

TRACED void planted_route(void) {
        work(ROUTE);
        for (unsigned int n = times(LOOKUP); n > 0; n--)
                planted_lookup();
}

TRACED void planted_copy(unsigned int len) {
        work(COPY);
}

TRACED void planted_flush(void) {
        work(FLUSH);
}

TRACED void planted_queue(void) {
        work(QUEUE);
        for (unsigned int n = times(FLUSH); n > 0; n--)
                planted_flush();
}

TRACED int planted_root(unsigned int len) {
        for (unsigned int n = times(PARSE); n > 0; n--)
                planted_parse();
        for (unsigned int n = times(ROUTE); n > 0; n--)
                planted_route();
        for (unsigned int n = times(COPY); n > 0; n--)
                planted_copy(len);
        for (unsigned int n = times(QUEUE); n > 0; n--)
                planted_queue();
        return len;
}

static int hold(void *data) {
        while (!kthread_should_stop()) {
                if (!wait_for_completion_timeout(&please_hold, HZ / 10))
                        continue;
                mutex_lock(&contended);
                complete(&held);
                usleep_range(delay_us, delay_us + 50);
                planted_release();
        }
        return 0;
}

static int wake(void *data) {
        while (!kthread_should_stop()) {
                if (!wait_for_completion_timeout(&asked, HZ / 10))
                        continue;
                if (is_slow)
                        usleep_range(delay_us, delay_us + 50);
                planted_answer();
        }
        return 0;
}

static int set_calls(const char *text, const struct kernel_param *param) {
        unsigned int n, phase, r;

        r = kstrtouint(text, 0, &n);
        if (r)
                return r;
        mutex_lock(&calling);
        phase = draw(one_in);
        for (unsigned int i = 0; i < n; i++) {
                is_slow = mode != NOTHING && i % one_in == phase;
                if (is_slow && mode == LOCK) {
                        complete(&please_hold);
                        wait_for_completion(&held);
                }
                planted_root(is_slow && mode == ARGUMENT ? 1401 + draw(7000) : 1 + draw(1400));
                udelay(5 + draw(20));
                cond_resched();
        }
        mutex_unlock(&calling);
        return 0;
}

static const struct kernel_param_ops calls_ops = { .set = set_calls };
module_param_cb(calls, &calls_ops, NULL, 0200);

static int __init planted_init(void) {
        holder = kthread_run(hold, NULL, "planted-holder");
        waker = kthread_run(wake, NULL, "planted-waker");
        return IS_ERR(holder) || IS_ERR(waker) ? -ENOMEM : 0;
}

static void __exit planted_exit(void) {
        kthread_stop(holder);
        kthread_stop(waker);
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("Calls that are slow for a known reason");
MODULE_LICENSE("GPL");
