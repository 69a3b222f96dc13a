import type { Operation } from '../../handlers/index.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { rpcs } from '../../lib/contract/schema.ts';
import type { Code } from '../../lib/errors.ts';
import { exampleRequest } from '../adapters/example-requests.ts';
import { constraintsOf, fieldsOf } from '../handlers/permitted-requests.ts';
import { MIB, type World } from './world.ts';

/** The largest request that an operation takes, in the shape that costs most. */
export interface Input {
  request: Record<string, unknown>;
  /** Contents of a file, or input of a process. */
  bytes?: Uint8Array;
  /** The code of its refusal; absent: it is permitted. */
  code?: Code;
  /** The answer has no end: the call is left at its first part. */
  endless?: true;
  /** The door that this input is for. */
  only?: Door;
}

export type Door = 'REST' | 'gRPC';

const range = <T>(length: number, of: (n: number) => T): T[] => Array.from({ length }, (_, n) => of(n));
const entries = (length: number, size: number) =>
  Object.fromEntries(range(length, (n) => [`N${n}`, '\u0001'.repeat(size)]));

/** Their patterns have nearly as many tokens as can be held. */
const permissions = range(10_000, (n) => ({
  pattern: `**/${'?'.repeat(20)}${n}*x`,
  permission: 'PERMISSION_WRITE',
  type: 'PATTERN_GLOB',
  priority: n % 7,
}));
const short = (mark: string) => range(200, (n) => `**/${mark}${n}${'*a?'.repeat(20)}*/**`);
const rules = { none: short('n'), view: short('v'), read: short('r'), write: short('w') };
const labels = Object.fromEntries(range(64, (n) => [`l${n}`, 'v'.repeat(60)]));
const network = {
  mode: 'allow_list',
  rules: range(256, (n) => ({ host: `*.${'a.'.repeat(60)}n${n}.example.org`, ports: range(16, (p) => p + 1) })),
};
const exclude = range(900, (n) => `**/${'x'.repeat(60)}${n}`);
const paths = range(10_000, (n) => `wide/${'n'.repeat(245)}${String(n + 1).padStart(5, '0')}`);
const deep = `deep/${'d/'.repeat(1899)}d`;
const surroundings = { workdir: `/workspace/${'./'.repeat(2000)}`, shell: '/bin/sh' };
const sandbox = { permissions, labels, env: entries(256, 200), ...surroundings };
const command = { command: `: ${'\u0001'.repeat(130_000)}`, env: entries(4000, 200) };
const argv = { argv: ['true', ...range(16_000, () => '\u0001'.repeat(50))] };
const output = `head -c ${8 * MIB} /dev/zero | tr '\\0' '\\001'`;

/**
 * An archive of as many empty files as fit in 1 MiB, and the program that an image needs. More files take more turns, and not
 * longer ones.
 */
const archive = (() => {
  const blocks = Buffer.alloc(MIB);
  for (let at = 0, n = 0; at + 1024 <= blocks.length - 1024; at += 512, n++) {
    const block = blocks.subarray(at, at + 512);
    block.write(n === 0 ? 'bin/sh' : `archive/${n}`);
    block.write('0000755\0', 100);
    block.write('00000000000\0', 124);
    block.write('00000000000\0', 136);
    block.write('        ', 148);
    block.write('0', 156);
    block.write('ustar\u000000', 257);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  }
  return blocks;
})();
const bytes = Buffer.alloc(3 * MIB, 1);

type Inputs = { readonly [R in Rpc]: (world: World) => Input[] };

const one =
  (of: (world: World) => Record<string, unknown>, endless?: true) =>
  (world: World): Input[] => [{ request: of(world), ...(endless && { endless }) }];
