import type { ByteString } from '../../byte-string.ts';
import type { DirectoryEntry } from '../../trees/format/entry.ts';
import { type Key, KIND, kindOf } from '../../trees/format/keys.ts';

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

/**
 * Of a commit: whose, and all that this sandbox does when it hears of it. The trees are in this store or in the sandbox's; they
 * are whole entries, because a root has a mode, and an empty one has no key.
 */
export interface CommitOrigin {
  readonly sandboxId: string;
  /** 16 random bytes. */
  readonly id: Buffer;
  /** What the sandbox had when it was frozen for the commit, and what it has of that from then on. */
  readonly mineBefore: DirectoryEntry;
  readonly mineAfter: DirectoryEntry;
  /** What the sandbox has seen of its codebase from then on. */
  readonly baseAfter: DirectoryEntry;
}

/** The trees that a commit names in the store of the codebase. Those in the store of the sandbox go with it. */
export function treesIn(commit: CommitOrigin | undefined): Key[] {
  if (commit === undefined) return [];
  const { mineBefore, mineAfter, baseAfter } = commit;
  const keys = new Set([mineBefore, mineAfter, baseAfter].map(({ key }) => key));
  return [...keys].filter((key) => kindOf(key) === KIND.hash);
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
