#!/bin/bash
# Touches: nothing; reads a recording in tests/data, and installs npm packages below its own directory.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spans of --format=otlp are read by the code that OpenTelemetry makes of its published .proto, and the trace
# ids in the columns of --format=parquet are those of the same trees.  It needs the network, so it is no part
# of `make check`; tests/run-all runs it once.
. "$(dirname "$0")/../functions.sh"
requires jq node npm

recording=requests-6.12
export FTRACED_STORE=$top_srcdir/tests/data
# The last release of which the schema's code is a part of its own, with Span.flags.
packages=(@opentelemetry/otlp-transformer@0.214.0 @opentelemetry/api hyparquet hyparquet-compressors)
if ! npm install --no-audit --no-fund --ignore-scripts --prefix "$work/npm" "${packages[@]}" >"$work/npm.log" 2>&1; then
        fail 'the packages are installed'
        show_file "$work/npm.log"
        done_testing
fi

check_otlp() {
        NODE_PATH=$work/npm/node_modules node "$top_srcdir/tests/consumers/check-otlp.js" "$1"
}

exits 'requests are exported as spans' 0 ftracectl export $recording --format=otlp -o "$work/otlp"
exits 'the schema has all of it' 0 check_otlp "$work/otlp"
n_spans=$(jq -s '[.[].resourceSpans[].scopeSpans[].spans[]] | length' "$work/otlp")
n_traces=$(ftracectl report $recording 2>/dev/null | grep -oE 'traceparent=00-[0-9a-f]{32}' | sort -u | wc -l)
is 'a trace for each traceparent that was written' "$(cat "$out")" "1 $n_spans $n_traces"
ok 'there are several' test "$n_traces" -gt 1

# Of a check that cannot fail nobody learns anything.
sed 's/"kind":1/"kind":"INTERNAL"/; s/"startTimeUnixNano":"/&x/' "$work/otlp" >"$work/wrong"
exits 'a time that is no number is refused' 1 check_otlp "$work/wrong"
sed 's/"parentSpanId"/"parentSpan"/' "$work/otlp" >"$work/wrong"
exits 'a member that the schema lacks is refused' 1 check_otlp "$work/wrong"

exits 'a part of them is exported' 0 ftracectl export $recording --root=udp_sendmsg --format=otlp -o "$work/part"
span_ids() {
        jq -r '.resourceSpans[].scopeSpans[].spans[].spanId' "$1" | sort
}
ok 'it is not all of them' test "$(span_ids "$work/part" | wc -l)" -lt "$n_spans"
is 'and the same spans' "$(comm -23 <(span_ids "$work/part") <(span_ids "$work/otlp"))" ''
mkdir "$work/store"
cp -r "$FTRACED_STORE/sessions" "$FTRACED_STORE/symbols" "$work/store/"
other=$work/store/sessions/other
cp -r "$work/store/sessions/$recording" "$other"
jq '.name = "other" | .id = "0123456789abcdef"' "$FTRACED_STORE/sessions/$recording/session.json" >"$other/session.json"
exits 'several recordings are a request each' 0 \
        ftracectl export --store="$work/store" $recording other --format=otlp -o "$work/several"
is 'each with its spans' "$(jq -s length "$work/several") $(span_ids "$work/several" | wc -l)" "2 $((2 * n_spans))"
exits 'a recording without requests is one without spans' 0 \
        ftracectl export udp_sendmsg-6.12 --format=otlp -o "$work/none"
exits 'the schema has it' 0 check_otlp "$work/none"
is 'as a request' "$(cat "$out")" '1 0 0'

# --- columns -------------------------------------------------------------------------------------

ftracectl export $recording --format=parquet -o "$work/calls.parquet" 2>"$err"
cat >"$work/rows.mjs" <<'END'
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const find = createRequire(process.argv[3] + "/");
const load = async (name) => import(pathToFileURL(find.resolve(name)).href);
const { asyncBufferFromFile, parquetReadObjects } = await load("hyparquet");
const { compressors } = await load("hyparquet-compressors");
const file = await asyncBufferFromFile(process.argv[2]);
const rows = await parquetReadObjects({ file, compressors, columns: ["tree", "left", "trace_id"] });
for (const r of rows) console.log(`${r.tree} ${r.left} ${r.trace_id ?? "none"}`);
END
exits 'hyparquet reads the trace ids' 0 node "$work/rows.mjs" "$work/calls.parquet" "$work/npm/node_modules"
cp "$out" "$work/rows"
is 'all rows of a tree have the same' "$(awk '{ print $1, $3 }' "$work/rows" | sort -u | wc -l)" \
        "$(awk '{ print $1 }' "$work/rows" | sort -u | wc -l)"
is 'trees have those of the spans' "$(awk '$2 == 1 && $3 != "none" { print $1, $3 }' "$work/rows" | sort)" \
        "$(jq -r '.resourceSpans[].scopeSpans[].spans[] |
                "\(.attributes[] | select(.key == "ftraced.tree").value.intValue) \(.traceId)"' "$work/otlp" | sort)"
ok 'other trees have none' grep -q ' 1 none$' "$work/rows"
done_testing
