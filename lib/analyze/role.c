/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A wait counts where it is innermost: sk_wait_data() that calls schedule_timeout()
 * that calls schedule() has waited once, in whichever of them was recorded last.
 */

#include "analyze/role.h"

/* Sorted. */
static const struct {
        const char *name;
        Role role;
} roles[] = {
        { "__do_softirq", ROLE_SOFTIRQ },
        { "__schedule", ROLE_WAIT },
        { "__skb_wait_for_more_packets", ROLE_WAIT },
        { "__sysvec_apic_timer_interrupt", ROLE_IRQ },
        { "__sysvec_call_function", ROLE_IRQ },
        { "__sysvec_call_function_single", ROLE_IRQ },
        { "__sysvec_irq_work", ROLE_IRQ },
        { "__sysvec_reboot", ROLE_IRQ },
        { "__sysvec_x86_platform_ipi", ROLE_IRQ },
        { "common_interrupt", ROLE_IRQ },
        { "do_IRQ", ROLE_IRQ },
        { "do_nanosleep", ROLE_WAIT },
        { "do_softirq", ROLE_SOFTIRQ },
        { "do_softirq_own_stack", ROLE_SOFTIRQ },
        { "ep_poll", ROLE_WAIT },
        { "futex_wait_queue", ROLE_WAIT },
        { "futex_wait_queue_me", ROLE_WAIT },
        { "handle_softirqs", ROLE_SOFTIRQ },
        { "inet_csk_wait_for_connect", ROLE_WAIT },
        { "invoke_softirq", ROLE_SOFTIRQ },
        { "io_schedule", ROLE_WAIT },
        { "io_schedule_timeout", ROLE_WAIT },
        { "pipe_wait", ROLE_WAIT },
        { "preempt_schedule", ROLE_WAIT },
        { "preempt_schedule_common", ROLE_WAIT },
        { "preempt_schedule_irq", ROLE_WAIT },
        { "sched_ttwu_pending", ROLE_WAKE },
        { "schedule", ROLE_WAIT },
        { "schedule_hrtimeout_range", ROLE_WAIT },
        { "schedule_hrtimeout_range_clock", ROLE_WAIT },
        { "schedule_idle", ROLE_WAIT },
        { "schedule_preempt_disabled", ROLE_WAIT },
        { "schedule_timeout", ROLE_WAIT },
        { "sk_stream_wait_memory", ROLE_WAIT },
        { "sk_wait_data", ROLE_WAIT },
        { "smp_apic_timer_interrupt", ROLE_IRQ },
        { "smp_call_function_interrupt", ROLE_IRQ },
        { "smp_call_function_single_interrupt", ROLE_IRQ },
        { "smp_irq_work_interrupt", ROLE_IRQ },
        { "smp_reschedule_interrupt", ROLE_IRQ },
        { "sock_alloc_send_wait", ROLE_WAIT },
        { "sysvec_apic_timer_interrupt", ROLE_IRQ },
        { "sysvec_call_function", ROLE_IRQ },
        { "sysvec_call_function_single", ROLE_IRQ },
        { "sysvec_irq_work", ROLE_IRQ },
        { "sysvec_reschedule_ipi", ROLE_IRQ },
        { "try_to_wake_up", ROLE_WAKE },
        { "ttwu_do_activate", ROLE_WAKE },
        { "ttwu_do_wakeup", ROLE_WAKE },
        { "ttwu_queue_wakelist", ROLE_WAKE },
        { "unix_stream_data_wait", ROLE_WAIT },
        { "wait_for_completion", ROLE_WAIT },
        { "wait_for_completion_interruptible", ROLE_WAIT },
        { "wait_for_completion_timeout", ROLE_WAIT },
        { "wait_woken", ROLE_WAIT },
        { "wake_up_new_task", ROLE_WAKE },
};

size_t role_plain_name(const Function *function) {
        const char *dot = memchr(function->label + 1, '.', function->n_name - 1);

        return dot ? (size_t) (dot - function->label) : function->n_name;
}

Role role_of(const Function *function) {
        size_t n = role_plain_name(function), low = 0, high = ELEMENTSOF(roles);

        while (low < high) {
                size_t i = (low + high) / 2;
                int order =
                        strncmp(function->label, roles[i].name, n) ?: (roles[i].name[n] ? -1 : 0);

                if (order == 0)
                        return roles[i].role;
                if (order < 0)
                        high = i;
                else
                        low = i + 1;
        }
        return ROLE_NONE;
}
