import type { FileChange } from '../contract/messages.ts';
import type { Part } from './hunks.ts';
import { byBytes } from './order.ts';
import { codeOf } from './owner.ts';
import { Place } from './place.ts';
import { above, isDone, type Outcome, once, Plan, type Step, type Wanted } from './plan.ts';
import type { Refusal } from './refusal.ts';
import { halfOf, type Renames } from './renames.ts';
import { Room } from './room.ts';
import { sweep } from './temporary.ts';
import { Together } from './together.ts';
import { shown, Tree } from './tree.ts';
import { turns } from './turns.ts';
import type { Member } from './untar.ts';

export interface Pulled {
  /** Paths that were written or removed here. */
  applied: string[];
  /** Paths that have the sandbox's version already. */
  unchanged: string[];
  /**
   * Paths that were edited here, too, or cannot be written without following a symlink; and what would come only together
   * with one that does not come, like the other path of a rename. They are as they were.
   */
  conflicts: string[];
  /**
   * What is not brought here: in a repository like `.git`, what would make a directory one, symlinks that lead out of the
   * directory; what would lose values that the sandbox saw as placeholders; what `maxBytes` has no room for; one path of a
   * renamed file; or what changed meanwhile. With `allow`: the path to be allowed for it.
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
  renames: Renames;
  replace: boolean;
}

const MEANWHILE: Refusal = { reason: 'the sandbox changed it meanwhile: pull again', again: true };
const OTHER: Refusal = { reason: 'it is neither a file, a directory nor a symlink' };
/** What is here is not what was looked at: others work here, too. */
const MOVED = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY', 'EEXIST', 'EISDIR'];

/** The changes, and what has become of each of them: `decide`, then `write` and `remove`. */
export class Changes {
  readonly #tree: Tree;
  readonly #chosen = new Map<string, FileChange>();
  readonly #renames: Renames;
  readonly #written = new Map<string, FileChange>();
  readonly #removed = new Map<string, FileChange>();
  readonly #wanted: Wanted;
  readonly #steps = new Map<string, Step>();
  /** Paths whose step was taken. */
  readonly #taken = new Set<string>();
  readonly #skipped: Pulled['skipped'] = [];
  readonly #failed: Pulled['failed'] = [];
  readonly #turn: ReturnType<typeof turns>;

