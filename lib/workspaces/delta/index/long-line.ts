import { crc32 } from 'node:zlib';
import type { Steps } from '../../../fuse/connection/steps.ts';
import { Damage } from '../damage.ts';
import { OperationParser } from './operation-parser.ts';
import type { Op } from './records.ts';

/** All names of operations. */
const NAMES: Record<Op[0], true> = {
  new: true,
  link: true,
  hide: true,
  drop: true,
  attr: true,
  data: true,
  place: true,
  touch: true,
  ctime: true,
  alias: true,
  seen: true,
  unseen: true,
  text: true,
  untext: true,
  origin: true,
  rebased: true,
};
/**
 * Between two operations. It is nowhere else: `],["` in a string would have a backslash before the quote or end the
 * string, and the name of a layer is not one of an operation.
 */
const BETWEEN = '],["';
const BEGINNING = new RegExp(`^,\\["(${Object.keys(NAMES).join('|')})",`);
const LONGEST_BEGINNING = 16;

/**
 * Reads one line with a checksum that is much longer than a block of the journal, in steps: of an archive, or a discard,
 * of a million files. `parts`: its text. `before`: the checksum of the line before. `receive` is called with some of the operations at
 * a time, after the checksum of all was compared. Returns the checksum. Throws Damage.
 */
export function* readLongLine(
  parts: readonly string[],
  before: number,
  number: number,
  receive: (operations: Op[]) => Steps<void>,
): Steps<number> {
  const [first = '', ...others] = parts;
  const comma = first.indexOf(',');
  const texts = [first.slice(comma + 1), ...others];
  texts.push(texts.pop()!.slice(0, -'\n'.length));
  let sum = before;
  for (const text of texts) {
    sum = crc32(text, sum);
    yield;
  }
  if (first[0] !== '[' || comma === -1 || Number(first.slice(1, comma)) !== sum) {
    throw new Damage(`line ${number} does not match its checksum`);
  }
  const parser = new OperationParser();
  let rest = '';
  for (const [index, text] of texts.entries()) {
    rest += text;
    // The last one ends with the bracket of the record.
    const end = index === texts.length - 1 ? rest.length - 1 : lastEnd(rest);
    if (end === 0) continue;
    yield* receive(parse(rest.slice(0, end), parser));
    rest = rest.slice(end + 1);
  }
  return sum;
}

/** Returns where the last complete operation ends that another one follows; 0: there is none. */
function lastEnd(text: string): number {
  for (let at = text.lastIndexOf(BETWEEN); at > 0; at = text.lastIndexOf(BETWEEN, at - 1)) {
    if (BEGINNING.test(text.slice(at + 1, at + 1 + LONGEST_BEGINNING))) return at + 1;
  }
  return 0;
}

function parse(operations: string, parser: OperationParser): Op[] {
  try {
    return parser.parse<Op>(`[${operations}]`, (operation) => [operation]);
  } catch {
    throw new Damage('a line is not valid JSON');
  }
}
