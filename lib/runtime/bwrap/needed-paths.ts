import { realpathSync } from 'node:fs';
import type { SystemView } from './arguments.ts';

/** Devices that bwrap shows by --dev: each may be a mount of its own in a container. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

/**
 * The host paths of all sandboxes without an image (see `LaunchPlan.needs`): what `bwrapArguments` names, and the program. `dir`: that
 * of the agent files; `cgroups`: those that have the cgroups of sandboxes. With paths of the operator undefined: at any time one may
 * be replaced by a link, which may lead anywhere.
 */
export function neededPaths(
  { dir, view }: { dir: string; view: SystemView },
  bwrapPath: string,
  workspaces: string,
  cgroups: readonly string[] = [],
): string[] | undefined {
  if (view.readOnlyPaths.length > 0) return undefined;
  const shown = view.entries.flatMap(({ path, link, source }) => (link === undefined ? [source ?? path] : []));
  try {
    return [realpathSync(bwrapPath), ...shown, '/proc', ...DEVICES, dir, workspaces, ...cgroups];
  } catch {
    // The launch says that there is no program.
    return undefined;
  }
}
