// SPDX-License-Identifier: MIT
// PRO-08..14 and 16 and what else a client meets: MCP by raw lines over stdio.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { begin, binary, folder, host, marked, marker, nothingLeft, ownRuntime, processes, until } from './rig.mjs';
import { follow, parts, readOn, server } from './mcp_rig.mjs';

const together = { concurrency: 4 };
const here = path.dirname(fileURLToPath(import.meta.url));
const sleeper = mark => `import subprocess\nsubprocess.Popen(["sleep", "${mark}"])\nprint("here")\nimport time\ntime.sleep(600)`;

describe('the protocol', together, () => {
    test('initialize, tools/list', async t => {
        const client = await server(t, { bare: true });
        const { result } = await client.request('initialize', { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'x', version: '1' } });
        assert.equal(result.protocolVersion, '2025-11-25');
        assert.equal(result.serverInfo.name, 'llm-sandbox');
        const list = await client.request('tools/list');
        assert.deepEqual(list.result, JSON.parse(fs.readFileSync(path.join(here, '../unit/server/tools_list.json'), 'utf8')));
        for (const tool of list.result.tools) {
            assert.equal(tool.inputSchema.type, 'object');
            assert.doesNotMatch(JSON.stringify(tool.inputSchema), /\$schema|\$ref|oneOf|anyOf/);
        }
        assert.equal(client.stderr(), '');
    });

    test('without arguments, stdin no terminal: the server', async t => {
        const client = await server(t, { args: [] });
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
    });

    test('EOF at once, and an empty stdin', async () => {
        for (const stdio of [['ignore', 'pipe', 'pipe'], ['pipe', 'pipe', 'pipe']]) {
            const { child, end } = begin(binary, ['mcp'], { stdio });
            child.stdin?.end();
            const over = await end;
            assert.deepEqual([over.code, over.stdout, over.stderr], [0, '', '']);
        }
    });

    test('usage', async () => {
        const over = await host(['mcp', 'x']).end;
        assert.deepEqual([over.code, over.stdout], [125, '']);
        assert.match(over.stderr, /'mcp' takes no operand/);
    });

    test('two messages in one write, one in two', async t => {
        const client = await server(t);
        const ping = id => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
        client.raw(`${ping(1)}\r\n\r\n${ping(2)}\n${ping(3).slice(0, 20)}`);
        await until('two answers', () => client.lines.filter(({ id }) => id === 1 || id === 2).length === 2);
        client.raw(`${ping(3).slice(20)}\n`);
        await until('the third', () => client.lines.some(({ id }) => id === 3));
    });

    test('a broken line and a method of the next era leave the server well', async t => {
        const client = await server(t);
        client.raw('{"jsonrpc":"2.0","id":5,"method":\nnot json\n');
        await until('two errors', () => client.lines.filter(line => line.error?.code === -32700 && !('id' in line)).length === 2);
        assert.equal((await client.request('server/discover')).error.code, -32601);
        assert.equal((await client.request('tools/call', { name: 'nosuch', arguments: {} })).error.code, -32602);
        assert.deepEqual((await client.ping()).result, {});
    });
});

