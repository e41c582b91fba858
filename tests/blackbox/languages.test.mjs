// SPDX-License-Identifier: MIT
// LANG-01..08, 16..18, 20: programs run as the files they are.
import assert from 'node:assert/strict';
import os from 'node:os';
import { describe, test } from 'node:test';
import { cli, code, complained, file, json, said } from './rig.mjs';

const together = { concurrency: 4 };

describe('Python', together, () => {
    test('LANG-01 docstring and from __future__ come first', async () => {
        said(await code('python', '"""doc"""\nfrom __future__ import annotations\ndef f(x: Undefined) -> "y": return 1\nprint(f(1), __doc__, __name__)'), '1 doc __main__\n');
    });

    test('LANG-02 tracebacks have the true line, its text and a short file name', async () => {
        const end = await code('python', 'import json\n\ndata = json.loads("{}")\nprint(data["missing"])');
        assert.deepEqual([end.code, end.stdout], [1, '']);
        assert.match(end.stderr, /^Traceback \(most recent call last\):\n {2}File "\/sandbox\/main\.py", line 4, in <module>\n {4}print\(data\["missing"\]\)\n[ ~^]*\n?KeyError: 'missing'\n$/);
    });

    test('LANG-03 no names leak into the program', async () => {
        const end = await code('python', 'print([n for n in ("os","sys","plt","Path","base64") if n in globals()]); import sys; print(len(sys.argv), sys.flags.optimize)\nos.getcwd()');
        assert.deepEqual([end.code, end.stdout], [1, '[]\n1 0\n']);
        assert.match(end.stderr, /NameError: name 'os' is not defined/);
        said(await code('python', 'print(sorted(n for n in globals()))'),
            "['__annotations__', '__builtins__', '__cached__', '__doc__', '__file__', '__loader__', '__name__', '__package__', '__spec__']\n");
    });

    test('LANG-17 it is a real file: source, spawn, pickle', async () => {
        said(await code('python', `import inspect, sys, multiprocessing as mp
def f(x): return x+1
if __name__=="__main__":
  print(inspect.getsource(f).strip(), __file__.endswith(".py"))
  print(mp.get_context("spawn").Pool(2).map(f,[6,7])); import pickle; print(pickle.loads(pickle.dumps(f))(1))`), 'def f(x): return x+1 True\n[7, 8]\n2\n');
    });

    test('FS-09 home, TMPDIR, heredoc and /dev/shm can be used', async () => {
        said(await code('python', `import os, subprocess, tempfile, pathlib
from concurrent.futures import ProcessPoolExecutor
def f(x): return x*x
if __name__ == "__main__":
    pathlib.Path.home().joinpath("h").write_text("h"); tempfile.mkdtemp()
    print(subprocess.run("cat <<X\\nhere $((1+1))\\nX", shell=True, executable="/bin/bash", capture_output=True, text=True).stdout, end="")
    with ProcessPoolExecutor(2) as ex: print(list(ex.map(f, range(5))))`), 'here 2\n[0, 1, 4, 9, 16]\n');
    });

    test('LANG-20 time zone, clock, randomness, user', async () => {
        const end = await code('python', `import time,os,pwd,grp,getpass,locale,platform,socket,uuid,json
uuid.uuid4(); open(os.path.expanduser("~/w"),"w").close()
print(json.dumps({"tz": time.tzname, "user": getpass.getuser(), "pw": pwd.getpwuid(os.getuid())[:], "gr": grp.getgrgid(os.getgid()).gr_name,
  "home": os.path.expanduser("~"), "node": platform.node(), "cwd": os.getcwd(), "encoding": locale.getpreferredencoding(), "localhost": socket.gethostbyname("localhost"),
  "people": [p.pw_name for p in pwd.getpwall()], "cpus": os.cpu_count() > 0, "clock": abs(time.time() - ${Date.now() / 1000}) < 600}))`);
        assert.equal(end.code, 0, end.stderr);
        const told = JSON.parse(end.stdout);
        assert.deepEqual(told, {
            tz: ['UTC', 'UTC'], user: 'sandbox', pw: ['sandbox', 'x', 1000, 1000, 'sandbox', '/sandbox', '/bin/bash'], gr: 'sandbox', home: '/sandbox',
            node: 'sandbox', cwd: '/sandbox', encoding: 'UTF-8', localhost: '127.0.0.1', people: ['root', 'sandbox', 'nobody'], cpus: true, clock: true,
        });
        assert.ok(!end.stdout.includes(os.hostname()));
        said(await code('bash', 'whoami; id -un; hostname; date +%Z'), 'sandbox\nsandbox\nsandbox\nUTC\n');
    });
});

