import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../command-line/errors.ts';
import { Interrupted } from '../command-line/signals.ts';

/** Milliseconds. The lines of a paste come together. */
const PASTE_MS = 50;

/** Asks on the terminal for one line, which is not shown. */
export async function askHidden(question: string, signal: AbortSignal): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  const ended = new AbortController();
  // In the mode of line editing ^C is no signal.
  lines.on('SIGINT', () => ended.abort(new Interrupted('SIGINT')));
  lines.on('close', () => ended.abort(new CliError('no value was given')));
  const found: string[] = [];
  lines.on('line', (line) => found.push(line));
  process.stderr.write(question);
  try {
    const stop = AbortSignal.any([signal, ended.signal]);
    await once(lines, 'line', { signal: stop }).catch(() => stop.throwIfAborted());
    // The threat: further lines of a secret would be input of the shell, and in its history.
    await delay(PASTE_MS);
    if (found.slice(1).some((line) => line !== '') || lines.line !== '') {
      throw new CliError('the value has several lines: use < FILE, a pipe or --from-file');
    }
    return found[0] ?? '';
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
