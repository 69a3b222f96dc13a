import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { hostErrno } from '../../linux/errno.ts';

const KEY_BYTES = 32;
const NAME = 'redaction-key';

/**
 * The key for the placeholders of the sandbox with this delta, made at the first use. It is kept, so that files that
 * programs have read have the same placeholders under the next server; a full disk, or a power failure soon after,
 * costs only that. Throws host errors.
 */
export function redactionKey(delta: string): Uint8Array {
  const path = `${delta}/${NAME}`;
  const known = read(path);
  if (known !== undefined) return known;
  const key = randomBytes(KEY_BYTES);
  try {
    writeFileSync(`${path}.new`, key, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // The caller keeps it for as long as this server serves the sandbox.
  }
  return key;
}

/** undefined: there is none, or a power failure left it incomplete. */
function read(path: string): Uint8Array | undefined {
  try {
    const key = readFileSync(path);
    return key.length === KEY_BYTES ? key : undefined;
  } catch (error) {
    if ((error as { errno?: number }).errno === -constants.errno.ENOENT) return undefined;
    throw hostErrno(error);
  }
}
