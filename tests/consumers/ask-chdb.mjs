// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a current ClickHouse answers, in this process: each statement of standard input, ended by ";" at the end of a
// line, and the rows of each SELECT as TSV.  With --time only how long each of these took, in seconds.
//      node ask-chdb.mjs DIR-WITH-NODE_MODULES DIR-OF-DATA [--time]
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [dir, data, option] = process.argv.slice(2);
const { Session } = createRequire(`${dir}/package.json`)('chdb');
const session = new Session(data);

const text = readFileSync(0, 'utf8').replace(/--.*$/gm, '');
for (const statement of text.split(/;\s*$/m)) {
        if (!statement.trim())
                continue;
        const begin = performance.now();
        const answer = session.query(statement, 'TSV');
        if (/^\s*SELECT/.test(statement))
                process.stdout.write(option === '--time' ? `${((performance.now() - begin) / 1000).toFixed(2)}\n` : answer);
}
