import type { Workspace } from './workspace.ts';

/** Workspaces by id, and those of each codebase, so that a change of one codebase costs the others nothing. */
export class WorkspaceMap extends Map<string, Workspace> {
  readonly #byCodebase = new Map<string, Set<Workspace>>();

  override set(id: string, workspace: Workspace): this {
    this.delete(id);
    const { codebaseId } = workspace.spec;
    const others = this.#byCodebase.get(codebaseId);
    if (others === undefined) this.#byCodebase.set(codebaseId, new Set([workspace]));
    else others.add(workspace);
    return super.set(id, workspace);
  }

  override delete(id: string): boolean {
    const workspace = this.get(id);
    if (workspace === undefined) return false;
    const { codebaseId } = workspace.spec;
    const others = this.#byCodebase.get(codebaseId);
    others?.delete(workspace);
    if (others?.size === 0) this.#byCodebase.delete(codebaseId);
    return super.delete(id);
  }

  ofCodebase(id: string): Workspace[] {
    return [...(this.#byCodebase.get(id) ?? [])];
  }
}
