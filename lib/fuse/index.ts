export { abortConnection } from './abort.ts';
export { type MountOptions, mountWorkspaces } from './host.ts';
export { clearStaleMount, connectionAt } from './mount.ts';
export { probeFuse } from './probe.ts';
export type { Death, WorkspaceSpec, Workspaces } from './workspaces.ts';
