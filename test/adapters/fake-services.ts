import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { noKeys, openAccess } from '../../lib/access/no-keys.ts';
import type { Codebase, Sandbox } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import { ReceivedBytes } from '../../lib/limits/received-bytes.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import type { StoredFile } from '../../lib/readable-file.ts';
import type { CommandEvent, Execution } from '../../lib/runtime/runtime.ts';
import type { Codebases, Retries, Services } from '../../lib/services.ts';
import { TextTools } from '../../lib/text-tools/text-tools.ts';
import { inSameThread } from '../../lib/threads/same-thread.ts';
import { fake } from '../fake.ts';

export const aSandbox: Sandbox = {
  id: 'sb_1',
  codebase_id: 'cb_1',
  status: 'SANDBOX_RUNNING',
  permissions: [{ pattern: '**', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 0 }],
  labels: { team: 'a' },
  created_at: 1_700_000_000,
  expires_at: 1_700_086_400,
  runtime: 'RUNTIME_BWRAP',
  image: '',
  resources: { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 },
  status_reason: '',
  auto_commit: 'never',
  auto_commit_error: '',
  auto_commit_stopped: false,
  owner_id: 'me',
  idle_timeout: 0,
  on_idle: 'stop',
  shell: '',
  env: {},
  workdir: '',
  on_expire: 'keep_changes',
  expires_soon: false,
  destroy_at: 0,
  network: { mode: 'none', rules: [], revision: 0, presets: [] },
  warnings: [],
  secrets: [],
  read_only_paths: [],
  workspace_path: '',
};

export const aCodebase: Codebase = {
  id: 'cb_1',
  name: 'demo',
  owner_id: 'me',
  created_at: 1_700_000_000,
  file_count: 2,
  total_size: 4_294_967_296,
  status_reason: '',
  totals_outdated: false,
  revision: '',
};

export function output(text: string | Buffer, stream: 'STDOUT' | 'STDERR' = 'STDOUT'): CommandEvent {
  return { kind: 'output', stream, data: Buffer.from(text) };
}

export function exit(exitCode = 0, durationMs = 1): CommandEvent {
  return { kind: 'exit', exitCode, durationMs, outOfMemory: false };
}

/** Yields the events in order; throws an error among them when it is reached. */
export async function* execution(...events: (CommandEvent | Error)[]): Execution & AsyncGenerator<CommandEvent> {
  for (const event of events) {
    if (event instanceof Error) throw event;
    yield event;
  }
}

/** Carries out each call, also repeated ones. */
const noRetries: Retries = {
  once: async (_, narrow, effect) => effect(narrow(), 'rq_1'),
  record: async () => undefined,
  expire: async () => undefined,
};

type Rooms =
  | 'sandboxes'
  | 'processes'
  | 'sessions'
  | 'networks'
  | 'ports'
  | 'codebases'
  | 'images'
  | 'secrets'
  | 'keys'
  | 'owners';

export type GivenServices = Partial<Omit<Services, Rooms>> & { [R in Rooms]?: Partial<Services[R]> };

/** Services of which only the given methods work. */
export function fakeServices(given: GivenServices = {}): Services {
  return {
    access: openAccess,
    retries: noRetries,
    textTools: inSameThread(() => new TextTools()),
    received: new ReceivedBytes(),
    ...given,
    keys: (given.keys ?? noKeys) as Services['keys'],
    owners: (given.owners ?? unlimitedOwners(0)) as Services['owners'],
    sandboxes: fake(given.sandboxes, 'sandboxes'),
    processes: fake(given.processes, 'processes'),
    sessions: fake(given.sessions, 'sessions'),
    networks: fake(given.networks, 'networks'),
    ports: fake(given.ports, 'ports'),
    codebases: fake(given.codebases, 'codebases'),
    images: fake(given.images, 'images'),
    secrets: fake(given.secrets, 'secrets'),
  };
}

/** Files in memory, stored completely or not at all as the interface requires. */
export class MemoryCodebases {
  readonly files = new Map<string, Buffer>();
  readonly modes = new Map<string, number | undefined>();
  open_ = 0;

  readonly services: Partial<Codebases> = {
    upload: async (id, path, content, options) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of content) chunks.push(Buffer.from(chunk));
      const bytes = Buffer.concat(chunks);
      this.files.set(`${id}/${path}`, bytes);
      this.modes.set(`${id}/${path}`, options?.mode);
      return { size: bytes.length, checksum: sha256(bytes) };
    },
    open: async (id, path) => {
      const bytes = this.files.get(`${id}/${path}`);
      if (!bytes) throw new ServiceError('NOT_FOUND', `there is no file ${path}`);
      return this.stored(bytes);
    },
    removeFile: async (id, path) => {
      if (!this.files.delete(`${id}/${path}`)) throw new ServiceError('NOT_FOUND', `there is no file ${path}`);
    },
  };

  stored(bytes: Buffer): StoredFile {
    this.open_++;
    return {
      size: bytes.length,
      checksum: sha256(bytes),
      etag: sha256(bytes),
      modified_at: 1_700_000_000,
      read: (range) => Readable.from([bytes.subarray(range?.start ?? 0, range?.end ?? bytes.length)]),
      close: async () => {
        this.open_--;
      },
    };
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
