// SPDX-License-Identifier: MIT
// SVC-04, DOC-08: a bwrap that is not what it says, and systems that allow no boxes. Each gets its
// own sentence and what to do about it, in bounded time; nothing ever runs without walls.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { begin, binary, folder, inMounts, isRoot, marked, marker, nothingLeft, until } from './rig.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

/** The fake, filled in, as a program of root's, over /usr/bin/bwrap for what `start` starts. */
function fake(t, name, fill = {}) {
    const at = path.join(folder(t), 'bwrap');
    let text = fs.readFileSync(path.join(here, `fake-bwrap-${name}.sh`), 'utf8');
    for (const [word, value] of Object.entries(fill))
        text = text.replaceAll(word, value.replaceAll("'", `'"'"'`));
    fs.writeFileSync(at, text, { mode: 0o755 });
    return over(at);
}
const over = at => ({ start: (args, options) => inMounts('mount --bind "$FAKE" /usr/bin/bwrap', args, { env: { FAKE: at }, ...options }) });

/** What doctor says of bubblewrap, which must be unusable; the same, as far as it goes, from run. */
async function refused({ start }, why, mend) {
    const doctor = await start(['doctor', '--json']).end;
    assert.equal(doctor.code, 3, doctor.stdout + doctor.stderr);
    const told = JSON.parse(doctor.stdout);
    const [row] = told.backends;
    assert.deepEqual([row.name, row.usable, row.promises, told.languages], ['bubblewrap', false, {}, []]);
    assert.match(row.why, why);
    assert.match(row.mend ?? '', mend);
    assert.ok(doctor.ms < 40_000, `${doctor.ms} ms`);
    const run = await start(['run', '-l', 'bash', '-c', 'echo ran']).end;
    assert.deepEqual([run.code, run.stdout], [125, '']);
    assert.match(run.stderr, why);
    return { doctor, run };
}

