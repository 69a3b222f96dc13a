import type { ByteString } from '../../byte-string.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { type RuleState, strictestState } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import type { Inode } from '../delta/index/inode.ts';
import { removeUnordered } from '../delta/index/remove-unordered.ts';
import type { Listing } from './listing.ts';

/** A link to a node: a name in the directory `parent`. */
export interface NodeLink {
  readonly parent: Node;
  readonly name: ByteString;
}

/** What a name resolves to, before it has a node. */
export interface Found {
  inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Newly created: nothing of the base is shown at its path. */
  isNew?: boolean;
}

/** The part of a workspace that a node needs. */
export interface NodeOwner {
  readonly isClosed: boolean;
  /** Nodes of the workspace, and names in their listings; both count for its memory. */
  knownNodes: number;
  listedNames: number;
  readonly delta: { readonly table: { get(id: number): Inode | undefined } };
}

/**
 * A file, directory or symlink that the kernel knows by its node id, from the first LOOKUP to the last FORGET. It stays
 * the same node when it is copied up, renamed, unlinked or replaced in the base. The id is never reused.
 */
export class Node<Owner extends NodeOwner = NodeOwner> {
  readonly id: number;
  /** undefined for the root of the mount, and for a place until a workspace takes it (`NodeTable.give`). */
  workspace: Owner | undefined;
  /** S_IFMT bits. */
  readonly type: number;
  /** The kernel's lookup count, plus open handles of API clients. */
  nlookup = 0;
  /** Links by which the kernel knows the node; none once it is unlinked, removed or replaced. */
  links: NodeLink[] = [];
  /** Directory: child nodes by name. A node lives at least as long as its children. */
  children: LargeMap<ByteString, Node> | undefined;

  /** st_ino, if it is not the number of what the node shows; set by `InodeNumbers`. */
  ino: number | undefined;
  /** Level by the sandbox's rules: that of its path, or the strictest of all links. */
  agentLevel = 0;
  /** Directory: the sandbox's rules for its path. */
  agentRule: RuleState | undefined;
  /**
   * Directory: the rules for the base directory that it shows, if they differ from those of its path (it was renamed).
   */
  baseRule: RuleState | undefined;
  /** The last link that was removed: the rules of that path still apply to processes that have the node open. */
  lastLink: NodeLink | undefined;

  /** Set once the sandbox changed the node. Before (and below a directory with an origin), `base` is shown. */
  #inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Path in the base. For a changed directory: its origin, if it still has one. */
  basePath: ByteString | undefined;

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

  #listing: Listing | undefined;
  /** Directory: its listing depends on other links of its files, and the kernel may cache it. */
  listsLinks = false;
  /** Directory: number of lookups of names that the base does not have. */
  misses = 0;
  /** Descriptor of the open host file, or -1. Owned by `HostFiles`. */
  fd = -1;
  /** The host file stays open, because the base may replace the file. */
  pinned = false;

  constructor(id: number, workspace: Owner | undefined, type: number) {
    this.id = id;
    this.workspace = workspace;
    this.type = type & S_IFMT;
  }

  /** Directory: its names, if they were listed and `outdateListing` was not called since. */
  get listing(): Listing | undefined {
    return this.#listing?.isOutdated ? undefined : this.#listing;
  }

  set listing(listing: Listing | undefined) {
    this.#listing?.countFor(undefined);
    listing?.countFor(this.workspace);
    this.#listing = listing;
  }

  /**
   * Directory: its last listing, if that is outdated. The next one keeps its cookies: a program that has read a part of it may
   * go on as long as the kernel knows the node, and the kernel does not tell which directories are open.
   */
  get outdatedListing(): Listing | undefined {
    return this.#listing?.isOutdated ? this.#listing : undefined;
  }

