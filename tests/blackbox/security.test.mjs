// SPDX-License-Identifier: MIT
// SEC-01, 03..05, 08..10: what code sees, reads and writes of the host. Each attack says what it
// could do; nothing it says may be a success. Attacks with a control run are in tests/escape.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { PYTHON, beginCode, begin, binary, code, file, folder, isRoot, json, marked, marker, processes, said, terminal, until } from './rig.mjs';

const together = { concurrency: 4 };
const canary = () => `canary-${randomBytes(8).toString('hex')}`;

test('SEC-01 the kernel\'s settings and the host\'s shadow file are out of reach, whoever started us', async () => {
    const end = await code('python', `import os
p = "/proc/sys/kernel/core_pattern"; v = open(p).read()
try: fd = os.open(p, os.O_WRONLY); print("WRITE", os.write(fd, v.encode()))
except OSError as e: print("denied", e.errno)
try: print("SHADOW", len(open("/etc/shadow").read(4)))
except OSError as e: print("denied", e.errno)
print(os.getuid(), os.getgid(), os.getgroups(), os.getpid() > 1)`);
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /^denied \d+\ndenied 2\n1000 1000 \[\] True\n$/);
});

test('SEC-01 no capability, no privilege to gain, no way to a namespace of its own', async () => {
    const end = await code('python', `import ctypes, os, re
status = open("/proc/self/status").read()
print(*(re.search(name + r":\\s*(\\S+)", status)[1].lstrip("0") or "0" for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs")))
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000):
    print(libc.unshare(flag), ctypes.get_errno() in (1, 28), end=" ")  # EPERM, ENOSPC
print(libc.mount(b"x", b"/sandbox", b"tmpfs", 0, None), libc.mount(None, b"/usr", None, 0x20 | 0x1000, None), libc.chroot(b"/usr"))`);
    said(end, '0 0 0 0 1\n-1 True -1 True -1 True -1 True -1 -1 -1\n');
});

describe('SEC-03 the environment', together, () => {
    const environment = { CANARY_API_KEY: 'sk-canary', AWS_SECRET_ACCESS_KEY: 'c1-canary', LD_PRELOAD_X: 'canary', PYTHONPATH: '/canary', NODE_OPTIONS: '--require=/canary',
        BASH_ENV: '/canary', ENV: '/canary', PYTHONSTARTUP: '/canary', LD_LIBRARY_PATH: '/canary', GCONV_PATH: '/canary', LANG: 'tr_TR.canary', MPLBACKEND: 'canary' };
    const search = `import glob, os, subprocess
found = []
for pattern in ("/proc/[0-9]*/environ", "/proc/[0-9]*/task/*/environ", "/proc/[0-9]*/cmdline", "/proc/self/mountinfo", "/proc/[0-9]*/status"):
    for path in glob.glob(pattern):
        try: text = open(path, "rb").read()
        except OSError: continue
        if b"c" + b"anary" in text: found.append(path)
print(found, "c" + "anary" in repr(os.environ), "c" + "anary" in subprocess.run("env; set; export -p", shell=True, capture_output=True, text=True).stdout)
print(sorted(os.environ))`;

    test('SEC-03 nothing of the host\'s environment is anywhere inside', async () => {
        said(await code('python', search, [], { env: environment }),
            "[] False False\n['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'TMPDIR', 'TZ', 'USER']\n");
    });

    test('SEC-03 Node and bash neither', async () => {
        said(await code('javascript', 'console.log(JSON.stringify(process.env).includes("c"+"anary"), Object.keys(process.env).sort().join())', [], { env: environment }),
            'false HOME,LANG,LC_ALL,LOGNAME,PATH,TMPDIR,TZ,USER\n');
        said(await code('bash', 'env | grep -c [c]anary; echo "$HOME $TMPDIR $PATH"', [], { env: environment }), '0\n/sandbox /tmp /usr/local/bin:/usr/bin:/bin\n');
    });
});

