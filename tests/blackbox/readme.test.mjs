// SPDX-License-Identifier: MIT
// The MCP examples of README.md run as written, and their last call answers what is shown.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { server } from './mcp_rig.mjs';

const readme = fs.readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), '../../README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```\n((?:[a-z_]+ \{[^\n]*\}\n)+)\n(.*?)```$/gms)];
const CALL = /^([a-z_]+) (\{.*\})$/;
const RUN = /\br_[a-z2-7]{16}\b/g;
/** What no two runs share is alike. */
const plain = text => text.replace(/\d+ (ms|MB)/g, 'N $1').replace(RUN, 'RUN').trimEnd();

test('the README has three examples', () => assert.equal(blocks.length, 3));

for (const [, calls, shown] of blocks)
    test(`README: ${calls.slice(0, 60)}...`, async t => {
        const client = await server(t);
        let run = '', answer;
        for (const call of calls.trimEnd().split('\n')) {
            const [, tool, args] = call.match(CALL);
            answer = await client.call(tool, JSON.parse(args.replace(RUN, run)));
            assert.equal(answer.isError, false, answer.text);
            [run] = answer.text.match(RUN) ?? [run];
        }
        assert.equal(plain(answer.text), plain(shown));
    });
