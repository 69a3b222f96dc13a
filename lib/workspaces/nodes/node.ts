import type { ByteString } from '../../byte-string.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { type RuleState, strictestState } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import type { Inode } from '../delta/index/inode.ts';
import { removeUnordered } from '../delta/index/remove-unordered.ts';
import type { Listing } from './listing.ts';

/** A name in a directory the kernel knows. */
export interface NodeLink {
  readonly parent: Node;
  readonly name: ByteString;
}

/** What a node needs of its workspace. */
export interface NodeOwner {
  readonly isClosed: boolean;
  /** Nodes that the kernel knows, and names in listings of theirs. */
  knownNodes: number;
  listedNames: number;
  readonly delta: { readonly table: { get(id: number): Inode | undefined } };
}

/**
 * A file, directory or symlink the kernel knows by `id`, which stands for it from its first lookup to its last FORGET,
 * whatever happens to it in between: copied up, renamed, unlinked, replaced in the base. Its number is never used again.
 */
export class Node<Owner extends NodeOwner = NodeOwner> {
  readonly id: number;
  /** undefined: the root of the mount. */
  readonly workspace: Owner | undefined;
  /** S_IFMT bits. */
  readonly type: number;
  /** References the kernel holds. */
  nlookup = 0;
  /** Names by which the kernel knows it; none once it is unlinked, removed or replaced. */
  readonly links: NodeLink[] = [];
  /** Directory: known nodes by name. A node lives as long as one of its children does. */
  children: Map<ByteString, Node> | undefined;

  /** Of its path by the sandbox's rules; with several names the strictest of them. */
  agentLevel = 0;
  /** Directory: of its path, by the sandbox's rules. */
  agentRule: RuleState | undefined;
  /** Directory: of the base directory that it shows, where the rules tell that one from its path (it was renamed). */
  baseRule: RuleState | undefined;
  /** The name it lost last: what the rules say of that path holds on for those who have it open. */
  lastLink: NodeLink | undefined;

  /** Set once the sandbox changed it. Until then (and for a directory with an origin, below it) `base` is shown. */
  #inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Where the base has it. For a changed directory: its origin, if it still has one. */
  basePath: ByteString | undefined;

  /** The kernel may hold contents of it in its page cache. */
  mayHavePages = false;
  /** New rules changed what its attributes show, and the kernel was not told yet: `untoldChildren` of its directory. */
  needsInvalidation = false;
  /** New rules hide it from a kernel that has its name. */
  staleDentry = false;
  /** Directory: `untold` files; told before the kernel is given the directory's own attributes again. */
  pendingInvalidations: readonly Node[] | undefined;
  /** Directory: hidden names that the kernel was told are not there; 'many': not counted any more. */
  hiddenMisses: Set<ByteString> | 'many' | undefined;

  #listing: Listing | undefined;
  /** Directory: how many names it was asked for that the base has not. */
  misses = 0;
  /** Open host file, or -1. */
  fd = -1;
  /** The base may replace the file under it: its host file stays open. */
  pinned = false;

  constructor(id: number, workspace: Owner | undefined, type: number) {
    this.id = id;
    this.workspace = workspace;
    this.type = type & S_IFMT;
  }

  get listing(): Listing | undefined {
    return this.#listing;
  }

  set listing(listing: Listing | undefined) {
    this.#listing?.countFor(undefined);
    listing?.countFor(this.workspace);
    this.#listing = listing;
  }

  get inode(): Inode | undefined {
    const inode = this.#inode;
    if (inode === undefined || !inode.home.frozen) return inode;
    // The delta was frozen since: it goes on with copies.
    this.#inode = this.workspace!.delta.table.get(inode.id);
    return this.#inode;
  }

  set inode(inode: Inode | undefined) {
    this.#inode = inode;
  }

  /**
   * Directory: what the sandbox's rules say of a name in it. What it shows of the base has the strictest level of its path
   * and of its place in the base; what the sandbox made or changed here has that of its path.
   */
  agentRuleOf(name: ByteString): RuleState {
    const byPath = this.agentRule!.child(name);
    if (this.baseRule === undefined || this.inode?.entries?.has(name)) return byPath;
    return strictestState(byPath, this.baseRule.child(name));
  }

  /** Directory: the sandbox's rules for all that it shows; single names may have more. */
  get agentShownRule(): RuleState {
    return this.baseRule === undefined ? this.agentRule! : strictestState(this.agentRule!, this.baseRule);
  }

  get isDirectory(): boolean {
    return isDirectory(this.type);
  }

  get parent(): Node | undefined {
    return this.links[0]?.parent;
  }

  addLink(parent: Node, name: ByteString): void {
    this.links.push({ parent, name });
    parent.children ??= new Map();
    parent.children.set(name, this);
  }

  removeLink(parent: Node, name: ByteString): void {
    if (this.links.length === 1) this.lastLink = this.links[0];
    removeUnordered(this.links, (link) => link.parent === parent && link.name === name);
    if (parent.children?.get(name) === this) parent.children.delete(name);
  }
}
