import { Readable } from 'node:stream';
import type { StoredFile } from '../readable-file.ts';

const CHUNK = 256 * 1024;

/** One version of a file, of which bytes are read as they are asked for. */
export interface FileSource {
  /** From an offset on; throws DATA_LOSS if there are none. */
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Takes ownership of `source`: it is closed after `close` and the last read in progress. `closed` is called then. */
export function rangedFile(
  source: FileSource,
  { size, checksum, modified_at }: Pick<StoredFile, 'size' | 'checksum' | 'modified_at'>,
  closed: () => void,
): StoredFile {
  let holds = 1;
  const release = async () => {
    if (--holds === 0) await source.close().finally(closed);
  };
  return {
    size,
    checksum,
    etag: checksum,
    modified_at,
    read({ start, end } = { start: 0, end: size }) {
      if (holds === 0) throw new Error('the file was closed before');
      holds++;
      return readRange(source, start, Math.min(end, size), release);
    },
    close: release,
  };
}

function readRange(source: FileSource, start: number, end: number, release: () => Promise<void>): Readable {
  let position = start;
  let reading: Promise<unknown> = Promise.resolve();
  const next = async (stream: Readable): Promise<void> => {
    const length = Math.min(CHUNK, end - position);
    if (length <= 0) {
      stream.push(null);
      return;
    }
    const bytes = await source.read(position, length);
    position += bytes.length;
    stream.push(bytes);
  };
  return new Readable({
    highWaterMark: CHUNK,
    read() {
      reading = next(this).catch((error: Error) => this.destroy(error));
    },
    destroy(error, callback) {
      // The source must outlive a read in progress: after a close the number of its descriptor could be another file's.
      reading.then(release).then(
        () => callback(error),
        (closing: Error) => callback(error ?? closing),
      );
    },
  });
}
