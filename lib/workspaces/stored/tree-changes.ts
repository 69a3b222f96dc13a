import type { ByteString } from '../../byte-string.ts';
import { EDQUOT } from '../../linux/errno.ts';
import type { Time as HostTime } from '../../linux/time.ts';
import type { Time } from '../../trees/format/entry.ts';
import type { TreeNode } from '../nodes/tree-node.ts';
import { thaw } from '../tree/changes/thaw.ts';
import { type Item, isDirectoryItem, OwnDirectory, OwnFile } from '../tree/items.ts';
import type { LiveTree } from '../tree/live-tree.ts';
import type { TreeWorkspace } from '../tree-workspace.ts';

/** What changes of a live tree begin and end with. */
export class TreeChanges {
  readonly #workspace: TreeWorkspace;

  constructor(workspace: TreeWorkspace) {
    this.#workspace = workspace;
  }

  /** Begins a change that needs so much. A freeze that is due comes first: items are others afterwards. Throws EDQUOT. */
  begin(files: number, bytes: number): LiveTree {
    const { live, spec, room } = this.#workspace;
    this.#workspace.freezeIfDue();
    if (files <= 0 && bytes <= 0) return live;
    const { used } = room;
    if (spec.maxFiles > 0 && files > 0 && used.files + files > spec.maxFiles) throw EDQUOT;
    if (spec.maxBytes > 0 && bytes > 0 && used.bytes + bytes > spec.maxBytes) throw EDQUOT;
    return live;
  }

  /** Names have changed. */
  ended(): void {
    this.#workspace.generation++;
    this.#workspace.countChange();
  }

  now(): Time {
    return timeOf(this.#workspace.now());
  }

  /** The directory, which may change, as those above it. */
  own(node: TreeNode): OwnDirectory {
    const clean: TreeNode[] = [];
    let at = node;
    for (; !(at.item instanceof OwnDirectory); at = at.links[0]!.parent) clean.push(at);
    let dir = at.item as OwnDirectory;
    for (const below of clean.reverse()) {
      dir = this.#workspace.live.own(dir, below.links[0]!.name);
      below.show(dir);
    }
    return dir;
  }

  place({ dir, name }: { dir: TreeNode; name: ByteString }): { dir: OwnDirectory; name: ByteString } {
    return { dir: this.own(dir), name };
  }

  /** The file, symlink or device, which may change. */
  file(node: TreeNode): OwnFile {
    const { item } = node;
    if (item instanceof OwnFile) return item;
    const link = node.links[0];
    const file = link === undefined ? this.#unlinked(node) : this.#thawed(link.parent, link.name, node.nameCount);
    node.show(file);
    return file;
  }

  #thawed(dir: TreeNode, name: ByteString, names: number): OwnFile {
    const { live } = this.#workspace;
    const file = thaw(live, this.own(dir), name);
    // The directories of the other names are own now, too.
    if (names > 1) live.generation++;
    return file;
  }

  #unlinked({ entry }: TreeNode): OwnFile {
    const file = new OwnFile({ ...entry, nlink: 0 }, []);
    this.#workspace.live.unlinked.keep(file);
    return file;
  }

  /** Call before a file loses a name: with several ones it is own, because the others change with it. */
  loses(node: TreeNode | undefined): void {
    if (node !== undefined && !node.isDirectory && node.nameCount > 1) this.file(node);
  }

  /** A name was taken from a node, which shows what it had. */
  lost(node: TreeNode, item: Item): void {
    const isClean = !(item instanceof OwnFile) && !isDirectoryItem(item);
    node.show(isClean ? new OwnFile({ ...item, nlink: 0 }, []) : item);
  }
}

export function timeOf({ sec, nsec }: HostTime): Time {
  return { s: sec, ns: nsec };
}
