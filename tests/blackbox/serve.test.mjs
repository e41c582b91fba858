// SPDX-License-Identifier: MIT
// SVC-01, SVC-02 and what else a client of the running service meets: `serve`, and `mcp` that joins it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { begin, binary, complained, file, folder, inMounts, isRoot, marked, marker, nothingLeft, ownRuntime, PYTHON, until } from './rig.mjs';
import { parts, server } from './mcp_rig.mjs';

const together = { concurrency: 4 };
const PATIENCE_MS = 5000; // SB_BRIDGE_PATIENCE_MS
const LINE_MAX = 16 * 1024 * 1024;
const PEER_CLIENTS = 32;
const sleeper = mark => `import subprocess\nsubprocess.Popen(["sleep", "${mark}"])\nprint("here", flush=True)\nimport time\ntime.sleep(600)`;

/** A runtime directory and what can be started in it: {start, instances, made, socket}. */
function place(t) {
    const own = ownRuntime(t);
    return { ...own, socket: path.join(own.made, isRoot ? '' : 'llm-sandbox', 'llm-sandbox.sock') };
}

/** A service that takes clients: as begin of rig.mjs; `stop` ends it and waits. */
async function serve(t, start, args = ['serve'], options = {}) {
    const service = start(args, options);
    service.stop = signal => {
        service.child.kill(signal);
        return service.exit;
    };
    t.after(() => service.stop('SIGKILL'));
    await until('it serves', () => {
        assert.equal(service.child.exitCode, null, service.stderr());
        return service.stderr().includes('serving at ');
    });
    return service;
}

/** A service and one client that has joined it. */
async function joined(t, options = {}) {
    const at = place(t);
    const service = await serve(t, at.start);
    const client = await server(t, { start: at.start, ...options });
    return { ...at, service, client };
}

/** Lines as they are, batches too: {write, lines, child, end}. */
function plain(start, args = ['mcp']) {
    const { child, end, stdout, stderr } = start(args);
    return { child, end, stderr, write: text => child.stdin.write(text), lines: () => stdout().split('\n').slice(0, -1).map(line => JSON.parse(line)) };
}

/** A connection to the socket itself: {ping, closed, socket}. */
function caller(t, at) {
    const socket = net.connect(at);
    let text = '';
    socket.on('data', piece => { text += piece; });
    socket.on('error', () => {});
    const closed = new Promise(resolve => socket.once('close', resolve));
    t.after(() => socket.destroy());
    let count = 0;
    return {
        socket, closed,
        ping() {
            socket.write(`{"jsonrpc":"2.0","id":${++count},"method":"ping"}\n`);
            return until('it answers', () => text.split('\n').length > count);
        },
    };
}

const isSanitized = fs.readFileSync(binary).includes('__asan_init'); // memory says nothing then
const isThere = at => fs.existsSync(at);
const descriptors = pid => fs.readdirSync(`/proc/${pid}/fd`).length;
const threads = pid => fs.readdirSync(`/proc/${pid}/task`).length;