describe('JavaScript', together, () => {
    test('LANG-02 a stack has the true line and a short file name', async () => {
        const end = await code('javascript', 'const x = 1;\n\nfunction f() { throw new Error("boom"); }\nf();');
        assert.deepEqual([end.code, end.stdout], [1, '']);
        assert.match(end.stderr, /^\/sandbox\/main\.js:3\nfunction f\(\) \{ throw new Error\("boom"\); \}\n[\s\S]*Error: boom\n {4}at f \(\/sandbox\/main\.js:3:22\)\n {4}at Object\.<anonymous> \(\/sandbox\/main\.js:4:1\)\n/);
    });

    test('LANG-03 nothing leaks into the program', async () => {
        said(await code('javascript', 'console.log(process.argv.length, __filename, require.main === module, module.children.length, Object.keys(globalThis).includes("stdio"))'),
            '2 /sandbox/main.js true 0 false\n');
        said(await code('javascript', `const d = Object.getOwnPropertyDescriptor(process, "stdout"); console.log(typeof d.get, d.configurable, d.enumerable)`), 'function true true\n');
    });

    test('LANG-07 an ES module', async () => {
        const end = await code('javascript', 'import fs from "node:fs"; const t = await Promise.resolve("tla"); console.log(t, typeof fs.readFileSync);');
        assert.deepEqual([end.code, end.stdout], [0, 'tla function\n'], end.stderr);
    });

    test('LANG-07 CommonJS', async () => {
        said(await code('javascript', 'const p=require("path"); console.log(p.basename(__filename).length>0, this===module.exports)'), 'true true\n');
    });

    test('LANG-07 both at once: it works, or one clear message says which form to use', async () => {
        const end = await code('javascript', 'const fs=require("fs"); const v=await Promise.resolve(7); console.log(v, typeof fs.statSync)');
        if (end.code === 0)
            assert.equal(end.stdout, '7 function\n');
        else
            assert.match(end.stderr, /require is not defined in ES module scope|await is only valid in async functions and the top level bodies of modules|Cannot determine intended module format/);
    });

    test('LANG-08 an unhandled rejection', async () => {
        const end = await code('javascript', 'console.log("a"); Promise.reject(new Error("nope")); setTimeout(()=>console.log("late"),50);');
        assert.deepEqual([end.code, end.stdout], [1, 'a\n']);
        assert.match(end.stderr, /Error: nope\n {4}at /);
    });

    test('LANG-08 an endless interval', async () => {
        const end = await json('javascript', 'setInterval(()=>{},1000)', ['-t', '1']);
        assert.deepEqual([end.status, end.exit], ['timeout', 124]);
    });

    test('LANG-08 exit code and top-level return', async () => {
        assert.equal((await code('javascript', 'process.exitCode=5')).code, 5);
        said(await code('javascript', 'return 1;'), '');
    });

    test('a worker and a child of Node work, and their output arrives', async () => {
        said(await code('javascript', `const { Worker, isMainThread } = require("worker_threads");
if (isMainThread) new Worker(__filename).on("exit", c => console.log("exit", c, require("child_process").execFileSync(process.execPath, ["-p", "6*7"]).toString().trim()));
else console.log("in a worker");`), 'in a worker\nexit 0 42\n');
    });
});

