import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../../../lib/errors.ts';
import type { AutoCommit } from '../../../../lib/field-values.ts';
import { Errno } from '../../../../lib/fuse/filesystem.ts';
import { createRequest, execRequest, NO_LIMITS, never } from '../fixture.ts';
import { CANARY } from './canary.ts';
import { Hold } from './disk.ts';
import {
  agentArchive,
  agentFiles,
  changedFiles,
  changesOf,
  ownerTree,
  patchOf,
  SandboxPrograms,
  UNREADABLE,
} from './doors.ts';
import {
  exchanged,
  put,
  putWithParents,
  renamed,
  truncated,
  withMode,
  without,
  withoutFile,
  written,
} from './effects.ts';
import type { Known } from './known.ts';
import {
  cameLater,
  checkBystander,
  checkChanges,
  checkCommitted,
  checkRolledBack,
  checkShown,
  fail,
  refuseCanary,
  requireSame,
  Violation,
} from './oracle.ts';
import { levelAt, RULES } from './rules.ts';
import { Server } from './server.ts';
import { NAMES, type OnConflict, PLACES, type Step, type Target } from './steps.ts';
import {
  contentOf,
  difference,
  directory,
  file,
  hostTree,
  isAtOrBelow,
  isDirectory,
  isFile,
  isSymlink,
  overlaid,
  parentOf,
  same,
  symlink,
  type Tree,
  upwards,
} from './tree.ts';

const BASE = { 'a/d/s': 'base: a/d/s', 'a/b': 'base: a/b', 'b/d/a': 'base: b/d/a', 'b/s': 'base: b/s', d: 'base: d' };
const BY_PROGRAMS: ReadonlySet<string> = new Set([
  'create',
  'write',
  'truncate',
  'overwrite',
  'mkdir',
  'unlink',
  'rmdir',
  'chmod',
  'rename',
  'exchange',
  'link',
  'symlink',
  'forget',
]);
/** Of a step that waits for what is held. */
const HELD_MS = 300;

/** One that may be, or says what is wrong. */
type Check = readonly Tree[] | ((seen: Tree) => void);

/** What a step may do to the sandbox that it is about and to the codebase, when it succeeds. Absent: nothing. */
interface Effect {
  own?: Check;
  base?: Check;
}

interface Plan {
  place?: number;
  run: () => unknown;
  effect?: Effect;
  /** Of a call that was refused. */
  refused?: Effect;
}

export interface WorldOptions {
  rules: readonly number[];
  autoCommit: readonly AutoCommit[];
}

/** The server, its sandboxes on one codebase, and what must be true of them. */
export class World {
  readonly #home: string;
  readonly #options: WorldOptions;
  readonly #killed: Server[] = [];
  readonly #outside: Map<string, string>;
  readonly #inodes = new Set<number>();
  #server!: Server;
  #codebase = '';
  #neighbour = '';
  #base: Tree = new Map();
  readonly #places: (Known | undefined)[] = Array.from({ length: PLACES }, () => undefined);
  #hold: Hold | undefined;
  #steps = 0;
  #texts = 0;
  #checkpoints = 0;

