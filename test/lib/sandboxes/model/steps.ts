import fc from 'fast-check';
import { RULES } from './rules.ts';

/** Sandboxes are named by their places: there are up to `PLACES` at a time. */
export const PLACES = 4;
export const NAMES = ['a', 'b', 'd', 's'] as const;

/** What a symlink can lead to. */
const TARGETS = ['outside', 'outside/d', 'up2', 'up3', 'neighbour', 'a', 'd', '/workspace/b'] as const;

export type Target = (typeof TARGETS)[number];
type Actor = 'agent' | 'owner';
export type OnConflict = '' | 'ours' | 'theirs';

/** Plain data, so that a sequence that failed can be kept as it was printed. */
export type Step =
  /** By programs in the sandbox. */
  | readonly ['create' | 'truncate' | 'overwrite', place: number, path: string, size: number]
  | readonly ['write', place: number, path: string, offset: number, size: number]
  /** Steps that leave what there was. */
  | readonly ['touch' | 'rewrite' | 'chmod and back' | 'rename and back', place: number, path: string]
  | readonly ['mkdir' | 'unlink' | 'rmdir', place: number, path: string]
  | readonly ['chmod', place: number, path: string, mode: number]
  | readonly ['rename' | 'exchange' | 'link', place: number, from: string, to: string]
  | readonly ['symlink', place: number, target: Target, path: string]
  /** rm -r, then ln -s. */
  | readonly ['relink', place: number, target: Target, path: string]
  /** Through the file API. */
  | readonly ['put', place: number, as: Actor, path: string, size: number]
  | readonly ['move', place: number, as: Actor, from: string, to: string]
  | readonly ['rm', place: number, as: Actor, path: string]
  /** The kernel is short of memory. */
  | readonly ['forget', place: number]
  | readonly ['exec' | 'stop' | 'start' | 'destroy' | 'checkpoint', place: number]
  | readonly ['create sandbox', place: number, rules: number]
  | readonly ['commit', place: number, onConflict: OnConflict, paths: readonly string[]]
  /** `pick` chooses one of the files with hunks, and some of these. */
  | readonly ['commit hunks', place: number, onConflict: OnConflict, pick: number, paths: readonly string[]]
  | readonly ['discard', place: number, paths: readonly string[]]
  | readonly ['rollback' | 'drop', place: number, checkpoint: number]
  /** `checkpoint` -1: what it has now. */
  | readonly ['fork', place: number, checkpoint: number]
  | readonly ['rules', place: number, rules: number]
  /** To the codebase. */
  | readonly ['upload', path: string, size: number]
  | readonly ['remove', path: string]
  /** Begins to reclaim layers, and holds that before its nth call to the disk, until `release`. */
  | readonly ['hold', calls: number]
  | readonly ['release']
  /** kill -9, at the nth call that leaves the main thread while the step is made, or after it. */
  | readonly ['kill', calls: number, during: Step]
  | readonly ['restart'];

const BY_PROGRAMS = [
  'create',
  'write',
  'truncate',
  'overwrite',
  'mkdir',
  'unlink',
  'rmdir',
  'chmod',
  'touch',
  'rewrite',
  'chmod and back',
  'rename and back',
  'rename',
  'exchange',
  'link',
  'symlink',
  'forget',
] as const;

/** What programs do by the kernel's requests alone, and the kernel's own. */
export type ProgramStep = Extract<Step, readonly [(typeof BY_PROGRAMS)[number], ...unknown[]]>;
/** Of no sandbox that is there. */
type CodebaseStep = Extract<
  Step,
  readonly ['upload' | 'remove' | 'hold' | 'release' | 'restart' | 'kill' | 'create sandbox', ...unknown[]]
>;
export type CallStep = Exclude<Step, ProgramStep | CodebaseStep>;

export function isByPrograms(step: Step): step is ProgramStep {
  return BY_PROGRAMS.some((kind) => kind === step[0]);
}

/** Few, so that steps meet: directories of the codebase, what is in them, and places where nothing is. */
const directories = ['a', 'b', 'a/d', 'b/d', 's'];
const files = ['a/s', 'a/b', 'b/s', 'a/d/s', 'b/d/s', 'b/d/a', 's/d', 's/a', 's/s'];

/** What steps are about. */
interface Scope {
  place: fc.Arbitrary<number>;
  path: fc.Arbitrary<string>;
  directoryPath: fc.Arbitrary<string>;
  size: fc.Arbitrary<number>;
}

const small = fc.constantFrom(0, 9, 40);
/** About those at which contents come to lie elsewhere. */
const boundary = fc.constantFrom(4095, 4097, 16_385, 65_536, 65_537, 70_000);

