import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
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

/** `workspace`: a directory that is shown anyhow. */
export function findTools(
  env: Env,
  { workspace, home = homeOf(env) }: { workspace?: string; home?: string } = {},
): Tools {
  const [mounts, path] = [new Set<string>(), new Set<string>()];
  const invisible: { path: string; reason: string }[] = [];
  let variables: Record<string, string> = {};
  for (const directory of new Set((env.PATH ?? '').split(':').filter((each) => isAbsolute(each)))) {
    const real = realDirectory(directory);
    if (real === undefined) continue;
    if (isSystem(real) || (workspace !== undefined && isWithin(real, workspace))) {
      path.add(real);
      continue;
    }
    const rooted = rootOf(real, { home, env });
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

export const isInTheWay = (path: string, workspace?: string): boolean =>
  path === '/tmp' ||
  isSystem(path) ||
  [...OWN, ...(workspace === undefined ? [] : [workspace])].some((own) => isWithin(path, own) || isWithin(own, path));

export const outermost = (paths: Iterable<string>): string[] => {
  const all = [...paths];
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

const homeOf = (env: Env): string => {
  try {
    return realpathSync(env.HOME || homedir());
  } catch {
    return '/nonexistent';
  }
};