describe('execute_code', together, () => {
    test('three languages', async t => {
        const client = await server(t);
        for (const [language, code] of [['python', 'print(6 * 7)'], ['JS', 'console.log(6 * 7)'], ['bash', 'echo $((6 * 7))']]) {
            const answer = parts(await client.run(code, { language }));
            assert.equal(answer.stdout, '42\n');
            assert.match(answer.status, /^exit 0 \| \d+ ms \| cpu \d+ ms \| .*run r_[a-z2-7]{16}$/);
        }
    });

    test('files, stdin, args, env', async t => {
        const client = await server(t);
        const answer = parts(await client.run(
            'import os, sys\nprint(open("d/a.txt").read(), list(open("b.bin", "rb").read()), sys.stdin.read(), sys.argv[1:], os.environ["X"])',
            { files: [{ path: 'd/a.txt', text: 'é' }, { path: './b.bin', base64: 'AP8=' }], stdin: 'in', args: ['a b', ''], env: { X: 'y=z' } }));
        assert.equal(answer.stdout, "é [0, 255] in ['a b', ''] y=z\n");
    });

    test('a program that fails is an answer', async t => {
        const client = await server(t);
        const answer = parts(await client.run('import sys\nprint("out")\nprint("oops", file=sys.stderr)\nsys.exit(3)'));
        assert.match(answer.status, /^exit 3 \|/);
        assert.deepEqual([answer.stdout, answer.stderr], ['out\n', 'oops\n']);
    });

    test('pictures and files come back, and no later box sees them', async t => {
        const client = await server(t);
        const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
        const answer = await client.run(
            `import base64\nopen("plot 1.png", "wb").write(base64.b64decode("${png.toString('base64')}"))\nopen("@stdout", "w").write("file")\nopen("fake.png", "w").write("text")\nprint("out")`);
        const { run_id } = parts(answer);
        assert.deepEqual(answer.images, [{ type: 'image', data: png.toString('base64'), mimeType: 'image/png' }]);
        assert.deepEqual(answer.links.map(({ uri }) => uri).sort(),
            [`sandbox://run/${run_id}/./%40stdout`, `sandbox://run/${run_id}/fake.png`, `sandbox://run/${run_id}/plot%201.png`]);
        for (const { uri, size } of answer.links) {
            const { result } = await client.request('resources/read', { uri });
            assert.equal(Buffer.from(result.contents[0].text ?? result.contents[0].blob, 'text' in result.contents[0] ? 'utf8' : 'base64').length, size);
        }
        const list = await client.call('list_files', { run_id });
        assert.equal(list.text.split('\n').sort().join('\n'),
            ['./@stdout 4 bytes, application/octet-stream', '@stderr 0 bytes', '@stdout 4 bytes', 'fake.png 4 bytes, image/png', `plot 1.png ${png.length} bytes, image/png`, `run ${run_id}`].join('\n'));
        assert.equal((await readOn(client, { run_id, path: '@stdout' })).toString(), 'out\n');
        assert.equal((await readOn(client, { run_id, path: './@stdout' })).toString(), 'file');
        assert.equal((await readOn(client, { run_id, path: '/sandbox/fake.png' })).toString(), 'text');
        assert.equal((await client.call('read_file', { run_id, path: 'plot 1.png' })).images.length, 1);
        assert.equal(parts(await client.run('import os\nprint(os.listdir("."))')).stdout.includes('fake'), false);
    });

    test('the form of the reference', async t => {
        const client = await server(t);
        const { text } = await client.run('print("é")', { format: 'json' });
        assert.equal(JSON.parse(text).stdout, 'é\n');
        assert.equal(JSON.parse(text).exit_code, 0);
        const late = JSON.parse((await client.run('while True: pass', { format: 'json', timeout: 0.3 })).text);
        assert.equal(late.exit_code, 124);
        assert.deepEqual(JSON.parse((await client.call('get_supported_languages', {})).text), ['python', 'javascript', 'bash']);
        const python = JSON.parse((await client.call('get_language_details', { language: 'Python' })).text);
        assert.deepEqual(Object.keys(python), ['version', 'package_manager', 'preinstalled_libraries', 'use_cases', 'visualization_support', 'examples']);
        assert.match(python.version, /^Python 3\./);
        assert.equal((await client.call('get_language_details', { language: 'XYZ' })).text, '{"error": "Unsupported language: XYZ"}');
        const { result } = await client.request('resources/read', { uri: 'sandbox://languages' });
        assert.deepEqual(Object.keys(JSON.parse(result.contents[0].text)), ['python', 'javascript', 'bash']);
    });

    test('a timeout is the run\'s, and its output is seen', async t => {
        const client = await server(t);
        const began = Date.now();
        const answer = await client.run('print("before")\nwhile True: pass', { timeout: 0.5 });
        assert.match(answer.text, /timeout/);
        assert.equal(parts(answer).stdout, 'before\n');
        assert.ok(Date.now() - began < 10_000);
    });

    for (const [what, args, pattern] of [
        ['no code', { code: undefined }, /code/],
        ['code: 5', { code: [5] }, /code/],
        ['empty code', { code: '' }, /'code' is empty/],
        ['NUL in code', { code: 'a\0b' }, /code.*NUL/],
        ['language cobol', { language: 'cobol' }, /unknown language 'cobol'; usable here: python, javascript, bash/],
        ['language java', { language: 'java' }, /'java' is not available here/],
        ['timeout 0', { timeout: 0 }, /timeout.*0.1/],
        ['timeout -1', { timeout: -1 }, /timeout/],
        ['timeout 1e9', { timeout: 1e9 }, /timeout.*3600/],
        ['wait 51', { wait: 51 }, /wait.*50/],
        ['libraries a string', { libraries: 'numpy' }, /libraries/],
        ['libraries [1]', { libraries: [1] }, /libraries/],
        ['libraries [""]', { libraries: [''] }, /libraries/],
        ['libraries', { libraries: ['numpy'] }, /libraries is not available in this version yet/],
        ['session_id', { session_id: 'new' }, /session_id is not available in this version yet/],
        ['an unknown argument', { langauge: 'python' }, /langauge.*language/],
        ['too much memory', { memory_mb: 1_000_000 }, /memory_mb 1000000 is out of range/],
        ['a file above the workspace', { files: [{ path: '../x', text: '' }] }, /\.\.\/x/],
        ['a file over the code', { files: [{ path: 'main.py', text: '' }] }, /main\.py/],
        ['no base64', { files: [{ path: 'x', base64: '?' }] }, /'x'.*base64/],
        ['65 files', { files: Array.from({ length: 65 }, (_, i) => ({ path: `f${i}`, text: '' })) }, /files.*64/],
    ])
        test(`PRO-16 ${what}`, async t => {
            const client = await server(t);
            const answer = await client.run('print(1)', args);
            assert.equal(answer.isError, true);
            assert.match(answer.text, pattern);
            assert.doesNotMatch(answer.text, /r_[a-z2-7]{16}/);
        });

    test('PRO-16 coercions, and before initialize', async t => {
        const client = await server(t, { bare: true });
        assert.match((await client.run('while True: pass', { timeout: '0.3' })).text, /timeout/);
        for (const language of ['Python', 'py'])
            assert.equal(parts(await client.run('import sys; print(sys.argv[1:])', { language, args: '["a"]' })).stdout, "['a']\n");
    });

    test('code of 4 MiB runs, one byte more does not', async t => {
        const client = await server(t);
        const most = 4 * 1024 * 1024, code = 'print(1)\n';
        assert.equal(parts(await client.run(code + '#'.repeat(most - code.length))).stdout, '1\n');
        const answer = await client.run(code + '#'.repeat(most - code.length + 1));
        assert.equal(answer.isError, true);
        assert.match(answer.text, /code/);
    });
});

