// SPDX-License-Identifier: MIT
// PROC-01..11, 14, 15: how programs end, and what of them stays.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import { begin, beginCode, binary, code, file, json, marked, marker, nothingLeft, processes, said, until } from './rig.mjs';

const together = { concurrency: 4 };

describe('PROC-01 a grandchild keeps the pipe', together, () => {
    for (const [what, args] of [['live', []], ['json', ['--json']]])
        test(`PROC-01 child exits, grandchild keeps the pipe, ${what}`, async () => {
            const mark = marker();
            const end = await code('python', `import subprocess,sys
subprocess.Popen([sys.executable,"-c","import time; time.sleep(60)","${mark}"])
print("parent done",flush=True)`, args);
            assert.equal(end.code, 0);
            assert.equal(what === 'json' ? JSON.parse(end.stdout).stdout : end.stdout, 'parent done\n');
            assert.ok(end.ms < 20_000, `the sleeper of 60 s was waited for: ${end.ms} ms`);
            await nothingLeft(mark);
        });

    test('PROC-02 daemonised, signal-proof, chatty grandchild', async () => {
        const mark = marker();
        const end = await code('python', `import os, signal, time
if os.fork() == 0:
    os.setsid()
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
    if os.fork() == 0:
        while True: os.write(1, b"tick\\n"); time.sleep(1)
    os._exit(0)
os.wait(); print("launched", flush=True)`, ['--', mark]);
        assert.equal(end.code, 0, end.stderr);
        assert.match(end.stdout, /^launched$/m);
        assert.ok(end.ms < 20_000, `${end.ms} ms`);
        await nothingLeft(mark);
    });
});

describe('PROC-03 closed streams', together, () => {
    test('PROC-03 closes stdout and stderr, runs on, until the timeout', async () => {
        const end = await json('python', 'import os,time; os.write(1,b"before\\n"); os.close(1); os.close(2); time.sleep(60)', ['-t', '1.5']);
        assert.deepEqual([end.status, end.exit, end.stdout], ['timeout', 124, 'before\n']);
        assert.ok(end.duration_ms >= 1500 && end.elapsed < 20_000, `${end.duration_ms} ms of ${end.elapsed} ms`);
    });

    test('PROC-03 closes stdout and stderr, ends later: the exit code counts, not the end of output', async () => {
        const end = await json('python', 'import os,time; os.write(1,b"before\\n"); os.close(1); os.close(2); time.sleep(0.7); os._exit(4)');
        assert.deepEqual([end.status, end.exit_code, end.exit, end.stdout], ['error', 4, 4, 'before\n']);
        assert.ok(end.duration_ms >= 700, `${end.duration_ms} ms`);
    });

    test('PROC-03 closes stdout after writing JSON to it', async () => {
        said(await code('python', 'import json,sys; json.dump({"v":1},sys.stdout); sys.stdout.close()'), '{"v": 1}');
    });
});

describe('PROC-04 and 05: stops itself, ignores signals', together, () => {
    test('PROC-04 stops itself and its process group', async () => {
        const mark = marker();
        const end = await json('python', 'import os,signal; print("stopping",flush=True); os.kill(0,signal.SIGSTOP); print("never")',
            ['-t', '1.5', '--', mark]);
        assert.deepEqual([end.status, end.exit, end.stdout], ['timeout', 124, 'stopping\n']);
        assert.ok(end.elapsed < 20_000, `${end.elapsed} ms`);
        await nothingLeft(mark);
    });

    for (const [what, text] of [
        ['ignores SIGTERM', 'import signal; signal.signal(15, signal.SIG_IGN)\nwhile True: pass'],
        ['catches everything', 'import time\nwhile True:\n  try: time.sleep(100)\n  except BaseException: continue'],
    ])
        test(`PROC-05 ${what}: a timeout is a timeout`, async () => {
            const mark = marker();
            const end = await json('python', text, ['-t', '1.5', '--', mark]);
            assert.deepEqual([end.status, end.exit_code, end.signal, end.exit], ['timeout', null, null, 124]);
            assert.deepEqual(end.limit, { name: 'timeout', value: 1500 });
            assert.ok(end.duration_ms >= 1500 && end.elapsed < 20_000, `${end.duration_ms} ms of ${end.elapsed} ms`);
            await nothingLeft(mark);
        });

    test('PROC-05 says on stderr, to people, that it was the timeout', async () => {
        const end = await code('bash', 'echo begun; sleep 100', ['-t', '0.5']);
        assert.deepEqual([end.code, end.stdout, end.stderr], [124, 'begun\n', 'llm-sandbox: timeout: killed after 0.500 s\n']);
    });
});

