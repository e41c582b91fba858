// SPDX-License-Identifier: MIT
// OUT-01..08, OUT-10: every byte arrives, on the right stream, and a flood has an end.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { beginCode, code, host, json, marker, nothingLeft } from './rig.mjs';

const together = { concurrency: 3 };
const GIB = 2 ** 30, KEPT = 8 << 20; // produced and kept per stream, by default

/** The highest resident size the host reaches, in MiB: looked at until it ends. */
async function watchMemory(run) {
    let highest = 0;
    const look = setInterval(() => {
        try {
            highest = Math.max(highest, Number(fs.readFileSync(`/proc/${run.child.pid}/status`, 'latin1').match(/VmHWM:\s+(\d+)/)[1]) / 1024);
        } catch { /* it ended */ }
    }, 5);
    const end = await run.end;
    clearInterval(look);
    return { ...end, highest };
}

describe('OUT-01 endless output', { concurrency: 1 }, () => {
    test('OUT-01 1 GiB without newline, kept for JSON', async () => {
        const end = await watchMemory(beginCode('python', 'import os\nb=b"x"*65536\nwhile True: os.write(1,b)', ['--json', '-t', '60']));
        const result = JSON.parse(end.stdout);
        assert.deepEqual([result.status, end.code, result.limit], ['output_limit', 153, { name: 'output_produced', value: GIB }]);
        assert.equal(result.stdout_bytes, GIB);
        assert.equal(result.truncated, true);
        assert.ok(result.stdout.length < KEPT + 200, `${result.stdout.length} kept`);
        assert.equal(result.stdout, `${'x'.repeat(KEPT / 2)}\n[... ${GIB - KEPT} bytes omitted ...]\n${'x'.repeat(KEPT / 2)}`);
        assert.ok(end.highest > 1 && end.highest < 100, `the host grew to ${end.highest} MiB`);
    });

    test('OUT-01 1 GiB to stderr, passed on live, by a program that goes on after EPIPE', async () => {
        const mark = marker();
        const run = beginCode('python', `import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
b=b"x"*65536
while True:
  try: os.write(2,b)
  except OSError: pass`, ['-t', '60', '--', mark], { stdio: ['pipe', 'pipe', fs.openSync('/dev/null', 'w')] });
        const end = await watchMemory(run);
        assert.deepEqual([end.code, end.stdout], [153, '']);
        assert.ok(end.ms < 55_000, `it hung until the timeout: ${end.ms} ms`);
        assert.ok(end.highest > 1 && end.highest < 50, `the host grew to ${end.highest} MiB`);
        await nothingLeft(mark);
    });
});

describe('OUT-02 long output of a good program', together, () => {
    test('OUT-02 200,000 lines pass live, every byte of them', async () => {
        const end = await code('python', 'import sys\nfor i in range(200000): print("line",i)\nsys.exit(0)');
        assert.deepEqual([end.code, end.stderr], [0, '']);
        assert.equal(end.stdout, Array.from({ length: 200000 }, (_, i) => `line ${i}\n`).join(''));
    });

    test('OUT-02 with --json the first and last half are kept, the rest is counted, the status stays ok', async () => {
        const end = await json('python', `import os
for i in range(200): os.write(1, b"".join(b"line %09d %s\\n" % (i * 1000 + k, b"." * 85) for k in range(1000)))`);
        assert.deepEqual([end.status, end.exit, end.exit_code, end.truncated], ['ok', 0, 0, true]);
        assert.equal(end.stdout_bytes, 200_000 * 101);
        assert.match(end.stdout, /^line 000000000 /);
        assert.match(end.stdout, /line 000199999 \.+\n$/);
        const omitted = end.stdout.match(/\n\[\.\.\. (\d+) bytes omitted \.\.\.\]\n/);
        assert.equal(Number(omitted[1]), end.stdout_bytes - KEPT);
        assert.equal(end.stdout.length - omitted[0].length, KEPT);
    });
});

describe('OUT-03 two streams', together, () => {
    for (const [what, args] of [['live', []], ['json', ['--json']]]) {
        test(`OUT-03 stderr fills first, ${what}`, async () => {
            const end = await code('python', 'import os\nos.write(2,b"e"*1_000_000)\nos.write(1,b"o"*1_000_000)\nos.write(2,b"E")', args);
            const { stdout, stderr } = what === 'json' ? JSON.parse(end.stdout) : end;
            assert.equal(end.code, 0);
            assert.ok(stdout === 'o'.repeat(1_000_000) && stderr === 'e'.repeat(1_000_000) + 'E', `${stdout.length} and ${stderr.length}`);
        });

        test(`OUT-03 200,000 single bytes to each, in turn, ${what}`, async () => {
            const end = await code('python', 'import os\nfor i in range(200000): os.write(1,b"o"); os.write(2,b"e")', args);
            const { stdout, stderr } = what === 'json' ? JSON.parse(end.stdout) : end;
            assert.equal(end.code, 0);
            assert.ok(stdout === 'o'.repeat(200_000) && stderr === 'e'.repeat(200_000), `${stdout.length} and ${stderr.length}`);
        });
    }
});

