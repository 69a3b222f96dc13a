import { type ChosenHunks, chosenHunks, type FileChange } from 'paddock-sandbox';
import type { Output } from '../output/output.ts';
import { quotedName } from '../output/printable.ts';
import { ask } from './ask.ts';
import { hunkText } from './hunk-text.ts';

const KEYS = `
y: take this hunk
n: leave it out
a: take it and the rest of the file
d: leave it and the rest of the file out
b: back to the hunk before
q: leave this file as it was decided before
`;

/** Asks for each hunk. undefined: the question for the file is asked again; `none`, `all`: of the file. */
export async function chooseHunks(
  change: FileChange,
  out: Output,
  signal: AbortSignal,
): Promise<ChosenHunks | 'all' | 'none' | undefined> {
  const hunks = change.diff?.hunks ?? [];
  const taken = hunks.map(() => false);
  for (let at = 0; at < hunks.length; ) {
    out.errorBytes(`\n${hunkText(hunks[at]!, out.paintError)}`);
    const place = `(${at + 1}/${hunks.length}) ${quotedName(change.path)} line ${hunks[at]!.oldStart}`;
    const answer = await ask(`${place} [y,n,a,d,b,q,?]: `, ['yes', 'no', 'all', 'done', 'back', '?', 'quit'], signal);
    if (answer === 'quit') return undefined;
    if (answer === '?') out.errorBytes(KEYS);
    else if (answer === 'back') at = Math.max(0, at - 1);
    else if (answer === 'yes' || answer === 'no') taken[at++] = answer === 'yes';
    else {
      taken.fill(answer === 'all', at);
      break;
    }
  }
  const indexes = taken.flatMap((isTaken, index) => (isTaken ? [index] : []));
  if (indexes.length === 0) return 'none';
  return indexes.length === hunks.length ? 'all' : chosenHunks(change, indexes);
}
