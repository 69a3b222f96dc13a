import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { noKeys, openAccess } from '../../lib/access/no-keys.ts';
import type { Codebase, Key, Sandbox } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Images } from '../../lib/image-services.ts';
import { ReceivedBytes } from '../../lib/limits/received-bytes.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import type { Networks } from '../../lib/network-services.ts';
import type { Processes } from '../../lib/process-services.ts';
import type { StoredFile } from '../../lib/readable-file.ts';
import type { CommandEvent, Execution } from '../../lib/runtime/runtime.ts';
import type { Codebases, Retries, Sandboxes, Services } from '../../lib/services.ts';
import type { Sessions } from '../../lib/session-services.ts';
import { TextTools } from '../../lib/text-tools/text-tools.ts';
import { inSameThread } from '../../lib/threads/same-thread.ts';

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

export const aKey: Key = {
  id: '7f3a9c2e',
  name: 'ci',
  owner_id: 'me',
  role: 'owner',
  sandbox_id: '',
  scopes: [],
  created_at: 1_700_000_000,
  expires_at: 0,
  last_used_at: 0,
  created_by: '',
  mask: 'pdk_7f3a9c2e_…9c',
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

function unexpected(name: string) {
  return () => {
    throw new Error(`the fake has no ${name}`);
  };
}

const NAMES = {
  sandboxes: [
    'create',
    'get',
    'list',
    'update',
    'start',
    'stop',
    'destroy',
    'exec',
    'updatePermissions',
    'explainPermission',
    'listRefusals',
    'presets',
    'listChanges',
    'exportChanges',
    'discard',
    'commit',
    'createCheckpoint',
    'listCheckpoints',
    'deleteCheckpoint',
    'rollback',
    'fork',
    'previewFile',
    'statFile',
    'listDirectory',
    'readFile',
    'writeFile',
    'makeDirectory',
    'moveFile',
    'deleteFile',
    'exportFiles',
    'importFiles',
    'expire',
    'endIdle',
  ],
  processes: [
    'start',
    'get',
    'list',
    'delete',
    'signal',
    'resize',
    'read',
    'watch',
    'write',
    'execOrYield',
    'waitPort',
  ],
  networks: ['get', 'update', 'explain', 'connections', 'presets'],
  sessions: ['create', 'get', 'list', 'destroy', 'exec', 'placeOf'],
  ports: ['open', 'list', 'get', 'close', 'find'],
  codebases: ['create', 'get', 'list', 'delete', 'upload', 'open', 'removeFile', 'listFiles'],
  images: ['import', 'get', 'list', 'delete'],
  secrets: ['put', 'get', 'list', 'remove'],
};

/** Carries out each call, also repeated ones. */
export const noRetries: Retries = {
  once: async (_, narrow, effect) => effect(narrow(), 'rq_1'),
  record: async () => undefined,
  expire: async () => undefined,
};

/** Services of which only the given methods work. */
export function fakeServices(
  given: {
    sandboxes?: Partial<Sandboxes>;
    processes?: Partial<Processes>;
    sessions?: Partial<Sessions>;
    networks?: Partial<Networks>;
    ports?: Partial<Services['ports']>;
    codebases?: Partial<Codebases>;
    images?: Partial<Images>;
    secrets?: Partial<Services['secrets']>;
  } & Partial<Pick<Services, 'limits' | 'keys' | 'access' | 'owners' | 'retries' | 'received'>> = {},
): Services {
  const of = (room: keyof typeof NAMES) => ({
    ...Object.fromEntries(NAMES[room].map((name) => [name, unexpected(`${room}.${name}`)])),
    ...given[room],
  });
  return {
    sandboxes: of('sandboxes') as unknown as Sandboxes,
    processes: of('processes') as unknown as Processes,
    sessions: of('sessions') as unknown as Sessions,
    networks: of('networks') as unknown as Networks,
    ports: of('ports') as unknown as Services['ports'],
    codebases: of('codebases') as unknown as Codebases,
    images: of('images') as unknown as Images,
    secrets: of('secrets') as unknown as Services['secrets'],
    keys: given.keys ?? noKeys,
    access: given.access ?? openAccess,
    owners: given.owners ?? unlimitedOwners(0),
    retries: given.retries ?? noRetries,
    textTools: inSameThread(() => new TextTools()),
    received: given.received ?? new ReceivedBytes(),
    ...(given.limits ? { limits: given.limits } : {}),
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
