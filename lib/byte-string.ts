/** A name or path as raw bytes, one char per byte (latin1), so that names that are not UTF-8 survive a round trip. */
export type ByteString = string;
