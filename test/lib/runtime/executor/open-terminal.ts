import type { Command, RunningCommand, RunningSandbox, TerminalSize } from '../../../../lib/runtime/runtime.ts';
import { until } from '../bwrap/fixture.ts';
import { command } from '../run.ts';

export interface OpenTerminal {
  running: RunningCommand;
  /** All output so far. */
  output(): Buffer;
  text(): string;
  type(text: string): Promise<void>;
  /** Polls until the output after the last `shown` contains the text. */
  shown(text: string | RegExp): Promise<void>;
  /** The exit code, or the error that ended the command. */
  ended: Promise<number | Error>;
}

export const SIZE: TerminalSize = { columns: 80, rows: 24 };

/** Runs the command on a terminal and reads its output. */
export async function openTerminal(
  sandbox: RunningSandbox,
  text: string,
  more: Partial<Command> = {},
): Promise<OpenTerminal> {
  const running = await sandbox.exec(command(text, { terminal: SIZE, timeoutMs: 60_000, ...more }));
  const pieces: Buffer[] = [];
  let from = 0;
  const read = async () => {
    for await (const event of running) {
      if (event.kind === 'exit') return event.exitCode;
      if (event.stream !== 'STDOUT') throw new Error('a terminal has one stream');
      pieces.push(event.data);
    }
    throw new Error('no end');
  };
  const ended = read().catch((error: Error) => error);
  const terminal: OpenTerminal = {
    running,
    ended,
    output: () => Buffer.concat(pieces),
    text: () => terminal.output().toString(),
    type: (typed) => running.input!.write(Buffer.from(typed)),
    shown: (wanted) =>
      until(`the terminal shows ${wanted}`, () => {
        const after = terminal.text().slice(from);
        const at = typeof wanted === 'string' ? after.indexOf(wanted) : after.search(wanted);
        if (at < 0) return false;
        from += at + (typeof wanted === 'string' ? wanted.length : wanted.exec(after)![0].length);
        return true;
      }),
  };
  return terminal;
}
