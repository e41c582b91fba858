// SPDX-License-Identifier: MIT
// PROC-12, PROC-13, SVC-01: boxes and the life of their host, and of the hosts beside it.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parts, readOn, server } from './mcp_rig.mjs';
import { code, host, isRoot, marked, marker, ownRuntime, processes, until } from './rig.mjs';

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Hosts with a runtime directory of their own: {start, instances, leftovers}. leftovers() are their
 * wrappers and guests above which no host is any more: by the uids they took where we are root,
 * else all new ones of our user. */
async function hosts(t) {
    const { start, instances, made } = ownRuntime(t);
    const isWrapper = ({ args }) => args[0] === 'bwrap' && args.includes('--as-pid-1');
    const isGuest = ({ args }) => args[0]?.startsWith('/proc/self/fd/');
    const unhosted = () => {
        const all = processes(), by = new Map(all.map(process => [process.pid, process]));
        const hasHost = at => at && (at.args[0]?.endsWith('llm-sandbox') || ((isWrapper(at) || isGuest(at)) && hasHost(by.get(at.ppid))));
        return all.filter(process => (isWrapper(process) || isGuest(process)) && !hasHost(process));
    };
    const known = new Set(unhosted().map(({ pid }) => pid)), uids = new Set([process.getuid()]);
    assert.equal((await start(['run', '-l', 'bash', '-c', 'true']).end).code, 0);
    if (isRoot) {
        const watcher = fs.watch(path.join(made, 'uids'), (_, name) => uids.add(Number(name)));
        t.after(() => watcher.close());
    }
    return { start, instances, leftovers: () => unhosted().filter(({ pid, uid }) => uids.has(uid) && !known.has(pid)) };
}

for (const ending of ['SIGKILL', 'SIGTERM'])
    test(`PROC-12 the host gets ${ending} right after its start, 100 times`, async t => {
        const mark = marker();
        const { start, instances, leftovers } = await hosts(t);
        let started = 0;
        const one = async () => {
            const run = start(['run', '-l', 'bash', '-'], { input: `echo up; sleep ${mark}` });
            await pause(randomInt(0, 150));
            run.child.kill(ending);
            const end = await run.end;
            started += end.stdout === 'up\n';
            // Very early it is not yet caught; then it ends us as it ends any program.
            assert.ok(end.signal === ending || (ending === 'SIGTERM' && end.code === 143), `${end.code} ${end.signal} ${end.stderr}`);
        };
        const lane = async () => { for (let i = 0; i < 25; i++) await one(); };
        await Promise.all([lane(), lane(), lane(), lane()]);
        await until('no program of the killed hosts lives', () => marked(mark).length === 0, 5000);
        await until('no box of a dead host lives', () => leftovers().length === 0, 5000);
        t.diagnostic(`${started} of 100 programs had begun`);

        // What they left on disk goes with the next hosts, a few at a time.
        if (ending === 'SIGKILL')
            assert.ok(instances().length > 0, 'nothing was left: were they killed too early?');
        await until('the dead instances are swept', async () => {
            assert.equal((await start(['run', '-l', 'bash', '-c', 'true']).end).code, 0);
            return instances().length === 0;
        }, 40_000);
    });

test('PROC-12 the host is killed while its program runs, starts and is busy writing', async t => {
    const mark = marker();
    const { start, leftovers } = await hosts(t);
    const runs = [`echo up; sleep ${mark}`, `echo up; setsid sleep ${mark} & sleep ${mark}`, `echo up; sleep ${mark} & while :; do echo ${'x'.repeat(1000)}; done`]
        .map(text => start(['run', '-l', 'bash', '-'], { input: text }));
    await until('all of them run', () => marked(mark).length >= 3 && runs.every(run => run.stdout().startsWith('up\n')));
    for (const run of runs)
        run.child.kill('SIGKILL');
    await until('none of them lives', () => marked(mark).length === 0, 5000);
    await until('no box of a dead host lives', () => leftovers().length === 0, 5000);
    for (const run of runs)
        assert.equal((await run.end).signal, 'SIGKILL');
});

describe('PROC-13', { concurrency: 8 }, () => {
    test('PROC-13 parallel runs, short and long: none is ended by a signal nobody sent', async () => {
        const seconds = 3;
        const long = Array.from({ length: 4 }, (_, i) => code('bash', `sleep ${seconds}; echo long ${i}`));
        const lane = async name => {
            for (let i = 0; i < 12; i++) {
                const end = await code('bash', `echo short ${name} ${i}`);
                assert.deepEqual([end.code, end.signal, end.stdout, end.stderr], [0, null, `short ${name} ${i}\n`, '']);
            }
        };
        await Promise.all(['a', 'b', 'c', 'd'].map(lane));
        for (const [i, run] of long.entries()) {
            const end = await run;
            assert.deepEqual([end.code, end.signal, end.stdout, end.stderr], [0, null, `long ${i}\n`, '']);
        }
    });

    test('PROC-13 a long run outlives the workers that served its input', async () => {
        // Input, then silence: libuv's workers are idle while the program goes on.
        const long = host(['run', '-l', 'bash', '--stdin', '-', '-c', 'read a; echo "got $a"; read b || sleep 2; echo end'], { input: 'x\n' });
        const end = await long.end;
        assert.deepEqual([end.code, end.stdout, end.stderr], [0, 'got x\nend\n', '']);
    });
});