  constructor(directory: string, listed: readonly FileChange[], chosen: Chosen, signal?: AbortSignal) {
    const { refusals, isChosen, parts, renames, replace } = chosen;
    this.#tree = new Tree(directory);
    this.#renames = renames;
    this.#turn = turns(signal);
    const replacing = new Set<string>();
    for (const change of listed) {
      const { path, kind, type, baseType } = change;
      if (!isChosen(path)) continue;
      this.#chosen.set(path, change);
      const isRemoved = kind === 'deleted';
      if (!isRemoved && type !== 'directory' && baseType === 'directory') replacing.add(path);
      const refusal = refusals.get(path) ?? (type === 'other' && !isRemoved ? OTHER : undefined);
      if (refusal !== undefined) this.#skipped.push({ path, ...refusal });
      // Of names that are not UTF-8, several have this one.
      else if (path.includes('\ufffd')) this.#failed.push({ path, error: new Error('its name is not UTF-8') });
      else (isRemoved ? this.#removed : this.#written).set(path, change);
    }
    this.#wanted = { written: this.#written, removed: this.#removed, replacing, parts, replace };
  }

  /** Leaves files out that do not fit, and returns them. */
  limit(maxBytes: number): FileChange[] {
    const room = new Room(maxBytes);
    const files = [...this.#written.values()].filter(({ type }) => type === 'file');
    return files.filter(({ path, size }) => {
      const refusal = room.take(size);
      if (refusal) this.#skipped.push({ path, ...refusal });
      return refusal !== undefined && this.#written.delete(path);
    });
  }

  /** What is to become of each, by what is here now. */
  async decide(): Promise<Pulled> {
    const plan = new Plan(this.#tree, this.#wanted, this.#steps);
    const written = [...this.#written];
    const isLast = ([path]: [string, FileChange]) => this.#wanted.replacing.has(path);
    for (const [path, change] of [...written.filter((each) => !isLast(each)), ...written.filter(isLast)])
      await this.#tried(path, () => plan.write(path, change), change);
    const removed = [...this.#removed].reverse();
    for (const [path, change] of removed) await this.#tried(path, () => plan.remove(path, change), change);
    this.#hold();
    // What is only here keeps its directory, and does not hinder a rename of the others.
    for (const [path, change] of removed) {
      const step = this.#steps.get(path)!;
      if (step.outcome !== 'applied' || step.look.found?.type !== 'directory') continue;
      await this.#tried(path, async () => ((await plan.empties(path)) ? 'applied' : 'conflicts'), change);
    }
    return this.result();
  }

  /** Nothing comes without what it comes together with. */
  #hold(): void {
    const left = [...this.#chosen.keys()].filter((path) => !isDone(this.#steps.get(path)));
    const isSkipped = new Set(this.#skipped.map(({ path }) => path));
    const isHere = (path: string) => this.#steps.get(path)?.outcome === 'unchanged';
    for (const path of new Together(this.#chosen, this.#renames).without(left, isHere)) {
      const step = this.#steps.get(path);
      if (step?.outcome !== 'applied') continue;
      const old = this.#renames.leaderOf(path);
      // What is left out is no conflict.
      if (old !== undefined && isSkipped.has(old)) this.#skip(path, halfOf(old));
      else step.outcome = 'conflicts';
    }
  }

  /** Removes what killed clients have left beside the changes. */
  sweep(): void {
    const paths = [...this.#written.keys(), ...this.#removed.keys()];
    for (const above of new Set(paths.map((path) => path.split('/').slice(0, -1).join('/'))))
      sweep(this.#tree, above === '' ? [] : above.split('/'));
    // What is written from now on goes to what is here then.
    this.#tree.close();
  }

  /**
   * Paths whose contents are needed: those that take the place of directories only after all others are here, because what
   * is below them may be renamed to others.
   */
  needed({ last }: { last: boolean }): string[] {
    const all = [...this.#steps].filter(([, { wanted, outcome }]) => wanted !== undefined && outcome === 'applied');
    return all.map(([path]) => path).filter((path) => this.#wanted.replacing.has(path) === last);
  }

  /** Writes those of the paths that come. `room`: files may have grown since they were listed. */
  async write(paths: readonly string[], members: AsyncIterable<Member>, room: Room): Promise<void> {
    const missing = new Set(paths);
    for await (const member of members) {
      const { path } = member;
      if (!missing.delete(path)) continue;
      const refusal = room.take(member.size);
      if (refusal) this.#skip(path, refusal);
      else await this.#tried(path, () => this.#put(member));
    }
    for (const path of missing) this.#skip(path, MEANWHILE);
  }

  /** Brings a member of the archive to its place, if what is here was not edited since. */
  async #put(member: Member): Promise<Outcome> {
    const { path, type } = member;
    const step = this.#steps.get(path)!;
    const { wanted, look } = step;
    if (!(await this.#mayLeave(path))) return 'conflicts';
    const outcome = await Place.use(this.#tree, path, async (place): Promise<Outcome> => {
      // No directories are made for what is a conflict.
      if (!place.isStill(look)) return 'conflicts';
      const isStill = async () => {
        if (look.found?.type === 'directory') await this.remove(`${path}/`);
        return place.isStill(look);
      };
      if (wanted?.type === 'file' && type === 'file') {
        let isListed = true;
        const part = await this.#wanted.parts.get(path)?.content();
        const isPut = await place.write(part ? once(part) : member.content, wanted, async (version) => {
          isListed = version === wanted.version;
          return isListed && isStill();
        });
        return isPut ? 'applied' : isListed ? 'conflicts' : 'skipped';
      }
      if (wanted?.type !== type || (wanted.type === 'symlink' && wanted.target !== member.target)) return 'skipped';
      if (!(await isStill())) return 'conflicts';
      if (wanted.type === 'symlink') place.link(wanted.target);
      else place.makeDirectory();
      return 'applied';
    });
    return outcome ?? 'conflicts';
  }

  /**
   * After the contents, so that nothing is lost if they do not arrive; from the bottom up. `below`: what goes with the
   * directory that is replaced there.
   */
  async remove(below = ''): Promise<void> {
    for (const path of [...this.#removed.keys()].reverse()) {
      if (!path.startsWith(below) || this.#taken.has(path) || this.#steps.get(path)!.outcome !== 'applied') continue;
      await this.#tried(path, () => this.#remove(path, below));
    }
  }

  async #remove(path: string, below: string): Promise<Outcome> {
    const names = this.#renames.newNamesOf(path);
    // Without the directory's replacement what is in it stays, as does what did not come to its new path.
    const stays = below === '' && above(path).some((each) => this.#wanted.replacing.has(each));
    // The replacement has arrived, and waits for what is removed here.
    const hasCome = (name: string) => `${name}/` === below || this.#isTaken(name);
    if (stays || (names.length > 0 && !names.some(hasCome))) return 'conflicts';
    const { look } = this.#steps.get(path)!;
    const isRemoved = await Place.use(this.#tree, path, (place) => {
      const isStill = place.isStill(look);
      if (isStill) place.remove();
      return isStill;
    });
    return isRemoved ? 'applied' : 'conflicts';
  }

  /** Whether what has this new path, if it is one, still leaves its old one: that was not edited here meanwhile. */
  async #mayLeave(path: string): Promise<boolean> {
    const old = this.#renames.leaderOf(path);
    const step = old === undefined ? undefined : this.#steps.get(old);
    // A directory has no contents but what is in it.
    if (step === undefined || step.change.type === 'directory' || this.#isTaken(old!)) return true;
    if (step.outcome !== 'applied') return false;
    return (await Place.use(this.#tree, old!, (place) => place.isStill(step.look))) ?? false;
  }

  #isTaken(path: string): boolean {
    const step = this.#steps.get(path);
    return step?.outcome === 'unchanged' || (isDone(step) && this.#taken.has(path));
  }

  /** `change`: while it is decided. */
  async #tried(path: string, act: () => Promise<Outcome>, change?: FileChange): Promise<void> {
    await this.#turn();
    try {
      const outcome = await act();
      if (outcome === 'skipped') return this.#skip(path, MEANWHILE);
      this.#steps.get(path)!.outcome = outcome;
      if (!change) this.#taken.add(path);
    } catch (error) {
      // Only errors of the local file system name a system call.
      if ((error as { syscall?: string }).syscall === undefined) throw error;
      const outcome = MOVED.includes(codeOf(error)) ? 'conflicts' : 'failed';
      const failed = { wanted: undefined, look: { found: undefined, mark: '' }, outcome } as const;
      this.#steps.set(path, { ...failed, change: change ?? this.#steps.get(path)!.change });
      if (outcome === 'failed') this.#failed.push({ path, error: shown(error as Error) });
      this.#tree.close();
    }
  }

  #skip(path: string, refusal: Refusal): void {
    this.#steps.get(path)!.outcome = 'skipped';
    this.#skipped.push({ path, ...refusal });
  }

  result(): Pulled {
    const of = (outcome: Outcome) => {
      const steps = [...this.#steps].filter(([, step]) => step.outcome === outcome);
      return steps.map(([path]) => path).sort(byBytes);
    };
    const [skipped, failed] = [this.#skipped.sort(byPath), this.#failed.sort(byPath)];
    return { applied: of('applied'), unchanged: of('unchanged'), conflicts: of('conflicts'), skipped, failed };
  }

  close(): void {
    this.#tree.close();
  }
}

const byPath = (a: { path: string }, b: { path: string }): number => byBytes(a.path, b.path);
