// SPDX-License-Identifier: MIT
// Runs as a Windows program: node mcp_client.cjs SERVER.EXE CALLS: one server, a call for each
// [tool, arguments] of the JSON array CALLS, then the end of its stdin. Prints one JSON object.
'use strict';
const { spawn } = require('child_process');

const [, , server, text] = process.argv;
const calls = JSON.parse(text);
const child = spawn(server, ['mcp', '--backend', 'job', '--allow-weak']);
const send = message => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const answers = {};
let rest = '', stderr = '', closed;

child.stdout.setEncoding('utf8').on('data', piece => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const line of lines) {
        const message = JSON.parse(line);
        answers[message.id] = message.result ?? message.error;
    }
    if (Object.keys(answers).length > calls.length && closed === undefined) {
        closed = Date.now();
        child.stdin.end();
    }
});
child.stderr.on('data', piece => { stderr += piece; });
child.on('exit', code => console.log(JSON.stringify({ answers, code, stderr, ms: Date.now() - closed })));
send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } });
calls.forEach(([name, args], at) => send({ id: at + 1, method: 'tools/call', params: { name, arguments: args } }));
