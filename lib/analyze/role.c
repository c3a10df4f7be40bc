/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "analyze/role.h"

/* A wait counts where it is innermost: sk_wait_data() that calls schedule_timeout() that calls schedule() has waited
 * once, in whichever of them was recorded last. */
static const char waits[] =
        "__schedule __skb_wait_for_more_packets do_nanosleep ep_poll futex_wait_queue "
        "futex_wait_queue_me inet_csk_wait_for_connect io_schedule io_schedule_timeout "
        "pipe_wait preempt_schedule preempt_schedule_common preempt_schedule_irq schedule "
        "schedule_hrtimeout_range schedule_hrtimeout_range_clock schedule_idle "
        "schedule_preempt_disabled schedule_timeout sk_stream_wait_memory sk_wait_data "
        "sock_alloc_send_wait unix_stream_data_wait wait_for_completion "
        "wait_for_completion_interruptible wait_for_completion_timeout wait_woken";

/* What the kernel does around a handler (irq_enter_rcu() and its like) stands beside it, in whatever was interrupted: it
 * is the interrupt's as well.  arm64's do_interrupt_handler() is around .irqentry.text. */
static const char irqs[] =
        "__common_interrupt __do_irq __handle_domain_irq __irq_exit_rcu __spurious_interrupt "
        "__xen_evtchn_do_upcall common_interrupt do_IPI do_IRQ do_handle_IPI "
        "do_interrupt_handler do_irq do_nmi doorbell_exception "
        "dynamic_irqentry_exit_cond_resched generic_handle_arch_irq generic_handle_domain_irq "
        "gic_handle_irq handle_IPI handle_domain_irq hv_stimer0_vector_handler "
        "hyperv_vector_handler irq_enter irq_enter_rcu irq_exit irq_exit_rcu "
        "irqentry_exit_cond_resched nmi_handle raw_irqentry_exit_cond_resched "
        "smp_apic_timer_interrupt smp_call_function_interrupt "
        "smp_call_function_single_interrupt smp_deferred_error_interrupt smp_error_interrupt "
        "smp_irq_work_interrupt smp_kvm_posted_intr_ipi smp_kvm_posted_intr_wakeup_ipi "
        "smp_reboot_interrupt smp_reschedule_interrupt smp_spurious_interrupt "
        "smp_thermal_interrupt smp_threshold_interrupt smp_trace_apic_timer_interrupt "
        "smp_trace_call_function_interrupt smp_trace_call_function_single_interrupt "
        "smp_trace_irq_work_interrupt smp_trace_reschedule_interrupt smp_x86_platform_ipi "
        "spurious_interrupt timer_interrupt xen_evtchn_do_upcall";

/* Handlers of vectors, of which there is a new one in every other version (x86, 5.8 on). */
static const char *const irq_prefixes[] = { "sysvec_", "__sysvec_" };

static const char softirqs[] =
        "__do_softirq do_softirq do_softirq_own_stack handle_softirqs invoke_softirq";

static const char wakes[] =
        "sched_ttwu_pending try_to_wake_up ttwu_do_activate ttwu_do_wakeup ttwu_queue_wakelist "
        "wake_up_new_task";

/* Source: linux 6.12 kernel/softirq.c; irq_exit_rcu() comes to handle_softirqs() without these. */
static const char own_softirqs[] = "do_softirq __local_bh_enable_ip";

/* What is called where nobody waits, too, wakes nobody then. */
static const char releases[] =
        "__mutex_unlock_slowpath __percpu_up_read __up __up_read __up_write "
        "clear_and_wake_up_bit downgrade_write folio_unlock futex_unlock_pi mutex_unlock "
        "percpu_up_read percpu_up_write pipe_unlock release_sock rt_mutex_futex_unlock "
        "rt_mutex_slowunlock rt_mutex_unlock rt_read_unlock rt_spin_unlock rt_write_unlock "
        "rwsem_wake unlock_buffer unlock_page up up_read up_read_non_owner up_write "
        "ww_mutex_unlock";

