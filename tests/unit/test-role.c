/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/role.h"
#include "step-builder.h"
#include "unit.h"

static Role role(const char *label) {
        Function f = { .label = label,
                       .n_label = (uint32_t) strlen(label),
                       .n_name = (uint32_t) strlen(label) };

        return role_of(&f);
}

START_TEST(waits_and_interrupts_are_known_by_name)
        {
                ck_assert_int_eq(role("schedule"), ROLE_WAIT);
                ck_assert_int_eq(role("__schedule"), ROLE_WAIT);
                ck_assert_int_eq(role("__skb_wait_for_more_packets"), ROLE_WAIT);
                ck_assert_int_eq(role("wait_woken"), ROLE_WAIT);
                ck_assert_int_eq(role("smp_reschedule_interrupt"), ROLE_IRQ);
                ck_assert_int_eq(role("__sysvec_apic_timer_interrupt"), ROLE_IRQ);
                ck_assert_int_eq(role("sysvec_hyperv_stimer0"), ROLE_IRQ);
                ck_assert_int_eq(role("irq_enter_rcu"), ROLE_IRQ);
                ck_assert_int_eq(role("irq_exit_rcu"), ROLE_IRQ);
                ck_assert_int_eq(role("raw_irqentry_exit_cond_resched"), ROLE_IRQ);
                ck_assert_int_eq(role("__common_interrupt"), ROLE_IRQ);
                ck_assert_int_eq(role("gic_handle_irq"), ROLE_IRQ);
                ck_assert_int_eq(role("do_interrupt_handler"), ROLE_IRQ);
                ck_assert_int_eq(role("rcu_sched_clock_irq"), ROLE_NONE);
                ck_assert_int_eq(role_of(&step_irq),
                                 ROLE_IRQ); /* where the kernel has their entries */
                ck_assert_int_eq(role("do_softirq.part.20"), ROLE_SOFTIRQ);
                ck_assert_int_eq(role("handle_softirqs"), ROLE_SOFTIRQ);
                ck_assert_int_eq(role("try_to_wake_up"), ROLE_WAKE);
                ck_assert_int_eq(role("ttwu_do_activate.constprop.93"), ROLE_WAKE);
                ck_assert_int_eq(role("wake_up_new_task"), ROLE_WAKE);
                ck_assert_int_eq(role("schedul"), ROLE_NONE);
                ck_assert_int_eq(role("schedule_timeouts"), ROLE_NONE);
                ck_assert_int_eq(role("a"), ROLE_NONE);
                ck_assert_int_eq(role("zzz"), ROLE_NONE);
        }
END_TEST

START_TEST(suffixes_of_compilers_make_no_difference)
        {
                Function f = { .label = "validate_xmit_skb.isra.92.part.93",
                               .n_label = 33,
                               .n_name = 33 };

                ck_assert_int_eq(role("schedule.constprop.0"), ROLE_WAIT);
                ck_assert_uint_eq(role_plain_name(&f), strlen("validate_xmit_skb"));
        }
END_TEST

static Function named(const char *label) {
        return (Function){ .label = label,
                           .n_label = (uint32_t) strlen(label),
                           .n_name = (uint32_t) strlen(label) };
}

START_TEST(functions_that_release_a_lock_are_known_by_name)
        {
                static const char *const those[] = { "mutex_unlock",
                                                     "up",
                                                     "up_write",
                                                     "rwsem_wake",
                                                     "__mutex_unlock_slowpath.constprop.0",
                                                     "folio_unlock" };
                static const char *const others[] = {
                        "mutex_lock",     "u",        "upp",       "update_curr",
                        "mutex_unlock_x", "complete", "futex_wake"
                };

                for (size_t i = 0; i < ELEMENTSOF(those); i++) {
                        Function f = named(those[i]);

                        ck_assert(role_releases_lock(&f));
                }
                for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                        Function f = named(others[i]);

                        ck_assert(!role_releases_lock(&f));
                }
        }
END_TEST

START_TEST(a_task_enters_softirqs_by_what_ends_their_being_off)
        {
                Function own = named("do_softirq.part.0"), any = named("handle_softirqs");

                ck_assert(role_enters_softirq(&own));
                ck_assert(!role_enters_softirq(&any));
        }
END_TEST

UNIT_SUITE("role", waits_and_interrupts_are_known_by_name, suffixes_of_compilers_make_no_difference,
           functions_that_release_a_lock_are_known_by_name,
           a_task_enters_softirqs_by_what_ends_their_being_off)
