// SPDX-License-Identifier: MIT
// What the black-box tests share: start the binary, wait for conditions, look at the host.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const binary = process.env.LLM_SANDBOX ?? path.join(here, '../../build/linux/llm-sandbox');
if (!fs.existsSync(binary))
    throw new Error(`no ${binary}: build preset linux first, or name another by LLM_SANDBOX`);
export const isRoot = process.getuid() === 0;
export const PYTHON = '/usr/bin/python3'; // what boxes use, too

const DEADLINE_MS = 60_000; // nothing here may take as long: it hangs
const SOON_MS = 10_000; // "at once", on a machine with other work

// No setting of the developer's own shell reaches the binary.
const environment = Object.fromEntries(
    ['PATH', 'HOME', 'USER', 'TMPDIR', 'XDG_RUNTIME_DIR'].filter(name => name in process.env).map(name => [name, process.env[name]]));

/** A folder of the test's own, gone after it. World-readable, so that any uid may be shown it. */
export function folder(t) {
    const made = fs.mkdtempSync(path.join(os.tmpdir(), 'llm-sandbox-test-'));
    fs.chmodSync(made, 0o755);
    // Retries: a bridge that still looks for its service makes its runtime directory anew meanwhile.
    t.after(() => fs.rmSync(made, { recursive: true, force: true, maxRetries: 10 }));
    return made;
}

export function file(t, name, text) {
    const made = path.join(folder(t), name);
    fs.writeFileSync(made, text);
    return made;
}

/** Starts any program. `end` resolves to {code, signal, stdout, stderr, bytes, errors, ms}; it
 * rejects when the program hangs. `exit` resolves to [code, signal], also while output waits to
 * be read. Options: spawn's; `input`; `env`, added to ours; `slow`: stdout is not read before
 * .read() is called. */
export function begin(program, args = [], options = {}) {
    const began = Date.now();
    const child = spawn(program, args, { ...options, env: { ...environment, ...options.env } });
    const pieces = { stdout: [], stderr: [] };
    const collect = name => child[name]?.on('data', piece => pieces[name].push(piece));
    if (!options.slow)
        collect('stdout');
    collect('stderr');
    child.stdin?.on('error', () => {}); // it may end without reading
    if (options.input !== undefined)
        child.stdin.end(options.input);
    const bytes = () => Buffer.concat(pieces.stdout);
    const errors = () => Buffer.concat(pieces.stderr);
    const end = new Promise((resolve, reject) => {
        const late = setTimeout(() => {
            child.kill('SIGKILL');
            reject(new Error(`hangs: ${program} ${args.join(' ').slice(0, 200)}\nstderr: ${errors().toString().slice(0, 2000)}`));
        }, DEADLINE_MS);
        child.on('error', why => { clearTimeout(late); reject(why); });
        child.on('close', (code, signal) => {
            clearTimeout(late);
            resolve({ code, signal, bytes: bytes(), errors: errors(), stdout: bytes().toString(), stderr: errors().toString(), ms: Date.now() - began });
        });
    });
    end.catch(() => {}); // whoever awaits it sees it
    const exit = new Promise(resolve => child.once('exit', (...how) => resolve(how)));
    return { child, end, exit, stdout: () => bytes().toString(), stderr: () => errors().toString(), read: () => collect('stdout') };
}

export const host = (args, options) => begin(binary, args, options);

/** Runs the binary to its end. */
export const cli = (args, options) => host(args, options).end;

/** `run` of code that comes by stdin, so that no host command line holds it. */
export const beginCode = (language, code, args = [], options = {}) =>
    host(['run', '-l', language, ...args.slice(0, cut(args)), '-', ...args.slice(cut(args))], { input: code, ...options });
const cut = args => (args.includes('--') ? args.indexOf('--') : args.length);

export const code = (language, text, args, options) => beginCode(language, text, args, options).end;

/** The same with --json, parsed; `exit` is the host's own exit status. */
export async function json(language, text, args = [], options) {
    const end = await code(language, text, ['--json', ...args], options);
    assert.ok(end.stdout.endsWith('}\n'), `one JSON object and a newline, not: ${end.stdout.slice(-200)} ${end.stderr}`);
    return { ...JSON.parse(end.stdout), exit: end.code, elapsed: end.ms, complaints: end.stderr };
}

/** It worked, said exactly this, and nothing else. */
export function said(end, stdout) {
    assert.equal(end.stderr, '');
    assert.equal(end.stdout, stdout);
    assert.equal(end.code, 0);
}

/** One line that names the cause: no crash, no stack, no silence. */
export function complained(end, pattern, status = 125) {
    assert.equal(end.signal, null);
    assert.equal(end.code, status, end.stderr);
    assert.match(end.stderr, pattern);
    assert.match(end.stderr, /^llm-sandbox: [^\n]+\n( {2}[^\n]+\n)?$/);
}

/** Polls until `check` gives something true; fails when it does not in time. */
export async function until(what, check, within_ms = SOON_MS) {
    const late = Date.now() + within_ms;
    for (;;) {
        const value = await check();
        if (value)
            return value;
        assert.ok(Date.now() < late, `in time: ${what}`);
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}

/** A number no other process on this machine has on its command line; sleep takes it. */
export const marker = () => `86${randomInt(1000, 9999)}.${randomInt(100_000_000, 999_999_999)}`;

/** Every process: {pid, ppid, args, uid}. One that ends meanwhile is left out. */
export function processes() {
    const found = [];
    for (const pid of fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number))
        try {
            const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
            const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
            if (state === 'Z')
                continue;
            const args = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').slice(0, -1);
            if (args[1] === 'janitor') // the host's companion (posix/janitor.h) is of no box
                continue;
            found.push({ pid, ppid: Number(ppid), args, uid: fs.statSync(`/proc/${pid}`).uid });
        } catch { /* gone */ }
    return found;
}

/** Those of boxes (not the host or what starts it) that have the marker on their command line. */
export const marked = mark => processes().filter(({ args }) => args.includes(mark) && !args.includes(binary));

export const nothingLeft = (mark, within_ms) => until(`no process with ${mark} is left`, () => marked(mark).length === 0, within_ms);

/** A runtime directory of the test's own: {options, instances}. Ours can be named by the
 * environment; root's is at a fixed place, over which a private mount namespace lays one. */
export function ownRuntime(t) {
    const made = folder(t);
    fs.chmodSync(made, 0o700);
    const under = isRoot ? made : path.join(made, 'llm-sandbox');
    const instances = () => { try { return fs.readdirSync(path.join(under, 'instances')); } catch { return []; } };
    if (!isRoot)
        return { start: (args, options = {}) => host(args, { ...options, env: { ...options.env, XDG_RUNTIME_DIR: made } }), instances, made };
    fs.chmodSync(made, 0o755);
    return {
        start: (args, options) => inMounts('mkdir -p /run/llm-sandbox && mount --bind "$RUN" /run/llm-sandbox', args,
            { ...options, env: { ...options?.env, RUN: made } }),
        instances, made,
    };
}

/** As root: the binary in a private mount namespace, after a shell line that changes it. */
export const inMounts = (line, args, options) =>
    begin('unshare', ['-m', '--propagation', 'private', 'sh', '-c', `${line} && exec "$0" "$@"`, binary, ...args], options);

/** A program on a terminal of its own, see terminal.py: {output, status, typed, modes}. */
export async function terminal(options, program) {
    const end = await begin(PYTHON, [path.join(here, 'terminal.py'), ...options, '--', ...program]).end;
    assert.equal(end.stderr, '');
    return JSON.parse(end.stdout);
}