describe('runs and the client', together, () => {
    test('PRO-08 cancel kills the tree, and is the last word', async t => {
        const mark = marker();
        const client = await server(t);
        client.request('tools/call', { name: 'execute_code', arguments: { code: sleeper(mark), timeout: 600 } }, 20);
        await until('it runs', () => marked(mark).length > 0);
        client.notify('notifications/cancelled', { requestId: '20' });
        client.notify('notifications/cancelled', { requestId: 99 });
        await client.ping();
        assert.ok(marked(mark).length > 0);
        client.notify('notifications/cancelled', { requestId: 20, reason: 'user' });
        await nothingLeft(mark);
        client.notify('notifications/cancelled', { requestId: 20 });
        await client.ping();
        assert.equal(parts(await client.run('print(1)')).stdout, '1\n');
        assert.ok(!client.lines.some(({ id }) => id === 20));
    });

    test('PRO-09 three in parallel, the middle one cancelled', async t => {
        const client = await server(t);
        const began = Date.now();
        const three = [1, 2, 3].map(n => client.run(`import time; time.sleep(2); print(${n})`, {}, n));
        three.forEach(one => one.catch(() => {}));
        await until('all three run at once', async () => (await client.call('job', {})).text.match(/ running /g)?.length === 3);
        client.notify('notifications/cancelled', { requestId: 2 });
        const asked = Date.now();
        await client.ping();
        assert.ok(Date.now() - asked < 10_000);
        assert.equal(parts(await three[0]).stdout, '1\n');
        assert.equal(parts(await three[2]).stdout, '3\n');
        assert.ok(Date.now() - began < 30_000, `${Date.now() - began} ms`);
        assert.ok(!client.lines.some(({ id }) => id === 2));
    });

    test('a run outlives its call, and job brings its result', async t => {
        const client = await server(t);
        const answer = await client.run('import time\nprint("step", flush=True)\ntime.sleep(2)\nprint("done")', { wait: 1 });
        assert.equal(answer.isError, false);
        const [, job_id] = answer.text.match(/^running: call job with job_id=(r_[a-z2-7]{16}) /);
        assert.match((await client.call('job', {})).text, new RegExp(`^1 job\n${job_id} running \\d+ ms$`));
        const result = parts(await client.call('job', { job_id }));
        assert.deepEqual([result.run_id, result.stdout], [job_id, 'step\ndone\n']);
        assert.match((await client.call('job', {})).text, new RegExp(`\n${job_id} ok `));
    });

    test('a job answers in the form its run was asked for', async t => {
        const client = await server(t);
        const [, job_id] = (await client.run('print("é")', { wait: 0, format: 'json' })).text.match(/job_id=(r_[a-z2-7]{16})/);
        assert.deepEqual(JSON.parse((await client.call('job', { job_id })).text), { exit_code: 0, stderr: '', stdout: 'é\n' });
        const byDefault = await server(t, { env: { SANDBOX_RESULT_FORMAT: 'json' } });
        const [, other] = (await byDefault.run('print(1)', { wait: 0 })).text.match(/job_id=(r_[a-z2-7]{16})/);
        assert.equal(JSON.parse((await byDefault.call('job', { job_id: other })).text).stdout, '1\n');
    });

    test('a job that runs is followed by offset, to its last byte', async t => {
        const client = await server(t);
        const answer = await client.run(`import sys, time
out = sys.stdout.buffer
out.write("é🙂x€".encode() * 2000 + b"\\xf0\\x9f"); out.flush()
print("oops", file=sys.stderr, flush=True)
time.sleep(1.5)
out.write(b"\\x99\\x82 whole\\n"); out.flush()`, { wait: 0 });
        const [, job_id] = answer.text.match(/job_id=(r_[a-z2-7]{16})/);
        await until('it has written', async () => /of 20002 so far/.test((await client.call('job', { job_id, offset: 0, wait: 0 })).text));
        const states = [];
        const all = await readOn(client, { job_id, offset: 0, wait: 0.2 }, ({ text, texts }) => {
            states.push(texts[0].split(' ', 1)[0]);
            assert.ok(!text.includes('\ufffd') && !text.includes('base64'), text.slice(-200));
            assert.ok(!/^(running|exit)/.test(text) || text.includes('\nstderr:\noops\n'), text.slice(0, 200));
        });
        assert.equal(all.toString(), 'é🙂x€'.repeat(2000) + '🙂 whole\n');
        assert.ok(states.filter(state => state === 'running').length > 3 && states.includes('exit'), states.join());
        const behind = await client.call('job', { job_id, offset: all.length + 1 });
        assert.equal(behind.isError, true);
        assert.match(behind.text, /^offset 20012 is behind the end: stdout had 20011 bytes/);
    });

    for (const [what, before] of [['while it runs', 'time.sleep(600)'], ['when it has ended', '']])
        test(`a job that wrote more than is kept, followed ${what}`, async t => {
            const client = await server(t);
            const line = 'x'.repeat(99) + '\n', lines = 100_000; // 10 MB, of which 8 MiB are kept
            const answer = await client.run(`import sys, time\nfor i in range(${lines}): sys.stdout.write("x" * 99 + "\\n")\nsys.stdout.flush()\n${before}`, { wait: before ? 0 : 45 });
            const job_id = answer.text.match(/r_[a-z2-7]{16}/)[0], half = 4 * 1024 * 1024, total = line.length * lines;
            const at = async (offset, wait = 0) => client.call('job', { job_id, offset, wait });
            await until('it has written', async () => (await at(0)).text.includes(` of ${before ? total : ''}`));
            if (before) {
                const seam = await at(half - 10);
                assert.match(seam.texts.at(-1), new RegExp(`^\\[bytes ${half - 10}-${half} of ${total} so far; next: job job_id=${job_id} offset=${half}\\]$`));
                assert.match((await at(half)).texts.at(-1), new RegExp(`^\\[bytes ${total - half}-\\d+ of ${total} so far; ${total - 2 * half} bytes before them were not kept; next: job `));
                await client.call('job', { job_id, action: 'kill' });
            }
            const last = await readOn(client, { job_id, offset: total - 12345 });
            assert.equal(last.toString(), (line.repeat(124)).slice(-12345));
            assert.ok((await at(total - half - 1)).texts.at(-2).startsWith(`\n[... ${total - 2 * half} bytes were not kept ...]\nx`));
            assert.match((await at(half - 10)).texts.at(-1), /; next: read_file run_id=\S+ path=@stdout offset=\d+\]$/);
        });

    test('a job is killed', async t => {
        const mark = marker();
        const client = await server(t);
        const [, job_id] = (await client.run(sleeper(mark), { wait: 0, timeout: 600 })).text.match(/job_id=(r_[a-z2-7]{16})/);
        await until('it runs', () => marked(mark).length > 0);
        assert.match((await client.call('job', { job_id, action: 'kill' })).text, /^cancelled/);
        await nothingLeft(mark);
        const unknown = await client.call('job', { job_id: 'r_aaaaaaaaaaaaaaaa' });
        assert.equal(unknown.isError, true);
    });

    test('progress, if the client wants it', async t => {
        const client = await server(t);
        await client.request('tools/call', { name: 'execute_code', arguments: { code: 'import time\nprint("half", flush=True)\ntime.sleep(3)' }, _meta: { progressToken: 'p' } });
        const told = client.lines.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
        assert.ok(told.length >= 1 && told.length <= 3, JSON.stringify(told));
        assert.equal(told[0].progressToken, 'p');
        assert.match(told.at(-1).message, /half/);
    });

    test('PRO-10 stdin closed while code runs', async t => {
        const { start, instances } = ownRuntime(t);
        const mark = marker();
        const client = await server(t, { start });
        client.request('tools/call', { name: 'execute_code', arguments: { code: sleeper(mark), timeout: 900 } }, 1);
        const job = await client.run(sleeper(mark), { wait: 0, timeout: 900 });
        assert.match(job.text, /^running/);
        await until('both run', () => marked(mark).length === 2);
        const began = Date.now();
        client.close();
        const over = await client.end;
        assert.ok(Date.now() - began < 10_000, `${Date.now() - began} ms`);
        assert.equal(over.code, 0);
        await nothingLeft(mark);
        assert.deepEqual(instances(), []);
    });

    for (const signal of ['SIGTERM', 'SIGINT'])
        test(`PRO-10 ${signal} while code runs`, async t => {
            const mark = marker();
            const client = await server(t);
            client.request('tools/call', { name: 'execute_code', arguments: { code: sleeper(mark), timeout: 900 } }, 1);
            await until('it runs', () => marked(mark).length > 0);
            client.child.kill(signal);
            const over = await client.end;
            assert.equal(over.code, 0);
            await nothingLeft(mark);
        });

    test('PRO-10 the client is killed', async t => {
        const mark = marker();
        const line = text => JSON.stringify(text).replaceAll("'", "'\\''");
        const call = line({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'execute_code', arguments: { code: sleeper(mark), timeout: 900 } } });
        const client = begin('sh', ['-c', `mkfifo "$DIR/in"; "${binary}" mcp <"$DIR/in" >"$DIR/out" & exec 3>"$DIR/in"; printf '%s\\n' '${call}' >&3; exec sleep 1000`], { env: { DIR: folder(t) } });
        await until('it runs', () => marked(mark).length > 0);
        client.child.kill('SIGKILL');
        await client.exit;
        await nothingLeft(mark);
    });

    test('PRO-11 code reads stdin: empty, and no request is eaten', async t => {
        const client = await server(t);
        const answer = client.run('import sys\nprint(repr(sys.stdin.read()))\ntry: input("? ")\nexcept EOFError as e: print("EOF")');
        await client.ping();
        assert.equal(parts(await answer).stdout, "''\n? EOF\n");
    });
});

