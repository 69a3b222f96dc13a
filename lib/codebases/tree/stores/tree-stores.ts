import type { FileInfo } from '../../../contract/messages.ts';
import type { ImportMode } from '../../../field-values.ts';
import type { StoredHead } from '../../../metadata/metadata.ts';
import type { Page } from '../../../paging.ts';
import type { Opened } from '../../../threads/calls.ts';
import type { OwnerBytes } from '../../owner-quota.ts';
import type { Imported } from '../archive/tree-import.ts';
import type { Moved } from '../record-heads.ts';
import type { Uploaded } from '../upload.ts';

/** A codebase, as the main thread knows it when it makes a call. */
export interface Place {
  readonly id: string;
  readonly head: StoredHead;
  /** What its owner may store; undefined: there is no limit. */
  readonly owner: OwnerBytes | undefined;
}

export interface UploadOptions {
  readonly mode?: number;
  readonly symlinkTarget?: string;
}

/** The stores of codebases, in a thread of theirs: all calls may be made from another one. */
export interface TreeStores {
  /** An upload of all contents at once. */
  put(at: Place, path: string, options: UploadOptions, bytes: Uint8Array): Promise<Uploaded>;
  upload(at: Place, path: string, options: UploadOptions): Promise<Opened<Sending>>;
  remove(at: Place, path: string): Promise<void>;
  list(at: Place, request: Listing): Promise<{ files: FileInfo[]; next_page_token: string }>;
  open(at: Place, path: string): Promise<SmallFile | Opened<LargeFile, FileFacts>>;
  import(at: Place): Promise<Opened<Importing>>;
  export(at: Place, path: string): Promise<Opened<Exporting>>;
  /** The codebase has no record any more: waits for its changes in progress, and closes its store. */
  forget(id: string): Promise<void>;
  /** Closes all stores. */
  close(): Promise<void>;
}

export type Listing = { path: string; recursive: boolean } & Page;

/** What the stores call in the main thread. */
export interface HeadKeeper {
  advance(id: string, from: StoredHead, to: StoredHead): Promise<Moved>;
  /** A garbage collection of a store failed, and removed nothing. */
  garbageKept(id: string, why: string): Promise<void>;
}

/** One call at a time: the answer says that there is room for more. */
export interface Sending {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<Uploaded>;
  close(): Promise<void>;
}

export interface FileFacts {
  readonly size: number;
  readonly checksum: string;
  /** Unix time in seconds. */
  readonly modified_at: number;
}

export type SmallFile = FileFacts & { readonly bytes: Uint8Array };

export interface LargeFile {
  read(from: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface Importing {
  /** Resolves to whether the end of the archive was read. */
  feed(bytes: Uint8Array): Promise<boolean>;
  /** `owner`: as it is now. */
  finish(mode: ImportMode, onlyAt: string, owner: OwnerBytes | undefined): Promise<Imported>;
  close(): Promise<void>;
}

export interface Exporting {
  /** undefined after the last bytes. */
  next(): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}
