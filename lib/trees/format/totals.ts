import { readU48, writeU48 } from './integers.ts';
import { MAX_LONGEST } from './limits.ts';

/** What is in a subtree, without the directory at its top. */
export interface Totals {
  /** All but directories; each name counts, with the size of its file. */
  files: number;
  bytes: number;
  /** Files with several names: each name counts. */
  linked: number;
  directories: number;
  /** Entries whose contents or objects are in a sandbox's store. */
  ownEntries: number;
  /** Bytes that the store has of these: those of a file with several names count once. */
  ownBytes: number;
  /** Bytes of the longest path, at most 65,535. */
  longest: number;
}

export const TOTALS_BYTES = 32;

export function noTotals(): Totals {
  return { files: 0, bytes: 0, linked: 0, directories: 0, ownEntries: 0, ownBytes: 0, longest: 0 };
}

/** `longest` apart, which depends on names. */
export function addTotals(to: Totals, totals: Totals): void {
  to.files += totals.files;
  to.bytes += totals.bytes;
  to.linked += totals.linked;
  to.directories += totals.directories;
  to.ownEntries += totals.ownEntries;
  to.ownBytes += totals.ownBytes;
}

/**
 * What one of the names of a file adds to own bytes: its part, rounded up. So the names together have them once, wherever
 * they are, and the totals of a directory are still a sum over its own names.
 */
export function ofOneName(bytes: number, nlink: number): number {
  return nlink > 1 ? Math.ceil(bytes / nlink) : bytes;
}

export function addPath(to: Totals, bytes: number): void {
  to.longest = Math.min(MAX_LONGEST, Math.max(to.longest, bytes));
}

export function readTotals(bytes: Buffer, at: number): Totals {
  return {
    files: readU48(bytes, at),
    bytes: readU48(bytes, at + 6),
    linked: bytes.readUInt32LE(at + 12),
    directories: bytes.readUInt32LE(at + 16),
    ownEntries: bytes.readUInt32LE(at + 20),
    ownBytes: readU48(bytes, at + 24),
    longest: bytes.readUInt16LE(at + 30),
  };
}

export function writeTotals(bytes: Buffer, totals: Totals, at: number): void {
  writeU48(bytes, totals.files, at);
  writeU48(bytes, totals.bytes, at + 6);
  bytes.writeUInt32LE(totals.linked, at + 12);
  bytes.writeUInt32LE(totals.directories, at + 16);
  bytes.writeUInt32LE(totals.ownEntries, at + 20);
  writeU48(bytes, totals.ownBytes, at + 24);
  bytes.writeUInt16LE(totals.longest, at + 30);
}

export function equalTotals(a: Totals, b: Totals): boolean {
  return (
    a.files === b.files &&
    a.bytes === b.bytes &&
    a.linked === b.linked &&
    a.directories === b.directories &&
    a.ownEntries === b.ownEntries &&
    a.ownBytes === b.ownBytes &&
    a.longest === b.longest
  );
}
