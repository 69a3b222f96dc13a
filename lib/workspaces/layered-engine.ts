import { S_IFDIR } from '../linux/mode.ts';
import type { Engine } from './engine.ts';
import { LayeredWorkspace } from './layered-workspace.ts';
import { LayeredNode } from './nodes/layered-node.ts';
import { layeredFiles } from './stored/layered-files.ts';
import type { Workspace } from './workspace.ts';

/** Workspaces that are deltas over bases. */
export const LAYERED: Engine = {
  directory: (id) => new LayeredNode<LayeredWorkspace>(id, undefined, S_IFDIR),
  workspace: (spec, shared, place) =>
    new LayeredWorkspace(spec, shared, layeredFiles, place as LayeredNode | undefined) as Workspace,
};