const bySandbox = one(({ sandbox_id }) => ({ sandbox_id }));
const ofEnded = one(({ sandbox_id, ended: process_id }) => ({ sandbox_id, process_id }));
/** In a body of 64 MiB. The turn in which a gRPC message of this size is decoded is longer: docs/security.md, row 53a. */
const largest = 'x'.repeat(63 * MIB);
const execs = ({ sandbox_id }: World): Input[] => [
  { request: { sandbox_id, ...command, ...surroundings } },
  { request: { sandbox_id, ...argv, stdin: '\u0001'.repeat(4 * MIB) } },
  { request: { sandbox_id, command: 'cat > /dev/null', stdin: largest }, only: 'REST' },
  { request: { sandbox_id, command: 'cat > /dev/null', stdin_bytes: largest }, only: 'REST' },
  { request: { sandbox_id, command: 'cat > /dev/null', stdin: 'x'.repeat(24 * MIB) }, only: 'gRPC' },
  { request: { sandbox_id, command: output } },
];
const sessionExecs = ({ session_id }: World) => [
  { request: { session_id, command: `: '${'\u0001'.repeat(MIB - 10)}'` } },
  { request: { session_id, command: output } },
];
const changes = ({ sandbox_id }: World) => [
  { request: { sandbox_id, page_size: 1000 } },
  { request: { sandbox_id, page_size: 1000, exclude } },
  { request: { sandbox_id, page_size: 1000, paths } },
];

/** Those that make what others use, and those whose largest request is not their example. */
const first: Partial<Inputs> = {
  CreateSandbox: ({ codebase_id }) => [
    { request: { codebase_id, ...sandbox } },
    { request: { codebase_id, rules, network } },
  ],
  ListSandboxes: one(() => ({ page_size: 1000, labels })),
  UpdateSandbox: one(({ sandbox_id }) => ({ sandbox_id, labels, env: entries(256, 200), ...surroundings })),
  Exec: execs,
  ExecStream: execs,
  StartProcess: ({ sandbox_id }) => [
    { request: { sandbox_id, ...command, labels } },
    { request: { sandbox_id, ...argv, labels } },
  ],
  ReadProcessOutput: one(({ sandbox_id, ended: process_id }) => ({ sandbox_id, process_id, max_bytes: MIB })),
  AttachProcess: ({ sandbox_id, ended, reading }) => [
    { request: { sandbox_id, process_id: ended } },
    { request: { sandbox_id, process_id: reading }, bytes: Buffer.from(`${'\u0001'.repeat(1000)}\n`.repeat(1000)) },
  ],
  WriteProcessInput: ({ sandbox_id, reading: process_id }) => [{ request: { sandbox_id, process_id }, bytes }],
  ResizeTerminal: one(({ sandbox_id, reading }) => ({ sandbox_id, process_id: reading, columns: 1000, rows: 1000 })),
  SignalProcess: one(({ sandbox_id, reading: process_id }) => ({ sandbox_id, process_id, signal: 'SIGCONT' })),
  CreateSession: one(({ sandbox_id }) => ({ sandbox_id, env: entries(4000, 200) })),
  SessionExec: sessionExecs,
  SessionExecStream: sessionExecs,
  UpdatePermissions: ({ sandbox_id }) => [
    { request: { sandbox_id, permissions } },
    { request: { sandbox_id, rules } },
    { request: { sandbox_id, rules: { write: ['**'] } } },
  ],
  UpdateNetwork: one(({ sandbox_id }) => ({ sandbox_id, ...network })),
  ExplainNetwork: one(({ sandbox_id }) => ({
    sandbox_id,
    host: `${'a.'.repeat(120)}example.org`,
    path: '/a'.repeat(1000),
  })),
  WatchNetwork: one(({ watched_id }) => ({ sandbox_id: watched_id }), true),
  ListChanges: changes,
  ExportChanges: (world) =>
    ['patch', 'tar'].flatMap((format) =>
      changes(world).map(({ request: { page_size: _, ...request } }) => ({ request: { ...request, format } })),
    ),
  PreviewFile: ({ sandbox_id }) =>
    ['letters', 'numbers', 'control', 'lines'].map((path) => ({ request: { sandbox_id, path } })),
  ReadFile: one(({ sandbox_id }) => ({ sandbox_id, path: 'media.png' })),
  WriteFile: ({ sandbox_id }) => [{ request: { sandbox_id, path: 'written' }, bytes }],
  DeleteFile: one(({ sandbox_id }) => ({ sandbox_id, path: 'written' })),
  ListDirectory: ({ sandbox_id }) => [
    { request: { sandbox_id, path: 'wide', page_size: 1000 } },
    { request: { sandbox_id, path: 'long', recursive: true, page_size: 1000 } },
    { request: { sandbox_id, path: 'deep', recursive: true, page_size: 1000 } },
  ],
  ImportFiles: ({ sandbox_id }) => [{ request: { sandbox_id, path: 'imported' }, bytes: archive }],
  MakeDirectory: one(({ sandbox_id }) => ({ sandbox_id, path: `made/${'m/'.repeat(1900)}m`, parents: true })),
  MoveFile: one(({ sandbox_id }) => ({ sandbox_id, from: 'long', to: 'moved' })),
  CreateCheckpoint: one(({ sandbox_id }) => ({ sandbox_id, name: 'one' })),
  Fork: one(({ sandbox_id }) => ({ sandbox_id, count: 3, ...sandbox })),
  CreateCodebase: one(() => ({ name: '€'.repeat(255), owner_id: 'o'.repeat(255) })),
  UploadFile: ({ codebase_id }) => [{ request: { codebase_id, file_path: 'uploaded' }, bytes }],
  DownloadFile: one(({ codebase_id }) => ({ codebase_id, file_path: 'letters' })),
  ImportCodebaseFiles: ({ codebase_id, spare_id }) =>
    [codebase_id, spare_id].map((id) => ({ request: { codebase_id: id, mode: 'merge' }, bytes: archive })),
  ImportImage: () => [{ request: { name: 'tools:1' }, bytes: archive }],
  PutSecret: one(() => ({
    name: 'github',
    owner_id: 'ann',
    value: 'x'.repeat(65_536),
    hosts: range(100, (n) => `${'a.'.repeat(100)}n${n}.example.org`),
  })),
  CreateKey: one(() => ({ name: 'k'.repeat(255), role: 'owner', owner_id: 'o'.repeat(255) })),
  RevokeKey: () => [{ request: { key_id: 'k'.repeat(4000) }, code: 'NOT_FOUND' }],
  CreateTicket: one(() => ({ path: `/v1/${'t/'.repeat(4000)}` })),
  SetOwnerLimits: one(() => ({ owner_id: 'o'.repeat(255), limits: {} })),
};

