import type { FileChange } from '../../../typescript/src/contract/messages.ts';
import type { Sandbox } from '../../../typescript/src/sandbox.ts';
import { counted, reviewLine } from '../changes.ts';
import type { Output } from '../output.ts';
import { shownPatch } from '../patch.ts';
import { ask } from './ask.ts';

/** Which changes are brought to the local directory: all, none, or those at some paths. */
export type Taken = 'all' | 'none' | ReadonlySet<string>;

/** Changes whose contents are shown at once; more are only listed. */
const MOST_SHOWN = 30;
const MOST_LISTED = 200;
/** Bytes of files whose contents are shown. */
const MOST_BYTES = 4 * 1024 * 1024;

const isSmall = (changes: readonly FileChange[]): boolean =>
  changes.reduce((sum, { size, baseSize }) => sum + size + baseSize, 0) <= MOST_BYTES;

export async function show(
  sandbox: Sandbox,
  changes: readonly FileChange[],
  out: Output,
  signal: AbortSignal,
): Promise<void> {
  const paint = out.paintError;
  for (const each of changes.slice(0, MOST_LISTED)) out.note(reviewLine(each, paint));
  if (changes.length > MOST_LISTED) out.note(paint.dim(`… ${changes.length - MOST_LISTED} more`));
  if (changes.length <= MOST_SHOWN && isSmall(changes))
    out.errorBytes(`\n${shownPatch(await sandbox.patch({ signal }), paint)}`);
}

/** Asks on the terminal. */
export async function choose(
  sandbox: Sandbox,
  changes: readonly FileChange[],
  out: Output,
  signal: AbortSignal,
): Promise<Taken> {
  const { bold } = out.paintError;
  const what = `Take ${changes.length === 1 ? 'this change' : `these ${changes.length} changes`}?`;
  const answer = await ask(`\n${bold(what)} [a]ll, [e]ach, [n]one: `, ['all', 'each', 'none'], signal);
  return answer === 'each' ? chooseEach(sandbox, changes, out, signal) : (answer as 'all' | 'none');
}

/** A directory is brought with what is in it, so only empty ones are asked for. */
async function chooseEach(
  sandbox: Sandbox,
  changes: readonly FileChange[],
  out: Output,
  signal: AbortSignal,
): Promise<Taken> {
  const taken = new Set<string>();
  const asked = changes.filter(({ path, type }) => {
    const below = changes.some((other) => other.path.startsWith(`${path}/`));
    return !(type === 'TYPE_DIRECTORY' && below);
  });
  for (const [at, each] of asked.entries()) {
    if (each.type !== 'TYPE_DIRECTORY' && isSmall([each])) {
      out.errorBytes(`\n${shownPatch(await sandbox.patch({ paths: [each.path], signal }), out.paintError)}`);
    }
    const question = `${reviewLine(each, out.paintError)}: [y]es, [n]o, [a]ll of the rest, [q]uit with these: `;
    const answer = await ask(`(${at + 1}/${asked.length}) ${question}`, ['yes', 'no', 'all', 'quit'], signal);
    if (answer === 'quit') break;
    if (answer === 'yes') taken.add(each.path);
    if (answer === 'all') {
      for (const { path } of asked.slice(at)) taken.add(path);
      break;
    }
  }
  // A removed directory goes if everything in it does.
  for (const { path, type } of changes) {
    const inside = asked.filter((other) => other.path.startsWith(`${path}/`));
    if (type === 'TYPE_DIRECTORY' && inside.length > 0 && inside.every((other) => taken.has(other.path)))
      taken.add(path);
  }
  out.note(`${counted(taken.size, 'path')} chosen`);
  return taken;
}
