import type { ByteString } from '../../byte-string.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import type { RuleSet, RuleState } from '../../permissions/index.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import { removeUnordered } from '../delta/index/remove-unordered.ts';

/** A link to a node: a name in the directory `parent`. */
export interface NodeLink<N extends Node = Node> {
  readonly parent: N;
  readonly name: ByteString;
}

/** What a name resolves to, before it has a node: each kind of nodes has its own. */
export type Found = object;

/** What stat(2) says of a file, whatever the rules say. */
export interface Shown {
  /** With S_IFMT bits. */
  readonly mode: number;
  readonly size: number;
  /** Bytes of its size that the disk does not store. */
  readonly holes: number;
  readonly uid: number;
  readonly gid: number;
  readonly rdev: number;
  readonly atime: Time;
  readonly mtime: Time;
  readonly ctime: Time;
}

/** The part of a workspace that a node needs. */
export interface NodeOwner {
  readonly isClosed: boolean;
  /** Nodes of the workspace, and names in their listings; both count for its memory. */
  knownNodes: number;
  listedNames: number;
}

/**
 * A file, directory or symlink that the kernel knows by its node id, from the first LOOKUP to the last FORGET. It stays
 * the same node when it is changed, renamed, unlinked or replaced in the codebase. The id is never reused.
 */
export abstract class Node<Owner extends NodeOwner = NodeOwner> {
  readonly id: number;
  /** undefined for the root of the mount, and for a place until a workspace takes it (`NodeTable.give`). */
  workspace: Owner | undefined;
  /** S_IFMT bits. */
  readonly type: number;
  /** The kernel's lookup count, plus open handles of API clients. */
  nlookup = 0;
  /** Links by which the kernel knows the node; none once it is unlinked, removed or replaced. */
  links: NodeLink<this>[] = [];
  /** Directory: child nodes by name. A node lives at least as long as its children. */
  children: LargeMap<ByteString, this> | undefined;

  /** Level by the sandbox's rules: that of its path, or the strictest of all links. */
  agentLevel = 0;
  /** Directory: the sandbox's rules for its path. */
  agentRule: RuleState | undefined;
  /** The last link that was removed: the rules of that path still apply to processes that have the node open. */
  lastLink: NodeLink<this> | undefined;

  /** The kernel may cache pages of the node. */
  mayHavePages = false;
  /**
   * New rules changed its attributes, and the kernel still caches the old ones: in `pendingInvalidations` of its
   * directory.
   */
  needsInvalidation = false;
  /** The kernel may ask for the attributes again only because it has read the node, or was told of a change. */
  mayHaveStaleAttributes = false;
  /** New rules hide the node, and the kernel still caches its dentry. */
  staleDentry = false;
  /**
   * Directory: files with `needsInvalidation`, which are invalidated before the kernel gets the directory's own
   * attributes again.
   */
  pendingInvalidations: readonly Node[] | undefined;
  /** Directory: hidden names that a lookup reported as absent; 'many': too many to record. */
  hiddenMisses: Set<ByteString> | 'many' | undefined;
  /** Directory: its listing depends on other links of its files, and the kernel may cache it. */
  listsLinks = false;

  constructor(id: number, workspace: Owner | undefined, type: number) {
    this.id = id;
    this.workspace = workspace;
    this.type = type & S_IFMT;
  }

  /** What the node shows; throws for one that is not bound. */
  abstract get shown(): Shown;

  /** Whether the sandbox changed it: what it shows is the sandbox's own. */
  abstract get isOwn(): boolean;

  /** Whether it shows anything still. */
  abstract get isBound(): boolean;

  /** Differs whenever contents, size or mode of a file differ. */
  abstract get version(): string;

  /** Whether its contents are text that the agent wrote, which has placeholders in place of values. */
  abstract get isAgentText(): boolean;

  /** Number of names of a file, known to the kernel or not. */
  abstract get nameCount(): number;

  /** Whether a path in it has more than so many bytes; paths that the sandbox cannot make longer need not count. */
  abstract reachesBelow(room: number): boolean;

  /** Called when the kernel does not know it any more. */
  abstract freed(): void;

  /** `agentRule` of a directory; throws for other nodes. */
  requireAgentRule(): RuleState {
    return this.agentRule ?? missing(this, 'rules of a directory');
  }

  /** Directory: the sandbox's rules for a name in it. */
  agentRuleOf(name: ByteString): RuleState {
    return this.requireAgentRule().child(name);
  }

  /** Directory: the sandbox's rules for all its entries; single entries may have a higher level. */
  get agentShownRule(): RuleState {
    return this.requireAgentRule();
  }

  /** Directory: sets the rules of its path. Those of its parent are set before. */
  applyRule(_rules: RuleSet, byPath: RuleState): void {
    this.agentRule = byPath;
    this.agentLevel = byPath.level;
  }

  get isDirectory(): boolean {
    return isDirectory(this.type);
  }

  /** The directory of the first link. */
  get parent(): this | undefined {
    return this.links[0]?.parent;
  }

  /** Adds a link and registers the node with its parent. */
  addLink(parent: this, name: ByteString): void {
    // A literal has room for one link only; `push` would make room for 17, of which nearly every node uses one.
    if (this.links.length === 0) this.links = [{ parent, name }];
    else this.links.push({ parent, name });
    parent.children = dividedIfLarge(parent.children ?? new Map<ByteString, this>());
    parent.children.set(name, this);
  }

  /** Removes a link. The last one stays in `lastLink`. */
  removeLink(parent: this, name: ByteString): void {
    if (this.links.length === 1) this.lastLink = this.links[0];
    removeUnordered(this.links, (link) => link.parent === parent && link.name === name);
    if (parent.children?.get(name) === this) parent.children.delete(name);
  }
}

export function missing({ id }: Node, what: string): never {
  throw new Error(`node ${id} has no ${what}`);
}
