import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import type { HostFile } from '../../host-tree/host-file.ts';
import type { Time } from '../../linux/time.ts';
import type { RuleState } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import type { Emptiness } from '../nodes/merged-listing.ts';
import type { Found, Node } from '../nodes/node.ts';

/** A name in a directory. */
export interface NameIn<N extends Node = Node> {
  readonly dir: N;
  readonly name: ByteString;
}

/** What a new file, directory, symlink or device is. */
export interface Made {
  /** With S_IFMT bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Symlink. */
  readonly target?: ByteString;
  /** Device, in the kernel's encoding. */
  readonly rdev?: number;
}

/** What SETATTR can change. */
export interface FileAttributes {
  mode: number;
  uid: number;
  gid: number;
  atime: Time;
  mtime: Time;
  ctime: Time;
}

/**
 * How the files of one workspace are stored, as its operations need it: they resolve names, and check rules and types, before
 * they call anything here. Each change is atomic, and in the journal on return. Each call throws EDQUOT, Postponed and host
 * errors with nothing changed by it; calls before it stay in effect.
 *
 * `asText`: a file counts as text of the agent from then on (`Node.isAgentText`).
 */
export interface StoredFiles {
  readonly names: StoredNames;
  readonly contents: StoredContents;
  readonly listings: StoredListings;
}

/** One name of a directory. */
export interface ListedName {
  readonly name: ByteString;
  /** Larger than those of all names before it, and the same while the name exists. */
  readonly cookie: number;
  /** S_IFMT bits. */
  readonly type: number;
}

/** The names of a directory, hidden ones included, in the order of their cookies. */
export interface DirectoryListing {
  readonly size: number;
  values(): Iterable<ListedName>;
  after(cookie: number): Iterable<ListedName>;
}

export interface StoredListings {
  /** For requests, before they change anything: throws Postponed while a large directory is listed, and EDQUOT. */
  listed(dir: Node): DirectoryListing;
  /** As `listed`, in steps. The caller holds the workspace. */
  listing(dir: Node): Steps<DirectoryListing, undefined>;
  /** Before a name is looked up. Throws Postponed. */
  aboutToLookUp(dir: Node): void;
  /** After a reply with attributes: the next one begins after this cookie. `ruleOf`: the rules of a name. */
  aboutToList(dir: Node, after: number, ruleOf: (name: ByteString) => RuleState): void;
  /** For requests, before they change anything: throws Postponed while a large directory is examined. */
  emptiness(access: Access, dir: Node): Emptiness;
  /** st_nlink of a directory: 2 plus its subdirectories, or 1 ("unknown") if counting takes long. */
  linkCount(dir: Node): number;
  /**
   * Throws EACCES unless the rules grant WRITE for everything below, by its present path and by the one that it would have
   * below a directory with the rules `to`; Postponed while a large tree is checked.
   */
  requireWritableBelow(access: Access, top: Node, to: RuleState): void;
  /** As `requireWritableBelow`, in steps. The caller holds the workspace. */
  checkingBelow(access: Access, top: Node, to: RuleState): Steps<void>;
}

/** Names and attributes. What a directory lists is right on return; nodes get their links from the caller. */
export interface StoredNames {
  create(at: NameIn, made: Made, asText: boolean): Found;
  /** An empty file without a name. */
  createUnlinked(made: Made): Found;
  /** One more name of a file. */
  link(node: Node, at: NameIn, asText: boolean): void;
  remove(node: Node, at: NameIn): void;
  /** `replaced`: what the new name has, which loses it. Throws Postponed while the codebase loses files below `node`. */
  move(node: Node, from: NameIn, to: NameIn, replaced: Node | undefined, asText: boolean): void;
  /** As `move`, of two names that get each other's nodes. */
  exchange(a: Node, at: NameIn, b: Node, bAt: NameIn, asText: { a: boolean; b: boolean }): void;
  /** Gives a name to a file of `createUnlinked`, with other permission bits. */
  place(node: Node, at: NameIn, replaced: Node | undefined, mode: number, asText: boolean): void;
  /** `makesRoom`: the change frees space, so that neither a full disk nor a full quota prevents it. */
  setAttributes(node: Node, to: FileAttributes, makesRoom: boolean): void;
}

export interface StoredContents {
  /** The target of a symlink. */
  target(node: Node): Buffer;
  /** Reads what is stored of a regular file, whatever the rules say. Throws ESTALE if it is gone. */
  read(node: Node, offset: number, into: Buffer): number;
  /** The host file that has the contents; undefined: there is none. */
  hostFile(node: Node): HostFile | undefined;
  /** The codebase's regular file at a path as the sandbox has seen it; undefined: there is none, or it has more bytes. */
  codebaseFile(path: ByteString, most: number): Buffer | undefined;
  /** Before a file is changed: gives the sandbox its own; without `contents` an empty one. */
  makeOwn(node: Node, contents: boolean): void;
  /** As `makeOwn`, with these contents, which are text of the agent. At most `SMALL` bytes. */
  makeText(node: Node, bytes: Buffer): void;
  /** The contents no longer count as text of the agent. */
  leaveText(node: Node): void;
  /** Of an own file. Returns the bytes written: fewer if the disk became full, but at least one. */
  write(node: Node, offset: number, data: Buffer): number;
  /** Of an own file; `size` in bytes. */
  truncate(node: Node, size: number): void;
  /** Makes a file or directory durable; returns the cause of the answer, or undefined if there is nothing to do. */
  sync(node: Node, datasync: boolean): number | undefined;
}
