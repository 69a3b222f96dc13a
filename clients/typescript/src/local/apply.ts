import { type Found, isSame } from './found.ts';
import type { Look, Place } from './place.ts';
import type { Member } from './untar.ts';

export type Outcome = 'applied' | 'same' | 'conflicts';

export interface Choice {
  /** The codebase's version: what is here otherwise was edited. undefined: it has none. */
  base: Found;
  /** The sandbox's version. undefined: it has none. */
  wanted: Found;
  /** Also what was edited. */
  replace: boolean;
}

/** What the archive has is not what the list of changes said. */
export class ChangedMeanwhile extends Error {}

/** What would become of a path. `empties`: whether all that is in a directory here goes before it. */
export async function decided(place: Place, choice: Choice, empties: () => Promise<boolean>): Promise<Outcome> {
  const { found } = await place.look();
  if (isSame(found, choice.wanted)) return 'same';
  if (!mayReplace(found, choice)) return 'conflicts';
  return found?.type !== 'directory' || (await empties()) ? 'applied' : 'conflicts';
}

/**
 * Brings a member of the archive of changes to its place, if what is here is the codebase's. `clear` removes what the
 * sandbox removed below it. Throws ChangedMeanwhile.
 */
export async function applyMember(
  place: Place,
  member: Member,
  choice: Choice,
  clear: () => Promise<void>,
): Promise<Outcome> {
  const { wanted } = choice;
  const isExpected = wanted?.type === member.type && (wanted.type !== 'symlink' || wanted.target === member.target);
  if (!isExpected) throw new ChangedMeanwhile();
  const now = await place.look();
  if (isSame(now.found, wanted)) return 'same';
  if (!mayReplace(now.found, choice)) return 'conflicts';
  // Only once its replacement is here: a directory is not emptied for one that does not come.
  const put = async (temporary: string): Promise<Outcome> => {
    try {
      if (now.found?.type === 'directory') await clear();
      return await putAt(place, now, temporary);
    } finally {
      await place.discard(temporary);
    }
  };
  if (wanted.type === 'symlink') return put(await place.receiveLink(wanted.target));
  if (wanted.type === 'file') {
    const { temporary, version } = await place.receive(member.content, wanted.executable);
    if (version === wanted.version) return put(temporary);
    await place.discard(temporary);
    throw new ChangedMeanwhile();
  }
  if (!(await place.isStill(now))) return 'conflicts';
  await place.makeDirectory();
  return 'applied';
}

/** What was edited here meanwhile stays. */
async function putAt(place: Place, now: Look, temporary: string): Promise<Outcome> {
  if (!(await place.isStill(now))) return 'conflicts';
  await place.replace(temporary);
  return 'applied';
}

/** Removes a file, symlink or empty directory that the sandbox removed. */
export async function applyRemoval(place: Place, choice: Choice): Promise<Outcome> {
  const now = await place.look();
  if (now.found === undefined) return 'same';
  if (!mayReplace(now.found, choice) || !(await place.isStill(now))) return 'conflicts';
  await place.remove();
  return 'applied';
}

/** What is not empty is never removed as a whole. */
const mayReplace = (now: Found, { base, replace }: Choice): boolean =>
  isSame(now, base) || (replace && now?.type !== 'directory' && now?.type !== 'other');
