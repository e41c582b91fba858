// SPDX-License-Identifier: MIT
// What the tests of this folder share: our binary, and the clients that tests/clients/fetch.sh
// fetches into build/npm.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const top = path.join(here, '../..');
const folder = path.join(top, 'build/npm');
export const binary = process.env.LLM_SANDBOX ?? path.join(top, 'build/linux/llm-sandbox');
export const fetched = spawnSync('sh', [path.join(here, 'fetch.sh'), folder], { stdio: 'inherit' }).status === 0;
/** A file of a fetched package. */
export const packaged = name => path.join(folder, 'node_modules', name);
