// SPDX-License-Identifier: GPL-2.0-or-later
//
// usage: NODE_PATH=.../node_modules node check-otlp.js FILE
//
// Reads a file of --format=otlp as a receiver does, by the code that is made of the published .proto
// (npm @opentelemetry/otlp-transformer): every member must be known to the schema and of its type, and all
// of it must come through the binary protocol and back.  Prints "REQUESTS SPANS TRACES".
"use strict";
const fs = require("fs");
const path = require("path");
const assert = require("assert");

const at = require.resolve("@opentelemetry/otlp-transformer");
const root = require(path.join(path.dirname(at), "generated", "root.js"));
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

// JSON of OTLP has ids in hexadecimal, where other messages of Protocol Buffers have base64.
function idsToBytes(value, key) {
    if (Array.isArray(value)) return value.map((v) => idsToBytes(v));
    if (value !== null && typeof value === "object")
        return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, idsToBytes(v, k)]));
    if (["traceId", "spanId", "parentSpanId"].includes(key)) {
        assert(new RegExp(`^[0-9a-f]{${key === "traceId" ? 32 : 16}}$`).test(value), `${key}: ${value}`);
        assert(!/^0*$/.test(value), `${key} is zero`);
        return Buffer.from(value, "hex");
    }
    return value;
}

function bytesToIds(value, key) {
    if (Buffer.isBuffer(value) || value instanceof Uint8Array) return Buffer.from(value).toString("hex");
    if (Array.isArray(value)) return value.map((v) => bytesToIds(v));
    if (value !== null && typeof value === "object")
        return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, bytesToIds(v, k)]));
    return value;
}

// What is 0 need not be there.
function withoutZeroes(value) {
    if (Array.isArray(value)) return value.map(withoutZeroes);
    if (value !== null && typeof value === "object")
        return Object.fromEntries(
            Object.entries(value)
                .filter(([k, v]) => !(k === "flags" && v === 0))
                .map(([k, v]) => [k, withoutZeroes(v)]));
    return value;
}

let requests = 0;
let spans = 0;
const traces = new Set();
const ids = new Set();
for (const line of fs.readFileSync(process.argv[2], "utf8").split("\n").slice(0, -1)) {
    const json = JSON.parse(line);
    const message = Request.fromObject(idsToBytes(json));
    assert.strictEqual(Request.verify(message), null);
    const back = Request.toObject(Request.decode(Request.encode(message).finish()), {
        longs: String, bytes: Buffer,
    });
    // A member that the schema does not know, or of another type, would be missing or different here.
    // Releases before 0.200 of the schema have no Span.flags.
    const known = "flags" in root.opentelemetry.proto.trace.v1.Span.prototype;
    const strip = (v) => JSON.parse(JSON.stringify(v, (k, x) => (k === "flags" && !known ? undefined : x)));
    assert.deepStrictEqual(withoutZeroes(bytesToIds(back)), withoutZeroes(strip(json)).resourceSpans.length
        ? withoutZeroes(strip(json)) : {});
    requests++;
    for (const r of json.resourceSpans) {
        const names = r.resource.attributes.map((a) => a.key);
        assert(names.includes("service.name"));
        for (const span of r.scopeSpans.flatMap((s) => s.spans)) {
            assert(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
            assert(!ids.has(span.spanId), `${span.spanId} twice`);
            ids.add(span.spanId);
            traces.add(span.traceId);
            spans++;
        }
    }
}
console.log(requests, spans, traces.size);