/** Those that end what others use. */
const last: Partial<Inputs> = {
  Rollback: one(({ sandbox_id }) => ({ sandbox_id, checkpoint: 'one' })),
  DeleteCheckpoint: one(({ sandbox_id }) => ({ sandbox_id, name: 'one' })),
  RemoveFile: one(({ codebase_id }) => ({ codebase_id, file_path: 'uploaded' })),
  DeleteImage: one(() => ({ image: 'tools:1' })),
  Commit: ({ sandbox_id }) => [
    { request: { sandbox_id, exclude, dry_run: true } },
    { request: { sandbox_id, paths: paths.slice(0, 5000) } },
  ],
  Discard: ({ sandbox_id }) => [
    { request: { sandbox_id, paths: paths.slice(5000) } },
    { request: { sandbox_id, exclude } },
  ],
  DeleteProcess: ofEnded,
  DestroySession: one(({ session_id }) => ({ session_id })),
  StopSandbox: bySandbox,
  StartSandbox: bySandbox,
  DestroySandbox: ({ sandbox_id, watched_id }) =>
    [sandbox_id, watched_id].map((id) => ({ request: { sandbox_id: id, discard: true } })),
  DeleteCodebase: ({ codebase_id, spare_id }) => [
    { request: { codebase_id }, code: 'FAILED_PRECONDITION' },
    { request: { codebase_id: spare_id } },
  ],
};

/** The example of an operation, in this world, with the longest page and the longest path. */
function plain(operation: Rpc, world: World): Input[] {
  const request = exampleRequest(operation, { ...world, process_id: world.ended });
  const fields: object = fieldsOf(operation);
  const isPath = constraintsOf(operation).path?.format !== undefined;
  const largest = {
    ...('owner_id' in fields && { owner_id: 'ann' }),
    ...('page_size' in fields && { page_size: 1000 }),
    ...('path' in fields && isPath && !('codebase_id' in fields) && { path: deep }),
  };
  return [{ request: { ...request, ...largest } }];
}

const derived = (Object.keys(rpcs) as Rpc[])
  .filter((name) => !(name in first) && !(name in last))
  .map((name) => [name, (world: World) => plain(name, world)]);

/** In the order of the calls. */
export const inputs = { ...first, ...Object.fromEntries(derived), ...last } as Inputs;

/** The rows of a table in the order of `inputs`. */
export function inOrder(rows: readonly Operation[]): Operation[] {
  const names = Object.keys(inputs);
  return rows.toSorted((a, b) => names.indexOf(a.operation) - names.indexOf(b.operation));
}
