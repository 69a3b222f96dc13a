import type { ByteString } from '../../byte-string.ts';
import { encodeInvalEntry, encodeInvalInode, INVAL_INODE_SIZE, invalEntrySize } from '../protocol/notifications.ts';

const CHUNK_SIZE = 64 * 1024;

/** Encoded notifications that are not posted yet. */
export class NotificationBuffer {
  #buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
  #used = 0;
  /** Nodes with an invalidation in the buffer. One per batch is enough, as a batch is sent when its changes are in effect. */
  readonly #inodes = new Set<number>();

  invalInode(nodeid: number): void {
    if (this.#inodes.has(nodeid)) return;
    this.#inodes.add(nodeid);
    this.#reserve(INVAL_INODE_SIZE);
    this.#used += encodeInvalInode(this.#buffer, this.#used, nodeid);
  }

  invalEntry(parent: number, name: ByteString, expireOnly: boolean): void {
    this.#reserve(invalEntrySize(name));
    this.#used += encodeInvalEntry(this.#buffer, this.#used, parent, name, expireOnly);
  }

  /** Empties the buffer and returns what was in it, in memory of its own that can be transferred; undefined: nothing. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#used === 0) return undefined;
    const taken = new Uint8Array(this.#buffer.buffer, 0, this.#used);
    this.#buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
    this.#used = 0;
    this.#inodes.clear();
    return taken;
  }

  /** The buffer grows instead of being sent early: a notification must not reach the kernel before its change is in effect. */
  #reserve(size: number): void {
    if (this.#used + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(this.#buffer.length * 2);
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}
