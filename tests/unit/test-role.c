/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/call-tree.h"
#include "fed.h"

TEST(waits_and_interrupts_are_known_by_name) {
        static const struct {
                const char *label;
                Role role;
        } all[] = {
                { "schedule", ROLE_WAIT },
                { "__schedule", ROLE_WAIT },
                { "schedule.constprop.0", ROLE_WAIT },
                { "__skb_wait_for_more_packets", ROLE_WAIT },
                { "wait_woken", ROLE_WAIT },
                { "smp_reschedule_interrupt", ROLE_IRQ },
                { "__sysvec_apic_timer_interrupt", ROLE_IRQ },
                { "sysvec_hyperv_stimer0", ROLE_IRQ },
                { "irq_enter_rcu", ROLE_IRQ },
                { "irq_exit_rcu", ROLE_IRQ },
                { "raw_irqentry_exit_cond_resched", ROLE_IRQ },
                { "__common_interrupt", ROLE_IRQ },
                { "gic_handle_irq", ROLE_IRQ },
                { "do_interrupt_handler", ROLE_IRQ },
                { "xen_evtchn_do_upcall", ROLE_IRQ },
                { "rcu_sched_clock_irq", ROLE_NONE },
                { "do_softirq.part.20", ROLE_SOFTIRQ },
                { "handle_softirqs", ROLE_SOFTIRQ },
                { "try_to_wake_up", ROLE_WAKE },
                { "ttwu_do_activate.constprop.93", ROLE_WAKE },
                { "wake_up_new_task", ROLE_WAKE },
                { "schedul", ROLE_NONE },
                { "schedule_timeouts", ROLE_NONE },
                { "a", ROLE_NONE },
                { "zzz", ROLE_NONE },
        };

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                Function f = function_named(all[i].label);

                ck_assert_msg(role_of(&f) == all[i].role, "%s", all[i].label);
        }
        ck_assert_int_eq(role_of(&step_irq), ROLE_IRQ); /* where the kernel has their entries */
}

TEST(what_releases_a_lock_or_enters_softirqs_is_known_by_name) {
        static const char *const those[] = { "mutex_unlock",
                                             "up",
                                             "up_write",
                                             "rwsem_wake",
                                             "__mutex_unlock_slowpath.constprop.0",
                                             "folio_unlock",
                                             "ww_mutex_unlock" };
        static const char *const others[] = {
                "mutex_lock", "u", "upp", "update_curr", "mutex_unlock_x", "complete", "futex_wake"
        };
        Function own = function_named("do_softirq.part.0");
        Function any = function_named("handle_softirqs");

        for (size_t i = 0; i < ELEMENTSOF(those) + ELEMENTSOF(others); i++) {
                bool is_one = i < ELEMENTSOF(those);
                Function f = function_named(is_one ? those[i] : others[i - ELEMENTSOF(those)]);

                ck_assert_msg(role_releases_lock(&f) == is_one, "%s", f.label);
        }
        ck_assert(role_enters_softirq(&own));
        ck_assert(!role_enters_softirq(&any));
}

TEST(what_a_wait_is_for_is_known_by_name) {
        static const char *const names[] = {
                [INPUT_NONE] =
                        ("__lock_sock io_schedule lock_sock_nested mutex_lock_interruptible "
                         "pipe_write preempt_schedule schedule_preempt_disabled sock_sendmsg vfs_read "
                         "wait_for_completion _recvmsg __x64_sys_read __x64_sys_do_wait recvfrom"),
                [INPUT_PASSES] = "schedule schedule.cold __schedule schedule_timeout wait_woken",
                [INPUT_WAITS] =
                        ("udp_recvmsg ____sys_recvmsg __sys_recvfrom inet_accept do_epoll_wait "
                         "pipe_read.part.0 futex_wait_queue __x64_sys_recvfrom SyS_nanosleep "
                         "signalfd_read signalfd_read_iter timerfd_read_iter"),
        };

        for (Input i = INPUT_NONE; i <= INPUT_WAITS; i++) {
                _cleanup_strv_ Strv list = {};

                ck_assert_int_eq(strv_split(&list, names[i], " "), 0);
                for (size_t k = 0; k < list.n; k++) {
                        Function f = function_named(list.items[k]);

                        ck_assert_msg(role_input(&f) == i, "%s", f.label);
                }
        }
}

TEST(functions_of_two_kernels_are_alike) {
        static const struct {
                const char *a, *b;
                bool alike;
        } pairs[] = {
                { "skb_clone.part.50", "skb_clone", true },
                { "validate_xmit_skb.isra.92.part.93", "validate_xmit_skb.cold", true },
                { "ttwu_do_activate.constprop.93", "ttwu_do_activate", true },
                { "skb_clone", "skb_clone_sk", false },
                { "SyS_write", "__x64_sys_write", true },
                { "__arm64_sys_write", "ksys_write", true },
                { "sys_write", "__se_sys_write", true },
                { "SyS_write", "__x64_sys_writev", false },
                { "write", "SyS_write", false },
                { "sys_", "sys_", true },
                { "nf_hook_slow [nf_conntrack]", "nf_hook_slow", true },
        };

        for (size_t i = 0; i < ELEMENTSOF(pairs); i++) {
                Function f = function_named(pairs[i].a), g = function_named(pairs[i].b);
                Alike x = alike_of(&f), y = alike_of(&g);

                ck_assert_msg(alike_equal(&x, &y) == pairs[i].alike, "%s", pairs[i].a);
                ck_assert(!pairs[i].alike || alike_hash(&x) == alike_hash(&y));
        }
}

TEST(a_twin_has_the_same_callers) {
        const Function a_part = function_named("a.part.3"), b = function_named("b"),
                       write = function_named("SyS_write"), a_now = function_named("a"),
                       write_now = function_named("__x64_sys_write");
        _cleanup_(call_tree_freep) CallTree *t = MADE(CallTree, call_tree_new, NULL);
        _cleanup_(hash_done) Hash nodes = {};
        CallNode *root, *a, *a_b, *w, *w_b;

        root = call_tree_root(t);
        a = call_tree_child(t, root, &a_part);
        a_b = call_tree_child(t, a, &b);
        w = call_tree_child(t, root, &write);
        w_b = call_tree_child(t, w, &b);
        ck_assert_int_eq(call_tree_finish(t), 0);
        ck_assert_int_eq(alike_index_nodes(&nodes, t), 0);
        ck_assert_ptr_eq(alike_find_node(&nodes, root, &a_now), a);
        ck_assert_ptr_eq(alike_find_node(&nodes, root, &write_now), w);
        ck_assert_ptr_eq(alike_find_node(&nodes, a, &b), a_b);
        ck_assert_ptr_eq(alike_find_node(&nodes, w, &b), w_b);
        ck_assert_ptr_null(alike_find_node(&nodes, root, &b));
        ck_assert_ptr_null(alike_find_node(&nodes, a, &a_part));
        ck_assert_ptr_null(alike_find_node(&nodes, NULL, &b));
}
