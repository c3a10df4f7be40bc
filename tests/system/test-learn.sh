#!/bin/bash
# Touches: a fake tracefs and a store, both of its own.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What lean learns from recordings of others: of this kernel, of all that their roots call, and nothing but
# names that this kernel has, whoever says so.
# Only here: what is refused.  That a start is lean afterwards, tests/root/test-lean.sh shows.
. "$(dirname "$0")/../functions.sh"
requires jq python3

data=$top_srcdir/tests/data
release=$(uname -r)
bash "$(dirname "$0")/fake-tracefs.sh" "$work/tracefs" 1
printf '%s\n' __ip_append_data alloc_skb_with_frags ip_send_skb kfree_skb sock_alloc_send_pskb \
        ip_generic_getfrag >>"$work/tracefs/available_filter_functions"
ok 'the daemon starts' start_ftraced --tracefs "$work/tracefs"

# Another host's store, of a kernel like ours or of another one.
mkdir "$work/other"
cp -r "$data"/{sessions,symbols} "$work/other/"
other() { # NAME JQ-FILTER: a recording like the one of 6.12, of this kernel
        cp -r "$data/sessions/udp_sendmsg-6.12" "$work/other/sessions/$1"
        jq --arg name "$1" --arg kernel "$release" ".name = \$name | .kernel = \$kernel | $2" \
                "$data/sessions/udp_sendmsg-6.12/session.json" >"$work/other/sessions/$1/session.json"
}
learn() { # [WORD...]
        ftracectl learn --store "$work/other" "$@"
}
known() {
        cat "$store"/lean/* 2>/dev/null
}

# --- a recording of another store ----------------------------------------------------------------

exits 'one of another kernel teaches nothing' 7 learn udp_sendmsg-6.1
one_sentence 'as one sentence says'
says 'which names both' "6\.1\.0-56-amd64.*${release//./\\.}"
exits 'also by force' 7 learn --force udp_sendmsg-6.1
ok 'and nothing is known' not known
other ours .
exits 'one of this kernel does' 0 learn ours
says 'and what and from what is printed' '^udp_sendmsg: [0-9]+ functions from [0-9]+ calls of ours$' "$out"
says 'functions that are not here are left out' 'functions are not here'
says 'how many calls it takes is said' 'from 100 calls on'
known >"$work/known"
ok 'the root is known' grep -qx udp_sendmsg "$work/known"
ok 'what it calls, and who calls that' grep -qA1 -x ip_make_skb "$work/known"
is 'and who calls that' "$(grep -A1 -x ip_make_skb "$work/known" | tail -n 1)" ' udp_sendmsg'
ok 'but not what there is not' not grep -q '^nf_hook_slow' "$work/known"
calls=$(sed -n 's/^calls //p' "$work/known")
exits 'JSON has it, too' 0 learn --json=short ours
conforms 'as a list' '[]Learned'
is 'of what was learned' "$(jq -c '.[0] | [.source, .roots, .missing, .lacks_ordinary, .suffices]' "$out")" \
        '["ours",["udp_sendmsg"],[],false,false]'
is 'calls add up' "$(sed -n 's/^calls //p' <(known))" $((2 * calls))
exits 'two are learned from, and one that is not there is told' 3 learn ours nobody ours
is 'whatever stands behind it' "$(wc -l <"$out")" 2
exits 'a session of the daemon is looked for there' 3 ftracectl learn ours
exits 'what nobody called cannot be learned' 3 learn --root=tcp_sendmsg ours

# --- what teaches less ---------------------------------------------------------------------------

while read -r name filter says; do
        other "$name" "$filter"
        exits "$name: refused" 7 learn "$name"
        one_sentence "$name: in one sentence"
        says "$name: which says why" "$says"
done <<'END'
deep .spec.depth=3 only.some.levels
notrace .spec.notrace=["kfree"] left.out.*--notrace
slower .spec.slower_ns=5000 --slower
quiet .spec.no_irqs=true --no-irqs
flat .spec.flat=true --flat
only .spec.hooked=["ip_make_skb"] --only
END
other ordinary '.n_ordinary=1780|.spec.lean="auto"'
exits 'one without what ordinary work calls' 0 learn --json=short ordinary
is 'is marked' "$(jq -c '.[0].lacks_ordinary' "$out")" true
says 'and said' '--lean=full learns it first'
other narrow '.n_hooked=20|.spec.lean="auto"|.left_out=["kfree_skb"]|.left_out_in=["ip_send_skb udp_sendmsg"]'
rm "$store"/lean/*
exits 'one that was lean' 0 learn narrow
ok 'teaches what it left out' grep -qx kfree_skb <(known)
is 'and in what' "$(grep -A2 -x kfree_skb <(known) | tail -n 2 | paste -sd,)" ' ip_send_skb, udp_sendmsg'
ok 'and that there is more' grep -qx 'ordinary no' <(known)

# --- files ---------------------------------------------------------------------------------------

rm "$store"/lean/*
exits 'a trace.dat is of a kernel, too' 7 ftracectl learn "$data/udp_sendmsg-6.12.dat"
says 'which is not this one' 'recorded under kernel 6\.12\.117\+deb12-amd64'
text=$data/udp_sendmsg-6.12.trace
exits 'a text does not say of which kernel it is' 7 ftracectl learn "$text"
says 'which is said' 'not known under which kernel.*--force'
ok 'and nothing is known' not known
exits 'by force it is learned from' 0 ftracectl learn --force "$text"
says 'its outermost function is the root' '^udp_sendmsg: ' "$out"
known >"$work/of-text"
exits 'standard input is a text' 0 sh -c 'exec "$@" <"$0"' "$text" "$(realpath "$top_builddir")/ftracectl" learn --force -
exits 'another root is named' 0 ftracectl learn --force --root=ip_make_skb "$text"
says 'and is what is learned' '^ip_make_skb: ' "$out"
rm "$store"/lean/*
exits 'the recording of it' 0 learn ours
is 'tells the same names' "$(grep -v '^ \|^learned \|^calls ' <(known))" "$(grep -v '^ \|^learned \|^calls ' "$work/of-text")"

# --- who tells lies ------------------------------------------------------------------------------

rm "$store"/lean/*
cat >"$work/liar.py" <<'END'
import json, socket, sys
def learn(**p):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    p = {"roots": ["udp_sendmsg"], "functions": ["ip_make_skb udp_sendmsg"], "calls": 1000, "kernel": sys.argv[2], **p}
    p = {k: v for k, v in p.items() if v is not None}
    try:
        s.sendall(json.dumps({"method": "org.ftraced.Learn", "parameters": p}).encode() + b"\0")
        data = b""
        while not data.endswith(b"\0"):
            more = s.recv(65536)
            if not more:
                return "closed"
            data += more
    except (BrokenPipeError, ConnectionResetError):
        return "closed"
    a = json.loads(data[:-1])
    return a.get("error", "learned").split(".")[-1]
# A call of more values than any may have is not read to its end.
many = [f"function_{i}" for i in range(100000)]
for what, wanted, p in (
    ("a control character", "InvalidParameter", {"functions": ["ip_make\x1bskb"]}),
    ("a line", "InvalidParameter", {"functions": ["ip_make_skb\nudp_sendmsg 0"]}),
    ("a glob", "InvalidParameter", {"functions": ["*"]}),
    ("a path", "InvalidParameter", {"functions": ["../../etc/passwd"]}),
    ("an empty name", "InvalidParameter", {"functions": [""]}),
    ("a number", "InvalidParameter", {"functions": [7]}),
    ("a caller that is none", "InvalidParameter", {"functions": ["ip_make_skb a\x07b"]}),
    ("very many callers", "InvalidParameter", {"functions": ["ip_make_skb" + " kfree" * 5]}),
    ("a very long name", "InvalidParameter", {"functions": ["a" * 256]}),
    ("no list", "InvalidParameter", {"functions": "ip_make_skb"}),
    ("no functions", "InvalidParameter", {"functions": None}),
    ("no roots", "InvalidParameter", {"roots": []}),
    ("a root that is none", "InvalidParameter", {"roots": ["udp sendmsg"]}),
    ("a root that is not there", "FunctionNotFound", {"roots": ["udp_sendmesg"]}),
    ("no calls", "InvalidParameter", {"calls": 0}),
    ("fewer than no calls", "InvalidParameter", {"calls": -1}),
    ("more functions than lean hooks", "InvalidParameter", {"functions": many[:16385]}),
    ("100,000 functions", "closed", {"functions": many}),
    ("100,000 roots", "closed", {"roots": many}),
    ("another kernel", "OtherKernel", {"kernel": "6.1.0-42-amd64"}),
    ("another kernel by force", "OtherKernel", {"kernel": "6.1.0-42-amd64", "force": True}),
    ("a kernel with control characters", "OtherKernel", {"kernel": "\x1b[2J\n"}),
    ("no kernel", "OtherKernel", {"kernel": None}),
    ("force that is none", "InvalidParameter", {"force": "yes"}),
    ("a parameter that there is not", "InvalidParameter", {"weights": []}),
    ("functions that are not here", "learned", {"functions": many[:16384]}),
):
    got = learn(**p)
    print("ok" if got == wanted else f"not ok {got}", what, sep=": ")
END
python3 "$work/liar.py" "$FTRACED_SOCKET" "$release" >"$out" 2>"$err"
is 'all lies were told' "$(grep -c . "$out")" 26
show_file "$err"
while IFS= read -r line; do
        ok "${line#*: }" test "${line%%:*}" = ok || note "$line"
done <"$out"
is 'of all that only the root was believed' "$(grep -v '^ftraced lean\|^kernel \|^roots \|^learned \|^calls ' <(known))" udp_sendmsg

# --- who may -------------------------------------------------------------------------------------

if [[ $(id -u) == 0 ]]; then
        chmod 711 "$work"
        chgrp 64999 "$FTRACED_SOCKET"
        chmod 660 "$FTRACED_SOCKET"
        cp "$text" "$work/text"
        exits 'a member may not' 4 setpriv --reuid=64998 --regid=64998 --groups=64999 "$top_builddir/ftracectl" learn \
                --force "$work/text"
        says 'and is told so' 'root'
else
        skip_one 'a member may not' 'needs root, to be somebody else'
fi
ok 'the daemon ends in peace' stop_ftraced
exits 'without a daemon nobody learns' 1 ftracectl learn --force "$text"
done_testing
