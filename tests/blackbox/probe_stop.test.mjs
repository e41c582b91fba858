// SPDX-License-Identifier: MIT
// CLI-03: an interrupt while a backend is probed, which may hang.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { ownRuntime, processes, until } from './rig.mjs';

const below = (pid, all) => all.filter(({ ppid }) => ppid === pid).flatMap(at => [at, ...below(at.pid, all)]);

/** Stops it; false when it ended just now. */
function stops(pid) {
    try {
        process.kill(pid, 'SIGSTOP');
        return / [Tt] /.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/.*\)/s, ''));
    } catch {
        return false;
    }
}

describe('CLI-03 an interrupt during a probe that hangs', { concurrency: true }, () => {
    for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]])
        test(signal, async t => {
            const { start, instances } = ownRuntime(t);
            // It always measures anew, but only for a moment: the next one is caught, if not this.
            const { run, box } = await until('a box of a probe that stands still', async () => {
                const run = start(['doctor']);
                let over = false;
                run.end.then(() => { over = true; });
                while (!over) {
                    const box = below(run.child.pid, processes());
                    const guest = box.find(({ args }) => args[0]?.startsWith('/proc/self/fd/'));
                    if (guest && box.map(({ pid }) => stops(pid))[box.indexOf(guest)])
                        return { run, box };
                    await new Promise(setImmediate);
                }
            });
            const began = Date.now();
            run.child.kill(signal);
            const end = await run.end;
            assert.equal(end.code, status, end.stderr);
            assert.ok(Date.now() - began < 2000, `after ${Date.now() - began} ms`); // 15 s, if it waited
            await until('its box is gone', () => !processes().some(({ pid }) => box.some(at => at.pid === pid)));
            assert.deepEqual(instances(), []);
        });
});
