import type { FileChange } from '../contract/messages.ts';
import { applyMember, applyRemoval, ChangedMeanwhile, type Choice, decided, type Outcome } from './apply.ts';
import { type Found, versionOf } from './found.ts';
import type { Part } from './hunks.ts';
import { shown } from './parent.ts';
import { Place } from './place.ts';
import type { Refusal } from './refusal.ts';
import { Room } from './room.ts';
import { baseOf, presentOf } from './sides.ts';
import type { Member } from './untar.ts';

export interface Pulled {
  /** Paths that were written or removed here. */
  applied: string[];
  /** Paths that have the sandbox's version already. */
  same: string[];
  /** Paths that were edited here, too, or cannot be written without following a symlink. They are as they were. */
  conflicts: string[];
  /**
   * What is not brought here: in a repository like `.git`, what would make a directory one, symlinks that lead out of the
   * directory; what would lose values that the sandbox saw as placeholders; what `maxBytes` has no room for; or is gone from the
   * sandbox. With `allow`: the path to be allowed for it.
   */
  skipped: ({ path: string } & Refusal)[];
  /** What the local file system refused, and names that are not UTF-8. It is as it was. */
  failed: { path: string; error: Error }[];
}

interface Chosen {
  refusals: ReadonlyMap<string, Refusal>;
  isChosen: (path: string) => boolean;
  /** Files of which only some hunks come. */
  parts: ReadonlyMap<string, Part>;
  replace: boolean;
  /** Conflicts that are known: of a directory that has files of its own, nothing is removed for its replacement. */
  kept?: ReadonlySet<string>;
}

/** Whether a change has something else in place of a directory. */
export const replacesDirectory = ({ kind, type, baseType }: FileChange): boolean =>
  kind !== 'deleted' && type !== 'directory' && baseType === 'directory';

const MEANWHILE = 'the sandbox changed it meanwhile, or it is of no type that archives have: pull again';

/** The changes, and what has become of each of them. */
export class Changes {
  readonly #directory: string;
  readonly #replace: boolean;
  readonly #parts: Chosen['parts'];
  readonly #written = new Map<string, FileChange>();
  readonly #removed = new Map<string, FileChange>();
  /** What takes the place of a directory, whether it may come or not. */
  readonly #replacing = new Set<string>();
  readonly #kept: ReadonlySet<string>;
  /** Paths of #written by the path that was renamed, and by their form without upper and lower case. */
  readonly #renamed = new Map<string, string>();
  readonly #folded = new Map<string, string>();
  readonly #done = new Map<string, Outcome>();
  readonly #pulled: Pulled = { applied: [], same: [], conflicts: [], skipped: [], failed: [] };
  #isDry = false;

  constructor(directory: string, listed: readonly FileChange[], chosen: Chosen) {
    const { refusals, isChosen, parts, replace, kept = new Set() } = chosen;
    this.#directory = directory;
    this.#replace = replace;
    this.#parts = parts;
    this.#kept = kept;
    for (const change of listed) {
      const { path, kind } = change;
      // Also of one that is not chosen: its contents may be only at the old path, which then stays.
      if (change.renamedFrom) this.#renamed.set(change.renamedFrom, path);
      if (!isChosen(path)) continue;
      if (replacesDirectory(change)) this.#replacing.add(path);
      const refusal = refusals.get(path);
      if (refusal !== undefined) this.#pulled.skipped.push({ path, ...refusal });
      // Of names that are not UTF-8, several have this one.
      else if (path.includes('\ufffd')) this.#fail(path, new Error('its name is not UTF-8'));
      else if (kind === 'deleted') this.#removed.set(path, change);
      else {
        this.#written.set(path, change);
        this.#folded.set(folded(path), path);
      }
    }
  }

  get hasContents(): boolean {
    return this.#written.size > 0;
  }

