// SPDX-License-Identifier: MIT
// FS-01..05 and FS-08: files that programs make, on their way to --json and --out, and what is
// left of a run on the host.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { beginCode, code, folder, json, marked, marker, nothingLeft, ownRuntime, until } from './rig.mjs';

const together = { concurrency: 4 };
const paths = result => result.artifacts.map(({ path: at }) => at).sort();
const skipped = result => result.skipped.map(({ path: at }) => at).sort();

/** Runs with --out into a new folder: {end, out, found}: found maps each path to its text. */
async function delivered(t, language, text, prepare = () => {}) {
    const out = path.join(folder(t), 'out');
    prepare(out);
    const end = await code(language, text, ['--out', out]);
    const found = {};
    for (const entry of fs.existsSync(out) ? fs.readdirSync(out, { recursive: true, withFileTypes: true }) : []) {
        const at = path.join(entry.parentPath ?? entry.path, entry.name);
        if (!entry.isDirectory())
            found[path.relative(out, at)] = entry.isFile() ? fs.readFileSync(at, 'utf8') : entry;
    }
    return { end, out, found };
}

describe('artifacts', together, () => {
    const links = `import os
os.symlink("/etc/passwd","report.txt"); os.symlink("/proc/self/environ","env.txt"); os.symlink("loop","loop")
os.symlink("ok.txt","inside.txt"); open("ok.txt","w").write("ok"); os.symlink("/etc/hostname","plot.png")
os.mkdir("d"); os.symlink("/etc","d/etc")`;
    const outside = ['d/etc', 'env.txt', 'inside.txt', 'loop', 'plot.png', 'report.txt'];

    test('FS-01 links are not followed: listed as skipped', async () => {
        const end = await json('python', links);
        assert.deepEqual([end.status, paths(end), skipped(end)], ['ok', ['ok.txt'], outside]);
        assert.ok(end.skipped.every(({ why }) => why === 'a symbolic link'));
    });

    test('FS-01 links are not followed: not delivered, and said so', async t => {
        const { end, found } = await delivered(t, 'python', links);
        assert.deepEqual([end.code, found], [0, { 'ok.txt': 'ok' }]);
        for (const name of outside)
            assert.match(end.stderr, new RegExp(`^llm-sandbox: '${name}' is left out: `, 'm'));
        assert.doesNotMatch(end.stdout + end.stderr, /root:/);
    });

    const specials = `import os,socket
os.mkfifo("plot.png"); socket.socket(socket.AF_UNIX).bind("s.png")
try: os.mknod("zero.png",0o20666,os.makedev(1,5))
except OSError as e: print(e.errno)
open("ok.txt","w").write("ok")`;

    test('FS-02 FIFO, socket and device are skipped, and nobody waits for them', async t => {
        const listed = await json('python', specials);
        assert.deepEqual([listed.stdout, paths(listed), skipped(listed)], ['1\n', ['ok.txt'], ['plot.png', 's.png']]);
        const { end, found } = await delivered(t, 'python', specials);
        assert.deepEqual([end.code, end.stdout, found], [0, '1\n', { 'ok.txt': 'ok' }]);
        assert.ok(end.ms < 20_000, `${end.ms} ms`);
    });

    test('FS-03 hard links of the box are delivered, one to the outside can\'t be made', async t => {
        const text = `import os
open("a.txt","w").write("a"); os.link("a.txt","b.txt")
for victim in ("/etc/passwd", "/usr/bin/env", "/proc/self/environ"):
    try: os.link(victim,"p.txt"); print("linked", victim)
    except OSError as e: print(e.errno)`;
        const { end, found } = await delivered(t, 'python', text);
        assert.deepEqual([end.code, found], [0, { 'a.txt': 'a', 'b.txt': 'a' }]);
        assert.match(end.stdout, /^(?:(?:18|1|30)\n){3}$/); // EXDEV, EPERM, EROFS
        assert.deepEqual(paths(await json('python', text)), ['a.txt', 'b.txt']);
    });

    const good = ['a..b.txt', '...', '-rf', '--help', 'ünï côde.txt', '日本 🙂.txt', ' lead', 'trail ', "q'\"`$(x).txt", 'tab\t.txt',
        'new\nline.txt', 'a\\b', 'con.txt', 'a:b.txt', '%2e%2e', '~', 'n'.repeat(255), 'deep/er/x', '.hidden'];

    test('FS-04 names are names: odd ones are listed and delivered as they are', async t => {
        const text = `import os
for name in ${JSON.stringify(good)}:
    os.makedirs(os.path.dirname("./" + name), exist_ok=True); open(name, "w").write("it is " + name)`;
        assert.deepEqual(paths(await json('python', text)), [...good].sort());
        const { end, found } = await delivered(t, 'python', text);
        assert.deepEqual([end.code, end.stderr], [0, '']);
        assert.deepEqual(found, Object.fromEntries(good.map(name => [name, `it is ${name}`])));
    });

    test('FS-04 a name that is no UTF-8 does not spoil the others', async t => {
        const text = 'open(b"bad\\xff\\xfe.txt","w").write("x"); open("ok.txt","w").write("ok")';
        const listed = await json('python', text);
        assert.equal(listed.status, 'ok');
        assert.ok(paths(listed).includes('ok.txt'));
        const { end, found } = await delivered(t, 'python', text);
        assert.deepEqual([end.code, found], [0, { 'ok.txt': 'ok' }]);
        assert.match(end.stderr, /^llm-sandbox: 'bad\ufffd\ufffd\.txt' is left out: not a regular file with a UTF-8 name\n$/);
    });

    test('FS-05 empty files are files', async t => {
        const text = 'open("empty.txt","w").close(); open("zero.bin","wb").close()';
        assert.deepEqual((await json('python', text)).artifacts, [
            { path: 'empty.txt', bytes: 0, mime: 'text/plain' }, { path: 'zero.bin', bytes: 0, mime: 'application/octet-stream' }]);
        const { end, found } = await delivered(t, 'python', text);
        assert.deepEqual([end.code, end.stderr, found], [0, '', { 'empty.txt': '', 'zero.bin': '' }]);
    });

    test('the program\'s own file is no artifact, unless the program changes it', async t => {
        assert.deepEqual(paths(await json('bash', 'true')), []);
        const { found } = await delivered(t, 'bash', 'echo "# changed" >>main.sh');
        assert.match(found['main.sh'], /# changed\n$/);
    });

    test('what lies in /tmp is no artifact', async t => {
        const { found } = await delivered(t, 'bash', 'echo x >/tmp/x; echo y >"$TMPDIR/y"; echo z >~/z; mkdir .tmp2; echo w >.tmp2/w');
        assert.deepEqual(found, { z: 'z\n', '.tmp2/w': 'w\n' });
    });

    test('artifacts come also from a program that fails, is killed or times out', async t => {
        for (const [text, status] of [['echo x >x; exit 3', 3], ['echo x >x; kill -9 $$', 137]]) {
            const { end, found } = await delivered(t, 'bash', text);
            assert.deepEqual([end.code, found], [status, { x: 'x\n' }]);
        }
        const out = path.join(folder(t), 'out');
        const late = await code('bash', 'echo x >x; sleep 60', ['-t', '0.5', '--out', out]);
        assert.deepEqual([late.code, fs.readFileSync(path.join(out, 'x'), 'utf8')], [124, 'x\n']);
    });

    test('more than the cap of files or bytes is left out by name', async t => {
        const { end, found } = await delivered(t, 'bash', 'for i in {1..70}; do echo $i >f$i; done; truncate -s 40M big; echo s >small');
        assert.equal(end.code, 0);
        assert.ok(Object.keys(found).length <= 64 && Object.keys(found).length >= 60, `${Object.keys(found).length} delivered`);
        assert.equal(found.big, undefined);
        assert.match(end.stderr, /^llm-sandbox: 'big' is left out: more than 32 MiB in all$/m);
        assert.match(end.stderr, /is left out: more than 64 files$/m);
        const listed = await json('bash', 'truncate -s 1T out.bin; echo ok >ok.txt');
        assert.ok(listed.artifacts.some(({ path: at, bytes }) => at === 'ok.txt' && bytes === 3), JSON.stringify(listed));
    });

    test('8 MiB arrive byte by byte', async t => {
        const { end, out } = await delivered(t, 'python', 'open("big","wb").write(bytes(range(256)) * (8 << 12))');
        assert.equal(end.code, 0);
        assert.ok(fs.readFileSync(path.join(out, 'big')).equals(Buffer.alloc(8 << 20, Buffer.from(Array.from({ length: 256 }, (_, i) => i)))));
    });
});

describe('--out DIR', together, () => {
    test('SEC-02 setuid files: delivered ones have plain modes and belong to us', async t => {
        const text = 'import os,shutil; shutil.copy("/bin/true","x"); os.chmod("x",0o6755); open("c","w").write("c"); os.chmod("c",0o6777)';
        const { end, out, found } = await delivered(t, 'python', text);
        assert.deepEqual([end.code, Object.keys(found).sort()], [0, ['c', 'x']], end.stderr);
        for (const name of ['x', 'c']) {
            const { mode, uid } = fs.statSync(path.join(out, name));
            assert.equal(mode & 0o7111, 0, `${name}: ${mode.toString(8)}`);
            assert.equal(uid, process.getuid());
        }
    });

    test('a link that lies in the way is replaced, not followed; the user\'s other files stay', async t => {
        const victim = path.join(folder(t), 'victim');
        fs.writeFileSync(victim, 'mine');
        const { end, out, found } = await delivered(t, 'bash', 'echo new >a; echo new >b', dir => {
            fs.mkdirSync(dir);
            fs.symlinkSync(victim, path.join(dir, 'a'));
            fs.writeFileSync(path.join(dir, 'b'), 'old');
            for (const name of ['a.part', 'b.part', 'other'])
                fs.writeFileSync(path.join(dir, name), 'mine');
        });
        assert.deepEqual([end.code, end.stderr, fs.readFileSync(victim, 'utf8')], [0, '', 'mine']);
        assert.deepEqual(found, { a: 'new\n', b: 'new\n', 'a.part': 'mine', 'b.part': 'mine', other: 'mine' });
        assert.ok(fs.lstatSync(path.join(out, 'a')).isFile());
    });

    test('a folder that can\'t be made or written is said, and the program\'s end stays what it was', async t => {
        const blocked = path.join(folder(t), 'file');
        fs.writeFileSync(blocked, '');
        const end = await code('bash', 'echo out; echo x >x; exit 3', ['--out', blocked]);
        assert.deepEqual([end.code, end.stdout], [3, 'out\n']);
        assert.match(end.stderr, /^llm-sandbox: 'x' is left out: cannot [^\n]+\n$/);
    });

    test('a folder in the place of a file stays, and no half file with it', async t => {
        const { end, out, found } = await delivered(t, 'bash', 'echo x >a', dir => fs.mkdirSync(path.join(dir, 'a'), { recursive: true }));
        assert.deepEqual([end.code, found, fs.readdirSync(out)], [0, {}, ['a']]);
        assert.match(end.stderr, /^llm-sandbox: 'a' is left out: cannot write [^\n]+\n$/);
    });

    test('two runs into one folder do not disturb each other', async t => {
        const out = path.join(folder(t), 'out');
        const text = name => `import time\nfor i in range(20): open("${name}%d" % i, "w").write("${name}" * 100000)`;
        const ends = await Promise.all(['a', 'b', 'c'].map(name => code('python', text(name), ['--out', out])));
        assert.deepEqual(ends.map(({ code: status, stderr }) => [status, stderr]), [[0, ''], [0, ''], [0, '']]);
        assert.equal(fs.readdirSync(out).length, 60);
    });
});

describe('FS-08 the host is left as it was', together, () => {
    const listing = dir => fs.readdirSync(dir, { recursive: true }).sort();

    for (const [what, args, text, status] of [
        ['a run', [], 'echo x >x; echo y >~/y; echo z >/tmp/z; read line', 1],
        ['a run that is killed', [], 'read line; kill -9 $$', 137],
        ['a run that times out', ['-t', '0.5'], 'echo x >x; sleep 60', 124],
    ])
        test(`FS-08 ${what} leaves the caller's directory, home and runtime directory as they were`, async t => {
            const cwd = folder(t), home = folder(t);
            fs.writeFileSync(path.join(cwd, 'mine'), 'mine');
            const { start, instances } = ownRuntime(t);
            await start(['run', '-l', 'bash', '-c', 'true'], { cwd, env: { HOME: home } }).end; // makes our cache
            const before = [listing(cwd), listing(home)];
            const run = start(['run', '-l', 'bash', ...args, '--stdin', '-', '-c', text], { cwd, env: { HOME: home } });
            const seen = new Set();
            const look = setInterval(() => listing(cwd).forEach(name => seen.add(name)), 5);
            await until('its instance is there', () => instances().length === 1);
            run.child.stdin.end();
            assert.equal((await run.end).code, status);
            clearInterval(look);
            assert.deepEqual([listing(cwd), listing(home)], before);
            assert.deepEqual([...seen].filter(name => name !== 'mine'), []);
            assert.deepEqual(instances(), []);
        });

    test('FS-08 a killed host leaves one instance directory, which the next host removes', async t => {
        const cwd = folder(t), mark = marker();
        const { start, instances, made } = ownRuntime(t);
        const run = start(['run', '-l', 'bash', '-'], { cwd, input: `echo up >up; sleep ${mark}` });
        await until('it sleeps', () => marked(mark).length > 0);
        run.child.kill('SIGKILL');
        await run.end;
        await nothingLeft(mark);
        assert.deepEqual(fs.readdirSync(cwd), []);
        assert.equal(instances().length, 1);
        for (const { mode } of fs.readdirSync(made, { recursive: true }).map(name => fs.lstatSync(path.join(made, name))))
            assert.equal(mode & 0o6000, 0);
        assert.equal((await start(['run', '-l', 'bash', '-c', 'true'], { cwd }).end).code, 0);
        assert.deepEqual(instances(), []);
    });

    test('FS-08 a second host leaves the instance of a living one alone', async t => {
        const mark = marker();
        const { start, instances } = ownRuntime(t);
        const run = start(['run', '-l', 'bash', '-'], { input: `sleep ${mark}; echo end` });
        await until('it sleeps', () => marked(mark).length > 0);
        const [first] = instances();
        assert.equal((await start(['run', '-l', 'bash', '-c', 'true']).end).code, 0);
        assert.deepEqual(instances(), [first]);
        run.child.kill('SIGTERM');
        assert.equal((await run.end).code, 143);
        assert.deepEqual(instances(), []);
    });

    test('two runs at once do not see each other\'s files', async () => {
        const text = i => `echo ${i} >out.txt; mkdir /tmp/d && echo ${i} >/tmp/d/x; sleep 0.3; cat out.txt /tmp/d/x; ls -A /sandbox /tmp`;
        const runs = await Promise.all([1, 2, 3, 4].map(i => beginCode('bash', text(i)).end));
        for (const [i, end] of runs.entries())
            assert.deepEqual([end.code, end.stderr, end.stdout], [0, '', `${i + 1}\n${i + 1}\n/sandbox:\n.tmp\nmain.sh\nout.txt\n\n/tmp:\nd\n`]);
    });
});
