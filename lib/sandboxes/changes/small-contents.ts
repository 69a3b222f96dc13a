import type { WorkspaceChange } from '../../workspaces/workspaces.ts';

/** Files requested at once, and their bytes; the file system serves programs in between. */
const BATCH = 256;
const BATCH_BYTES = 1 << 20;

/** Returns the contents of those changes that are still small files. */
export type SmallContents = (changes: readonly WorkspaceChange[]) => Promise<Map<WorkspaceChange, Uint8Array>>;

/** Combines the contents that came with the changes and a call of the file system for the others. */
export function smallContents(
  contents: (inodes: readonly number[]) => Promise<(Uint8Array | undefined)[]>,
): SmallContents {
  return async (changes) => {
    const found = new Map<WorkspaceChange, Uint8Array>();
    const missing = changes.filter((change) => !takeAlong(change, found));
    if (missing.length === 0) return found;
    const all = await contents(missing.map(({ now }) => now!.version![0]));
    for (const [index, change] of missing.entries()) {
      const bytes = all[index];
      if (bytes !== undefined) found.set(change, bytes);
    }
    return found;
  };
}

/** Uses the contents that came with a change, once: they are not held for longer. Returns false if it has none. */
function takeAlong(change: WorkspaceChange, found: Map<WorkspaceChange, Uint8Array>): boolean {
  const { contents } = change;
  if (contents === undefined) return false;
  delete change.contents;
  found.set(change, contents);
  return true;
}

export const isSmall = ({ now }: WorkspaceChange): boolean => now?.small === true;

/** Small files in batches for one call of `SmallContents` each. */
export function batchesOf(small: readonly WorkspaceChange[]): WorkspaceChange[][] {
  const batches: WorkspaceChange[][] = [];
  let bytes = BATCH_BYTES;
  for (const change of small) {
    const last = batches.at(-1);
    bytes += change.now!.size;
    if (last !== undefined && last.length < BATCH && bytes <= BATCH_BYTES) last.push(change);
    else {
      batches.push([change]);
      bytes = change.now!.size;
    }
  }
  return batches;
}