/** Where the third host is when it is killed: each is given {start, server, mark, instances}. */
const deaths = {
    'before its first line': ({ start }) => start(['mcp']).child,
    'when its directory is there': async ({ start, instances }) => {
        const before = new Set(instances());
        const { child } = start(['mcp']);
        await until('its directory is there', () => instances().some(name => !before.has(name)));
        return child;
    },
    'before initialize is answered': async ({ begun }) => {
        const third = await begun();
        third.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'third', version: '1' } });
        return third.child;
    },
    'when initialize is answered': async ({ begun }) => {
        const third = await begun();
        await third.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'third', version: '1' } });
        return third.child;
    },
    'while its box opens': async ({ begun, mark }) => {
        const third = await begun();
        third.run(`sleep ${mark}`, { language: 'bash' }).catch(() => {});
        await third.ping(); // the call has been read
        return third.child;
    },
    'during its run': async ({ begun, mark }) => {
        const third = await begun();
        const before = marked(mark).length;
        third.run(`sleep ${mark} & setsid sleep ${mark} & wait`, { language: 'bash' }).catch(() => {});
        await until('it runs', () => marked(mark).length >= before + 2);
        return third.child;
    },
};

test('SVC-01 two hosts lose no run while a third is started and killed 100 times', async t => {
    const { start, instances, leftovers } = await hosts(t);
    const long = marker(), mark = marker();
    const two = await Promise.all([0, 1].map(() => server(t, { start })));
    const kept = await Promise.all(two.map(client => client.run('print("é" * 50000)\nopen("f", "w").write("x" * 50000)')));
    const held = await Promise.all(two.map(client => client.run(`echo up; exec sleep ${long}`, { language: 'bash', wait: 0, timeout: 600 })));
    await until('the long runs run', () => marked(long).length === 2);
    const pids = marked(long).map(({ pid }) => pid).sort(), ours = instances();
    assert.equal(ours.length, 2);

    let over = false;
    const work = async client => {
        let count = 0;
        for (; !over; count++) {
            const { status, stdout, stderr } = parts(await client.run(`print(${count} * 7)`));
            assert.deepEqual([status.split(' | ')[0], stdout, stderr], ['exit 0', `${count * 7}\n`, '']);
        }
        return count;
    };
    const works = two.map(work), kinds = Object.entries(deaths);
    const killed = async () => {
        for (let i = 0; i < 100 && !over; i++) {
            const [where, die] = kinds[i % kinds.length];
            const child = await die({ start, instances, mark, begun: () => server(t, { start, bare: true }) });
            const end = new Promise(resolve => child.once('exit', (...how) => resolve(how)));
            child.kill('SIGKILL');
            assert.deepEqual(await end, [null, 'SIGKILL'], where);
        }
    };
    try {
        await Promise.race([killed(), Promise.all(works)]); // work that fails ends it all
    } finally {
        over = true;
    }
    const counts = await Promise.all(works);
    t.diagnostic(`${counts.join(' and ')} short runs meanwhile`);
    assert.ok(Math.min(...counts) > 10);
    await until('nothing of the killed runs lives', () => marked(mark).length === 0, 5000);
    await until('no box of a dead host lives', () => leftovers().length === 0, 5000);

    // The long runs are the same as before, and what was kept is there.
    assert.deepEqual(marked(long).map(({ pid }) => pid).sort(), pids);
    for (const [i, client] of two.entries()) {
        const job_id = held[i].text.match(/r_[a-z2-7]{16}/)[0], { run_id } = parts(kept[i]);
        assert.equal(parts(await client.call('job', { job_id, action: 'kill' })).stdout, 'up\n');
        assert.equal((await readOn(client, { run_id, path: '@stdout' })).toString(), 'é'.repeat(50000) + '\n');
        assert.equal((await readOn(client, { run_id, path: 'f' })).toString(), 'x'.repeat(50000));
        assert.equal(client.stderr(), '');
    }

    // What the dead left goes with the next hosts, a few at a time; ours stays as long as we live.
    await until('the dead instances are swept', async () => {
        assert.equal((await start(['run', '-l', 'bash', '-c', 'true']).end).code, 0);
        return instances().length === 2;
    }, 40_000);
    assert.deepEqual(instances().sort(), ours.sort());
    for (const client of two) {
        client.close();
        assert.equal((await client.end).code, 0);
    }
    assert.deepEqual(instances(), []);
});
