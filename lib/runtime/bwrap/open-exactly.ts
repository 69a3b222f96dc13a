import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { fromText, quoteText } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { at, isAbsence, O_PATH } from '../../host-tree/at.ts';
import { errorCode } from '../../linux/errno.ts';

const FLAGS = O_PATH | constants.O_NOFOLLOW;

/**
 * Opens the directory or file at an absolute path of the host, one name at a time, so that no link is followed, also none
 * that takes the place of a directory meanwhile. What is opened stays what it is. The caller must close it. Throws
 * FAILED_PRECONDITION.
 */
export async function openExactly(path: string): Promise<FileHandle> {
  let reached = await open('/', FLAGS);
  try {
    for (const name of path.split('/').filter((each) => each !== '')) {
      const next = await open(at(reached.fd, fromText(name)), FLAGS);
      await reached.close();
      reached = next;
      if ((await reached.stat()).isSymbolicLink()) throw await leadsElsewhere(path);
    }
    const found = await reached.stat();
    if (found.isDirectory() || found.isFile()) return reached;
    throw refusal(path, 'is neither a directory nor a file');
  } catch (error) {
    await reached.close();
    throw isAbsence(error) || errorCode(error) === 'EACCES'
      ? refusal(path, "is missing on the server's machine")
      : error;
  }
}

async function leadsElsewhere(path: string): Promise<ServiceError> {
  const real = await realpath(path);
  return refusal(path, `leads to ${quoteText(real)}: name that`);
}

export const refusal = (path: string, problem: string): ServiceError =>
  new ServiceError('FAILED_PRECONDITION', `read_only_paths: ${quoteText(path)} ${problem}`);
