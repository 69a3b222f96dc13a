import { ancestorsOf, type ByteString } from '../../byte-string.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './list-changes.ts';

/** Longer paths can only be resolved one name at a time. */
const MAX_PATH = 2000;

/** The topmost directories that the codebase does not have. Each can be staged as a whole and moved into place. */
export function newDirectories(changes: readonly WorkspaceChange[]): Set<ByteString> {
  const found = new Set<ByteString>();
  for (const { path, now, base } of changes) {
    if (path.length > MAX_PATH) return new Set();
    if (base !== undefined || now === undefined || typeOf(now) !== 'TYPE_DIRECTORY') continue;
    if (topOf(path, found) === undefined) found.add(path);
  }
  return found;
}

/** The member of `tops` that contains the path. */
export function topOf(
  path: ByteString,
  tops: { has(path: ByteString): boolean; readonly size: number },
): ByteString | undefined {
  if (tops.size === 0) return undefined;
  for (const parent of ancestorsOf(path)) if (tops.has(parent)) return parent;
  return undefined;
}