describe('PROC-06 kills everything it can', together, () => {
    const attack = pids => `import os, signal, time
for pid in ${pids}:
    try: os.kill(pid, signal.SIGKILL); print(pid, "sent", flush=True)
    except OSError as e: print(pid, e, flush=True)
time.sleep(.2); print("alive")`;

    for (const [what, pids] of [['everybody', '(-1,)'], ['PID 1', '(1,)'], ['its parent', '(os.getppid(),)'], ['all of them', '(-1, 1, os.getppid())']])
        test(`PROC-06 kills ${what}: only the box is hit`, async () => {
            const mark = marker(); // ours, of the same user where we are not root
            const bystander = begin('sleep', [mark]);
            await until('the bystander is there', () => marked(mark).length === 1);
            const end = await json('python', attack(pids));
            if (end.status === 'ok')
                assert.match(end.stdout, /alive\n$/);
            else
                assert.deepEqual([end.status, end.signal, end.exit], ['signal', 9, 137], JSON.stringify(end));
            assert.equal(marked(mark).length, 1, 'a process outside the box was killed');
            bystander.child.kill();
            await bystander.end;
            said(await code('bash', 'echo next'), 'next\n');
        });

    test('PROC-06 nothing of a box runs as root', async () => {
        const mark = marker();
        const run = beginCode('bash', `sleep ${mark}`);
        const [sleeper] = await until('it sleeps', () => marked(mark).length > 0 && marked(mark));
        const wrappers = processes().filter(({ ppid }) => ppid === run.child.pid);
        assert.ok(wrappers.length > 0);
        assert.deepEqual([sleeper, ...wrappers].filter(({ uid }) => uid === 0), []);
        run.child.kill('SIGTERM');
        assert.equal((await run.end).code, 143);
        await nothingLeft(mark);
    });
});

describe('PROC-07 exit codes and signals, one table', together, () => {
    const rows = [
        ['python', 'import sys; sys.exit(256)', 'ok', 0, null, 0],
        ['python', 'import sys; sys.exit(-1)', 'error', 255, null, 255],
        ['python', 'import sys; sys.exit("text")', 'error', 1, null, 1, 'text\n'],
        ['python', 'import os; os._exit(300)', 'error', 44, null, 44],
        ['python', 'import sys; sys.exit(137)', 'error', 137, null, 137],
        ['python', 'import sys; sys.exit(139)', 'error', 139, null, 139],
        ['python', 'import os; os.abort()', 'signal', null, 6, 134],
        ['python', 'import os; os.kill(os.getpid(),11)', 'signal', null, 11, 139],
        ['python', 'import os; os.kill(os.getpid(),9)', 'signal', null, 9, 137],
        ['python', 'import os; os.kill(os.getpid(),15)', 'signal', null, 15, 143],
        ['python', 'import os,signal; os.kill(os.getpid(),signal.SIGRTMIN)', 'signal', null, 34, 162],
        ['javascript', 'process.exitCode=300', 'error', 44, null, 44],
        ['javascript', 'process.kill(process.pid, "SIGKILL")', 'signal', null, 9, 137],
        ['bash', 'kill -SEGV $$', 'signal', null, 11, 139],
        ['bash', 'exit 139', 'error', 139, null, 139],
    ];
    for (const [language, text, status, exit_code, signal, exit, stderr = ''] of rows)
        test(`PROC-07 ${language}: ${text}`, async () => {
            const end = await json(language, text);
            assert.deepEqual([end.status, end.exit_code, end.signal, end.exit, end.stderr], [status, exit_code, signal, exit, stderr]);
        });

    test('PROC-07 people are told of a signal, and of nothing when the program exits by itself', async () => {
        const killed = await code('bash', 'kill -SEGV $$');
        assert.deepEqual([killed.code, killed.stderr], [139, 'llm-sandbox: the program was killed by signal 11 (SIGSEGV)\n']);
        const exited = await code('bash', 'exit 139');
        assert.deepEqual([exited.code, exited.stderr], [139, '']);
    });

    test('PROC-08 a non-zero exit is not lost with live output', async () => {
        const end = await code('python', 'import sys; print("x",flush=True); sys.stderr.write("bad"); sys.exit(3)');
        assert.deepEqual([end.code, end.stdout, end.stderr], [3, 'x\n', 'bad']);
    });
});

describe('PROC-09 signal state of the program', together, () => {
    const state = 'grep -E "^Sig(Blk|Ign)" /proc/self/status';
    const clean = 'SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n';

    test('PROC-09 masks are empty', async () => {
        said(await code('bash', state), clean);
    });

    test('PROC-09 masks are empty when the host was started with signals ignored and blocked', async t => {
        const program = file(t, 'state.sh', state);
        said(await begin('env', ['--ignore-signal=PIPE,INT,QUIT,HUP,CHLD,USR1', '--block-signal=TERM,CHLD,USR2,SEGV', binary, 'run', program]).end, clean);
    });

    for (const [what, wrapper] of [['normally', []], ['with SIGPIPE ignored', ['--ignore-signal=PIPE', '--block-signal=TERM']]])
        test(`PROC-09 a pipeline ends by SIGPIPE, host started ${what}`, async t => {
            const program = file(t, 'pipe.sh', 'yes | head -1; echo ${PIPESTATUS[0]}\n');
            said(await begin('env', [...wrapper, binary, 'run', '-t', '10', program]).end, 'y\n141\n');
        });
});

