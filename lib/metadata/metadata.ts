import type { AutoCommit } from '../field-values.ts';
import type { Checkpoint, Codebase, ResourceLimits, Sandbox } from '../messages.ts';

export type CodebaseRecord = Readonly<Codebase>;

/** With the frozen layer that holds it. */
export type CheckpointRecord = Readonly<Omit<Checkpoint, 'sandbox_id'> & { layer: string }>;

/** A sandbox as it is kept: `status` is what it is to be again after a restart, so never SANDBOX_PENDING. */
export type SandboxRecord = Readonly<
  Sandbox & {
    resources: ResourceLimits;
    auto_commit: AutoCommit;
    /** The codebase's owner, for `sandbox.max_per_user`. */
    owner_id: string;
    /** Host uid (and gid) of its own, held for as long as its delta lives. */
    uid: number;
    /** Stopped, with an automatic commit that is still to be tried. */
    commit_owed?: boolean;
    /** Of a fork: the frozen layer its delta starts from. */
    origin?: string;
    /** Its delta had a journal when this was stored: one without is damaged. */
    changed?: boolean;
    /** Oldest first. */
    checkpoints?: readonly CheckpointRecord[];
  }
>;

/**
 * One kind of record by id, in memory and in the file. A record is never changed in place: `put` another one.
 * A check and the `put` or `remove` that depends on it are one step when no `await` stands between them.
 */
export interface Table<R extends { readonly id: string }> {
  readonly size: number;
  get(id: string): R | undefined;
  /** In no order to rely on. */
  values(): IterableIterator<R>;
  /**
   * Seen by reads at once; resolves when it is durable. Rejects with UNAVAILABLE when it could not be made durable:
   * memory is then as before this change and all others that were not yet acknowledged.
   */
  put(record: R): Promise<void>;
  /** As `put`; removing what is not there changes nothing. */
  remove(id: string): Promise<void>;
}

export interface Metadata {
  /** There was no file: nothing is known of what else may lie on the disk. */
  readonly fresh: boolean;
  readonly codebases: Table<CodebaseRecord>;
  readonly sandboxes: Table<SandboxRecord>;
  /** Waits for the changes under way; refuses further ones. */
  close(): Promise<void>;
}
