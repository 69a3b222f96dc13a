import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { homesOf } from './homes.ts';
import { isSystem, isWithin, rootOf } from './roots.ts';

/** The tools that the caller can run and a sandbox cannot, without help. */
export interface Tools {
  /** Real paths to be shown, none below another one. */
  readonly mounts: readonly string[];
  /** PATH inside: the caller's directories that are visible there, in their order, then those of every sandbox. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly invisible: readonly { path: string; reason: string }[];
}

export type Env = Readonly<Record<string, string | undefined>>;

const EVERY_SANDBOX = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A directory of which a sandbox has a copy. */
export interface Workspace {
  /** Of this machine, without links: what is compared. */
  real: string;
  /** Where the sandbox has it. */
  shown: string;
}

export function findTools(
  env: Env,
  { workspace, homes = homesOf(env) }: { workspace?: Workspace; homes?: readonly string[] } = {},
): Tools {
  const [mounts, path] = [new Set<string>(), new Set<string>()];
  const invisible: { path: string; reason: string }[] = [];
  let variables: Record<string, string> = {};
  for (const directory of new Set((env.PATH ?? '').split(':').filter((each) => isAbsolute(each)))) {
    const real = realDirectory(directory);
    if (real === undefined) continue;
    if (workspace !== undefined && isWithin(real, workspace.real)) {
      path.add(join(workspace.shown, relative(workspace.real, real)));
      continue;
    }
    if (isSystem(real)) {
      path.add(real);
      continue;
    }
    const rooted = rootOf(real, { homes, env });
    const inTheWay = rooted.mounts?.find((each) => isInTheWay(each, workspace));
    if (rooted.mounts === undefined) invisible.push({ path: directory, reason: rooted.reason });
    else if (inTheWay !== undefined) invisible.push({ path: directory, reason: 'a sandbox has something else there' });
    else {
      for (const each of rooted.mounts) mounts.add(each);
      path.add(real);
      variables = { ...variables, ...rooted.env };
    }
  }
  for (const each of EVERY_SANDBOX.split(':')) path.add(each);
  return { mounts: outermost(mounts), path: [...path].join(':'), env: variables, invisible };
}

/** Also what the rules of the server refuse (`placesOf` in lib/sandboxes/lifecycle). */
const OWN = ['/dev', '/etc', '/home/sandbox', '/proc', '/run', '/sys', '/usr', '/var/tmp', '/workspace'];

export const isInTheWay = (path: string, workspace?: Workspace): boolean =>
  path === '/tmp' ||
  isSystem(path) ||
  [...OWN, ...(workspace === undefined ? [] : [workspace.real, workspace.shown])].some(
    (own) => isWithin(path, own) || isWithin(own, path),
  );

export const outermost = (paths: Iterable<string>): string[] => {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => other !== path && isWithin(path, other)));
};

function realDirectory(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
