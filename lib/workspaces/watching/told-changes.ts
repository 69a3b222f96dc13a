import { type ByteString, NO_BYTES } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { isDirectory, S_IFREG } from '../../linux/mode.ts';
import type { RuleState } from '../../permissions/index.ts';
import { AGENT } from '../access/access.ts';
import { isVisible, isVisibleNode } from '../access/visibility.ts';
import type { Node } from '../nodes/node.ts';
import type { NodeTree } from '../nodes/node-tree.ts';
import type { StoredListings } from '../stored/stored-files.ts';

/** The part of a workspace that is needed to tell of its changes. */
interface ToldOwner {
  readonly stored: { readonly listings: Pick<StoredListings, 'listing'> };
  readonly tree: NodeTree;
  readonly isOpen: boolean;
  readonly spec: { readonly id: string; readonly place?: string };
}

/** Changes of one workspace that are told at once. Of more than these, watchers learn that directories have changed. */
const MOST_CHANGES = 512;
/** Nodes without a name that are looked at for watched ones. */
const MOST_ORPHANS = 4096;

/** What happened to a name. 'attributes': also a directory (the name '') of which more than can be told has changed. */
export type ToldKind = 'made' | 'gone' | 'written' | 'attributes';

/** A change that no program made through the mount, so that the kernel has told no watcher (inotify(7)) of it. */
export interface ToldChange {
  kind: ToldKind;
  /** Path of the directory from the root of the workspace. */
  dir: ByteString;
  name: ByteString;
  /** Its type, and with 'made' the execute bits of a file. */
  mode: number;
  /** Inode number of the directory. */
  ino: number;
  /** The files that have the name and, before, had it, as far as the kernel knows them. */
  files: { ino: number; nodeid: number; former: boolean }[];
}

/** Changes of a workspace, for the main thread. */
export interface ToldChanges {
  id: string;
  /** Name of its directory below the mount point. */
  place: string;
  changes: ToldChange[];
  /** Inode numbers of directories with new rules: `toldNames` tells which names these show and hide. */
  ruled: number[];
}

/** A directory with new rules, and those that it had. */
interface Ruled {
  dir: Node;
  was: RuleState;
  /** Names that changed since, with the mode that they had under the former rules; undefined: nothing had the name. */
  since: Map<ByteString, number | undefined>;
}

interface Waiting {
  kind: ToldKind;
  dir: Node;
  name: ByteString;
  mode: number;
}

/**
 * Collects changes from outside for the programs that watch files. Only names in directories that the kernel knows count: a watched
 * directory is one of these. Nothing is told of names that the rules hide.
 */
export class ChangeTeller {
  readonly #tell: ((told: ToldChanges) => void) | undefined;
  readonly #waiting = new Map<ToldOwner, Waiting[]>();
  /** By inode number; until `toldNames` for the workspace. */
  readonly #ruled = new WeakMap<ToldOwner, Map<number, Ruled>>();
  readonly #newlyRuled = new Map<ToldOwner, number[]>();

  /** `tell`: absent: nothing is collected. */
  constructor(tell: ((told: ToldChanges) => void) | undefined) {
    this.#tell = tell;
  }

  /** The rules of a directory have changed; `was`: those that it had. */
  ruled(workspace: ToldOwner, dir: Node, was: RuleState): void {
    if (dir.nlookup === 0 || this.#tell === undefined) return;
    const ruled = this.#ruled.get(workspace) ?? new Map<number, Ruled>();
    if (ruled.size >= MOST_CHANGES) return;
    const ino = workspace.tree.numbers.of(dir);
    if (!ruled.has(ino)) this.#ruled.set(workspace, ruled.set(ino, { dir, was, since: new Map() }));
    this.#newlyRuled.set(workspace, [...(this.#newlyRuled.get(workspace) ?? []), ino]);
  }

  /** Tells which names directories with new rules show and hide, as far as these are watched. */
  *toldNames(workspace: ToldOwner, watched: readonly number[]): Steps<void> {
    const ruled = this.#ruled.get(workspace);
    this.#ruled.delete(workspace);
    for (const ino of watched) {
      const rule = ruled?.get(ino);
      if (rule === undefined || rule.dir.nlookup === 0) continue;
      const gone = new Map(rule.since);
      for (const { name, type } of (yield* workspace.stored.listings.listing(rule.dir)).values()) {
        yield;
        // What is new was never shown under the former rules.
        const isNew = gone.has(name) && gone.get(name) === undefined;
        gone.delete(name);
        if (!isNew) this.#toldRules(workspace, rule, name, type, true);
      }
      for (const [name, mode] of gone) {
        if (mode !== undefined) this.#toldRules(workspace, rule, name, mode, false);
      }
    }
  }

  #toldRules(workspace: ToldOwner, { dir, was }: Ruled, name: ByteString, mode: number, exists: boolean): void {
    const [before, now] = [was.child(name), dir.agentRuleOf(name)];
    const [wasShown, isShown] = [isVisible(before, isDirectory(mode)), isVisible(now, isDirectory(mode))];
    if (wasShown && !isShown) this.#add(workspace, { kind: 'gone', dir, name, mode });
    else if (exists && isShown && !wasShown) this.#add(workspace, { kind: 'made', dir, name, mode });
    else if (exists && isShown && before.level !== now.level)
      this.#add(workspace, { kind: 'attributes', dir, name, mode });
  }

