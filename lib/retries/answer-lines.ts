import { crc32 } from 'node:zlib';

/** A request with an idempotency key, as it is recorded before its effect. */
export interface Intent {
  /** Unique; what the request creates is recorded with it. */
  readonly id: string;
  /** Id of the caller's key; empty: authentication is off. */
  readonly caller: string;
  /** Whose share of the kept answers it uses. */
  readonly owner: string;
  readonly key: string;
  readonly operation: string;
  readonly fingerprint: string;
  /** Wall-clock time in milliseconds since the epoch. */
  readonly time: number;
  /** Number of objects to create, of an operation that may create only some. */
  readonly count?: number;
}

/**
 * A line of the file. `intent`: the request is about to be carried out; `answer`: it was, `text` is its answer as JSON;
 * `large`: it was, and its answer of so many bytes is not kept; `failed`: it had no effect.
 */
export type Line =
  | { kind: 'intent'; intent: Intent }
  | { kind: 'answer'; id: string; text: string }
  | { kind: 'large'; id: string; bytes: number }
  | { kind: 'failed'; id: string };

/** Each line begins with the CRC-32 of its rest. JSON escapes line ends, so that each line is one record. */
export function lineOf(line: Line): string {
  const rest = restOf(line);
  return `${crc32(rest).toString(16).padStart(8, '0')} ${rest}\n`;
}

function restOf(line: Line): string {
  switch (line.kind) {
    case 'intent':
      return `intent ${JSON.stringify(line.intent)}`;
    case 'answer':
      return `answer ${line.id} ${line.text}`;
    case 'large':
      return `large ${line.id} ${line.bytes}`;
    case 'failed':
      return `failed ${line.id}`;
  }
}

/**
 * The records of a file, and the number of damaged lines, which are left out. A last line without its end is what a
 * crash left of an unacknowledged write.
 */
export function readLines(text: string): { lines: Line[]; damaged: number; torn: boolean } {
  const parts = text.split('\n');
  const torn = parts.pop() !== '';
  const lines: Line[] = [];
  for (const part of parts) {
    const rest = part.slice(9);
    const line = crc32(rest).toString(16).padStart(8, '0') === part.slice(0, 8) ? parseLine(rest) : undefined;
    if (line !== undefined) lines.push(line);
  }
  return { lines, damaged: parts.length - lines.length, torn };
}

function parseLine(rest: string): Line | undefined {
  const [, kind, more = ''] = /^(\w+) (.*)$/.exec(rest) ?? [];
  if (kind === 'intent') return { kind, intent: JSON.parse(more) as Intent };
  if (kind === 'failed') return { kind, id: more };
  const space = more.indexOf(' ');
  const [id, value] = [more.slice(0, space), more.slice(space + 1)];
  if (kind === 'answer') return { kind, id, text: value };
  if (kind === 'large') return { kind, id, bytes: Number(value) };
  return undefined;
}
