#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `ftracectl metrics` prints is OpenMetrics, and what it writes is for node_exporter.
. "$(dirname "$0")/../functions.sh"
requires jq python3

bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 2
exits 'without a daemon it fails' 1 ftracectl metrics
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"
value() { # SERIES [FILE]
        awk -v s="$1" '$1 == s { print $2 }' "${2:-$out}"
}

exits 'an idle daemon has metrics' 0 ftracectl metrics
is 'no session records' "$(value 'ftraced_sessions{state="recording"}')" 0
ok 'the store has room' test "$(value ftraced_store_free_bytes)" -gt 0
exits 'a session starts' 0 ftracectl start -n one udp_sendmsg
printf '%08d%4088s' 0 '' >"$work/page"
timeout 100 dd if="$work/page" of="$work/tracefs/per_cpu/cpu0/trace_pipe_raw" bs=4096 conv=notrunc status=none
ok 'a page of it is stored' wait_until 10 eval '(($(sum_of one n_bytes) > 0))'
exits 'it is in the metrics' 0 ftracectl metrics
cp "$out" "$work/one.om"
is 'as one that records' "$(value 'ftraced_sessions{state="recording"}')" 1
is 'with its root' "$(value 'ftraced_session_root_functions{session="one"}')" 1
for counter in events:read_events lost_pages:pages_lost stored_bytes:n_bytes; do
        is "with its ${counter%:*}" "$(value "ftraced_session_${counter%:*}_total{session=\"one\"}")" "$(sum_of one "${counter#*:}")"
done
ok 'the daemon took time for it' awk -v t="$(value 'ftraced_session_cpu_seconds_total{session="one"}')" 'BEGIN { exit !(t > 0) }'
is 'the end is marked' "$(tail -n 1 "$out")" '# EOF'

# --- the formats --------------------------------------------------------------------------------

exits 'a file is written' 0 ftracectl metrics -o "$work/one.prom"
is 'which others may read' "$(stat -c %a "$work/one.prom")" "$(printf %o $((0644 & ~$(umask))))"
is 'and nothing else' "$(find "$work" -name 'one.prom*' | wc -l)" 1
ok 'it has no mark of the newer format' not grep -qE '^# (EOF|UNIT)' "$work/one.prom"
ok 'both have the same series' cmp <(grep -v '^#' "$work/one.om" | cut -d' ' -f1) <(grep -v '^#' "$work/one.prom" | cut -d' ' -f1)
exits 'there is JSON of it' 0 ftracectl metrics --json
cp "$out" "$work/one.json"
ok 'as the schema has it' python3 "$top_srcdir/tests/check-tables.py" "$top_srcdir/cli/tables.schema.json" metrics "$work/one.json"
suffixes='{"gauge":"","counter":"_total","info":"_info"}'
ok 'with the same series' cmp <(grep -v '^#' "$work/one.om" | cut -d' ' -f1) <(jq -r --argjson s "$suffixes" \
        '.[] | . as $f | .samples[] | $f.name + $s[$f.type] + (.labels | to_entries | map("{\(.key)=\"\(.value)\"}") | join(""))' "$work/one.json")
is 'and the same values' "$(jq '.[] | select(.name == "ftraced_session_root_functions") | .samples[0].value' "$work/one.json")" 1
exits 'it is not written to a file' 2 ftracectl metrics --json -o "$work/one.prom"
exits 'a directory that is not there is an error' 1 ftracectl metrics -o "$work/nowhere/one.prom"

cat >"$work/check.py" <<'END'
# Every sample belongs to the family before it, each family has its lines once and in order.
import re, sys
text, openmetrics = sys.stdin.read(), sys.argv[1] == 'openmetrics'
lines = text.split('\n')
assert lines.pop() == ''
if openmetrics:
    assert lines.pop() == '# EOF'
families, name, kind, seen = set(), None, None, set()
suffixes = {'counter': '_total', 'gauge': '', 'info': '_info'}
for line in lines:
    m = re.fullmatch(r'# (HELP|TYPE|UNIT) ([a-z][a-z0-9_]*) (.+)', line)
    if m and m[1] == 'HELP':
        assert m[2] not in families, line
        name, kind = m[2], None
        families.add(name)
        assert m[3].endswith('.'), line
    elif m and m[1] == 'TYPE':
        assert m[2] == name and m[3] in suffixes, line
        kind = m[3]
        if kind == 'counter':
            assert name.endswith('_total') != openmetrics, line
        else:
            assert not name.endswith('_total'), line
    elif m:
        assert m[2] == name and openmetrics and name.endswith('_' + m[3]), line
    else:
        m = re.fullmatch(r'([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\.)*"\})? ([-+0-9.e]+)', line)
        assert m, line
        assert m[1] == name + (suffixes[kind] if openmetrics else ''), line
        assert (m[1], m[2]) not in seen, line
        seen.add((m[1], m[2]))
        float(m[3])
assert len(seen) > 10
END
ok 'what is printed is OpenMetrics' python3 "$work/check.py" openmetrics <"$work/one.om"
ok 'what is written is the older format' python3 "$work/check.py" prometheus <"$work/one.prom"
if python3 -c 'import prometheus_client' 2>/dev/null; then
        ok 'Prometheus'"'"' parser reads OpenMetrics' python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
assert len(list(parse(sys.stdin.read()))) > 10' <"$work/one.om"
        ok 'and the older format' python3 -c '
import sys
from prometheus_client.parser import text_string_to_metric_families as parse
assert len(list(parse(sys.stdin.read()))) > 10' <"$work/one.prom"
else
        skip_one 'Prometheus'"'"' parser reads both' 'python3-prometheus-client is not installed'
fi
if command -v promtool >/dev/null; then
        ok 'promtool has nothing to say' bash -c "promtool check metrics <'$work/one.prom'"
else
        skip_one 'promtool has nothing to say' 'it is not installed'
fi
exits 'the session ends' 0 ftracectl stop one
exits 'and its series with it' 0 ftracectl metrics
ok 'but not its kind' test "$(value 'ftraced_sessions{state="sealed"}')" = 1
ok 'it has no series of its own any more' not grep -q 'session="one"' "$out"
ok 'the daemon ends in peace' stop_ftraced
done_testing