  /** Beyond the limit watchers learn that the directory has changed, and nothing of its names. */
  #sinceRules(workspace: ToldOwner, dir: Node, name: ByteString, before: number | undefined): void {
    const ruled = this.#ruled.get(workspace);
    if (ruled === undefined) return;
    const ino = workspace.tree.numbers.of(dir);
    const since = ruled.get(ino)?.since;
    if (since === undefined || since.has(name)) return;
    if (since.size < MOST_CHANGES) since.set(name, before);
    else {
      ruled.delete(ino);
      this.#add(workspace, { kind: 'attributes', dir, name: NO_BYTES, mode: dir.type });
    }
  }

  /** Call when the change is in effect. */
  #told(workspace: ToldOwner, kind: ToldKind, dir: Node, name: ByteString, mode: number): void {
    if (isVisible(dir.agentRuleOf(name), isDirectory(mode))) this.#add(workspace, { kind, dir, name, mode });
  }

  /** What has the name, by its mode, before and after a change; undefined: nothing. */
  changed(
    workspace: ToldOwner,
    dir: Node,
    name: ByteString,
    before: number | undefined,
    after: number | undefined,
  ): void {
    if (dir.nlookup === 0 || this.#tell === undefined) return;
    this.#sinceRules(workspace, dir, name, before);
    if (before !== undefined && after !== undefined && typeOf(before) === typeOf(after)) {
      if (typeOf(after) === S_IFREG) this.#told(workspace, 'written', dir, name, after);
      else if (!isDirectory(after)) this.#told(workspace, 'attributes', dir, name, after);
      return;
    }
    if (before !== undefined) this.#told(workspace, 'gone', dir, name, before);
    if (after !== undefined) this.#told(workspace, 'made', dir, name, after);
  }

  #add(workspace: ToldOwner, change: Waiting): void {
    const { dir } = change;
    if (dir.nlookup === 0 || this.#tell === undefined || !isVisibleNode(AGENT, dir)) return;
    if (dir.links.length === 0 && dir !== workspace.tree.root) return;
    let waiting = this.#waiting.get(workspace);
    if (waiting === undefined) {
      waiting = [];
      this.#waiting.set(workspace, waiting);
    }
    if (waiting.length < MOST_CHANGES) waiting.push(change);
    else if (waiting.length < 2 * MOST_CHANGES && waiting.at(-1)?.dir !== dir)
      waiting.push({ kind: 'attributes', dir, name: NO_BYTES, mode: dir.type });
  }

  /** Tells what was collected. */
  flush(): void {
    if (this.#waiting.size === 0 && this.#newlyRuled.size === 0) return;
    for (const workspace of new Set([...this.#waiting.keys(), ...this.#newlyRuled.keys()])) {
      const changes = this.#waiting.get(workspace) ?? [];
      const ruled = this.#newlyRuled.get(workspace) ?? [];
      if (workspace.isOpen) this.#tell?.(told(workspace, changes, ruled));
    }
    this.#waiting.clear();
    this.#newlyRuled.clear();
  }
}

function told(workspace: ToldOwner, waiting: readonly Waiting[], ruled: number[]): ToldChanges {
  const { tree, spec } = workspace;
  const former = formerFiles(workspace);
  const changes: ToldChange[] = [];
  for (const { kind, dir, name, mode } of waiting) {
    const node = name === '' ? undefined : dir.children?.get(name);
    const nodes = kind === 'made' ? [] : [...(former.get(dir)?.get(name) ?? []), ...(node?.nlookup ? [node] : [])];
    const files = nodes.map((each) => ({ ino: tree.numbers.of(each), nodeid: each.id, former: each !== node }));
    changes.push({ kind, dir: tree.pathOf(dir), name, mode, ino: tree.numbers.of(dir), files });
  }
  return { id: spec.id, place: spec.place ?? spec.id, changes, ruled };
}

/** What the kernel holds without a name, by the directory and the name that it had. */
function formerFiles({ tree }: ToldOwner): Map<Node, Map<ByteString, Node[]>> {
  const former = new Map<Node, Map<ByteString, Node[]>>();
  let looked = 0;
  for (const node of tree.orphans) {
    if (++looked > MOST_ORPHANS) break;
    if (node.nlookup === 0 || node.lastLink === undefined || !node.isBound) continue;
    const { parent, name } = node.lastLink;
    const names = former.get(parent) ?? new Map<ByteString, Node[]>();
    const nodes = names.get(name);
    if (nodes === undefined) former.set(parent, names.set(name, [node]));
    else nodes.push(node);
  }
  return former;
}

function typeOf(mode: number): number {
  return mode & 0o170000;
}
