import type { FileChange, Sandbox } from 'paddock-sandbox';
import { isWithin } from 'paddock-sandbox/local';
import { runsOnSight } from '../../../../local-refusals/programs.ts';
import type { Context } from '../command-line/command.ts';
import { shownPatch } from '../output/patch.ts';
import { quotedName } from '../output/printable.ts';
import { ask } from '../review/ask.ts';
import { counted } from '../review/changes.ts';

interface Chosen {
  /** undefined: all changes. */
  only: ((path: string) => boolean) | undefined;
  /** What needs no question. */
  allow: readonly string[];
}

const MOST_BYTES = 64 * 1024;

interface Answered {
  /** Paths that may come. */
  allow: readonly string[];
  /** Of the changes that were asked for, whatever the answer. */
  paths: ReadonlySet<string>;
}

/** Asks by itself for each path that tools run on sight, or whose values are lost, of the changes that are taken. */
export async function allowed(
  sandbox: Sandbox,
  changes: readonly FileChange[],
  { only = () => true, allow }: Chosen,
  { out, signal }: Context,
): Promise<Answered> {
  const asked = new Map<string, { why: string; changes: FileChange[] }>();
  for (const change of changes) {
    const question = only(change.path) ? questionOf(change) : undefined;
    if (question === undefined || allow.some((each) => isWithin(change.path, each))) continue;
    const found = asked.get(question.path) ?? { why: question.why, changes: [] };
    found.changes.push(change);
    asked.set(question.path, found);
  }
  const taken: string[] = [];
  for (const [path, { why, changes: parts }] of asked) {
    if (parts.reduce((sum, { size, baseSize }) => sum + size + baseSize, 0) <= MOST_BYTES)
      out.errorBytes(`\n${shownPatch(await sandbox.patch({ paths: [path], signal }), out.paintError)}`);
    const many = parts.length === 1 ? '' : ` (${counted(parts.length, 'change')})`;
    const question = `${out.paintError.bold(`${why}${many}.`)} Take it? [y]es, [n]o, [q]uit: no to the rest: `;
    const answer = await ask(question, ['yes', 'no', 'quit'], signal);
    if (answer === 'quit') break;
    if (answer === 'yes') taken.push(path);
  }
  const paths = [...asked.values()].flatMap(({ changes: parts }) => parts.map(({ path }) => path));
  return { allow: taken, paths: new Set(paths) };
}

/** Why a change needs a question, which is about a path; undefined: it needs none. */
function questionOf({ path, kind, losesValues }: FileChange): { path: string; why: string } | undefined {
  const program = kind === 'deleted' ? undefined : runsOnSight(path);
  if (program !== undefined)
    return { path: program.path, why: `${program.tool} runs ${quotedName(program.path)} on sight` };
  return losesValues
    ? { path, why: `${quotedName(path)} here has values that the sandbox did not see, and loses them` }
    : undefined;
}
