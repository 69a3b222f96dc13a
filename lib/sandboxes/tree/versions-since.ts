import type { Turn } from '../../codebases/tree/turn.ts';
import type { Version } from '../../store/versions/version.ts';
import { AbsentObject } from '../../trees/directory/source.ts';
import { NO_KEY } from '../../trees/format/keys.ts';

/** Versions that a sandbox follows one by one; one that is further behind goes to the last one at once. */
const ONE_BY_ONE = 64;

/** The kept versions up to head, the last one first. */
export function* versionsBack({ store, head }: Turn): Generator<Version, void, void> {
  for (let key = head.version; key !== NO_KEY; ) {
    let version: Version;
    try {
      version = store.version(key);
    } catch (error) {
      // Older versions are not kept for ever; that of head is.
      if (error instanceof AbsentObject && key !== head.version) return;
      throw error;
    }
    yield version;
    key = version.parent;
  }
}

/**
 * What a sandbox has not heard of, the oldest first. What both sides changed and is equal by one of these is no conflict, so
 * they are followed one by one. A commit of the sandbox itself has all that was before it.
 */
export function versionsSince(turn: Turn, number: number, sandboxId?: string): Version[] {
  const versions: Version[] = [];
  if (turn.head.number === number) return versions;
  for (const version of versionsBack(turn)) {
    if (version.number <= number) break;
    versions.unshift(version);
    if (isOwn(version, sandboxId)) break;
  }
  if (versions.length <= ONE_BY_ONE) return versions;
  return [...versions.slice(0, isOwn(versions[0]!, sandboxId) ? 1 : 0), versions.at(-1)!];
}

export function isOwn({ commit }: Version, sandboxId: string | undefined): boolean {
  return sandboxId !== undefined && commit?.sandboxId === sandboxId;
}
