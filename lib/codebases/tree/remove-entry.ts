import type { FilePath } from '../file-path.ts';
import type { Edit } from './edit.ts';
import { whole } from './put-entry.ts';
import { absent, fileIn, reach } from './reach.ts';

/**
 * Removes a file or symlink, and the directories above it that become empty, since uploads created them implicitly.
 * Throws NOT_FOUND; a refusal leaves the edit as it was.
 */
export function removeEntry(edit: Edit, path: FilePath): void {
  const { draft } = edit;
  const trail = reach(draft, path.parents);
  const found = trail.length > path.parents.length ? fileIn(draft, trail.at(-1)!, path) : undefined;
  if (found === undefined) throw absent(path);
  const names = [...path.parents, path.name];
  let depth = trail.length - 1;
  while (depth > 0 && trail[depth]!.size === 1) depth--;
  edit.admit({ bytes: -found.size, files: -1, directories: depth + 1 - trail.length });
  draft.set(trail[depth]!, names[depth]!, trail[depth + 1] ?? found, undefined);
  if (found.nlink > 1) draft.hasUnlinked = true;
  edit.paths.push(whole(path));
}
