import { invalidArgument } from '../errors.ts';
import { indexesOfSequence, unitsOf } from './find-sequence.ts';

const MAX_SHOWN = 200;

/** `text` replaces what is between two offsets. */
export interface Replacement {
  from: number;
  to: number;
  text: string;
}

/**
 * Finds the only occurrence of a text, and what replaces it. If there is none, the only lines that differ from it in white
 * space at their beginnings and ends are replaced, and the new text gets their indentation. The time is linear.
 */
export function findEdit(text: string, oldText: string, newText: string): Replacement {
  if (oldText === '') throw invalidArgument('oldText', 'must not be empty');
  const exact = indexesOfSequence(unitsOf(text), unitsOf(oldText));
  checkOnly(exact, oldText);
  if (exact.length === 1) return exactly(exact[0]!, oldText, newText);
  const lines = text.split('\n');
  const wanted = oldText.split('\n');
  const trimmed = wanted.map((line) => line.trim());
  const similar = trimmed.every((line) => line === '') ? [] : indexesOfLines(lines, trimmed);
  checkOnly(similar, oldText);
  const found = similar[0];
  if (found === undefined) throw notFound(oldText);
  const indent = indentOf(lines[found]!);
  const replacement = newText.split('\n').map((line, index) => reindented(line, wanted[index], index, indent));
  const from = lines.slice(0, found).reduce((sum, { length }) => sum + length + 1, 0);
  const to = from + lines.slice(found, found + wanted.length).join('\n').length;
  return { from, to, text: replacement.join('\n') };
}

/** Finds each exact occurrence, in ascending order. */
export function findEach(text: string, oldText: string, newText: string): Replacement[] {
  if (oldText === '') throw invalidArgument('oldText', 'must not be empty');
  const found = indexesOfSequence(unitsOf(text), unitsOf(oldText));
  if (found.length === 0) throw notFound(oldText);
  return found.map((at) => exactly(at, oldText, newText));
}

const exactly = (from: number, { length }: string, text: string): Replacement => ({ from, to: from + length, text });

function checkOnly({ length }: readonly number[], oldText: string): void {
  if (length <= 1) return;
  const problem = `matches ${length} times; name more of the lines around it, or use replace_all`;
  throw invalidArgument('oldText', `${problem}:\n${oldText.slice(0, MAX_SHOWN)}`);
}

const notFound = (oldText: string) =>
  invalidArgument('oldText', `is not in the file; read it again, and copy the text:\n${oldText.slice(0, MAX_SHOWN)}`);

/** The replacements are in ascending order. */
export function applied(text: string, replacements: readonly Replacement[]): string {
  const after = replacements.map(({ to, text: by }, index) => by + text.slice(to, replacements[index + 1]?.from));
  return text.slice(0, replacements[0]?.from) + after.join('');
}

/** Compares numbers, of which equal lines have the same: a long line is compared once. */
function indexesOfLines(lines: readonly string[], trimmed: readonly string[]): number[] {
  const numbers = new Map<string, number>();
  const wanted = trimmed.map((line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  });
  return indexesOfSequence(
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
