import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { type RuleSet, type RuleState, strictest, strictestState } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import type { Inode } from '../delta/index/inode.ts';
import type { Listing } from './listing.ts';
import { missing, Node, type NodeOwner } from './node.ts';
import { reaches } from './reach.ts';

/** What a name resolves to, before it has a node. */
export interface LayeredFound {
  inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Newly created: nothing of the base is shown at its path. */
  isNew?: boolean;
}

/** The part of a workspace that a node of it needs. */
export interface LayeredNodeOwner extends NodeOwner {
  readonly delta: { readonly table: { get(id: number): Inode | undefined } };
}

/** A node of a workspace that is a delta over a base: it stays the same one when it is copied up or replaced in the base. */
export class LayeredNode<Owner extends LayeredNodeOwner = LayeredNodeOwner> extends Node<Owner> {
  /** st_ino, if it is not the number of what the node shows; set by `InodeNumbers`. */
  ino: number | undefined;
  /**
   * Directory: the rules for the base directory that it shows, if they differ from those of its path (it was renamed).
   */
  baseRule: RuleState | undefined;
  /** Set once the sandbox changed the node. Before (and below a directory with an origin), `base` is shown. */
  #inode: Inode | undefined;
  base: BaseStat | undefined;
  /** Path in the base. For a changed directory: its origin, if it still has one. */
  basePath: ByteString | undefined;
  #listing: Listing | undefined;
  /** Directory: number of lookups of names that the base does not have. */
  misses = 0;
  /** Descriptor of the open host file, or -1. Owned by `HostFiles`. */
  fd = -1;
  /** The host file stays open, because the base may replace the file. */
  pinned = false;

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

  freed(): void {
    this.listing = undefined;
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

  /** Its inode or, unless the sandbox changed it, the base file. */
  get shown(): Inode | BaseStat {
    return this.inode ?? this.requireBase();
  }

  /** `base`, of a node that has one; throws for others. */
  requireBase(): BaseStat {
    return this.base ?? missing(this, 'base file');
  }

  get isOwn(): boolean {
    return this.inode !== undefined;
  }

  get isBound(): boolean {
    return (this.inode ?? this.base) !== undefined;
  }

  get version(): string {
    const { inode } = this;
    const { mode, size, mtime } = this.shown;
    const which = inode ? `d${inode.id}-${inode.writes}` : `b${this.requireBase().dev}-${this.requireBase().ino}`;
    return `${which}-${mode.toString(8)}-${size}-${mtime.sec}-${mtime.nsec}`;
  }

  get isAgentText(): boolean {
    return this.inode?.isAgentText === true;
  }

  get nameCount(): number {
    return this.inode?.names ?? this.base?.nlink ?? 1;
  }

  /** Paths of the base do not count. */
  reachesBelow(room: number): boolean {
    const { inode } = this;
    return inode !== undefined && inode.reach > room && reaches(inode, room);
  }

  /** `basePath`, of a node that has one; throws for others. */
  requireBasePath(): ByteString {
    return this.basePath ?? missing(this, 'base path');
  }

  /**
   * For entries of the base these are the strictest of its path and its base path; for entries that the sandbox made or
   * changed, those of its path.
   */
  override agentRuleOf(name: ByteString): RuleState {
    const byPath = this.requireAgentRule().child(name);
    if (this.baseRule === undefined || this.inode?.entries?.has(name)) return byPath;
    return strictestState(byPath, this.baseRule.child(name));
  }

  override get agentShownRule(): RuleState {
    const byPath = this.requireAgentRule();
    return this.baseRule === undefined ? byPath : strictestState(byPath, this.baseRule);
  }

  /** By its path and by the base directory that it shows. */
  override applyRule(rules: RuleSet, byPath: RuleState): void {
    this.agentRule = byPath;
    this.baseRule = this.#baseRuleBy(rules);
    const changed = this.inode !== undefined || this.baseRule === undefined;
    this.agentLevel = changed ? byPath.level : strictest(byPath.level, this.baseRule!.level);
  }

  /**
   * Returns the rules of the base directory if they differ from those of the path. Without a renamed parent they do
   * not, and this is cheap.
   */
  #baseRuleBy(rules: RuleSet): RuleState | undefined {
    const { basePath } = this;
    const link = this.links[0];
    if (basePath === undefined || basePath === ROOT_PATH) return undefined;
    const above = link?.parent;
    const follows =
      above?.basePath !== undefined && (this.inode === undefined || basePath === joinPath(above.basePath, link!.name));
    if (follows && above.baseRule === undefined) return undefined;
    const state = follows ? above.baseRule!.child(link!.name) : rules.state(basePath);
    return state === this.agentRule ? undefined : state;
  }
}
