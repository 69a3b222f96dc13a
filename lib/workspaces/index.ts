export { abortConnection } from '../fuse/connection/abort.ts';
export { abandonMount, clearStaleMount, connectionAt } from '../fuse/connection/mount.ts';
export { probeFuse } from '../fuse/connection/probe.ts';
export { mountWorkspaces } from './mount-workspaces.ts';
