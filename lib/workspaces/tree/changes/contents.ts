import type { Entry, Time } from '../../../trees/format/entry.ts';
import { storedBytes } from '../counters.ts';
import { OwnDirectory, type OwnFile } from '../items.ts';
import type { Attributes, Contents } from '../journal/records.ts';
import type { LiveTree } from '../live-tree.ts';

/** Sets all attributes at once; `makesRoom`: it comes with a file that has become shorter. */
export function setAttributes(
  tree: LiveTree,
  item: OwnDirectory | OwnFile,
  attributes: Attributes,
  makesRoom = false,
): void {
  if (item instanceof OwnDirectory) {
    tree.append({ op: 'attr', of: tree.idOf(item, makesRoom), attributes }, makesRoom);
    item.entry = { ...item.entry, ...attributes };
    return;
  }
  // What has no name is not in any journal, nor after a restart.
  if (item.names.length > 0) tree.append({ op: 'attr', of: tree.fileId(item, makesRoom), attributes }, makesRoom);
  item.entry = { ...item.entry, ...attributes };
}

/** The contents are in another place, or have another size: a write, a truncation, or a copy. */
export function setData(tree: LiveTree, file: OwnFile, { key, size, holes }: Contents, time: Time): void {
  const makesRoom = size < file.entry.size;
  if (file.names.length > 0)
    tree.append({ op: 'data', file: tree.fileId(file, makesRoom), key, size, holes, time }, makesRoom);
  const { s, ns } = time;
  change(tree, file, { key, size, holes, mtime: s, mtimeNs: ns, ctime: s, ctimeNs: ns });
}

/**
 * A data file was written in its place, after a record that says that it may be: its size and time are on the disk. `time`:
 * undefined if they are known.
 */
export function dataWritten(
  tree: LiveTree,
  file: OwnFile,
  { size, holes }: Omit<Contents, 'key'>,
  time: Time | undefined,
): void {
  const times = time && { mtime: time.s, mtimeNs: time.ns, ctime: time.s, ctimeNs: time.ns };
  const { entry } = file;
  // Counters know nothing of times.
  if (size === entry.size && holes === entry.holes) file.entry = { ...entry, ...times };
  else change(tree, file, { size, holes, ...times });
}

/** Whether an agent wrote the contents as text. Unset it before other contents are written. */
export function setText(tree: LiveTree, file: OwnFile, agentText: boolean): void {
  if (file.names.length > 0) tree.append({ op: 'text', file: tree.fileId(file, false), agentText }, false);
  change(tree, file, { agentText });
}

function change({ counters, unlinked }: LiveTree, file: OwnFile, to: Partial<Entry>): void {
  const { entry, names } = file;
  counters.remove(entry, names.length);
  file.entry = { ...entry, ...to };
  counters.add(file.entry, names.length);
  if (names.length === 0) unlinked.resized(file, storedBytes(file.entry) - storedBytes(entry));
}
