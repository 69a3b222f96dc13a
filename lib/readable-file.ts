import type { Readable } from 'node:stream';

/** Bytes produced on demand. Resources are held only while it is iterated. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  contentType: string;
}

/** One version of a file. */
export interface ReadableFile {
  size: number;
  /** Unique for each version of the file. */
  etag: string;
  /** Unix time in seconds. */
  modified_at: number;
  /**
   * Reads the bytes from `start` (inclusive) to `end` (exclusive) of this version. The caller must consume or destroy
   * the stream.
   */
  read(range?: { start: number; end: number }): Readable;
  /** The bytes of a range that are in memory already; undefined: `read` has them. Absent: none are. */
  held?(range: { start: number; end: number }): Uint8Array | undefined;
  /** Must be called once, after the last `read`; streams still being read stay valid. */
  close(): Promise<void>;
}

export interface StoredFile extends ReadableFile {
  /** Lower-case hex SHA-256 of the content; equal to the etag. */
  checksum: string;
}
