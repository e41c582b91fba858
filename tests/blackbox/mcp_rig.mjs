// SPDX-License-Identifier: MIT
// A raw MCP client: lines on stdin and stdout of the binary, nothing between.
import assert from 'node:assert/strict';
import { begin, binary, host, until } from './rig.mjs';

const ANSWER_MS = 30_000;

/** A server: {request, call, notify, raw, lines, close, end, child, stderr}. Options: `start` of rig.mjs's
 * ownRuntime or the like; `args`; `env`; `bare`: no initialize. */
export async function server(t, options = {}) {
    const start = options.start ?? host;
    const { child, end, exit, stderr } = start(options.args ?? ['mcp'], { env: options.env, slow: true });
    const waiting = new Map();
    const lines = [];
    let rest = Buffer.alloc(0), next = 1000;
    child.stdout.on('data', piece => {
        rest = Buffer.concat([rest, piece]);
        for (let at; (at = rest.indexOf(10)) >= 0; rest = rest.subarray(at + 1)) {
            const bytes = rest.subarray(0, at);
            const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
            assert.ok(!text.includes('\r') && text.startsWith('{'), `one JSON object in a line: ${text.slice(0, 200)}`);
            const message = JSON.parse(text);
            lines.push(message);
            if ('id' in message) {
                waiting.get(JSON.stringify(message.id))?.(message);
                waiting.delete(JSON.stringify(message.id));
            }
        }
    });
    const raw = text => child.stdin.write(text);
    const send = message => raw(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    const self = {
        child, end, exit, stderr, lines, raw, send,
        /** Sends a request; resolves to the whole answer. */
        request(method, params, id = next++) {
            const answer = new Promise((resolve, reject) => {
                const late = setTimeout(() => reject(new Error(`no answer to ${method} ${JSON.stringify(params)?.slice(0, 200)}; ${stderr()}`)), ANSWER_MS);
                waiting.set(JSON.stringify(id), message => { clearTimeout(late); resolve(message); });
                end.then(() => { clearTimeout(late); reject(new Error(`the server ended: ${stderr()}`)); });
            });
            answer.catch(() => {});
            send({ id, method, params });
            return answer;
        },
        /** tools/call: {isError, text (all text blocks), texts, images, links, content, id}. */
        async call(name, args, id) {
            const answer = await self.request('tools/call', { name, arguments: args }, id);
            assert.ok(answer.result, JSON.stringify(answer));
            const { content, isError } = answer.result;
            assert.deepEqual(Object.keys(answer.result).sort(), ['content', 'isError']);
            const texts = content.filter(({ type }) => type === 'text').map(({ text }) => text);
            return { isError, texts, text: texts.join('\n'), content,
                images: content.filter(({ type }) => type === 'image'), links: content.filter(({ type }) => type === 'resource_link') };
        },
        run: (code, args = {}, id) => self.call('execute_code', { code, ...args }, id),
        notify: (method, params) => send({ method, params }),
        ping: () => self.request('ping'),
        close: () => child.stdin.end(),
    };
    t.after(async () => {
        child.stdin.end();
        await end.catch(() => {});
    });
    if (!options.bare) {
        const answer = await self.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
        assert.equal(answer.result?.protocolVersion, '2025-11-25', JSON.stringify(answer));
        self.notify('notifications/initialized');
    }
    return self;
}

/** The answer's status line, its hint lines and streams: {status, stdout, stderr, run_id}. */
export function parts(answer) {
    assert.equal(answer.isError, false, answer.text);
    const [text] = answer.texts;
    const status = text.split('\n', 1)[0];
    const stream = name => {
        const at = text.search(new RegExp(`^${name}:$`, 'm'));
        if (at < 0)
            return '';
        const body = text.slice(at + name.length + 2);
        const next = name === 'stdout' ? body.search(/^stderr:$/m) : -1;
        return next < 0 ? body : body.slice(0, next);
    };
    return { status, stdout: stream('stdout'), stderr: stream('stderr'), run_id: status.match(/run (r_[a-z2-7]{16})/)?.[1] };
}

/** Reads on by following only what each answer says, from a call of read_file or (of a run that
 * goes on) job, whose `wait` stays: a Buffer. `on_page` sees each answer. */
export async function readOn(client, first, on_page = () => {}) {
    const pieces = [];
    const tool = 'job_id' in first ? 'job' : 'read_file';
    for (let call = { tool, args: first }, pages = 0; call; pages++) {
        assert.ok(pages < 5000);
        const answer = await client.call(call.tool, call.tool === 'job' ? { ...call.args, wait: first.wait } : call.args);
        assert.equal(answer.isError, false, answer.text);
        assert.ok([...answer.text].length <= 10_000, `${answer.text.length} characters`);
        on_page(answer);
        const texts = call.tool === 'job' ? answer.texts.slice(1) : answer.texts; // before it: how far it is
        const body = texts.length > 1 ? texts[0] : '';
        const [, from, to, total, grows, coding, rest] = texts.at(-1).match(/^\[bytes (\d+)-(\d+) of (\d+)( so far)?(, binary: as base64)?; (.*)\]$/);
        const bytes = Buffer.from(body, coding ? 'base64' : 'utf8');
        assert.equal(bytes.length, to - from);
        assert.ok(grows || call.tool === 'job' || Number(from) === (call.args.offset ?? 0), texts.at(-1)); // no byte twice
        pieces.push(bytes);
        call = follow(rest);
        assert.equal(call === null, to === total && !grows);
    }
    return Buffer.concat(pieces);
}

/** The call in "next: read_file run_id=... path=... offset=...", or of job: {tool, args}; null for "end". */
export function follow(text) {
    const job = text.match(/job job_id=(\S+) offset=(\d+)/);
    if (job)
        return { tool: 'job', args: { job_id: job[1], offset: Number(job[2]) } };
    const found = text.match(/read_file run_id=(\S+) path=("(?:[^"\\]|\\.)*"|\S+) offset=(\d+)/);
    return found && { tool: 'read_file', args: { run_id: found[1], path: found[2].startsWith('"') ? JSON.parse(found[2]) : found[2], offset: Number(found[3]) } };
}

export { begin, binary, until };
