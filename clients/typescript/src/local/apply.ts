import { type Found, isSame, versionOf } from './found.ts';
import type { Look, Place } from './place.ts';
import type { Member } from './untar.ts';

export type Outcome = 'applied' | 'same' | 'conflicts';

export interface Choice {
  /** The codebase's version: what is here otherwise was edited. */
  base: () => Promise<Found>;
  /** Also what was edited. */
  replace: boolean;
  dryRun: boolean;
}

/** Brings a member of the archive of changes to its place. `clear` removes what the sandbox removed below it. */
export async function applyMember(
  place: Place,
  member: Member,
  choice: Choice,
  clear: () => Promise<void>,
): Promise<Outcome> {
  const now = await place.look();
  const may = await mayReplace(now.found, choice);
  const { type, target } = member;
  const writes = may && !choice.dryRun;
  if (writes && now.found?.type === 'directory' && type !== 'directory') await clear();
  if (type === 'file') return applyFile(place, member, now, { may, writes });
  if (isSame(now.found, type === 'symlink' ? { type, target } : { type })) return 'same';
  if (!may) return 'conflicts';
  if (!writes) return 'applied';
  if (type === 'symlink') return putAt(place, now, await place.receiveLink(target));
  if (!(await place.isStill(now))) return 'conflicts';
  await place.makeDirectory();
  return 'applied';
}

/** The contents go into a new file while they are compared, because they may be larger than the memory. */
async function applyFile(
  place: Place,
  { content, mode }: Member,
  now: Look,
  { may, writes }: { may: boolean; writes: boolean },
): Promise<Outcome> {
  const executable = (mode & 0o100) !== 0;
  const isHere = (version: string) => isSame(now.found, { type: 'file', version, executable });
  if (!writes) {
    if (isHere(await versionOf(content))) return 'same';
    return may ? 'applied' : 'conflicts';
  }
  const { temporary, version } = await place.receive(content, executable);
  if (!isHere(version)) return putAt(place, now, temporary);
  await place.discard(temporary);
  return 'same';
}

/** What was edited here meanwhile stays. */
async function putAt(place: Place, now: Look, temporary: string): Promise<Outcome> {
  try {
    if (!(await place.isStill(now))) return 'conflicts';
    await place.replace(temporary);
    return 'applied';
  } finally {
    await place.discard(temporary);
  }
}

/** Removes a file, symlink or empty directory that the sandbox removed. */
export async function applyRemoval(place: Place, choice: Choice): Promise<Outcome> {
  const now = await place.look();
  if (now.found === undefined) return 'same';
  if (!(await mayReplace(now.found, choice))) return 'conflicts';
  if (choice.dryRun) return 'applied';
  if (!(await place.isStill(now))) return 'conflicts';
  await place.remove();
  return 'applied';
}

/** What is not empty is never removed as a whole. */
async function mayReplace(now: Found, { base, replace }: Choice): Promise<boolean> {
  return isSame(now, await base()) || (replace && now?.type !== 'directory' && now?.type !== 'other');
}
