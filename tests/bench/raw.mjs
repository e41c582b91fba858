// SPDX-License-Identifier: MIT
// What the benches compare with: `bwrap --unshare-all` with the binds, tmpfs, /proc and /dev of
// our boxes and the program: no uid drop, no guest, no remounts, no made-up /etc, no limits.

export const raw = (language, file) => [
    '/usr/bin/bwrap', '--unshare-all', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin',
    '--symlink', 'usr/sbin', '/sbin', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64',
    '--proc', '/proc', '--dev', '/dev', '--size', '268435456', '--tmpfs', '/sandbox', '--size', '67108864',
    '--tmpfs', '/dev/shm', '--ro-bind', file, `/sandbox/${language.file}`, '--chdir', '/sandbox',
    language.program, ...language.args, language.file,
];

export const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
