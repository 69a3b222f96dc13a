import { createInterface } from 'node:readline/promises';
import { Interrupted } from '../command-line/signals.ts';

/** Lines that came together with an earlier answer, typed ahead or pasted. They answer the next questions. */
const ahead: string[] = [];

/**
 * Asks on the terminal until the answer is the first letter of a choice, or begins with `free` and is an answer by itself. The
 * end of input is the last choice.
 */
export async function ask(
  question: string,
  choices: readonly string[],
  signal: AbortSignal,
  { free }: { free?: string } = {},
): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  const ended = new AbortController();
  // In the mode of line editing ^C is no signal.
  lines.on('SIGINT', () => ended.abort(new Interrupted('SIGINT')));
  lines.on('close', () => ended.abort());
  lines.on('line', (line) => ahead.push(line));
  try {
    for (;;) {
      const stop = AbortSignal.any([signal, ended.signal]);
      const typed = ahead.shift();
      if (typed !== undefined) process.stderr.write(`${question}${typed}\n`);
      const answer = typed ?? (await lines.question(question, { signal: stop }));
      // ^C may have come with the answer.
      if (ended.signal.reason instanceof Interrupted) throw ended.signal.reason;
      if (free !== undefined && answer.startsWith(free)) return answer;
      const letter = answer.trim().toLowerCase()[0];
      const chosen = choices.find((each) => each[0] === letter);
      if (chosen) return chosen;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (ended.signal.reason instanceof Interrupted) throw ended.signal.reason;
    if (ended.signal.aborted) return choices.at(-1)!;
    throw error;
  } finally {
    lines.close();
  }
}
