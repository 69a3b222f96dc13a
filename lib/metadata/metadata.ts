import type {
  Checkpoint,
  Codebase,
  Key,
  OwnerLimits,
  ResourceLimits,
  Sandbox,
  SandboxSecret,
  Secret,
} from '../contract/messages.ts';
import type { AutoCommit, OnExpire, OnIdle, PortAccess } from '../field-values.ts';
import type { NetworkPolicy } from '../network/policy/policy.ts';

/** What a request with an idempotency key created: the id of that request's intent (lib/retries). */
interface Created {
  intent?: string | undefined;
}

/** The head of a codebase on a tree: see lib/codebases/tree/stored-head.ts. */
export interface StoredHead {
  /** In decimal digits. */
  readonly store: string;
  readonly number: number;
  /** Digest of the version's object in lower-case hexadecimal. */
  readonly version: string;
  /** The entry of the root in base64. */
  readonly root: string;
  readonly next_ino: number;
}

/** `file_count` and `total_size` are not used. */
export type CodebaseRecord = Readonly<
  Omit<Codebase, 'totals_outdated' | 'revision'> &
    Created & {
      /** The totals of its files; not exact: files have changed since. Absent: never counted. */
      contents?: Readonly<{ files: number; bytes: number; directories: number; isExact: boolean; revision?: string }>;
      /** Of one on a tree, which has no `contents`. */
      tree?: StoredHead;
    }
>;

/** With the frozen layer that contains it. */
export type CheckpointRecord = Readonly<Omit<Checkpoint, 'sandbox_id'> & { layer: string } & Created>;

/** A key, with the SHA-256 of its secret in lower-case hexadecimal. */
export type KeyRecord = Readonly<Key & { sha256: string } & Created>;

/** The limits that were set for one owner, whose name is the id. */
export type OwnerRecord = Readonly<{ id: string; limits: Readonly<OwnerLimits> }>;

/** An opened port of a sandbox. */
export interface PortRecord {
  readonly port: number;
  readonly access: PortAccess;
  /** SHA-256 of the link token in lower-case hexadecimal. Absent with access `key`. */
  readonly sha256?: string;
  /** Unix time in seconds; 0: never. */
  readonly expires_at: number;
  readonly created_at: number;
}

/** A secret, with its value encrypted. The id is made of owner and name. */
export type SecretRecord = Readonly<Omit<Secret, 'used_by'> & { id: string; key_id: string; sealed: string }>;

/** A sandbox as stored: `status` is the one to restore after a restart, so never SANDBOX_PENDING. */
export type SandboxRecord = Readonly<
  Omit<Sandbox, 'expires_soon' | 'warnings' | 'network' | 'secrets' | 'read_only_paths' | 'workspace_path'> &
    Created & {
      resources: ResourceLimits;
      auto_commit: AutoCommit;
      on_idle: OnIdle;
      on_expire: OnExpire;
      /** It expired, and its `on_expire` has kept it since, until `destroy_at`. */
      kept?: boolean;
      /** Absent: it never had one. */
      network?: NetworkPolicy;
      /** Absent: it is bound to none. */
      secrets?: readonly SandboxSecret[];
      /** Absent: it sees none. */
      read_only_paths?: readonly string[];
      /** Absent: its workspace is at /workspace only. */
      workspace_path?: string;
      /** Host uid (and gid), allocated as long as its delta exists. */
      uid: number;
      /** Stopped, with a pending automatic commit. */
      commit_owed?: boolean;
      /** Of a fork: the frozen layer that its delta extends. */
      origin?: string;
      /** The delta had a journal when this was stored: without one it is damaged. */
      changed?: boolean;
      /** Of an owner whose deltas are counted: bytes of its delta with its checkpoints when this was stored. */
      delta_bytes?: number;
      /** The same of HOME. */
      home_bytes?: number;
      /** Oldest first. */
      checkpoints?: readonly CheckpointRecord[];
      /** In ascending order. */
      ports?: readonly PortRecord[];
    }
>;

/** A sandbox that the server itself destroyed. */
export interface GoneRecord {
  readonly id: string;
  readonly owner_id: string;
  readonly reason: 'expired' | 'idle';
  /** Time of its expiry, or since which it was idle. Unix time in seconds. */
  readonly since: number;
  /** Time of its destruction. */
  readonly gone_at: number;
}

/**
 * The records of one kind by id, in memory and in the file. Records are immutable: `put` a new one. A check and the
 * dependent `put` or `remove` are atomic if there is no `await` in between.
 */
export interface Table<R extends { readonly id: string }> {
  readonly size: number;
  get(id: string): R | undefined;
  /** In no particular order. */
  values(): IterableIterator<R>;
  /** From the newest id to the oldest; with `before`, only those older than this id. See `IdMap.newestFirst`. */
  newestFirst(before?: string): Iterable<R>;
  /**
   * Visible to reads at once; resolves when durable. Rejects with UNAVAILABLE if it could not be stored: memory is then
   * rolled back to before this change and all other unacknowledged ones.
   */
  put(record: R): Promise<void>;
  /** Like `put`; removing a missing record changes nothing. */
  remove(id: string): Promise<void>;
}

/** The most sandboxes that an owner may have. */
export interface OwnerQuota {
  /** 0: no limit. */
  readonly most: number;
  /** Unix time in milliseconds. */
  readonly now: number;
  /** The error for one that has `count` sandboxes that have not expired. */
  refusal(count: number): Error;
}

/** Sandboxes, with the operations that check other records: nothing comes between the checks and the change. */
export interface SandboxTable extends Table<SandboxRecord> {
  /**
   * Puts a record that counts for its owner: a new one, or that with the given id, whose expiry is extended. Rejects with
   * NOT_FOUND if the codebase of a new one does not exist, or with the quota's refusal if the owner has as many others.
   * `make` is called after these checks, in the same turn as this method by a store in memory, and returns the record; it
   * may throw, too. Resolves when the record is visible to reads; `stored` settles as that of `put`.
   */
  admit(
    asked: Pick<SandboxRecord, 'codebase_id' | 'owner_id'> & { id?: string },
    quota: OwnerQuota,
    make: () => SandboxRecord,
  ): Promise<{ stored: Promise<void> }>;
}

export interface CodebaseTable extends Table<CodebaseRecord> {
  /** Rejects with FAILED_PRECONDITION and the ids of the sandboxes on it, if there are any. */
  remove(id: string): Promise<void>;
  /** Replaces `from` by `next` if it is still the present record; false: it is not. */
  advance(from: CodebaseRecord, next: CodebaseRecord): Promise<boolean>;
  /** Those of an owner, the oldest first. */
  ofOwner(ownerId: string): readonly CodebaseRecord[];
  /** Like `newestFirst`, of one owner; '': of all. */
  newestOf(ownerId: string, before?: string): Iterable<CodebaseRecord>;
}

export interface Metadata {
  /** There was no file: existing data on the disk is unknown. */
  readonly fresh: boolean;
  readonly codebases: CodebaseTable;
  readonly sandboxes: SandboxTable;
  readonly keys: Table<KeyRecord>;
  readonly owners: Table<OwnerRecord>;
  readonly gone: Table<GoneRecord>;
  readonly secrets: Table<SecretRecord>;
  /** Waits for the changes in progress and refuses further ones. */
  close(): Promise<void>;
}
