import type { Steps } from '../../fuse/connection/steps.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';

/** Whether the delta has entries of its own. Takes no time but that of opening the workspace, in steps. */
export function* hasEntries(workspace: LayeredWorkspace): Steps<boolean> {
  yield;
  return (workspace.delta.table.get(ROOT_ID)?.entries?.size ?? 0) > 0;
}
