// SPDX-License-Identifier: MIT
// PROC-13 for the MCP server: runs beside runs. Hosts beside hosts: host_death.test.mjs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parts, server } from './mcp_rig.mjs';

test('PROC-13 long and short runs in one server: none is ended by a signal nobody sent', async t => {
    const client = await server(t);
    const long = [0, 1].map(n => client.run(`sleep 3; echo long ${n}`, { language: 'bash' }));
    const lane = async n => {
        for (let i = 0; i < 25; i++)
            assert.equal(parts(await client.run(`echo ${n} ${i}`, { language: 'bash' })).stdout, `${n} ${i}\n`);
    };
    await Promise.all([lane(0), lane(1)]);
    for (const [n, answer] of long.entries()) // alone by now, and nothing was asked for a while
        assert.equal(parts(await answer).stdout, `long ${n}\n`);
});
