import { randomUUID } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { type ByteString, fromLatin1 } from '../../byte-string.ts';
import { WritableTree } from '../../host-tree/writable-tree.ts';
import { run } from '../../linux/run.ts';

/**
 * Directories far from each other on the disk. An ext4 file system without a journal does not use inodes that were freed in
 * the last minutes. The search for a free one passes them one by one, for each new file: up to a millisecond of CPU time where
 * some thousand files were replaced before. New files get inodes in the block group of their directory, so a commit of many
 * files stages them in a directory that ext4 places in another group than those of earlier commits.
 */

/** Prefix of names beside the directories of the codebases, for the moment until such a directory is moved to its place. */
export const SPREAD = '.spread-';

/**
 * Has ext4 place directories that are made in this one far from each other (attribute T, chattr(1)). Without effect on other
 * file systems. Never rejects.
 */
export async function spreadBelow(directory: string): Promise<void> {
  await run('chattr', ['+T', resolve(directory)]).catch(() => undefined);
}

/**
 * Makes an empty directory in the staging directory of a codebase, in the way that ext4 does in the directory of all
 * codebases. The names are durable with the whole disk only. Throws if it is impossible; nothing is left then. `tree`: that of
 * `staging`.
 */
export function makeSpread(staging: string, tree: WritableTree, name: ByteString): void {
  const all = new WritableTree(dirname(dirname(staging)));
  try {
    const made = fromLatin1(SPREAD + randomUUID());
    all.makeDirectory(made, 0o700);
    try {
      all.moveTo(made, tree, name);
    } catch (error) {
      all.removeDirectory(made);
      throw error;
    }
  } finally {
    all.close();
  }
}
