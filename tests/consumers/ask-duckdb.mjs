// SPDX-License-Identifier: GPL-2.0-or-later
//
// What DuckDB answers: each statement of standard input, ended by ";" at the end of a line, and the rows of each that
// has any, as ClickHouse's TSV prints them; "\N": there is no value.  With --time only how long each took, in seconds.
//      node ask-duckdb.mjs DIR-WITH-NODE_MODULES [--time]
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [dir, option] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(`${dir}/package.json`)('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();

const escapes = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', "'": "\\'" };
function field(value) {
        if (value === null)
                return '\\N';
        if (typeof value === 'boolean')
                return value ? '1' : '0';
        return String(value).replace(/[\\\t\n']/g, c => escapes[c]);
}

const text = readFileSync(0, 'utf8').replace(/--.*$/gm, '');
for (const statement of text.split(/;\s*$/m)) {
        if (!statement.trim())
                continue;
        const begin = performance.now();
        const rows = (await (await connection.run(statement)).getRows());
        if (option !== '--time')
                for (const row of rows)
                        console.log(row.map(field).join('\t'));
        else if (/^\s*SELECT/.test(statement))
                console.log(((performance.now() - begin) / 1000).toFixed(2));
}
