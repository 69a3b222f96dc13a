import { ServiceError } from '../../../lib/errors.ts';

const MAX_SHOWN = 200;

/** `text` replaces what is between two offsets. */
export interface Replacement {
  from: number;
  to: number;
  text: string;
}

/**
 * Finds the first occurrence of a text, and what replaces it. If there is none, the first lines that differ from it in white
 * space at their beginnings and ends only are replaced, and the new text gets their indentation.
 */
export function findEdit(text: string, oldText: string, newText: string): Replacement {
  if (oldText === '') throw new ServiceError('INVALID_ARGUMENT', 'oldText must not be empty');
  const at = text.indexOf(oldText);
  if (at >= 0) return { from: at, to: at + oldText.length, text: newText };
  const lines = text.split('\n');
  const wanted = oldText.split('\n');
  const trimmed = wanted.map((line) => line.trim());
  const found = indexOfLines(
    lines.map((line) => line.trim()),
    trimmed,
  );
  if (found < 0 || trimmed.every((line) => line === '')) {
    throw new ServiceError('INVALID_ARGUMENT', `Could not find exact match for edit:\n${oldText.slice(0, MAX_SHOWN)}`);
  }
  const indent = indentOf(lines[found]!);
  const replacement = newText.split('\n').map((line, index) => reindented(line, wanted[index], index, indent));
  const from = lines.slice(0, found).reduce((sum, { length }) => sum + length + 1, 0);
  const to = from + lines.slice(found, found + wanted.length).join('\n').length;
  return { from, to, text: replacement.join('\n') };
}

export const applied = (text: string, { from, to, text: by }: Replacement): string =>
  text.slice(0, from) + by + text.slice(to);

function indexOfLines(lines: readonly string[], wanted: readonly string[]): number {
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    let same = 0;
    while (same < wanted.length && lines[at + same] === wanted[same]) same++;
    if (same === wanted.length) return at;
  }
  return -1;
}

function reindented(line: string, old: string | undefined, index: number, indent: string): string {
  if (index === 0) return indent + line.trimStart();
  const [before, after] = [indentOf(old ?? ''), indentOf(line)];
  if (before === '' || after === '') return line;
  return indent + ' '.repeat(Math.max(0, after.length - before.length)) + line.trimStart();
}

const indentOf = (line: string): string => /^\s*/.exec(line)![0];
