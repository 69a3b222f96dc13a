import type { Node } from './nodes/node.ts';
import type { Shared } from './shared.ts';
import type { Workspace } from './workspace.ts';
import type { WorkspaceSpec } from './workspaces.ts';

/** How the workspaces of one mount keep their files. */
export interface Engine {
  /** A directory without a workspace, which one of these may take as its root. */
  directory(id: number): Node<Workspace>;
  /** `place`: its root, if the kernel knew the directory before. */
  workspace(spec: WorkspaceSpec, shared: Shared<Workspace>, place: Node<Workspace> | undefined): Workspace;
}