static const char passes[] =
        "__schedule do_wait_intr do_wait_intr_irq pipe_wait poll_schedule_timeout schedule "
        "schedule_hrtimeout_range schedule_hrtimeout_range_clock schedule_timeout wait_woken";

/* What sleeps interruptibly until there is something to work on, or until a time: names of linux 6.1 and 6.12, where not
 * all have a symbol, and some of earlier ones. */
static const char inputs[] =
        "__do_wait __futex_wait __skb_recv_datagram __skb_recv_udp __skb_wait_for_more_packets "
        "__sys_accept4 common_nsleep core_sys_select do_epoll_wait do_futex do_mq_timedreceive "
        "do_msgrcv do_nanosleep do_poll do_pselect do_select do_sigtimedwait do_sys_poll "
        "do_wait ep_poll eventfd_read fifo_open futex_wait futex_wait_multiple "
        "futex_wait_queue futex_wait_queue_me hrtimer_nanosleep inet_csk_accept "
        "inet_csk_wait_for_connect inotify_read io_cqring_wait kernel_wait4 n_tty_read "
        "pipe_read pipe_wait_readable read_events signalfd_read signalfd_read_iter sigsuspend "
        "sk_wait_data skb_recv_datagram sock_read_iter tcp_recvmsg_locked timerfd_read "
        "timerfd_read_iter tty_read unix_stream_data_wait unix_stream_read_generic";

static const char *const input_suffixes[] = { "_accept", "_recvfrom", "_recvmmsg", "_recvmsg" };

static const char input_syscalls[] =
        "accept accept4 clock_nanosleep epoll_pwait epoll_pwait2 epoll_wait futex futex_wait "
        "futex_waitv io_getevents io_pgetevents mq_timedreceive msgrcv nanosleep pause poll ppoll "
        "pselect6 recvfrom recvmmsg recvmsg rt_sigsuspend rt_sigtimedwait select wait4 waitid";

/* What an interrupt, or a softirq, is about in which it stands, and what is waited for where only one thing ends it.
 * A socket's wait may end by its timeout as well. */
static const struct {
        const char *what, *wakes, *waits;
} tells[] = {
        { "timer",
          "__hrtimer_run_queues __run_timer_base __run_timers call_timer_fn expire_timers "
          "hrtimer_interrupt hrtimer_run_softirq hrtimer_wakeup process_timeout run_timer_base "
          "run_timer_softirq",
          "common_nsleep do_nanosleep hrtimer_nanosleep msleep msleep_interruptible "
          "usleep_range_state" },
        { "disk I/O",
          "ata_sff_interrupt bio_endio blk_complete_reqs blk_done_softirq blk_mq_complete_request "
          "blk_mq_end_request blk_update_request end_bio_bh_io_sync mmc_request_done nvme_irq "
          "scsi_done scsi_io_completion virtblk_done",
          "__wait_on_buffer blk_io_schedule blk_mq_get_tag blk_wait_io bit_wait_io "
          "folio_wait_bit folio_wait_bit_common folio_wait_writeback io_schedule "
          "submit_bio_wait wait_on_page_bit wait_on_page_bit_common wait_on_page_writeback" },
        { "packet",
          "__napi_poll __netif_receive_skb ip_local_deliver ip_rcv ipv6_rcv napi_poll "
          "net_rx_action netif_receive_skb process_backlog sock_def_readable tcp_v4_rcv "
          "tcp_v6_rcv udp_queue_rcv_one_skb udp_rcv udpv6_rcv",
          "" },
        { "packet or timeout", "",
          "__skb_recv_udp __skb_wait_for_more_packets inet_csk_wait_for_connect sk_wait_data" },
};

/* The kernel's own functions for system calls, from linux 3.10 (SyS_) over 4.17
 * (arch/x86/include/asm/syscall_wrapper.h and its like: __x64_sys_) and fs/'s ksys_. */
