import type { DirectoryEntry } from '../../../../../lib/trees/format/entry.ts';
import type { OwnFile } from '../../../../../lib/workspaces/tree/items.ts';
import { Stopped } from '../../../disk/simulated-disk.ts';
import type { Random } from '../../../trees/random.ts';
import { type SteppedSync, settled } from '../disk/stepped-sync.ts';
import { type Files, Life, type LifeIn } from './life.ts';

const NAMES = ['a', 'b', 'c', 'd'];

/** What others have: a checkpoint, or a reader of a frozen tree. */
interface Kept {
  readonly root: DirectoryEntry;
  readonly files: Files;
  isDurable: boolean;
}

/** Plays one server at random, with flat maps as its oracle: all states that it had, one after the other. */
export class Play {
  readonly states: Files[];
  /** The last state that was answered, and that a loss of power must leave. */
  answered: number;
  durable = 0;
  readonly checkpoints: Kept[];
  readonly #life: Life;
  readonly #random: Random;
  readonly #thread: SteppedSync;
  readonly #sizes: readonly number[];
  #read: (Kept & { end: () => void }) | undefined;
  readonly #open: { own: OwnFile; contents: Buffer }[] = [];
  #next: Files | undefined;

  /** `before`: what the servers before left. Throws if anything else is found. */
  constructor(
    where: LifeIn,
    thread: SteppedSync,
    sizes: readonly number[],
    before?: Pick<Play, 'states' | 'durable' | 'checkpoints'>,
  ) {
    this.#random = where.random;
    this.#thread = thread;
    this.#sizes = sizes;
    this.#life = new Life(where);
    const found = this.#life.files();
    const states = before?.states ?? [new Map()];
    const durable = before?.durable ?? 0;
    this.answered = states.findLastIndex((each, index) => index >= durable && fits(each, found, states[durable]!));
    if (this.answered < 0) throw new Error(`a mix of states: ${shown(found)} after ${shown(states.at(-1)!)}`);
    // What was damaged, as only what was never durable may be, is so from now on.
    this.states = [...states.slice(0, this.answered), found];
    this.durable = durable;
    this.checkpoints = before?.checkpoints.filter(({ isDurable }) => isDurable) ?? [];
    this.check();
  }

  get state(): Files {
    return this.states.at(-1)!;
  }

  /** A random thing. Returns false at the end of the server. */
  async act(): Promise<boolean> {
    try {
      const choice = this.#random(24);
      if (choice < 14) this.#change();
      else if (choice === 14) this.#becomesDurable(this.#life.store.sync());
      else if (choice === 15) this.#fsync();
      else if (choice < 18) this.#freeze(choice === 17);
      else if (choice === 18) this.#endRead();
      else if (choice === 19) this.#closeOpen();
      else await this.#thread.advance();
      await settled();
      return true;
    } catch (error) {
      if (error instanceof Stopped) return false;
      throw error;
    }
  }

