import type { FileChange } from '../contract/messages.ts';
import type { Refusal } from './refusal.ts';

/** Whether it is part of a rename, as far as can be told from it alone. */
export const mayBeHalf = ({ kind, renamedFrom }: FileChange): boolean => kind === 'deleted' || renamedFrom !== '';

/**
 * Chosen paths of which the other half of the rename is not chosen, with the reasons: the old one alone would lose the
 * contents here. `all`: the changes of the sandbox, listed after the chosen ones, so that what went is known by its new path.
 */
export function halvesOf(all: readonly FileChange[], chosen: ReadonlySet<string>): Map<string, Refusal> {
  const renamed = new Map(all.flatMap(({ path, kind }) => (kind === 'deleted' ? [[path, [] as string[]]] : [])));
  for (const { path, renamedFrom } of all) renamed.get(renamedFrom)?.push(path);
  const halves = new Map<string, Refusal>();
  const leave = (path: string, other: string) =>
    halves.set(path, { reason: `it is half of a rename: ${JSON.stringify(other)} must come, too`, again: true });
  for (const [old, paths] of renamed) {
    if (!chosen.has(old)) for (const path of paths) chosen.has(path) && leave(path, old);
    else if (paths.length > 0 && !paths.some((path) => chosen.has(path))) leave(old, paths[0]!);
  }
  return halves;
}
