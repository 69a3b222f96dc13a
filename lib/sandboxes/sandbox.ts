import { ServiceError } from '../errors.ts';
import type { Sandbox, SandboxStatus } from '../messages.ts';
import type { SandboxRecord, Table } from '../metadata/metadata.ts';
import type { RunningSandbox } from '../runtime/runtime.ts';
import { SerialQueue } from '../serial-queue.ts';
import { nextStatus, type SandboxEvent } from './lifecycle/states.ts';

type Records = Pick<Table<SandboxRecord>, 'put'>;

/** Fields of the record and their new values; undefined removes an optional field. The status changes by events. */
export type RecordPatch = {
  readonly [K in Exclude<keyof SandboxRecord, 'id' | 'status' | 'status_reason'>]?: SandboxRecord[K] | undefined;
};

/**
 * One sandbox as it is now. The part that outlives the server is its record. Record, status and reason change only by
 * `update`, `report`, `transition` and `explain`, called from the sandbox's queue, so readers never see half a change.
 */
export class LiveSandbox {
  /** All changes of the sandbox's state run here, one at a time; commands do not. */
  readonly queue = new SerialQueue();
  #record: SandboxRecord;
  #status: SandboxStatus;
  #reason: string;
  running: RunningSandbox | undefined;
  attached = false;
  /** Why the workspace that it was up on is gone: it is about to be brought up again. Its commands have ended. */
  lost: string | undefined;
  /** See `WorkspaceSpec`. */
  readonly changeCount = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** The count up to which everything is committed; undefined: not known. */
  committedCount: number | undefined;
  /** Its workspace is attached while it is not up, for those who look at its files. */
  visited: { workspace: string; count: number } | undefined;
  /** The state of its delta in which it was found to have no renamed directory. */
  withoutRenamed: string | undefined;
  /** Made by this server and not brought up yet, so it has nothing that could be lost. */
  isNew = false;
  /** Being destroyed, or destroyed: no more work is taken. */
  leaving = false;

  constructor(record: SandboxRecord, status: SandboxStatus = record.status) {
    this.#record = record;
    this.#status = status;
    this.#reason = record.status_reason;
  }

  get id(): string {
    return this.#record.id;
  }

  get record(): SandboxRecord {
    return this.#record;
  }

  get status(): SandboxStatus {
    return this.#status;
  }

  /** Why it is SANDBOX_ERROR, or was brought up again; else empty. */
  get reason(): string {
    return this.#reason;
  }

  /**
   * What a request asks for: durable first, then visible. Rejects with the store's error; then nothing is changed and
   * nothing was visible. `event`: a transition that becomes durable and visible together with the patch.
   */
  async update(patch: RecordPatch, records: Records, event?: SandboxEvent): Promise<void> {
    const status = event === undefined ? this.#status : nextStatus(this.#status, event);
    const reason = event === undefined ? this.#reason : '';
    const record = patched(this.#record, patch);
    await records.put({ ...record, status, status_reason: reason });
    this.#record = record;
    this.#status = status;
    this.#reason = reason;
  }

  /**
   * What has happened already: visible at once, whether or not it can be stored. Rejects with the store's error, which
   * the caller may only log: the next server does not know of it.
   */
  async report(patch: RecordPatch, records: Records): Promise<void> {
    this.#record = patched(this.#record, patch);
    await records.put(this.#toRecord());
  }

  /** Visible at once, and not stored. Throws for an event that is impossible in the present status. */
  transition(event: SandboxEvent, reason = ''): void {
    this.#status = nextStatus(this.#status, event);
    this.#reason = reason;
  }

  /** Replaces the reason of the present status. Not stored. */
  explain(reason: string): void {
    this.#reason = reason;
  }

  view(): Sandbox {
    const { owner_id, uid, commit_owed, origin, checkpoints, changed, ...sandbox } = this.#toRecord();
    return sandbox;
  }

  /** The record with the present status. */
  #toRecord(): SandboxRecord {
    return { ...this.#record, status: this.#status, status_reason: this.#reason };
  }

  refuse(): ServiceError {
    const why = this.reason ? `: ${this.reason}` : '';
    return new ServiceError('FAILED_PRECONDITION', `sandbox ${this.id} is ${this.status}${why}`);
  }
}

function patched(record: SandboxRecord, patch: RecordPatch): SandboxRecord {
  const fields = Object.entries({ ...record, ...patch }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as unknown as SandboxRecord;
}

/** Being brought up, or about to be: commands and calls for its files wait for that, in its queue. */
export function isComing({ status, lost }: LiveSandbox): boolean {
  return status === 'SANDBOX_PENDING' || lost !== undefined;
}
