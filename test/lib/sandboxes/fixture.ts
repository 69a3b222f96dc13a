import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Unzstd } from '../../../lib/archive/unzstd.ts';
import type { ExecRequest, PermissionRule } from '../../../lib/contract/messages.ts';
import { Descriptors } from '../../../lib/descriptors.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { removeTree } from '../../../lib/host-tree/remove-tree.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Metadata } from '../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../lib/metadata/store.ts';
import type { SandboxNetworks } from '../../../lib/network/worker/networks.ts';
import type { Command, RunningSandbox, Runtime, SandboxSpec } from '../../../lib/runtime/runtime.ts';
import { SandboxContext, type Settings } from '../../../lib/sandboxes/context.ts';
import { makeLayout } from '../../../lib/sandboxes/host/layout.ts';
import type { OwnerDeltas } from '../../../lib/sandboxes/host/owner-deltas.ts';
import { UidSlots } from '../../../lib/sandboxes/host/uid-slots.ts';
import type { SecretSource } from '../../../lib/sandboxes/network/secrets-in-force.ts';
import type { ReadySandboxes } from '../../../lib/sandboxes/ready/ready-sandboxes.ts';
import { createSandboxes, type SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import type { NewForks, NewSandbox } from '../../../lib/services.ts';
import { TextTools } from '../../../lib/text-tools/text-tools.ts';
import { inSameThread } from '../../../lib/threads/same-thread.ts';
import { sealedLine } from '../../../lib/workspaces/delta/index/journal-lines.ts';
import type { Frozen, WorkspaceChange, WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';

const descriptors = new Descriptors();

/** What commands start with, as a sandbox or a request that has nothing of it. */
export const NO_SURROUNDINGS = { shell: '', env: {}, workdir: '' };

/** An update that changes nothing. */
export const NO_UPDATE = {
  labels: {},
  remove_labels: [],
  clear_labels: false,
  env: {},
  remove_env: [],
  clear_env: false,
};

export const NO_LIMITS = { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 };

export function createRequest(fields: Partial<NewSandbox> = {}): NewSandbox {
  const nothing = {
    permissions: [],
    labels: {},
    expires_in: 0,
    image: '',
    resources: NO_LIMITS,
    preset: '',
    auto_commit: '',
    idle_timeout: 0,
    on_idle: '',
    ...NO_SURROUNDINGS,
    on_expire: '',
  } as const;
  return { codebase_id: 'cb_1', ...nothing, ...fields };
}

/** One fork of the present state, like its parent. */
export function forkOf(sandbox_id: string, fields: Partial<NewForks> = {}): NewForks {
  const nothing = {
    count: 1,
    checkpoint: '',
    permissions: [],
    preset: '',
    labels: {},
    expires_in: 0,
    resources: NO_LIMITS,
    auto_commit: '',
    on_idle: '',
    ...NO_SURROUNDINGS,
  } as const;
  return { sandbox_id, ...nothing, ...fields };
}

const NO_OPTIONS = {
  argv: [],
  stdin_bytes: new Uint8Array(0),
  yield_after: 0,
  keepalive: false,
  max_output: 0,
  merge: false,
} as const;

export function execRequest(sandbox_id: string, fields: Partial<ExecRequest> = {}): ExecRequest {
  return { sandbox_id, command: 'true', stdin: '', ...NO_SURROUNDINGS, timeout: 0, ...NO_OPTIONS, ...fields };
}

export const never = new AbortController().signal;

/** A runtime whose sandboxes are entries of `up`; `before` may wait or throw at each launch, `beforeStop` at each stop. */
export class FakeRuntime implements Runtime {
  readonly up = new Map<string, { spec: SandboxSpec; commands: Command[]; die: (reason: string) => void }>();
  /** Why each sandbox was stopped, in order. */
  readonly stops: (string | undefined)[] = [];
  readonly launches: string[] = [];
  /** Sandboxes whose commands know of a network. */
  readonly withNetwork = new Set<string>();
  before: (spec: SandboxSpec) => Promise<void> = async () => {};
  beforeStop: () => Promise<void> = async () => {};

  async probe(): Promise<void> {}
  async reclaim(): Promise<void> {}

  async launch(spec: SandboxSpec): Promise<RunningSandbox> {
    this.launches.push(spec.id);
    await this.before(spec);
    const commands: Command[] = [];
    const exited = new Promise<string>((resolve) => this.up.set(spec.id, { spec, commands, die: resolve }));
    return {
      exited,
      ports: async () => [],
      sharedMappings: async () => new Map(),
      inotifyWatches: async () => new Set<number>(),
      network: async () => 'present',
      networkPid: () => 4711,
      setNetwork: (variables) => {
        if (variables === undefined) this.withNetwork.delete(spec.id);
        else this.withNetwork.add(spec.id);
      },
      exec: async (command) => {
        commands.push(command);
        return {
          input: undefined,
          kill: async () => {},
          pids: () => [],
          endLeftBehind: async () => {},
          async *[Symbol.asyncIterator]() {
            yield { kind: 'exit', exitCode: 0, durationMs: 1, outOfMemory: false };
          },
        };
      },
      openShell: () => Promise.reject(new Error('the fake has no shell')),
      stop: async (reason) => {
        this.stops.push(reason);
        this.up.delete(spec.id);
        await this.beforeStop();
      },
    };
  }
}

export class FakeMount {
  readonly attached = new Map<string, WorkspaceSpec>();
  before: (spec: WorkspaceSpec) => Promise<void> = async () => {};

  async attach(spec: WorkspaceSpec): Promise<string> {
    await this.before(spec);
    mkdirSync(spec.delta, { recursive: true });
    this.attached.set(spec.id, spec);
    return `/mnt/${spec.id}`;
  }

  holds(id: string): boolean {
    return this.attached.has(id);
  }

  async check(): Promise<void> {}

  readonly opened: string[] = [];

  async open(id: string): Promise<void> {
    this.opened.push(id);
    if (!this.attached.has(id)) throw new ServiceError('NOT_FOUND', `workspace ${id} is not attached`);
  }

  async flush(): Promise<void> {}

  async pause(): Promise<void> {}

  async resume(): Promise<void> {}

  async files(): Promise<never> {
    throw new Error('the fake has no files');
  }

  async setRules(id: string, rules: readonly PermissionRule[]): Promise<void> {
    this.attached.set(id, { ...this.attached.get(id)!, rules });
  }

  changesOf: WorkspaceChange[] = [];

  async changes(id: string, after: string, limit: number): Promise<{ changes: WorkspaceChange[]; more: boolean }> {
    if (!this.attached.has(id)) throw new ServiceError('NOT_FOUND', `workspace ${id} is not attached`);
    const left = this.changesOf.filter(({ path }) => path > after);
    return { changes: left.slice(0, limit), more: left.length > limit };
  }

  /** Sandboxes with changes. */
  readonly changed = new Set<string>();

  async hasEntries(id: string): Promise<boolean> {
    if (!this.attached.has(id)) throw new ServiceError('NOT_FOUND', `workspace ${id} is not attached`);
    return this.changed.has(id);
  }

  async redactedTexts(): Promise<object> {
    return {};
  }

  async contents(): Promise<[]> {
    return [];
  }

  async refusals(): Promise<[]> {
    return [];
  }

  async shownFrom(): Promise<undefined> {
    return undefined;
  }

  async renamed(): Promise<[]> {
    return [];
  }

  async rebase(): Promise<void> {}

  async preserveRemoved(): Promise<boolean> {
    return false;
  }

  async findUnchanged(): Promise<{ open: string[]; candidates: string[] }> {
    return { open: [], candidates: [] };
  }

  async revertUnchanged(): Promise<undefined> {
    return undefined;
  }

  async setCheckpoints(): Promise<void> {}

  async requireForkRoom(): Promise<void> {}

  async freeze(id: string): Promise<Frozen> {
    const layer = join(this.attached.get(id)!.layers!, `${id}.0`);
    mkdirSync(layer, { recursive: true });
    writeFileSync(join(layer, 'index'), sealedLine(['paddock-delta', 4, 2, 2 ** 48, `${id}.0`, [], '', 0], 0).line);
    return { layer: `${id}.0`, files: 0, bytes: 0 };
  }

  async rollback(): Promise<void> {}

  async layersRemoved(): Promise<void> {}

  async compact(): Promise<'kept' | 'done'> {
    return 'kept';
  }

  readonly reverted: string[][] = [];

  async revert(_id: string, paths: readonly string[]): Promise<number> {
    this.reverted.push([...paths]);
    return paths.length;
  }

  async detach(id: string): Promise<void> {
    this.attached.delete(id);
  }
}

const SETTINGS: Settings = {
  runtime: 'RUNTIME_BWRAP',
  defaultImage: 'ubuntu:22.04',
  mountablePaths: ['/opt'],
  protectedPaths: ['/opt/state/db.json'],
  defaultExpiration: 3_600_000,
  expiry: { onExpire: 'keep_changes', retention: 7_200_000, maxKept: 2 },
  defaultTimeout: 30_000,
  maxTimeout: 600_000,
  owners: unlimitedOwners(10),
  defaultResources: { memory_bytes: 100, cpu_quota: 0, cpu_shares: 0, pids_limit: 50 },
  sessions: 4,
  network: { enabled: true, allowMax: undefined, isDockers: false },
  processes: { processes: 4, outputBytes: 65_536, sandboxOutputBytes: 262_144, retention: 3_600_000 },
};

export class Fixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'paddock-sandboxes-'));
  readonly layout = makeLayout(join(this.folder, 'mounts'), join(this.folder, 'runtime'));
  runtime = new FakeRuntime();
  mount = new FakeMount();
  settings = { ...SETTINGS };
  uids = { start: 1000, size: 100 };
  removeTree = removeTree;
  /** 0: deltas have no quota. */
  maxDelta = 1;
  maxDeltaBytes: number | undefined;
  ownerDeltas: OwnerDeltas | undefined;
  ready: ReadySandboxes | undefined;
  networks: SandboxNetworks | undefined;
  secrets: SecretSource | undefined;
  authorities: string | undefined;
  wall = 1_700_000_000_000;
  elapsed = 0;
  metadata!: Metadata;
  context!: SandboxContext;

  /** A server on this state; called again, the next one, with nothing of the last but what is on disk. */
  async start(): Promise<SandboxKeeper> {
    await this.metadata?.close();
    this.metadata = await openMetadata(join(this.folder, 'db.json'), silentLog);
    this.context = new SandboxContext({
      metadata: this.metadata,
      platform: {
        layout: this.layout,
        graces: new AbortController(),
        mount: this.mount,
        runtime: async (name) => {
          if (name === 'RUNTIME_DOCKER') throw new ServiceError('FAILED_PRECONDITION', 'no docker');
          return this.runtime;
        },
        basePath: (id) => join(this.folder, 'codebases', id),
        apply: async () => {
          throw new Error('the fixture has no codebases');
        },
        finishCommit: async () => undefined,
        removeTree: (path) => this.removeTree(path),
        unzstd: inSameThread(() => new Unzstd()),
        diffs: inSameThread(() => new TextTools()),
        ownerDeltas: this.ownerDeltas,
        networks: this.networks,
        secrets: this.secrets,
        authorities: this.authorities,
        reserve: 0,
        maxDeltaBytes: this.maxDeltaBytes ?? (this.maxDelta && 7),
        maxDeltaFiles: this.maxDelta && 8,
        descriptors,
        maxIndexBytes: this.maxDelta && 9,
        log: silentLog,
      },
      settings: this.settings,
      uids: new UidSlots(this.uids),
      ready: this.ready,
      clock: { now: () => this.wall + this.elapsed, monotonic: () => this.elapsed },
      log: silentLog,
    });
    return createSandboxes(this.context);
  }

  async addCodebase(id = 'cb_1', owner_id = 'ann'): Promise<void> {
    await this.metadata.codebases.put({
      id,
      name: id,
      owner_id,
      created_at: 1,
      file_count: 0,
      total_size: 0,
      status_reason: '',
    });
  }

  /** What a crash leaves: the disk. */
  crash(): void {
    this.runtime = new FakeRuntime();
    this.mount = new FakeMount();
  }

  remove(): void {
    void this.metadata?.close();
    rmSync(this.folder, { recursive: true });
  }
}
