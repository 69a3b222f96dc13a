import type { WorkspaceChange } from '../../workspaces/workspaces.ts';

/** Files requested at once, and their bytes; the file system serves programs in between. */
const BATCH = 256;
const BATCH_BYTES = 1 << 20;

/** Returns the contents of those changes that are still small files. */
export type SmallContents = (changes: readonly WorkspaceChange[]) => Promise<Map<WorkspaceChange, Uint8Array>>;

/** Combines the call of the file system with the changes that it is for. */
export function smallContents(
  contents: (inodes: readonly number[]) => Promise<(Uint8Array | undefined)[]>,
): SmallContents {
  return async (changes) => {
    const all = await contents(changes.map(({ now }) => now!.version![0]));
    return new Map(
      changes.flatMap((change, index) => {
        const bytes = all[index];
        return bytes === undefined ? [] : [[change, bytes]];
      }),
    );
  };
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
