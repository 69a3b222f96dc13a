import { describe, expect, it } from 'vitest';
import { commit, discard, exportChanges } from '../../handlers/changes.ts';
import { createCodebase } from '../../handlers/codebases.ts';
import { createSandbox } from '../../handlers/create-sandbox.ts';
import { define } from '../../handlers/define.ts';
import { exec } from '../../handlers/exec.ts';
import { execStream } from '../../handlers/exec-stream.ts';
import { listDirectory, makeDirectory, moveFile } from '../../handlers/files.ts';
import { fork } from '../../handlers/fork.ts';
import { importImage } from '../../handlers/images.ts';
import { type Handler, operations } from '../../handlers/index.ts';
import { updatePermissions } from '../../handlers/permissions.ts';
import { getSandbox } from '../../handlers/sandboxes.ts';
import { updateSandbox } from '../../handlers/update-sandbox.ts';
import { fields as contract, rpcs } from '../../lib/contract/schema.ts';
import { call, message } from './call.ts';

const command = { command: 'true' };
const codebase = { codebase_id: 'cb_1' };

type Refused = [description: string, handler: Handler, request: object, problem: string];

/** Each kind of sentence once; `declared-constraints.test.ts` has every constraint. */
const refused: Refused[] = [
  [
    'a limit for a stream',
    execStream,
    { ...command, max_output: 1 },
    'max_output must be 0 for a stream, which has all output',
  ],
  ['no command', exec, {}, 'command is required'],
  ['a shell for argv', exec, { argv: ['a'], shell: 'bash' }, 'shell must be empty with argv'],
  ['a negative timeout', exec, { ...command, timeout: -1 }, 'timeout must be at least 0 seconds'],
  ['a number beyond its range', fork, { count: 101 }, 'count must be 0 or between 1 and 100'],
  [
    'a number that may be 0',
    fork,
    { resources: { cpu_shares: 1 } },
    'resources.cpu_shares must be 0 or between 2 and 262144',
  ],
  [
    'a number beyond its range, which has a unit',
    createSandbox,
    { ...codebase, expires_in: -1 },
    'expires_in must be between 0 and 315360000 seconds',
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
  ['mode bits', makeDirectory, { path: 'a', mode: 0o1777 }, 'mode must be between 0 and 511 (0777 in octal)'],
  [
    'too long a list, of which nothing is looked at',
    commit,
    { sandbox_id: 'sb_1', paths: Array.from({ length: 10_001 }, () => '../') },
    'paths must have at most 10000 entries, not 10001',
  ],
  [
    'too long a list of objects, of which nothing is looked at',
    updatePermissions,
    { sandbox_id: 'sb_1', permissions: Array.from({ length: 10_001 }, () => ({ pattern: 1 })) },
    'permissions must have at most 10000 entries, not 10001',
  ],
  [
    'too large a map, of which nothing is looked at',
    exec,
    { ...command, env: Object.fromEntries(Array.from({ length: 4097 }, (_, index) => [`=${index}`, 1])) },
    'env must have at most 4096 entries, not 4097',
  ],
  [
    'a list with too many bytes',
    updatePermissions,
    { sandbox_id: 'sb_1', permissions: Array.from({ length: 600 }, () => ({ pattern: 'x'.repeat(4000) })) },
    'permissions must have at most 2097152 bytes in all, not 2416200',
  ],
  [
    'a map with too many bytes',
    updateSandbox,
    { sandbox_id: 'sb_1', env: { A: 'x'.repeat(65_536) } },
    'env must have at most 65536 bytes in all, not 65539',
  ],
  [
    'an entry of a map with too many bytes',
    exec,
    { ...command, env: { A: 'x'.repeat(131_070) } },
    'env[A] must have at most 131071 bytes with its name',
  ],
  [
    'a field of an element with too many bytes',
    createSandbox,
    { ...codebase, permissions: [{ pattern: 'x' }, { pattern: 'x'.repeat(4097) }] },
    'permissions[1].pattern must have at most 4096 bytes',
  ],
  ['NUL', exec, { command: 'a\0b' }, 'command must have no NUL'],
  ['NUL in a value of a map', exec, { ...command, env: { A: '\0' } }, 'env[A] must have no NUL'],
  [
    'a wrong key of a map',
    exec,
    { ...command, env: { 'A=B': '' } },
    'a key of env must have letters, digits and "_" only, and no digit first',
  ],
  ['an empty key of a map', exec, { ...command, env: { '': '' } }, 'a key of env must not be empty'],
  ['a long key', fork, { labels: { ['k'.repeat(129)]: '' } }, 'a key of labels must have at most 128 characters'],
  ['a long value', fork, { labels: { a: 'x'.repeat(1025) } }, 'labels[a] must have at most 1024 characters'],
  ['an unknown value', listDirectory, { as: 'root' }, 'as must be agent, owner or empty'],
  ['an unknown value of what is required', exportChanges, { format: 'zip' }, 'format must be patch or tar'],
  [
    'a path of the host with two spellings',
    createSandbox,
    { ...codebase, read_only_paths: ['/opt/x', '/opt/../etc'] },
    'read_only_paths[1] must be an absolute path other than / and without "." and "..", like /opt/node',
  ],
  [
    'a path with ..',
    listDirectory,
    { path: 'a/../b' },
    'path must not have "." or ".." as a component; it is a path from the codebase root like src/main.ts',
  ],
  [
    'a path with NUL',
    moveFile,
    { from: 'a', to: 'b\0' },
    'to must have no NUL; it is a path from the codebase root like src/main.ts',
  ],
  ['an empty path to commit, which would be everything', commit, { paths: ['a', ''] }, 'paths[1] must not be empty'],
  ['an empty path to discard, which would be everything', discard, { paths: [''] }, 'paths[0] must not be empty'],
  [
    'an image that is an option',
    createSandbox,
    { ...codebase, image: '--privileged' },
    'image must be a container image reference like ubuntu:22.04',
  ],
  [
    'a line break after what is permitted',
    createSandbox,
    { ...codebase, image: 'a\n' },
    'image must be a container image reference like ubuntu:22.04',
  ],
  ...['sha256:0', '-a', 'a b'].map(
    (name): Refused => [
      `the name ${name} of an image`,
      importImage,
      { name },
      'name must be a name like python:3.12, and not a digest',
    ],
  ),
  ['a name that is too long', createCodebase, { name: '😀'.repeat(256) }, 'name must have at most 255 characters'],
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