describe('serve', together, () => {
    test('makes its socket and says where', async t => {
        const { start, socket } = place(t);
        const service = await serve(t, start);
        assert.match(service.stderr(), /^llm-sandbox: serving at \/.*\/llm-sandbox\.sock$/m);
        assert.ok(fs.statSync(socket).isSocket());
        const isForGroup = isRoot && !service.stderr().includes('no group');
        assert.equal((fs.statSync(socket).mode & 0o777).toString(8), isForGroup ? '660' : '600');
        assert.equal(service.stdout(), '');
    });

    test('usage', async t => complained(await place(t).start(['serve', 'x']).end, /'serve' takes no operand/));

    test('a setting that is wrong ends it', async t =>
        complained(await place(t).start(['serve'], { env: { SANDBOX_ALLOW_WEAK: 'perhaps' } }).end, /SANDBOX_ALLOW_WEAK is 'perhaps'/));

    test('a second one is refused, and the first goes on', async t => {
        const { start, socket, client } = await joined(t);
        complained(await start(['serve']).end, /a service runs already at '.*llm-sandbox\.sock'/);
        assert.ok(isThere(socket));
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
    });

    test('a socket left by a killed one is no obstacle', async t => {
        const { start, socket } = place(t);
        await (await serve(t, start)).stop('SIGKILL');
        assert.ok(isThere(socket));
        await serve(t, start);
        assert.equal(parts(await (await server(t, { start })).run('print(1)')).stdout, '1\n');
    });

    for (const signal of ['SIGTERM', 'SIGINT'])
        test(`${signal} leaves no process, no socket, no instance`, async t => {
            const { start, service, client, socket, instances } = await joined(t);
            const other = await server(t, { start });
            const mark = marker();
            client.run(sleeper(mark), { timeout: 600 }).catch(() => {});
            other.run(sleeper(mark), { timeout: 600 }).catch(() => {});
            await other.run('print(1)', { wait: 0 });
            await until('both run', () => marked(mark).length === 2);
            assert.deepEqual(await service.stop(signal), [0, null]);
            assert.ok(!isThere(socket));
            assert.deepEqual(instances(), []);
            await nothingLeft(mark);
        });

    test('what a killed one leaves, the next one sweeps', async t => {
        const { start, service, client, instances } = await joined(t);
        const mark = marker();
        client.run(sleeper(mark), { timeout: 600 }).catch(() => {});
        await until('it runs', () => marked(mark).length > 0);
        const [left] = instances();
        await service.stop('SIGKILL');
        await nothingLeft(mark);
        await serve(t, start);
        await until('swept', () => !instances().includes(left) && instances().length === 1);
    });
});

