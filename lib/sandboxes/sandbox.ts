import type { Sandbox, SandboxStatus } from '../contract/messages.ts';
import { ServiceError, wordOf } from '../errors.ts';
import type { SandboxRecord, Table } from '../metadata/metadata.ts';
import { shownSandbox } from '../metadata/shown.ts';
import type { RunningSandbox } from '../runtime/runtime.ts';
import { SerialQueue } from '../serial-queue.ts';
import { HOME, type OwnerBytes, WORKSPACE } from '../workspaces/delta/owner-bytes.ts';
import type { PathFilter } from '../workspaces/history/path-filter.ts';
import { type Clock, systemClock } from './host/clock.ts';
import { DETACHED, type HostState, isAttached, runningIn } from './host/host-state.ts';
import { Activity } from './lifecycle/activity.ts';
import { nextStatus, type SandboxEvent } from './lifecycle/states.ts';
import type { RefusalLog } from './network/refusal-log.ts';
import type { Taken } from './ready/stock.ts';

type Records = Pick<Table<SandboxRecord>, 'put'>;

/**
 * Fields of the record with their new values; undefined removes an optional field. The status changes by events only.
 */
export type RecordPatch = {
  readonly [K in Exclude<keyof SandboxRecord, 'id' | 'status' | 'status_reason'>]?: SandboxRecord[K] | undefined;
};

/** Runs a change of the record or the status of a sandbox in it. */
interface IndexedSet {
  change(sandbox: LiveSandbox, change: () => void): void;
}

/**
 * A sandbox in memory. Its record is the part that survives a restart of the server. Record, status and reason change
 * only by `update`, `report`, `changeUser`, `transition` and `explain`, called from the sandbox's queue, so that readers never see a
 * partial change.
 */
export class LiveSandbox {
  /** Serializes all changes of the sandbox's state, but not its commands. */
  readonly queue = new SerialQueue();
  #record: SandboxRecord;
  #status: SandboxStatus;
  #reason: string;
  /** Changed from the sandbox's queue, and when the file system fails. */
  host: HostState = DETACHED;
  #changeCount: Int32Array<SharedArrayBuffer> | undefined;
  /** See `WorkspaceSpec`. Set by the context that the sandbox is in. */
  ownerBytes: OwnerBytes | undefined;
  /** The change count up to which everything is committed; undefined: unknown. */
  committedCount: number | undefined;
  /** The state of its delta in which it had no renamed directory. */
  noRenamesAtState: string | undefined;
  /** Paths of the codebase at which it had something of its own while its delta was not in memory, at a change count. */
  ownPaths: { filter: PathFilter; count: number } | undefined;
  /** Of its context. */
  clock: Clock = systemClock;
  /** The refusals of its network, while that is open. */
  refusals: RefusalLog | undefined;
  /** The set that it is in, which indexes its record and status. */
  set: IndexedSet | undefined;
  /** Its user is that of another sandbox, or of none: none was left when it was loaded. */
  hasForeignUser = false;
  /** A ready sandbox with its uid, until it is brought up. */
  ready: Taken | undefined;
  /** It was a ready sandbox, and no command was started since: its workspace may not have been opened. */
  isUnused = false;
  /** Created by this server, from nothing or from a layer frozen just now, and not started yet: no data can be lost. */
  isNew = false;
  /** Its use, for the idle policy. */
  readonly activity = new Activity();
  /** Being stopped or destroyed because it was idle: calls wait for the outcome, in the sandbox's queue. */
  ending = false;
  /** Being destroyed, or destroyed: accepts no further operation. */
  destroying = false;

  constructor(record: SandboxRecord, status: SandboxStatus = record.status) {
    this.#record = record;
    this.#status = status;
    this.#reason = record.status_reason;
  }

  /** See `WorkspaceSpec`. Not made for those that are stopped and stay so. */
  get changeCount(): Int32Array<SharedArrayBuffer> {
    this.#changeCount ??= new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    return this.#changeCount;
  }

  get id(): string {
    return this.#record.id;
  }

  get record(): SandboxRecord {
    return this.#record;
  }