  private constructor(options: WorldOptions) {
    this.#options = options;
    this.#home = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'paddock-model-'));
    const outside = join(this.#home, 'outside');
    // Names that the codebase has too, so that what follows a link to here finds them.
    for (const path of ['a', 'd', `${CANARY}-1`]) mkdirSync(join(outside, path), { recursive: true });
    for (const path of ['s', 'b', 'a/s', 'd/s', 'd/a', `${CANARY}-2`])
      writeFileSync(join(outside, path), `${CANARY} ${path}`);
    this.#outside = hostTree(outside);
    for (const path of ['', ...this.#outside.keys()]) this.#inodes.add(lstatSync(join(outside, path)).ino);
  }

  static async make(options: WorldOptions): Promise<World> {
    const world = new World(options);
    await world.#begin();
    return world;
  }

  async #begin(): Promise<void> {
    this.#server = await Server.start(this.#home, () => this.#hold);
    const { codebases } = this.#server;
    await this.#server.call(async () => {
      this.#codebase = (await codebases.create({ name: 'model', owner_id: 'ann' })).id;
      this.#neighbour = (await codebases.create({ name: 'neighbour', owner_id: 'ben' })).id;
      for (const [path, content] of Object.entries(BASE)) await codebases.upload(this.#codebase, path, bytes(content));
      for (const path of ['s', 'd/s', 'd/a']) await codebases.upload(this.#neighbour, path, bytes(`${CANARY} ${path}`));
    });
    this.#base = hostTree(this.#files);
    for (const [place, rules] of this.#options.rules.entries()) {
      await this.#server.call(() => this.#createSandbox(place, rules));
      this.#places[place]!.tree = this.#base;
    }
  }

  async end(): Promise<void> {
    this.#hold?.release();
    await this.#server.kill();
    for (const { fs, context } of [...this.#killed, this.#server]) {
      for (const id of context.sandboxes.keys()) {
        try {
          fs.detach(id);
        } catch {
          // Its files are gone, or another's by now.
        }
      }
    }
    rmSync(this.#home, { recursive: true });
  }

  /** Makes one step and asks all doors. Throws a Violation. */
  async step(step: Step): Promise<void> {
    this.#steps++;
    const plan = this.#plan(step);
    if (plan === undefined) return;
    const outcome = await this.#make(plan);
    await this.#settle();
    const { effect = {}, refused = {} } = plan;
    await this.#check(
      step,
      plan.place,
      outcome === 'ok' ? [effect] : outcome === 'refused' ? [refused] : [{}, refused, effect],
    );
  }

  /** At the end of a sequence: nothing outside was changed, and nothing of it is on the server's disk. */
  async finish(): Promise<void> {
    await this.step(['release']);
    requireSame('outside of the codebase', hostTree(join(this.#home, 'outside')), this.#outside);
    for (const part of ['mounts', 'codebases']) {
      for (const dirent of readdirSync(join(this.#home, part), { recursive: true, withFileTypes: true })) {
        if (!dirent.isFile()) continue;
        const path = join(dirent.parentPath, dirent.name);
        if (path.includes(this.#neighbour)) continue;
        const text = readFileSync(path, 'latin1');
        if (text.includes(CANARY))
          fail(`something outside of the codebase was copied to ${path.slice(this.#home.length)}`);
      }
    }
  }

  get #files(): string {
    return join(this.#home, 'codebases', this.#codebase, 'files');
  }

  async #make(plan: Plan): Promise<'ok' | 'refused' | 'killed'> {
    const { run } = this.#server;
    const made = this.#server.call(async () => plan.run());
    made.catch(() => undefined);
    const release = this.#hold && setTimeout(() => this.#hold?.release(), HELD_MS);
    try {
      await Promise.race([made, run.ended]);
      if (!run.killed) return 'ok';
    } catch (error) {
      if (!run.killed) {
        if (error instanceof Errno && error.errno !== 5) return 'refused';
        if (error instanceof ServiceError && !['INTERNAL', 'DATA_LOSS', 'UNKNOWN'].includes(error.code))
          return 'refused';
        if (error instanceof Errno) fail(`a program's request failed with errno ${error.errno}`);
        throw error;
      }
    } finally {
      clearTimeout(release);
    }
    await this.#restart();
    return 'killed';
  }

  /** What runs in the background has ended, unless it is held. */
  async #settle(): Promise<void> {
    if (this.#hold !== undefined) return;
    if (!this.#server.run.killed) await this.#server.settle();
  }

  async #restart(): Promise<void> {
    await this.#server.kill();
    this.#killed.push(this.#server);
    this.#hold = undefined;
    this.#server = await Server.start(this.#home, () => this.#hold);
    for (const known of this.#places) if (known) known.programs = this.#programsOf(known);
  }

  #programsOf({ id, uid }: Pick<Known, 'id' | 'uid'>): SandboxPrograms {
    return new SandboxPrograms(this.#server, id, uid, NAMES);
  }

  async #check(step: Step, place: number | undefined, effects: readonly Effect[]): Promise<void> {
    const base = hostTree(this.#files);
    refuseCanary('the codebase', base);
    const baseBefore = this.#base;
    allow(
      'the codebase',
      base,
      effects.map((effect) => effect.base ?? [baseBefore]),
    );
    const changed = difference(baseBefore, base);
    this.#base = base;
    this.#reconcile();
    for (const [at, known] of this.#places.entries()) {
      if (known === undefined) continue;
      if (at !== place) for (const path of changed) known.foreign.add(path);
      // What programs do in one sandbox is not looked for at every door of the others each time.
      const elsewhere = at !== place && changed.size === 0 && BY_PROGRAMS.has(step[0]) && this.#steps % 8 !== 0;
      await this.#look(known, at, at === place ? effects : [{}], baseBefore, base, !elsewhere);
    }
  }

  async #look(
    known: Known,
    at: number,
    effects: readonly Effect[],
    baseBefore: Tree,
    base: Tree,
    allDoors: boolean,
  ): Promise<void> {
    const name = `sandbox ${at}`;
    const { status, status_reason, permissions } = this.#server.sandboxes.get(known.id);
    if (status === 'SANDBOX_ERROR' || status === 'SANDBOX_PENDING') fail(`${name} is ${status}: ${status_reason}`);
    known.running = status === 'SANDBOX_RUNNING';
    known.rules = RULES.findIndex((rules) => JSON.stringify(rules) === JSON.stringify(permissions));
    known.checkpoints = this.#server.sandboxes
      .listCheckpoints(known.id)
      .map((each) => known.checkpoints.find((checkpoint) => checkpoint.name === each.name)!);
    const tree = await ownerTree(this.#server, known.id).catch((error) => fail(`${name} cannot be read: ${error}`));
    refuseCanary(`the files of ${name}`, tree);
    const before = known.tree;
    if (before !== undefined) {
      allow(
        name,
        tree,
        effects.map(
          ({ own }) =>
            own ??
            ((seen: Tree) => {
              if (same(baseBefore, base)) requireSame('what it has', seen, before);
              else checkBystander(known, before, seen, baseBefore, base);
            }),
        ),
      );
    }
    // What the codebase lost while it was shown somewhere else is kept there.
    const left = new Set([...base.values()].filter(isFile).map(contentOf));
    for (const [path, entry] of baseBefore) {
      if (isFile(entry) && !left.has(contentOf(entry)) && levelAt(known.rules, path).level >= 2)
        known.own.add(contentOf(entry));
    }
    known.tree = tree;
    if (allDoors) await this.#askDoors(known, name, tree, base);
  }

  async #askDoors(known: Known, name: string, tree: Tree, base: Tree): Promise<void> {
    const { id } = known;
    const changes = await changesOf(this.#server, id).catch((error) => fail(`ListChanges of ${name}: ${error}`));
    known.changes = changes;
    try {
      checkChanges(known, tree, base, changes);
    } catch (error) {
      throw error instanceof Violation ? new Violation(`${name}: ${error.message}`) : error;
    }
    if (changes.length > 0) {
      const expected = new Map(
        changes.filter(({ kind }) => kind !== 'CHANGE_DELETED').map(({ path }) => [path, plain(tree.get(path)!)]),
      );
      requireSame(`the changed files of ${name}`, await changedFiles(this.#server, id), expected);
      const patch = await patchOf(this.#server, id);
      if (patch.includes(CANARY)) fail(`the patch of ${name} has something outside of the codebase`);
    }
    if (!known.running) return;
    const seen = known.programs.seen();
    for (const ino of known.programs.inodes)
      if (this.#inodes.has(ino)) fail(`${name} is shown an inode outside of the codebase`);
    known.programs.inodes.clear();
    refuseCanary(`what programs of ${name} see`, seen);
    try {
      checkShown(known, seen, tree, base);
    } catch (error) {
      throw error instanceof Violation ? new Violation(`${name}: ${error.message}`) : error;
    }
    requireSame(`${name}: the file API shows, other than programs see`, await agentFiles(this.#server, id), seen);
    const readable = new Map([...seen].filter(([, entry]) => entry !== UNREADABLE && entry !== 'l x'));
    requireSame(`${name}: the archive has, other than programs see`, await agentArchive(this.#server, id), readable);
    const asked = [...seen.keys()][this.#steps % Math.max(1, seen.size)];
    for (const [path, entry] of seen) {
      if (path !== asked) continue;
      const { permission, pass_through } = await this.#server.call(() =>
        this.#server.sandboxes.explainPermission(id, path),
      );
      if (permission === 'PERMISSION_NONE' && !(entry === 'd' && pass_through))
        fail(`${path} is shown and explained as hidden`);
    }
  }

  /** Sandboxes that a killed server has made or removed. */
  #reconcile(): void {
    const { sandboxes } = this.#server.sandboxes.list({ codebase_id: this.#codebase, page_size: 100, page_token: '' });
    const there = new Set(sandboxes.map(({ id }) => id));
    for (const [place, known] of this.#places.entries()) {
      if (known !== undefined && !there.has(known.id)) {
        if (!this.#leaving.has(known.id)) fail(`sandbox ${place} is gone`);
        this.#places[place] = undefined;
      }
    }
    const known = new Set(this.#places.map((each) => each?.id));
    for (const { id } of sandboxes) {
      if (known.has(id)) continue;
      const coming = this.#coming;
      if (coming === undefined) fail(`there is a sandbox ${id} that nobody made`);
      else this.#places[coming.place] = this.#known(id, coming.as);
    }
  }
  readonly #leaving = new Set<string>();
  #coming: { place: number; as: Partial<Known> } | undefined;

  #known(id: string, as: Partial<Known>): Known {
    const { auto_commit } = this.#server.sandboxes.get(id);
    const { uid } = this.#server.context.find(id).record;
    return {
      id,
      uid,
      rules: 0,
      autoCommit: auto_commit,
      running: true,
      tree: undefined,
      changes: [],
      checkpoints: [],
      touched: new Set(as.touched),
      removed: new Set(as.removed),
      foreign: new Set(as.foreign),
      own: new Set(as.own),
      aliases: [...(as.aliases ?? [])],
      ...(as.tree && { tree: as.tree }),
      programs: this.#programsOf({ id, uid }),
    };
  }

  async #createSandbox(place: number, rules: number): Promise<void> {
    this.#coming = { place, as: { tree: this.#base } };
    const auto_commit = this.#options.autoCommit[place] ?? 'never';
    await this.#server.sandboxes.create(
      createRequest({ codebase_id: this.#codebase, permissions: [...RULES[rules]!], auto_commit }),
    );
    this.#reconcile();
  }

  #text(size: number): string {
    this.#texts++;
    return `${this.#texts}.`
      .padStart(5, '_')
      .repeat(Math.ceil(size / 5))
      .slice(0, size);
  }

  #targetOf(target: Target): string {
    const outside = join(this.#home, 'outside');
    switch (target) {
      case 'outside':
        return outside;
      case 'outside/d':
        return join(outside, 'd');
      case 'up2':
        return '../../../../outside';
      case 'up3':
        return '../../../outside';
      case 'neighbour':
        return join(this.#home, 'codebases', this.#neighbour, 'files');
      default:
        return target;
    }
  }

  /** undefined: there is nobody to make it. */
  #plan(step: Step): Plan | undefined {
    this.#coming = undefined;
    this.#leaving.clear();
    switch (step[0]) {
      case 'upload': {
        const [, path, size] = step;
        const text = this.#text(size);
        const run = () => this.#server.codebases.upload(this.#codebase, path, bytes(text));
        return { run, effect: { base: [putWithParents(this.#base, path, file(text))] } };
      }
      case 'remove':
        return {
          run: () => this.#server.codebases.removeFile(this.#codebase, step[1]),
          effect: { base: [withoutFile(this.#base, step[1])] },
        };
      case 'hold':
        return {
          run: () => {
            this.#hold?.release();
            this.#hold = new Hold(step[1]);
            this.#server.context.reclaimLayers();
          },
        };
      case 'release':
        return {
          run: () => {
            this.#hold?.release();
            this.#hold = undefined;
          },
        };
      case 'restart':
        return { run: () => this.#server.run.kill() };
      case 'kill': {
        const plan = this.#plan(step[2]);
        if (plan === undefined) return undefined;
        const run = async () => {
          this.#server.run.killAfter(step[1]);
          try {
            await plan.run();
          } finally {
            this.#server.run.kill();
          }
        };
        return { ...plan, run };
      }
      case 'create sandbox': {
        const [, place, rules] = step;
        if (this.#places[place] !== undefined) return undefined;
        return { run: () => this.#createSandbox(place, rules) };
      }
    }
    const known = this.#places[step[1]];
    if (known === undefined) return undefined;
    return this.#planOf(known, known.tree!, step);
  }

  #planOf(
    known: Known,
    tree: Tree,
    step: Exclude<
      Step,
      readonly ['upload' | 'remove' | 'hold' | 'release' | 'restart' | 'kill' | 'create sandbox', ...unknown[]]
    >,
  ): Plan | undefined {
    const [kind, place] = step;
    const { id, programs } = known;
    const { sandboxes } = this.#server;
    const base = this.#base;
    const later = cameLater(known, tree, base, known.changes);
    const commits: Effect =
      known.autoCommit === 'never'
        ? {}
        : { base: [base, new Map([...tree, ...later])], own: (seen) => checkCommitted(seen, tree, later) };
    const running = <P extends Plan>(plan: P) => (known.running ? plan : undefined);
    switch (kind) {
      case 'create': {
        const [, , path, size] = step;
        const text = this.#text(size);
        this.#touch(known, [path], [text]);
        const own = [put(tree, path, file(text)), put(tree, path, file(''))];
        return running({ place, run: () => programs.create(path, text), effect: { own } });
      }
      case 'overwrite': {
        const [, , path, size] = step;
        const text = this.#text(size);
        const run = () => {
          programs.set(path, { size: 0 });
          if (size > 0) programs.write(path, text);
        };
        return running({
          place,
          run,
          effect: this.#ofFile(known, tree, path, (entry) => written(truncated(entry, 0), 0, text)),
        });
      }
      case 'write':
      case 'truncate': {
        const path = step[2];
        const text = kind === 'write' ? this.#text(step[4]) : '';
        const change = (entry: string) =>
          kind === 'write' ? written(entry, step[3], text) : truncated(entry, step[3]);
        const run = () =>
          kind === 'write' ? programs.write(path, text, step[3]) : programs.set(path, { size: step[3] });
        return running({ place, run, effect: this.#ofFile(known, tree, path, change) });
      }
      case 'chmod': {
        const [, , path, mode] = step;
        const change = (entry: string) => withMode(entry, mode);
        return running({
          place,
          run: () => programs.set(path, { mode }),
          effect: this.#ofFile(known, tree, path, change),
        });
      }
      case 'mkdir': {
        const [, , path] = step;
        this.#touch(known, [path]);
        return running({ place, run: () => programs.mkdir(path), effect: { own: [put(tree, path, directory())] } });
      }
      case 'unlink':
      case 'rmdir': {
        const [, , path] = step;
        this.#touch(known, [path]);
        this.#lose(known, [path]);
        return running({ place, run: () => programs[kind](path), effect: { own: [without(tree, path)] } });
      }
      case 'symlink': {
        const [, , target, path] = step;
        this.#touch(known, [path]);
        const text = this.#targetOf(target);
        const own = [put(tree, path, symlink(text))];
        return running({ place, run: () => programs.symlink(text, path), effect: { own } });
      }
      case 'relink': {
        const [, , target, path] = step;
        this.#touch(known, [path]);
        this.#lose(known, [path]);
        const text = this.#targetOf(target);
        const run = async () => {
          if (tree.has(path)) await sandboxes.deleteFile({ sandbox_id: id, as: 'agent', path, recursive: true });
          programs.symlink(text, path);
        };
        const gone = without(tree, path);
        // The file API follows links on the way, programs of the model do not.
        const own = follows(tree, parentOf(path)) ? free : [put(gone, path, symlink(text))];
        return running({ place, run, effect: { own }, refused: { own: own === free ? free : [tree, gone] } });
      }
      case 'link': {
        const [, , from, to] = step;
        this.#touch(known, [from, to], ownOf(tree, from));
        const entry = tree.get(from);
        if (entry !== undefined) known.aliases.push(new Set([from, to]));
        return running({ place, run: () => programs.link(from, to), effect: { own: [put(tree, to, entry ?? '')] } });
      }
      case 'rename':
      case 'exchange': {
        const [, , from, to] = step;
        this.#touch(known, [from, to], [...ownOf(tree, from), ...ownOf(tree, to)]);
        this.#lose(known, [from, to]);
        this.#move(known, from, to, kind === 'exchange');
        const moved = kind === 'rename' ? renamed(tree, from, to) : exchanged(tree, from, to);
        // Two names of one file stay.
        const own = this.#mayBeOne(known, from, to) ? [moved, tree] : [moved];
        return running({ place, run: () => programs.rename(from, to, kind === 'exchange' ? 2 : 0), effect: { own } });
      }
      case 'put': {
        const [, , as, path, size] = step;
        const text = this.#text(size);
        this.#touch(known, [path, ...upwards(path)], [text]);
        const before = tree.get(path);
        const mode = isFile(before) ? before!.slice(0, before!.indexOf(' ', 2)) : 'f 644';
        const own = follows(tree, path) ? free : [putWithParents(tree, path, `${mode} ${text}`)];
        const run = () => sandboxes.writeFile({ sandbox_id: id, as, path, mode: 0 }, bytes(text));
        return { place, run, effect: { own } };
      }
      case 'move': {
        const [, , as, from, to] = step;
        const own = follows(tree, parentOf(from)) || follows(tree, parentOf(to)) ? free : [renamed(tree, from, to)];
        const moved = [...tree].filter(([at]) => isAtOrBelow(at, from)).map(([, entry]) => entry);
        const contents = as === 'owner' ? moved.filter(isFile).map(contentOf) : ownOf(tree, from);
        this.#touch(known, [from, to], contents);
        this.#lose(known, [from, to]);
        this.#move(known, from, to, false);
        const run = () => sandboxes.moveFile({ sandbox_id: id, as, from, to, replace: false });
        return { place, run, effect: { own } };
      }
      case 'rm': {
        const [, , as, path] = step;
        this.#touch(known, [path]);
        this.#lose(known, [path]);
        const own = follows(tree, parentOf(path)) ? free : [without(tree, path)];
        const run = () => sandboxes.deleteFile({ sandbox_id: id, as, path, recursive: true });
        return { place, run, effect: { own } };
      }
      case 'forget':
        return { place, run: () => programs.forgetAll() };
      case 'exec': {
        const run = async () => {
          for await (const _event of await sandboxes.exec(execRequest(id), never));
        };
        return running({ place, run, effect: known.autoCommit === 'on_exec' ? commits : {} });
      }
      case 'stop':
        return { place, run: () => sandboxes.stop(id), effect: commits, refused: commits };
      case 'start':
        return { place, run: () => sandboxes.start(id), effect: commits, refused: commits };
      case 'destroy':
        this.#leaving.add(id);
        return { place, run: () => sandboxes.destroy(id), effect: commits, refused: commits };
      case 'commit':
        return this.#commit(known, tree, step[2], step[3]);
      case 'discard': {
        const [, , paths] = step;
        const own = [paths.length === 0 ? base : overlaid(tree, base, paths)];
        return { place, run: () => sandboxes.discard(id, paths), effect: { own } };
      }
      case 'checkpoint': {
        if (known.checkpoints.length > 3) return undefined;
        const name = `c${this.#checkpoints++}`;
        known.checkpoints.push({ name, tree, base });
        return { place, run: () => sandboxes.createCheckpoint(id, name) };
      }
      case 'drop':
      case 'rollback': {
        const checkpoint = known.checkpoints[step[2] % Math.max(1, known.checkpoints.length)];
        if (checkpoint === undefined) return undefined;
        const { name } = checkpoint;
        if (kind === 'drop') return { place, run: () => sandboxes.deleteCheckpoint(id, name) };
        const own: Check = (seen) => checkRolledBack(seen, checkpoint.tree, checkpoint.base, base);
        for (const path of difference(checkpoint.base, base)) known.foreign.add(path);
        return { place, run: () => sandboxes.rollback(id, name), effect: { own } };
      }
      case 'fork': {
        const free = this.#places.indexOf(undefined);
        if (free === -1) return undefined;
        const checkpoint = known.checkpoints[step[2]];
        const as: Partial<Known> = { ...known, tree };
        if (checkpoint !== undefined) {
          const { tree: then, base: baseThen } = checkpoint;
          as.tree = same(baseThen, base) ? then : undefined;
          as.foreign = new Set([...known.foreign, ...difference(baseThen, base)]);
        }
        this.#coming = { place: free, as };
        const nothing = { count: 1, permissions: [], preset: '', labels: {}, expires_in: 0, auto_commit: '' as const };
        const run = async () => {
          const request = { sandbox_id: id, checkpoint: checkpoint?.name ?? '', resources: NO_LIMITS, ...nothing };
          const [result] = await sandboxes.fork(request);
          if (result!.error) throw new ServiceError('FAILED_PRECONDITION', result!.error.message);
        };
        return { place, run };
      }
      case 'rules': {
        const permissions = [...RULES[step[2]]!];
        return { place, run: () => sandboxes.updatePermissions({ sandbox_id: id, permissions, preset: '' }) };
      }
    }
  }

  #commit(known: Known, tree: Tree, on_conflict: OnConflict, paths: readonly string[]): Plan {
    const base = this.#base;
    const run = () =>
      this.#server.sandboxes.commit({ sandbox_id: known.id, paths: [...paths], on_conflict, dry_run: false });
    const place = this.#places.indexOf(known);
    const conflicts = known.changes.filter(({ conflict }) => conflict).map(({ path }) => path);
    if (on_conflict === 'theirs' && conflicts.length > 0) {
      const check: Check = (seen) => {
        for (const path of conflicts) {
          if (seen.get(path) !== base.get(path) && !isDirectory(base.get(path)))
            fail(`theirs was overwritten at ${path}`);
        }
      };
      return { place, run, effect: { base: check, own: () => undefined } };
    }
    const later = cameLater(known, tree, base, known.changes);
    const whole = new Map([...tree, ...later]);
    const committed = paths.length === 0 ? whole : overlaid(base, whole, paths);
    const allowed: Check = (seen) => {
      requireSame('after the commit', seen, committed);
      for (const path of difference(seen, base)) {
        if (levelAt(known.rules, path).level < 3) fail(`${path} was committed against the rules`);
      }
    };
    return { place, run, effect: { base: allowed, own: (seen) => checkCommitted(seen, tree, later) } };
  }

  /** A change of what is in a file, or of its mode, under all names that it may have. */
  #ofFile(known: Known, tree: Tree, path: string, change: (entry: string) => string): Effect {
    const before = tree.get(path);
    if (before === undefined) return {};
    const entry = change(before);
    const names = namesOf(known, path);
    this.#touch(known, [...names], isFile(entry) ? [contentOf(entry)] : []);
    const own: Check = (seen) => {
      const expected = put(tree, path, entry);
      for (const name of names)
        if (name !== path && seen.get(name) === entry && tree.get(name) === before) expected.set(name, entry);
      requireSame('after the change of a file', seen, expected);
    };
    return { own };
  }

  #touch(known: Known, paths: readonly string[], contents: readonly string[] = []): void {
    for (const path of paths) known.touched.add(path);
    for (const content of contents) known.own.add(content);
  }

  #lose(known: Known, paths: readonly string[]): void {
    for (const path of paths) known.removed.add(path);
  }

  #move(known: Known, from: string, to: string, both: boolean): void {
    const moved = (path: string) => {
      if (isAtOrBelow(path, from)) return to + path.slice(from.length);
      return both && isAtOrBelow(path, to) ? from + path.slice(to.length) : path;
    };
    known.aliases = known.aliases.map((names) => new Set([...names, ...[...names].map(moved)]));
  }

  #mayBeOne(known: Known, from: string, to: string): boolean {
    return namesOf(known, from).has(to);
  }
}

/** All that may be names of the file at the path. */
function namesOf({ aliases }: Known, path: string): Set<string> {
  const names = new Set([path]);
  // What is added is looked at as well.
  for (const name of names) for (const each of aliases) if (each.has(name)) for (const other of each) names.add(other);
  return names;
}

/** Links on the way make more than one outcome right. */
const free: Check = () => undefined;

/** Whether a symlink is on the way, or at the end of it. */
function follows(tree: Tree, path: string): boolean {
  return [...upwards(path)].some((at) => isSymlink(tree.get(at)));
}

/** Of a file that is renamed or linked itself. */
function ownOf(tree: Tree, path: string): string[] {
  const entry = tree.get(path);
  return isFile(entry) ? [contentOf(entry!)] : [];
}

function allow(what: string, seen: Tree, checks: readonly Check[]): void {
  let first: unknown;
  for (const check of checks) {
    try {
      if (typeof check === 'function') check(seen);
      else if (!check.some((each) => same(each, seen))) requireSame(what, seen, check[0]!);
      return;
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      first ??= new Violation(`${what}: ${error.message}`);
    }
  }
  throw first;
}

/** Without modes: as archives are compared. */
function plain(entry: string): string {
  if (isDirectory(entry)) return 'd';
  return isFile(entry) ? `f ${contentOf(entry)}` : entry;
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'latin1');
}
