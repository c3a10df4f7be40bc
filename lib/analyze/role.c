/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A wait counts where it is innermost: sk_wait_data() that calls schedule_timeout()
 * that calls schedule() has waited once, in whichever of them was recorded last.
 */

#include "analyze/role.h"

/* Handlers of vectors, of which there is a new one in every other version (x86, 5.8 on). */
static const char *const irq_prefixes[] = { "sysvec_", "__sysvec_" };

/* Each sorted.  What the kernel does around a handler (irq_enter_rcu() and its like) stands beside it, in
 * whatever was interrupted: it is the interrupt's as well. */
static const char *const waits[] = { "__schedule",
                                     "__skb_wait_for_more_packets",
                                     "do_nanosleep",
                                     "ep_poll",
                                     "futex_wait_queue",
                                     "futex_wait_queue_me",
                                     "inet_csk_wait_for_connect",
                                     "io_schedule",
                                     "io_schedule_timeout",
                                     "pipe_wait",
                                     "preempt_schedule",
                                     "preempt_schedule_common",
                                     "preempt_schedule_irq",
                                     "schedule",
                                     "schedule_hrtimeout_range",
                                     "schedule_hrtimeout_range_clock",
                                     "schedule_idle",
                                     "schedule_preempt_disabled",
                                     "schedule_timeout",
                                     "sk_stream_wait_memory",
                                     "sk_wait_data",
                                     "sock_alloc_send_wait",
                                     "unix_stream_data_wait",
                                     "wait_for_completion",
                                     "wait_for_completion_interruptible",
                                     "wait_for_completion_timeout",
                                     "wait_woken" };
static const char *const irqs[] = { "__common_interrupt",
                                    "__do_irq",
                                    "__handle_domain_irq",
                                    "__irq_exit_rcu",
                                    "__spurious_interrupt",
                                    "__xen_evtchn_do_upcall",
                                    "common_interrupt",
                                    "do_IPI",
                                    "do_IRQ",
                                    "do_handle_IPI",
                                    "do_irq",
                                    "do_nmi",
                                    "doorbell_exception",
                                    "dynamic_irqentry_exit_cond_resched",
                                    "generic_handle_arch_irq",
                                    "generic_handle_domain_irq",
                                    "gic_handle_irq",
                                    "handle_IPI",
                                    "handle_domain_irq",
                                    "hv_stimer0_vector_handler",
                                    "hyperv_vector_handler",
                                    "irq_enter",
                                    "irq_enter_rcu",
                                    "irq_exit",
                                    "irq_exit_rcu",
                                    "irqentry_exit_cond_resched",
                                    "nmi_handle",
                                    "raw_irqentry_exit_cond_resched",
                                    "smp_apic_timer_interrupt",
                                    "smp_call_function_interrupt",
                                    "smp_call_function_single_interrupt",
                                    "smp_deferred_error_interrupt",
                                    "smp_error_interrupt",
                                    "smp_irq_work_interrupt",
                                    "smp_kvm_posted_intr_ipi",
                                    "smp_kvm_posted_intr_wakeup_ipi",
                                    "smp_reboot_interrupt",
                                    "smp_reschedule_interrupt",
                                    "smp_spurious_interrupt",
                                    "smp_thermal_interrupt",
                                    "smp_threshold_interrupt",
                                    "smp_trace_apic_timer_interrupt",
                                    "smp_trace_call_function_interrupt",
                                    "smp_trace_call_function_single_interrupt",
                                    "smp_trace_irq_work_interrupt",
                                    "smp_trace_reschedule_interrupt",
                                    "smp_x86_platform_ipi",
                                    "spurious_interrupt",
                                    "timer_interrupt",
                                    "xen_evtchn_do_upcall" };
static const char *const softirqs[] = { "__do_softirq", "do_softirq", "do_softirq_own_stack",
                                        "handle_softirqs", "invoke_softirq" };
static const char *const wakes[] = { "sched_ttwu_pending",  "try_to_wake_up",
                                     "ttwu_do_activate",    "ttwu_do_wakeup",
                                     "ttwu_queue_wakelist", "wake_up_new_task" };

static const struct {
        Role role;
        const char *const *names;
        size_t n;
} roles[] = {
        { ROLE_WAIT, waits, ELEMENTSOF(waits) },
        { ROLE_IRQ, irqs, ELEMENTSOF(irqs) },
        { ROLE_SOFTIRQ, softirqs, ELEMENTSOF(softirqs) },
        { ROLE_WAKE, wakes, ELEMENTSOF(wakes) },
};

typedef struct Name {
        const char *p;
        size_t n;
} Name;

static int compare(const void *a, const void *b) {
        const Name *name = a;
        const char *other = *(const char *const *) b;

        return strncmp(name->p, other, name->n) ?: (other[name->n] ? -1 : 0);
}

size_t role_plain_name(const Function *function) {
        const char *dot = memchr(function->label + 1, '.', function->n_name - 1);

        return dot ? (size_t) (dot - function->label) : function->n_name;
}

Role role_of(const Function *function) {
        const Name name = { function->label, role_plain_name(function) };

        if (function->is_irq_entry)
                return ROLE_IRQ;
        for (size_t i = 0; i < ELEMENTSOF(irq_prefixes); i++)
                if (startswith(function->label, irq_prefixes[i]))
                        return ROLE_IRQ;
        for (size_t i = 0; i < ELEMENTSOF(roles); i++)
                if (bsearch(&name, roles[i].names, roles[i].n, sizeof(char *), compare))
                        return roles[i].role;
        return ROLE_NONE;
}
