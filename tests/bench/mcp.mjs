// SPDX-License-Identifier: MIT
// node tests/bench/mcp.mjs [ROUNDS [CALLS]]: what `llm-sandbox mcp` costs. Times: from the start
// of a server to its initialize answer; a ping; pings per second with 8 under way; execute_code
// print(1) in a running server, a fresh box each, interleaved with bare bwrap (raw.mjs). Then
// what CALLS calls leave behind in one server: memory, descriptors, processes, files. Times are
// only printed; growth makes the exit status 1.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, raw } from './raw.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const product = process.env.LLM_SANDBOX ?? join(top, 'build/linux/llm-sandbox');
const rounds = Number(process.argv[2] ?? 60);
const calls = Number(process.argv[3] ?? 1000);
const folder = mkdtempSync(join(tmpdir(), 'llm-sandbox-bench-'));
const python = { program: '/usr/bin/python3', args: [], file: 'main.py', code: 'print(1)\n' };
const ms = began => Number(process.hrtime.bigint() - began) / 1e6;

// Naming a backend keeps it from joining a service that runs here.
function server() {
    const child = spawn(product, ['mcp', '--backend', 'auto'], { env: { PATH: '/usr/bin' }, stdio: ['pipe', 'pipe', 'inherit'] });
    const waiting = new Map();
    let rest = '', next = 1;
    child.stdout.setEncoding('utf8').on('data', piece => {
        const lines = (rest + piece).split('\n');
        rest = lines.pop();
        for (const message of lines.map(line => JSON.parse(line))) {
            waiting.get(message.id)(message);
            waiting.delete(message.id);
        }
    });
    const request = (method, params) => new Promise(resolve => {
        waiting.set(next, resolve);
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: next++, method, params })}\n`);
    });
    return {
        child, request,
        initialize: () => request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }),
        async run() {
            const { result } = await request('tools/call', { name: 'execute_code', arguments: { code: python.code } });
            if (!result?.content[0].text.endsWith('stdout:\n1\n')) throw new Error(JSON.stringify(result));
        },
        close: () => new Promise(resolve => { child.on('exit', resolve); child.stdin.end(); }),
    };
}

/** `count` jobs, `width` of them under way at any time. */
async function spread(count, width, job) {
    let left = count;
    await Promise.all(Array.from({ length: width }, async () => { while (left-- > 0) await job(); }));
}

/** What a server holds: MiB resident, descriptors, processes with its descendants, files of its instance. */
function holds(pid) {
    const parents = new Map();
    for (const name of readdirSync('/proc').filter(name => /^\d+$/.test(name)))
        try {
            const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
            parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
        } catch { /* gone */ }
    const below = one => one === pid || (parents.has(one) && below(parents.get(one)));
    const links = readdirSync(`/proc/${pid}/fd`).map(fd => { try { return readlinkSync(`/proc/${pid}/fd/${fd}`); } catch { return ''; } });
    const lock = links.find(link => /\/instances\/\w+\/lock$/.test(link));
    return {
        rss: Number(readFileSync(`/proc/${pid}/status`, 'latin1').match(/VmRSS:\s+(\d+)/)[1]) / 1024,
        descriptors: links.length,
        processes: [...parents.keys()].filter(below).length,
        files: readdirSync(dirname(lock), { recursive: true }).length,
    };
}
const show = ({ rss, descriptors, processes, files }) =>
    `${rss.toFixed(1)} MiB resident, ${descriptors} descriptors, ${processes} processes, ${files} files`;

async function times() {
    const starts = [], pings = [], sides = { raw: [], ours: [] };
    for (let i = 0; i < rounds; i++) {
        const began = process.hrtime.bigint();
        const one = server();
        await one.initialize();
        starts.push(ms(began));
        await one.close();
    }
    const one = server();
    await one.initialize();
    console.log(`initialize  ${median(starts).toFixed(1)} ms after the start`);
    for (let i = 0; i < 10_000; i++) {
        const began = process.hrtime.bigint();
        await one.request('ping');
        pings.push(ms(began));
    }
    const began = process.hrtime.bigint();
    await spread(20_000, 8, () => one.request('ping'));
    console.log(`ping        ${median(pings).toFixed(3)} ms; 8 under way: ${Math.round(20_000 / ms(began) * 1000)}/s`);
    const file = join(folder, python.file);
    writeFileSync(file, python.code);
    await one.run(); // the probe is measured once per boot, not here
    for (let i = 0; i < rounds; i++) {
        let at = process.hrtime.bigint();
        const [program, ...args] = raw(python, file);
        if (String(spawnSync(program, args, { env: { PATH: '/usr/bin' } }).stdout) !== '1\n') throw new Error('raw bwrap');
        sides.raw.push(ms(at));
        at = process.hrtime.bigint();
        await one.run();
        sides.ours.push(ms(at));
    }
    const [a, b] = [median(sides.raw), median(sides.ours)];
    console.log(`print(1)    raw ${a.toFixed(1)} ms, execute_code ${b.toFixed(1)} ms, ratio ${(b / a).toFixed(2)}`);
    await one.close();
}

async function leaves() {
    const one = server();
    await one.initialize();
    console.log(`idle        ${show(holds(one.child.pid))}`);
    const most = 300; // more than are kept (SB_KEPT_RUNS): from here on nothing may grow
    await spread(most, 4, one.run);
    const before = holds(one.child.pid);
    console.log(`${String(most).padEnd(11)} ${show(before)}`);
    const began = process.hrtime.bigint();
    await spread(calls, 4, one.run);
    const after = holds(one.child.pid);
    console.log(`${`+${calls}`.padEnd(11)} ${show(after)}; 4 under way: ${(calls / ms(began) * 1000).toFixed(1)} calls/s`);
    await one.close();
    const grown = ['descriptors', 'processes', 'files'].filter(name => after[name] > before[name]);
    if (after.rss > before.rss + 1) grown.push('rss');
    if (grown.length > 0) throw new Error(`grown: ${grown.join(', ')}`);
}

try {
    await times();
    await leaves();
} finally {
    rmSync(folder, { recursive: true });
}