describe('OUT-04..08 bytes', together, () => {
    const all = Buffer.from(Array.from({ length: 2048 }, (_, i) => i & 255));
    const binary = 'import os, sys; os.write(1, bytes(range(256))*8); os.write(2, b"\\x80\\x81err"); sys.exit(3)';

    test('OUT-04 binary output to a pipe is byte-exact, and the exit code is the program\'s', async () => {
        const end = await code('python', binary);
        assert.equal(end.code, 3);
        assert.deepEqual(end.bytes, all);
        assert.deepEqual(end.errors, Buffer.from('\x80\x81err', 'latin1'));
    });

    test('OUT-04 binary output in JSON is repaired, with the bytes beside it', async () => {
        const end = await json('python', binary);
        assert.deepEqual([end.status, end.exit_code, end.exit], ['error', 3, 3]);
        assert.equal(end.stdout, new TextDecoder('utf-8', { ignoreBOM: true }).decode(all));
        assert.equal(end.stderr, '\ufffd\ufffderr');
        assert.deepEqual(Buffer.from(end.stdout_base64, 'base64'), all);
        assert.deepEqual(Buffer.from(end.stderr_base64, 'base64'), Buffer.from('\x80\x81err', 'latin1'));
        assert.deepEqual([end.stdout_bytes, end.stderr_bytes], [2048, 5]);
    });

    test('OUT-04 bytes that are no UTF-8 at the very end are repaired, too', async () => {
        const end = await json('python', 'import os; os.write(1, b"A"*10 + "\\ud83d".encode("utf-8","surrogatepass") + b"\\xff\\xfe\\x00B\\xc3")');
        assert.equal(end.stdout, 'AAAAAAAAAA\ufffd\ufffd\ufffd\ufffd\ufffd\0B\ufffd');
        assert.equal(end.stdout_bytes, 18);
    });

    const exact = [
        ['OUT-05 NUL bytes', 'import os; os.write(1,b"a\\0b\\0\\0c\\n")', 'a\0b\0\0c\n', ''],
        ['OUT-08 CR, CRLF and lone CR', 'import os; os.write(1,b"a\\r\\nb\\rc\\n\\n\\r\\n"); os.write(2,b"\\r")', 'a\r\nb\rc\n\n\r\n', '\r'],
    ];
    for (const [name, text, stdout, stderr] of exact)
        test(`${name}, live and in JSON`, async () => {
            const live = await code('python', text);
            assert.deepEqual([live.stdout, live.stderr, live.code], [stdout, stderr, 0]);
            const kept = await json('python', text);
            assert.deepEqual([kept.stdout, kept.stderr, kept.stdout_bytes, kept.stdout_base64], [stdout, stderr, stdout.length, undefined]);
        });

    test('OUT-06 emoji over read boundaries, both streams', async () => {
        const end = await json('python', `import os
e="🚀".encode()
for k in range(3000):
    os.write(1,b"a"*(1021+k%4)); os.write(1,e[:2]); os.write(2,"é".encode()[:1]); os.write(1,e[2:]); os.write(2,"é".encode()[1:])`);
        assert.equal(end.status, 'ok');
        assert.equal(end.truncated, false);
        assert.equal(end.stdout.replaceAll('a', ''), '🚀'.repeat(3000));
        assert.equal(end.stderr, 'é'.repeat(3000));
        assert.deepEqual([end.stdout_base64, end.stderr_base64], [undefined, undefined]);
    });

    for (const stream of ['log', 'error'])
        test(`OUT-07 3 MiB by console.${stream}, then process.exit`, async () => {
            const end = await code('javascript', `console.${stream}("x".repeat(3<<20)); process.exit(0);`);
            const { length } = stream === 'log' ? end.bytes : end.errors;
            assert.deepEqual([end.code, length], [0, 3_145_729]);
        });
});

describe('OUT-10 output before a crash', together, () => {
    for (const [what, text] of [
        ['recurses until the stack is gone', `import os, sys
os.write(1, b"x\\n")
sys.setrecursionlimit(10**7)
def f(): return list(map(lambda _: f(), [0]))
f()`],
        ['reads address 0', 'import ctypes\nprint("x")\nctypes.string_at(0)'],
    ])
        test(`OUT-10 a program that ${what}: output kept, signal named, no core file`, async () => {
            const end = await json('python', text);
            assert.deepEqual([end.status, end.signal, end.exit_code, end.exit, end.stdout], ['signal', 11, null, 139, 'x\n']);
            assert.deepEqual(end.artifacts, []);
        });
});

test('live output leaves while the program runs, not at its end', async () => {
    const run = host(['run', '-l', 'bash', '--stdin', '-', '-c', 'echo first; read line; echo "then $line"'], {});
    await new Promise(resolve => run.child.stdout.once('data', resolve));
    assert.equal(run.stdout(), 'first\n');
    run.child.stdin.end('second\n');
    const end = await run.end;
    assert.deepEqual([end.code, end.stdout, end.stderr], [0, 'first\nthen second\n', '']);
});
