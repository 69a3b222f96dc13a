import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import type { Actor } from '../field-values.ts';
import type { BackgroundCopy } from './delta/contents/background-copy.ts';
import type { FileOperation } from './workspace-files.ts';
import type { DamageReport, Frozen, OwnDirectory, Settlement, WorkspaceChange, WorkspaceSpec } from './workspaces.ts';

/** What the main thread asks of the file system in the worker: `Workspaces`, synchronously. */
export interface WorkspaceControl {
  attach(spec: WorkspaceSpec): void;
  detach(id: string): void;
  setRules(id: string, rules: readonly PermissionRule[]): void;
  baseChanging(codebaseId: string, paths: readonly ByteString[]): void;
  baseChanged(codebaseId: string, paths: readonly ByteString[]): void;
  changes(id: string, after: ByteString, limit: number): { changes: WorkspaceChange[]; more: boolean };
  contents(id: string, inodes: readonly number[]): (Uint8Array | undefined)[];
  revert(id: string, paths: readonly ByteString[]): number;
  renamed(id: string): OwnDirectory[];
  keepRemoved(spec: WorkspaceSpec, paths: readonly ByteString[]): boolean;
  settle(spec: WorkspaceSpec, settlement: Settlement): void;
  trim(id: string): boolean;
  freeze(id: string, limited?: boolean): Frozen;
  requireForkRoom(id: string, checkpoint: string): void;
  setCheckpoints(id: string, layers: readonly string[]): void;
  rollback(id: string, layer: string): void;
  absorb(id: string, layers: readonly string[], limit: number): 'more' | 'done' | 'kept';
  layersRemoved(): void;
  /** A background copy is made (errno 0) or failed: what was postponed by it is run again next. */
  copied(id: number, errno: number): void;
  /** One of `WorkspaceFiles`. */
  files(id: string, actor: Actor, operation: FileOperation, args: readonly unknown[]): unknown;
  shownFrom(id: string, path: ByteString): ByteString | undefined;
  usage(id: string): { bytes: number; files: number };
  /** All deltas are on disk when it returns. */
  syncAll(): void;
}

/** What the worker tells the main thread by itself. */
export type WorkspaceEvent =
  /** The main thread is to copy a host file, and then to call `copied`. */
  | { kind: 'copy'; copy: BackgroundCopy }
  /** The main thread is to log the damage, and to mark the sandbox as failed when nothing of it can be read. */
  | { kind: 'damaged'; report: DamageReport };
