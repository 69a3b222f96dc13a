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
import { Errno } from '../../../../lib/linux/errno.ts';
import { READ } from '../../../../lib/permissions/index.ts';
import { createRequest } from '../fixture.ts';
import { askDoors } from './ask-doors.ts';
import { bytes } from './bytes.ts';
import { CANARY } from './canary.ts';
import type { Hold } from './disk.ts';
import { ownerTree, SandboxPrograms } from './doors.ts';
import type { Known } from './known.ts';
import { checkBystander, fail, refuseCanary, requireSame } from './oracle.ts';
import { allow, type Effect, type Plan } from './plan.ts';
import { planStep } from './plan-step.ts';
import { levelAt, RULES } from './rules.ts';
import { Server } from './server.ts';
import { isByPrograms, NAMES, PLACES, type Step, type Target } from './steps.ts';
import { contentOf, difference, hostTree, isFile, same, type Tree } from './tree.ts';

const BASE = { 'a/d/s': 'base: a/d/s', 'a/b': 'base: a/b', 'b/d/a': 'base: b/d/a', 'b/s': 'base: b/s', d: 'base: d' };
/** Of a step that waits for what is held. */
const HELD_MS = 300;

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
  server!: Server;
  codebase = '';
  #neighbour = '';
  base: Tree = new Map();
  readonly places: (Known | undefined)[] = Array.from({ length: PLACES }, () => undefined);
  hold: Hold | undefined;
  #steps = 0;
  #texts = 0;
  checkpoints = 0;

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
    this.server = await Server.start(this.#home, () => this.hold);
    const { codebases } = this.server;
    await this.server.call(async () => {
      this.codebase = (await codebases.create({ name: 'model', owner_id: 'ann' })).id;
      this.#neighbour = (await codebases.create({ name: 'neighbour', owner_id: 'ben' })).id;
      for (const [path, content] of Object.entries(BASE)) await codebases.upload(this.codebase, path, bytes(content));
      for (const path of ['s', 'd/s', 'd/a']) await codebases.upload(this.#neighbour, path, bytes(`${CANARY} ${path}`));
    });
    this.base = hostTree(this.#files);
    for (const [place, rules] of this.#options.rules.entries()) {
      await this.server.call(() => this.createSandbox(place, rules));
      this.places[place]!.tree = this.base;
    }
  }

  async end(): Promise<void> {
    this.hold?.release();
    await this.server.kill();
    for (const { fs, context } of [...this.#killed, this.server]) {
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
    this.coming = undefined;
    this.leaving.clear();
    const plan = planStep(this, step);
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
      for (const path of filesBelow(join(this.#home, part))) {
        if (path.includes(this.#neighbour)) continue;
        const text = readFileSync(path, 'latin1');
        if (text.includes(CANARY))
          fail(`something outside of the codebase was copied to ${path.slice(this.#home.length)}`);
      }
    }
  }

  get #files(): string {
    return join(this.#home, 'codebases', this.codebase, 'files');
  }

  async #make(plan: Plan): Promise<'ok' | 'refused' | 'killed'> {
    const { run } = this.server;
    const made = this.server.call(async () => plan.run());
    made.catch(() => undefined);
    const release = this.hold && setTimeout(() => this.hold?.release(), HELD_MS);
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
    if (this.hold !== undefined) return;
    if (!this.server.run.killed) await this.server.settle();
  }

  async #restart(): Promise<void> {
    await this.server.kill();
    this.#killed.push(this.server);
    this.hold = undefined;
    this.server = await Server.start(this.#home, () => this.hold);
    for (const known of this.places) if (known) known.programs = this.#programsOf(known);
  }

  #programsOf({ id, uid }: Pick<Known, 'id' | 'uid'>): SandboxPrograms {
    return new SandboxPrograms(this.server, id, uid, NAMES);
  }

  async #check(step: Step, place: number | undefined, effects: readonly Effect[]): Promise<void> {
    const base = hostTree(this.#files);
    refuseCanary('the codebase', base);
    const baseBefore = this.base;
    allow(
      'the codebase',
      base,
      effects.map((effect) => effect.base ?? [baseBefore]),
    );
    const changed = difference(baseBefore, base);
    this.base = base;
    this.#reconcile();
    for (const [at, known] of this.places.entries()) {
      if (known === undefined) continue;
      if (at !== place) for (const path of changed) known.foreign.add(path);
      // What programs do in one sandbox is not looked for at every door of the others each time.
      const elsewhere = at !== place && changed.size === 0 && isByPrograms(step) && this.#steps % 8 !== 0;
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
    const { status, status_reason, permissions } = this.server.sandboxes.get(known.id);
    if (status === 'SANDBOX_ERROR' || status === 'SANDBOX_PENDING') fail(`${name} is ${status}: ${status_reason}`);
    known.running = status === 'SANDBOX_RUNNING';
    known.rules = RULES.findIndex((rules) => JSON.stringify(rules) === JSON.stringify(permissions));
    known.checkpoints = this.server.sandboxes
      .listCheckpoints(known.id)
      .map((each) => known.checkpoints.find((checkpoint) => checkpoint.name === each.name)!);
    const tree = await ownerTree(this.server, known.id).catch((error) => fail(`${name} cannot be read: ${error}`));
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
      if (isFile(entry) && !left.has(contentOf(entry)) && levelAt(known.rules, path).level >= READ)
        known.own.add(contentOf(entry));
    }
    known.tree = tree;
    if (allDoors) await askDoors(this.server, this.#inodes, this.#steps, known, name, tree, base);
  }

  /** Sandboxes that a killed server has made or removed. */
  #reconcile(): void {
    const { sandboxes } = this.server.sandboxes.list({ codebase_id: this.codebase, page_size: 100, page_token: '' });
    const there = new Set(sandboxes.map(({ id }) => id));
    for (const [place, known] of this.places.entries()) {
      if (known !== undefined && !there.has(known.id)) {
        if (!this.leaving.has(known.id)) fail(`sandbox ${place} is gone`);
        this.places[place] = undefined;
      }
    }
    const known = new Set(this.places.map((each) => each?.id));
    for (const { id } of sandboxes) {
      if (known.has(id)) continue;
      const coming = this.coming;
      if (coming === undefined) fail(`there is a sandbox ${id} that nobody made`);
      else this.places[coming.place] = this.#known(id, coming.as);
    }
  }
  readonly leaving = new Set<string>();
  coming: { place: number; as: Partial<Known> } | undefined;

  #known(id: string, as: Partial<Known>): Known {
    const { auto_commit } = this.server.sandboxes.get(id);
    const { uid } = this.server.context.find(id).record;
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

  async createSandbox(place: number, rules: number): Promise<void> {
    this.coming = { place, as: { tree: this.base } };
    const auto_commit = this.#options.autoCommit[place] ?? 'never';
    await this.server.sandboxes.create(
      createRequest({ codebase_id: this.codebase, permissions: [...RULES[rules]!], auto_commit }),
    );
    this.#reconcile();
  }

  text(size: number): string {
    this.#texts++;
    // Lines, of which a write replaces some.
    return `${this.#texts}\n`
      .padStart(5, '_')
      .repeat(Math.ceil(size / 5))
      .slice(0, size);
  }

  targetOf(target: Target): string {
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
}

/** Without those behind links, which a recursive readdir of Node 22 and later has. */
function* filesBelow(directory: string): Generator<string> {
  for (const dirent of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, dirent.name);
    if (dirent.isDirectory()) yield* filesBelow(path);
    else if (dirent.isFile()) yield path;
  }
}
