import { ServiceError } from '../../../../../lib/errors.ts';
import { Errno } from '../../../../../lib/linux/errno.ts';
import { checkpoint, rollback } from '../../../../../lib/sandboxes/tree/checkpoint.ts';
import type { CommitAnswer } from '../../../../../lib/sandboxes/tree/commit-request.ts';
import { discardChanges } from '../../../../../lib/sandboxes/tree/discard.ts';
import type { State } from '../../../../../lib/sandboxes/tree/exchange.ts';
import type { OnConflict } from '../../../../../lib/trees/algebra/commit-options.ts';
import { check, checkCommitted, checkFollowed, checkValid, type FlatTrees } from '../../../trees/model/checks.ts';
import { chosen } from '../../../trees/model/chosen.ts';
import { isDirectoryAt, isFileAt, parentsOf, pathsOf } from '../../../trees/model/flat.ts';
import { type Random, seeded } from '../../../trees/random.ts';
import { CommitWorld, type Flat, isEnd } from '../commit-world.ts';
import type { SandboxOnDisk } from '../sandbox-on-disk.ts';

const NAMES = ['a', 'b', 'c'];
const STORES = [11n, 12n, 13n];

/** What a sandbox saw at the paths that it has changed when it changed them first. */
type Seen = Map<string, string | undefined>;

interface Player {
  sandbox: SandboxOnDisk;
  seen: Seen;
  checkpoints: { state: State; m: Flat; seen: Seen }[];
}

interface Operation {
  readonly on: bigint;
  readonly run: (world: CommitWorld, sandbox: SandboxOnDisk) => Promise<CommitAnswer | undefined>;
}

/** One random sequence of what sandboxes and their codebase can do, on a disk, with ends of the server. */
export async function play(seed: number, steps: number, log: (line: string) => void = () => {}): Promise<void> {
  const game = new Game(seeded(seed), log);
  await game.begin();
  for (let step = 0; step < steps; step++) await game.step();
}

class Game {
  #world = new CommitWorld();
  readonly #random: Random;
  readonly #log: (line: string) => void;
  readonly #players = new Map<bigint, Player>();
  #contents = 0;
  #nextStore = 14n;

  constructor(random: Random, log: (line: string) => void) {
    this.#random = random;
    this.#log = log;
  }

  async begin(): Promise<void> {
    for (let times = 0; times < 10; times++) await this.#upload();
    for (const store of STORES) {
      const sandbox = await this.#world.sandbox(store);
      this.#players.set(store, { sandbox, seen: new Map(), checkpoints: [] });
    }
  }

