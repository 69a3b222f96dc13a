export { type MountOptions, mountWorkspaces } from './host.ts';
export { clearStaleMount } from './mount.ts';
export { probeFuse } from './probe.ts';
export type { Death, WorkspaceSpec, Workspaces } from './workspaces.ts';
