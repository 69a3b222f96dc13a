import type { ExecResponse, ExecStreamChunk } from '../contract/messages.ts';
import { secondsOf } from '../duration.ts';
import { CommandTimeoutError } from '../errors.ts';
import { apart } from '../http/arguments.ts';
import type { CallOptions } from '../http/call.ts';
import { KeptOutput } from './kept-output.ts';
import type { Command, RunOptions, StreamOptions } from './options.ts';
import { CommandResult } from './result.ts';
import { type CommandEvent, commandEvents } from './stream.ts';

type Request = Record<string, unknown>;

/** What runs a command: a sandbox, or a session. */
export interface Runner {
  exec(request: Request, options: CallOptions): Promise<ExecResponse>;
  execStream(request: Request, options: CallOptions): AsyncIterable<ExecStreamChunk>;
}

/** Node.js and others give up on an answer whose head has not come after 300 seconds. A stream has its head at once. */
const LONG_S = 240;
/** Bytes of each stream that are kept without `maxOutput`, as by Exec. */
const KEPT_BYTES = 8 * 1024 * 1024;

const OWN = { check: 'boolean', onStdout: 'function', onStderr: 'function' } as const;

/** No option sets the other fields of a request that has a command. */
const given = (command: Command) => ({
  ...{ command, argv: undefined, stdinBytes: undefined, yieldAfter: undefined, keepalive: undefined },
});

/** Runs a command to its end. */
export async function run(runner: Runner, command: Command, options: RunOptions): Promise<CommandResult> {
  const [{ check, ...told }, rest] = apart(options, OWN);
  const { onStdout, onStderr } = told;
  const { timeout } = rest;
  const isLong = timeout !== undefined && secondsOf('timeout', timeout) > LONG_S;
  const isTold = onStdout !== undefined || onStderr !== undefined || isLong;
  const result = await (isTold ? runStreamed(runner, command, rest, told) : runWhole(runner, command, rest));
  return check ? result.check() : result;
}

export function stream(
  runner: Runner,
  command: Command,
  options: StreamOptions,
): AsyncGenerator<CommandEvent, void, void> {
  return commandEvents(runner.execStream({ ...given(command), keepalive: true }, options as CallOptions));
}

async function runWhole(runner: Runner, command: Command, options: StreamOptions): Promise<CommandResult> {
  const answer = await runner.exec(given(command), options as CallOptions);
  return new CommandResult({ ...answer, command: shownOf(command) });
}

async function runStreamed(
  runner: Runner,
  command: Command,
  options: Omit<RunOptions, keyof typeof OWN>,
  { onStdout, onStderr }: Pick<RunOptions, 'onStdout' | 'onStderr'>,
): Promise<CommandResult> {
  const [{ maxOutput }, rest] = apart(options, { maxOutput: 'integer 0' });
  const { merge } = rest;
  const part = maxOutput === undefined ? KEPT_BYTES : merge ? maxOutput : Math.floor(maxOutput / 2);
  const kept = {
    stdout: new KeptOutput(part, maxOutput !== undefined),
    stderr: new KeptOutput(part, maxOutput !== undefined),
  };
  const output = () => {
    const [stdout, stderr] = [kept.stdout.text(), kept.stderr.text()];
    return merge ? { output: stdout } : { stdout, stderr, output: stdout + stderr };
  };
  try {
    for await (const event of stream(runner, command, rest)) {
      if (event.type === 'exit') {
        const { stdout, stderr } = kept;
        const dropped = merge
          ? { outputDroppedBytes: stdout.dropped }
          : { stdoutDroppedBytes: stdout.dropped, stderrDroppedBytes: stderr.dropped };
        const outputTruncated = stdout.dropped + stderr.dropped > 0;
        return new CommandResult({ ...event, ...output(), ...dropped, outputTruncated, command: shownOf(command) });
      }
      kept[event.type].append(event.data);
      const listener = event.type === 'stdout' ? onStdout : onStderr;
      if (event.text !== '') listener?.(event.text);
    }
  } catch (error) {
    if (!(error instanceof CommandTimeoutError)) throw error;
    const { code, message, details, operation, status } = error;
    throw new CommandTimeoutError({ code, message, details, operation, status, cause: error }, output());
  }
  throw new Error('a stream without an end'); // commandEvents throws before.
}

const shownOf = (command: Command): string => (typeof command === 'string' ? command : command.join(' '));
