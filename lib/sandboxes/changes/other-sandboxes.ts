import type { ByteString } from '../../byte-string.ts';
import { filtered } from '../../long-lists.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { isRemoved } from './commit-plan.ts';
import { preserveRemoved } from './preserve-removed.ts';
import { revertUnchanged } from './revert-unchanged.ts';

/**
 * The other sandboxes on a codebase, before a commit changes its files: see `preserveRemoved` and `revertUnchanged`. That may take
 * long and wait for their programs. So it is done before the sandbox of the commit is paused.
 */
export class OtherSandboxes {
  readonly #codebaseId: string;
  readonly #id: string;
  readonly #context: SandboxContext;
  readonly #preserved = new Set<ByteString>();
  readonly #reverted = new Set<ByteString>();

  /** `id`: the sandbox of the commit. */
  constructor(codebaseId: string, id: string, context: SandboxContext) {
    this.#codebaseId = codebaseId;
    this.#id = id;
    this.#context = context;
  }

  /**
   * Call before each pause. Others may have renamed directories since the last call, so all removals are preserved again. Paths
   * that were reverted are not again: a program can hold the write-back of its pages for seconds. `made`: see `madeFor`.
   */
  async prepare(changes: readonly WorkspaceChange[], made: readonly ByteString[]): Promise<void> {
    this.#preserved.clear();
    await this.preserve(changes);
    const changing = [...made, ...changes.map(({ path }) => path)];
    const paths = await filtered(changing, (path) => !this.#reverted.has(path));
    for (const path of paths) this.#reverted.add(path);
    if (paths.length === 0) return;
    const coming = { removed: [...this.#preserved], commit: { id: this.#id, added: [] } };
    await revertUnchanged(this.#codebaseId, paths, coming, this.#context);
  }

  /** Copies what these changes remove, and others show elsewhere, unless it was copied since `prepare`. */
  async preserve(changes: readonly WorkspaceChange[]): Promise<void> {
    const removed = (await this.#missing(changes)).map(({ path }) => path);
    await preserveRemoved(this.#codebaseId, removed, this.#context, this.#id);
    for (const path of removed) this.#preserved.add(path);
  }

  /** Most bytes that `preserve` would copy; a file counts as `fileCost` more. */
  async lacking(changes: readonly WorkspaceChange[], fileCost: number): Promise<number> {
    const others = this.#context.sandboxes.onCodebase(this.#codebaseId).length - 1;
    const missing = await this.#missing(changes);
    return missing.reduce((sum, { base }) => sum + others * (base!.size + fileCost), 0);
  }

  /** Whether all that these changes remove was preserved. */
  async isPrepared(changes: readonly WorkspaceChange[]): Promise<boolean> {
    return (await this.#missing(changes)).length === 0;
  }

  #missing(changes: readonly WorkspaceChange[]): Promise<WorkspaceChange[]> {
    return filtered(changes, (change) => isRemoved(change) && !this.#preserved.has(change.path));
  }
}
