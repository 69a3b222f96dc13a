import { join, resolve } from 'node:path';
import { Git, ownerOf } from './git.ts';

const LONGEST_MS = 30_000;

/**
 * Tells the index of a repository that files were written anew, so that equal ones are not shown as modified. What is
 * staged stays. Nothing depends on it: it is left undone if another git holds the index, or the directory is no repository.
 */
export async function refreshIndex(
  directory: string,
  { path, signal }: { path: string | undefined; signal: AbortSignal },
): Promise<void> {
  const workTree = resolve(directory);
  const at = join(workTree, '.git');
  try {
    const git = new Git({ directory: at, workTree, owner: await ownerOf(at), path });
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    await git.run(['update-index', '-q', '--refresh', '--ignore-submodules'], { signal: inTime });
  } catch {
    signal.throwIfAborted();
  }
}
