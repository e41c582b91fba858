// SPDX-License-Identifier: MIT
// A guest that was taken over: the host must bear whatever comes from it. The guest here is a
// fake named as such: a Python script beside a copy of the binary, put into a real box.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { begin, binary, cli, complained, folder, processes, PYTHON, until } from './rig.mjs';

const { build } = JSON.parse((await cli(['version', '--json'])).stdout);

const script = act => `#!${PYTHON}
# fake-guest: hostile
import os, struct, sys, time
if sys.argv[1:] == ['janitor']: # run by the host outside of boxes
    while os.read(0, 4096): pass
    sys.exit(0)
def send(data):
    while data: data = data[os.write(1, data):]
def frame(kind, payload=b'', id=0, channel=0, length=None):
    return struct.pack('<IBBHI', len(payload) if length is None else length, kind, channel, 0, id) + payload
def hello(build):
    return frame(64, struct.pack('<I', 1) + build + struct.pack('<III', 1, 1, 1))
BUILD = b'${build}'
HELLO, ERROR, EXIT, DATA, END, CREDIT = hello(BUILD), 66, 67, 128, 129, 130
${act}
while os.read(0, 4096): pass # says nothing more, hears everything
`;

const acts = {
    'garbage': ['send(os.urandom(5000))', /broke the protocol/],
    'garbage after HELLO': ['send(HELLO + b"\\xff" * 5000)', /broke the protocol/],
    'a huge length': ['send(HELLO + frame(DATA, b"x", 3, 1, 0xffffffff))', /broke the protocol/],
    'data for nothing': ['send(HELLO + frame(DATA, b"x", 77, 1))', /DATA for no open stream/],
    'EXIT before the output ended': ['send(HELLO + frame(EXIT, b"", 2))', /EXIT/],
    'HELLO twice': ['send(HELLO * 2)', /a second HELLO/],
    'another build': ['send(hello(b"0" * 64))', /another build/],
    'data beyond its credit': ['send(HELLO)\nfor i in range(100): send(frame(DATA, b"x" * 65536, 2, 1))', /DATA/],
    'credit over the window': ['send(HELLO + frame(CREDIT, struct.pack("<I", 0xffffffff), 1))', /CREDIT/],
    'half a frame and the end': ['send(HELLO + frame(DATA, b"x" * 10, 2, 1)[:9])\nsys.exit(0)', /guest|sandbox/],
    'the end at once': ['sys.exit(3)', /./],
    'a flood that never ends': ['send(HELLO)\nwhile True: send(frame(ERROR, struct.pack("<IiI", 1, 0, 3) + b"why", 9))', /ERROR for nothing/],
};

describe('a hostile guest is harmless to the host', { concurrency: 4 }, () => {
    for (const [name, [act, said]] of Object.entries(acts))
        test(`hostile guest: ${name}`, async t => {
            const home = folder(t), product = path.join(home, 'llm-sandbox');
            fs.copyFileSync(binary, product);
            fs.writeFileSync(path.join(home, 'llm-sandbox-guest'), script(act), { mode: 0o755 });
            // Nobody reads the output yet: credit for more than a pipe holds can't come back.
            const run = begin(product, ['run', '-c', 'print(1)'], { slow: true });
            await until('it complains', () => run.stderr() !== '', 30_000);
            run.read();
            const end = await run.end;
            complained(end, said);
            // What stayed within the credit may have been passed on; all of it was not.
            assert.ok(/^x*$/.test(end.stdout) && end.bytes.length < 1024 * 1024, `${end.bytes.length} bytes`);
            await until('its box is gone', () => processes().every(({ args }) => !args.includes(product)));
        });

    test('hostile guest: silence is waited for, not for ever', async t => {
        const home = folder(t), product = path.join(home, 'llm-sandbox');
        fs.copyFileSync(binary, product);
        fs.writeFileSync(path.join(home, 'llm-sandbox-guest'), script(''), { mode: 0o755 });
        complained(await begin(product, ['run', '-c', 'print(1)']).end, /did not start a sandbox within 10 s/);
    });
});
