import type { ByteString } from '../../byte-string.ts';
import { isDirectory } from '../../linux/mode.ts';
import type { RuleState } from '../../permissions/index.ts';
import { isVisible } from '../access/visibility.ts';
import type { Base, BaseStat } from '../base/base.ts';
import type { BaseTrees } from '../base/base-trees.ts';
import type { LayeredNode } from './layered-node.ts';
import type { Listing } from './listing.ts';

/** How long a step takes, in ms: a request that arrives meanwhile waits for its end. */
const STEP_MS = 0.05;
/** Names examined ahead: about as many as one reply has. */
const MOST = 256;
/** How long what was found may be used, in ms. */
const LIFETIME_MS = 1000;

/** The part of a workspace that it needs. */
interface AheadOwner {
  readonly base: Base;
  readonly isClosed: boolean;
  readonly spec: { readonly id: string; readonly codebaseId: string };
}

interface Plan {
  readonly owner: AheadOwner;
  readonly dir: LayeredNode;
  readonly listing: Listing;
  readonly ruleOf: (name: ByteString) => RuleState;
  /** After the names that were examined. */
  cookie: number;
  left: number;
}

/**
 * Reads attributes of the base ahead, while the thread waits for the next request: those of the names in a directory after
 * the last READDIRPLUS. It looks up only what the next one would look up, in the same state of the codebase.
 */
export class StatAhead {
  readonly #bases: BaseTrees;
  readonly #now: () => number;
  #plan: Plan | undefined;
  readonly #found = new Map<ByteString, BaseStat>();
  /** Of what was found: node id and base path of the directory, state of the codebase, and end of its use. */
  #dir = 0;
  #path: ByteString | undefined;
  #codebaseId = '';
  #state = 0;
  #until = 0;
  /** Whether `step` is ever called. */
  #isDriven = false;

  /** `now`: a clock in ms. */
  constructor(bases: BaseTrees, now: () => number = () => performance.now()) {
    this.#bases = bases;
    this.#now = now;
  }

  /** Plans to read the attributes of the names after `cookie`; `ruleOf`: the rules of a name in the directory. */
  plan(
    owner: AheadOwner,
    dir: LayeredNode,
    listing: Listing,
    cookie: number,
    ruleOf: (name: ByteString) => RuleState,
  ): void {
    if (!this.#isDriven || dir.basePath === undefined) return;
    // A reply may be shorter than what was read ahead for it.
    if (this.#dir !== dir.id || this.#path !== dir.basePath || !this.#holds()) this.#beginAnew(owner, dir);
    this.#plan = { owner, dir, listing, ruleOf, cookie, left: MOST - this.#found.size };
  }

  #beginAnew({ spec }: AheadOwner, dir: LayeredNode): void {
    this.#found.clear();
    this.#dir = dir.id;
    this.#path = dir.basePath;
    this.#codebaseId = spec.codebaseId;
    this.#state = this.#bases.stateOf(spec.codebaseId);
    this.#until = this.#now() + LIFETIME_MS;
  }

  /** Id of the workspace that `step` works for. */
  get workspace(): string | undefined {
    return this.#plan?.owner.spec.id;
  }

  /** Reads some of the planned attributes. Returns false if there is nothing to do. */
  step(): boolean {
    this.#isDriven = true;
    const plan = this.#plan;
    if (plan === undefined) return false;
    if (!this.#isCurrent(plan) || this.#examine(plan)) this.#plan = undefined;
    return true;
  }

  /** Returns the attributes of a name in a directory if they were read ahead and still hold; once. */
  take(dir: LayeredNode, name: ByteString): BaseStat | undefined {
    if (this.#dir !== dir.id || this.#path !== dir.basePath) return undefined;
    const stat = this.#found.get(name);
    if (stat === undefined) return undefined;
    this.#found.delete(name);
    return this.#holds() ? stat : undefined;
  }

  #holds(): boolean {
    const { changing, state } = this.#bases.presentOf(this.#codebaseId);
    return state === this.#state && changing.size === 0 && this.#now() < this.#until;
  }

  #isCurrent({ owner, dir, listing }: Plan): boolean {
    return !owner.isClosed && dir.listing === listing && dir.basePath === this.#path && this.#holds();
  }

  /** Returns true at the end. */
  #examine(plan: Plan): boolean {
    const { owner, dir, listing, ruleOf } = plan;
    const end = this.#now() + STEP_MS;
    for (const { name, cookie, type } of listing.after(plan.cookie)) {
      if (this.#now() > end) return false;
      if (plan.left-- <= 0) return true;
      plan.cookie = cookie;
      if (this.#found.has(name) || dir.children?.has(name) || dir.inode?.entries?.has(name)) continue;
      // Nothing that is hidden is looked up, so that it has no effect on the time of anything.
      if (!isVisible(ruleOf(name), isDirectory(type))) continue;
      try {
        const stat = owner.base.lstatIn(dir.requireBasePath(), name);
        if (stat !== undefined) this.#found.set(name, stat);
      } catch {
        // The next request meets the error, if it lasts.
        return true;
      }
    }
    return true;
  }
}