test('SEC-04 code and what is on our stdin show in no command line and no environment on the host', async t => {
    const secret = canary(), mark = marker();
    const run = begin(binary, ['run', '--stdin', '-', file(t, 'x.py', `secret = "${secret}"\ninput(); print("up", flush=True); input()`), '--', mark], { env: { TOKEN: secret } });
    run.child.stdin.write(`${secret}\n`);
    await until('it runs', () => run.stdout() === 'up\n');
    const shown = [];
    for (const { pid, args } of processes()) {
        if (args.some(arg => arg.includes(secret)))
            shown.push(`cmdline of ${pid}`);
        try {
            if (pid !== run.child.pid && fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(secret))
                shown.push(`environ of ${pid}`);
        } catch { /* not ours to read, or gone */ }
    }
    assert.deepEqual(shown, []);
    run.child.stdin.end('\n');
    said(await run.end, 'up\n');
});

describe('SEC-05 the terminal', together, () => {
    const attack = `import ctypes, fcntl, os, termios
libc = ctypes.CDLL(None, use_errno=True)
fds = [0, 1, 2]
try: fds.append(os.open("/dev/tty", os.O_RDWR))
except OSError: pass
for fd in fds:
    for request in (termios.TIOCSTI, termios.TIOCSTI | (1 << 32)):
        if libc.ioctl(fd, ctypes.c_ulong(request), ctypes.c_char_p(b"#")) == 0: print("TYPED by", fd)
    for sub in (2, 3):
        if libc.ioctl(fd, 0x541C, ctypes.byref(ctypes.c_char(sub))) == 0: print("SELECTION by", fd)
print("fds", len(fds), "sid", os.getsid(0) > 1)`;

    test('SEC-05 nothing is typed into the terminal we were started on', async t => {
        const end = await terminal([], [binary, 'run', file(t, 'x.py', attack)]);
        assert.deepEqual([end.output, end.status, end.typed, end.modes], ['fds 3 sid True\r\n', 0, 0, true]);
    });

    test('SEC-05 nor with our stdin, the terminal itself, as the program\'s', async t => {
        const end = await terminal(['--type', 'fds', '\\n'], [binary, 'run', '--stdin', '-', file(t, 'x.py', `print("fds?", flush=True); input()\n${attack}`)]);
        assert.equal(end.status, 0);
        assert.doesNotMatch(end.output, /TYPED|SELECTION/);
        assert.equal(end.typed, 0);
    });

    const works = (() => { try { return fs.readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'latin1').trim() === '1'; } catch { return true; } })();
    test('SEC-05 control: outside a box the same program types', async t => {
        const end = await terminal([], [PYTHON, file(t, 'x.py', attack)]);
        if (works || isRoot)
            assert.ok(end.typed > 0 && /TYPED by 0/.test(end.output), JSON.stringify(end));
        else
            t.diagnostic('this kernel lets nobody type: dev.tty.legacy_tiocsti is 0');
    });
});

