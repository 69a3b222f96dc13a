import { Paddock } from 'paddock-sandbox';
import { processesOf } from '../names/processes.ts';
import { listed, NAME_LABEL } from '../names/sandboxes.ts';
import type { Named, Operand, Option } from './command.ts';
import { find, loadBelow, NAMES } from './commands.ts';
import { GLOBAL, takesValue, tokensOf } from './parse.ts';

interface Asking {
  paddock: Paddock;
  signal: AbortSignal;
}

/** A shell that waits for a word must not wait for long. */
const ANSWER_MS = 3000;
/** Nothing that a shell could read as something else. */
const PLAIN = /^[A-Za-z0-9][\w.:@/-]*$/;

/** What operands and values of options are, by their names in the help. */
const SOURCES: Readonly<Record<string, (asking: Asking) => AsyncIterable<string>>> = {
  SANDBOX: sandboxes,
  'SANDBOX:PATH': async function* (asking) {
    for await (const name of sandboxes(asking)) yield `${name}:`;
  },
  PROCESS: processes,
  async *IMAGE({ paddock, signal }) {
    for await (const { names } of paddock.images.list({ signal })) yield* names;
  },
  async *KEY({ paddock, signal }) {
    for await (const { id } of paddock.keys.list({ signal })) yield id;
  },
  async *SECRET({ paddock, signal }) {
    for await (const { name } of paddock.secrets.list({ signal })) yield name;
  },
  async *CODEBASE({ paddock, signal }) {
    for await (const { id } of paddock.codebases.list({ signal })) yield id;
  },
};

/**
 * The lines that a shell gets for the words after "paddock", of which the last one is not complete: a word, or a word, a tab
 * and what it is. None: files. No server is started for it.
 */
export async function complete(words: readonly string[], connect: () => Promise<Paddock>): Promise<string[]> {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? ''];
  const found = await find(before);
  const lines = found
    ? await wordsOf(found.command, { before: found.args, current }, connect)
    : await namesAfter(before);
  return lines.filter((line) => line.startsWith(current));
}

/** Words of commands after these. */
async function namesAfter(before: readonly string[]): Promise<string[]> {
  if (before.length > 1) return [];
  if (before[0] !== undefined)
    return (await loadBelow(before[0])).map(({ name, summary }) => `${name.split(' ')[1]}\t${summary}`);
  return [...new Set(NAMES.map((name) => name.split(' ')[0]!))];
}

async function wordsOf(
  command: Named,
  { before, current }: { before: readonly string[]; current: string },
  connect: () => Promise<Paddock>,
): Promise<string[]> {
  const options: Readonly<Record<string, Option>> = { ...command.options, ...GLOBAL };
  const tokens = tokensOf(before, options);
  const last = tokens.at(-1);
  const isValue = last?.kind === 'option' && last.value === undefined && options[last.name];
  if (isValue && takesValue(isValue)) return candidates(isValue, connect);
  const isOver = tokens.some(({ kind }) => kind === 'option-terminator');
  if (current.startsWith('-') && !isOver)
    return Object.entries(options).map(([name, { help }]) => `--${name}\t${help}`);
  const operands = Object.values(command.operands);
  const at = tokens.filter(({ kind }) => kind === 'positional').length;
  const many = operands.at(-1)?.count === 'some' || operands.at(-1)?.count === 'any';
  const operand = operands[at] ?? (many ? operands.at(-1) : undefined);
  return operand === undefined || isOver ? [] : candidates(operand, connect);
}

async function candidates({ oneOf, value = '' }: Option | Operand, connect: () => Promise<Paddock>): Promise<string[]> {
  if (oneOf) return [...oneOf];
  const sources = value.split('|').flatMap((each) => SOURCES[each] ?? []);
  const found: string[] = [];
  if (sources.length === 0) return found;
  try {
    const paddock = new Paddock({ ...(await connect()).api.settings, maxRetries: 0 });
    const signal = AbortSignal.timeout(ANSWER_MS);
    for (const source of sources) for await (const word of source({ paddock, signal })) found.push(word);
  } catch {
    // A shell has no use for the error.
  }
  return found.filter((word) => PLAIN.test(word));
}

async function* sandboxes({ paddock, signal }: Asking): AsyncGenerator<string, void, void> {
  for await (const { id, labels } of listed(paddock, { signal })) {
    yield id;
    if (labels[NAME_LABEL]) yield labels[NAME_LABEL];
  }
}

async function* processes({ paddock, signal }: Asking): AsyncGenerator<string, void, void> {
  for await (const { id } of listed(paddock, { signal })) {
    for (const { processId } of await processesOf(paddock, id, { signal, running: true })) yield `${id}/${processId}`;
  }
}
