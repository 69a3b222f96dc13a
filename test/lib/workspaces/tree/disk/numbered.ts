import { fromLatin1, NO_BYTES } from '../../../../../lib/byte-string.ts';
import { patchDirectory } from '../../../../../lib/trees/directory/patch-directory.ts';
import type { DirectoryEntry } from '../../../../../lib/trees/format/entry.ts';
import { fileKey, NO_KEY } from '../../../../../lib/trees/format/keys.ts';
import type { FreezeSink } from '../../../../../lib/workspaces/tree/disk/freezes.ts';
import type { PlacedObjects } from '../../../../../lib/workspaces/tree/disk/placed-objects.ts';
import type { TreeState } from '../../../../../lib/workspaces/tree/disk/tree-root.ts';
import type { JournalRecord } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { directoryEntry, fileEntry } from '../../../trees/random.ts';

export const STORE = 5n;

/** Record `n` of a history: which of several it is, `kind` says. `length` makes it longer. */
export function record(n: number, kind: number, length = 0): JournalRecord {
  const [time, key] = [{ s: n, ns: kind }, fileKey({ store: STORE, number: n, birth: 0, version: 0 })];
  if (length === 0) return { op: 'data', file: kind, key, size: n, holes: undefined, time };
  const links = Array.from({ length: Math.ceil(length / 200) }, () => [0, fromLatin1('n'.repeat(200))] as const);
  return { op: 'thaw', links: [[n, fromLatin1(`kind-${kind}`)], ...links] };
}

/** What `record` made it of. */
export function partsOf(of: JournalRecord): readonly [n: number, kind: number] {
  if (of.op === 'data') return [of.size, of.file];
  if (of.op !== 'thaw') throw new Error(`no such record: ${of.op}`);
  const [n, name] = of.links[0]!;
  return [n, Number(name.slice('kind-'.length))];
}

/** The state after `n` records: in the root itself, in a directory and in bytes that the root names. */
export function stateAfter(n: number, sink?: FreezeSink): TreeState {
  const root = directoryEntry('') as DirectoryEntry;
  const entry = fileEntry('n', 'x'.repeat(n % 7), { ino: n + 1 });
  const listed = sink && patchDirectory(NOTHING, sink, NO_KEY, [[entry.name, entry]]);
  return {
    mine: { ...root, name: NO_BYTES, ...listed } as DirectoryEntry,
    base: { ...root, name: NO_BYTES },
    version: 3,
    epoch: 1,
    sharedEpoch: 0,
    ownBytes: 0,
    ownEntries: n,
    retainedBytes: 0,
    numbers: [{ next: 65536, end: 131072 }],
    nextSequence: 1,
    nextNumber: n,
    slabMaps: sink === undefined ? NO_KEY : sink.putBytes(Buffer.from(`after ${n}`)),
    stores: [],
    redactionKeys: [],
  };
}

/** The `n` of a state, which must be the same in all of it. */
export function numberOf(state: TreeState, objects: PlacedObjects): number {
  const n = state.ownEntries;
  if (state.slabMaps === NO_KEY) return n;
  const ino = objects.load(state.mine.key).entry(0).ino - 1;
  const text = objects.bytes(state.slabMaps).toString();
  if (ino !== n || text !== `after ${n}`) throw new Error(`a mix of states: ${n}, ${ino}, ${text}`);
  return n;
}

const NOTHING = {
  load(): never {
    throw new Error('nothing is there');
  },
};