describe('mcp joins', together, () => {
    test('and starts nothing of its own', async t => {
        const { client, instances } = await joined(t);
        assert.equal((await client.request('tools/list')).result.tools.length, 8);
        const answer = parts(await client.run('print(6 * 7)'));
        assert.equal(answer.stdout, '42\n');
        assert.match(answer.status, /^exit 0 /);
        assert.equal(instances().length, 1);
        assert.equal(client.stderr(), '');
        client.close();
        assert.equal((await client.end).code, 0);
    });

    test('none runs: it says nothing and hosts by itself', async t => {
        const { start, instances } = place(t);
        const client = await server(t, { start });
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.equal(instances().length, 1);
        assert.equal(client.stderr(), '');
    });

    test('ids stay the text they are', async t => {
        const { start } = await joined(t);
        const raw = start(['mcp']);
        for (const id of ['1.0', '1e2', '12345678901234567890123', '"\\u00e9"', '"a\\/b"'])
            raw.child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
        await until('five answers', () => raw.stdout().split('\n').length === 6);
        for (const id of ['1.0', '1e2', '12345678901234567890123', '"\\u00e9"', '"a\\/b"'])
            assert.ok(raw.stdout().includes(`"id":${id},`), `${id} in ${raw.stdout()}`);
        raw.child.stdin.end();
    });

    test('batches, at 2025-03-26', async t => {
        const { start } = await joined(t);
        const client = plain(start);
        client.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}\n');
        client.write('[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"print(5)"}}}]\n');
        await until('both answers', () => client.lines().length === 2);
        const [first, batch] = client.lines();
        assert.equal(first.result.protocolVersion, '2025-03-26');
        assert.deepEqual(batch.map(({ id }) => id).sort(), [2, 3]);
        client.child.stdin.end();
    });

    test('what a client sends before it ends is answered', async t => {
        const { start } = await joined(t);
        const over = await start(['mcp'], { input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n' }).end;
        assert.deepEqual(over.stdout.split('\n').slice(0, -1).map(line => JSON.parse(line).id), [1, 2]);
        assert.equal(over.code, 0);
    });

    test('a cancelled call ends, and has no answer', async t => {
        const { client } = await joined(t);
        const mark = marker();
        client.request('tools/call', { name: 'execute_code', arguments: { code: sleeper(mark), timeout: 600 } }, 20);
        await until('it runs', () => marked(mark).length > 0);
        client.notify('notifications/cancelled', { requestId: 20 });
        await nothingLeft(mark);
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.ok(!client.lines.some(({ id }) => id === 20));
    });

    test('progress comes through', async t => {
        const { client } = await joined(t);
        await client.request('tools/call', { name: 'execute_code', arguments: { code: 'import time\nprint("half", flush=True)\ntime.sleep(3)' }, _meta: { progressToken: 'p' } });
        const told = client.lines.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
        assert.ok(told.length >= 1, JSON.stringify(told));
        assert.equal(told[0].progressToken, 'p');
        assert.match(told.at(-1).message, /half/);
    });

    test('an answer of nearly 4 MiB', async t => {
        const { client } = await joined(t);
        const { run_id } = parts(await client.run('open("big.txt", "w").write(\'"\' * 1_900_000)'));
        const { result } = await client.request('resources/read', { uri: `sandbox://run/${run_id}/big.txt` });
        assert.ok(result.contents[0].text === '"'.repeat(1_900_000)); // each is two bytes in the line
    });

    test('a line of 16 MiB, and one that is longer', async t => {
        const { client } = await joined(t);
        const line = (id, len) => {
            const [head, tail] = [`{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"x":"`, '"}}'];
            return head + 'y'.repeat(len - head.length - tail.length) + tail + '\n';
        };
        client.raw(line(1, LINE_MAX));
        client.raw(line(2, LINE_MAX + 1));
        client.raw(line(3, 100));
        await until('the last answer', () => client.lines.some(({ id }) => id === 3), 40_000);
        assert.ok(client.lines.some(({ id, result }) => id === 1 && result));
        const [error] = client.lines.filter(({ error }) => error);
        assert.match(error.error.message, /16 MiB/);
        assert.ok(!('id' in error) && error.error.code === -32700);
    });

    test('twenty thousand pings in one write', async t => {
        const { client } = await joined(t);
        client.raw(Array.from({ length: 20_000 }, (_, n) => `{"jsonrpc":"2.0","id":${5000 + n},"method":"ping"}\n`).join(''));
        await until('all are answered', () => client.lines.length > 20_000, 40_000);
        assert.equal(new Set(client.lines.map(({ id }) => id)).size, 20_001);
        const [, kib] = fs.readFileSync(`/proc/${client.child.pid}/status`, 'utf8').match(/VmHWM:\s*(\d+) kB/);
        assert.ok(isSanitized || kib < 16 * 1024, `${kib} KiB`);
    });

    test('a job goes on without its client, and another of the same user finds it', async t => {
        const { start, client } = await joined(t);
        const mark = marker();
        const [job_id] = (await client.run(sleeper(mark), { wait: 0, timeout: 600 })).text.match(/r_[a-z2-7]{16}/);
        await until('it runs', () => marked(mark).length === 1);
        client.close();
        await client.end;
        const other = await server(t, { start });
        assert.match((await other.call('job', { job_id, wait: 0 })).text, /^running/);
        assert.match((await other.call('job', { job_id, action: 'kill' })).text, /^cancelled/);
        await nothingLeft(mark);
    });

    test('several clients in parallel, each its own answers', async t => {
        const { start, client, instances } = await joined(t);
        const clients = [client, ...await Promise.all([1, 2, 3].map(() => server(t, { start })))];
        const answers = await Promise.all(clients.flatMap((one, c) => [0, 1, 2].map(n => one.run(`print(${c * 10 + n})`, {}, n + 1))));
        assert.deepEqual(answers.map(answer => parts(answer).stdout), [0, 1, 2, 3].flatMap(c => [0, 1, 2].map(n => `${c * 10 + n}\n`)));
        assert.equal(instances().length, 1);
    });

    for (const [what, leave, code] of [
        ['its stdin ends', client => client.close(), 0],
        ['SIGTERM', client => client.child.kill('SIGTERM'), 0],
        ['SIGKILL', client => client.child.kill('SIGKILL'), null],
    ])
        test(`the client leaves (${what}): its runs end, those of others go on`, async t => {
            const { start, client } = await joined(t);
            const [mark, others] = [marker(), marker()];
            const other = await server(t, { start });
            client.run(sleeper(mark), { timeout: 600 }).catch(() => {});
            other.run(sleeper(others), { timeout: 600 }).catch(() => {});
            await until('both run', () => marked(mark).length === 1 && marked(others).length === 1);
            leave(client);
            await nothingLeft(mark);
            assert.equal((await client.end).code, code);
            assert.equal(marked(others).length, 1);
            assert.deepEqual((await other.ping()).result, {});
        });
});

describe('the service restarts', together, () => {
    for (const signal of ['SIGTERM', 'SIGKILL'])
        test(`SVC-01 ${signal} during a call: that one fails, the next works`, async t => {
            const { start, service, client } = await joined(t);
            const mark = marker();
            const slow = client.run(sleeper(mark), { timeout: 600 });
            await until('it runs', () => marked(mark).length > 0);
            await service.stop(signal);
            const answer = await slow;
            assert.equal(answer.isError, true);
            assert.match(answer.text, /service was restarted/);
            await nothingLeft(mark);
            const next = client.run('print(6 * 8)'); // before it is back
            await serve(t, start);
            assert.equal(parts(await next).stdout, '48\n');
            assert.equal(client.stderr(), '');
        });

    test('SVC-01 again and again, with three clients and five runs', async t => {
        const { start, service, client } = await joined(t);
        const clients = [client, await server(t, { start }), await server(t, { start })];
        let now = service;
        for (let round = 0; round < 5; round++) {
            const mark = marker();
            const open = [0, 1, 2, 0, 1].map(n => clients[n].run(sleeper(mark), { timeout: 600 }));
            await until('four run', () => marked(mark).length === 4);
            await now.stop('SIGKILL');
            for (const answer of await Promise.all(open))
                assert.match(answer.text, /service was restarted/);
            await nothingLeft(mark);
            now = await serve(t, start);
            assert.deepEqual((await Promise.all(clients.map(one => one.run('print(1)')))).map(answer => parts(answer).stdout), ['1\n', '1\n', '1\n']);
        }
    });

    test('the protocol version that was agreed on stays', async t => {
        const { start, service } = await joined(t);
        const client = plain(start);
        client.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
        await until('an answer', () => client.lines().length === 1);
        await service.stop('SIGTERM');
        await serve(t, start);
        client.write('[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]\n');
        await until('another', () => client.lines().length === 2);
        assert.deepEqual(client.lines()[1].map(({ id, result }) => [id, result]), [[2, {}], [3, {}]]);
        client.child.stdin.end();
    });

    test('an initialize that was not answered is said to the next one', async t => {
        const { start, service } = await joined(t);
        const clients = ['', ',"params":{"protocolVersion":"2025-03-26"}'].map(params => ({ ...plain(start), params }));
        for (const client of clients) {
            t.after(() => client.child.stdin.end());
            client.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
            await until('it has joined', () => client.lines().length === 1);
        }
        service.child.kill('SIGSTOP');
        for (const client of clients)
            client.write(`{"jsonrpc":"2.0","id":2,"method":"initialize"${client.params}}\n`);
        await service.stop('SIGKILL');
        await serve(t, start);
        for (const client of clients) {
            await until('it is answered', () => client.lines().some(({ id }) => id === 2));
            const { result } = client.lines().find(({ id }) => id === 2);
            assert.equal(result.protocolVersion, client.params ? '2025-03-26' : '2025-11-25');
            client.write('{"jsonrpc":"2.0","id":3,"method":"ping"}\n');
            await until('and the next', () => client.lines().some(({ id }) => id === 3));
            assert.deepEqual(client.lines().map(({ id }) => id).sort(), [1, 2, 3]);
        }
    });

    test('one that stays away: calls are refused after the patience, until it returns', async t => {
        const { start, service, client } = await joined(t);
        await service.stop('SIGTERM');
        const began = Date.now();
        const answer = await client.run('print(1)');
        assert.ok(Date.now() - began >= PATIENCE_MS - 1000, `${Date.now() - began} ms`);
        assert.equal(answer.isError, true);
        assert.match(answer.text, /service does not run any more/);
        const again = Date.now();
        assert.match((await client.run('print(1)')).text, /service does not run any more/);
        assert.match((await client.ping()).error.message, /service does not run any more/);
        assert.ok(Date.now() - again < PATIENCE_MS);
        await serve(t, start);
        await until('it works again', async () => !(await client.run('print(1)')).isError);
    });

    test('the client ends while nobody is there', async t => {
        const { service, client } = await joined(t);
        await service.stop('SIGKILL');
        client.run('print(1)').catch(() => {});
        client.close();
        assert.equal((await client.end).code, 0);
    });
});

describe('a full house', together, () => {
    test('SVC-02 two hundred calls at once are answered or told to wait', async t => {
        const { start, service, client } = await joined(t);
        const clients = [client, ...await Promise.all([1, 2, 3].map(() => server(t, { start })))];
        await client.run('print(1)');
        const before = descriptors(service.child.pid);
        const answers = await Promise.all(clients.flatMap(one => Array.from({ length: 50 }, () => one.run('print(1)'))));
        const [worked, refused] = [answers.filter(({ isError }) => !isError), answers.filter(({ isError }) => isError)];
        assert.ok(worked.length >= 64, `${worked.length} worked`);
        for (const answer of worked)
            assert.equal(parts(answer).stdout, '1\n');
        for (const { text } of refused)
            assert.match(text, /busy.*retry in \d+ s/i);
        const hungry = await Promise.all(Array.from({ length: 8 }, (_, n) => clients[n % 4].run(n % 2 ? 'x = bytearray(10**12)' : 'print(2)')));
        hungry.forEach((answer, n) => assert.match(parts(answer).status, n % 2 ? /^(memory_limit|exit 1|signal)/ : /^exit 0 /)); // where memory is not counted, Python says so itself
        await until('what they took is given back', () => descriptors(service.child.pid) <= before);
        assert.ok(threads(service.child.pid) <= 8, `${threads(service.child.pid)} threads`);
    });

    test('a user has so many connections and no more, and the others go on', async t => {
        const { start, socket } = place(t);
        await serve(t, start);
        const callers = Array.from({ length: PEER_CLIENTS }, () => caller(t, socket));
        await Promise.all(callers.map(one => one.ping()));
        await caller(t, socket).closed;
        await Promise.all(callers.map(one => one.ping()));
        callers[0].socket.destroy();
        await callers[0].closed;
        await until('there is room again', async () => {
            const next = caller(t, socket);
            return Promise.race([next.closed.then(() => false), next.ping().then(() => true)]);
        });
    });

    test('mcp that finds it full hosts by itself and says so', async t => {
        const { start, socket, instances } = place(t);
        await serve(t, start);
        const callers = Array.from({ length: PEER_CLIENTS }, () => caller(t, socket));
        await Promise.all(callers.map(one => one.ping()));
        const client = await server(t, { start });
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.match(client.stderr(), /^llm-sandbox: working without the running service: it takes no more clients of this user now, or hangs\n$/);
        assert.equal(instances().length, 2);
    });

    test('mcp that finds it stopped hosts by itself', async t => {
        const { start, service } = await joined(t);
        service.child.kill('SIGSTOP');
        const client = await server(t, { start });
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        service.child.kill('SIGCONT');
    });
});

describe('settings that the service would not know', together, () => {
    for (const [what, options] of [
        ...['BACKEND', 'NAMESPACE', 'COMMIT_CONTAINER', 'KEEP_TEMPLATE', 'DOCKER_HOST', 'CONTAINER_HOST', 'KUBECONFIG', 'R_REPO',
            'SANDBOX_MEMORY', 'SANDBOX_NETWORK_MODE', 'SANDBOX_SOMETHING_NEW', 'LLM_SANDBOX_CONFIG'].map(name => [name, { env: { [name]: 'x' } }]),
        ['--backend', { args: ['mcp', '--backend', 'bubblewrap'] }],
        ['--allow-weak', { args: ['mcp', '--allow-weak'] }],
        ['--config', { args: ['mcp', '--config', '/dev/null'] }],
    ])
        test(`${what}: it hosts by itself and says why`, async t => {
            const { client } = await joined(t, options);
            const said = await until('it says why', () => client.stderr().endsWith('\n') && client.stderr());
            assert.equal(said, `llm-sandbox: working without the running service: it does not know what is set here: ${what}\n`);
            assert.deepEqual((await client.ping()).result, {});
        });

    test('and what runs then is its own', async t => {
        const { client, instances } = await joined(t, { env: { NAMESPACE: 'x' } });
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.equal(instances().length, 2);
    });

    test('a blank one, or one of another name, does not hinder', async t => {
        const { client, instances } = await joined(t, { env: { BACKEND: '', SANDBOX_MEMORY: ' \t', DOCKER_HOST: '', BACKENDS: 'x', SANDBOX: 'x', LLM_SANDBOX: 'x' } });
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.equal(instances().length, 1);
        assert.equal(client.stderr(), '');
    });
});

/** The programs where every user may read them. */
function forAll(t) {
    const made = folder(t);
    for (const name of ['llm-sandbox', 'llm-sandbox-guest'])
        fs.copyFileSync(path.join(path.dirname(binary), name), path.join(made, name));
    return path.join(made, 'llm-sandbox');
}

/** As root: a program of another user, after a shell line in a private mount namespace. */
const beginAs = (uid, groups, line, program, args, options) => begin('unshare', ['-m', '--propagation', 'private', 'sh', '-c',
    `${line} && exec setpriv --reuid ${uid} --regid ${uid} ${groups.length ? `--groups ${groups}` : '--clear-groups'} --inh-caps=-all "$0" "$@"`,
    program, ...args], options);

/** A listener of uid 1998 at this place. */
async function impostor(t, socket) {
    const theirs = folder(t), at = path.join(theirs, 's');
    fs.chmodSync(theirs, 0o777);
    const fake = begin('setpriv', ['--reuid', '1998', '--regid', '1998', '--clear-groups', PYTHON, '-c',
        `import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind("${at}")\ns.listen(9)\nprint("listens", flush=True)\nwhile True: print(s.accept()[0].recv(100), flush=True)`]);
    t.after(() => fake.child.kill('SIGKILL'));
    await until('it listens', () => fake.stdout() !== '');
    fs.chmodSync(at, 0o777);
    fs.renameSync(at, socket);
    return fake;
}

/** Root's service with a group, and clients of other users: as(uid, groups) is a start of mcp_rig. */
async function house(t, { group = true } = {}) {
    const made = folder(t), program = forAll(t), at = path.join(made, 'llm-sandbox.sock');
    const groups = file(t, 'group', group ? 'root:x:0:\nllm-sandbox:x:4242:\n' : 'root:x:0:\n');
    const mounts = 'mkdir -p /run/llm-sandbox && mount --bind "$RUN" /run/llm-sandbox && mount --bind "$GROUPS_FILE" /etc/group';
    const env = { RUN: made, GROUPS_FILE: groups };
    const service = await serve(t, (args, options) => inMounts(mounts, args, { ...options, env }));
    const as = (uid, ids, also = () => {}) => {
        const home = folder(t);
        fs.mkdirSync(path.join(home, 'run'), { mode: 0o700 });
        also(home);
        for (const name of fs.readdirSync(home, { recursive: true }))
            fs.chownSync(path.join(home, name), uid, uid);
        fs.chownSync(home, uid, uid);
        return (args, options = {}) => beginAs(uid, ids, mounts, program, args,
            { ...options, env: { ...options.env, ...env, HOME: home, XDG_RUNTIME_DIR: path.join(home, 'run') } });
    };
    return { service, socket: at, as };
}

describe('two users of the service', { ...together, skip: !isRoot && 'only root can be two users' }, () => {
    test('the group of root\'s service may join, in a folder all can enter', async t => {
        const { service, socket, as } = await house(t);
        const { mode, uid, gid } = fs.statSync(socket);
        assert.deepEqual([(mode & 0o777).toString(8), uid, gid], ['660', 0, 4242]);
        assert.doesNotMatch(service.stderr(), /group/);
        const client = await server(t, { start: as(1999, [4242]) });
        assert.equal(client.stderr(), '');
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
    });

    test('no group: it says so, and only root can join', async t => {
        const { service, socket, as } = await house(t, { group: false });
        assert.match(service.stderr(), /there is no group 'llm-sandbox' \(groupadd --system llm-sandbox\): only root can join/);
        assert.equal((fs.statSync(socket).mode & 0o777).toString(8), '600');
        const client = await server(t, { start: as(1999, []) });
        assert.equal(client.stderr(), '');
        assert.deepEqual((await client.ping()).result, {});
    });

    test('the folder of root\'s service', async t => {
        const service = await serve(t, (args, options) => inMounts('mount -t tmpfs none /run', args, options));
        const run = `/proc/${service.child.pid}/root/run/llm-sandbox`;
        assert.equal((fs.statSync(run).mode & 0o777).toString(8), '755');
        for (const entry of fs.readdirSync(run, { withFileTypes: true }).filter(entry => !entry.isDirectory()))
            assert.equal(fs.statSync(path.join(run, entry.name)).mode & 0o007, 0, entry.name);
    });

    test('who is not in the group hosts by itself', async t => {
        const { as } = await house(t);
        const client = await server(t, { start: as(1999, []) });
        assert.equal(client.stderr(), '');
        assert.deepEqual((await client.ping()).result, {});
    });

    test('a client that passes no XDG_RUNTIME_DIR finds its user\'s service', async t => {
        const home = folder(t), program = forAll(t);
        fs.chmodSync(home, 0o700);
        fs.chownSync(home, 1999, 1999);
        const as = env => (args, options) => beginAs(1999, [],
            'mount -t tmpfs none /run && mkdir -p /run/user/1999 && mount --bind "$HOME" /run/user/1999', program, args,
            { ...options, env: { HOME: home, ...env } });
        const service = await serve(t, as({ XDG_RUNTIME_DIR: '/run/user/1999' }));
        assert.match(service.stderr(), /serving at \/run\/user\/1999\/llm-sandbox\/llm-sandbox\.sock$/m);
        const client = await server(t, { start: as({ XDG_RUNTIME_DIR: '' }) });
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.equal(fs.readdirSync(path.join(home, 'llm-sandbox/instances')).length, 1);
    });

    test('the user\'s own service restarts while somebody else sits at root\'s place', async t => {
        const [home, run, program] = [folder(t), folder(t), forAll(t)];
        fs.chmodSync(home, 0o700);
        fs.chownSync(home, 1999, 1999);
        const start = (args, options) => beginAs(1999, [], 'mkdir -p /run/llm-sandbox && mount --bind "$RUN" /run/llm-sandbox', program, args,
            { ...options, env: { HOME: home, XDG_RUNTIME_DIR: home, RUN: run } });
        const service = await serve(t, start);
        const client = await server(t, { start });
        const fake = await impostor(t, path.join(run, 'llm-sandbox.sock'));
        await service.stop('SIGTERM');
        await until('it has looked there', () => fake.stdout().includes("b''"));
        await serve(t, start);
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.doesNotMatch(fake.stdout(), /jsonrpc/);
    });

    test('a configuration file of the user\'s own hinders', async t => {
        const { as } = await house(t);
        const start = as(1999, [4242], home => {
            fs.mkdirSync(path.join(home, '.config/llm-sandbox'), { recursive: true });
            fs.writeFileSync(path.join(home, '.config/llm-sandbox/config.json'), '{}');
        });
        const client = await server(t, { start });
        await until('it says why', () => client.stderr().endsWith('\n'));
        assert.match(client.stderr(), /working without the running service: .*\.config\/llm-sandbox\/config\.json\n$/);
    });

    test('two users never see each other\'s runs', async t => {
        const { as } = await house(t);
        const [one, other] = [await server(t, { start: as(1999, [4242]) }), await server(t, { start: as(1998, [4242]) })];
        const { run_id } = parts(await one.run('print("secret")\nopen("f.txt", "w").write("secret")'));
        const [job_id] = (await one.run('print("secret", flush=True)\nimport time; time.sleep(600)', { wait: 0, timeout: 600 })).text.match(/r_[a-z2-7]{16}/);
        assert.match((await one.call('read_file', { run_id, path: 'f.txt' })).text, /secret/);
        assert.match((await one.call('job', {})).text, new RegExp(job_id));
        for (const [name, args] of [['read_file', { run_id, path: 'f.txt' }], ['read_file', { run_id, path: '@stdout' }], ['list_files', { run_id }],
            ['job', { job_id: run_id }], ['job', { job_id, wait: 0 }], ['job', { job_id, offset: 0, wait: 0 }], ['job', { job_id, action: 'kill' }]]) {
            const theirs = await other.call(name, args);
            const nobodys = await other.call(name, JSON.parse(JSON.stringify(args).replaceAll(run_id, 'r_aaaaaaaaaaaaaaaa').replaceAll(job_id, 'r_aaaaaaaaaaaaaaaa')));
            assert.equal(theirs.isError, true, theirs.text);
            assert.equal(theirs.text.replaceAll(run_id, 'X').replaceAll(job_id, 'X'), nobodys.text.replaceAll('r_aaaaaaaaaaaaaaaa', 'X'));
        }
        const { error } = await other.request('resources/read', { uri: `sandbox://run/${run_id}/f.txt` });
        assert.ok(error && !JSON.stringify(error).includes('secret'));
        assert.ok(!(await other.call('job', {})).text.includes(job_id));
        assert.match((await one.call('job', { job_id, wait: 0 })).text, /^running/);
        const again = await server(t, { start: as(1999, [4242]) }); // another connection of the same user
        assert.match((await again.call('read_file', { run_id, path: 'f.txt' })).text, /secret/);
    });

    test('a full house of one user leaves room for the next', async t => {
        const { socket, as } = await house(t);
        const callers = Array.from({ length: PEER_CLIENTS }, () => caller(t, socket));
        await Promise.all(callers.map(one => one.ping()));
        assert.equal(parts(await (await server(t, { start: as(1999, [4242]) })).run('print(1)')).stdout, '1\n');
    });

    test('a socket that somebody else serves is not trusted', async t => {
        const { start, socket } = place(t);
        const fake = await impostor(t, socket);
        const client = await server(t, { start });
        await until('it says why', () => client.stderr().endsWith('\n'));
        assert.match(client.stderr(), /^llm-sandbox: working without the running service: the service at '.*' is run by uid 1998, neither ours nor root's\n$/);
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.doesNotMatch(fake.stdout(), /jsonrpc/);
    });
});
