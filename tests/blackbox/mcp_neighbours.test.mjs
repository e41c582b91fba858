// SPDX-License-Identifier: MIT
// PROC-12, PROC-13 for the MCP server: hosts beside hosts that are killed. No run is lost, none
// lives on.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { marked, marker, nothingLeft, ownRuntime, until } from './rig.mjs';
import { parts, server } from './mcp_rig.mjs';

const KILLS = 100;
const LATEST_MS = 100; // a start, a box and its program take about a third of it

test(`PROC-12 two hosts lose no run while a third is started and killed ${KILLS} times`, async t => {
    const { start, instances } = ownRuntime(t);
    const sleeper = marker(), mark = marker();
    const two = [await server(t, { start }), await server(t, { start })];
    // These two last as long as all that follows, and no signal ends them.
    const lasting = await Promise.all(two.map(async host =>
        (await host.run(`import subprocess\nsubprocess.run(["sleep", "${sleeper}"])`, { wait: 0, timeout: 300 })).text.match(/job_id=(r_\w+)/)[1]));
    await until('both run', () => marked(sleeper).length >= 2);

    let over = false, short = 0;
    const lanes = Promise.all(two.map(async (host, n) => {
        for (let i = 0; !over; i++, short++)
            assert.equal(parts(await host.run(`echo ${n} ${i}`, { language: 'bash' })).stdout, `${n} ${i}\n`);
    }));
    lanes.catch(() => {}); // seen below
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'execute_code', arguments: { language: 'bash', code: `sleep ${mark}`, timeout: 300 } } };
    let ran = 0;
    for (let i = 0; i < KILLS; i++) {
        const third = start(['mcp'], { slow: true });
        third.child.stdin.write(`${JSON.stringify(call)}\n`);
        await new Promise(resolve => setTimeout(resolve, randomInt(0, LATEST_MS)));
        ran += marked(mark).length > 0;
        third.child.kill('SIGKILL');
        assert.deepEqual(await third.exit, [null, 'SIGKILL'], third.stderr());
    }
    over = true;
    await lanes;
    await nothingLeft(mark);
    t.diagnostic(`${ran} of the ${KILLS} had begun their program; ${short} short runs beside them`);
    assert.ok(short >= 20, `${short} runs`);

    for (const [n, host] of two.entries()) {
        assert.match((await host.call('job', { job_id: lasting[n], wait: 0 })).text, /^running/);
        assert.equal((await host.call('job', { job_id: lasting[n], action: 'kill' })).isError, false);
        host.close();
        assert.equal((await host.end).code, 0);
    }
    await nothingLeft(sleeper);
    // What the killed left on disk goes with the next hosts, a few at a time.
    await until('the dead instances are swept', async () => {
        assert.equal((await start(['run', '-l', 'bash', '-c', 'true']).end).code, 0);
        return instances().length === 0;
    }, 40_000);
});

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
