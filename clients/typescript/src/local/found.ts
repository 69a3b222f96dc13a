import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { turns } from './turns.ts';

/** What is at a path, on either side. */
export type Found =
  | { type: 'file'; version: string; executable: boolean }
  | { type: 'symlink'; target: string }
  | { type: 'directory' }
  | { type: 'other' }
  | undefined;

/** Of files only the execute bit counts, as for git: a umask makes other bits differ. */
export function isSame(a: Found, b: Found): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.type === 'file' && b.type === 'file') return a.executable === b.executable && a.version === b.version;
  if (a.type === 'symlink' && b.type === 'symlink') return a.target === b.target;
  return a.type === b.type && a.type === 'directory';
}

/** Two contents are the same if their versions are. Contents may be larger than the memory. */
export async function versionOf(
  content: AsyncIterable<Uint8Array>,
  each: (piece: Uint8Array) => void = () => undefined,
): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of content) {
    hash.update(piece);
    each(piece);
  }
  return hash.digest('hex');
}

const PIECE = 64 * 1024;

/** What is left of an open file. A piece is valid until the next one. */
export async function* bytesOf(fd: number): AsyncGenerator<Uint8Array, void, void> {
  const buffer = Buffer.allocUnsafeSlow(PIECE);
  const turn = turns();
  for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
    yield buffer.subarray(0, read);
    await turn();
  }
}
