/** A name or path as the kernel sent it: one char per byte (latin1), so that names that are not UTF-8 round trip. */
export type ByteString = string;
