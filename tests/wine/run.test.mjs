// SPDX-License-Identifier: MIT
// The Windows executables under Wine, with a real Windows Node and backend `job`: what works
// end to end there. The walls of `job` are not measured here: Wine enforces few of them.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const runner = join(top, 'tests/wine/run.sh');
const product = process.env.LLM_SANDBOX_EXE ?? join(top, 'build/mingw/llm-sandbox.exe');
const node = String(spawnSync('sh', [join(top, 'tests/wine/fetch-node.sh'), join(top, 'build/deps')]).stdout).trim();
const scratch = mkdtempSync(join(tmpdir(), 'llm-sandbox-wine-'));
const windows = (path) => 'Z:' + path.replaceAll('/', '\\');
const env = {
    PATH: process.env.PATH, HOME: scratch, WINEPATH: windows(node), LC_ALL: 'C.UTF-8',
    SB_WINEPREFIX: process.env.SB_WINEPREFIX ?? join(top, 'build/mingw/wineprefix'),
};
const weak = ['--backend', 'job', '--allow-weak'];

const run = (...args) => {
    const { status, stdout, stderr } = spawnSync('sh', [runner, product, ...args], { env, cwd: scratch, timeout: 90000, maxBuffer: 1 << 26 });
    return { status, stdout: String(stdout), stderr: String(stderr) };
};
const json = (...args) => {
    const { stdout, stderr } = run('run', '--json', ...weak, ...args);
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout);
};

// Host processes whose command line or environment names the marker: Wine shows both in /proc.
function alive(marker) {
    return readdirSync('/proc').filter((name) => {
        if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
        try {
            return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(marker);
        } catch {
            return false;
        }
    });
}

async function until(condition, what) {
    const deadline = Date.now() + 30000;
    while (!condition()) {
        assert.ok(Date.now() < deadline, `gave up waiting: ${what}`);
        await new Promise((resolve) => setImmediate(resolve));
    }
}

after(() => rmSync(scratch, { recursive: true, force: true }));

test('javascript runs in Windows Node and passes its exit code on', () => {
    const { status, stdout, stderr } = run('run', ...weak, '-l', 'javascript', '-c',
        'console.log(process.platform, 6*7); console.error("err"); process.exit(7)');
    assert.equal(stdout, 'win32 42\n');
    assert.equal(stderr, 'err\n');
    assert.equal(status, 7);
});

test('exit codes are 32 bits, text is UTF-8, streams are apart', () => {
    const result = json('-l', 'javascript', '-c',
        'process.stdout.write("héllo 日本 🙂"); process.stderr.write("x"); process.exitCode = 70000');
    assert.equal(result.exit_code, 70000);
    assert.equal(result.status, 'error');
    assert.equal(result.stdout, 'héllo 日本 🙂');
    assert.equal(result.stderr, 'x');
    assert.equal(result.backend, 'job');
});

test('a large write before process.exit is complete', () => {
    const result = json('-l', 'javascript', '-c', 'console.log("x".repeat(3 << 20)); process.exit(0)');
    assert.equal(result.stdout_bytes, (3 << 20) + 1);
});

test('files a program makes are handed over', () => {
    const out = join(scratch, 'out');
    const { status, stderr } = run('run', ...weak, '-l', 'javascript', '--out', windows(out), '-c',
        'const fs = require("fs"); fs.mkdirSync("d"); fs.writeFileSync("d/ü.txt", "made"); fs.writeFileSync("empty", "")');
    assert.equal(status, 0, stderr);
    assert.equal(readFileSync(join(out, 'd/ü.txt'), 'utf8'), 'made');
    assert.equal(readFileSync(join(out, 'empty'), 'utf8'), '');
});

test('stdin is empty unless it is fed', () => {
    const code = 'process.stdin.on("data", (d) => process.stdout.write(d)).on("end", () => console.log("end"))';
    assert.equal(json('-l', 'javascript', '-c', code).stdout, 'end\n');
    writeFileSync(join(scratch, 'input.txt'), 'fed ');
    assert.equal(json('-l', 'javascript', '--stdin', windows(join(scratch, 'input.txt')), '-c', code).stdout, 'fed end\n');
});

test('a timeout kills the whole tree and keeps the output so far', async () => {
    const marker = `tree-${process.pid}-timeout`;
    const result = json('-l', 'javascript', '--timeout', '3', '-c',
        `require("child_process").spawn(process.execPath, ["-e", "setInterval(()=>{},1000)", "${marker}"], {stdio: "ignore", detached: true});
         console.log("started"); setInterval(() => {}, 1000)`);
    assert.equal(result.status, 'timeout');
    assert.equal(result.stdout, 'started\n');
    assert.deepEqual(result.limit, { name: 'timeout', value: 3000 });
    await until(() => alive(marker).length === 0, 'the detached child to be dead');
});

test('a killed host takes the tree with it', async () => {
    const marker = `tree-${process.pid}-host`;
    const host = spawn('sh', [runner, product, 'run', ...weak, '-l', 'javascript', '-c',
        `require("child_process").spawn(process.execPath, ["-e", "setInterval(()=>{},1000)", "${marker}"], {stdio: "ignore"});
         setInterval(() => {}, 1000)`], { env, cwd: scratch, stdio: 'ignore' });
    await until(() => alive(marker).length > 1, 'the tree to be there'); // the host names it too
    host.kill('SIGKILL');
    await until(() => alive(marker).length === 0, 'the tree to be dead');
});

test('cmd runs, with CRLF or LF', () => {
    const result = json('-l', 'cmd', '-c', '@echo off\nset /a n=6*7\necho.\necho n is %n%\nexit /b 5\n');
    assert.match(result.stdout, /n is 42/, JSON.stringify(result));
    assert.equal(result.exit_code, 5);
});

test('the weak backend is refused without --allow-weak', () => {
    const { status, stderr } = run('run', '--backend', 'job', '-l', 'javascript', '-c', '1');
    assert.equal(status, 125);
    assert.match(stderr, /weak.*--allow-weak/);
    const automatic = run('run', '-l', 'javascript', '-c', '1');
    assert.equal(automatic.status, 125);
    assert.match(automatic.stderr, /no backend of this system keeps the default promises/);
});

test('doctor measures what Wine keeps, and promises nothing else', () => {
    const { stdout } = run('doctor', '--json', ...weak);
    const doctor = JSON.parse(stdout);
    const [job] = doctor.backends;
    assert.equal(job.name, 'job');
    assert.equal(job.usable, true);
    assert.equal(job.promises.kill.strength, 'kernel');
    for (const promise of ['network', 'memory', 'processes']) assert.equal(job.promises[promise].strength, 'none', promise);
    const language = doctor.languages.find(({ name }) => name === 'javascript');
    assert.equal(language.usable, true, language.why);
});
