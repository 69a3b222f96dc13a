import type { ChosenHunks, FileChange, Sandbox } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { ask } from './ask.ts';
import { counted } from './changes.ts';
import { chooseHunks } from './choose-hunks.ts';
import { contentsOf } from './contents.ts';
import { canOpen, hasContents, type Item, itemLine, itemsIn, itemsOf, mayHaveHunks } from './items.ts';
import { page } from './pager.ts';

/** Which changes are taken: all, none, or those at some paths and some hunks of others. */
export type Taken = 'all' | 'none' | { paths: ReadonlySet<string>; hunks: readonly ChosenHunks[] };

type Asking = Pick<Context, 'out' | 'signal' | 'env'>;

/** Items whose contents are shown at once; more are only listed. */
const MOST_SHOWN = 30;
const MOST_LISTED = 1000;
/** Bytes of files whose contents are shown. */
const MOST_BYTES = 4 * 1024 * 1024;

const KEYS = `
y: take it
n: leave it out
h: choose among the hunks of the file
o: open the directory, and choose among what is in it
b: back to the one before
a: take it and all of the rest
q: no to it and to all that follow
/TEXT: go to the next path with this text
`;

const isSmall = (changes: readonly FileChange[]): boolean =>
  changes.reduce((sum, { size, baseSize }) => sum + size + baseSize, 0) <= MOST_BYTES;

/** Lists the changes, modified files first, and shows the contents of a few. */
export async function show(sandbox: Sandbox, changes: readonly FileChange[], asking: Asking): Promise<void> {
  const { out } = asking;
  const paint = out.paintError;
  const items = itemsOf(changes);
  const lines = items.slice(0, MOST_LISTED).map((item) => `${itemLine(item, paint)}\n`);
  if (items.length > MOST_LISTED) lines.push(paint.dim(`… ${items.length - MOST_LISTED} more\n`));
  const files = items.filter(hasContents);
  const small = files.length <= MOST_SHOWN && isSmall(files.map(({ change }) => change)) ? files : [];
  for (const { change } of small) lines.push(`\n${await contentsOf(sandbox, change, asking)}`);
  await page(lines.join(''), asking);
}

/** Asks on the terminal, after `show`. */
export async function choose(sandbox: Sandbox, changes: readonly FileChange[], asking: Asking): Promise<Taken> {
  const { out, signal } = asking;
  const what = `Take ${changes.length === 1 ? 'this change' : `these ${changes.length} changes`}?`;
  for (;;) {
    const question = `\n${out.paintError.bold(what)} [a]ll, [e]ach, [l]ist again, [n]one: `;
    const answer = await ask(question, ['all', 'each', 'list', 'none'], signal);
    if (answer === 'list') await show(sandbox, changes, asking);
    else if (answer === 'each') return new Review(sandbox, changes, asking).run();
    else return answer as 'all' | 'none';
  }
}

/** Questions for one item after the other. */
class Review {
  readonly #sandbox: Sandbox;
  readonly #asking: Asking;
  readonly #items: Item[];
  readonly #decided = new Map<Item, boolean | ChosenHunks>();
  /** Directories whose contents are asked for by themselves. */
  readonly #opened: Item[] = [];

  constructor(sandbox: Sandbox, changes: readonly FileChange[], asking: Asking) {
    this.#sandbox = sandbox;
    this.#asking = asking;
    this.#items = itemsOf(changes);
  }

  async run(): Promise<Taken> {
    for (let at = 0; at < this.#items.length; ) {
      const item = this.#items[at]!;
      await this.#show(item);
      const answer = await this.#ask(item, at);
      if (answer === 'quit') {
        for (const each of this.#items.slice(at)) this.#decided.delete(each);
        break;
      }
      if (answer === 'all') {
        for (const each of this.#items.slice(at)) this.#decided.set(each, true);
        break;
      }
      at = await this.#act(item, at, answer);
    }
    return this.#taken();
  }

  #ask(item: Item, at: number): Promise<string> {
    const { out, signal } = this.#asking;
    const more = mayHaveHunks(item) ? ['hunks'] : canOpen(item) ? ['open'] : [];
    const choices = ['yes', 'no', ...more, 'back', 'all', '?', 'quit'];
    const keys = `${choices.map(([letter]) => letter).join(',')},/`;
    const place = `(${at + 1}/${this.#items.length})`;
    return ask(`${place} ${itemLine(item, out.paintError)}: [${keys}]: `, choices, signal, { free: '/' });
  }

  /** Returns the index of the next question. */
  async #act(item: Item, at: number, answer: string): Promise<number> {
    const { out, signal } = this.#asking;
    if (answer === '?') out.errorBytes(KEYS);
    else if (answer === 'back') return Math.max(0, at - 1);
    else if (answer.startsWith('/')) return this.#found(answer.slice(1), at);
    else if (answer === 'open') {
      this.#decided.delete(item);
      this.#opened.push(item);
      this.#items.splice(at, 1, ...itemsIn(item));
    } else if (answer === 'hunks') {
      const [change] = await this.#sandbox.changes({ paths: [item.change.path], diff: true, signal });
      if (!change?.diff || change.diff.hunks.length === 0)
        out.note(`it has no hunks: ${change?.diff?.noHunks ?? 'it is no change'}`);
      else {
        const hunks = await chooseHunks(change, out, signal);
        if (hunks === undefined) return at;
        this.#decided.set(item, hunks === 'all' ? true : hunks === 'none' ? false : hunks);
        return at + 1;
      }
    } else {
      this.#decided.set(item, answer === 'yes');
      return at + 1;
    }
    return at;
  }

  #found(text: string, at: number): number {
    const { length } = this.#items;
    for (let step = 1; step <= length; step++) {
      const index = (at + step) % length;
      if (this.#items[index]!.changes.some(({ path }) => path.includes(text))) return index;
    }
    this.#asking.out.note('no path has this text');
    return at;
  }

  async #show(item: Item): Promise<void> {
    const { kind, change } = item;
    if (!(hasContents(item) || kind === 'other' || kind === 'deleted') || !isSmall([change])) return;
    await page(`\n${await contentsOf(this.#sandbox, change, this.#asking)}`, this.#asking);
  }

  #taken(): Taken {
    const paths = new Set<string>();
    const hunks: ChosenHunks[] = [];
    for (const [{ change, changes }, decision] of this.#decided) {
      if (decision === false) continue;
      if (decision !== true) hunks.push(decision);
      // With hunks of a renamed file comes the removal at its old path.
      for (const each of changes) if (decision === true || each !== change) paths.add(each.path);
    }
    // A directory is taken if everything in it is; those opened last are inside of others.
    for (const { change, changes } of this.#opened.reverse())
      if (changes.every((each) => each === change || paths.has(each.path))) paths.add(change.path);
    const parts = hunks.length === 0 ? '' : `, and hunks of ${counted(hunks.length, 'file')}`;
    this.#asking.out.note(`${counted(paths.size, 'path')} chosen${parts}`);
    return { paths, hunks };
  }
}
