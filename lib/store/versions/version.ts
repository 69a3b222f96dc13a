import type { ByteString } from '../../byte-string.ts';
import type { DirectoryEntry } from '../../trees/format/entry.ts';
import type { Key } from '../../trees/format/keys.ts';

/** How a version came about. */
export const VERSION_KINDS = ['create', 'upload', 'import', 'remove', 'commit', 'restore'] as const;
export type VersionKind = (typeof VERSION_KINDS)[number];

/** A state of a codebase, and what made it of the one before. */
export interface Version {
  readonly number: number;
  readonly kind: VersionKind;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** The version before; NO_KEY if none is kept. */
  readonly parent: Key;
  /** Its name is that of no file. Only hashes are in the tree. */
  readonly root: DirectoryEntry;
  /** Inode numbers from here on were never used. */
  readonly nextIno: number;
  readonly author: string;
  readonly message: string;
  /** Where it changed the version before, if there are few; [] if not. */
  readonly paths: readonly ByteString[];
  readonly commit: CommitOrigin | undefined;
  /** The request that made it, if that can be repeated. */
  readonly request: VersionRequest | undefined;
}

/** Of a commit: whose, and what is to be known in that sandbox should it not have heard of it. */
export interface CommitOrigin {
  readonly sandboxId: string;
  /** 16 random bytes. */
  readonly id: Buffer;
  /** The base of the sandbox from then on: a tree of this store or of the sandbox's; NO_KEY: the root of this version. */
  readonly baseAfter: Key;
}

export interface VersionRequest {
  /** Names the request and what it asks for. */
  readonly intent: Buffer;
  /** A short form of the answer, to be given again. */
  readonly answer: Buffer;
}

export const VERSION_LIMITS = {
  author: 255,
  message: 1024,
  sandboxId: 255,
  intent: 1024,
  answer: 16_384,
  paths: 64,
  path: 4096,
} as const;