describe('SEC-08 /proc', together, () => {
    test('SEC-08 only its own processes are there, and PID 1 gives nothing away', async () => {
        const end = await code('python', `import os
def tried(what, f):
    try: print(what, f())
    except OSError as e: print(what, "denied")
pids = sorted(int(p) for p in os.listdir("/proc") if p.isdigit())
print("pids", pids[0], len(pids) <= 4, os.getpid() in pids)
for link in ("exe", "root", "cwd", "fd/0", "fd/3", "ns/pid"): tried(link, lambda: os.readlink("/proc/1/" + link))
for name in ("mem", "exe", "maps", "environ", "auxv"): tried(name, lambda: os.open("/proc/1/" + name, os.O_RDWR if name in ("mem", "exe") else os.O_RDONLY))
tried("root/etc", lambda: os.listdir("/proc/1/root/etc"))
tried("self exe", lambda: os.open("/proc/self/exe", os.O_WRONLY))
tried("cmdline", lambda: open("/proc/1/cmdline").read().strip("\\0"))`);
        assert.equal(end.code, 0, end.stderr);
        const lines = end.stdout.trimEnd().split('\n');
        assert.equal(lines.shift(), 'pids 1 True True');
        const cmdline = lines.pop();
        assert.match(cmdline, /^cmdline (\/proc\/self\/fd\/\d+|\/\.guest)$/);
        assert.deepEqual(lines.filter(line => !line.endsWith(' denied')), []);
    });

    test('SEC-08 nothing in /proc can be written, not even to be killed less', async () => {
        said(await code('python', `import os, glob
written = []
for path in ["/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/fs/suid_dumpable",
             "/proc/sys/net/ipv4/ip_forward", "/proc/sys/user/max_user_namespaces", "/proc/acpi/wakeup", "/proc/irq/default_smp_affinity", "/proc/kcore", "/proc/mtrr", "/proc/self/oom_score_adj",
             "/proc/self/uid_map", "/proc/self/coredump_filter", "/proc/self/timerslack_ns", "/proc/self/comm"] + glob.glob("/proc/[0-9]*/oom_score_adj"):
    try: fd = os.open(path, os.O_WRONLY)
    except OSError: continue
    written.append(path)
print(written)`), '[]\n');
    });

    test('SEC-08 mounts and the rest name no path, user or host of ours', async t => {
        const cwd = folder(t);
        const end = await code('bash', 'cat /proc/self/mountinfo /proc/mounts /proc/self/cgroup /proc/1/cgroup /proc/net/unix /etc/hostname /etc/hosts 2>/dev/null; ls -lR /etc /run /var /home /root /srv /mnt /opt 2>/dev/null; true', [], { cwd });
        assert.equal(end.code, 0);
        const secrets = [cwd, path.dirname(path.resolve(binary)), os.hostname(), os.homedir(), process.cwd()].filter(text => text.length > 4);
        for (const secret of secrets)
            assert.ok(!end.stdout.includes(secret), `${secret} shows inside`);
    });

    test('SEC-08 kernel secrets are closed', async () => {
        const end = await code('python', `import os
for path in ("/proc/kcore", "/proc/kmsg", "/dev/kmsg", "/dev/mem", "/dev/port", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/proc/sysrq-trigger"):
    for flags in (os.O_RDONLY, os.O_RDWR):
        try: os.open(path, flags | os.O_NONBLOCK); print("OPEN", path)
        except OSError: pass
try: keys = open("/proc/keys").read()
except OSError: keys = ""
print("keys", "user" in keys and ";" in keys)
try: print("addresses", any(int(line.split()[0], 16) for line in open("/proc/kallsyms")))
except OSError: print("addresses False")
print(sorted(os.listdir("/dev")))`);
        assert.match(end.stdout, /^keys False\naddresses False\n/);
        const listed = JSON.parse(end.stdout.split('\n')[2].replaceAll("'", '"'));
        assert.deepEqual(listed.filter(name => !['console', 'core', 'fd', 'full', 'null', 'ptmx', 'pts', 'random', 'shm', 'stderr', 'stdin', 'stdout', 'tty', 'urandom', 'zero'].includes(name)), []);
    });
});

