/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A wait counts where it is innermost: sk_wait_data() that calls schedule_timeout()
 * that calls schedule() has waited once, in whichever of them was recorded last.
 */

#include "analyze/role.h"

/* Handlers of vectors, of which there is a new one in every other version (x86, 5.8 on). */
static const char *const irq_prefixes[] = { "sysvec_", "__sysvec_" };

/* Sorted.  What the kernel does around a handler (irq_enter_rcu() and its like) stands beside it, in
 * whatever was interrupted: it is the interrupt's as well. */
static const struct {
        const char *name;
        Role role;
} roles[] = {
        { "__common_interrupt", ROLE_IRQ },
        { "__do_irq", ROLE_IRQ },
        { "__do_softirq", ROLE_SOFTIRQ },
        { "__handle_domain_irq", ROLE_IRQ },
        { "__irq_exit_rcu", ROLE_IRQ },
        { "__schedule", ROLE_WAIT },
        { "__skb_wait_for_more_packets", ROLE_WAIT },
        { "__spurious_interrupt", ROLE_IRQ },
        { "__xen_evtchn_do_upcall", ROLE_IRQ },
        { "common_interrupt", ROLE_IRQ },
        { "do_IPI", ROLE_IRQ },
        { "do_IRQ", ROLE_IRQ },
        { "do_handle_IPI", ROLE_IRQ },
        { "do_interrupt_handler", ROLE_IRQ }, /* arm64, around .irqentry.text */
        { "do_irq", ROLE_IRQ },
        { "do_nanosleep", ROLE_WAIT },
        { "do_nmi", ROLE_IRQ },
        { "do_softirq", ROLE_SOFTIRQ },
        { "do_softirq_own_stack", ROLE_SOFTIRQ },
        { "doorbell_exception", ROLE_IRQ },
        { "dynamic_irqentry_exit_cond_resched", ROLE_IRQ },
        { "ep_poll", ROLE_WAIT },
        { "futex_wait_queue", ROLE_WAIT },
        { "futex_wait_queue_me", ROLE_WAIT },
        { "generic_handle_arch_irq", ROLE_IRQ },
        { "generic_handle_domain_irq", ROLE_IRQ },
        { "gic_handle_irq", ROLE_IRQ },
        { "handle_IPI", ROLE_IRQ },
        { "handle_domain_irq", ROLE_IRQ },
        { "handle_softirqs", ROLE_SOFTIRQ },
        { "hv_stimer0_vector_handler", ROLE_IRQ },
        { "hyperv_vector_handler", ROLE_IRQ },
        { "inet_csk_wait_for_connect", ROLE_WAIT },
        { "invoke_softirq", ROLE_SOFTIRQ },
        { "io_schedule", ROLE_WAIT },
        { "io_schedule_timeout", ROLE_WAIT },
        { "irq_enter", ROLE_IRQ },
        { "irq_enter_rcu", ROLE_IRQ },
        { "irq_exit", ROLE_IRQ },
        { "irq_exit_rcu", ROLE_IRQ },
        { "irqentry_exit_cond_resched", ROLE_IRQ },
        { "nmi_handle", ROLE_IRQ },
        { "pipe_wait", ROLE_WAIT },
        { "preempt_schedule", ROLE_WAIT },
        { "preempt_schedule_common", ROLE_WAIT },
        { "preempt_schedule_irq", ROLE_WAIT },
        { "raw_irqentry_exit_cond_resched", ROLE_IRQ },
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
        { "smp_deferred_error_interrupt", ROLE_IRQ },
        { "smp_error_interrupt", ROLE_IRQ },
        { "smp_irq_work_interrupt", ROLE_IRQ },
        { "smp_kvm_posted_intr_ipi", ROLE_IRQ },
        { "smp_kvm_posted_intr_wakeup_ipi", ROLE_IRQ },
        { "smp_reboot_interrupt", ROLE_IRQ },
        { "smp_reschedule_interrupt", ROLE_IRQ },
        { "smp_spurious_interrupt", ROLE_IRQ },
        { "smp_thermal_interrupt", ROLE_IRQ },
        { "smp_threshold_interrupt", ROLE_IRQ },
        { "smp_trace_apic_timer_interrupt", ROLE_IRQ },
        { "smp_trace_call_function_interrupt", ROLE_IRQ },
        { "smp_trace_call_function_single_interrupt", ROLE_IRQ },
        { "smp_trace_irq_work_interrupt", ROLE_IRQ },
        { "smp_trace_reschedule_interrupt", ROLE_IRQ },
        { "smp_x86_platform_ipi", ROLE_IRQ },
        { "sock_alloc_send_wait", ROLE_WAIT },
        { "spurious_interrupt", ROLE_IRQ },
        { "timer_interrupt", ROLE_IRQ },
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
        { "xen_evtchn_do_upcall", ROLE_IRQ },
};

/* What is called where nobody waits, too, wakes nobody then. */
static const char *const releases[] = {
        "__mutex_unlock_slowpath",
        "__percpu_up_read",
        "__up",
        "__up_read",
        "__up_write",
        "clear_and_wake_up_bit",
        "downgrade_write",
        "folio_unlock",
        "futex_unlock_pi",
        "mutex_unlock",
        "percpu_up_read",
        "percpu_up_write",
        "pipe_unlock",
        "release_sock",
        "rt_mutex_futex_unlock",
        "rt_mutex_slowunlock",
        "rt_mutex_unlock",
        "rt_read_unlock",
        "rt_spin_unlock",
        "rt_write_unlock",
        "rwsem_wake",
        "unlock_buffer",
        "unlock_page",
        "up",
        "up_read",
        "up_read_non_owner",
        "up_write",
        "ww_mutex_unlock",
};

size_t role_plain_name(const Function *function) {
        const char *dot = memchr(function->label + 1, '.', function->n_name - 1);

        return dot ? (size_t) (dot - function->label) : function->n_name;
}

Role role_of(const Function *function) {
        size_t n = role_plain_name(function), low = 0, high = ELEMENTSOF(roles);

        if (function->is_irq_entry)
                return ROLE_IRQ;
        for (size_t i = 0; i < ELEMENTSOF(irq_prefixes); i++)
                if (startswith(function->label, irq_prefixes[i]))
                        return ROLE_IRQ;
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

static bool is_one_of(const Function *function, const char *const *names, size_t n_names) {
        size_t n = role_plain_name(function);

        for (size_t i = 0; i < n_names; i++)
                if (strncmp(function->label, names[i], n) == 0 && names[i][n] == 0)
                        return true;
        return false;
}

/* Source: linux 6.12 kernel/softirq.c; irq_exit_rcu() comes to handle_softirqs() without these. */
bool role_enters_softirq(const Function *function) {
        static const char *const names[] = { "do_softirq", "__local_bh_enable_ip" };

        return is_one_of(function, names, ELEMENTSOF(names));
}

bool role_releases_lock(const Function *function) {
        return is_one_of(function, releases, ELEMENTSOF(releases));
}
