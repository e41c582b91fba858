// SPDX-License-Identifier: MIT
// What calls leave behind in a server: nothing but the results it says it keeps (in memory).
// tests/bench/mcp.mjs does the same with a thousand calls, and looks at the memory too.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { ownRuntime, processes, until } from './rig.mjs';
import { parts, server } from './mcp_rig.mjs';

test('50 calls leave no descriptor, no process and no file', async t => {
    const { start, made } = ownRuntime(t);
    const client = await server(t, { start });
    const { pid } = client.child;
    const children = () => processes().filter(({ ppid }) => ppid === pid).length;
    const holds = () => ({
        descriptors: fs.readdirSync(`/proc/${pid}/fd`).length,
        children: children(),
        files: fs.readdirSync(made, { recursive: true }).length,
    });
    let id = 0;
    const kinds = [
        async n => assert.equal(parts(await client.run(`print(${n})`)).stdout, `${n}\n`),
        async n => {
            const { run_id } = parts(await client.run(`open("a", "w").write("${n}")`, { files: [{ path: 'b', text: 'x' }], stdin: 'y' }));
            assert.equal((await client.call('read_file', { run_id, path: 'a' })).texts[0], `${n}`);
        },
        async () => assert.match((await client.run('while True: pass', { timeout: 0.2 })).text, /^timeout/),
        async () => {
            const [, job_id] = (await client.run('while True: pass', { wait: 0 })).text.match(/job_id=(r_\w+)/);
            assert.equal((await client.call('job', { job_id, action: 'kill' })).isError, false);
        },
        async () => { // cancelled: never answered
            client.send({ id: ++id, method: 'tools/call', params: { name: 'execute_code', arguments: { code: 'while True: pass' } } });
            client.notify('notifications/cancelled', { requestId: id });
            await client.ping();
        },
    ];
    const round = () => Promise.all(kinds.map((kind, n) => kind(n)));
    const settled = () => until('no box is left', () => children() === 0);

    await round(); // whatever is opened once is open now
    await round();
    await settled();
    const before = await until('the boxes\' descriptors are closed', () => {
        const now = holds();
        return now.descriptors <= 20 && now;
    });
    for (let i = 0; i < 10; i++)
        await round();
    await settled();
    let after;
    await until('no more than before', () => {
        after = holds();
        return Object.keys(before).every(name => after[name] <= before[name]);
    }).catch(() => assert.deepEqual(after, before));
    t.diagnostic(JSON.stringify(after));
});