  async step(): Promise<void> {
    const random = this.#random;
    const stores = [...this.#players.keys()];
    const player = this.#players.get(stores[random(stores.length)]!)!;
    const op = random(24);
    if (op < 12) this.#edit(player);
    else if (op < 15) await this.#upload();
    else if (op < 18) await this.#commit(player);
    else if (op === 18) await this.#discard(player);
    else if (op === 19) await this.#checkpoint(player);
    else if (op === 20) await this.#fork(player);
    else if (op === 21) await this.#end();
    else await this.#cutOff(player);
  }

  #path(): string {
    return Array.from({ length: [1, 2, 2, 3][this.#random(4)]! }, () => NAMES[this.#random(3)]!).join('/');
  }

  #flats({ sandbox }: Player): FlatTrees {
    const world = this.#world;
    const b = world.flat(sandbox.base.base, sandbox);
    return { b, m: world.live(sandbox), h: world.flat(world.codebase.head.root) };
  }

  /** A change by a program; what cannot be is refused. */
  #edit(player: Player): void {
    const { sandbox } = player;
    const [random, path, other] = [this.#random, this.#path(), this.#path()];
    const before = this.#flats(player);
    const changes: (() => void)[] = [
      () => sandbox.write(path, random(3) ? String(++this.#contents) : String(-random(3))),
      () => sandbox.write(path, random(3) ? String(++this.#contents) : ''),
      () => sandbox.write(path, String(++this.#contents)),
      () => !sandbox.has(path) && sandbox.mkdir(path),
      () => sandbox.remove(path),
      () => sandbox.rename(path, other),
      () => sandbox.rename(path, other),
      () => sandbox.symlink(path, other),
      () => sandbox.chmod(path, [0o700, 0o755, 0o750][random(3)]!),
    ];
    const number = random(changes.length);
    this.#log(`${sandbox.id} edit ${number} ${path} ${other}`);
    try {
      changes[number]!();
    } catch (error) {
      if (!(error instanceof Errno)) throw error;
    }
    this.#see(player, before);
  }

  #see(player: Player, before: FlatTrees): void {
    const now = this.#world.live(player.sandbox);
    for (const path of pathsOf(before.m, now))
      if (before.m.get(path) !== now.get(path) && !player.seen.has(path)) player.seen.set(path, before.b.get(path));
    this.#forget(player);
  }

  /** Nothing is remembered where nothing is changed. */
  #forget(player: Player): void {
    const { b, m } = this.#flats(player);
    for (const path of [...player.seen.keys()]) if (b.get(path) === m.get(path)) player.seen.delete(path);
  }

  async #upload(): Promise<void> {
    const path = this.#path();
    try {
      if (this.#random(3)) await this.#world.scratch.put(path, String(++this.#contents));
      else await this.#world.codebase.remove(path);
      this.#log(`upload ${path}`);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
    await this.#followAll();
  }

  async #followAll(): Promise<void> {
    for (const player of this.#players.values()) {
      const before = this.#flats(player);
      await this.#world.follow(player.sandbox);
      this.#followed(player, before);
    }
  }

  #followed(player: Player, before: FlatTrees): void {
    const now = this.#flats(player);
    checkFollowed(before, now);
    for (const path of player.seen.keys()) {
      const merges = isDirectoryAt(now.h, path) && isDirectoryAt(now.m, path) && !isDirectoryAt(before.b, path);
      if (merges && now.b.get(path) === now.h.get(path)) player.seen.set(path, now.h.get(path));
    }
    this.#forget(player);
  }

  async #commit(player: Player): Promise<void> {
    const { sandbox, seen } = player;
    const [random, path] = [this.#random, this.#path()];
    const onConflict = (['', '', 'ours', 'theirs'] as const)[random(4)]!;
    const excluded = random(3) ? undefined : this.#path();
    const choice = chosen(random(3) ? [path, this.#path()] : [''], excluded);
    const before = this.#flats(player);
    const answer = await this.#asked(() => this.#world.commit(sandbox, { choice, onConflict }));
    this.#log(`${sandbox.id} commit ${path} -${excluded} ${onConflict} ${answer === undefined ? 'refused' : 'made'}`);
    const after = this.#flats(player);
    if (answer === undefined) {
      for (const side of ['b', 'm', 'h'] as const) checkSame(before[side], after[side], `a refused commit: ${side}`);
      return;
    }
    checkCommitted({ before, after, chosen: (each) => choice.has(each as never), excluded, onConflict, seen });
    for (const each of seen.keys())
      if (after.b.get(each) !== before.b.get(each) && after.b.get(each) === after.h.get(each))
        seen.set(each, after.h.get(each));
    this.#forget(player);
    await this.#followAll();
  }

  async #discard(player: Player): Promise<void> {
    const path = this.#random(3) ? this.#path() : '';
    const before = this.#flats(player);
    this.#log(`${player.sandbox.id} discard ${path}`);
    await discardChanges(player.sandbox, this.#world.codebase, chosen([path]));
    const after = this.#flats(player);
    checkValid({ m: after.m, b: after.b });
    const blocked = parentsOf(path).some((parent) => isFileAt(after.m, parent));
    const has = chosen([path]).has;
    for (const each of pathsOf(after.m, before.m, before.h)) {
      if (!has(each as never)) {
        if (before.m.has(each)) check(after.m.get(each) === before.m.get(each), () => `a discard changed ${each}`);
      } else if (!blocked) check(after.m.get(each) === before.h.get(each), () => `a discard left ${each}`);
    }
    for (const each of player.seen.keys())
      if (after.b.get(each) !== before.b.get(each) && after.b.get(each) === before.h.get(each))
        player.seen.set(each, before.h.get(each));
    this.#forget(player);
  }

  async #checkpoint(player: Player): Promise<void> {
    const { sandbox, checkpoints, seen } = player;
    if (checkpoints.length === 0 || this.#random(2)) {
      this.#log(`${sandbox.id} checkpoint`);
      const m = this.#world.live(sandbox);
      checkpoints.push({ state: await checkpoint(sandbox, this.#world.codebase), m, seen: new Map(seen) });
      checkSame(m, this.#world.live(sandbox), 'a checkpoint');
      return;
    }
    const to = checkpoints[this.#random(checkpoints.length)]!;
    this.#log(`${sandbox.id} rollback`);
    const b = this.#world.flat(to.state.base.base, sandbox);
    await rollback(sandbox, this.#world.codebase, to.state);
    const after = this.#flats(player);
    checkValid({ m: after.m, b: after.b });
    // What was changed at the checkpoint, and is not equal to what head had at some time since, is there again.
    for (const path of pathsOf(to.m, b))
      if (to.m.get(path) !== b.get(path) && after.m.get(path) !== to.m.get(path))
        check(after.m.get(path) === after.h.get(path), () => `a rollback lost ${path}`);
    player.seen = new Map(to.seen);
    for (const path of pathsOf(after.b, after.m))
      if (after.b.get(path) !== after.m.get(path) && !player.seen.has(path)) player.seen.set(path, after.b.get(path));
    for (const path of player.seen.keys())
      if (after.b.get(path) === after.h.get(path)) player.seen.set(path, after.h.get(path));
    this.#forget(player);
  }

  async #fork(player: Player): Promise<void> {
    const store = this.#nextStore++;
    this.#log(`${player.sandbox.id} fork sb_${store}`);
    const m = this.#world.live(player.sandbox);
    const sandbox = await this.#world.sandbox(store, await checkpoint(player.sandbox, this.#world.codebase));
    checkSame(m, this.#world.live(sandbox), 'a fork');
    const [last] = [...this.#players.keys()].slice(-1);
    if (this.#players.size > STORES.length) this.#players.delete(last!);
    this.#players.set(store, { sandbox, seen: new Map(player.seen), checkpoints: [] });
  }

  /** The server ends, and another one begins. */
  async #end(): Promise<void> {
    this.#log('end');
    const before = [...this.#players.values()].map((player) => this.#flats(player));
    const powerLost = this.#random(2) === 0;
    if (powerLost) for (const { sandbox } of this.#players.values()) await sandbox.sync();
    const { disk } = this.#world;
    await this.#restart(powerLost ? disk.crashed(this.#random) : disk.killed());
    // A sandbox that changes nothing has not recorded that it followed.
    await this.#followAll();
    for (const [index, player] of [...this.#players.values()].entries())
      checkSame(before[index]!.m, this.#world.live(player.sandbox), 'the end of a server');
  }

  async #restart(disk: CommitWorld['disk']): Promise<void> {
    this.#world = new CommitWorld(disk, this.#world.scratch.heads.head);
    for (const [store, player] of this.#players) player.sandbox = await this.#world.sandbox(store);
  }

  /** The server ends during an operation: it is made as a whole, or not at all. */
  async #cutOff(player: Player): Promise<void> {
    for (const { sandbox } of this.#players.values()) await sandbox.sync();
    const operation = this.#anyOperation(player);
    const before = this.#flats(player);
    const twin = await this.#twin(operation);
    const world = this.#world;
    const first = world.disk.calls;
    const stopAt = 1 + this.#random(twin.calls + 2);
    this.#log(`cut off at ${stopAt} of ${twin.calls}`);
    world.disk.fault = { at: first + stopAt, with: 'stop' };
    let answer: CommitAnswer | undefined;
    try {
      answer = await operation.run(world, player.sandbox);
    } catch (error) {
      if (!isEnd(error) && !(error instanceof ServiceError)) throw error;
    }
    const ended = world.disk.calls >= first + stopAt;
    const committed = world.scratch.heads.head!.number > twin.number;
    await this.#restart(this.#random(2) ? world.disk.crashed(this.#random) : world.disk.killed());
    await this.#world.follow(player.sandbox);
    const after = this.#flats(player);
    if (answer !== undefined) check(answer.version === twin.answer?.version, () => 'another answer than its twin');
    const isMade = committed || !ended || !isSame(after.m, before.m) || !isSame(after.b, before.b);
    for (const side of ['b', 'm', 'h'] as const)
      checkSame(isMade ? twin.after[side] : before[side], after[side], `cut off, ${isMade ? 'made' : 'not'}: ${side}`);
    // What others saw of it is known by its effect alone.
    for (const path of pathsOf(after.b, after.m))
      if (after.b.get(path) !== after.m.get(path) && after.b.get(path) === after.h.get(path))
        player.seen.set(path, after.h.get(path));
    this.#forget(player);
    await this.#followAll();
  }

  #anyOperation({ sandbox }: Player): Operation {
    const [random, path] = [this.#random, this.#path()];
    const onConflict: OnConflict = (['ours', 'theirs'] as const)[random(2)]!;
    const choice = chosen(random(2) ? [path] : ['']);
    const on = sandbox.store;
    this.#log(`${sandbox.id} cut off in ${path} ${onConflict}`);
    if (random(4) > 0) return { on, run: (world, of) => world.commit(of, { choice, onConflict }) };
    return {
      on,
      run: async (world, of) => {
        await discardChanges(of, world.codebase, choice);
        return undefined;
      },
    };
  }

  /** The same operation without an end of the server. */
  async #twin({ on, run }: Operation): Promise<{
    answer: CommitAnswer | undefined;
    after: FlatTrees;
    calls: number;
    number: number;
  }> {
    const { head } = this.#world.scratch.heads;
    const world = new CommitWorld(this.#world.disk.copied(), head);
    const sandbox = await world.sandbox(on);
    const first = world.disk.calls;
    const answer = await this.#asked(() => run(world, sandbox));
    const calls = world.disk.calls - first;
    const b = world.flat(sandbox.base.base, sandbox);
    const after = { b, m: world.live(sandbox), h: world.flat(world.codebase.head.root) };
    return { answer, after, calls, number: head!.number };
  }

  /** undefined: it was refused. */
  async #asked<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ServiceError && ['ABORTED', 'FAILED_PRECONDITION'].includes(error.code)) return undefined;
      throw error;
    }
  }
}

function isSame(a: Flat, b: Flat): boolean {
  return [...pathsOf(a, b)].every((path) => a.get(path) === b.get(path));
}

function checkSame(expected: Flat, found: Flat, what: string): void {
  for (const path of pathsOf(expected, found))
    check(
      expected.get(path) === found.get(path),
      () => `${what}: ${path} is ${found.get(path)}, not ${expected.get(path)}`,
    );
}
