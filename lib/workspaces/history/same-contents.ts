import { closeQuietly } from '../../linux/close.ts';
import { readFile } from '../delta/contents/host-io.ts';

const BLOCK = 64 * 1024;
/** For the first block of any file, between two steps: most files have no other one. */
const [firstA, firstB] = [Buffer.allocUnsafe(BLOCK), Buffer.allocUnsafe(BLOCK)];

/** Opens contents to compare; the reader must be closed. */
export type Source = () => { read(offset: number, into: Buffer): number; close(): void };

/** Contents of a host file, which is closed with the reader. */
export function fileSource(open: () => number): Source {
  return () => {
    const fd = open();
    return { read: (offset, into) => readFile(fd, offset, into), close: () => closeQuietly(fd) };
  };
}

/** Contents in memory. */
export function bytesSource(bytes: Buffer): ReturnType<Source> {
  return { read: (offset, into) => bytes.copy(into, 0, offset), close: () => undefined };
}

/** Whether two files have the same bytes up to `size`, the size of both, in steps. Throws host errors. */
export function* sameContents(openA: Source, openB: Source, size: number): Generator<undefined, boolean, void> {
  const a = openA();
  try {
    const b = openB();
    try {
      return yield* compare(a, b, size);
    } finally {
      b.close();
    }
  } finally {
    a.close();
  }
}

function* compare(a: ReturnType<Source>, b: ReturnType<Source>, size: number): Generator<undefined, boolean, void> {
  let [blockA, blockB] = [firstA, firstB];
  for (let at = 0; ; ) {
    // No further: a read at the end would be one more system call for each file.
    const wanted = Math.min(BLOCK, size - at);
    const read = a.read(at, blockA.subarray(0, wanted));
    if (b.read(at, blockB.subarray(0, wanted)) !== read || blockA.compare(blockB, 0, read, 0, read) !== 0) return false;
    at += read;
    if (read < wanted || at >= size) return true;
    if (blockA === firstA) [blockA, blockB] = [Buffer.allocUnsafe(BLOCK), Buffer.allocUnsafe(BLOCK)];
    yield;
  }
}
