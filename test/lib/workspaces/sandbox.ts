import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it, onTestFinished } from 'vitest';
import type { ByteString } from '../../../lib/byte-string.ts';
import type { Permission, PermissionRule } from '../../../lib/contract/messages.ts';
import type { Caller, Notifier } from '../../../lib/fuse/filesystem.ts';
import type { Engine } from '../../../lib/workspaces/engine.ts';
import { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';
import type { WorkspaceFileSystemOptions } from '../../../lib/workspaces/workspace-file-system-options.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { Programs } from './programs.ts';

export { outcome } from './programs.ts';

export const UID = 4001;
const CALLER: Caller = { uid: UID, gid: UID, pid: 77 };

export class Notices implements Notifier {
  readonly inodes: number[] = [];
  readonly entries: string[] = [];
  readonly attributes: number[] = [];
  /** Returns those of `entries` that the kernel was told to drop. */
  readonly dropped: string[] = [];

  invalInode(nodeid: number): void {
    this.inodes.push(nodeid);
  }

  invalEntry(parent: number, name: ByteString): void {
    this.entries.push(`${parent}/${name}`);
  }

  dropEntry(parent: number, name: ByteString): void {
    this.dropped.push(`${parent}/${name}`);
    this.entries.push(`${parent}/${name}`);
  }

  invalAttributesNow(nodeid: number): void {
    this.attributes.push(nodeid);
  }
}

export function rule(pattern: string, level: 'NONE' | 'VIEW' | 'READ' | 'WRITE', priority = 0): PermissionRule {
  return { pattern, permission: `PERMISSION_${level}` as Permission, type: 'PATTERN_GLOB', priority };
}

export const ALL_WRITE = [rule('/**', 'WRITE')];

let engine: Engine | undefined;

/** How all sandboxes from now on keep their files. */
export function useEngine(used: Engine): void {
  engine = used;
}

/** A promise that only deltas over bases make, or an operation that only they have. */
export function itOfLayers(promise: string, test: () => void): void {
  if (engine === undefined) it(promise, test);
}

/** A sandbox over a base of files, used by paths as a kernel without caches would. Removed when the test ends. */
export class Sandbox extends Programs {
  readonly home: string;
  readonly notices = new Notices();
  /** Killed servers, which hold files open until the test ends. */
  readonly #settings: WorkspaceFileSystemOptions;
  readonly #killed: [fs: WorkspaceFileSystem, id: string][] = [];
  spec: WorkspaceSpec;
  fs: WorkspaceFileSystem;
  caller = CALLER;

  constructor(
    base: Record<string, string> = {},
    options: Partial<WorkspaceSpec> = {},
    settings: WorkspaceFileSystemOptions = {},
  ) {
    super();
    this.#settings = engine === undefined ? settings : { engine, ...settings };
    this.home = mkdtempSync(join(tmpdir(), 'workspace-test-'));
    onTestFinished(() => this.remove());
    this.spec = {
      id: 'sb_1',
      codebaseId: 'cb_1',
      base: join(this.home, 'base'),
      delta: join(this.home, 'delta'),
      uid: UID,
      rules: ALL_WRITE,
      maxBytes: 0,
      maxFiles: 0,
      ...options,
    };
    mkdirSync(this.spec.base, { recursive: true });
    for (const [path, content] of Object.entries(base)) this.putBase(path, content);
    this.fs = new WorkspaceFileSystem(this.notices, this.#settings);
    this.fs.attach(this.spec);
  }

  get workspaceId(): string {
    return this.spec.id;
  }

  /** A path that ends with a slash is a directory. */
  putBase(path: string, content: string): void {
    const at = join(this.spec.base, path);
    mkdirSync(path.endsWith('/') ? at : dirname(at), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(at, content);
  }

  linkBase(target: string, path: string): void {
    symlinkSync(target, join(this.spec.base, path));
  }

  /** Attaches another workspace of the same mount. */
  goOn(spec: WorkspaceSpec): void {
    this.fs.detach(this.spec.id);
    this.lookups.clear();
    this.spec = spec;
    this.fs.attach(spec);
  }

  /** Continues as the next server after a kill. */
  restart(): void {
    this.lookups.clear();
    this.#killed.push([this.fs, this.spec.id]);
    this.fs = new WorkspaceFileSystem(this.notices, this.#settings);
    this.fs.attach(this.spec);
  }

  remove(): void {
    this.detachAll();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Closes the open files of this server and of killed ones. */
  detachAll(): void {
    for (const [fs, id] of [...this.#killed.splice(0), [this.fs, this.spec.id] as const]) {
      try {
        fs.detach(id);
      } catch {
        // Files that a test damaged cannot be synced.
      }
    }
  }
}
