import { describe, expect, it } from 'vitest';
import { commit, discard, exportChanges } from '../../handlers/changes.ts';
import { createCheckpoint } from '../../handlers/checkpoints.ts';
import { createCodebase } from '../../handlers/codebases.ts';
import { createSandbox } from '../../handlers/create-sandbox.ts';
import { define } from '../../handlers/define.ts';
import { exec } from '../../handlers/exec.ts';
import { execStream } from '../../handlers/exec-stream.ts';
import { listDirectory, makeDirectory, moveFile } from '../../handlers/files.ts';
import { fork } from '../../handlers/fork.ts';
import { type Handler, operations } from '../../handlers/index.ts';
import { updatePermissions } from '../../handlers/permissions.ts';
import { getSandbox, listSandboxes } from '../../handlers/sandboxes.ts';
import { updateSandbox } from '../../handlers/update-sandbox.ts';
import { fields as contract, rpcs } from '../../lib/contract/schema.ts';
import { call, message } from './call.ts';

const command = { command: 'true' };
const codebase = { codebase_id: 'cb_1' };

type Refused = [description: string, handler: Handler, request: object, problem: string];

const refused: Refused[] = [
  [
    'a limit of the output of a stream',
    execStream,
    { ...command, max_output: 1 },
    'max_output must be 0 for a stream, which has all output',
  ],
  ['a shell for argv', exec, { argv: ['a'], shell: 'bash' }, 'shell must be empty with argv'],
  [
    'a second path of the workspace that is relative',
    createSandbox,
    { ...codebase, workspace_path: 'home/ann' },
    'workspace_path must be an absolute path other than / and without "." and "..", like /opt/node',
  ],
  [
    'a path of the host with two spellings',
    createSandbox,
    { ...codebase, read_only_paths: ['/opt/x', '/opt/../etc'] },
    'read_only_paths[1] must be an absolute path other than / and without "." and "..", like /opt/node',
  ],
  ['a sandbox without a codebase', createSandbox, {}, 'codebase_id is required'],
  [
    'a negative lifetime',
    createSandbox,
    { ...codebase, expires_in: -1 },
    'expires_in must be between 0 and 315360000 seconds',
  ],
  [
    'a lifetime of a century',
    createSandbox,
    { ...codebase, expires_in: 3_153_600_000 },
    'expires_in must be between 0 and 315360000 seconds',
  ],
  [
    'more paths than a request may choose, of which none is looked at',
    commit,
    { sandbox_id: 'sb_1', paths: Array.from({ length: 10_001 }, () => '../') },
    'paths must have at most 10000 entries, not 10001',
  ],
  [
    'more labels than allowed, of which none is looked at',
    createSandbox,
    { ...codebase, labels: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, 1])) },
    'labels must have at most 64 entries, not 65',
  ],
  ['an unknown value of on_idle', fork, { on_idle: 'pause' }, 'on_idle must be stop, destroy or empty'],
  [
    'an unknown value of on_expire',
    fork,
    { on_expire: 'pause' },
    'on_expire must be keep_changes, stop, destroy or empty',
  ],
  [
    'a negative idle timeout',
    createSandbox,
    { ...codebase, idle_timeout: -1 },
    'idle_timeout must be between 0 and 315360000 seconds',
  ],
  [
    'more rules than allowed, of which none is looked at',
    updatePermissions,
    { sandbox_id: 'sb_1', permissions: Array.from({ length: 10_001 }, () => ({ pattern: 1 })) },
    'permissions must have at most 10000 entries, not 10001',
  ],
  [
    'rules with too many bytes',
    updatePermissions,
    { sandbox_id: 'sb_1', permissions: Array.from({ length: 600 }, () => ({ pattern: 'x'.repeat(4000) })) },
    'permissions must have at most 2097152 bytes in all, not 2416200',
  ],
  [
    'a pattern that is too long',
    createSandbox,
    { ...codebase, permissions: [{ pattern: 'x' }, { pattern: 'x'.repeat(4097) }] },
    'permissions[1].pattern must have at most 4096 bytes',
  ],
  [
    'more variables than allowed, of which none is looked at',
    exec,
    { ...command, env: Object.fromEntries(Array.from({ length: 4097 }, (_, index) => [`=${index}`, ''])) },
    'env must have at most 4096 entries, not 4097',
  ],
  ...(
    [
      [createSandbox, codebase],
      [fork, { sandbox_id: 'sb_1' }],
    ] as const
  ).map(
    ([handler, from]): Refused => [
      'more variables than a sandbox may have itself',
      handler,
      { ...from, env: Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`A${index}`, ''])) },
      'env must have at most 256 entries, not 257',
    ],
  ),
  [
    'a larger environment than a sandbox may have itself',
    updateSandbox,
    { sandbox_id: 'sb_1', env: { A: 'x'.repeat(65_536) } },
    'env must have at most 65536 bytes in all, not 65539',
  ],
  [
    'negative memory',
    createSandbox,
    { ...codebase, resources: { memory_bytes: -1 } },
    'resources.memory_bytes must be 0 or at least 8388608 bytes',
  ],
  [
    'more memory than a number of JSON represents exactly',
    createSandbox,
    { ...codebase, resources: { memory_bytes: '9007199254740992' } },
    'resources.memory_bytes must be at most 9007199254740991 bytes',
  ],
  [
    'too many shares',
    createSandbox,
    { ...codebase, resources: { cpu_shares: 262_145 } },
    'resources.cpu_shares must be 0 or between 2 and 262144',
  ],
  [
    'a CPU quota that no cgroup takes',
    createSandbox,
    { ...codebase, resources: { cpu_quota: 999 } },
    'resources.cpu_quota must be 0 or between 1000 and 1000000000 microseconds per 100,000',
  ],
  [
    'a fork with more processes than the kernel has ids for',
    fork,
    { resources: { pids_limit: 4_194_305 } },
    'resources.pids_limit must be 0 or between 1 and 4194304',
  ],
  [
    'an image that is an option',
    createSandbox,
    { ...codebase, image: '--privileged' },
    'image must be a container image reference like ubuntu:22.04',
  ],
  [
    'an image with a line break',
    createSandbox,
    { ...codebase, image: 'a\n' },
    'image must be a container image reference like ubuntu:22.04',
  ],
  ['a label without a key', createSandbox, { ...codebase, labels: { '': 'a' } }, 'a key of labels must not be empty'],
  [
    'a long key of a label',
    createSandbox,
    { ...codebase, labels: { ['k'.repeat(129)]: '' } },
    'a key of labels must have at most 128 characters',
  ],
  [
    'a long label',
    createSandbox,
    { ...codebase, labels: { a: 'x'.repeat(1025) } },
    'labels[a] must have at most 1024 characters',
  ],
  [
    '65 labels',
    createSandbox,
    { ...codebase, labels: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [n, ''])) },
    'labels must have at most 64 entries, not 65',
  ],
  [
    'an unknown auto_commit',
    createSandbox,
    { ...codebase, auto_commit: 'always' },
    'auto_commit must be never, on_exec, on_stop or empty',
  ],
  ['a negative count of forks', fork, { count: -1 }, 'count must be between 0 and 100'],
  ['101 forks', fork, { count: 101 }, 'count must be between 0 and 100'],
  [
    'forks with a label that is too long',
    fork,
    { labels: { a: 'x'.repeat(1025) } },
    'labels[a] must have at most 1024 characters',
  ],
  ['no command', exec, {}, 'command is required'],
  ['no command of a stream', execStream, {}, 'command is required'],
  ['NUL in a command', exec, { command: 'a\0b' }, 'command must have no NUL'],
  [
    'a command too long for the kernel',
    exec,
    { command: 'x'.repeat(131_072) },
    'command must have at most 131071 bytes',
  ],
  ['NUL in a working directory', exec, { ...command, workdir: 'a\0' }, 'workdir must have no NUL'],
  [
    'a working directory that is too long',
    exec,
    { ...command, workdir: 'x'.repeat(4096) },
    'workdir must have at most 4095 bytes',
  ],
  ['NUL in a variable', exec, { ...command, env: { A: '\0' } }, 'env[A] must have no NUL'],
  [
    '= in the name of a variable',
    exec,
    { ...command, env: { 'A=B': '' } },
    'a key of env must have letters, digits and "_" only, and no digit first',
  ],
  ['a variable without a name', exec, { ...command, env: { '': '' } }, 'a key of env must not be empty'],
  [
    'a variable too long for the kernel',
    exec,
    { ...command, env: { A: 'x'.repeat(131_070) } },
    'env[A] must have at most 131071 bytes with its name',
  ],
  [
    'a large environment',
    exec,
    { ...command, env: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`A${n}`, 'x'.repeat(65_536)])) },
    'env must have at most 1048576 bytes in all, not 1114187',
  ],
  ['a negative timeout', exec, { ...command, timeout: -1 }, 'timeout must be at least 0 seconds'],
  ['a negative page', listSandboxes, { page_size: -1 }, 'page_size must be between 0 and 1000'],
  ['a page above the maximum', listSandboxes, { page_size: 1001 }, 'page_size must be between 0 and 1000'],
  ['an unknown value of as', listDirectory, { as: 'root' }, 'as must be agent, owner or empty'],
  [
    'a path with ..',
    listDirectory,
    { path: 'a/../b' },
    'path must not have "." or ".." as a component; it is a path from the codebase root like src/main.ts',
  ],
  [
    'mode bits above 0777',
    makeDirectory,
    { path: 'a', mode: 0o1777 },
    'mode must be between 0 and 511 (0777 in octal)',
  ],
  [
    'a new path with a NUL',
    moveFile,
    { from: 'a', to: 'b\0' },
    'to must have no NUL; it is a path from the codebase root like src/main.ts',
  ],
  [
    'a chosen path with ..',
    commit,
    { paths: ['a', '..'] },
    'paths[1] must not have "." or ".." as a component; it is a path from the codebase root like src/main.ts',
  ],
  [
    'a path to discard with ..',
    discard,
    { paths: ['..'] },
    'paths[0] must not have "." or ".." as a component; it is a path from the codebase root like src/main.ts',
  ],
  ['an empty path to commit, which would be everything', commit, { paths: ['a', ''] }, 'paths[1] must not be empty'],
  ['an empty path to discard, which would be everything', discard, { paths: [''] }, 'paths[0] must not be empty'],
  ['an unknown value of on_conflict', commit, { on_conflict: 'mine' }, 'on_conflict must be ours, theirs or empty'],
  ['no format for exported changes', exportChanges, {}, 'format is required'],
  ['an unknown format for exported changes', exportChanges, { format: 'zip' }, 'format must be patch or tar'],
  ['a checkpoint without a name', createCheckpoint, {}, 'name is required'],
  [
    'a name of a checkpoint with a slash',
    createCheckpoint,
    { name: 'a/b' },
    'name must have 1 to 128 letters, digits, ".", "_" or "-"',
  ],
  ['a codebase without a name', createCodebase, {}, 'name is required'],
  [
    'a name of a codebase that is too long',
    createCodebase,
    { name: '😀'.repeat(256) },
    'name must have at most 255 characters',
  ],
  [
    'a control character in an owner',
    createCodebase,
    { name: 'a', owner_id: 'a\u0007' },
    'owner_id must have no control characters',
  ],
];

