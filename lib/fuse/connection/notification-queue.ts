import type { MessagePort } from 'node:worker_threads';
import type { ByteString } from '../../byte-string.ts';
import type { Notifier } from '../filesystem.ts';
import {
  encodeInvalAttributes,
  encodeInvalEntry,
  encodeInvalInode,
  INVAL_INODE_SIZE,
  invalEntrySize,
} from '../protocol/notifications.ts';
import { ROOT_NODEID } from '../protocol/opcodes.ts';
import { type ParentDirectories, WORKSPACE_NAME } from '../session/parent-directories.ts';
import { type NotificationBatch, writeNotifications } from './notifier.ts';

const CHUNK_SIZE = 64 * 1024;
/** How long the request worker retries a notification, in ms; all sandboxes wait in the meantime. */
const RETRY_MS = 20;

/**
 * Collects notifications in the request worker and posts them to the notifier thread. The request worker must not write
 * them itself: FUSE_NOTIFY_INVAL_ENTRY and the invalidation of pages wait in write(2) for requests that only the
 * request worker can serve.
 */
export class NotificationQueue implements Notifier {
  readonly #port: MessagePort;
  readonly #fd: number;
  readonly #parents: ParentDirectories;
  readonly #immediate = Buffer.alloc(INVAL_INODE_SIZE);
  #buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
  #used = 0;
  #batch = 0;
  /**
   * Nodes with an invalidation in the buffer. One per batch is enough, as a batch is sent when its changes are in
   * effect.
   */
  readonly #inodes = new Set<number>();

  /** `port`: to the notifier thread; `fd`: the device. The caller owns both. */
  constructor(port: MessagePort, fd: number, parents: ParentDirectories) {
    this.#port = port;
    this.#parents = parents;
    this.#fd = fd;
  }

  /** Number of the last batch that was posted; 0: none yet. */
  get lastBatch(): number {
    return this.#batch;
  }

  invalInode(nodeid: number): void {
    if (this.#inodes.has(nodeid)) return;
    this.#inodes.add(nodeid);
    this.#reserve(INVAL_INODE_SIZE);
    this.#used += encodeInvalInode(this.#buffer, this.#used, nodeid);
  }

  /** In the root a name is a whole workspace, whose dentry the kernel must drop at once. Other names only expire. */
  invalEntry(parent: number, name: ByteString): void {
    if (parent !== ROOT_NODEID) {
      this.#invalEntry(parent, name, true);
      return;
    }
    const directory = this.#parents.remove(name);
    if (directory !== undefined) this.#invalEntry(directory, WORKSPACE_NAME, false);
  }

  dropEntry(parent: number, name: ByteString): void {
    this.#invalEntry(parent, name, false);
  }

  #invalEntry(parent: number, name: ByteString, expireOnly: boolean): void {
    this.#reserve(invalEntrySize(name));
    this.#used += encodeInvalEntry(this.#buffer, this.#used, parent, name, expireOnly);
  }

  invalAttributesNow(nodeid: number): void {
    encodeInvalAttributes(this.#immediate, 0, nodeid);
    writeNotifications(this.#fd, this.#immediate, RETRY_MS);
  }

  /** Posts the collected notifications as one batch. Call it when their changes are in effect. */
  flush(): void {
    if (this.#used === 0) return;
    const bytes = new Uint8Array(this.#buffer.buffer, 0, this.#used);
    const message: NotificationBatch = { batch: ++this.#batch, bytes };
    this.#port.postMessage(message, [this.#buffer.buffer]);
    this.#buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
    this.#used = 0;
    this.#inodes.clear();
  }

  /**
   * Grows the buffer instead of sending early: a notification must not reach the kernel before its change is in effect.
   */
  #reserve(size: number): void {
    if (this.#used + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(this.#buffer.length * 2);
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}
