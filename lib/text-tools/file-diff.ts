import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ChosenHunks, FileDiff } from '../contract/messages.ts';
import { invalidArgument, ServiceError } from '../errors.ts';
import { hunksOf, withHunks } from '../patch/hunks.ts';

/** Bytes of a side of a file that is compared by lines. */
export const MAX_COMPARED = 512 * 1024;

/** What the contents alone tell. */
export type Comparison = Omit<FileDiff, 'base_mode'>;

/** The comparison of two versions of a file, neither longer than MAX_COMPARED. */
export function fileDiff(before: Uint8Array, after: Uint8Array): Comparison {
  if (!isText(before) || !isText(after)) return without('binary');
  const hunks = hunksOf(textOf(before), textOf(after));
  return { base_sha256: digest(before), sha256: digest(after), hunks, no_hunks: '' };
}

export const without = (reason: 'binary' | 'large' | 'placeholders' | 'unreadable'): FileDiff => ({
  base_sha256: '',
  sha256: '',
  hunks: [],
  no_hunks: reason,
  base_mode: 0,
});

/**
 * The first version with the chosen hunks. Throws FAILED_PRECONDITION if these are not the versions that were looked at, and
 * INVALID_ARGUMENT for an index without a hunk; `at` names the choice.
 */
export function chosenText(before: Uint8Array, after: Uint8Array, choice: ChosenHunks, at: string): Uint8Array {
  const sides = { base_sha256: before, sha256: after } as const;
  for (const [field, bytes] of Object.entries(sides) as ['base_sha256' | 'sha256', Uint8Array][]) {
    if (choice[field] === digest(bytes)) continue;
    const side = field === 'sha256' ? 'sandbox' : 'codebase';
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `${at}.${field}: the ${side} has other contents of ${JSON.stringify(choice.path)} by now; list the changes again`,
    );
  }
  const text = isText(before) && isText(after) ? withHunks(textOf(before), textOf(after), choice.indexes) : undefined;
  if (text === undefined) throw invalidArgument(`${at}.indexes`, 'must name hunks of the file, in ascending order');
  return new Uint8Array(Buffer.from(text));
}

/** Like git, a text has no NUL. */
const isText = (bytes: Uint8Array): boolean => isUtf8(bytes) && !bytes.includes(0);

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

/** SHA-256 in lower-case hex. */
export const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