describe('SEC-09 reading what it should not', together, () => {
    test('SEC-09 canaries in cwd, home, /tmp, /var/tmp and runtime directory are not found', async t => {
        const secret = canary(), home = folder(t), cwd = folder(t), made = [];
        const plant = at => {
            fs.mkdirSync(path.dirname(at), { recursive: true });
            fs.writeFileSync(at, secret);
            made.push(at);
        };
        for (const name of ['.ssh/id_ed25519', '.aws/credentials', '.config/gh/hosts.yml', '.claude.json', '.netrc', '.bash_history'])
            plant(path.join(home, name));
        plant(path.join(cwd, '.env'));
        const loose = ['/tmp', '/var/tmp', '/dev/shm', ...(isRoot ? ['/root', '/home', '/var/log', '/etc', '/run', '/opt', '/srv', '/mnt'] : [])]
            .filter(dir => fs.existsSync(dir)).map(dir => path.join(dir, `.${secret}`));
        t.after(() => loose.forEach(at => fs.rmSync(at, { force: true })));
        loose.forEach(plant);
        const other = beginCode('bash', `echo ${secret} >other.txt; echo up; sleep ${marker()}`); // another run's workspace
        await until('the other run is up', () => other.stdout() === 'up\n');
        const run = await code('python', `import os, sys, json
paths = json.loads(sys.argv[1])
for path in paths:
    for prefix in ("", "/proc/self/root", "/proc/1/root", "/sandbox/../..", "/tmp/../.."):
        try: print("READ", path, open(prefix + path).read())
        except OSError: pass
        try: os.stat(prefix + path); print("SEEN", path)
        except OSError: pass
count = 0
for top in ("/etc", "/run", "/var", "/home", "/root", "/tmp", "/sandbox", "/dev/shm", "/opt", "/srv", "/mnt", "/media", "/boot", "/sys"):
    for dir, folders, files in os.walk(top):
        for name in files:
            count += 1
            if "cana" + "ry-" in name: print("NAMED", dir, name)
            try: text = open(os.open(os.path.join(dir, name), os.O_RDONLY | os.O_NONBLOCK), "rb").read(65536)
            except OSError: continue
            if b"cana" + b"ry-" in text and name != "main.py": print("FOUND", dir, name)
print("files seen", 1 < count < 5000)
for path in ("/etc/shadow", "/etc/ssl/private", "/boot", "/root", "/home", "/var/log", "/etc/ssh", "/etc/machine-id", "/etc/resolv.conf", "/etc/sudoers", "/run/docker.sock", "/var/run/docker.sock",
             "/run/dbus/system_bus_socket", "/tmp/.X11-unix", "/run/systemd", "/run/user", "/run/llm-sandbox", "/var/cache", "/var/lib"):
    if os.path.lexists(path): print("THERE", path)`, ['--', JSON.stringify(made)], { cwd, env: { HOME: home } });
        said(run, 'files seen True\n');
        other.child.kill('SIGTERM');
        await other.end;
    });
});

