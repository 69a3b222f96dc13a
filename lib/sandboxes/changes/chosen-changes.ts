import type { ByteString } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { shown } from './chosen-paths.ts';
import { typeOf } from './list-changes.ts';
import { topOf } from './new-directories.ts';

/**
 * The changes at `chosen` and below that can be committed. Throws for what the rules forbid, and for a half of what only
 * goes as a whole: one end of a renamed directory, or what is in a directory without the file that it takes the place of.
 */
export function chosenChanges(
  all: readonly WorkspaceChange[],
  chosen: readonly ByteString[],
  own: readonly OwnDirectory[],
): WorkspaceChange[] {
  const possible = all.filter(({ path, now }) => {
    return covers(chosen, path) && (now === undefined || typeOf(now) !== 'TYPE_OTHER');
  });
  refuseForbidden(possible.filter(({ writable }) => !writable));
  if (chosen.includes('')) return possible;
  const left = all.filter(({ path }) => !covers(chosen, path));
  for (const { path, origin, replaces } of own) {
    if (origin === undefined && !replaces) continue;
    const isAtOrigin = (change: WorkspaceChange) =>
      origin !== undefined && (change.path === origin || change.path.startsWith(`${origin}/`));
    if (!covers(chosen, path)) {
      const touches = (change: WorkspaceChange) => change.path.startsWith(`${path}/`) || isAtOrigin(change);
      if (possible.some(touches)) throw half(path);
    } else if (left.some((change) => change.base !== undefined && isAtOrigin(change))) throw half(origin!);
  }
  refuseWithoutRoom(possible, left);
  return possible;
}

/** Names nothing that the rules hide: only how many of them there are. */
function refuseForbidden(forbidden: readonly WorkspaceChange[]): void {
  if (forbidden.length === 0) return;
  const known = forbidden.find(({ hidden }) => hidden !== true);
  const what =
    known !== undefined
      ? `do not let it write ${shown(known.path)}`
      : `hide entries (${forbidden.length}) in directories that it renamed or removed: these cannot be committed`;
  throw new ServiceError('PERMISSION_DENIED', `the sandbox's rules ${what}`);
}

function half(path: ByteString): ServiceError {
  return new ServiceError(
    'FAILED_PRECONDITION',
    `paths: the sandbox renamed or replaced the directory ${shown(path)}; choose all of it`,
  );
}

/** Nothing can be put into what is a file of the codebase, and stays one as long as its own change is not chosen. */
function refuseWithoutRoom(possible: readonly WorkspaceChange[], left: readonly WorkspaceChange[]): void {
  const files = left.filter(({ base }) => base !== undefined && typeOf(base) !== 'TYPE_DIRECTORY');
  const inTheWay = new Set(files.map(({ path }) => path));
  for (const { path, now } of possible) {
    const file = now && topOf(path, inTheWay);
    if (file === undefined) continue;
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `paths: ${shown(path)} is in a directory that takes the place of a file of the codebase; choose ${shown(file)}, too`,
    );
  }
}

function covers(chosen: readonly ByteString[], path: ByteString): boolean {
  return chosen.some((each) => each === '' || path === each || path.startsWith(`${each}/`));
}
