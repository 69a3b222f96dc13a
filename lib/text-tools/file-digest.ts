import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { ServiceError } from '../errors.ts';

const PIECE = 1024 * 1024;

/** SHA-256 of the first `size` bytes of an open file, in lower-case hex. ABORTED: it has fewer. */
export function digestOfFile(fd: number, size: number): string {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafeSlow(PIECE);
  for (let at = 0; at < size; ) {
    const read = readSync(fd, piece, 0, Math.min(PIECE, size - at), at);
    if (read === 0) throw new ServiceError('ABORTED', 'a file was changed while it was read; try again');
    hash.update(piece.subarray(0, read));
    at += read;
  }
  return hash.digest('hex');
}
