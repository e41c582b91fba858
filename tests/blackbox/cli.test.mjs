// SPDX-License-Identifier: MIT
// CLI-01..06: exit statuses, pipes, interrupts, closed descriptors, hostile surroundings, arguments.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { PYTHON, begin, beginCode, binary, cli, code, complained, file, folder, host, json, marked, marker, nothingLeft, ownRuntime, processes, said, terminal, until } from './rig.mjs';

const together = { concurrency: 4 };
const shell = (line, args, options) => begin('sh', ['-c', line, binary, ...args], options).end;

describe('CLI-01 whose exit code', together, () => {
    for (const status of [1, 2, 3, 124, 125, 126, 127, 130, 137, 255])
        test(`CLI-01 the program's own ${status}`, async () => {
            const end = await json('python', `import sys; sys.exit(${status})`);
            assert.deepEqual([end.exit, end.exit_code, end.status, end.signal, end.limit], [status, status, 'error', null, null]);
        });

    test('CLI-01 a timeout is told apart from exit 124', async () => {
        const end = await json('bash', 'sleep 60', ['-t', '0.3']);
        assert.deepEqual([end.exit, end.exit_code, end.status, end.limit], [124, null, 'timeout', { name: 'timeout', value: 300 }]);
    });

    for (const [what, args, pattern] of [
        ['unknown option', ['run', '--langauge', 'python', '-c', '1'], /unknown option '--langauge': did you mean --language\?/],
        ['option without value', ['run', '-c'], /option --code needs a value/],
        ['no program', ['run', '-l', 'python'], /no program/],
        ['two programs', ['run', '-c', '1', 'x.py'], /two programs/],
        ['unknown language', ['run', '-l', 'pyhton', '-c', '1'], /unknown language 'pyhton': did you mean 'python'\?/],
        ['unknown backend', ['run', '--backend', 'nosuch', '-c', '1'], /unknown backend 'nosuch': this system has bubblewrap, auto/],
        ['timeout that is no number', ['run', '-t', 'soon', '-c', '1'], /--timeout is 'soon': a number is needed/],
        ['timeout 0', ['run', '-t', '0', '-c', '1'], /timeout 0 is out of range/],
        ['negative timeout', ['run', '-t', '-1', '-c', '1'], /timeout -1000 is out of range/],
        ['timeout too long', ['run', '-t', '3601', '-c', '1'], /timeout 3601000 is out of range/],
        ['missing file', ['run', '/nowhere/x.py'], /cannot read the program '\/nowhere\/x.py': no such file or directory/],
        ['missing input', ['run', '--stdin', '/nowhere/in', '-c', '1'], /cannot read the input '\/nowhere\/in'/],
        ['stdin twice', ['run', '--stdin', '-', '-'], /stdin can't be both/],
        ['unknown command', ['rnu'], /unknown command 'rnu'/],
        ['operand of doctor', ['doctor', 'x'], /'doctor' takes no operand/],
        ['operand of languages', ['languages', 'x'], /'languages' takes no operand/],
        ['operand of version', ['version', 'x'], /'version' takes no operand/],
        ['help for nothing', ['help', 'nosuch'], /unknown command 'nosuch'/],
    ])
        test(`CLI-01 usage: ${what}`, async () => {
            const end = await cli(args);
            complained(end, pattern);
            assert.equal(end.stdout, '');
        });

    for (const [variable, value, pattern] of [
        ['BACKEND', 'nosuch', /unknown backend 'nosuch'/],
        ['SANDBOX_ALLOW_WEAK', 'perhaps', /SANDBOX_ALLOW_WEAK is 'perhaps': use true or false/],
    ])
        test(`CLI-01 environment: ${variable}=${value}`, async () => {
            complained(await code('python', '1', [], { env: { [variable]: value } }), pattern);
            said(await code('python', 'print(1)', ['--backend', 'auto', '--allow-weak'], { env: { [variable]: value } }), '1\n');
        });

    test('CLI-01 our own inability in JSON', async () => {
        const end = await json('python', '1', ['--backend', 'nosuch']);
        assert.deepEqual([end.exit, end.status, end.exit_code], [125, 'host_error', null]);
        assert.match(end.error, /^unknown backend 'nosuch'/);
    });
});

describe('CLI-02 output into pipes', together, () => {
    const big = 'import os\nfor i in range(80): os.write(1, b"b" * 65536)';

    test('CLI-02 5 MiB of JSON for a reader that comes late', async t => {
        const mark = marker();
        const run = host(['run', '--json', '--stdin', '-', '-c', `input()\n${big}`, '--', mark], { slow: true });
        await until('it waits for a line', () => marked(mark).length > 0);
        run.child.stdin.end('\n');
        await nothingLeft(mark); // the program is over, its result waits
        run.read();
        const end = await run.end;
        assert.deepEqual([end.code, JSON.parse(end.stdout).stdout.length], [0, 80 * 65536]);
    });

    test('CLI-02 a reader that leaves early ends the program quietly', async t => {
        const mark = marker();
        const flood = file(t, 'flood.py', 'while True: print("y")');
        // --norc: with a socket as stdin bash takes itself for a remote shell, and reads its owner's settings
        const end = await begin('bash', ['--norc', '-c', '"$0" run "$1" -- "$2" | head -1; echo "${PIPESTATUS[0]}"', binary, flood, mark]).end;
        assert.deepEqual([end.stdout, end.stderr], ['y\n141\n', '']);
        assert.ok(end.ms < 20_000, `${end.ms} ms`);
        await nothingLeft(mark);
    });

    for (const [what, args] of [
        ['live output', ['run', '-l', 'bash', '-c', 'echo x; sleep 60']], ['JSON', ['run', '--json', '-c', '1']],
        ['help', ['help']], ['version', ['version']], ['languages', ['languages']], ['doctor', ['doctor']],
    ])
        test(`CLI-02 a full disk: ${what}`, async () => {
            const full = fs.openSync('/dev/full', 'w');
            const end = await host(args, { stdio: ['ignore', full, 'pipe'] }).end;
            fs.closeSync(full);
            complained(end, /cannot write the output: no space left on device/);
        });

    test('CLI-02 stderr that leads nowhere stops nothing', async () => {
        const full = fs.openSync('/dev/full', 'w');
        const end = await host(['run', '-l', 'bash', '-c', 'echo out; exit 3'], { stdio: ['ignore', 'pipe', full] }).end;
        fs.closeSync(full);
        assert.deepEqual([end.code, end.stdout], [3, 'out\n']);
    });
});

describe('CLI-03 interrupts', together, () => {
    const stubborn = `import signal, time
for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)
print("up", flush=True)
while True: time.sleep(100)`;

    for (const [name, signals, status] of [
        ['SIGINT', ['SIGINT'], 130], ['double SIGINT', ['SIGINT', 'SIGINT'], 130], ['SIGTERM', ['SIGTERM'], 143], ['SIGHUP', ['SIGHUP'], 129],
        ['SIGINT, then SIGTERM', ['SIGINT', 'SIGTERM'], null],
    ])
        for (const args of [[], ['--json']])
            test(`CLI-03 ${name}${args.length > 0 ? ', json' : ''}, while the program ignores it`, async t => {
                const mark = marker();
                const { start, instances } = ownRuntime(t);
                const run = start(['run', '-l', 'python', ...args, '-', '--', mark], { input: stubborn });
                await until('it runs', () => (args.length > 0 ? marked(mark).length > 0 : run.stdout() === 'up\n'));
                const sent = Date.now();
                for (const signal of signals)
                    run.child.kill(signal);
                const end = await run.end;
                // A second signal may come when all is over and nothing catches it any more.
                const ended = end.code ?? { SIGINT: 130, SIGTERM: 143 }[signals[1] && end.signal];
                assert.ok(status === null ? [130, 143].includes(ended) : ended === status, `${end.code} ${end.signal} ${end.stderr}`);
                assert.equal(end.stderr, '');
                assert.ok(Date.now() - sent < 10_000);
                await nothingLeft(mark);
                assert.deepEqual(instances(), []);
            });

    test('CLI-03 SIGPIPE and the signals of a job are no reason to stop', async () => {
        const run = host(['run', '-l', 'bash', '--stdin', '-', '-c', 'echo up; read line; echo "$line"']);
        await until('it runs', () => run.stdout() === 'up\n');
        for (const signal of ['SIGPIPE', 'SIGCHLD', 'SIGWINCH', 'SIGURG', 'SIGCONT'])
            run.child.kill(signal);
        run.child.stdin.end('on\n');
        said(await run.end, 'up\non\n');
    });

    test('CLI-03 nohup: a hang-up that was ignored stays ignored', async () => {
        const run = begin('env', ['--ignore-signal=HUP', binary, 'run', '-l', 'bash', '--stdin', '-', '-c', 'echo up; read line; echo "$line"']);
        await until('it runs', () => run.stdout() === 'up\n');
        run.child.kill('SIGHUP');
        run.child.stdin.end('on\n');
        said(await run.end, 'up\non\n');
    });

    test('CLI-03 an interrupt while input is awaited', async () => {
        const mark = marker();
        const run = host(['run', '-l', 'bash', '--stdin', '-', '-c', 'echo up; cat; sleep 100', '--', mark]);
        await until('it runs', () => run.stdout() === 'up\n');
        run.child.kill('SIGINT');
        assert.equal((await run.end).code, 130);
        await nothingLeft(mark);
    });

    test('CLI-03 an interrupt while nobody reads the output', async () => {
        const mark = marker();
        const run = beginCode('python', 'import os\nwhile True: os.write(1, b"x" * 65536)', ['--', mark], { slow: true });
        await until('it runs', () => marked(mark).length > 0);
        run.child.kill('SIGINT');
        const [status] = await run.exit;
        assert.equal(status, 130);
        run.read();
        await run.end;
        await nothingLeft(mark);
    });

    for (const args of [[], ['--json']])
        test(`CLI-03 an interrupt when the program is over and nobody reads what it said${args.length > 0 ? ', json' : ''}`, async t => {
            const mark = marker();
            const pipe = path.join(folder(t), 'pipe'); // with both ends open here: it fills up and stays
            execFileSync('mkfifo', [pipe]);
            const ends = fs.openSync(pipe, 'r+');
            const run = host(['run', ...args, '--stdin', '-', '-c', 'input()\nimport os; os.write(1, b"x" * 200_000)', '--', mark],
                { stdio: ['pipe', ends, 'pipe'] });
            await until('it waits for a line', () => marked(mark).length > 0);
            run.child.stdin.end('\n');
            await nothingLeft(mark);
            await until('its box is gone', () => processes().every(({ ppid }) => ppid !== run.child.pid));
            run.child.kill('SIGINT');
            const end = await run.end;
            fs.closeSync(ends);
            assert.ok(end.code === 130 || end.signal === 'SIGINT', `${end.code} ${end.signal}`);
        });

    test('CLI-03 Ctrl-C on a terminal: the program is gone, the terminal as it was', async t => {
        const mark = marker();
        const end = await terminal(['--type', 'up', '\\x03'], [binary, 'run', file(t, 'x.py', stubborn), '--', mark]);
        assert.match(end.output, /^up(\r\n)?$/);
        assert.deepEqual([end.status, end.typed, end.modes], [130, 0, true]);
        await nothingLeft(mark);
    });

    test('CLI-03 the terminal is closed', async t => {
        const mark = marker();
        const end = await terminal(['--hang-up', 'up'], [binary, 'run', file(t, 'x.py', stubborn), '--', mark]);
        assert.equal(end.status, 129);
        await nothingLeft(mark);
    });

    test('a terminal gets no escape sequences, a pipe gets every byte', async t => {
        const text = String.raw`printf 'bar 10%%\rbar 100%%\n\033[31mred\033[0m \033]52;c;cHdu\007\302\2330m \303\251 end\n'`;
        const program = file(t, 'x.sh', text);
        const shown = await terminal([], [binary, 'run', program]);
        assert.deepEqual([shown.output, shown.status], ['bar 10%\rbar 100%\r\nred  é end\r\n', 0]);
        const piped = await cli(['run', program]);
        assert.deepEqual(piped.bytes, Buffer.from('bar 10%\rbar 100%\n\x1b[31mred\x1b[0m \x1b]52;c;cHdu\x07\xc2\x9b0m \xc3\xa9 end\n', 'latin1'));
    });
});

describe('CLI-04 closed standard descriptors', together, () => {
    const list = 'import os, sys; os.write(2, repr((sorted(map(int, os.listdir("/proc/self/fd"))), os.read(0, 9))).encode()); print("out")';
    const seen = "([0, 1, 2, 3], b'')";

    for (const [closed, stdout, stderr] of [
        ['<&-', 'out\n', seen], ['>&-', '', seen], ['2>&-', 'out\n', ''], ['<&- >&- 2>&-', '', ''], ['<&- 2>&-', 'out\n', ''], ['<&- >&-', '', seen],
    ])
        test(`CLI-04 ${closed}`, async t => {
            const end = await shell(`"$0" run "$1" ${closed}`, [file(t, 'x.py', list)]);
            assert.deepEqual([end.code, end.stdout, end.stderr], [0, stdout, stderr]);
        });

    test('CLI-04 no protocol byte ends up in a file the caller has open', async t => {
        const dir = folder(t);
        const end = await shell('exec 3>"$2/3" 4>"$2/4" 5>"$2/5"; "$0" run "$1" <&- >&- 2>&-', [file(t, 'x.py', list), dir]);
        assert.equal(end.code, 0);
        for (const name of ['3', '4', '5'])
            assert.equal(fs.statSync(path.join(dir, name)).size, 0);
    });

    test('CLI-04 code or input from a closed stdin is empty or refused, not somebody else\'s', async () => {
        const end = await shell('"$0" run - <&-', []);
        assert.ok(end.code === 0 && end.stdout === '' || end.code === 125, JSON.stringify(end));
        said(await shell('"$0" run --stdin - -c "print(repr(input.__self__ and open(0).read()))" <&-', []), "''\n");
    });
});

describe('CLI-05 hostile surroundings', together, () => {
    const runs = (end, stdout = 'ok\n') => said(end, stdout);
    const args = ['run', '-l', 'python', '-c', 'print("ok")'];
    const asUs = env => begin('env', ['-i', ...env, binary, ...args]).end;

    test('CLI-05 no environment at all', async () => runs(await asUs([])));
    test('CLI-05 HOME unset', async () => runs(await asUs(['PATH=/usr/bin:/bin'])));
    test('CLI-05 HOME=/nonexistent', async () => runs(await asUs(['PATH=/usr/bin:/bin', 'HOME=/nonexistent'])));
    test('CLI-05 HOME of somebody else', async () => runs(await asUs(['PATH=/usr/bin:/bin', 'HOME=/'])));
    test('CLI-05 TMPDIR missing', async () => runs(await asUs(['TMPDIR=/nonexistent'])));
    test('CLI-05 PATH empty', async () => runs(await asUs(['PATH='])));
    test('CLI-05 XDG_RUNTIME_DIR missing', async () => runs(await asUs(['XDG_RUNTIME_DIR=/nonexistent'])));
    test('CLI-05 120 kB in one variable', async () => runs(await asUs([`BIG=${'x'.repeat(120_000)}`])));
    test('CLI-05 BACKEND of 120 kB', async () => complained(await asUs([`BACKEND=${'x'.repeat(120_000)}`]), /BACKEND is too long/));

    for (const [language, text, stdout] of [['JAVASCRIPT', 'console.log("ok")', 'ok\n'], ['PYTHON', 'print("ok")', 'ok\n'], ['Shell', 'echo ok', 'ok\n']])
        test(`CLI-05 Turkish: -l ${language} is still found`, async () =>
            runs(await code(language, text, [], { env: { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' } }), stdout));

    test('CLI-05 the current directory was deleted', async t => {
        const dir = path.join(folder(t), 'gone');
        runs(await shell('mkdir "$1" && cd "$1" && rmdir "$1" && exec "$0" run -c "print(\'ok\')"', [dir]));
    });

    test('CLI-05 the current directory can\'t be read', async t => {
        const dir = path.join(folder(t), 'closed');
        fs.mkdirSync(dir, { mode: 0o311 });
        runs(await cli(args, { cwd: dir }));
    });

    test('CLI-05 umask 0777: files can be used', async t => {
        const out = path.join(folder(t), 'out');
        runs(await shell('umask 0777; exec "$0" run --out "$1" -l bash -c "echo x >x; mkdir d; echo y >d/y; echo ok"', [out]));
        assert.equal(fs.statSync(path.join(out, 'x')).mode & 0o600, 0o600);
        assert.equal(fs.statSync(path.join(out, 'd')).mode & 0o700, 0o700);
        assert.equal(fs.readFileSync(path.join(out, 'd/y'), 'utf8'), 'y\n');
    });

    test('CLI-05 umask 0: nothing of ours is open to others', async t => {
        const { start, instances, made } = ownRuntime(t);
        const run = start(['run', '-l', 'bash', '--stdin', '-', '-c', 'read line'], {});
        await until('its instance is there', () => instances().length === 1);
        for (const name of fs.readdirSync(made, { recursive: true })) {
            let mode;
            try { ({ mode } = fs.lstatSync(path.join(made, name))); } catch { continue; } // went meanwhile
            assert.equal(mode & 0o022, 0, name);
        }
        run.child.stdin.end();
        await run.end;
    });

    for (const [what, limit] of [['16 descriptors', '--nofile=16:16'], ['files of 0 bytes', '--fsize=0:0'], ['no core files and small stacks', '--core=0 --stack=262144']])
        test(`CLI-05 limits of our own: ${what}`, async () => {
            const end = await begin('prlimit', [...limit.split(' '), '--', binary, ...args]).end;
            if (end.code === 0)
                runs(end);
            else
                complained(end, /descriptor|files|large|limit|open/i);
        });

    test('CLI-05 stdin is a terminal, a directory, a closed socket: all the same without --stdin', async () => {
        const dir = fs.openSync('/', 'r');
        runs(await host(args, { stdio: [dir, 'pipe', 'pipe'] }).end);
        fs.closeSync(dir);
    });
});

describe('CLI-06 arguments', together, () => {
    test('CLI-06 a file named -x.py is named ./-x.py', async t => {
        const dir = path.dirname(file(t, '-x.py', 'print(1)'));
        said(await cli(['run', './-x.py'], { cwd: dir }), '1\n');
        complained(await cli(['run', '-x.py'], { cwd: dir }), /unknown option '-x.py'/);
        complained(await cli(['run', '--', '-x.py'], { cwd: dir }), /no program/);
    });

    test('CLI-06 what follows -- is the program\'s, as it is', async () => {
        const odd = ['-c', '--', '', 'a b', '"', '\\', '*', '$HOME', 'é🙂', 'new\nline', '--json'];
        said(await code('python', 'import sys, json; print(json.dumps(sys.argv[1:]))', ['--', ...odd]),
            execFileSync(PYTHON, ['-c', 'import sys, json; print(json.dumps(sys.argv[1:]))', ...odd]).toString());
        said(await code('bash', 'printf "<%s>" "$0" "$#" "$@"', ['--', 'a b', '']), '<main.sh><2><a b><>');
        said(await code('javascript', 'console.log(JSON.stringify(process.argv.slice(2)))', ['--', '--version', '-e']), '["--version","-e"]\n');
    });

    test('CLI-06 100 kB by -c, 3 MB by stdin', async () => {
        said(await cli(['run', '-c', `x = "${'y'.repeat(100_000)}"\nprint(len(x))`]), '100000\n');
        said(await code('python', `x = "${'y'.repeat(3_000_000)}"\nprint(len(x))`), '3000000\n');
    });

    for (const language of ['python', 'javascript', 'bash'])
        test(`CLI-06 an empty program, ${language}`, async () => {
            said(await cli(['run', '-l', language, '-c', '']), '');
            said(await cli(['run', '-l', language, '/dev/null']), '');
        });

    test('CLI-06 a directory instead of a file', async t => {
        complained(await cli(['run', '-l', 'python', folder(t)]), /cannot read the code in '.*': illegal operation on a directory/);
    });

    test('CLI-06 a FIFO as the code file', async t => {
        const fifo = path.join(folder(t), 'code.py');
        execFileSync('mkfifo', [fifo]);
        const run = host(['run', fifo]);
        fs.promises.writeFile(fifo, 'print("by fifo")');
        said(await run.end, 'by fifo\n');
    });

    test('CLI-06 /dev/stdin, /dev/fd/N and -', async () => {
        for (const name of ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'])
            said(await shell('echo "print(5)" | "$0" run -l python "$1"', [name]), '5\n');
        complained(await cli(['run', '-l', 'python', '/dev/stdin'], { input: '' }), /no such device/); // a socket: the kernel says no
        said(await cli(['run', '-l', 'python', '-'], { input: 'print(5)' }), '5\n'); // which - reads
    });

    test('CLI-06 two languages: the last one counts, as with any option', async () => {
        said(await cli(['run', '-l', 'bash', '-l', 'python', '-c', 'print(1)']), '1\n');
    });

    test('CLI-06 the ending says the language; an unknown one is asked about', async t => {
        for (const [name, text] of [['x.py', 'print(1)'], ['x.js', 'console.log(1)'], ['x.mjs', 'console.log(1)'], ['x.sh', 'echo 1'], ['X.PY', 'print(1)']])
            said(await cli(['run', file(t, name, text)]), '1\n');
        for (const name of ['x.xyz', 'x', '.py.txt'])
            complained(await cli(['run', file(t, name, 'print(1)')]), /no language has files like '.*': name it with -l/);
        said(await cli(['run', '-l', 'python', file(t, 'x.xyz', 'print(1)')]), '1\n');
    });

    test('CLI-06 a file name and code that are no UTF-8', async t => {
        const dir = folder(t);
        const end = await begin('bash', ['--norc', '-c', `cd "$1"; printf 'print("caf\\xe9")' >$'\\xff.py'; "$0" run $'\\xff.py'`, binary, dir]).end;
        assert.deepEqual([end.code, end.stdout], [1, '']);
        assert.match(end.stderr, /SyntaxError: Non-UTF-8 code/);
        const gone = await begin('bash', ['--norc', '-c', `"$0" run $'\\xff-gone.py'`, binary]).end;
        complained(gone, /cannot read the program/);
    });

    test('options may follow the file, and be written together with their value', async t => {
        const program = file(t, 'x', 'import time; print(1, flush=True); time.sleep(60)');
        const end = await cli(['run', program, '-lpython', '--timeout=0.5']);
        assert.deepEqual([end.code, end.stdout], [124, '1\n']);
    });
});

describe('--stdin', together, () => {
    test('without it the program\'s input is empty', async () => {
        for (const [language, text, stdout] of [
            ['python', 'import sys\nprint(repr(sys.stdin.read()))\ntry: input("? ")\nexcept EOFError: print("EOF")', "''\n? EOF\n"],
            ['bash', 'read line; echo "$? <$line>"', '1 <>\n'],
            ['javascript', 'console.log(JSON.stringify(require("fs").readFileSync(0, "utf8")))', '""\n'],
        ])
            said(await cli(['run', '-l', language, '-c', text], { input: 'not for the program\n' }), stdout);
    });

    test('a file, our stdin, and 8 MiB of it, byte by byte', async t => {
        const echo = file(t, 'echo.py', 'import sys, hashlib; b = sys.stdin.buffer.read(); print(len(b), hashlib.sha256(b).hexdigest())');
        const bytes = Buffer.alloc(8 << 20, Buffer.from(Array.from({ length: 251 }, (_, i) => i)));
        const { createHash } = await import('node:crypto');
        const expected = `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}\n`;
        said(await cli(['run', '--stdin', file(t, 'in', bytes), echo]), expected);
        said(await cli(['run', '--stdin', '-', echo], { input: bytes }), expected);
        said(await cli(['run', '--stdin', '/dev/null', echo]), `0 ${createHash('sha256').digest('hex')}\n`);
    });

    test('input that stays open costs no output, however slow its reader', async t => {
        const mark = marker();
        const pipe = path.join(folder(t), 'pipe');
        execFileSync('mkfifo', [pipe]);
        const ends = fs.openSync(pipe, 'r+');
        const run = host(['run', '--stdin', '-', '-c', 'input()\nimport os; os.write(1, b"x" * 200_000)', '--', mark], { stdio: ['pipe', ends, 'pipe'] });
        await until('it waits for a line', () => marked(mark).length > 0);
        run.child.stdin.write('\n');
        await nothingLeft(mark);
        await until('its box is gone', () => processes().every(({ ppid }) => ppid !== run.child.pid));
        const reader = fs.openSync(pipe, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
        const piece = Buffer.alloc(65536);
        let got = 0;
        await until('all of it comes', () => {
            try { got += fs.readSync(reader, piece); } catch { /* not yet */ }
            return got === 200_000;
        });
        fs.closeSync(reader);
        assert.equal((await run.end).code, 0);
        fs.closeSync(ends);
    });

    test('a program that does not read its input ends all the same', async () => {
        said(await cli(['run', '--stdin', '-', '-c', 'print(1)'], { input: Buffer.alloc(4 << 20) }), '1\n');
        const open = host(['run', '--stdin', '-', '-c', 'print(2)']); // our stdin stays open
        said(await open.end, '2\n');
    });
});

describe('what is known of the product', together, () => {
    test('version, doctor and languages speak JSON', async () => {
        const version = JSON.parse((await cli(['version', '--json'])).stdout);
        assert.match(version.version, /^\d+\.\d+\.\d+$/);
        const doctor = await cli(['doctor', '--json']);
        const told = JSON.parse(doctor.stdout);
        assert.equal(doctor.code, 0);
        assert.equal(told.version, version.version);
        const { commands } = JSON.parse((await cli(['help', '--json'])).stdout);
        for (const name of ['run', 'doctor', 'languages', 'version', 'help'])
            assert.ok(commands.find(command => command.name === name)?.summary, name);
        const [run] = JSON.parse((await cli(['help', 'run', '--json'])).stdout).commands;
        assert.deepEqual(run.options.find(({ name }) => name === 'timeout').letter, 't');
        const [bubblewrap] = told.backends;
        assert.deepEqual([bubblewrap.name, bubblewrap.usable, bubblewrap.why], ['bubblewrap', true, null]);
        for (const promise of ['read-outside', 'write-outside', 'network', 'endpoint', 'identity', 'kill', 'processes', 'disk'])
            assert.equal(bubblewrap.promises[promise].strength, 'kernel', promise);
        assert.deepEqual(told.languages.map(({ name, usable }) => [name, usable]), [['python', true], ['javascript', true], ['bash', true]]);
        const languages = JSON.parse((await cli(['languages', '--json'])).stdout);
        assert.deepEqual(languages.languages.map(({ name, path: at }) => [name, at]), told.languages.map(({ name, path: at }) => [name, at]));
    });

    test('version and help for people', async () => {
        const version = await cli(['--version']);
        assert.match(version.stdout, /^llm-sandbox \d+\.\d+\.\d+ /);
        said(await cli(['version']), version.stdout);
        const help = await cli(['help']);
        for (const command of ['run', 'doctor', 'languages', 'version', 'help']) {
            assert.match(help.stdout, new RegExp(`^ +llm-sandbox ${command} +\\S`, 'm'));
            const one = await cli(['help', command]);
            assert.match(one.stdout, new RegExp(`^llm-sandbox ${command}`));
            said(await cli([command, '--help']), one.stdout);
        }
        said(await cli(['--help']), help.stdout);
        said(await cli(['-h']), help.stdout);
    });

    test('a memory limit set by hand is refused where nothing keeps it', async () => {
        const { backends: [{ promises }] } = JSON.parse((await cli(['doctor', '--json'])).stdout);
        const end = await cli(['run', '-m', '64', '-c', 'print(1)']);
        if (promises.memory.strength === 'none')
            complained(end, /memory_mb 64 can't be kept: backend bubblewrap gives the promise memory as 'none'/);
        else
            said(end, '1\n');
    });
});
