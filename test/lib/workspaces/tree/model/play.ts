import { fromLatin1, splitPath } from '../../../../../lib/byte-string.ts';
import { Errno } from '../../../../../lib/linux/errno.ts';
import { type Entry, type Time, TYPE } from '../../../../../lib/trees/format/entry.ts';
import { isLocal, NO_KEY } from '../../../../../lib/trees/format/keys.ts';
import { setAttributes, setData, setText } from '../../../../../lib/workspaces/tree/changes/contents.ts';
import { type HowToMove, move } from '../../../../../lib/workspaces/tree/changes/move.ts';
import { drop, link, put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../../lib/workspaces/tree/changes/thaw.ts';
import { type OwnDirectory, OwnFile } from '../../../../../lib/workspaces/tree/items.ts';
import { keyOfBytes } from '../../../trees/memory.ts';
import { directoryEntry, fileEntry, type Random, seeded } from '../../../trees/random.ts';
import { flatOf, type Seen, seen } from '../flat.ts';
import { Heads } from './heads.ts';
import { Oracle, parentOf } from './oracle.ts';
import { check, same, World } from './world.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const MODES = [0o644, 0o755, 0o700, 0o711];
const HOW: readonly HowToMove[] = ['replace', 'replace', 'noreplace', 'exchange'];

/** One random sequence of what a workspace and its codebase can do. Throws an error that says what broke. */
export function play(seed: number, steps: number, log: (line: string) => void = () => {}): void {
  const game = new Game(seeded(seed), log);
  for (let step = 1; step <= steps; step++) game.step(step);
}

class Game {
  readonly #random: Random;
  readonly #log: (line: string) => void;
  readonly #world: World;
  readonly #oracle: Oracle;
  readonly #heads: Heads;
  /** Files without a name that are open. */
  readonly #open: { file: OwnFile; inode: Seen }[] = [];
  #now = 0;

  constructor(random: Random, log: (line: string) => void) {
    this.#random = random;
    this.#log = log;
    this.#world = new World((world) => this.#firstHead(world));
    this.#oracle = new Oracle(flatOf(this.#world.live));
    this.#heads = new Heads(this.#world, this.#oracle, random, log, () => this.#edit());
  }

  step(now: number): void {
    this.#now = now;
    const op = this.#random(30);
    if (op < 24) this.#edit();
    else if (op < 26) this.#freeze();
    else this.#heads.step(op, now);
    same(flatOf(this.#world.live), this.#oracle.flat(), 'the tree differs');
    this.#world.compare();
  }

  #firstHead(world: World): Entry {
    let head: Entry = directoryEntry('', { ino: 1 });
    for (const path of ['a', 'b', 'a/a', 'a/b']) head = world.with(head, path, world.directory());
    for (const path of ['c', 'a/c', 'a/a/a', 'a/a/b', 'b/a', 'b/b'])
      head = world.with(head, path, fileEntry('', path, { ino: world.ino() }));
    return head;
  }

  #freeze(): void {
    this.#log('freeze');
    const frozen = this.#world.freeze(this.#random(2) === 0);
    for (const [item, entry] of frozen)
      if (item instanceof OwnFile) check(item.names.length > 0 && entry.ino === item.entry.ino, 'a frozen file');
  }

  #edit(): void {
    const path = this.#path();
    const parent = parentOf(path);
    if (path === '' || !this.#oracle.isDirectory(parent)) return;
    const op = this.#random(20);
    this.#log(`${this.#now} ${op} ${path}`);
    if (op < 6) this.#put(path);
    else if (op < 8) this.#drop(path);
    else if (op < 12) this.#move(path);
    else if (op < 14) this.#link(path);
    else if (op < 16) this.#attributes(path);
    else if (op < 19) this.#write(path);
    else this.#open.length > 0 ? this.#unlinkedFile(path) : this.#text(path);
  }

  #path(): string {
    const random = this.#random;
    // Rather one that exists: there are more paths than entries.
    if (random(3) > 0) {
      const { paths } = this.#oracle;
      return paths[random(paths.length)]!;
    }
    return Array.from({ length: 1 + random(3) }, () => NAMES[random(4)]!).join('/');
  }

  #time(): Time {
    return { s: this.#now, ns: 0 };
  }

  #dir(path: string): OwnDirectory {
    return this.#world.live.ownAt(splitPath(fromLatin1(path)));
  }

  #at(path: string): [OwnDirectory, ReturnType<typeof fromLatin1>] {
    return [this.#dir(parentOf(path)), fromLatin1(path.slice(path.lastIndexOf('/') + 1))];
  }

  /** Both do the same, or both have the same error. */
  #both<Answer>(change: () => Answer, expected: () => Errno | undefined): Answer | undefined {
    const random = this.#random;
    const fails = random(6) === 0 ? (random(2) ? { loads: random(5) } : { records: random(4) }) : {};
    let thrown: unknown;
    let answer: Answer | undefined;
    try {
      answer = this.#world.attempt(change, fails);
    } catch (error) {
      if (!(error instanceof Errno)) throw error;
      thrown = error;
    }
    const error = expected();
    check(thrown === error, `${(thrown as Errno)?.errno} instead of ${error?.errno}`);
    return answer;
  }

  #put(path: string): void {
    const { live } = this.#world;
    const time = this.#time();
    const times = { mtime: this.#now, ctime: this.#now, ino: this.#world.ino() };
    const kind = this.#random(5);
    const target = fromLatin1('../t');
    const entry =
      kind === 0
        ? directoryEntry('', times)
        : kind === 1
          ? fileEntry('', 'four', { ...times, type: TYPE.symlink, key: NO_KEY, target })
          : fileEntry('', '', times);
    this.#both(
      () => put(live, ...this.#at(path), entry, time),
      () => this.#oracle.put(path, { ...seen(entry) }, this.#now),
    );
  }

  #drop(path: string): void {
    const inode = this.#oracle.at(path);
    const lost = this.#both(
      () => drop(this.#world.live, ...this.#at(path), this.#time()),
      () => this.#oracle.drop(path, this.#now),
    );
    if (!(lost instanceof OwnFile) || lost.names.length > 0) return;
    if (this.#random(2)) return;
    this.#world.live.unlinked.keep(lost);
    this.#open.push({ file: lost, inode: inode! });
  }

  #move(path: string): void {
    const to = this.#path();
    if (to === '' || !this.#oracle.isDirectory(parentOf(to))) return;
    const how = HOW[this.#random(4)]!;
    this.#log(`  ${how} ${to}`);
    const name = (at: string) => {
      const [dir, name] = this.#at(at);
      return { dir, name };
    };
    this.#both(
      () => move(this.#world.live, name(path), name(to), how, this.#time()),
      () => this.#oracle.move(path, to, how, this.#now),
    );
  }

  #link(path: string): void {
    const to = this.#path();
    const inode = this.#oracle.at(path);
    if (to === '' || !this.#oracle.isDirectory(parentOf(to))) return;
    if (inode === undefined || this.#oracle.isDirectory(path)) return;
    this.#log(`  link ${to}`);
    this.#both(
      () => link(this.#world.live, thaw(this.#world.live, ...this.#at(path)), ...this.#at(to), this.#time()),
      () => this.#oracle.link(path, to, this.#now),
    );
  }

  #attributes(path: string): void {
    const inode = this.#oracle.at(path);
    if (inode === undefined) return;
    const mode = MODES[this.#random(4)]!;
    const { live } = this.#world;
    const times = { mtime: this.#random(9), mtimeNs: 0, ctime: this.#now, ctimeNs: 0 };
    const attributes = { mode, ...times, atime: undefined, owner: undefined };
    this.#both(
      () => {
        const item = this.#oracle.isDirectory(path) ? this.#dir(path) : thaw(live, ...this.#at(path));
        setAttributes(live, item, attributes);
      },
      () => {
        Object.assign(inode, { mode, mtime: times.mtime, ctime: this.#now });
        return undefined;
      },
    );
  }

  #write(path: string): void {
    const inode = this.#oracle.at(path);
    if (inode?.type !== TYPE.file) return;
    const size = this.#random(4) * 5;
    const key = size === 0 ? NO_KEY : this.#world.newKey();
    const { live } = this.#world;
    this.#both(
      () => setData(live, thaw(live, ...this.#at(path)), { key, size, holes: undefined }, this.#time()),
      () => {
        Object.assign(inode, { contents: key, size, mtime: this.#now, ctime: this.#now });
        return undefined;
      },
    );
    if (size > 0) check(live.epochs.mayChange(key), 'contents that were made just now belong to the sandbox alone');
  }

  #text(path: string): void {
    const inode = this.#oracle.at(path);
    if (inode?.type !== TYPE.file) return;
    const agentText = this.#random(2) === 0;
    this.#both(
      () => setText(this.#world.live, thaw(this.#world.live, ...this.#at(path)), agentText),
      () => {
        inode.agentText = agentText;
        return undefined;
      },
    );
  }

  /** One that is open is written to, gets a name, or is closed. */
  #unlinkedFile(path: string): void {
    const { live } = this.#world;
    const index = this.#random(this.#open.length);
    const { file, inode } = this.#open[index]!;
    // Contents that the codebase has, too, are not the sandbox's.
    const own = this.#open.filter((each) => isLocal(each.file.entry.key));
    const bytes = own.reduce((sum, each) => sum + each.file.entry.size, 0);
    check(live.unlinked.files === this.#open.length && live.unlinked.bytes === bytes, 'counters of open files');
    const op = this.#random(3);
    if (op === 0) {
      if (inode.type !== TYPE.file) return;
      const key = keyOfBytes(String(this.#now));
      setData(live, file, { key, size: 3, holes: undefined }, this.#time());
      Object.assign(inode, { contents: key, size: 3, mtime: this.#now, ctime: this.#now });
      return;
    }
    if (op === 1 && this.#oracle.isDirectory(path)) return;
    this.#open.splice(index, 1);
    if (op === 2) live.unlinked.release(file);
    else
      this.#both(
        () => put(live, ...this.#at(path), file, this.#time()),
        () => this.#oracle.put(path, inode, this.#now),
      );
  }
}
