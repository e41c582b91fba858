// SPDX-License-Identifier: MIT
// `llm-sandbox mcp` as the official SDK's client sees it: it checks each answer against the
// protocol's schema.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { binary, fetched, packaged } from './fetched.mjs';

const load = name => import(pathToFileURL(packaged(name)));

test('the official SDK', { skip: !fetched && 'npm cannot fetch it', concurrency: 4 }, async t => {
    const { Client } = await load('@modelcontextprotocol/sdk/dist/esm/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/dist/esm/client/stdio.js');
    const { default: { default: Ajv } } = await load('ajv/dist/2020.js');

    /** A connected client. `errors` gets whatever the SDK finds wrong with what we say. */
    async function connect(t, args = ['mcp']) {
        const client = new Client({ name: 'test', version: '1' });
        const transport = new StdioClientTransport({ command: binary, args, stderr: 'pipe' });
        const errors = [];
        client.onerror = error => errors.push(error);
        await client.connect(transport);
        const { pid } = transport;
        t.after(async () => {
            await client.close();
            assert.deepEqual(errors, []);
            assert.ok(!fs.existsSync(`/proc/${pid}`), 'the server is gone');
        });
        return client;
    }
    const execute = (client, args, options) => client.callTool({ name: 'execute_code', arguments: args }, undefined, options);
    const rejects = (promise, code) => assert.rejects(promise, error => { assert.equal(error.code, code, error); return true; });

    await Promise.all([
        t.test('connects, pings, names itself', async t => {
            const client = await connect(t);
            assert.equal(client.getServerVersion().name, 'llm-sandbox');
            assert.ok(client.getInstructions().length > 100);
            assert.deepEqual(Object.keys(client.getServerCapabilities()).sort(), ['resources', 'tools']);
            await client.ping();
        }),

        t.test('each inputSchema is a strict JSON Schema that takes what it should', async t => {
            const client = await connect(t);
            const { tools, nextCursor } = await client.listTools();
            assert.equal(nextCursor, undefined);
            const examples = {
                execute_code: [[{ code: 'print(1)' }, { code: '1', language: 'js', timeout: 0.5, files: [{ path: 'a', text: '' }], args: ['x'], env: { A: 'b' } }],
                    [{}, { code: 1 }, { code: 'x', timeout: 0 }, { code: 'x', timeout: 3601 }, { code: 'x', langauge: 'js' }, { code: 'x', files: [{ text: '' }] }, { code: 'x', env: { A: 1 } }]],
                get_supported_languages: [[{}], [{ x: 1 }]],
                get_language_details: [[{ language: 'python' }], [{}, { language: 1 }]],
                job: [[{}, { job_id: 'r_x', action: 'kill', wait: 50 }], [{ action: 'stop' }, { wait: 51 }]],
                session: [[{ action: 'list' }], [{}, { action: 'nosuch' }]],
                read_file: [[{ run_id: 'r_x', path: '@stdout', offset: 0 }], [{}, { path: 'a', offset: -1 }, { path: 'a', offset: 0.5 }]],
                write_file: [[{ session_id: 's', path: 'a', text: '' }], [{ path: 'a' }]],
                list_files: [[{}, { run_id: 'r_x', path: 'd' }], [{ run_id: 1 }]],
            };
            assert.deepEqual(tools.map(({ name }) => name).sort(), Object.keys(examples).sort());
            for (const { name, inputSchema, outputSchema } of tools) {
                const validate = new Ajv({ strict: true, strictRequired: true }).compile(inputSchema); // throws at what it doesn't know
                const [good, bad] = examples[name];
                for (const args of good)
                    assert.ok(validate(args), `${name} ${JSON.stringify(args)}: ${JSON.stringify(validate.errors)}`);
                for (const args of bad)
                    assert.ok(!validate(args), `${name} refuses ${JSON.stringify(args)}`);
                assert.equal(outputSchema, undefined);
            }
        }),

        t.test('what a schema refuses is an error of the tool, not of the protocol', async t => {
            const client = await connect(t);
            for (const args of [{}, { code: 'x', timeout: 3601 }, { code: 'x', langauge: 'js' }]) {
                const answer = await execute(client, args);
                assert.equal(answer.isError, true);
                assert.equal(answer.content[0].type, 'text');
            }
            await rejects(client.callTool({ name: 'nosuch', arguments: {} }), -32602);
        }),

        t.test('code runs, and its file is read by tool and by link', async t => {
            const client = await connect(t);
            const answer = await execute(client, { code: 'open("ü.txt", "w").write("made")\nprint(6 * 7)' });
            assert.equal(answer.isError, false);
            assert.match(answer.content[0].text, /^exit 0 \|.*\bstdout:\n42\n$/s);
            const link = answer.content.find(({ type }) => type === 'resource_link');
            const { contents } = await client.readResource({ uri: link.uri });
            assert.deepEqual([contents[0].uri, contents[0].text], [link.uri, 'made']);
            const [, run_id] = answer.content[0].text.match(/run (r_\w+)/);
            const file = await client.callTool({ name: 'read_file', arguments: { run_id, path: 'ü.txt' } });
            assert.equal(file.content[0].text, 'made');
        }),

        t.test('every tool answers in the form of the protocol', async t => {
            const client = await connect(t);
            for (const [name, args] of [['get_supported_languages', {}], ['get_language_details', { language: 'python' }], ['job', {}],
                ['session', { action: 'list' }], ['read_file', { run_id: 'r_x', path: 'a' }], ['write_file', { session_id: 's', path: 'a' }], ['list_files', { run_id: 'r_x' }]]) {
                const answer = await client.callTool({ name, arguments: args }); // the SDK checks it
                assert.ok(answer.content.length > 0, name);
            }
        }),

        t.test('resources', async t => {
            const client = await connect(t);
            const { resources } = await client.listResources();
            const languages = resources.find(({ uri }) => uri === 'sandbox://languages');
            assert.ok(languages, JSON.stringify(resources));
            const { contents } = await client.readResource({ uri: languages.uri });
            assert.ok('python' in JSON.parse(contents[0].text));
            assert.ok(Array.isArray((await client.listResourceTemplates()).resourceTemplates));
            await rejects(client.readResource({ uri: 'sandbox://run/r_aaaaaaaaaaaaaaaa/x' }), -32002);
        }),

        t.test('progress reaches the client', async t => {
            const client = await connect(t);
            const told = [];
            await execute(client, { code: 'import time\nprint("half", flush=True)\ntime.sleep(2.5)' }, { onprogress: progress => told.push(progress) });
            assert.ok(told.length >= 1);
            assert.match(told[0].message, /half/);
        }),

        t.test('a cancelled call ends, and the next one runs', async t => {
            const client = await connect(t);
            const abort = new AbortController();
            const answer = execute(client, { code: 'print("here", flush=True)\nwhile True: pass' }, { signal: abort.signal, onprogress: () => abort.abort() });
            await assert.rejects(answer, /abort/i);
            const { content: [{ text }] } = await client.callTool({ name: 'job', arguments: {} });
            assert.doesNotMatch(text, / running /);
            assert.match((await execute(client, { code: 'print(1)' })).content[0].text, /^exit 0 /);
        }),

        t.test('what is not offered is refused by name', async t => {
            const client = await connect(t);
            await rejects(client.request({ method: 'prompts/list' }, { parse: value => value }), -32601);
        }),
    ]);
});