describe('PROC-10 and 11: descriptors', together, () => {
    const list = `import os
print(sorted(map(int,os.listdir("/proc/self/fd"))))
print([os.readlink("/proc/self/fd/%d"%f).split(":")[0] for f in (0,1,2)])`;

    test('PROC-10 no descriptor leaks into the box, with other runs and inherited ones around', async t => {
        const mark = marker();
        const others = Array.from({ length: 5 }, () => beginCode('bash', `echo up; sleep ${mark}`));
        await until('five others run', () => others.every(other => other.stdout() === 'up\n'));
        const dir = fs.openSync('/', 'r');
        t.after(() => fs.closeSync(dir));
        const end = await code('python', list, [], { stdio: ['pipe', 'pipe', 'pipe', dir, 'pipe', dir, 'ignore', 'pipe'] });
        said(end, "[0, 1, 2, 3]\n['/dev/null', 'pipe', 'pipe']\n"); // 3 is the listing itself
        for (const other of others)
            other.child.kill('SIGTERM');
        await Promise.all(others.map(other => other.end));
        await nothingLeft(mark);
    });

    test('PROC-10 with --stdin, 0 is a pipe and nothing more is open', async t => {
        const program = file(t, 'list.py', list);
        said(await begin(binary, ['run', '--stdin', '-', program], { input: 'x' }).end, "[0, 1, 2, 3]\n['pipe', 'pipe', 'pipe']\n");
    });

    test('PROC-11 a slow reader makes writes wait, not fail', async () => {
        const run = beginCode('python', `import os, fcntl
os.write(2, b"flags=%d " % fcntl.fcntl(1, fcntl.F_GETFL))
for i in range(64):
    left = b"o" * 65536
    while left:
        left = left[os.write(1, left):]
    os.write(2, b".")
os.write(2, b" ok")`, [], { slow: true });
        const dots = () => run.stderr().split('.').length;
        let before = 0, same = 0;
        await until('the program waits for its reader', () => {
            same = dots() === before ? same + 1 : 0;
            before = dots();
            return before > 1 && same > 25; // no dot for half a second
        });
        assert.ok(dots() < 64, 'all 4 MiB were taken without a reader: the test proves nothing');
        run.read();
        const end = await run.end;
        assert.deepEqual([end.code, end.bytes.length, end.stderr], [0, 4 << 20, `flags=1 ${'.'.repeat(64)} ok`]);
    });

    test('PROC-11 O_NONBLOCK set by a program stays with it', async t => {
        const program = file(t, 'nonblock.py', `import os
for f in (0, 1, 2): os.set_blocking(f, False)
os.write(1, b"set\\n")`);
        // The second program and grep share stdout and stderr with the first host.
        const end = await begin('sh', ['-c', `"$0" run "$1" 2>&1 && "$0" run "$1" 2>&1 && grep flags /proc/self/fdinfo/1 | cat`, binary, program]).end;
        const flags = end.stdout.match(/^set\nset\nflags:\s+0?(\d+)\n$/);
        assert.ok(flags, end.stdout + end.stderr);
        assert.equal(parseInt(flags[1], 8) & 0o4000, 0, end.stdout);
    });
});

describe('PROC-14 wall time limits all kinds of waiting and work', { concurrency: 3 }, () => {
    const rows = [
        ['sleeps', 'import time; time.sleep(60)'],
        ['is busy', 'while True: pass'],
        ['is busy in 4 threads', `import hashlib, threading
for i in range(4): threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"x", b"y", 10**9)).start()`],
        ['waits for a child', `import subprocess, sys; subprocess.run(["sleep", sys.argv[1]])`],
        ['reads an empty pipe', 'import os; r, w = os.pipe(); os.read(r, 1)'],
        ['forks and waits for ever', 'import os\nwhile True: os.fork() or os._exit(0); os.wait()'],
    ];
    for (const [what, text] of rows)
        test(`PROC-14 timeout of a program that ${what}`, async () => {
            const mark = marker();
            const end = await json('python', text, ['-t', '1.2', '--', mark]);
            assert.deepEqual([end.status, end.exit, end.limit], ['timeout', 124, { name: 'timeout', value: 1200 }], JSON.stringify(end));
            assert.ok(end.duration_ms >= 1200 && end.elapsed < 20_000, `${end.duration_ms} ms of ${end.elapsed} ms`);
            await nothingLeft(mark);
        });
});

describe('PROC-15 partial output on timeout', together, () => {
    const rows = [
        ['python', 'import time; print("one"); print("two"); time.sleep(60)', 'one\ntwo\n'],
        ['javascript', 'process.stdout.write("one\\n"); setTimeout(()=>{},60000)', 'one\n'],
        ['bash', 'echo one; sleep 60', 'one\n'],
    ];
    for (const [language, text, stdout] of rows)
        test(`PROC-15 partial output on timeout, ${language}`, async () => {
            const end = await json(language, text, ['-t', '3']);
            assert.deepEqual([end.status, end.stdout, end.stderr], ['timeout', stdout, '']);
        });
});
