import { S_IFDIR, S_IFMT } from '../../linux/mode.ts';
import { EMPTY_DIRECTORY, type Entry, type Time, TYPE } from '../../trees/format/entry.ts';
import { NO_KEY } from '../../trees/format/keys.ts';
import { type TreeNode, typeOf } from '../nodes/tree-node.ts';
import { setAttributes, setText } from '../tree/changes/contents.ts';
import { move } from '../tree/changes/move.ts';
import { drop, link, put } from '../tree/changes/names.ts';
import { type Item, OwnFile } from '../tree/items.ts';
import type { Attributes } from '../tree/journal/records.ts';
import type { LiveTree } from '../tree/live-tree.ts';
import type { TreeWorkspace } from '../tree-workspace.ts';
import type { FileAttributes, Made, NameIn, StoredNames } from './stored-files.ts';
import { type TreeChanges, timeOf } from './tree-changes.ts';

type Name = NameIn<TreeNode>;

const TYPES: ReadonlyMap<number, number> = new Map(
  Object.values(TYPE).map((type) => [typeOf({ type } as Entry), type] as const),
);

/** The names of a workspace that is a live tree of objects. */
export class TreeNames implements StoredNames {
  readonly #workspace: TreeWorkspace;
  readonly #changes: TreeChanges;

  constructor(workspace: TreeWorkspace, changes: TreeChanges) {
    this.#workspace = workspace;
    this.#changes = changes;
  }

  create(at: Name, made: Made, asText: boolean): Item {
    const live = this.#changes.begin(1, 0);
    const time = this.#changes.now();
    const { dir, name } = this.#changes.place(at);
    const { item } = put(live, dir, name, { ...this.#entry(made, 1, time), name, agentText: asText }, time);
    this.#changes.ended();
    return item;
  }

  createUnlinked(made: Made): OwnFile {
    const live = this.#changes.begin(1, 0);
    const file = new OwnFile(this.#entry(made, 0, this.#changes.now()), []);
    live.unlinked.keep(file);
    return file;
  }

  link(node: TreeNode, to: Name, asText: boolean): void {
    const live = this.#changes.begin(0, 0);
    const file = this.#changes.file(node);
    if (asText) markText(live, file);
    const { dir, name } = this.#changes.place(to);
    link(live, file, dir, name, this.#changes.now());
    this.#changes.ended();
  }

  remove(node: TreeNode, from: Name): void {
    const live = this.#changes.begin(0, 0);
    this.#changes.loses(node);
    const { dir, name } = this.#changes.place(from);
    this.#changes.lost(node, drop(live, dir, name, this.#changes.now()));
    this.#changes.ended();
  }

  move(node: TreeNode, from: Name, to: Name, replaced: TreeNode | undefined, asText: boolean): void {
    const live = this.#changes.begin(0, 0);
    if (asText) markText(live, this.#changes.file(node));
    for (const each of [node, replaced]) this.#changes.loses(each);
    const [old, now] = [this.#changes.place(from), this.#changes.place(to)];
    const lost = move(live, old, now, 'replace', this.#changes.now());
    if (lost !== undefined && replaced !== undefined) this.#changes.lost(replaced, lost);
    node.show(live.lookup(now.dir, now.name)!);
    this.#changes.ended();
  }

  exchange(a: TreeNode, at: Name, b: TreeNode, bAt: Name, asText: { a: boolean; b: boolean }): void {
    const live = this.#changes.begin(0, 0);
    if (asText.a) markText(live, this.#changes.file(a));
    if (asText.b) markText(live, this.#changes.file(b));
    for (const each of [a, b]) this.#changes.loses(each);
    const [one, other] = [this.#changes.place(at), this.#changes.place(bAt)];
    move(live, one, other, 'exchange', this.#changes.now());
    a.show(live.lookup(other.dir, other.name)!);
    b.show(live.lookup(one.dir, one.name)!);
    this.#changes.ended();
  }

  place(node: TreeNode, at: Name, replaced: TreeNode | undefined, mode: number, asText: boolean): void {
    const live = this.#changes.begin(0, 0);
    const file = this.#changes.file(node);
    const time = this.#changes.now();
    this.#changes.loses(replaced);
    const { dir, name } = this.#changes.place(at);
    file.entry = { ...file.entry, mode: mode & ~S_IFMT, ctime: time.s, ctimeNs: time.ns };
    if (asText) setText(live, file, true);
    const { lost } = put(live, dir, name, file, time);
    if (lost !== undefined && replaced !== undefined) this.#changes.lost(replaced, lost);
    this.#changes.ended();
  }

  setAttributes(node: TreeNode, to: FileAttributes, makesRoom: boolean): void {
    const live = this.#changes.begin(0, 0);
    const item = node.isDirectory ? this.#changes.own(node) : this.#changes.file(node);
    setAttributes(live, item, this.#attributes(to), makesRoom);
    this.#changes.ended();
  }

  #entry({ mode, uid, gid, target, rdev }: Made, nlink: number, time: Time): Entry {
    const attributes = { ...this.#attributes({ mode, uid, gid, ...sameTimes(time) }), agentText: false };
    const common = { name: this.#workspace.live.root.name, ino: this.#workspace.nextIno(), holes: undefined };
    const special = { target, rdev };
    if ((mode & S_IFMT) === S_IFDIR) return { ...common, ...attributes, ...special, ...EMPTY_DIRECTORY };
    const type = TYPES.get(mode & S_IFMT)!;
    const isDevice = type === TYPE.characterDevice || type === TYPE.blockDevice;
    const size = target?.length ?? 0;
    return {
      ...{ ...common, ...attributes, target, type, nlink, size, key: NO_KEY, totals: undefined },
      rdev: isDevice ? (rdev ?? 0) : undefined,
    };
  }

  #attributes({ mode, uid, gid, atime, mtime, ctime }: FileAttributes): Attributes {
    const isShownAsMtime = atime.sec === mtime.sec && atime.nsec === mtime.nsec;
    return {
      mode: mode & ~S_IFMT,
      mtime: mtime.sec,
      mtimeNs: mtime.nsec,
      ctime: ctime.sec,
      ctimeNs: ctime.nsec,
      atime: isShownAsMtime ? undefined : timeOf(atime),
      owner: this.#workspace.spec.anyUid ? { uid, gid } : undefined,
    };
  }
}

function sameTimes({ s: sec, ns: nsec }: Time): Pick<FileAttributes, 'atime' | 'mtime' | 'ctime'> {
  const time = { sec, nsec };
  return { atime: time, mtime: time, ctime: time };
}

function markText(live: LiveTree, file: OwnFile): void {
  if (!file.entry.agentText) setText(live, file, true);
}