const everything = fc.constantFrom(...directories, ...files);
const EVERYWHERE: Scope = {
  place: fc.constantFrom(0, 0, 1, 1, 2, 3),
  path: everything,
  directoryPath: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...directories) }, everything),
  size: fc.oneof({ weight: 4, arbitrary: small }, boundary),
};
/** One sandbox and its forks, and few files of it. */
const ONE_FAMILY: Scope = {
  place: fc.constantFrom(0, 0, 0, 0, 2, 3),
  path: fc.constantFrom('a/s', 'a/b', 's'),
  directoryPath: fc.constantFrom('a', 's'),
  size: fc.oneof({ weight: 2, arbitrary: small }, boundary),
};

/** The kernel asks for no write of nothing. */
const some = (size: fc.Arbitrary<number>) => size.map((bytes) => bytes || 1);
const actor = fc.constantFrom<Actor>('agent', 'owner');
const all = fc.constant<string[]>([]);
const chosen = fc.oneof(
  { weight: 3, arbitrary: all },
  { weight: 2, arbitrary: fc.array(everything, { minLength: 1, maxLength: 2 }) },
);
const target = fc.constantFrom(...TARGETS);
const rules = fc.nat(RULES.length - 1);
const checkpoint = fc.constantFrom(0, 0, 1, 2);
const onConflict = fc.constantFrom<OnConflict>('', '', '', 'ours', 'theirs');

function step<const T extends string, A extends unknown[]>(name: T, ...args: { [I in keyof A]: fc.Arbitrary<A[I]> }) {
  return fc.tuple(fc.constant(name), ...args) as unknown as fc.Arbitrary<Step>;
}

const kindsOf = ({ place, path, directoryPath, size }: Scope) => ({
  create: step('create', place, path, size),
  mkdir: step('mkdir', place, directoryPath),
  rename: step('rename', place, directoryPath, directoryPath),
  exchange: step('exchange', place, directoryPath, directoryPath),
  write: step('write', place, path, size, some(size)),
  truncate: step('truncate', place, path, size),
  overwrite: step('overwrite', place, path, size),
  unlink: step('unlink', place, path),
  rmdir: step('rmdir', place, directoryPath),
  symlink: step('symlink', place, target, path),
  relink: step('relink', place, target, directoryPath),
  link: step('link', place, path, path),
  chmod: step('chmod', place, path, fc.constantFrom(0o755, 0o775, 0o777)),
  touch: step('touch', place, path),
  rewrite: step('rewrite', place, path),
  'chmod and back': step('chmod and back', place, path),
  'rename and back': step('rename and back', place, path),
  forget: step('forget', place),
  put: step('put', place, actor, path, size),
  move: step('move', place, actor, directoryPath, directoryPath),
  rm: step('rm', place, actor, directoryPath),
  exec: step('exec', place),
  commit: step('commit', place, onConflict, chosen),
  'commit hunks': step('commit hunks', place, onConflict, fc.nat(255), chosen),
  discard: step('discard', place, chosen),
  checkpoint: step('checkpoint', place),
  rollback: step('rollback', place, checkpoint),
  drop: step('drop', place, checkpoint),
  fork: step('fork', place, fc.constantFrom(-1, -1, 0, 1)),
  destroy: step('destroy', place),
  'create sandbox': step('create sandbox', place, rules),
  stop: step('stop', place),
  start: step('start', place),
  rules: step('rules', place, rules),
  upload: step('upload', path, size),
  remove: step('remove', path),
  hold: step('hold', fc.nat(8)),
  release: step('release'),
  restart: step('restart'),
});

type Kind = keyof ReturnType<typeof kindsOf>;
type Weights = Partial<Record<Kind | 'kill', number>>;

function stepsOf(weights: Weights, scope: Scope): fc.Arbitrary<Step> {
  const steps = kindsOf(scope);
  const { kill = 0, ...kinds } = weights;
  const chosen = Object.entries(kinds).map(([kind, weight]) => ({ weight, arbitrary: steps[kind as Kind] }));
  const killable = chosen.filter(({ arbitrary }) => arbitrary !== steps.restart);
  const killed = step('kill', fc.nat(40), fc.oneof(...killable));
  return fc.oneof(...chosen, ...(kill > 0 ? [{ weight: kill, arbitrary: killed }] : []));
}

const ALL: Weights = {
  ...(Object.fromEntries(Object.keys(kindsOf(EVERYWHERE)).map((kind) => [kind, 2])) as Weights),
  create: 5,
  rename: 6,
  write: 4,
  commit: 6,
  'commit hunks': 4,
  rules: 4,
  upload: 4,
  hold: 1,
  destroy: 1,
  stop: 1,
  restart: 1,
  kill: 2,
};

