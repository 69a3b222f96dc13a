import { ServiceError } from '../../../lib/errors.ts';

const MAX_SHOWN = 200;

/**
 * Replaces the first occurrence of a text. If there is none, the first lines that differ from it in white space at their
 * beginnings and ends only are replaced, and the new text gets their indentation.
 */
export function applyEdit(text: string, from: string, to: string): string {
  if (from === '') throw new ServiceError('INVALID_ARGUMENT', 'oldText must not be empty');
  const at = text.indexOf(from);
  if (at >= 0) return text.slice(0, at) + to + text.slice(at + from.length);
  const lines = text.split('\n');
  const wanted = from.split('\n');
  const trimmed = wanted.map((line) => line.trim());
  const found = indexOfLines(
    lines.map((line) => line.trim()),
    trimmed,
  );
  if (found < 0 || trimmed.every((line) => line === '')) {
    throw new ServiceError('INVALID_ARGUMENT', `Could not find exact match for edit:\n${from.slice(0, MAX_SHOWN)}`);
  }
  const indent = indentOf(lines[found]!);
  const replacement = to.split('\n').map((line, index) => reindented(line, wanted[index], index, indent));
  lines.splice(found, wanted.length, ...replacement);
  return lines.join('\n');
}

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
