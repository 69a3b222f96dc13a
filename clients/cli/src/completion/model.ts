import type { Command, Options } from '../command.ts';
import { GLOBAL } from '../parse.ts';

/** What the scripts of all shells are made of. */
export interface Completed {
  /** "ls", or "key create". */
  name: string;
  summary: string;
  options: readonly { name: string; short: string | undefined; value: boolean; help: string }[];
  /** What its operands are. */
  operands: 'sandboxes' | 'processes' | 'copies' | 'files';
}

export function completedOf(commands: readonly Command[]): Completed[] {
  return commands.map(({ name, summary, options, usage }) => ({
    name,
    summary,
    options: optionsOf({ ...options, ...GLOBAL }),
    operands: operandsOf(usage),
  }));
}

const optionsOf = (options: Options) =>
  Object.entries(options).map(([name, { short, type, help }]) => ({ name, short, value: type === 'string', help }));

function operandsOf(usage: string): Completed['operands'] {
  if (/\bSANDBOX:/.test(usage)) return 'copies';
  if (/\bPROCESS\b/.test(usage)) return 'processes';
  return /\bSANDBOX\b/.test(usage) ? 'sandboxes' : 'files';
}

/** The first words of commands, once each, with a summary of those that are commands themselves. */
export function firstWords(commands: readonly Completed[]): Map<string, string> {
  const words = new Map<string, string>();
  for (const { name, summary } of commands) {
    const [first = '', second] = name.split(' ');
    if (second === undefined) words.set(first, summary);
    else if (!words.has(first)) words.set(first, secondWords(commands, first).join(', '));
  }
  return words;
}

export const secondWords = (commands: readonly Completed[], first: string): string[] =>
  commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