  /** The runtime's part of it, if it was launched and not stopped yet. */
  get running(): RunningSandbox | undefined {
    return runningIn(this.host);
  }

  /** Whether its workspace is attached for itself: it runs, is about to, or has just been stopped. */
  get attached(): boolean {
    return isAttached(this.host);
  }

  /** Whether its workspace is attached, for itself or for file sessions. */
  get hasWorkspace(): boolean {
    return this.attached || this.host.kind === 'leased';
  }

  /** The reason for the loss of its file system, until it is restarted. */
  get lost(): string | undefined {
    return this.host.kind === 'lost' ? this.host.reason : undefined;
  }

  get status(): SandboxStatus {
    return this.#status;
  }

  /** The reason for SANDBOX_ERROR or for the last restart; otherwise empty. */
  get reason(): string {
    return this.#reason;
  }

  /**
   * Applies a requested change: durable first, then visible. Rejects with the store's error, in which case nothing was
   * changed or visible. `event`: a transition that takes effect together with the patch.
   */
  async update(patch: RecordPatch, records: Records, event?: SandboxEvent): Promise<void> {
    const status = event === undefined ? this.#status : nextStatus(this.#status, event);
    const reason = event === undefined ? this.#reason : '';
    const record = patched(this.#record, patch);
    await records.put({ ...record, ...this.storedBytes, status, status_reason: reason });
    this.#set(record, status);
    this.#reason = reason;
  }

  /**
   * Records an event that has already happened: visible at once, even if it cannot be stored. Rejects with the store's
   * error, which the caller may only log: the next server does not know the event.
   */
  async report(patch: RecordPatch, records: Records): Promise<void> {
    this.#set(patched(this.#record, patch), this.#status);
    await records.put(this.#toRecord());
  }

  /** Gives it another host user while it has no processes and no workspace. Not stored. */
  changeUser(uid: number): void {
    this.#set({ ...this.#record, uid }, this.#status);
  }

  /** Visible at once, and not stored. Throws for an event that is impossible in the present status. */
  transition(event: SandboxEvent, reason = ''): void {
    this.#set(this.#record, nextStatus(this.#status, event));
    this.#reason = reason;
  }

  #set(record: SandboxRecord, status: SandboxStatus): void {
    const change = () => {
      this.#record = record;
      this.#status = status;
    };
    if (this.set === undefined) change();
    else this.set.change(this, change);
  }

  /** Replaces the reason of the present status. Not stored. */
  explain(reason: string): void {
    this.#reason = reason;
  }

  /** Bytes of its delta and of HOME, as last known, if they are counted. Stored with every change of the record. */
  get storedBytes(): Pick<SandboxRecord, 'delta_bytes' | 'home_bytes'> {
    if (this.ownerBytes === undefined) return {};
    const { own } = this.ownerBytes;
    const [delta_bytes, home_bytes] = [WORKSPACE, HOME].map((part) => Math.max(0, Number(Atomics.load(own, part))));
    return { delta_bytes: delta_bytes!, home_bytes: home_bytes! };
  }

  /** The sandbox in the form of the API. */
  view(): Sandbox {
    return shownSandbox(this.#toRecord(), this.clock.now());
  }

  /** The record with the present status. */
  #toRecord(): SandboxRecord {
    return { ...this.#record, ...this.storedBytes, status: this.#status, status_reason: this.#reason };
  }

  /** The error for an operation that the present status does not allow, with the reason of the status. */
  refuse(): ServiceError {
    const why = this.reason ? `: ${this.reason}` : '';
    const state = this.status === 'SANDBOX_ERROR' ? 'in error' : wordOf(this.status);
    return new ServiceError('FAILED_PRECONDITION', `sandbox ${this.id} is ${state}${why}`);
  }
}

function patched(record: SandboxRecord, patch: RecordPatch): SandboxRecord {
  const fields = Object.entries({ ...record, ...patch }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as unknown as SandboxRecord;
}

/**
 * Starting, about to start, or being ended by its idle policy: commands and file operations wait for the outcome, in the
 * sandbox's queue.
 */
export function isChanging({ status, lost, ending }: LiveSandbox): boolean {
  return status === 'SANDBOX_PENDING' || lost !== undefined || ending;
}