static const char *const syscall_prefixes[] = {
        "SyS_",        "sys_",         "ksys_",          "__se_sys_",  "__do_sys_",
        "__x64_sys_",  "__ia32_sys_",  "__arm64_sys_",   "__arm_sys_", "__riscv_sys_",
        "__s390_sys_", "__s390x_sys_", "__powerpc_sys_",
};

/* Bytes of the name without the compiler's suffixes: "validate_xmit_skb" of "validate_xmit_skb.isra.92.part.93". */
static size_t bare_length(const Function *function) {
        const char *dot = memchr(function->label + 1, '.', function->n_name - 1);

        return dot ? (size_t) (dot - function->label) : function->n_name;
}

static bool is_word(const char *name, size_t n, const char *words) {
        for (size_t n_word; *words; words += n_word, words += strspn(words, " ")) {
                n_word = strcspn(words, " ");
                if (n_word == n && memcmp(name, words, n) == 0)
                        return true;
        }
        return false;
}

/* True if the function's plain name is one of @names. */
static bool is_one_of(const Function *function, const char *names) {
        return is_word(function->label, bare_length(function), names);
}

Role role_of(const Function *function) {
        if (function->is_irq_entry || is_one_of(function, irqs))
                return ROLE_IRQ;
        for (size_t i = 0; i < ELEMENTSOF(irq_prefixes); i++)
                if (startswith(function->label, irq_prefixes[i]))
                        return ROLE_IRQ;
        return is_one_of(function, waits)      ? ROLE_WAIT
               : is_one_of(function, softirqs) ? ROLE_SOFTIRQ
               : is_one_of(function, wakes)    ? ROLE_WAKE
                                               : ROLE_NONE;
}

Input role_input(const Function *function) {
        const Alike a = alike_of(function);

        if (*a.prefix)
                return is_word(a.name, a.n_name, input_syscalls) ? INPUT_WAITS : INPUT_NONE;
        for (size_t i = 0; i < ELEMENTSOF(input_suffixes); i++) {
                size_t n = strlen(input_suffixes[i]);

                if (a.n_name > n && memcmp(a.name + a.n_name - n, input_suffixes[i], n) == 0)
                        return INPUT_WAITS;
        }
        return is_one_of(function, inputs)   ? INPUT_WAITS
               : is_one_of(function, passes) ? INPUT_PASSES
                                             : INPUT_NONE;
}

bool role_enters_softirq(const Function *function) {
        return is_one_of(function, own_softirqs);
}

bool role_releases_lock(const Function *function) {
        return is_one_of(function, releases);
}

bool role_passes_wakes_on(const Function *function) {
        static const char *const names[] = { "try_to_wake_up",
                                             "ttwu_",
                                             "default_wake_function",
                                             "autoremove_wake_function",
                                             "woken_wake_function",
                                             "receiver_wake_function",
                                             "__wake_up",
                                             "wake_up_",
                                             "__wake_q",
                                             "pollwake",
                                             "select_task_rq" };

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (startswith(function->label, names[i]))
                        return true;
        return false;
}

const char *role_tells(const Function *function, bool by_waiting) {
        for (size_t i = 0; i < ELEMENTSOF(tells); i++)
                if (is_one_of(function, by_waiting ? tells[i].waits : tells[i].wakes))
                        return tells[i].what;
        return NULL;
}

Alike alike_of(const Function *function) {
        size_t n = bare_length(function);

        for (size_t i = 0; i < ELEMENTSOF(syscall_prefixes); i++) {
                size_t n_prefix = strlen(syscall_prefixes[i]);

                if (n > n_prefix && memcmp(function->label, syscall_prefixes[i], n_prefix) == 0)
                        return (Alike){ "sys_", function->label + n_prefix, n - n_prefix };
        }
        return (Alike){ "", function->label, n };
}

bool alike_equal(const Alike *a, const Alike *b) {
        return a->n_name == b->n_name && streq(a->prefix, b->prefix) &&
               memcmp(a->name, b->name, a->n_name) == 0;
}

uint64_t alike_hash(const Alike *a) {
        return hash_bytes(*a->prefix ? 1 : 0, a->name, a->n_name);
}