describe('all languages', together, () => {
    const BOM = '\ufeff';
    for (const [language, what, text, stdout] of [
        ['python', 'BOM, CRLF and shebang', `${BOM}#!/usr/bin/env python3\r\n# -*- coding: utf-8 -*-\r\nif True:\r\n    print("héllo")\r\n`, 'héllo\n'],
        ['javascript', 'BOM, CRLF and shebang', `${BOM}#!/usr/bin/env node\r\nif (true) {\r\n  console.log("héllo");\r\n}\r\n`, 'héllo\n'],
        ['bash', 'BOM, CRLF and shebang', `${BOM}#!/usr/bin/env bash\r\nif true; then\r\n  echo "héllo"\r\nfi\r\n`, 'héllo\n'],
        ['python', 'a carriage return within text', 'print(len("""a\r\nb"""), repr("x\ry"))'.replace('\ry', '\\ry'), "3 'x\\ry'\n"],
        ['bash', 'one CR among plain line ends', "printf '%s' 'a\rb' | wc -c\n", '3\n'],
    ])
        test(`LANG-04 ${language}: ${what}`, async t => {
            said(await code(language, text), stdout);
            said(await cli(['run', '-l', language, file(t, 'x', text)]), stdout);
        });

    test('LANG-05 almost 4 MiB of code run; more is refused with the number', async () => {
        const lines = Array.from({ length: 52_000 }, (_, k) => `x += ${k % 10}  # ${'y'.repeat(66)}`).join('\n');
        said(await code('python', `x=0\n${lines}\nprint(x)`), '234000\n');
        said(await code('javascript', `const s="${'z'.repeat(4_000_000)}";\nconsole.log(s.length)`), '4000000\n');
        complained(await code('python', `#${'y'.repeat(5_000_000)}`), /code .*(4194304|larger than)/);
    });

    for (const length of [131_071, 131_072, 131_073])
        test(`LANG-05 code of ${length} bytes`, async () => {
            const head = 'print(len("""', tail = '"""))';
            said(await code('python', head + 'k'.repeat(length - head.length - tail.length) + tail), `${length - head.length - tail.length}\n`);
        });

    const s = "EOF\n'EOF' \"EOF\" `id` $(id) ${HOME} %PATH% ^&|<> !x! \\ \\\\ 'single' \"double\" * ? ~ # ; \\0";
    const text = `s = r"""${s}"""\nprint(s); print(len(s))\ndef f():\n\treturn """a\n\tb\n c"""\nprint(repr(f()))`;
    const stdout = `${s}\n${s.length}\n'a\\n\\tb\\n c'\n`;
    for (const [way, run] of [
        ['stdin', () => code('python', text)], ['a file', t => cli(['run', file(t, 'x.py', text)])], ['-c', () => cli(['run', '-c', text])],
    ])
        test(`LANG-06 text arrives unchanged by ${way}`, async t => {
            assert.equal(s.length, 87);
            said(await run(t), stdout);
        });

    test('LANG-06 backslashes and no newline at the end', async t => {
        for (const program of [`print(r"x", end="") #${'\\'.repeat(10)}`, `echo x | tr -d '\\n' #${'\\'.repeat(9)}x`])
            for (const run of [() => cli(['run', '-l', program.startsWith('p') ? 'python' : 'bash', '-c', program]), () => code(program.startsWith('p') ? 'python' : 'bash', program)])
                said(await run(), 'x');
    });

    test('OUT-09 the same text and length in every language', async () => {
        const hello = 'héllo – 日本 🙂'; // 12 characters, 13 UTF-16 units
        said(await code('python', `s = "${hello}"; print(s, len(s))`), `${hello} 12\n`);
        said(await code('javascript', `const s = "${hello}"; console.log(s, [...s].length)`), `${hello} 12\n`);
        said(await code('bash', `s="${hello}"; echo "$s" "\${#s}"`), `${hello} 12\n`);
    });
});

describe('LANG-16 programs that ask', together, () => {
    test('LANG-16 an endless prompt loop ends by the timeout, with its text', async () => {
        const end = await json('python', 'while True:\n  try: input("Please: ")\n  except EOFError: print("again")', ['-t', '1.5']);
        assert.ok(['timeout', 'output_limit'].includes(end.status), end.status);
        assert.match(end.stdout, /^Please: again\nPlease: again\n/);
        assert.ok(end.stdout.length <= (8 << 20) + 100);
    });

    test('LANG-16 interactive programs see the end of input and no terminal, and end', async () => {
        const end = await json('python', `import subprocess, shutil, getpass, sys
print(subprocess.run(["python3","-i"], stderr=subprocess.DEVNULL).returncode)
if shutil.which("vi"): subprocess.run(["vi"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(subprocess.run(["bash","-i"], stderr=subprocess.DEVNULL).returncode)
print(sys.stdin.isatty(), sys.stdout.isatty())
try: getpass.getpass()
except EOFError: print("EOF")`, ['-t', '20']);
        assert.equal(end.status, 'ok', JSON.stringify(end));
        assert.match(end.stdout, /^0\n0\nFalse False\n(Password: )?EOF\n$/);
    });
});

describe('LANG-18 files that shadow', together, () => {
    // Sessions come later: here one program writes the files and starts others beside them.
    const shadows = `import subprocess, sys
for name, text in {"random.py": 'print("SHADOW")', "sitecustomize.py": 'print("SITE")', "json.py": 'print("JSON")', "matplotlib.py": "1/0", ".pythonrc": "1/0",
                   "package.json": '{"type":"module"}', ".npmrc": "x", "stdio.cjs": "throw 1", "hello.py": 'print("hello")', "shadow.py": "import random",
                   "hello.js": 'import fs from "fs"; console.log("hello", typeof fs.statSync)'}.items():
    open(name, "w").write(text + "\\n")
`;
    test('LANG-18 only a program\'s own imports see them', async () => {
        said(await code('python', `${shadows}
for argv in (["python3", "hello.py"], ["python3", "-I", "hello.py"], ["python3", "shadow.py"], ["node", "hello.js"]):
    subprocess.run(argv, check=True)`), 'hello\nhello\nSHADOW\nhello function\n');
    });

    test('LANG-18 our own help for Node does not come from the workspace', async () => {
        said(await code('javascript', `const fs = require("fs"), { execFileSync } = require("child_process");
fs.writeFileSync("stdio.cjs", "throw 1"); fs.writeFileSync("package.json", '{"type":"module"}'); fs.mkdirSync("node_modules/fs", { recursive: true });
console.log(execFileSync(process.execPath, [...process.execArgv, "-p", "1+1"]).toString().trim(), process.execArgv.every(a => !a.startsWith("/sandbox/stdio")))`), '2 true\n');
    });
});
