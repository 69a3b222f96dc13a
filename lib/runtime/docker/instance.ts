import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';

const FILE = 'docker-instance';
const ID = /^[0-9a-f]{16}$/;

/**
 * Label of this server's containers, created at first use and stored in `stateDir`. Random instead of the path: servers
 * in containers may have equal paths and share a daemon.
 */
export function instanceId(stateDir: string): string {
  const path = join(stateDir, FILE);
  const known = read(path);
  if (known !== undefined) return known;
  mkdirSync(stateDir, { recursive: true });
  // Written atomically: a container labelled with half an id would never be found again.
  const fresh = `${path}.${process.pid}`;
  const fd = openSync(fresh, 'w', 0o600);
  try {
    writeSync(fd, `${randomBytes(8).toString('hex')}\n`);
    fsyncSync(fd);
    linkSync(fresh, path);
  } finally {
    closeSync(fd);
    unlinkSync(fresh);
  }
  return read(path) as string;
}

function read(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'latin1').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (ID.test(text)) return text;
  throw new ServiceError(
    'FAILED_PRECONDITION',
    `${path} is damaged: it must hold 16 hexadecimal digits, or be removed`,
  );
}
