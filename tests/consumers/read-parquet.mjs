// SPDX-License-Identifier: GPL-2.0-or-later
// read-parquet.mjs QUESTION READER FILE: what a program that is not ours reads in a file of calls.
//
//     rows     each row as ndjson has it, a line each
//     nested   fails if any call is not within its caller as left, right, parent and depth say
//     self     "FUNCTION SUM-OF-SELF"
//     weights  recording and weight, each pair once, sorted
//     waits    how many there are, and how long they took

const [question, reader, file] = process.argv.slice(2);
const members = ["recording", "host", "start_ns", "duration_ns", "self_ns", "blocked_ns", "irq_ns", "cpu", "pid",
    "task", "function", "module", "root", "cut", "retval"];
const places = ["recording", "tree", "left", "right", "parent", "depth", "start_ns", "self_ns", "duration_ns"];

async function duckdb(columns) {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const names = columns.map(c => `"${c}"`).join(", ");
    const result = await connection.runAndReadAll(`select ${names} from read_parquet('${file}')`);
    return result.getRows();
}

async function hyparquet(columns) {
    const { asyncBufferFromFile, parquetRead } = await import("hyparquet");
    const { compressors } = await import("hyparquet-compressors");
    const buffer = await asyncBufferFromFile(file);
    let rows = [];
    await parquetRead({ file: buffer, compressors, columns, utf8: true, onComplete: all => { rows = all; } });
    return rows;
}

async function chdb(columns) {
    const { query } = await import("chdb");
    const names = columns.map(c => "`" + c + "`").join(", ");
    const text = query(`select ${names} from file('${file}', Parquet) settings input_format_parquet_preserve_order = 1`,
        "JSONCompactEachRow");
    return text.split("\n").filter(line => line).map(line =>
        JSON.parse(line.replace(/(?<=[[,])(-?\d{16,})(?=[,\]])/g, '"$1"')));
}

const read = { duckdb, hyparquet, chdb }[reader];

// As jq -c prints it, with DEL as a number.
function print(value) {
    if (value === undefined || value === null)
        return "null";
    return typeof value === "string" ? JSON.stringify(value).replaceAll("\x7f", "\\u007f") : String(value);
}
const numbers = new Set(["start_ns", "duration_ns", "self_ns", "blocked_ns", "irq_ns", "cpu", "pid", "retval"]);

if (question === "rows") {
    const lines = [];
    for (const row of await read(members))
        lines.push("{" + members.map((m, i) => {
            const value = row[i];
            return `"${m}":` + (numbers.has(m) && value !== null && value !== undefined ? String(value) : print(value));
        }).join(",") + "}");
    process.stdout.write(lines.map(l => l + "\n").join(""));
} else if (question === "nested") {
    const open = [];
    let tree = null, left = 0n;
    for (const row of await read(places)) {
        const [recording, t, l, r, p, d] = [row[0], ...row.slice(1, 6).map(v => v === null || v === undefined ? null : BigInt(v))];
        const key = `${recording} ${t}`;
        if (key !== tree) {
            tree = key;
            left = 0n;
            open.length = 0;
        }
        const wrong = why => { console.error(`${key} ${l}: ${why}`); process.exit(1); };
        if (l !== ++left)
            wrong(`left is not ${left}`);
        while (open.length && open[open.length - 1].r < l)
            open.pop();
        const caller = open[open.length - 1];
        if ((caller ? caller.l : null) !== p)
            wrong(`parent is ${p}`);
        if (d !== BigInt(open.length + 1))
            wrong(`depth is ${d}`);
        if (r < l || (caller && r > caller.r))
            wrong(`right is ${r}`);
        open.push({ l, r });
    }
} else if (question === "self") {
    const sums = new Map();
    for (const [name, self] of await read(["function", "self_ns"]))
        sums.set(name, (sums.get(name) ?? 0n) + BigInt(self));
    for (const [name, sum] of sums)
        console.log(`${name} ${sum}`);
} else if (question === "weights") {
    const pairs = new Set();
    for (const [recording, weight] of await read(["recording", "weight"]))
        pairs.add(`${recording} ${weight}`);
    for (const pair of [...pairs].sort())
        console.log(pair);
} else if (question === "waits") {
    let n = 0, sum = 0n;
    for (const [begin, end] of await read(["start_ns", "back_ns"])) {
        n++;
        sum += BigInt(end) - BigInt(begin);
    }
    console.log(`${n}\t${sum}`);
}