describe('SVC-04 a fake bwrap', { concurrency: 4, skip: !isRoot && 'only root can lay a fake over /usr/bin/bwrap' }, () => {
    test('SVC-04 hangs at once', async t => {
        const mark = marker();
        await refused(fake(t, 'hangs', { MARK: mark }), /bwrap --version' did not end within 3000 ms/, /by hand/);
        await nothingLeft(mark);
    });

    test('SVC-04 hangs when it should make a box', async t => {
        const mark = marker();
        const { start } = fake(t, 'hangs-later', { MARK: mark });
        const doctor = await start(['doctor', '--json']).end;
        assert.equal(doctor.code, 3);
        assert.match(JSON.parse(doctor.stdout).backends[0].why, /within \d+ s/);
        assert.ok(doctor.ms < 40_000, `${doctor.ms} ms`);
        await nothingLeft(mark);
    });

    test('SVC-04 hangs, and we are interrupted', async t => {
        const mark = marker();
        const run = fake(t, 'hangs-later', { MARK: mark }).start(['run', '-c', '1']);
        await until('it hangs', () => marked(mark).length > 0);
        run.child.kill('SIGINT');
        const end = await run.end;
        assert.equal(end.code, 130);
        assert.ok(end.ms < 10_000, `only after ${end.ms} ms`);
        await nothingLeft(mark);
    });

    test('SVC-04 prints garbage for its version', async t => {
        await refused(fake(t, 'garbage'), /does not say which bubblewrap it is/, /bubblewrap/);
    });

    test('SVC-04 prints garbage for the guest', async t => {
        await refused(fake(t, 'garbage-later'), /\S/, /\S/);
    });

    test('SVC-04 names a process that is not its own', async t => {
        const mark = marker();
        await refused(fake(t, 'garbage-info', { MARK: mark }), /garbage where the process number belongs/, /^/);
        await nothingLeft(mark);
    });

    test('SVC-04 does nothing, not even say its version', async t => {
        await refused(fake(t, 'silent'), /\S/, /\S/);
    });

    test('SVC-04 does nothing', async t => {
        await refused(fake(t, 'nothing'), /without a word/, /^/);
    });

    test('SVC-04 is version 0.7.0', async t => {
        await refused(fake(t, 'old'), /bubblewrap 0\.7\.0 is too old: 0\.8\.0 or newer is needed/, /0\.8\.0 or newer/);
    });

    test('SVC-04 starts the guest without walls: seen by what the canaries could do', async t => {
        const { start } = fake(t, 'no-walls');
        const told = JSON.parse((await start(['doctor', '--json']).end).stdout);
        const [row] = told.backends;
        if (row.usable)
            for (const promise of ['write-outside', 'network', 'endpoint', 'disk'])
                assert.notEqual(row.promises[promise].strength, 'kernel', promise);
        assert.deepEqual(told.languages, []);
        const run = await start(['run', '-l', 'bash', '-c', 'echo ran']).end;
        assert.deepEqual([run.code, run.stdout], [125, '']);
        assert.match(run.stderr, /gives the promise|bwrap|box|sandbox/);
    });

    const says = [
        ['No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.', /does not allow unprivileged user namespaces/, /unprivileged_userns_clone/],
        ['Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)', /no more user namespaces are allowed/, /user\.max_user_namespaces/],
        ['Creating new namespace failed, likely because the kernel does not support user namespaces.', /kernel has no user namespaces/, /CONFIG_USER_NS/],
        ['setting up uid map: Permission denied', /AppArmor does not allow user namespaces/, /apparmor_restrict_unprivileged_userns/],
        ['loopback: Failed RTM_NEWADDR: Operation not permitted', /AppArmor does not allow capabilities/, /apparmor_restrict_unprivileged_userns/],
        ['cannot open /proc/sys/user/max_user_namespaces: Read-only file system', /\/proc is read-only/, /systempaths=unconfined/],
        ["Can't mount proc on /newroot/proc: Operation not permitted", /parts of \/proc are hidden/, /systempaths=unconfined/],
        ['pivot_root: Operation not permitted', /root of this mount namespace can't be exchanged/, /SYS_ADMIN/],
        ['The --size option is not permitted in setuid mode', /setuid/, /chmod u-s/],
        ['something new', /bwrap started no box: bwrap: something new/, /^/],
    ];
    for (const [text, why, mend] of says)
        test(`SVC-04 says: ${text.slice(0, 60)}`, async t => {
            const { run } = await refused(fake(t, 'says', { TEXT: text }), why, mend);
            assert.ok(run.stderr.includes(text.slice(0, 60)), 'its own words are quoted');
        });

    test('SVC-04 a setuid bwrap', async t => {
        const at = path.join(folder(t), 'bwrap');
        fs.copyFileSync('/usr/bin/bwrap', at);
        fs.chmodSync(at, 0o4755);
        await refused(over(at), /setuid/, /chmod u-s/);
    });

    test('SVC-04 a bwrap that others may change', async t => {
        const at = path.join(folder(t), 'bwrap');
        fs.copyFileSync('/usr/bin/bwrap', at);
        fs.chmodSync(at, 0o757);
        await refused(over(at), /does not belong to root, or others may write it/, /chmod/);
        fs.chmodSync(at, 0o755);
        fs.chownSync(at, 1999, 1999);
        await refused(over(at), /does not belong to root, or others may write it/, /chown/);
    });

    test('SVC-04 no bwrap at all', async () => {
        const none = { start: (args, options) => inMounts('mount -t tmpfs none /mnt && mkdir /mnt/u /mnt/w && mount -t overlay -o lowerdir=/usr/bin,upperdir=/mnt/u,workdir=/mnt/w none /usr/bin && rm /usr/bin/bwrap', args, options) };
        await refused(none, /bubblewrap is not installed/, /apt-get install bubblewrap/);
    });
});

test('SVC-04 a bwrap on PATH is not asked', async t => {
    const dir = folder(t);
    fs.writeFileSync(path.join(dir, 'bwrap'), '#!/bin/sh\necho "bubblewrap 0.8.0"; touch "$(dirname "$0")/asked"\n', { mode: 0o755 });
    fs.writeFileSync(path.join(dir, 'python3'), '#!/bin/sh\ntouch "$(dirname "$0")/asked"\n', { mode: 0o755 });
    const env = { PATH: `${dir}:${process.env.PATH}` };
    const end = await begin(binary, ['run', '-c', 'print(1)'], { env }).end;
    assert.deepEqual([end.code, end.stdout, end.stderr], [0, '1\n', '']);
    const doctor = await begin(binary, ['doctor'], { env }).end;
    assert.equal(doctor.code, 0);
    assert.ok(doctor.stdout.includes(`on your PATH, not used in boxes: ${dir}/python3`), doctor.stdout);
    assert.deepEqual(fs.readdirSync(dir).sort(), ['bwrap', 'python3']);
});

// An ordinary user in a user namespace that maps all uids as they are, so that root's bwrap stays
// root's. A shell line takes something away in it before all privileges are dropped.
function restricted(t, line) {
    const dir = folder(t), home = path.join(dir, 'home'), ours = fs.readlinkSync('/proc/self/ns/user');
    for (const name of ['llm-sandbox', 'llm-sandbox-guest'])
        fs.copyFileSync(path.join(path.dirname(binary), name), path.join(dir, name));
    fs.mkdirSync(home);
    fs.chownSync(home, 1999, 1999);
    const start = async args => {
        const run = begin('unshare', ['--user', '--mount', '--keep-caps', 'sh', '-c',
            `read go && ${line} && exec setpriv --reuid 1999 --regid 1999 --clear-groups --inh-caps=-all --ambient-caps=-all "$0" "$@"`,
            path.join(dir, 'llm-sandbox'), ...args], { env: { HOME: home } });
        await until('its namespace is there', () => fs.readlinkSync(`/proc/${run.child.pid}/ns/user`) !== ours);
        for (const map of ['uid_map', 'gid_map'])
            fs.writeFileSync(`/proc/${run.child.pid}/${map}`, '0 0 4294967295');
        run.child.stdin.end('go\n');
        return run.end;
    };
    return { start: args => ({ end: start(args) }) };
}

describe('DOC-08 systems that allow no boxes', { concurrency: 3, skip: !isRoot && 'only root can make such a system' }, () => {
    test('DOC-08 control: with nothing taken away it works', async t => {
        const { start } = restricted(t, 'true');
        const doctor = await start(['doctor', '--json']).end;
        assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
        const run = await start(['run', '-c', 'print(1)']).end;
        assert.deepEqual([run.code, run.stdout, run.stderr], [0, '1\n', '']);
    });

    for (const [what, line, why, mend] of [
        ['no user namespace is left', 'echo 0 >/proc/sys/user/max_user_namespaces', /no more user namespaces are allowed: nesting depth or \/proc\/sys\/user\/max_\*_namespaces exceeded/, /max_user_namespaces/],
        ['no network namespace is left', 'echo 0 >/proc/sys/user/max_net_namespaces', /no more user namespaces are allowed: nesting depth or \/proc\/sys\/user\/max_\*_namespaces exceeded/, /namespaces/],
        ['a part of /proc is hidden', 'mount --bind /dev/null /proc/keys', /parts of \/proc are hidden/, /systempaths=unconfined/],
        ['/proc/sys is read-only', 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys', /\/proc (is read-only|are hidden)/, /systempaths=unconfined/],
    ])
        test(`DOC-08 ${what}`, async t => { await refused(restricted(t, line), why, mend); });

    test('DOC-08 a probe that once went well is not believed when boxes fail later', async t => {
        const { start } = restricted(t, 'if [ -e "$HOME/probed" ]; then echo 0 >/proc/sys/user/max_user_namespaces; fi; touch "$HOME/probed"');
        const first = await start(['run', '-c', 'print(1)']).end;
        assert.deepEqual([first.stdout, first.stderr], ['1\n', '']);
        const end = await start(['run', '-c', 'print(1)']).end;
        assert.deepEqual([end.code, end.stdout], [125, '']);
        assert.match(end.stderr, /no more user namespaces are allowed/);
    });
});

test('six doctors at once measure the same', async () => {
    const ends = await Promise.all(Array.from({ length: 6 }, () => begin(binary, ['doctor', '--json']).end));
    for (const end of ends) {
        assert.equal(end.code, 0, end.stdout + end.stderr);
        assert.equal(JSON.parse(end.stdout).backends[0].promises.kill.strength, 'kernel');
    }
});
