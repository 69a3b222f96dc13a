import type { Root, Roots } from '../../store/garbage/roots.ts';
import { type Key, KIND, kindOf, NO_KEY } from '../../trees/format/keys.ts';
import type { TreeRoot } from './disk/tree-root.ts';
import { Named } from './journal/named.ts';
import type { LiveTree } from './live-tree.ts';

/** A store of a sandbox, also one whose journals have been read to their end. */
interface Files {
  readonly root: TreeRoot;
  readonly named: readonly Named[];
  readonly isSole: boolean;
}

/**
 * What a sandbox names of its codebase, for the garbage collection. `of` is for messages.
 *
 * The invariant: all that is named by the durable root, by any record since, and by moves of head that are not recorded yet.
 * A replay begins at the root. It walks from each base to the next and puts what it finds there, also if these versions were
 * dropped meanwhile. What the live tree shows comes from nowhere else: a renamed entry of a former head is in that base.
 * Throws while a crash may bring back an older root, which names more; the owner syncs the store then.
 */
export function rootsOf(of: string, files: Files, tree?: LiveTree): Pick<Roots, 'directories' | 'contents'> {
  const { root, named, isSole } = files;
  if (!isSole) throw new Error(`what ${of} names is known when its root is durable`);
  const waiting = new Named();
  for (const record of tree?.unrecorded ?? []) waiting.note(record);
  const all = [...named, waiting];
  const open = [...(tree?.unlinked.keys() ?? [])].filter((key) => kindOf(key) === KIND.hash);
  const trees = [root.mine.key, root.base.key].filter((key) => key !== NO_KEY);
  return {
    directories: rootsAt(`a tree of ${of}`, [...trees, ...all.flatMap((each) => [...each.trees])]),
    contents: rootsAt(`a file of ${of}`, [...open, ...all.flatMap((each) => [...each.contents])]),
  };
}

function rootsAt(name: string, keys: readonly Key[]): Root[] {
  return [...new Set(keys)].map((key) => ({ key, name }));
}
