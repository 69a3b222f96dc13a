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
/** How long the request worker retries a notification; all sandboxes wait meanwhile. */
const PATIENCE_MS = 20;

/**
 * The request worker's end: gathers notifications and hands them to the notifier thread. Not written to the device from
 * here: INVAL_ENTRY waits inside write(2) for requests that only this thread can answer, and so does dropping pages.
 */
export class NotificationQueue implements Notifier {
  readonly #port: MessagePort;
  readonly #fd: number;
  readonly #parents: ParentDirectories;
  readonly #now = Buffer.alloc(INVAL_INODE_SIZE);
  #buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
  #used = 0;
  #batch = 0;
  /** Nodes in the buffer: what is told after a change is in effect need be told once. */
  readonly #inodes = new Set<number>();

  /** `fd`: the device. */
  constructor(port: MessagePort, fd: number, parents: ParentDirectories) {
    this.#port = port;
    this.#parents = parents;
    this.#fd = fd;
  }

  /** The number of the last batch handed over; 0: none yet. */
  get lastBatch(): number {
    return this.#batch;
  }

  invalInode(nodeid: number): void {
    if (this.#inodes.has(nodeid)) return;
    this.#inodes.add(nodeid);
    this.#reserve(INVAL_INODE_SIZE);
    this.#used += encodeInvalInode(this.#buffer, this.#used, nodeid);
  }

  /** A name in the root is a whole workspace, which the kernel is to let go of; other names are only to be asked again. */
  invalEntry(parent: number, name: ByteString): void {
    if (parent !== ROOT_NODEID) {
      this.#invalEntry(parent, name, true);
      return;
    }
    const directory = this.#parents.leave(name);
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
    encodeInvalAttributes(this.#now, 0, nodeid);
    writeNotifications(this.#fd, this.#now, PATIENCE_MS);
  }

  /** Call when the change that was announced is in effect. */
  flush(): void {
    if (this.#used === 0) return;
    const bytes = new Uint8Array(this.#buffer.buffer, 0, this.#used);
    const message: NotificationBatch = { batch: ++this.#batch, bytes };
    this.#port.postMessage(message, [this.#buffer.buffer]);
    this.#buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
    this.#used = 0;
    this.#inodes.clear();
  }

  /** Grows instead of sending early: a notification must not reach the kernel before its change is in effect. */
  #reserve(size: number): void {
    if (this.#used + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(this.#buffer.length * 2);
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}
