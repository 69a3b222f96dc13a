import { ServiceError } from '../errors.ts';
import type { Steps } from '../fuse/connection/steps.ts';
import { S_IFDIR } from '../linux/mode.ts';
import { Base } from './base/base.ts';
import type { ChangingPaths } from './base/base-trees.ts';
import { Damage } from './delta/damage.ts';
import { Delta } from './delta/delta.ts';
import { quotaOf } from './delta/quota-of.ts';
import type { Quota } from './delta/usage.ts';
import { recordOlderDirectories } from './history/older-directories.ts';
import { fitToBase } from './history/unused-directories.ts';
import { layersFor } from './layers-for.ts';
import { LayeredNode } from './nodes/layered-node.ts';
import { LayeredNodeTree } from './nodes/layered-node-tree.ts';
import type { Shared } from './shared.ts';
import type { StoredFiles } from './stored/stored-files.ts';
import { type Opened, Workspace } from './workspace.ts';
import type { WorkspaceSpec } from './workspaces.ts';

interface LayeredOpened extends Opened {
  readonly base: Base;
  readonly delta: Delta;
  readonly tree: LayeredNodeTree;
}

/** A workspace that is a delta over a base. */
export class LayeredWorkspace extends Workspace<LayeredOpened> {
  readonly changing: ChangingPaths;
  readonly stored: StoredFiles;
  /** See `OpenWorkspace`, as the next three. */
  hasMoved = false;
  hasMovedOfBase = false;
  fittedTo: number | undefined;
  awaitsRebase = false;
  /** Its root, if the kernel knew the directory before the workspace took it. */
  readonly #place: LayeredNode | undefined;
  #checkpoints: readonly string[];
  /** Why the delta cannot be read. */
  #damage: Damage | undefined;

  constructor(
    spec: WorkspaceSpec,
    shared: Shared<Workspace>,
    stored: (workspace: LayeredWorkspace) => StoredFiles,
    place?: LayeredNode,
  ) {
    super(spec, shared);
    this.stored = stored(this);
    this.#place = place;
    this.changing = shared.bases.changingOf(spec.codebaseId);
    this.#checkpoints = spec.checkpoints ?? [];
  }

  get base(): Base {
    return this.opened.base;
  }

  get delta(): Delta {
    return this.opened.delta;
  }

  setCheckpoints(layers: readonly string[]): void {
    this.#checkpoints = layers;
    if (this.openedYet !== undefined) this.#countCheckpoints(this.openedYet.delta);
  }

  #countCheckpoints(delta: Delta): void {
    const rest = delta.setCheckpoints(this.#checkpoints);
    if (rest !== undefined) this.shared.background(rest);
  }

  protected *loading(): Steps<LayeredOpened> {
    const { codebaseId } = this.spec;
    const base = new Base(this.spec.base, this.shared.bases.use(codebaseId, this.spec.base));
    try {
      const delta = yield* this.#openDelta(quotaOf(this));
      if (this.#checkpoints.length > 0) this.#countCheckpoints(delta);
      const tree = new LayeredNodeTree(this, base, delta, this.#place ?? this.#newRoot());
      return openedOf(base, delta, tree);
    } catch (error) {
      this.closed();
      throw error;
    }
  }

  #newRoot(): LayeredNode {
    const { nodes } = this.shared;
    const root = new LayeredNode(nodes.newId(), this, S_IFDIR);
    nodes.add(root);
    return root;
  }

  protected *settling({ delta }: LayeredOpened): Steps<void> {
    if (delta.older) yield* recordOlderDirectories(this);
    // The base may have changed while the workspace was not open.
    yield* fitToBase(this);
  }

  protected closed(): void {
    this.shared.bases.release(this.spec.codebaseId, this.spec.base);
  }

  /** A damaged delta is reported once and not read again. */
  *#openDelta(quota: Quota): Steps<Delta> {
    if (this.#damage !== undefined) throw this.#damage;
    const startSteps = this.shared.startHeld && ((steps: Steps<unknown>) => this.start(steps));
    const layers = layersFor(this, { isHeld: () => this.heldBy !== 0, startSteps });
    try {
      return yield* Delta.load(this.spec.delta, layers, quota, () => this.now());
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      const what = this.spec.isHome ? 'HOME' : 'the delta';
      this.#damage = new Damage(`${what} of the sandbox is damaged: ${error.message}`);
      this.shared.damaged({ id: this.spec.id, message: this.#damage.message });
      throw this.#damage;
    }
  }
}

function openedOf(base: Base, delta: Delta, tree: LayeredNodeTree): LayeredOpened {
  return {
    base,
    delta,
    tree,
    get room() {
      return delta.claims;
    },
    get memory() {
      return delta.table.memory;
    },
    get ownMemory() {
      return delta.table.ownMemory;
    },
    get placeholderKeys() {
      return delta.table.placeholderKeys;
    },
    syncing: () => delta.syncs.syncing(),
    close: () => delta.close(),
  };
}

/** For operations that only deltas over bases have. */
export function requireLayered(workspace: Workspace): LayeredWorkspace {
  if (workspace instanceof LayeredWorkspace) return workspace;
  throw new ServiceError('UNIMPLEMENTED', 'workspaces of this kind have no such operation yet');
}
