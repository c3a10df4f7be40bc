// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a current ClickHouse answers, in this process: each statement of standard input, ended by ";" at the end of a
// line, and the rows of each SELECT as TSV.
//      node ask-chdb.mjs DIR-WITH-NODE_MODULES DIR-OF-DATA
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [dir, data] = process.argv.slice(2);
const { Session } = createRequire(`${dir}/package.json`)('chdb');
const session = new Session(data);

const text = readFileSync(0, 'utf8').replace(/--.*$/gm, '');
for (const statement of text.split(/;\s*$/m)) {
        if (!statement.trim())
                continue;
        const answer = session.query(statement, 'TSV');
        if (/^\s*SELECT/.test(statement))
                process.stdout.write(answer);
}