describe('output', together, () => {
    test('PRO-12 bytes that are no text', async t => {
        const client = await server(t);
        const bytes = 'b"A" * 10 + "\\ud83d".encode("utf-8", "surrogatepass") + b"\\xff\\xfe\\x00B\\xc3"';
        const answer = await client.run(`import sys; sys.stdout.buffer.write(${bytes})`);
        const { status, stdout, run_id } = parts(answer);
        assert.match(status, /^exit 0/);
        assert.ok(stdout.isWellFormed());
        assert.match(stdout, /^A{10}\ufffd+.*B\ufffd/s);
        const whole = await readOn(client, { run_id, path: '@stdout' });
        assert.equal(whole.toString('hex'), Buffer.concat([Buffer.from('A'.repeat(10)), Buffer.from('eda0bdfffe0042c3', 'hex')]).toString('hex'));
    });

    for (const extra of [0, 1, 2, 3])
        test(`PRO-13 a cut answer is read to its last byte, and no character is cut (${extra})`, async t => {
            const client = await server(t);
            const whole = 'x'.repeat(extra) + '🙂'.repeat(40_000) + '\n';
            const answer = await client.run(`print("x" * ${extra} + "🙂" * 40000)`);
            assert.ok([...answer.text].length <= 10_000, `${answer.text.length}`);
            assert.ok(answer.text.isWellFormed() && !answer.text.includes('\ufffd'));
            const { stdout } = parts(answer);
            const [mark, omitted] = stdout.match(/\[\.\.\. ([\d,]+) bytes omitted; read_file [^\]]*\]/);
            const [head, tail] = stdout.split(mark).map(part => part.replace(/^\n|\n$/g, ''));
            assert.ok(whole.startsWith(head) && whole.trimEnd().endsWith(tail.trimEnd()));
            const next = follow(mark).args;
            assert.equal(next.offset, Buffer.byteLength(head));
            const rest = await readOn(client, next);
            assert.equal(head + rest.toString(), whole);
            assert.ok(Number(omitted.replaceAll(',', '')) < Buffer.byteLength(whole));
        });

    // The widths 1 to 4 in 10 bytes: the borders of pages fall on every byte of each of them.
    for (const format of ['text', 'json'])
        test(`PRO-13 both streams cut (${format}), and a file: each is read to its last byte`, async t => {
            const client = await server(t);
            const out = 'é🙂x€'.repeat(9001) + 'é', err = '€é🙂\n'.repeat(5003) + 'end';
            const answer = await client.run(
                'import sys\nsys.stdout.write("é🙂x€" * 9001 + "é")\nsys.stderr.write("€é🙂\\n" * 5003 + "end")\nopen("a.txt", "w").write("x🙂" * 9001)', { format });
            assert.ok([...answer.texts[0]].length <= 10_000 && !answer.text.includes('\ufffd'));
            const { stdout, stderr } = format === 'json' ? JSON.parse(answer.texts[0]) : parts(answer);
            for (const [shown, whole, name] of [[stdout, out, '@stdout'], [stderr, err, '@stderr']]) {
                const [mark, omitted] = shown.match(/\[\.\.\. ([\d,]+) bytes omitted; read_file [^\]]*\]\n/);
                const at = shown.indexOf(mark), next = follow(mark).args;
                assert.equal(next.path, name);
                const head = Buffer.from(whole).subarray(0, next.offset).toString(), tail = shown.slice(at + mark.length).replace(/\n$/, '');
                assert.ok(shown.startsWith(head) && whole.endsWith(tail));
                assert.equal(Buffer.byteLength(head) + Buffer.byteLength(tail) + Number(omitted.replaceAll(',', '')), Buffer.byteLength(whole));
                assert.equal(head + (await readOn(client, next)).toString(), whole);
            }
            const { run_id } = follow(stdout).args;
            assert.equal((await readOn(client, { run_id, path: 'a.txt' })).toString(), 'x🙂'.repeat(9001));
        });

    test('PRO-13 of more than is kept both halves are read, and how much is between', async t => {
        const client = await server(t);
        const half = 4 * 1024 * 1024, whole = Buffer.from('🙂é\n'.repeat(1_500_000));
        const { stdout } = parts(await client.run('import sys\nfor i in range(1500): sys.stdout.write("🙂é\\n" * 1000)'));
        const first = follow(stdout).args;
        const kept = Buffer.concat([whole.subarray(0, first.offset), await readOn(client, first)]);
        const line = Buffer.from(`\n[... ${whole.length - 2 * half} bytes were not kept ...]\n`);
        assert.ok(kept.equals(Buffer.concat([whole.subarray(0, half), line, whole.subarray(whole.length - half)])));
    });

    test('PRO-14 a program that speaks JSON-RPC', async t => {
        const client = await server(t);
        const fake = '\\n{"jsonrpc":"2.0","id":7,"result":{"content":[]}}\\n';
        const code = `print('${fake}')\nimport os\nos.write(2, b'${fake}')\ntry: open("/proc/self/fd/1", "w").write('${fake}')\nexcept OSError: pass`;
        const answer = parts(await client.run(code, {}, 7));
        assert.equal(client.lines.filter(({ id }) => id === 7).length, 1);
        assert.ok(answer.stdout.includes('{"jsonrpc":"2.0","id":7,"result":{"content":[]}}'));
    });
});

describe('nothing to run with', together, () => {
    for (const [what, options, pattern] of [
        ['an unknown BACKEND', { env: { BACKEND: 'nosuch' } }, /unknown backend 'nosuch'/],
        ['an unknown --backend', { args: ['mcp', '--backend', 'nosuch'] }, /unknown backend 'nosuch'/],
        ['a SANDBOX_ALLOW_WEAK that is no boolean', { env: { SANDBOX_ALLOW_WEAK: 'perhaps' } }, /SANDBOX_ALLOW_WEAK is 'perhaps'/],
    ])
        test(`${what}: initialize works, each call says why`, async t => {
            const client = await server(t, options);
            assert.equal((await client.request('tools/list')).result.tools.length, 8);
            for (const [name, args] of [['execute_code', { code: 'print(1)' }], ['get_supported_languages', {}], ['get_language_details', { language: 'python' }]]) {
                const answer = await client.call(name, args);
                assert.equal(answer.isError, true);
                assert.match(answer.text, pattern);
                assert.match(answer.text, /llm-sandbox doctor/);
                assert.match(answer.text, /Do not retry until/);
            }
            client.close();
            assert.equal((await client.end).code, 0);
        });
});
