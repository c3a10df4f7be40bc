# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two ClickHouse servers on loopback that are the shards of the cluster "ftraced", in $work; whoever sources this has
# that, and stops them.  server_pids; ask_server() asks the first one.
server_pids=() server_ports=()

free_ports() { # N
        python3 -c 'import socket, sys
s = [socket.socket() for _ in range(int(sys.argv[1]))]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))' "$1"
}

ask_server() { # OPTION...
        clickhouse-client --host 127.0.0.1 --port "${server_ports[0]}" --enable_optimize_predicate_expression=1 "$@"
}

answers() { # PORT
        clickhouse-client --host 127.0.0.1 --port "$1" -q 'SELECT 1'
}

write_config() { # DIR TCP HTTP INTERSERVER
        mkdir -p "$1"/{data,tmp}
        cat >"$1/config.xml" <<-END
		<yandex>
		  <logger><level>warning</level><log>$1/log</log><errorlog>$1/errors</errorlog></logger>
		  <listen_host>127.0.0.1</listen_host>
		  <tcp_port>$2</tcp_port><http_port>$3</http_port><interserver_http_port>$4</interserver_http_port>
		  <path>$1/data/</path><tmp_path>$1/tmp/</tmp_path>
		  <users_config>users.xml</users_config>
		  <default_profile>default</default_profile><default_database>default</default_database>
		  <mark_cache_size>268435456</mark_cache_size>
		  <remote_servers><ftraced>
		    <shard><replica><host>127.0.0.1</host><port>${server_ports[0]}</port></replica></shard>
		    <shard><replica><host>127.0.0.1</host><port>${server_ports[1]}</port></replica></shard>
		  </ftraced></remote_servers>
		</yandex>
	END
        cat >"$1/users.xml" <<-END
		<yandex>
		  <profiles><default></default></profiles>
		  <users><default>
		    <password></password><networks><ip>127.0.0.1</ip></networks>
		    <profile>default</profile><quota>default</quota>
		  </default></users>
		  <quotas><default></default></quotas>
		</yandex>
	END
}

# With the tables and views in them.
start_servers() {
        local i tries ports=()

        read -ra ports < <(free_ports 6)
        server_ports=("${ports[@]:0:2}")
        for i in 0 1; do
                write_config "$work/server$i" "${ports[i]}" "${ports[i + 2]}" "${ports[i + 4]}"
                (cd "$work/server$i" && exec clickhouse-server --config-file=config.xml) \
                        >"$work/server$i.said" 2>&1 </dev/null &
                server_pids+=($!)
        done
        for i in 0 1; do
                for ((tries = 0; tries < 100; tries++)); do
                        ! answers "${ports[i]}" >/dev/null 2>&1 || break
                        sleep 0.3
                done
                clickhouse-client --host 127.0.0.1 --port "${ports[i]}" --multiquery \
                        --allow_experimental_low_cardinality_type=1 \
                        <"$top_srcdir/lib/export/calls.clickhouse.sql" || return 1
        done
}

stop_servers() {
        [[ ${#server_pids[@]} == 0 ]] || kill "${server_pids[@]}" 2>/dev/null
        wait "${server_pids[@]}" 2>/dev/null
        server_pids=()
}
