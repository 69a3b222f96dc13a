import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { differences } from '../directory/differences.ts';
import { childOf } from '../directory/find-entry.ts';
import type { Sink, Source } from '../directory/source.ts';
import { type Entry, identical, isDirectory } from '../format/entry.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import { Changes, emptied } from './changed-directory.ts';
import type { Choice } from './choice.ts';
import type { Trees } from './commit-options.ts';
import { type OwnNumbers, withOwnNumbers } from './own-numbers.ts';
import { run, type Steps } from './steps.ts';
import type { Three, Two } from './three.ts';

/**
 * The chosen paths become head's again, in base as in the sandbox. A path below a file of the sandbox stays: to discard it
 * means to discard the file. `follow` comes after it.
 */
export function discard(options: OwnNumbers, choice: Choice, { base, mine, head }: Trees): Two {
  const walk = new Discard(options.comparison.source, options.sink, choice);
  const { b, m } = run(walk.at(ROOT_PATH, base, mine, head));
  return { b, m: withOwnNumbers(options, head, mine, m) };
}

class Discard {
  readonly #source: Source;
  readonly #sink: Sink;
  readonly #choice: Choice;

  constructor(source: Source, sink: Sink, choice: Choice) {
    this.#source = source;
    this.#sink = sink;
    this.#choice = choice;
  }

  *at(path: ByteString, b: Entry | undefined, m: Entry | undefined, h: Entry | undefined): Steps<Two> {
    const here = this.#choice.has(path);
    if (this.#choice.all(path) || (here && !isDirectory(m))) return { b: h, m: h };
    if (!here && !this.#choice.below(path)) return { b, m };
    if (identical(b, m) && identical(b, h)) return { b, m };
    if (m === undefined ? !isDirectory(h) : !isDirectory(m)) return { b, m };
    const [base, mine] = [new Changes(), new Changes()];
    for (const name of this.#names(b, m, h)) {
      const [was, own, theirs] = [b, m, h].map((entry) => childOf(this.#source, entry, name));
      const result = yield this.at(joinPath(path, name), was, own, theirs);
      base.set(name, was, result.b);
      mine.set(name, own, result.m);
    }
    return this.#together({ b, m, h }, base, mine, here);
  }

  /** `here`: the directory is chosen, but not all that is in it. */
  #together({ b, m, h }: Three, base: Changes, mine: Changes, here: boolean): Two {
    if (here && !isDirectory(h) && mine.sizeOf(m) === 0) return { b: h, m: h };
    const mode = here && isDirectory(h) ? { mode: h.mode } : {};
    const was = isDirectory(b) ? b : base.sizeOf(undefined) > 0 && isDirectory(h) ? emptied(h) : undefined;
    const now = was ? base.apply(this.#source, this.#sink, { ...was, ...mode }, [h]) : b;
    if (m === undefined && mine.sizeOf(undefined) === 0) return { b: now, m };
    const own = isDirectory(m) ? m : emptied(h!);
    return { b: now, m: mine.apply(this.#source, this.#sink, { ...own, ...mode }, [h]) };
  }

  #names(b: Entry | undefined, m: Entry | undefined, h: Entry | undefined): ByteString[] {
    const names = new Set<ByteString>();
    for (const entry of [b, m])
      for (const { name } of differences(this.#source, keyOf(entry), keyOf(h))) names.add(name);
    return [...names].sort();
  }
}

function keyOf(entry: Entry | undefined): Key {
  return isDirectory(entry) ? entry.key : NO_KEY;
}
