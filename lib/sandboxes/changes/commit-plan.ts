import type { Step } from '../../codebases/commit-steps.ts';
import type { WorkspaceChange } from '../../fuse/workspaces.ts';
import { typeOf } from './list-changes.ts';
import type { Staged } from './staged.ts';

/** What makes the codebase have what the sandbox has: room first, from the inside out, then what is new. */
export function stepsOf(changes: readonly WorkspaceChange[], staged: Staged): Step[] {
  const unlinks: Step[] = [];
  const rmdirs: Step[] = [];
  const mkdirs: Step[] = [];
  const puts: Step[] = [];
  const chmods: Step[] = [];
  for (const { path, now, base, contentChanged } of changes) {
    const nowDirectory = now !== undefined && typeOf(now) === 'TYPE_DIRECTORY';
    const wasDirectory = base !== undefined && typeOf(base) === 'TYPE_DIRECTORY';
    const mode = (now?.mode ?? 0) & 0o777;
    if (wasDirectory && !nowDirectory) rmdirs.push(['rmdir', path]);
    if (base !== undefined && !wasDirectory && (now === undefined || nowDirectory)) unlinks.push(['unlink', path]);
    if (now === undefined) continue;
    if (nowDirectory && !wasDirectory) mkdirs.push(['mkdir', path, mode]);
    else if (!nowDirectory && contentChanged) puts.push(['put', path, staged.nameOf(path)]);
    else chmods.push(['chmod', path, mode]);
  }
  return [...unlinks, ...rmdirs.reverse(), ...mkdirs, ...puts, ...chmods];
}

/** As text; of a name that has none, the directory it is in. */
export function announcedPaths(changes: readonly WorkspaceChange[]): string[] {
  const paths = new Set<string>();
  for (const { path } of changes) {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      const text = Buffer.from(at, 'latin1').toString();
      if (Buffer.from(text).toString('latin1') !== at) continue;
      paths.add(text);
      break;
    }
  }
  return [...paths];
}
