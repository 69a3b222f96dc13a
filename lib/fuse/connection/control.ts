import type { ByteString } from '../../byte-string.ts';
import { type Code, ServiceError } from '../../errors.ts';
import type { Actor } from '../../field-values.ts';
import { Errno } from '../../linux/errno.ts';
import type { PermissionRule } from '../../messages.ts';
import type { BackgroundCopy } from '../../workspaces/delta/contents/large-copies.ts';
import { Damage } from '../../workspaces/delta/damage.ts';
import type { FileOperation } from '../../workspaces/workspace-files.ts';
import type {
  DamageReport,
  Frozen,
  OwnDirectory,
  Settlement,
  WorkspaceChange,
  WorkspaceSpec,
} from '../../workspaces/workspaces.ts';
import type { FileSystem } from '../filesystem.ts';
import type { Steps } from './steps.ts';

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
  freeze(id: string): Frozen;
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

/** What of the file system may take long: as steps. undefined: it is called instead. Throws what calling it would. */
export interface LongControl {
  begin?(operation: keyof WorkspaceControl, args: readonly unknown[]): Steps<unknown> | undefined;
}

/** Has the worker go on with them between requests. */
export type StartSteps = (steps: Steps<unknown>) => void;

/** `dropCopies` after what was postponed by `copied` was run again. */
export type ControlledFileSystem = FileSystem & WorkspaceControl & LongControl & { dropCopies(): void };

/** Has the main thread copy a host file, which then tells by `copied`. */
export type StartCopy = (copy: BackgroundCopy) => void;

/** Has the main thread log what is damaged, and break the sandbox when it is all of it. */
export type TellDamaged = (report: DamageReport) => void;

/** `ping` only answers; `stop` ends the worker. */
export type ControlOperation = keyof WorkspaceControl | 'ping' | 'stop';

export interface ControlRequest {
  id: number;
  operation: ControlOperation;
  args: readonly unknown[];
}

/** An error as it crosses threads; `code` only for a ServiceError. */
export interface ControlError {
  code?: Code;
  message: string;
  details: readonly unknown[];
  stack: string;
}

/** What the worker posts to the main thread. */
export type WorkerMessage =
  | { kind: 'ready'; minor: number }
  /** Holds when the notifications up to `batch` were written. */
  | { kind: 'answer'; id: number; value?: unknown; error?: ControlError; batch: number }
  /** Comes before the answer, which has the rest. */
  | { kind: 'part'; id: number; value: unknown }
  | { kind: 'copy'; copy: BackgroundCopy }
  | { kind: 'damaged'; report: DamageReport }
  | { kind: 'defect'; operation: number; error: ControlError }
  | { kind: 'ended'; reason: string };

export function encodeError(thrown: unknown): ControlError {
  if (thrown instanceof ServiceError)
    return { code: thrown.code, message: thrown.message, details: thrown.details, stack: thrown.stack ?? '' };
  if (thrown instanceof Damage) return { code: 'DATA_LOSS', message: thrown.message, details: [], stack: '' };
  if (thrown instanceof Errno) return { message: `refused with errno ${thrown.errno}`, details: [], stack: '' };
  const error = thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
  return { message: error.message, details: [], stack: error.stack ?? '' };
}

export function decodeError({ code, message, details, stack }: ControlError): Error {
  const error = code ? new ServiceError(code, message, details) : new Error(message);
  if (stack) error.stack = stack;
  return error;
}
