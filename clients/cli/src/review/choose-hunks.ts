import { chosenHunks } from '../../../typescript/src/changes.ts';
import type { ChosenHunks, FileChange, Hunk } from '../../../typescript/src/contract/messages.ts';
import type { Output } from '../output.ts';
import { printableText, quotedName } from '../printable.ts';
import { ask } from './ask.ts';

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

/** Characters of a line that are shown, and lines of one side of a hunk. */
const MOST_COLUMNS = 1000;
const MOST_LINES = 400;

function hunkText({ before, removed, added, after }: Hunk, paint: Output['paint']): string {
  return [
    ...marked(' ', before, (line) => line),
    ...marked('-', removed, paint.red),
    ...marked('+', added, paint.green),
    ...marked(' ', after, (line) => line),
  ].join('');
}

function marked(mark: string, text: string, painted: (line: string) => string): string[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const shown = lines.slice(0, MOST_LINES).map((line) => {
    const cut = line.replace(/\n$/, '');
    return `${painted(printableText(mark + (cut.length > MOST_COLUMNS ? `${cut.slice(0, MOST_COLUMNS)}…` : cut)))}\n`;
  });
  return lines.length > MOST_LINES ? [...shown, `… ${lines.length - MOST_LINES} more lines\n`] : shown;
}
