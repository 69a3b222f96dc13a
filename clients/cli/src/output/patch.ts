import type { Paint } from './paint.ts';
import { printableText } from './printable.ts';

/** Lines of one file that are shown at most. */
const MOST_LINES = 400;
/** Characters of one line. */
const MOST_COLUMNS = 1000;

/** A patch for people: coloured, without escape sequences of the contents, long files and lines cut. */
export function shownPatch(patch: string, paint: Paint): string {
  return sections(patch)
    .map((lines) => shownSection(lines, paint))
    .join('');
}

/** The lines of each file. */
function sections(patch: string): string[][] {
  const found: string[][] = [];
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('diff --git ') || found.length === 0) found.push([]);
    found.at(-1)!.push(line);
  }
  return patch === '' ? [] : found;
}

function shownSection(lines: readonly string[], paint: Paint): string {
  const shown: string[] = [];
  let inHunk = false;
  for (const [at, line] of lines.entries()) {
    if (line === 'GIT binary patch') {
      shown.push(paint.dim('binary file'));
      break;
    }
    if (at >= MOST_LINES) {
      shown.push(paint.dim(`… ${lines.length - at} more lines`));
      break;
    }
    inHunk ||= line.startsWith('@@');
    const cut = line.length > MOST_COLUMNS ? `${line.slice(0, MOST_COLUMNS)}…` : line;
    shown.push(colourOf(line, inHunk, paint)(printableText(cut)));
  }
  return shown.map((line) => `${line}\n`).join('');
}

function colourOf(line: string, inHunk: boolean, { bold, cyan, green, red }: Paint): (text: string) => string {
  if (line.startsWith('@@')) return cyan;
  if (!inHunk) return bold;
  if (line.startsWith('+')) return green;
  if (line.startsWith('-')) return red;
  return (text) => text;
}
