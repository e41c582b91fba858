// SPDX-License-Identifier: MIT
// The MCP server as Windows clients start it: by pipes of Windows, from a Windows Node. (libuv can't
// open the pipes of a Unix program that Wine hands over; Node itself can't either.)
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const top = join(here, '../..');
const product = process.env.LLM_SANDBOX_EXE ?? join(top, 'build/mingw/llm-sandbox.exe');
const node = String(spawnSync('sh', [join(here, 'fetch-node.sh'), join(top, 'build/deps')]).stdout).trim();
const scratch = mkdtempSync(join(tmpdir(), 'llm-sandbox-wine-mcp-'));
const windows = path => 'Z:' + path.replaceAll('/', '\\');
after(() => rmSync(scratch, { recursive: true, force: true }));

test('initialize, calls, languages and the end on Windows', () => {
    const calls = [['execute_code', { language: 'cmd', code: 'echo hi' }], ['execute_code', { language: 'js', code: 'console.log(process.argv.slice(2), "é")', args: ['a b'] }],
        ['get_supported_languages', {}], ['execute_code', { code: '', language: 'js' }]];
    const out = join(scratch, 'out'), errors = join(scratch, 'errors');
    const env = { PATH: process.env.PATH, HOME: scratch, WINEPATH: windows(node), LC_ALL: 'C.UTF-8',
        SB_WINEPREFIX: process.env.SB_WINEPREFIX ?? join(top, 'build/mingw/wineprefix') };
    const { status } = spawnSync('sh', [join(here, 'run.sh'), join(node, 'node.exe'), windows(join(here, 'mcp_client.cjs')), windows(product), JSON.stringify(calls)],
        { env, cwd: scratch, timeout: 90000, stdio: ['ignore', openSync(out, 'w'), openSync(errors, 'w')] });
    assert.equal(status, 0, readFileSync(errors, 'utf8'));
    const told = JSON.parse(readFileSync(out, 'utf8'));
    assert.equal(told.answers[0].serverInfo.name, 'llm-sandbox');
    const [cmd, js, list, refused] = [1, 2, 3, 4].map(id => [told.answers[id].isError, told.answers[id].content.map(({ text }) => text).join('\n')]);
    assert.match(cmd[1], /^exit 0 .*\nstdout:\nhi\r?\n$/);
    assert.match(js[1], /^exit 0 .*\nstdout:\n\[ 'a b' \] é\n$/);
    assert.deepEqual(JSON.parse(list[1]), ['javascript', 'cmd']);
    assert.deepEqual(refused.slice(0, 1), [true]);
    assert.deepEqual([told.code, told.stderr], [0, '']);
    assert.ok(told.ms < 20_000, `${told.ms} ms`);
});
