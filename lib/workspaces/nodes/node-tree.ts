import { type ByteString, joinNames } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { ENAMETOOLONG } from '../../linux/errno.ts';
import { MAX_NAME_BYTES } from '../../path-limits.ts';
import { type Level, NONE, type RuleSet, type RuleState, strictest } from '../../permissions/index.ts';
import { type Access, AGENT } from '../access/access.ts';
import { DentryEviction, type EvictionOwner } from './dentry-eviction.ts';
import { applyRuleBelow } from './directory-rules.ts';
import type { FileLevels } from './file-levels.ts';
import type { Found, Node, NodeOwner } from './node.ts';
import { NodeSet } from './node-set.ts';
import type { NodeTable } from './node-table.ts';
import { nodesFrom } from './walk-nodes.ts';

/** The part of a workspace that its nodes need. */
export interface TreeOwner extends NodeOwner, EvictionOwner {
  readonly rules: RuleSet;
  readonly shared: EvictionOwner['shared'] & { readonly nodes: NodeTable };
}

/** The nodes of one workspace, one for each file, and the resolution of names. */
export abstract class NodeTree<N extends Node = Node> {
  readonly root: N;
  /** Orphans: nodes without links that are still open. */
  readonly orphans = new NodeSet<N>();
  abstract readonly levels: FileLevels;
  /** The inode numbers (st_ino) of nodes, which they keep for as long as the kernel knows them. */
  abstract readonly numbers: { of(node: N): number };
  readonly #owner: TreeOwner;
  readonly #eviction: DentryEviction;

  constructor(owner: TreeOwner, root: N) {
    this.#owner = owner;
    this.root = root;
    this.#eviction = new DentryEviction(owner, () => this.nodes());
    root.agentRule = owner.rules.root;
    root.agentLevel = root.agentRule.level;
  }

  /** Resolves a name, regardless of rules; `level` is that of its path. Returns undefined if it does not exist. */
  abstract find(dir: N, name: ByteString, level: Level): Found | undefined;

  /** The node of what was found, if another link gave it one; `level` is that of the path. */
  protected abstract known(found: Found, level: Level): N | undefined;

  /** A node for what was found, not bound to it yet. */
  protected abstract make(id: number, found: Found): N;

  /** Binds a new node to what its name in `dir` resolves to; `state` are the rules of the name. */
  protected abstract bind(node: N, dir: N, name: ByteString, state: RuleState, found: Found): void;

  /** Creates a node for an unlinked file. */
  abstract addUnlinked(found: Found): N;

  /** Closes the host file that is open for a node, if any. */
  abstract closeFile(node: N): void;

  /** A file has lost its last name, and its node is still there. */
  protected abstract unlinked(node: N): void;

  /** A node is gone, and has no links any more. Contents without a name are released. */
  protected abstract released(node: N): void;

  /** Releases the contents of unlinked files that are kept only because they are open. */
  abstract releaseOrphans(): void;

  /** The level of an orphan, by the path that it had. */
  abstract levelOfOrphan(file: N): Level;

  /** Returns the sandbox's rules for a name; `state` are the rules by this access. */
  protected agentRuleOf(access: Access, dir: N, name: ByteString, state: RuleState): RuleState {
    return access.actor === 'agent' ? state : dir.agentRuleOf(name);
  }

  /**
   * Returns the node of a name, hidden ones included, or undefined if it does not exist. `state`: the rules of the name
   * by this access. Throws ENAMETOOLONG.
   */
  child(access: Access, dir: N, name: ByteString, state: RuleState): N | undefined {
    const known = dir.children?.get(name);
    if (known !== undefined) return known;
    if (name.length > MAX_NAME_BYTES) throw ENAMETOOLONG;
    // Nothing is visible here in any case. Skipping the disk prevents a timing side channel.
    if (state.level === NONE && !state.visibleBelow) return undefined;
    const agentRule = this.agentRuleOf(access, dir, name, state);
    const found = this.find(dir, name, agentRule.level);
    return found === undefined ? undefined : this.adopt(AGENT, dir, name, agentRule, found);
  }

