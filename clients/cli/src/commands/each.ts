import type { Context } from '../command-line/command.ts';
import { CliError } from '../command-line/errors.ts';

/** Does something for each name, and prints what is done. A failure of one of several does not end it. */
export async function each(
  { out, signal }: Pick<Context, 'out' | 'signal'>,
  given: readonly string[],
  act: (name: string) => Promise<string>,
): Promise<void> {
  const done: string[] = [];
  for (const name of given) {
    signal.throwIfAborted();
    try {
      const shown = await act(name);
      done.push(shown);
      if (!out.json) out.line(shown);
    } catch (error) {
      if (given.length === 1) throw error;
      out.error(error);
    }
  }
  if (out.json) out.value(done);
  if (done.length < given.length) throw new CliError(`${given.length - done.length} of ${given.length} failed`);
}