/** What directories become that others have renamed, and what rules hide in them. */
const PLACES_OF_OTHERS: Weights = {
  rename: 6,
  relink: 4,
  touch: 2,
  rewrite: 2,
  'chmod and back': 1,
  'rename and back': 2,
  mkdir: 2,
  create: 2,
  rm: 2,
  commit: 7,
  exec: 2,
  discard: 1,
  checkpoint: 1,
  rollback: 2,
  fork: 1,
  rules: 3,
  upload: 3,
  remove: 1,
};

/** Contents, the layers they lie in, and when these are removed. */
const LAYERS: Weights = {
  create: 4,
  write: 4,
  truncate: 1,
  overwrite: 4,
  link: 1,
  checkpoint: 6,
  rollback: 6,
  drop: 1,
  fork: 5,
  destroy: 4,
  hold: 5,
  release: 1,
  commit: 1,
  stop: 1,
  start: 1,
  restart: 3,
  kill: 1,
};

/** What can come to need layers, or need them no more, while these are reclaimed. */
const WHILE_HELD: Weights = { fork: 5, rollback: 5, create: 1, checkpoint: 1, drop: 1, destroy: 1 };

/** What makes another sandbox need a layer, and what makes this one need it no more. */
const NEEDED_BY_ANOTHER: Weights = { fork: 1 };
const NEEDED_NO_MORE: Weights = { rollback: 3, destroy: 1 };

/**
 * A sandbox with something to roll back, then steps that meet one reclaiming of layers. First another sandbox goes, which
 * leaves its place to a fork.
 */
function reclaimings(scope: Scope): fc.Arbitrary<Step[]> {
  return scope.place.chain((place) => {
    const ofOne = { ...scope, place: fc.constant(place) };
    const { checkpoint, create, hold, release, restart } = kindsOf(ofOne);
    const { destroy } = kindsOf({
      ...scope,
      place: fc.integer({ min: 1, max: PLACES - 1 }).map((by) => (place + by) % PLACES),
    });
    const any = fc.array(stepsOf(WHILE_HELD, ofOne), { maxLength: 2 });
    const meanwhile = fc
      .tuple(any, stepsOf(NEEDED_BY_ANOTHER, ofOne), any, stepsOf(NEEDED_NO_MORE, ofOne), any)
      .map(([first, needed, second, noMore, third]) => [...first, needed, ...second, noMore, ...third]);
    return fc
      .tuple(destroy, checkpoint, create, hold, meanwhile, release, restart)
      .map(([gone, first, second, held, steps, ...last]) => [gone, first, second, held, ...steps, ...last]);
  });
}

/** Edits of few files, also under other names, of which parts are committed, while another sandbox does the same. */
const HUNKS: Weights = {
  write: 10,
  rename: 4,
  link: 1,
  chmod: 1,
  unlink: 1,
  'rename and back': 1,
  'commit hunks': 10,
  commit: 2,
  checkpoint: 1,
  rollback: 1,
  fork: 1,
  upload: 1,
  kill: 1,
};

/** Files of several lines that the codebase has from the beginning, and what replaces lines of them. */
function editings(length: number): fc.Arbitrary<Step[]> {
  const files = fc.constantFrom('a/b', 'b/s', 's');
  const places = fc.oneof(
    { weight: 4, arbitrary: files },
    { weight: 1, arbitrary: fc.constantFrom('a', 's/s', 'b/d') },
  );
  const size = fc.constantFrom(0, 5, 10, 25);
  const scope: Scope = { place: fc.constantFrom(0, 0, 0, 1), path: files, directoryPath: places, size };
  const uploads = ['a/b', 'b/s', 's'].map((path) => fc.constant<Step>(['upload', path, 40]));
  const steps = fc.array(stepsOf(HUNKS, scope), { minLength: 1, maxLength: length, size: 'max' });
  return fc.tuple(fc.tuple(...uploads), steps).map(([first, rest]) => [...first, ...rest]);
}

/** Sequences of about `length` steps at most: some of all kinds, others of those that work on the same thing. */
export function sequences(length: number): fc.Arbitrary<Step[]> {
  const ofKinds = [stepsOf(ALL, EVERYWHERE), stepsOf(PLACES_OF_OTHERS, EVERYWHERE)].map((steps) =>
    fc.array(steps, { minLength: 1, maxLength: length, size: 'max' }),
  );
  const ofLayers = fc.oneof(
    { weight: 12, arbitrary: stepsOf(LAYERS, ONE_FAMILY).map((each) => [each]) },
    { weight: 1, arbitrary: reclaimings(ONE_FAMILY) },
  );
  return fc.oneof(
    ...ofKinds,
    editings(length),
    fc.array(ofLayers, { minLength: 1, maxLength: length, size: 'max' }).map((parts) => parts.flat().slice(0, length)),
  );
}