  /**
   * Gives a name to the node of what was found: a new node, or the existing one of another link. Throws EDQUOT beyond
   * the memory limit.
   */
  adopt(access: Access, dir: N, name: ByteString, acting: RuleState, found: Found): N {
    const state = this.agentRuleOf(access, dir, name, acting);
    const known = this.known(found, state.level);
    if (known !== undefined) {
      this.#link(known, dir, name, state);
      return known;
    }
    this.#eviction.makeRoom();
    const { nodes } = this.#owner.shared;
    const node = this.make(nodes.newId(), found);
    nodes.add(node);
    node.addLink(dir, name);
    this.bind(node, dir, name, state, found);
    return node;
  }

  /** Gives one more name to a file. */
  link(access: Access, node: N, dir: N, name: ByteString, acting: RuleState): void {
    this.#link(node, dir, name, this.agentRuleOf(access, dir, name, acting));
  }

  #link(node: N, dir: N, name: ByteString, state: RuleState): void {
    this.orphans.delete(node);
    node.addLink(dir, name);
    // The other links were examined when they were added: a file may have tens of thousands.
    const known = node.links.length > 1 ? (node.agentLevel as Level) : this.levels.find(node, state.level);
    if (!node.isDirectory) node.agentLevel = strictest(known, state.level);
  }

  /** Removes a link of a node after its removal. A node without links stays as an orphan while it is open. */
  unlink(access: Access, node: N, dir: N, name: ByteString): void {
    node.removeLink(dir, name);
    if (access.actor === 'owner' && node.isOwn && node.nameCount > 0) this.levels.update(node);
    if (node.links.length > 0) return;
    if (node.isOwn && node.nameCount === 0) this.unlinked(node);
    if (node.nlookup > 0 || node.children?.size) this.orphans.add(node);
    else this.free(node);
  }

  /**
   * Replaces one link of a node by another, after a rename. Returns steps that apply the rules of the new path; the
   * caller prevents other use of the tree until their end.
   */
  move(access: Access, node: N, dir: N, name: ByteString, newDir: N, newName: ByteString): Steps<void> {
    node.removeLink(dir, name);
    node.addLink(newDir, newName);
    return this.#moved(access, [node, newDir, newName]);
  }

  /** As `move`, for two nodes whose links are exchanged (RENAME_EXCHANGE). */
  exchange(access: Access, a: N, aDir: N, aName: ByteString, b: N, bDir: N, bName: ByteString): Steps<void> {
    b.removeLink(bDir, bName);
    a.removeLink(aDir, aName);
    a.addLink(bDir, bName);
    b.addLink(aDir, aName);
    return this.#moved(access, [a, bDir, bName], [b, aDir, aName]);
  }

  *#moved(access: Access, ...all: readonly [node: N, dir: N, name: ByteString][]): Steps<void> {
    // A move by the owner may change the rules; see `applyRulesToMoved`.
    if (access.actor !== 'agent') return;
    for (const [node, dir, name] of all) {
      if (node.isDirectory) yield* applyRuleBelow(this.#owner.rules, node, dir.requireAgentRule().child(name));
    }
  }

  /** Subtracts from the node's lookup count and frees the node at 0. */
  forget(node: N, nlookup: number): void {
    node.nlookup = Math.max(0, node.nlookup - nlookup);
    this.free(node);
  }

  /** Frees a node without lookups and children, and then its parents for which the same holds. */
  free(node: N): void {
    const candidates = [node];
    for (let at = candidates.pop(); at !== undefined; at = candidates.pop()) {
      if (at.nlookup > 0 || (at.children?.size ?? 0) > 0 || at === this.root) continue;
      candidates.push(...this.#remove(at));
    }
  }

  /** Removes a node and returns its former parents. */
  #remove(node: N): N[] {
    this.#owner.shared.nodes.delete(node);
    this.orphans.delete(node);
    const links = [...node.links];
    for (const { parent, name } of links) node.removeLink(parent, name);
    this.released(node);
    return links.map((link) => link.parent);
  }

  /** All nodes of the workspace, parents first. The tree can be deeper than the stack, so there is no recursion. */
  *nodes(): Generator<N> {
    yield* nodesFrom(this.root);
    for (const node of this.orphans) yield* nodesFrom(node);
  }

  /** Returns the path of a node by one of its links, or by its last link. */
  pathOf(node: N): ByteString {
    const names: ByteString[] = [];
    let at = node;
    while (at !== this.root) {
      const link = at.links[0] ?? at.lastLink!;
      names.push(link.name);
      at = link.parent;
    }
    return joinNames(names.reverse());
  }
}
