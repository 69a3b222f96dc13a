import { type ByteString, joinPath } from '../../byte-string.ts';
import { differences } from '../directory/differences.ts';
import { childOf } from '../directory/find-entry.ts';
import { type DirectoryEntry, isDirectory } from '../format/entry.ts';
import { NO_KEY } from '../format/keys.ts';
import { Blocked } from './blocked.ts';
import { Changes, type ChangesOfThree } from './changed-directory.ts';
import type { CommitOptions } from './commit-options.ts';
import type { Comparison } from './comparison.ts';
import { Removals } from './removals.ts';
import { run, type Steps } from './steps.ts';
import { TakenDirectories } from './taken-directories.ts';
import { Taking } from './taking.ts';
import type { Three } from './three.ts';

/** A walk over the changes of a sandbox, base and head beside them. Paths that are not chosen stay as they are in all three. */
export class CommitWalk {
  readonly conflicts: ByteString[] = [];
  readonly #options: CommitOptions;
  readonly #comparison: Comparison;
  readonly #taking: Taking;
  readonly #taken: TakenDirectories;

  constructor(options: CommitOptions) {
    this.#options = options;
    this.#comparison = options.comparison;
    this.#taking = new Taking(options);
    this.#taken = new TakenDirectories(options, this.#taking);
  }

  at(path: ByteString, three: Three): Three {
    return run(this.#at(path, three));
  }

  *#at(path: ByteString, three: Three): Steps<Three> {
    const { b, m, h } = three;
    const { choice } = this.#options;
    if (!choice.has(path) && !choice.below(path)) return three;
    if (this.#comparison.same(b, m)) return three;
    if (isDirectory(m)) {
      if (h !== undefined && !isDirectory(h)) return this.#overFile(path, three, m);
      return yield* this.#directory(path, three, m, h);
    }
    if (isDirectory(b)) return yield* this.#removed(path, three, b);
    return this.#leaf(path, three);
  }

  /** The changes of what base or the sandbox has below a path. */
  *#children(path: ByteString, { b, m, h }: Three): Generator<Steps<Three>, ChangesOfThree, Three> {
    const { source } = this.#comparison;
    const changes = { b: new Changes(), m: new Changes(), h: new Changes() };
    const [was, is] = [b, m].map((entry) => (isDirectory(entry) ? entry.key : NO_KEY));
    for (const { name, a, b: mine } of differences(source, was!, is!)) {
      const three = { b: a, m: mine, h: childOf(source, h, name) };
      const result = yield this.#at(joinPath(path, name), three);
      for (const side of ['b', 'm', 'h'] as const) changes[side].set(name, three[side], result[side]);
    }
    return changes;
  }

  #leaf(path: ByteString, three: Three): Three {
    const { b, m, h } = three;
    if (!this.#taking.chosen(path, m)) return three;
    if (this.#comparison.same(b, h)) return this.#taking.take(path, three);
    if (this.#comparison.same(m, h)) return { b: h, m, h };
    return this.#conflict(path, three, () => {
      if (isDirectory(h) && this.#taking.unchosen(path, h) !== undefined) throw new Blocked(path);
      return this.#taking.take(path, three);
    });
  }

  #conflict(path: ByteString, three: Three, ours: () => Three): Three {
    this.conflicts.push(path);
    if (this.#options.onConflict === 'ours') return ours();
    return this.#options.onConflict === 'theirs' ? { b: three.h, m: three.h, h: three.h } : three;
  }

  /** The sandbox has a directory; head has one, or nothing. */
  *#directory(path: ByteString, three: Three, m: DirectoryEntry, h: DirectoryEntry | undefined): Steps<Three> {
    const { b } = three;
    const { alike } = this.#comparison;
    let takes = this.#taking.chosen(path, m) && !alike(b, m);
    let drops = false;
    if (takes && isDirectory(b) && !alike(b, h) && !alike(m, h)) {
      this.conflicts.push(path);
      if (this.#options.onConflict === 'theirs') {
        if (h === undefined) return { b: h, m: h, h };
        takes = false;
        drops = true;
      }
    }
    const changes = yield* this.#children(path, three);
    return this.#taken.merged(path, { b, m, h }, changes, { takes, drops });
  }

  /** The sandbox has removed or replaced a directory. */
  *#removed(path: ByteString, three: Three, b: DirectoryEntry): Steps<Three> {
    const { m, h } = three;
    const { source, same } = this.#comparison;
    const here = this.#taking.chosen(path, m);
    if (here && !same(b, h)) return this.#conflict(path, three, () => this.#removeAll(path, three, b));
    if (!isDirectory(h)) return three;
    const conflicts = this.conflicts.length;
    const changes = yield* this.#children(path, { b, m: undefined, h });
    // The removal itself is not chosen: nothing in it can become head's again.
    if (this.#options.onConflict === 'theirs' && this.conflicts.length > conflicts) throw new Blocked(path);
    if (here && changes.h.sizeOf(h) === 0) return this.#taking.take(path, three);
    if (here && m !== undefined) throw new Blocked(path);
    const now = this.#taken.inHead(changes.h, h);
    return { b: changes.b.apply(source, this.#options.own, b, [now]), m, h: now };
  }

  /** Although head has changed something in the directory. */
  #removeAll(path: ByteString, three: Three, b: DirectoryEntry): Three {
    const { m, h } = three;
    const left = h && this.#taking.unchosen(path, h);
    if (left === undefined) return this.#taking.take(path, three);
    if (m !== undefined) throw new Blocked(path);
    const removals = new Removals(this.#comparison, this.#options.own);
    return { b: isDirectory(left) ? removals.agreed(b, left) : b, m, h: left };
  }

  /** The sandbox has a directory where head has a file. */
  #overFile(path: ByteString, three: Three, m: DirectoryEntry): Three {
    if (!this.#taking.any(path, three.b, m)) return three;
    if (!this.#taking.chosen(path, m)) throw new Blocked(path);
    const all = () => this.#taken.all(path, isDirectory(three.b) ? three.b : undefined, m);
    return this.#comparison.same(three.b, three.h) ? all() : this.#conflict(path, three, all);
  }
}
