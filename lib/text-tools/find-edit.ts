import { invalidArgument, ServiceError } from '../errors.ts';
import { indexOfSequence, unitsOf } from './find-sequence.ts';

const MAX_SHOWN = 200;

/** `text` replaces what is between two offsets. */
export interface Replacement {
  from: number;
  to: number;
  text: string;
}

/**
 * Finds the first occurrence of a text, and what replaces it. If there is none, the first lines that differ from it in white
 * space at their beginnings and ends only are replaced, and the new text gets their indentation. The time is linear.
 */
export function findEdit(text: string, oldText: string, newText: string): Replacement {
  if (oldText === '') throw invalidArgument('oldText', 'must not be empty');
  const at = indexOfSequence(unitsOf(text), unitsOf(oldText));
  if (at >= 0) return { from: at, to: at + oldText.length, text: newText };
  const lines = text.split('\n');
  const wanted = oldText.split('\n');
  const trimmed = wanted.map((line) => line.trim());
  const found = indexOfLines(lines, trimmed);
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

/** Compares numbers, of which equal lines have the same: a long line is compared once. */
function indexOfLines(lines: readonly string[], trimmed: readonly string[]): number {
  const numbers = new Map<string, number>();
  const wanted = trimmed.map((line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  });
  return indexOfSequence(
    lines.map((line) => numbers.get(line.trim()) ?? -1),
    wanted,
  );
}

function reindented(line: string, old: string | undefined, index: number, indent: string): string {
  if (index === 0) return indent + line.trimStart();
  const [before, after] = [indentOf(old ?? ''), indentOf(line)];
  if (before === '' || after === '') return line;
  return indent + ' '.repeat(Math.max(0, after.length - before.length)) + line.trimStart();
}

const indentOf = (line: string): string => /^\s*/.exec(line)![0];
