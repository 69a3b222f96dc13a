import type { FileSystem } from '../filesystem.ts';
import { ENTRY_OUT_SIZE, OUT_HEADER_SIZE } from '../protocol/opcodes.ts';
import { direntSize, encodeDirent, encodeDirentEntry } from '../protocol/replies.ts';
import { readArgU32, readArgU64 } from '../protocol/requests.ts';
import type { Exchange } from './exchange.ts';

/**
 * Serves READDIR and, with `plus`, READDIRPLUS: whole records only, up to the size that the kernel requested. Returns
 * the size of the reply's body in bytes. Throws what the file system throws, if no entry was encoded before.
 */
export function readdir(fileSystem: FileSystem, exchange: Exchange, plus: boolean): number {
  const { request, reply, caller, nodeid } = exchange;
  const start = OUT_HEADER_SIZE;
  const limit = Math.min(start + readArgU32(request, 16), reply.length);
  let end = start;
  try {
    fileSystem.readdir(caller, nodeid, readArgU64(request, 8), plus, (name, cookie, ino, type, entry) => {
      const size = direntSize(name.length, plus);
      if (end + size > limit) return false;
      if (plus) encodeDirentEntry(reply, end, entry);
      encodeDirent(reply, plus ? end + ENTRY_OUT_SIZE : end, name, cookie, ino, type);
      end += size;
      return true;
    });
  } catch (thrown) {
    // The entries encoded so far count as lookups, so they must be delivered. The next request meets the error again.
    if (end === start) throw thrown;
  }
  return end - start;
}
