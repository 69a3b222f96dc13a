import { fromLatin1, NO_BYTES } from '../../../../../lib/byte-string.ts';
import { type DirectoryEntry, type Entry, isDirectory } from '../../../../../lib/trees/format/entry.ts';
import type { JournalRecord, Link } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { anyEntry, anyNames, type Random } from '../../../trees/random.ts';

/** A record with all that it may have. */
export function anyRecord(random: Random): JournalRecord {
  const id = () => random(2 ** 32);
  const link = (): Link => [id(), anyNames(random, 1)[0]!];
  const time = { s: random(2) ? random(2 ** 31) * 2 ** 10 : -random(2 ** 31), ns: random(1e9) };
  const { mode, mtime, mtimeNs, ctime, ctimeNs, atime, owner, key, size, holes } = anyEntry(random, fromLatin1('e'));
  const root = () => ({ version: random(2 ** 32), base: anyTree(random) });
  const makers: (() => JournalRecord)[] = [
    () => ({ op: 'own', at: link() }),
    () => ({ op: 'thaw', links: Array.from({ length: 1 + random(5) }, link) }),
    () => {
      const at = link();
      return { op: 'put', at, entry: anyEntry(random, at[1]), time };
    },
    () => ({ op: 'drop', at: link(), time }),
    () => ({ op: 'move', from: link(), to: link(), exchange: random(2) === 1, time }),
    () => ({ op: 'link', file: id(), at: link(), time }),
    () => ({ op: 'attr', of: id(), attributes: { mode, mtime, mtimeNs, ctime, ctimeNs, atime, owner } }),
    () => ({ op: 'data', file: id(), key, size, holes, time }),
    () => ({ op: 'text', file: id(), agentText: random(2) === 1 }),
    () => ({ op: 'base', takes: random(2) === 1, ...root() }),
    () => ({ op: 'root', from: key, mine: anyTree(random), ...root() }),
  ];
  return makers[random(makers.length)]!();
}

export function anyTree(random: Random): DirectoryEntry {
  for (;;) {
    const entry: Entry = { ...anyEntry(random, fromLatin1('e')), name: NO_BYTES };
    if (isDirectory(entry)) return entry;
  }
}
