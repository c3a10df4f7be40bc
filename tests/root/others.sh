# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What others than ftraced do to tracefs, by hand or with trace-cmd, each thing in one word.  A story sources
# this file behind functions.sh.

put() { # VALUE FILE...
        local file value=$1

        shift
        for file; do
                echo "$value" >"$tracefs/$file"
        done
}

others_do() { # WORD
        case $1 in
        graph) trace-cmd start -p function_graph -g vfs_write -l vfs_write ;;
        deep) trace-cmd start -p function_graph -g vfs_read -l vfs_read --max-graph-depth 3 ;;
        same) trace-cmd start -p function_graph -g udp_sendmsg -l udp_sendmsg ;;
        function) trace-cmd start -p function -l vfs_write ;;
        reset) trace-cmd reset ;;
        pause) trace-cmd stop ;;
        nop) put nop current_tracer ;;
        on) put function_graph current_tracer ;;
        graph2) put udp_recvmsg set_graph_function ;;
        append) echo udp_recvmsg >>"$tracefs/set_graph_function" ;;
        instance) mkdir "$tracefs/instances/other" && echo vfs_write >"$tracefs/instances/other/set_ftrace_filter" && put function_graph instances/other/current_tracer ;;
        no-instance) put nop instances/other/current_tracer; rmdir "$tracefs/instances/other" ;;
        leftovers)
                put tcp_sendmsg set_graph_function
                put tcp_recvmsg set_graph_notrace
                put 4 max_graph_depth
                put 100 tracing_thresh
                put 0 options/funcgraph-irqs tracing_on
                put 1 set_ftrace_pid
                put udp_recvmsg set_ftrace_filter
                ;;
        clear)
                others_do clear-files
                put 1 tracing_on
                ;;
        clear-files)
                put '' set_graph_function set_graph_notrace set_ftrace_filter set_ftrace_notrace \
                        set_ftrace_pid
                put 0 max_graph_depth tracing_thresh
                put 1 options/funcgraph-irqs options/sleep-time
                put local trace_clock
                ;;
        esac
}
