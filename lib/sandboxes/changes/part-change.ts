import type { WorkspaceChange } from '../../workspaces/workspaces.ts';

/** A change of which a commit takes a part only. */
export type PartChange = WorkspaceChange & { part?: Uint8Array };

/** The contents that the codebase gets of it; undefined: those of the sandbox. */
export const partOf = (change: PartChange): Uint8Array | undefined => change.part;
