import { FailedPreconditionError, type FileStat, InvalidArgumentError, NotFoundError } from 'paddock-sandbox';
import type { Copy } from './copied.ts';

export type Kind = FileStat['type'] | undefined;

/** What is at a path of a sandbox; a symlink is itself. */
export async function remoteStat(path: string, copy: Copy): Promise<{ kind: Kind; stat: FileStat | undefined }> {
  try {
    const stat = await copy.files.stat(path, { signal: copy.signal });
    return { kind: stat.type, stat };
  } catch (error) {
    if (error instanceof NotFoundError && error.resourceType !== 'sandbox') return { kind: undefined, stat: undefined };
    throw error;
  }
}

/** Whether a symlink leads to a directory. */
export async function leadsToDirectory(path: string, { files, signal }: Copy): Promise<boolean> {
  try {
    await files.list(path, { signal }).next();
    return true;
  } catch (error) {
    const no = [NotFoundError, FailedPreconditionError, InvalidArgumentError].some((each) => error instanceof each);
    if (no) return false;
    throw error;
  }
}
