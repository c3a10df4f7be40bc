#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: fake-tracefs.sh DIR [CPUS]
#
# Makes DIR a directory that behaves enough like the tracefs of Linux 6.1 (function_graph in the
# top-level buffer only) for a daemon to record from: plain files for the controls, FIFOs for
# trace_pipe_raw.  What a real tracefs refuses, this one takes: refusals are tested on real kernels.
set -euo pipefail

dir=$1 cpus=${2:-1}
mkdir -p "$dir"/{instances,options,events/ftrace/funcgraph_entry,events/ftrace/funcgraph_exit,events/task/task_rename,per_cpu}

put() { # FILE TEXT
        printf '%s\n' "$2" >"$dir/$1"
}

put available_tracers "function_graph function nop"
put current_tracer nop
put tracing_on 1
put trace_clock "[local] global counter uptime perf mono mono_raw boot tai x86-tsc"
put buffer_size_kb 1408
put buffer_percent 50
put tracing_cpumask "$(printf '%x' $(((1 << cpus) - 1)))"
put set_graph_function "#### all functions enabled ####"
put set_graph_notrace "#### no functions disabled ####"
put set_ftrace_filter "#### all functions enabled ####"
put set_ftrace_notrace "#### no functions disabled ####"
put set_ftrace_pid "no pid"
put set_ftrace_notrace_pid "no pid"
put max_graph_depth 0
put tracing_thresh 0
put trace_options "print-parent"
: >"$dir/saved_cmdlines"
: >"$dir/printk_formats"
: >"$dir/error_log"
: >"$dir/trace"
for o in overwrite sleep-time funcgraph-irqs record-cmd; do put "options/$o" 1; done
put options/function-fork 0
printf '%s\n' udp_sendmsg udp_recvmsg udpv6_sendmsg udp_cmsg_send 'nf_conntrack_in [nf_conntrack]' \
        tcp_sendmsg ip_make_skb >"$dir/available_filter_functions"

printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
' >"$dir/events/header_page"
printf '# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
' >"$dir/events/header_event"

common='	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
'
printf 'name: funcgraph_entry\nID: 11\nformat:\n%s\n\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;
\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;

print fmt: "--> %%ps (%%d)", (void *)REC->func, REC->depth
' "$common" >"$dir/events/ftrace/funcgraph_entry/format"
printf 'name: funcgraph_exit\nID: 10\nformat:\n%s\n\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;
\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;
\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;
\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;
\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;

print fmt: "<-- %%ps (%%d) (start: %%llx  end: %%llx) over: %%d", (void *)REC->func, REC->depth, REC->calltime, REC->rettime, REC->depth
' "$common" >"$dir/events/ftrace/funcgraph_exit/format"

for ((cpu = 0; cpu < cpus; cpu++)); do
        mkdir -p "$dir/per_cpu/cpu$cpu"
        mkfifo "$dir/per_cpu/cpu$cpu/trace_pipe_raw"
        put "per_cpu/cpu$cpu/buffer_size_kb" 1408
        printf '%s\n' 'entries: 0' 'overrun: 0' 'commit overrun: 0' 'bytes: 0' 'oldest event ts:     0.000000' \
                'now ts:     1.000000' 'dropped events: 0' 'read events: 0' >"$dir/per_cpu/cpu$cpu/stats"
done
