import fc from 'fast-check';
import type { Case } from '../clients/typescript/pull-cases.ts';

/** A file with its text, or a directory; and its path in the codebase, if it is from there. */
interface Node {
  text: string | undefined;
  origin: string | undefined;
}
export type Nodes = Map<string, Node>;
type Step = readonly [kind: 'write' | 'remove' | 'rename' | 'mkdir', path: string, to: string, text: string];

const NAMES = ['a', 'b', 'B', 'd', 'd/x', 'd/y', 'd/s', 'd/s/z', 'e', 'e/x', 'e/s', 'e/s/z', 'f', 'd-', 'D/x'];
const name = fc.constantFrom(...NAMES);
const TEXTS = ['1', '2', '3', '44', ''];
const kind = fc.constantFrom('write', 'write', 'remove', 'rename', 'rename', 'rename', 'mkdir');
const steps = (maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.tuple(kind, name, name, fc.constantFrom(...TEXTS)) as fc.Arbitrary<Step>, { maxLength });

const isIn = (path: string, above: string) => path.startsWith(`${above}/`);
export const parents = (path: string): string[] =>
  path.split('/').flatMap((_, at, names) => (at === 0 ? [] : [names.slice(0, at).join('/')]));

/** What a program does to a tree; what is not possible is left out. */
function act(nodes: Nodes, [how, path, to, text]: Step): void {
  const target = how === 'rename' ? to : path;
  if (parents(target).some((each) => nodes.has(each) && nodes.get(each)!.text !== undefined)) return;
  const below = (above: string) => [...nodes.keys()].filter((each) => isIn(each, above));
  const makeParents = () => {
    for (const each of parents(target)) if (!nodes.has(each)) nodes.set(each, { text: undefined, origin: undefined });
  };
  const old = nodes.get(target);
  if (how === 'remove') for (const each of [path, ...below(path)]) nodes.delete(each);
  else if (how === 'write') {
    if (old && old.text === undefined) return;
    makeParents();
    nodes.set(path, { text, origin: old?.origin });
  } else if (how === 'mkdir') {
    if (old) return;
    makeParents();
    nodes.set(path, { text: undefined, origin: undefined });
  } else {
    const moved = nodes.get(path);
    if (!moved || path === to || isIn(to, path) || below(to).length > 0) return;
    if (old && (old.text === undefined) !== (moved.text === undefined)) return;
    makeParents();
    for (const each of [path, ...below(path)]) {
      nodes.set(to + each.slice(path.length), nodes.get(each)!);
      nodes.delete(each);
    }
  }
}

function after(start: Nodes, all: readonly Step[]): Nodes {
  const nodes = new Map(start);
  for (const step of all) act(nodes, step);
  return nodes;
}

const treeOf = (nodes: Nodes) =>
  Object.fromEntries([...nodes].map(([path, { text }]) => (text === undefined ? [`${path}/`, ''] : [path, text])));

/** The case with the changes as a server lists them. */
function caseOf(base: Nodes, now: Nodes, local: Nodes, options: Case['options'], refused: readonly string[]): Case {
  const sandbox: Record<string, string | null> = {};
  const renamed: Record<string, string> = {};
  const paths = [...new Set([...base.keys(), ...now.keys()])].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  for (const path of paths) {
    const [was, is] = [base.get(path), now.get(path)];
    if (was && is && was.text === is.text) continue;
    const isDirectory = (is ?? was)!.text === undefined;
    sandbox[isDirectory ? `${path}/` : path] = is ? (is.text ?? '') : null;
    if (is?.origin !== undefined && is.origin !== path) renamed[path] = is.origin;
  }
  const changes = Object.keys(sandbox).map((path) => path.replace(/\/$/, ''));
  const refusals = Object.fromEntries(
    changes.filter((path) => refused.includes(path)).map((path) => [path, { reason: 'no', allow: path, git: false }]),
  );
  const isOther = (path: string) => (local.get(path)?.text === undefined) !== (base.get(path)!.text === undefined);
  const isDirectory = (path: string) => local.has(path) && local.get(path)!.text === undefined;
  const isGone = (path: string) => parents(path).every(isDirectory) && (!local.has(path) || isOther(path));
  const gone = [...base.keys()].filter(isGone).map((path) => [path, null]);
  const differing = { ...Object.fromEntries(gone), ...treeOf(local) };
  return { name: '', base: treeOf(base), sandbox, local: differing, renamed, refusals, ...(options && { options }) };
}

const some = fc.uniqueArray(name, { maxLength: 3 });
const choice: fc.Arbitrary<Case['options']> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.uniqueArray(name, { minLength: 1, maxLength: 6 }).map((paths) => ({ paths })) },
  { weight: 1, arbitrary: some.map((exclude) => ({ exclude })) },
  { weight: 1, arbitrary: fc.uniqueArray(name, { maxLength: 10 }).map((only) => ({ only })) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 2).map((max_bytes) => ({ max_bytes })) },
  { weight: 1, arbitrary: fc.constant({ on_conflict: 'replace' as const }) },
);

export interface Random {
  base: Nodes;
  now: Nodes;
  local: Nodes;
  given: Case;
}

export const random: fc.Arbitrary<Random> = fc
  .tuple(
    steps(12),
    steps(8),
    steps(3),
    choice,
    fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some }),
  )
  .map(([first, then, mine, options, refused]) => {
    const made = after(new Map(), first);
    const base: Nodes = new Map([...made].map(([path, { text }]) => [path, { text, origin: path }]));
    const [now, local] = [after(base, then), after(base, mine)];
    return { base, now, local, given: caseOf(base, now, local, options, refused) };
  });