  /** Leaves files out that do not fit, and returns them. */
  limit(maxBytes: number): FileChange[] {
    const room = new Room(maxBytes);
    const files = [...this.#written.values()].filter(({ type }) => type === 'file');
    return files.filter(({ path, size }) => {
      const refusal = room.take(size);
      if (refusal) this.#skip(path, refusal);
      return refusal !== undefined;
    });
  }

  /** `room`: files may have grown since they were listed. */
  async write(members: AsyncIterable<Member>, room: Room): Promise<void> {
    for await (const member of members) {
      const { path } = member;
      const change = this.#written.get(path);
      if (change === undefined || this.#done.has(path)) continue;
      if (this.#kept.has(path)) {
        this.#end(path, 'conflicts');
        continue;
      }
      const refusal = room.take(member.size);
      if (refusal) {
        this.#skip(path, refusal);
        continue;
      }
      const clear = () => this.remove(`${path}/`);
      const wanted = await this.#wanted(change);
      const taken = await this.#part(member);
      await this.#ended(path, (place) => applyMember(place, taken, this.#choiceOf(change, wanted), clear));
    }
    for (const path of this.#written.keys()) if (!this.#done.has(path)) this.#skip(path, { reason: MEANWHILE });
  }

  /** What would be done, without doing it: as `write` and `remove`. */
  async decide(): Promise<Pulled> {
    this.#isDry = true;
    for (const [path, change] of this.#written) {
      if (this.#done.has(path)) continue;
      const wanted = await this.#wanted(change);
      if (wanted?.type === 'other') this.#skip(path, { reason: MEANWHILE });
      else await this.#ended(path, (place) => this.#decided(place, change, wanted));
    }
    await this.remove();
    return this.result();
  }

  async #decided(place: Place, change: FileChange, wanted: Found): Promise<Outcome> {
    return decided(place, this.#choiceOf(change, wanted), async () => {
      if (wanted !== undefined) await this.remove(`${change.path}/`);
      const names = await place.names();
      return names.every(
        (name) => this.#removed.has(`${place.path}/${name}`) && this.#isApplied(`${place.path}/${name}`),
      );
    });
  }

  #isApplied(path: string): boolean {
    return this.#done.get(path) === 'applied';
  }

  /** The sandbox's version; of a file of which hunks are chosen, what they make of the codebase's. */
  async #wanted(change: FileChange): Promise<Found> {
    const part = this.#parts.get(change.path);
    if (part === undefined) return presentOf(change);
    const version = await versionOf(once(await part.content()));
    return { type: 'file', version, executable: (part.mode & 0o100) !== 0 };
  }

  #choiceOf(change: FileChange, wanted: Found): Choice {
    return { base: baseOf(change), wanted, replace: this.#replace };
  }

  /** The member, or what is taken of it. */
  async #part(member: Member): Promise<Member> {
    const part = this.#parts.get(member.path);
    if (part === undefined) return member;
    const content = await part.content();
    return { ...member, mode: part.mode, size: content.length, content: once(content) };
  }

  /**
   * After the contents, so that nothing is lost if they do not arrive; from the bottom up. `below`: what goes with the
   * directory that is replaced there. Without it such files stay: their replacement did not come.
   */
  async remove(below = ''): Promise<void> {
    for (const [path, change] of [...this.#removed].reverse()) {
      if (!path.startsWith(below) || this.#done.has(path)) continue;
      if ((below === '' && this.#staysBelow(path)) || (await this.#isNeeded(path))) this.#end(path, 'conflicts');
      else if (this.#isDry) await this.#ended(path, (place) => this.#decided(place, change, undefined));
      else await this.#ended(path, (place) => applyRemoval(place, this.#choiceOf(change, undefined)));
    }
  }

  #staysBelow(path: string): boolean {
    return path.split('/').some((_, at, names) => this.#replacing.has(names.slice(0, at).join('/')));
  }

  /** Whether the contents are only here: their new path was not written; or has the same file, in another case. */
  async #isNeeded(path: string): Promise<boolean> {
    const renamed = this.#renamed.get(path);
    if (renamed !== undefined && !['applied', 'same'].includes(this.#done.get(renamed) ?? '')) return true;
    const other = this.#folded.get(folded(path));
    if (other === undefined) return false;
    const [identity, otherIdentity] = [await this.#identityOf(path), await this.#identityOf(other)];
    return identity !== undefined && identity === otherIdentity;
  }

  #identityOf(path: string): Promise<string | undefined> {
    return Place.use(this.#directory, path, { use: (place) => place.identity(), otherwise: undefined });
  }

  async #ended(path: string, apply: (place: Place) => Promise<Outcome>): Promise<void> {
    try {
      const otherwise = this.#isDry && this.#becomesDirectory(path) ? 'applied' : 'conflicts';
      this.#end(path, await Place.use(this.#directory, path, { use: apply, otherwise }));
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return this.#skip(path, { reason: MEANWHILE });
      // Only errors of the local file system name a system call.
      const { code = '', syscall } = error as { code?: string; syscall?: string };
      if (syscall === undefined) throw error;
      // A directory here that has files of its own.
      if (['ENOTEMPTY', 'EEXIST', 'EISDIR'].includes(code)) this.#end(path, 'conflicts');
      else this.#fail(path, error as Error);
    }
  }

  /** Whether what is above and no directory here would be one. */
  #becomesDirectory(path: string): boolean {
    const above = path.split('/').map((_, at, names) => names.slice(0, at).join('/'));
    return above.some((each) => this.#written.get(each)?.type === 'directory' && this.#isApplied(each));
  }

  #fail(path: string, error: Error): void {
    this.#done.set(path, 'conflicts');
    this.#pulled.failed.push({ path, error: shown(error) });
  }

  #end(path: string, outcome: Outcome): void {
    this.#done.set(path, outcome);
    this.#pulled[outcome].push(path);
  }

  #skip(path: string, refusal: Refusal): void {
    this.#done.set(path, 'conflicts');
    this.#pulled.skipped.push({ path, ...refusal });
  }

  result(): Pulled {
    const { applied, same, conflicts, skipped, failed } = this.#pulled;
    for (const list of [applied, same, conflicts]) list.sort();
    for (const list of [skipped, failed]) list.sort((a, b) => (a.path < b.path ? -1 : 1));
    return this.#pulled;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}

/** Where upper and lower case are one. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase();
