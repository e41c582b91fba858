// SPDX-License-Identifier: MIT
// The configuration as a user meets it: files, variables, options, and what each command makes of them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { cli, code, complained, file, folder, host, inMounts, isRoot, json, said } from './rig.mjs';
import { parts, server } from './mcp_rig.mjs';

const together = { concurrency: 4 };
const written = (t, settings) => file(t, 'config.json', typeof settings === 'string' ? settings : JSON.stringify(settings));
const show = async (args = [], env = {}) => {
    const end = await cli(['config', 'show', '--json', ...args], { env });
    assert.equal(end.code, 0, end.stderr);
    const found = JSON.parse(end.stdout);
    return { file: found.file, of: Object.fromEntries(found.settings.map(row => [row.name, row])) };
};

describe('config', together, () => {
    test('show says where each value comes from', async t => {
        const name = written(t, { timeout: 5, strict: true });
        const { file: used, of } = await show(['--config', name, '--allow-weak'], { BACKEND: 'Bubblewrap', DOCKER_HOST: 'unix:///x' });
        assert.equal(used, name);
        assert.deepEqual([of.timeout.value, of.timeout.source], [5, 'file']);
        assert.deepEqual([of.backend.value, of.backend.source, of.backend.variable], ['bubblewrap', 'environment', 'BACKEND']);
        assert.deepEqual([of.allow_weak.value, of.allow_weak.source], [true, 'option']);
        assert.deepEqual([of.timeout_most.value, of.timeout_most.source], [3600, 'default']);
        assert.deepEqual([of.memory.value, of.memory.idle], [null, null]);
        assert.match(of.docker_host.idle, /no effect/);
    });

    test('show for people', async () => {
        const end = await cli(['config', 'show'], { env: { BACKEND: 'bubblewrap', R_REPO: 'https://x/', LLM_SANDBOX_CONFIG: '' } });
        assert.equal(end.code, 0);
        assert.match(end.stdout, /^backend +"bubblewrap" {2}\(environment BACKEND\)$/m);
        assert.match(end.stdout, /^timeout +30 {2}\(default\)$/m);
        assert.match(end.stdout, /^r_repo +.*no effect/m);
    });

    test('LLM_SANDBOX_CONFIG names the file, --config wins', async t => {
        const [one, two] = [written(t, { timeout: 1 }), written(t, { timeout: 2 })];
        assert.equal((await show([], { LLM_SANDBOX_CONFIG: one })).of.timeout.value, 1);
        assert.equal((await show(['--config', two], { LLM_SANDBOX_CONFIG: one })).of.timeout.value, 2);
    });

    test('CFG-01 the usual file', async t => { // root's is at a fixed place, over which a mount of its own lays one
        const home = folder(t);
        fs.mkdirSync(path.join(home, 'llm-sandbox'));
        fs.writeFileSync(path.join(home, 'llm-sandbox/config.json'), '{"timeout":7}');
        const args = ['config', 'show', '--json'];
        const end = await (isRoot ? inMounts('mount --bind "$ETC" /etc', args, { env: { ETC: home } })
            : host(args, { env: { XDG_CONFIG_HOME: home } })).end;
        assert.equal(end.code, 0, end.stderr);
        assert.equal(JSON.parse(end.stdout).settings.find(({ name }) => name === 'timeout').value, 7);
    });

    test('check', async t => {
        const good = await cli(['config', 'check', '--config', written(t, { backend: 'auto' })]);
        assert.equal(good.code, 0);
        assert.match(good.stdout, /is right/);
        complained(await cli(['config', 'check', '--config', written(t, { bakend: 'auto' })]), /unknown name 'bakend': did you mean 'backend'\?/);
        complained(await cli(['config', 'check', '--backend', 'nosuch']), /--backend is 'nosuch': no such backend here/);
        const bad = await cli(['config', 'check', '--json'], { env: { SANDBOX_CPUS: '0' } });
        assert.equal(bad.code, 125);
        assert.match(JSON.parse(bad.stdout).why, /SANDBOX_CPUS must be greater than 0/);
    });

    test('schema', async () => {
        const schema = JSON.parse((await cli(['config', 'schema'])).stdout);
        assert.equal(schema.additionalProperties, false);
        assert.equal(schema.properties.timeout.default, 30);
    });

    for (const [what, args, pattern] of [
        ['nothing', ['config'], /'config' needs show, check or schema/],
        ['something else', ['config', 'shwo'], /not 'shwo'/],
        ['two things', ['config', 'show', 'check'], /one thing at a time/],
        ['a missing file', ['config', 'show', '--config', '/nowhere/c.json'], /cannot read the configuration '\/nowhere\/c.json': no such file/],
        ['a folder', ['config', 'show', '--config', '/usr'], /cannot read the configuration '\/usr'/],
    ])
        test(`usage: ${what}`, async () => complained(await cli(args), pattern));
});

