import { createInterface } from 'node:readline/promises';
import { Interrupted } from '../signals.ts';

/** Asks on the terminal until the answer is the first letter of a choice. The end of input is the last choice. */
export async function ask(question: string, choices: readonly string[], signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  const ended = new AbortController();
  // In the mode of line editing ^C is no signal.
  lines.on('SIGINT', () => ended.abort(new Interrupted('SIGINT')));
  lines.on('close', () => ended.abort());
  try {
    for (;;) {
      const answer = await lines.question(question, { signal: AbortSignal.any([signal, ended.signal]) });
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
