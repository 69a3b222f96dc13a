import { ancestorsOf, type ByteString } from '../../byte-string.ts';
import { forEach } from '../../long-lists.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';
import { typeOf } from './shown-change.ts';

/** Longer paths can only be resolved one name at a time. */
const MAX_PATH = 2000;

/** The topmost directories that the codebase does not have. Each can be staged as a whole and moved into place. */
export async function newDirectories(changes: readonly WorkspaceChange[]): Promise<Set<ByteString>> {
  const found = new Set<ByteString>();
  let longest = 0;
  await forEach(changes, ({ path, now, base }) => {
    longest = Math.max(longest, path.length);
    if (base !== undefined || now === undefined || typeOf(now) !== 'TYPE_DIRECTORY') return;
    if (topOf(path, found) === undefined) found.add(path);
  });
  return longest > MAX_PATH ? new Set() : found;
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
