import { OwnSyncs } from './delta/contents/host-syncs.ts';
import { FIRST_INO, type Inode } from './delta/index/inode.ts';
import { pathOf } from './delta/index/path-of.ts';
import type { LayersOf } from './delta/layers/layers-of.ts';
import type { Shared } from './shared.ts';
import type { WorkspaceSpec } from './workspaces.ts';

/** Both directories of a sandbox are on one device, on which programs tell files by their numbers. */
const FIRST_OF_HOME = FIRST_INO * 2;

/** What the delta of a workspace needs. `startSteps`: see `LayersOf`. */
export function layersFor(
  { spec, shared }: { spec: WorkspaceSpec; shared: Shared<never> },
  { isHeld, startSteps }: Required<Pick<LayersOf, 'isHeld' | 'startSteps'>>,
): LayersOf {
  const { id, delta, layers, origin, isHome } = spec;
  const { frozen, copies, frees, answer } = shared;
  const syncs = new OwnSyncs(shared.syncs);
  const damaged = (inode: Inode, message: string) => shared.damaged({ id, message, path: pathOf(inode) });
  const firstIno = isHome ? FIRST_OF_HOME : undefined;
  const common = { frozen, copies, frees, syncs, answer, isHeld, damaged, startSteps, firstIno };
  return layers === undefined
    ? { ...common, root: `${delta}/data`, prefix: '' }
    : { ...common, root: layers, prefix: `${id}.`, origin };
}
