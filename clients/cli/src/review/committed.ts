import type { CommitOptions, FileChange } from 'paddock-sandbox';
import type { Taken } from './choose.ts';

/**
 * The choice for a commit, in which a directory stands for everything below it. `left`: directories whose mode is left out,
 * because something below them is.
 */
export function committedOf(
  taken: Exclude<Taken, 'all' | 'none'>,
  changes: readonly FileChange[],
): Pick<CommitOptions, 'paths' | 'hunks'> & { left: string[] } {
  const { paths, hunks } = taken;
  const parted = new Set(hunks.map(({ path }) => path));
  const incomplete = new Set<string>();
  for (const { path } of changes) {
    if (paths.has(path) || parted.has(path)) continue;
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) incomplete.add(path.slice(0, end));
  }
  const left = [...paths].filter((path) => incomplete.has(path));
  const whole = [...paths].filter((path) => !incomplete.has(path));
  return { ...(whole.length > 0 && { paths: whole }), hunks, left };
}