describe('SEC-10 writing what it should not', together, () => {
    test('SEC-10 no file of the host is changed, and no folder outside the workspace takes one', async t => {
        const home = folder(t), cwd = folder(t);
        for (const dir of [home, cwd])
            fs.chmodSync(dir, 0o777);
        fs.writeFileSync(path.join(home, '.bashrc'), 'mine', { mode: 0o666 });
        const victims = ['/usr/bin/python3', '/etc/hosts', '/etc/passwd', '/etc/ld.so.cache', '/etc/alternatives', path.resolve(binary), path.join(home, '.bashrc'), cwd, home, '/usr/bin', '/usr/local/bin', '/etc', '/'];
        const sum = at => {
            const { mode } = fs.statSync(at);
            return `${at} ${mode.toString(8)} ${createHash('sha256').update(fs.statSync(at).isDirectory() ? fs.readdirSync(at).sort().join() : fs.readFileSync(at)).digest('hex')}`;
        };
        const before = victims.slice(0, -1).map(sum); // not /: others make files there
        const end = await code('python', `import os, sys, json
for path in json.loads(sys.argv[1]) + ["/etc/ld.so.preload", "/etc/cron.d/x", "/dev/sda", "/dev/mem", "/dev/fuse", "/proc/self/mem2", "/lib/x", "/bin/x", "/new", "/dev/new", "/dev/shm/../new", "/proc/new", "/run/new"]:
    for what, act in (("write", lambda: os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)), ("append", lambda: open(path, "a")), ("truncate", lambda: os.truncate(path, 0)), ("chmod", lambda: os.chmod(path, 0o777)),
                      ("rename", lambda: os.rename(path, path + ".x")), ("remove", lambda: os.unlink(path)), ("rmdir", lambda: os.rmdir(path)), ("link", lambda: os.link(path, "/sandbox/l")),
                      ("into", lambda: open(path + "/x", "w")), ("symlink", lambda: os.symlink("/x", path + ".l")), ("time", lambda: os.utime(path)), ("mkdir", lambda: os.mkdir(path + ".d"))):
        try: act(); print("DONE", what, path)
        except (OSError, ValueError): pass
print("end")`, ['--', JSON.stringify(victims)], { cwd });
        // Below /tmp the box has a place of its own, where the same names are free.
        assert.deepEqual(end.stdout.split('\n').filter(line => !/^DONE \w+ \/tmp\//.test(line)), ['end', '']);
        assert.deepEqual(victims.slice(0, -1).map(sum), before);
        assert.deepEqual(fs.readdirSync(cwd), []);
    });

    test('SEC-10 every writable mount has a size, all else is read-only', async () => {
        const end = await code('python', `import os, re
for line in open("/proc/self/mountinfo"):
    left, right = line.split(" - ")
    point, options = left.split()[4:6]
    kind, _, super_options = right.split()[:3]
    if "rw" not in options.split(","): continue
    sized = re.search(r"(^|,)size=(\\d+)k", super_options)
    made = None
    if os.path.isdir(point):
        try: open(point + "/probe", "w").close(); made = "files"
        except OSError: made = "nothing"
    print(point, kind, sized[2] if sized else "unsized", made)`);
        assert.equal(end.code, 0, end.stderr);
        const mounts = Object.fromEntries(end.stdout.trimEnd().split('\n').map(line => line.split(' ')).map(([point, ...rest]) => [point, rest]));
        assert.deepEqual(mounts['/sandbox'], ['tmpfs', String(256 * 1024), 'files']);
        assert.deepEqual(mounts['/dev/shm'], ['tmpfs', String(64 * 1024), 'files']);
        for (const [point, [, size, made]] of Object.entries(mounts))
            assert.ok(made !== 'files' || size !== 'unsized', `${point} takes files without end`);
        for (const point of ['/', '/dev', '/proc', '/usr', '/etc'])
            assert.equal(mounts[point], undefined, `${point} is writable`);
    });
});

test('PROC-06 a program sees only itself: no signal leaves the box, whatever the number', async () => {
    const mark = marker();
    const bystander = begin('sleep', [mark]);
    await until('the bystander is there', () => marked(mark).length === 1);
    const end = await json('python', `import os
hit = 0
for pid in list(range(2, 70000)) + [${bystander.child.pid}, ${process.pid}, ${process.ppid}]:
    if pid == os.getpid() or pid == os.getppid(): continue
    try: os.kill(pid, 0); hit += 1
    except OSError: pass
print(hit)`);
    assert.deepEqual([end.status, end.stdout], ['ok', '0\n']);
    assert.equal(marked(mark).length, 1);
    bystander.child.kill();
    await bystander.end;
});

test('the product\'s own folders are closed to other users', async () => {
    const run = beginCode('bash', `echo up; sleep ${marker()}`);
    await until('it runs', () => run.stdout() === 'up\n');
    const roots = isRoot ? ['/run/llm-sandbox', '/var/cache/llm-sandbox'] : [`/tmp/llm-sandbox-${process.getuid()}`, path.join(os.homedir(), '.cache/llm-sandbox')];
    for (const at of roots.filter(name => fs.existsSync(name)))
        for (const line of execFileSync('find', [at, '-perm', '/022', '!', '-type', 'l']).toString().split('\n').filter(Boolean))
            assert.fail(`${line} can be written by others`);
    run.child.kill('SIGTERM');
    await run.end;
});
