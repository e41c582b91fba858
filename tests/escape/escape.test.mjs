// SPDX-License-Identifier: MIT
// One hostile program per promise. The same file runs twice: outside a box, as an ordinary user,
// where its attack must work, and inside, where it must not. A program that fails outside, too,
// would prove nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { PYTHON, begin, beginCode, cli, code, folder, isRoot, json, marked, marker, nothingLeft, said, until } from '../blackbox/rig.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps=-all'];

/** The attack of that name as a file that every user may read. */
function attack(t, name) {
    const at = path.join(folder(t), `attack_${name}.py`);
    fs.copyFileSync(path.join(here, `attack_${name}.py`), at);
    fs.chmodSync(at, 0o644);
    return at;
}

/** The control run: outside, without privileges. In a folder it may write. */
function outside(t, program, ...args) {
    const cwd = folder(t);
    fs.chmodSync(cwd, 0o777);
    const command = [...(isRoot ? NOBODY : []), PYTHON, program, ...args];
    return begin(command[0], command.slice(1), { cwd, env: { HOME: cwd } }).end;
}
const inside = (program, ...args) => cli(['run', program, '--', ...args]);

/** A folder that everybody may write, as /tmp is, but not below a /tmp that a box has of its own. */
function open(t) {
    const made = fs.mkdtempSync('/var/tmp/llm-sandbox-test-');
    fs.chmodSync(made, 0o777);
    t.after(() => fs.rmSync(made, { recursive: true, force: true }));
    return made;
}

function works(end, pattern) {
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, pattern, 'the attack does not work outside: it proves nothing');
}

function fails(end, stdout) {
    assert.deepEqual([end.code, end.stderr, end.stdout], [0, '', stdout]);
}

const bomb = (text, seconds, mark) => json('python', text, ['-t', seconds, '--', mark]);
const ended = end => {
    assert.ok(['timeout', 'process_limit'].includes(end.status), end.status);
    assert.ok(end.elapsed < 30_000, `${end.elapsed} ms`);
};