  check(): void {
    equal(this.#life.files(), this.state, 'the files');
    for (const { own, contents } of this.#open) equal(one(this.#life.read(own)), one(contents), 'an open file');
    for (const { root, files } of this.checkpoints) equal(this.#life.files(root), files, 'a checkpoint');
    if (this.#read !== undefined) equal(this.#life.files(this.#read.root), this.#read.files, 'what is read');
  }

  /** The state that a change that was cut off would have led to. */
  possible(): Files[] {
    return this.#next === undefined ? this.states : [...this.states, this.#next];
  }

  end(): void {
    this.#life.end();
  }

  #change(): void {
    const random = this.#random;
    const name = NAMES[random(NAMES.length)]!;
    const before = this.state.get(name);
    const next = new Map(this.state);
    let run = (): void => {};
    const choice = random(12);
    if (!this.state.has(name)) {
      next.set(name, Buffer.alloc(0));
      run = () => this.#life.create(name);
    } else if (choice === 0) {
      next.delete(name);
      const staysOpen = before !== undefined && random(2) === 0;
      run = () => {
        const own = this.#life.remove(name, staysOpen);
        if (own !== undefined) this.#open.push({ own, contents: before! });
      };
    } else if (choice === 1) {
      const other = NAMES[random(NAMES.length)]!;
      if (other === name) return;
      next.delete(name);
      next.set(other, before);
      run = () => this.#life.move(name, other);
    } else if (choice === 2 || before === undefined) {
      const text = this.#bytes(random(3000));
      next.set(name, text);
      run = () => this.#life.contents.makeText(this.#life.own(name), text);
    } else if (choice < 6) {
      const size = this.#size();
      const after = Buffer.alloc(size);
      before.copy(after);
      next.set(name, after);
      run = () => this.#life.contents.truncate(this.#life.own(name), size);
    } else {
      const at = random(3) === 0 ? before.length : random(2) ? this.#size() : 0;
      const data = this.#bytes(Math.min(this.#sizes.at(-1)! - at, 1 + random(random(2) ? 30 : 9000)));
      if (data.length === 0) return;
      const after = Buffer.alloc(Math.max(before.length, at + data.length));
      before.copy(after);
      data.copy(after, at);
      next.set(name, after);
      run = () => {
        if (this.#life.contents.write(this.#life.own(name), at, data) !== data.length) throw new Error('a short write');
      };
    }
    this.#next = next;
    run();
    this.#next = undefined;
    this.states.push(next);
    this.answered = this.states.length - 1;
  }

  #fsync(): void {
    const name = NAMES[this.#random(NAMES.length)]!;
    // Of all but the contents of other data files.
    if (this.state.get(name) !== undefined) this.#life.contents.sync(this.#life.own(name), false);
  }

  #freeze(shared: boolean): void {
    if (this.#life.store.isFreezing) return;
    const { root, durable } = this.#life.freeze(shared);
    const kept = { root, files: this.state, isDurable: false };
    if (shared) {
      this.checkpoints.push(kept);
      durable.then(
        () => {
          kept.isDurable = true;
        },
        () => {},
      );
    } else if (this.#read === undefined && this.#random(2)) {
      this.#read = { ...kept, end: this.#life.tree.epochs.pin() };
    }
    this.#becomesDurable(durable);
  }

  #endRead(): void {
    this.#read?.end();
    this.#read = undefined;
  }

  #closeOpen(): void {
    const last = this.#open.pop();
    if (last !== undefined) this.#life.close(last.own);
  }

  #becomesDurable(promise: PromiseLike<void>): void {
    const state = this.answered;
    promise.then(
      () => {
        this.durable = Math.max(this.durable, state);
      },
      () => {},
    );
  }

  #size(): number {
    return this.#sizes[this.#random(this.#sizes.length)]!;
  }

  #bytes(length: number): Buffer {
    const bytes = Buffer.alloc(Math.max(0, length), 1 + this.#random(255));
    if (length > 4) bytes.writeUInt32LE(this.#random(2 ** 32));
    return bytes;
  }
}

/** Damage may only be where the contents are not what was durable. */
function fits(state: Files, found: Files, durable: Files): boolean {
  if (state.size !== found.size) return false;
  for (const [name, contents] of state) {
    if (!found.has(name)) return false;
    const bytes = found.get(name);
    // What had lost a part may get it back, if the same is written to its place again.
    if (contents === undefined) continue;
    if (bytes === undefined ? isSame(contents, durable.get(name)) : !isSame(contents, bytes)) return false;
  }
  return true;
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.equals(b));
}

/** What is expected to be damaged may have become whole. */
function equal(found: Files, expected: Files, what: string): void {
  const differs = (name: string): boolean => {
    const bytes = expected.get(name);
    return found.has(name) !== expected.has(name) || (bytes !== undefined && !isSame(found.get(name), bytes));
  };
  if ([...found.keys(), ...expected.keys()].some(differs))
    throw new Error(`${what}: ${shown(found)} instead of ${shown(expected)}`);
}

function one(contents: Buffer | undefined): Files {
  return new Map([['open', contents]]);
}

function shown(files: Files): string {
  const parts = [...files].map(([name, bytes]) => `${name}=${bytes?.length}:${bytes?.toString('hex', 0, 6)}`);
  return `{${parts.join(' ')}}`;
}
