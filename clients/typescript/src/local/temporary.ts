import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, unlinkSync } from 'node:fs';
import type { Tree } from './tree.ts';

const NAME = /^\.paddock-[0-9a-f]{16}\.tmp$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** For a file that is renamed to its place when it is complete. A client that is killed before leaves it. */
export const temporaryName = (): string => `.paddock-${randomBytes(8).toString('hex')}.tmp`;

export const isTemporary = (name: string): boolean => NAME.test(name);

/** Removes those of a directory that no client writes to any more: for a day. */
export function sweep(tree: Tree, names: readonly string[]): void {
  let directory: ReturnType<Tree['open']>;
  try {
    directory = tree.open(names);
    for (const name of directory ? readdirSync(directory.path).filter(isTemporary) : []) {
      const path = directory!.at(name);
      const found = lstatSync(path);
      if (found.isFile() && found.mtimeMs < Date.now() - DAY_MS) unlinkSync(path);
    }
  } catch {
    // It is missing, no directory, or not ours to change: what comes there finds out.
  } finally {
    directory?.close();
  }
}
