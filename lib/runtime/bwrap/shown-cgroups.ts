import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { NAMES } from '../cgroup/group-names.ts';
import type { ShownCgroup } from '../cgroup/shown.ts';
import type { ShownPath } from '../shown/shown-limits.ts';

/** Where programs look for cgroups. */
const CGROUPS = '/sys/fs/cgroup';

/**
 * Fills `dir` (new), which is shown as /sys/fs/cgroup/commands with cgroup v2. There a command is in the cgroup `commands/N` of its
 * sandbox, which has no limits of its own, and most programs do not look for those above. The namespace of cgroups begins at
 * `agent`, in which bwrap was started. So the command reads that it is in `/../commands/N`, and finds that as /sys/fs/commands/N or,
 * by the mount table, as /sys/fs/cgroup/commands/N. With this directory both are the cgroup of the sandbox.
 */
export function linkCommands(dir: string): void {
  mkdirSync(dir, { mode: 0o755 });
  const first = `${dir}/1`;
  symlinkSync(CGROUPS, first);
  for (let name = 2; name <= NAMES; name++) linkSync(first, `${dir}/${name}`);
}

/**
 * What shows these cgroups in a sandbox, in order. `commands`: see `linkCommands`. That of v2 takes the place of the directory that
 * has the others, which is read-only then: on a host with both, only v2 is shown.
 */
export function cgroupPaths(cgroups: readonly ShownCgroup[], commands: string): ShownPath[] {
  const v2 = cgroups.find(({ name }) => name === '');
  if (v2 !== undefined) {
    const others = { source: commands, path: `${CGROUPS}/commands` };
    return [{ source: v2.source, path: CGROUPS }, others, { link: others.path, path: '/sys/fs/commands' }];
  }
  return cgroups.flatMap(({ source, name }) => {
    // As on hosts: a link for each controller of a hierarchy with several.
    const controllers = name.includes(',') ? name.split(',') : [];
    const links = controllers.map((each) => ({ link: name, path: `${CGROUPS}/${each}` }));
    return [{ source, path: `${CGROUPS}/${name}` }, ...links];
  });
}
