import { ServiceError } from '../errors.ts';
import type { Sandbox, SandboxStatus } from '../messages.ts';
import type { SandboxRecord } from '../metadata/metadata.ts';
import type { RunningSandbox } from '../runtime/runtime.ts';
import { SerialQueue } from '../serial-queue.ts';
import { nextStatus, type SandboxEvent } from './states.ts';

/** One sandbox as it is now. What of it outlives the server is its record. */
export class LiveSandbox {
  /** Whatever changes its state goes through here, one at a time; commands do not. */
  readonly queue = new SerialQueue();
  record: SandboxRecord;
  status: SandboxStatus;
  reason: string;
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
    this.record = record;
    this.status = status;
    this.reason = record.status_reason;
  }

  get id(): string {
    return this.record.id;
  }

  become(event: SandboxEvent, reason = ''): void {
    this.status = nextStatus(this.status, event);
    this.reason = reason;
  }

  /** The record that holds the present status. */
  settled(): SandboxRecord {
    return { ...this.record, status: this.status, status_reason: this.reason };
  }

  view(): Sandbox {
    const { owner_id, uid, commit_owed, origin, checkpoints, changed, ...sandbox } = this.settled();
    return sandbox;
  }

  refuse(): ServiceError {
    const why = this.reason ? `: ${this.reason}` : '';
    return new ServiceError('FAILED_PRECONDITION', `sandbox ${this.id} is ${this.status}${why}`);
  }
}

/** Being brought up, or about to be: commands and calls for its files wait for that, in its queue. */
export function isComing({ status, lost }: LiveSandbox): boolean {
  return status === 'SANDBOX_PENDING' || lost !== undefined;
}
