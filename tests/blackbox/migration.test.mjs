// SPDX-License-Identifier: MIT
// What docs/MIGRATION.md says and no other test does: configurations and calls written for the
// Python llm-sandbox.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { follow, parts, readOn, server } from './mcp_rig.mjs';

describe('coming from the Python llm-sandbox', { concurrency: 4 }, () => {
    test('the JSON text has the old form, byte for byte', async t => {
        const client = await server(t);
        const code = 'import sys\nprint("é\\t<1>")\nprint("🙂", file=sys.stderr)\nsys.exit(2)';
        const answer = await client.run(code, { format: 'json' });
        assert.equal(answer.isError, false);
        assert.equal(answer.text, String.raw`{
  "exit_code": 2,
  "stderr": "\ud83d\ude42\n",
  "stdout": "\u00e9\t<1>\n"
}`);
    });

    test('a long output is cut in JSON too, and is all there', async t => {
        const client = await server(t);
        const { text } = await client.run('print("x" * 20000 + "\\x1b[0m")', { format: 'json' });
        assert.ok(text.length <= 10_000, `${text.length} characters`);
        const { args } = follow(JSON.parse(text).stdout);
        const whole = await readOn(client, { ...args, offset: 0 });
        assert.equal(whole.toString(), `${'x'.repeat(20000)}\x1b[0m\n`);
    });

    for (const libraries of [[], null, '[]'])
        test(`libraries ${JSON.stringify(libraries)} is none`, async t => {
            const client = await server(t);
            assert.equal(parts(await client.run('print(1)', { libraries })).stdout, '1\n');
        });

    test('what could not be run is an error, in JSON too', async t => {
        const client = await server(t);
        for (const args of [{ language: 'ruby' }, { libraries: ['numpy'] }])
            assert.equal((await client.run('print(1)', { ...args, format: 'json' })).isError, true);
    });

    for (const [name, value, pattern] of [
        ['BACKEND', 'docker', /unknown backend 'docker'/],
        ['BACKEND', 'Kubernetes', /unknown backend 'kubernetes'/],
        ['SANDBOX_MEM_LIMIT', '512m', /memory_mb 512 can't be kept/],
        ['SANDBOX_PRIVILEGED', 'true', /SANDBOX_PRIVILEGED is true/],
        ['SANDBOX_NETWORK_MODE', 'host', /SANDBOX_NETWORK_MODE is 'host'/],
        ['SANDBOX_NETWORK_MODE', 'container:x', /SANDBOX_NETWORK_MODE is 'container:x'/],
        ['SANDBOX_CPU_COUNT', '0', /SANDBOX_CPU_COUNT must be greater than 0/],
        ['KEEP_TEMPLATE', 'perhaps', /KEEP_TEMPLATE must be one of: true, false, 1, 0, yes, no, on, off/],
    ])
        test(`${name}=${value}: the server stays up, each call says why`, async t => {
            const client = await server(t, { env: { [name]: value } });
            const answer = await client.run('print(1)');
            assert.equal(answer.isError, true);
            assert.match(answer.text, pattern);
            assert.deepEqual((await client.ping()).result, {});
        });

    test('variables without effect are no hindrance', async t => {
        const client = await server(t, { env: { BACKEND: 'auto', SANDBOX_NETWORK_MODE: 'bridge', SANDBOX_READ_ONLY: 'yes', SANDBOX_CAP_DROP: 'ALL', SANDBOX_CPUS: '0.5',
            SANDBOX_SECURITY_OPT: 'no-new-privileges', DOCKER_HOST: 'tcp://x', KUBECONFIG: '/x', NAMESPACE: 'x', COMMIT_CONTAINER: 'true', KEEP_TEMPLATE: 'true', R_REPO: 'x', SANDBOX_FOO: 'x' } });
        const { stdout } = parts(await client.run('print([line.split(":")[0].strip() for line in open("/proc/net/dev")][2:])'));
        assert.equal(stdout, "['lo']\n");
    });
});
