import type { Hunk } from 'paddock-sandbox';
import type { Output } from '../output/output.ts';
import { printableText } from '../output/printable.ts';

/** Characters of a line that are shown, and lines of one side of a hunk. */
const MOST_COLUMNS = 1000;
const MOST_LINES = 400;

export function hunkText({ before, removed, added, after }: Hunk, paint: Output['paint']): string {
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