describe('escape', { concurrency: 3 }, () => {
    test('read-outside: a file of the host', async t => {
        const program = attack(t, 'read'), secret = randomBytes(16).toString('hex'), at = path.join(open(t), 'secret');
        fs.writeFileSync(at, secret, { mode: 0o644 });
        works(await outside(t, program, at), new RegExp(`^READ .* ${secret}$`, 'm'));
        fails(await inside(program, at), 'end\n');
    });

    test('write-outside: a folder everybody may write', async t => {
        const program = attack(t, 'write'), dir = open(t);
        works(await outside(t, program, dir), /^WROTE /m);
        const left = fs.readdirSync(dir);
        assert.ok(left.length > 0);
        left.forEach(name => fs.rmSync(path.join(dir, name), { recursive: true }));
        fails(await inside(program, dir), 'end\n');
        assert.deepEqual(fs.readdirSync(dir), []);
    });

    test('network: a listener on every address of the host', async t => {
        const program = attack(t, 'network');
        let reached = 0;
        const server = net.createServer(socket => { reached++; socket.on('error', () => {}).end('hello'); }).listen(0, '::');
        await new Promise(resolve => server.once('listening', resolve));
        t.after(() => server.close());
        const addresses = ['127.0.0.1', '::1', '127.1.2.3', ...Object.values(os.networkInterfaces()).flat().filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address)];
        const args = [String(server.address().port), ...addresses];
        const control = await outside(t, program, ...args);
        works(control, /^REACHED 127\.0\.0\.1$/m);
        const before = control.stdout.match(/^REACHED/gm).length;
        await until('the listener saw them all', () => reached === before);
        const end = await inside(program, ...args);
        fails(end, 'interfaces lo\nend\n');
        assert.ok(end.ms < 20_000, `${end.ms} ms`);
        assert.equal(reached, before);
    });

    for (const [what, address] of [
        ['an abstract socket', () => `\0llm-sandbox-test-${randomBytes(8).toString('hex')}`],
        ['a socket in a folder everybody may enter', t => path.join(open(t), 's')],
    ])
        test(`network and endpoint: ${what}`, async t => {
            const program = attack(t, 'socket'), name = address(t);
            // Node 20 can't bind abstract names.
            const server = begin(PYTHON, ['-c', `import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(bytes.fromhex(sys.argv[1]))
if sys.argv[1][:2] != "00": os.chmod(bytes.fromhex(sys.argv[1]), 0o777)
s.listen(); print("up", flush=True)
while True: s.accept(); print("reached", flush=True)`, Buffer.from(name).toString('hex')]);
            t.after(() => server.child.kill());
            await until('it listens', () => server.stdout() === 'up\n');
            const hex = Buffer.from(name).toString('hex');
            works(await outside(t, program, hex), /^CONNECTED$/m);
            await until('the listener saw it', () => server.stdout() === 'up\nreached\n');
            fails(await inside(program, hex), 'end\n');
            assert.equal(server.stdout(), 'up\nreached\n');
        });

    test('endpoint: what our own host process listens on or has open', async t => {
        const mark = marker();
        const other = beginCode('bash', `echo up; sleep ${mark}`);
        await until('another host is up', () => other.stdout() === 'up\n');
        const sockets = fs.readFileSync('/proc/net/unix', 'latin1').split('\n').map(line => line.split(/\s+/)[7]).filter(Boolean);
        const runtime = isRoot ? '/run/llm-sandbox' : `/tmp/llm-sandbox-${process.getuid()}`;
        const end = await inside(attack(t, 'socket'), ...[...new Set(sockets)].slice(0, 200).map(name => Buffer.from(name.replace(/^@/, '\0')).toString('hex')));
        fails(end, 'end\n');
        fails(await inside(attack(t, 'read'), path.join(runtime, 'instances'), runtime), 'end\n');
        other.child.kill('SIGTERM');
        await other.end;
    });

    test('identity: who we are and become', async t => {
        const program = attack(t, 'identity');
        const out = await outside(t, program);
        const uid = isRoot ? 65534 : process.getuid();
        works(out, new RegExp(`^uid ${uid} .* node ${os.hostname()}$`, 'm'));
        const end = await inside(program);
        fails(end, 'uid 1000 sandbox groups [] node sandbox\nend\n');
    });

    test('kill: a daemon that ignores every signal and has let go of everything', async t => {
        const program = attack(t, 'daemon'), control = marker(), mark = marker();
        works(await outside(t, program, control), /^left$/m);
        const [daemon] = await until('the daemon lives on outside', () => marked(control).length > 0 && marked(control));
        process.kill(daemon.pid, 'SIGKILL');
        await nothingLeft(control);
        fails(await inside(program, mark), 'left\n');
        await nothingLeft(mark);
    });

    test('processes: 300 of them', async t => {
        const program = attack(t, 'processes');
        works(await outside(t, program, '300'), /^made 300$/m);
        for (const end of await Promise.all([inside(program, '300'), inside(program, '300')])) { // a limit for each, not for both
            assert.equal(end.code, 0, end.stderr);
            const made = Number(end.stdout.match(/^made (\d+)\n$/)[1]);
            assert.ok(made >= 100 && made <= 128, `${made} processes under the default limit of 128`);
        }
    });

    test('processes: two fork bombs at once; others are served meanwhile, nothing is left', async () => {
        const mark = marker();
        const over = Promise.all([1, 2].map(() => bomb('import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(.02)', '6', mark)));
        const most = await Promise.race([until('they fork', () => marked(mark).length > 40 && marked(mark).length), over]);
        assert.ok(most <= 2 * 128, `${JSON.stringify(most)} processes`);
        const served = await code('bash', 'for i in 1 2 3; do /bin/true; done; echo served');
        assert.deepEqual([served.code, served.stdout], [0, 'served\n']);
        (await over).forEach(ended);
        await nothingLeft(mark);
    });

    test('disk: 300 MiB in the workspace', async t => {
        const program = attack(t, 'disk');
        works(await outside(t, program, '.', '300'), /^\. 300 MiB$/m);
        const end = await inside(program, '.', '300', '/dev/shm', '300', '/tmp', '300', '/', '1', '/dev', '1', '/run', '1', '/proc', '1', '/etc', '1', '/usr', '1');
        assert.equal(end.code, 0, end.stderr);
        const filled = Object.fromEntries([...end.stdout.matchAll(/^(\S+) (\d+) MiB$/gm)].map(([, where, mib]) => [where, Number(mib)]));
        // The workspace and /tmp share one size, which the first attack has used up.
        assert.deepEqual(filled, { '.': filled['.'], '/dev/shm': 64, '/tmp': 0, '/': 0, '/dev': 0, '/run': 0, '/proc': 0, '/etc': 0, '/usr': 0 });
        assert.ok(filled['.'] >= 250 && filled['.'] <= 256, `${filled['.']} MiB`);
        said(await cli(['run', '-l', 'bash', '-c', 'df --output=used -k /sandbox | tail -1 | tr -d " " | grep -qx "[0-9]\\{1,2\\}" && echo empty']), 'empty\n');
    });
});

// Each session is a scheduling group of its own: until boxes have their share of the processor,
// this one takes nearly all of it for its second.
test('processes: a fork bomb of sessions ends by its timeout, nothing is left', async () => {
    const mark = marker();
    ended(await bomb('import os\nwhile True:\n  try:\n    if os.fork() == 0: os.setsid()\n  except OSError: pass', '1', mark));
    await nothingLeft(mark);
});
