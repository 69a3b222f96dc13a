import { ConnectionFailedError, type Paddock, type Process } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { CliError, EXIT } from '../command-line/errors.ts';
import { refOf } from '../names/processes.ts';
import { sizeText } from '../output/progress.ts';
import { BufferedWriter } from './buffered-writer.ts';
import { endingOf } from './ending.ts';
import { sendInput } from './input.ts';
import { Reconnect } from './reconnect.ts';
import { refusedText } from './refused-hosts.ts';
import { settingsThatAllow } from './settings-that-allow.ts';

/** Signals after which this program ends without the process, as docker's does. */
const MOST_SIGNALS = 3;
const LAST_CALL_MS = 2000;

interface How {
  /** First byte of the output. */
  offset: number;
  /** Send standard input, which begins at this byte of the process's input. */
  inputOffset?: number | undefined;
  /** Signals go to the process. */
  forward: boolean;
  /** Where its standard output goes. */
  stdout?: NodeJS.WriteStream;
  /** The sandbox ends with it. */
  last?: boolean;
}

/** Writes the output of a process to the standard streams until it ends. Returns the exit code. */
export async function follow(context: Context, paddock: Paddock, target: Process, how: How): Promise<number> {
  const ended = new AbortController();
  const sinks = {
    stdout: new BufferedWriter(how.stdout ?? process.stdout),
    stderr: new BufferedWriter(process.stderr),
  };
  const left = new Promise<number>((resolve, reject) => {
    onBrokenPipe(async (error) => {
      // What a program gets whose reader has left.
      if (how.forward) await target.signal('SIGPIPE', lastCall()).catch(() => undefined);
      if (error.code === 'EPIPE') resolve(EXIT.brokenPipe);
      // A file on a full disk, for example.
      else reject(new CliError(`the output cannot be written: ${error.message}`));
    });
  });
  const forwarded = forwarding(context, target, how.forward);
  const failed = new Promise<never>((_, reject) => {
    if (how.inputOffset === undefined) return;
    sendInput(paddock.api, target, process.stdin, { offset: how.inputOffset, signal: ended.signal }).catch((error) => {
      if (!ended.signal.aborted) reject(error);
    });
  });
  try {
    const output = copyOutput(context, paddock, target, how, sinks);
    return await Promise.race([output, left, forwarded.exit, failed]);
  } finally {
    ended.abort();
    forwarded.release();
    context.out.resetTerminal();
  }
}

async function copyOutput(
  context: Context,
  paddock: Paddock,
  { sandboxId, id }: Process,
  { offset, last }: How,
  sinks: { stdout: BufferedWriter; stderr: BufferedWriter },
): Promise<number> {
  let at = offset;
  let lost = 0;
  const reconnect = new Reconnect(context.signal);
  for (;;) {
    try {
      const request = { sandboxId, processId: id, offset: at };
      for await (const event of paddock.api.watchProcess(request, { signal: context.signal })) {
        reconnect.reset();
        lost += event.gap;
        if (event.data?.length > 0) {
          const stream = event.stream === 'stderr' ? 'stderr' : 'stdout';
          context.out.traced(event.data, stream);
          await sinks[stream].write(event.data);
        }
        at = event.next;
        if (event.end === undefined) continue;
        await Promise.all([sinks.stdout.end(), sinks.stderr.end()]);
        context.out.resetTerminal();
        // The exit code is that of the stream's error.
        if (sinks.stdout.isBroken) return await new Promise<never>(() => undefined);
        if (event.end.denied) {
          const { hosts } = event.end.denied;
          context.out.note(refusedText(last ? undefined : sandboxId, hosts));
          const settings = settingsThatAllow(last ? undefined : sandboxId, hosts, context);
          if (settings !== '') context.out.note(settings);
        }
        const { exitCode, note } = endingOf(event.end);
        if (note) context.out.note(`paddock: ${note}`);
        if (lost > 0) throw new CliError(`${sizeText(lost)} of the output are lost: it was written faster than read`);
        return exitCode;
      }
    } catch (error) {
      if (!(error instanceof ConnectionFailedError)) throw error;
      if (!reconnect.isTried) context.out.note('paddock: the connection was lost; trying again');
      await reconnect.wait(error);
    }
  }
}

const lastCall = (): { signal: AbortSignal } => ({ signal: AbortSignal.timeout(LAST_CALL_MS) });

/** Passes on signals. `exit` resolves if the user insists. */
function forwarding(
  { signals, out }: Context,
  target: Process,
  enabled: boolean,
): { exit: Promise<number>; release: () => void } {
  if (!enabled) return { exit: new Promise(() => undefined), release: () => undefined };
  let count = 0;
  let release = (): void => undefined;
  const exit = new Promise<number>((resolve) => {
    release = signals.take((signal) => {
      const code = signal === 'SIGINT' ? EXIT.interrupted : signal === 'SIGHUP' ? EXIT.hangup : EXIT.terminated;
      if (++count >= MOST_SIGNALS) {
        out.note(`paddock: the process goes on; "paddock kill ${refOf(target)}" ends it`);
        return resolve(code);
      }
      target.signal(signal, lastCall()).catch((error: unknown) => {
        // Without the server there is nothing to wait for. A process that has ended tells so itself.
        if (!(error instanceof ConnectionFailedError || (error as Error).name === 'TimeoutError')) return;
        out.note(`paddock: the signal could not be sent; the process goes on as ${refOf(target)}`);
        resolve(code);
      });
    });
  });
  return { exit, release };
}

/** In place of the default, which ends this program at once. */
function onBrokenPipe(left: (error: NodeJS.ErrnoException) => void): void {
  process.stdout.removeAllListeners('error');
  process.stdout.once('error', left).on('error', () => undefined);
}