  /** Directory: called when it may show other names. */
  outdateListing(): void {
    if (this.#listing !== undefined) this.#listing.isOutdated = true;
  }

  /** The node's inode in the delta, if the sandbox changed it. */
  get inode(): Inode | undefined {
    const inode = this.#inode;
    if (inode === undefined || !inode.owner.frozen) return inode;
    // The layer of this inode was frozen since; the delta continues with copies.
    this.#inode = this.workspace!.delta.table.get(inode.id);
    return this.#inode;
  }

  set inode(inode: Inode | undefined) {
    this.#inode = inode;
  }

  /** What the node shows: its inode or, unless the sandbox changed it, the base file. */
  get shown(): Inode | BaseStat {
    return this.inode ?? this.requireBase();
  }

  /** `base`, of a node that has one; throws for others. */
  requireBase(): BaseStat {
    return this.base ?? missing(this, 'base file');
  }

  /** Whether the sandbox changed it: what it shows is the sandbox's own. */
  get isOwn(): boolean {
    return this.inode !== undefined;
  }

  /** Whether it shows anything still. */
  get isBound(): boolean {
    return (this.inode ?? this.base) !== undefined;
  }

  /** Differs whenever contents, size or mode of a file differ. */
  get version(): string {
    const { inode } = this;
    const { mode, size, mtime } = this.shown;
    const which = inode ? `d${inode.id}-${inode.writes}` : `b${this.requireBase().dev}-${this.requireBase().ino}`;
    return `${which}-${mode.toString(8)}-${size}-${mtime.sec}-${mtime.nsec}`;
  }

  /** Whether its contents are text of the agent; see `Inode.isAgentText`. */
  get isAgentText(): boolean {
    return this.inode?.isAgentText === true;
  }

  /** Number of names of a file, known to the kernel or not. */
  get nameCount(): number {
    return this.inode?.names ?? this.base?.nlink ?? 1;
  }

  /** `basePath`, of a node that has one; throws for others. */
  requireBasePath(): ByteString {
    return this.basePath ?? missing(this, 'base path');
  }

  /** `agentRule` of a directory; throws for other nodes. */
  requireAgentRule(): RuleState {
    return this.agentRule ?? missing(this, 'rules of a directory');
  }

  /**
   * Directory: the sandbox's rules for a name in it. For entries of the base these are the strictest of its path and
   * its base path; for entries that the sandbox made or changed, those of its path.
   */
  agentRuleOf(name: ByteString): RuleState {
    const byPath = this.requireAgentRule().child(name);
    if (this.baseRule === undefined || this.inode?.entries?.has(name)) return byPath;
    return strictestState(byPath, this.baseRule.child(name));
  }

  /** Directory: the sandbox's rules for all its entries; single entries may have a higher level. */
  get agentShownRule(): RuleState {
    const byPath = this.requireAgentRule();
    return this.baseRule === undefined ? byPath : strictestState(byPath, this.baseRule);
  }

  get isDirectory(): boolean {
    return isDirectory(this.type);
  }

  /** The directory of the first link. */
  get parent(): Node | undefined {
    return this.links[0]?.parent;
  }

  /** Adds a link and registers the node with its parent. */
  addLink(parent: Node, name: ByteString): void {
    // A literal has room for one link only; `push` would make room for 17, of which nearly every node uses one.
    if (this.links.length === 0) this.links = [{ parent, name }];
    else this.links.push({ parent, name });
    parent.children = dividedIfLarge(parent.children ?? new Map<ByteString, Node>());
    parent.children.set(name, this);
  }

  /** Removes a link. The last one stays in `lastLink`. */
  removeLink(parent: Node, name: ByteString): void {
    if (this.links.length === 1) this.lastLink = this.links[0];
    removeUnordered(this.links, (link) => link.parent === parent && link.name === name);
    if (parent.children?.get(name) === this) parent.children.delete(name);
  }
}

function missing({ id }: Node, what: string): never {
  throw new Error(`node ${id} has no ${what}`);
}