describe('what is configured is done', together, () => {
    test('run: the backend of the file', async t =>
        complained(await code('python', '1', ['--config', written(t, { backend: 'nosuch' })]), /unknown backend 'nosuch'/));

    test('run: the default timeout', async t => {
        const end = await json('bash', 'sleep 60', ['--config', written(t, { timeout: 0.3 })]);
        assert.deepEqual([end.status, end.limit], ['timeout', { name: 'timeout', value: 300 }]);
    });

    test('run: above the ceiling', async t =>
        complained(await code('python', '1', ['-t', '20', '--config', written(t, { timeout_most: 10 })]), /timeout 20 s is above the 10 s/));

    test('run: above SANDBOX_MEMORY', async () =>
        complained(await code('python', '1', ['-m', '65'], { env: { SANDBOX_MEMORY: '64m' } }), /memory_mb 65 is above the 64 that SANDBOX_MEMORY allows/));

    for (const [variable, value, pattern] of [
        ['SANDBOX_NETWORK_MODE', 'host', /SANDBOX_NETWORK_MODE is 'host'/],
        ['SANDBOX_PRIVILEGED', 'true', /SANDBOX_PRIVILEGED is true/],
        ['COMMIT_CONTAINER', 'perhaps', /COMMIT_CONTAINER is 'perhaps'/],
    ])
        test(`run: ${variable}=${value}`, async () => complained(await code('python', '1', [], { env: { [variable]: value } }), pattern));

    test('run: variables that change nothing do no harm', async () =>
        said(await code('python', 'print(1)', [], { env: { SANDBOX_NETWORK_MODE: 'none', SANDBOX_READ_ONLY: 'true', SANDBOX_CAP_DROP: 'ALL', KEEP_TEMPLATE: '1' } }), '1\n'));

    test('doctor lists what changes nothing', async () => {
        const { idle_settings: idle } = JSON.parse((await cli(['doctor', '--json'], { env: { DOCKER_HOST: 'x', SANDBOX_MEMORY: '64m', SANDBOX_MEM_LIMIT: '64m' } })).stdout);
        assert.deepEqual(idle.map(row => row.name), ['DOCKER_HOST', 'SANDBOX_MEMORY']);
    });
});

describe('mcp is configured alike', together, () => {
    test('time, and its ceiling', async t => {
        const client = await server(t, { args: ['mcp', '--config', written(t, { timeout: 0.3, timeout_most: 10 })] });
        assert.match(parts(await client.run('import time; time.sleep(60)')).status, /timeout/);
        assert.equal(parts(await client.run('print(1)', { timeout: 10 })).stdout, '1\n');
        const refused = await client.run('print(1)', { timeout: 11 });
        assert.equal(refused.isError, true);
        assert.match(refused.text, /timeout 11 s is above the 10 s that the configuration allows/);
    });

    test('the ceiling of memory', async t => {
        const client = await server(t, { env: { SANDBOX_MEMORY: '64m' } });
        const refused = await client.run('print(1)', { memory_mb: 65 });
        assert.equal(refused.isError, true);
        assert.match(refused.text, /memory_mb 65 is above the 64 that SANDBOX_MEMORY allows/);
    });

    test('the format of results, unless a call names one', async t => {
        const client = await server(t, { env: { SANDBOX_RESULT_FORMAT: 'JSON' } });
        assert.equal(JSON.parse((await client.run('print(1)')).texts[0]).stdout, '1\n');
        assert.equal(parts(await client.run('print(1)', { format: 'text' })).stdout, '1\n');
    });

    for (const [what, settings, env, pattern] of [
        ['an unknown key', { bakend: 'auto' }, {}, /unknown name 'bakend'/],
        ['no JSON', '{', {}, /configuration '/],
        ['a wrong variable', {}, { SANDBOX_CPUS: 'x' }, /SANDBOX_CPUS must be a positive number/],
    ])
        test(`${what}: initialize works, each call says why`, async t => {
            const client = await server(t, { args: ['mcp', '--config', written(t, settings)], env });
            const answer = await client.run('print(1)');
            assert.equal(answer.isError, true);
            assert.match(answer.text, pattern);
            assert.match(answer.text, /Do not retry until/);
        });
});