describe('a request that violates a constraint is refused', () => {
  it.each(refused)('%s', async (_, handler, body, error) => {
    await expect(call(handler, message(body), {})).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: error });
  });

  it('a name may have 255 characters of two UTF-16 code units each', async () => {
    const create = async (request: object) => request as never;
    await expect(
      call(createCodebase, message({ name: '😀'.repeat(255) }), { codebases: { create } }),
    ).resolves.toBeDefined();
  });
});

const int = (what: string) => `must be an integer${what}, as a number or a decimal string`;

describe('a field of the wrong type is refused, with its unit and what is allowed', () => {
  it.each<[string, Handler, object, string]>([
    ['a timeout', exec, { ...command, timeout: '30s' }, `timeout ${int(' of seconds, at least 0')}`],
    ['a command that is a list', exec, { command: ['ls'] }, 'command must be a string; a list of arguments is argv'],
    ['arguments that are a text', exec, { argv: 'ls' }, 'argv must be a list of strings'],
    ['variables that are a list', exec, { ...command, env: ['A=1'] }, 'env must be an object of strings'],
    ['a variable that is a number', exec, { ...command, env: { A: 1 } }, 'env[A] must be a string'],
    ['a lifetime', createSandbox, { expires_in: {} }, `expires_in ${int(' of seconds, between 0 and 315360000')}`],
    ['rules that are an object', createSandbox, { permissions: {} }, 'permissions must be a list of objects'],
    ['mode bits', makeDirectory, { mode: 'rwx' }, `mode ${int(', between 0 and 511 (0777 in octal)')}`],
    ['a choice', fork, { on_idle: 5 }, 'on_idle must be stop, destroy or empty'],
    [
      'memory',
      createSandbox,
      { resources: { memory_bytes: '1GiB' } },
      `resources.memory_bytes ${int(' of bytes, 0 or at least 8388608')}`,
    ],
    [
      'resources that are a number',
      createSandbox,
      { resources: 1 },
      'resources must be an object with memory_bytes, cpu_quota, cpu_shares, pids_limit',
    ],
  ])('%s', async (_, handler, body, error) => {
    await expect(call(handler, message(body), {})).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: error });
  });

  const typed = operations.flatMap(({ operation, handler }) => {
    if (operation === 'Health' || rpcs[operation].requestStream) return [];
    const fields: Readonly<Record<string, { type: string; repeated?: true; map?: true }>> =
      contract[rpcs[operation].request as keyof typeof contract] ?? {};
    return Object.entries(fields).map(([name, field]) => ({ operation, handler, name, field }));
  });
  it('in every request', async () => {
    const known = new RegExp(
      ` must be (${[
        'a string|true or false|bytes in base64|one of [A-Z_, ]+|[\\w., -]+ or [\\w-]+',
        'an integer( of [^,]+)?, (0 or )?(between|at least) [^,]+, as a number or a decimal string',
        'an object (of|with) .+|a list of (strings|objects)',
      ].join('|')})( ?[;(].*)?$`,
    );
    for (const { operation, handler, name, field } of typed) {
      const wrong = field.map || field.type !== 'bool' ? true : 'yes';
      const error = await call(handler, message({ [name]: wrong }), {}).catch((thrown: unknown) => thrown);
      expect({ operation, error: (error as Error).message }).toEqual({
        operation,
        error: expect.stringMatching(known),
      });
      expect((error as Error).message).toMatch(new RegExp(`^${name} `));
    }
    expect(typed.length).toBeGreaterThan(200);
  });
});

describe('the constraints of all operations', () => {
  it('are data that generators can read', () => {
    for (const { handler } of operations) {
      if (!('constraints' in handler)) continue;
      expect(JSON.parse(JSON.stringify(handler.constraints))).toEqual(handler.constraints);
    }
  });

  it('refer to fields of the request', () => {
    const constraints = { sandbox: { required: true } } as const;
    const wrong = { ...getSandbox, rpc: 'GetSandbox', kind: 'unary', constraints } as const;
    expect(() => define(wrong, () => ({}))).toThrow('GetSandboxRequest has no field sandbox to constrain');
  });
});
