// SPDX-License-Identifier: MIT
// node tests/bench/run.mjs [ROUNDS]: what `llm-sandbox run` costs over bare bwrap, interleaved
// in one go so that both meet the same machine. Prints medians in ms and the ratio.
//
// Raw is what raw.mjs says. Each time contains what node needs to start and reap a process; row
// `true` shows it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, raw } from './raw.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const product = process.env.LLM_SANDBOX ?? join(top, 'build/linux/llm-sandbox');
const rounds = Number(process.argv[2] ?? 60);
const folder = mkdtempSync(join(tmpdir(), 'llm-sandbox-bench-'));
const languages = [
    { name: 'python', program: '/usr/bin/python3', args: [], file: 'main.py', code: 'print(1)\n' },
    { name: 'bash', program: '/usr/bin/bash', args: [], file: 'main.sh', code: 'echo 1\n' },
    { name: 'javascript', program: '/usr/bin/node', args: [], file: 'main.js', code: 'console.log(1)\n' },
].filter((language) => existsSync(language.program));

function time([program, ...args], expected) {
    const began = process.hrtime.bigint();
    const { status, stdout, stderr } = spawnSync(program, args, { env: { PATH: '/usr/bin' }, cwd: folder });
    const ms = Number(process.hrtime.bigint() - began) / 1e6;
    if (status !== 0 || String(stdout) !== expected) throw new Error(`${program} ${args}: ${status} ${stderr}`);
    return ms;
}

try {
    const empty = [];
    for (let i = 0; i < rounds; i++) empty.push(time(['/usr/bin/true'], ''));
    console.log(`true        ${median(empty).toFixed(1)} ms`);
    for (const language of languages) {
        const file = join(folder, language.file);
        const ours = [product, 'run', file];
        const sides = { raw: [], ours: [] };
        writeFileSync(file, language.code);
        time(ours, '1\n'); // the probe is measured once per boot, not here
        for (let i = 0; i < rounds; i++) {
            sides.raw.push(time(raw(language, file), '1\n'));
            sides.ours.push(time(ours, '1\n'));
        }
        const [a, b] = [median(sides.raw), median(sides.ours)];
        console.log(`${language.name.padEnd(11)} raw ${a.toFixed(1)} ms, run ${b.toFixed(1)} ms, ratio ${(b / a).toFixed(2)}`);
    }
} finally {
    rmSync(folder, { recursive: true });
}
