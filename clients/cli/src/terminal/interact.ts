import { type AttachEvent, type Attachment, ConnectionFailedError, Paddock, Process } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { CliError, EXIT } from '../command-line/errors.ts';
import { endingOf } from '../exec/ending.ts';
import { Reconnect } from '../exec/reconnect.ts';
import { refOf } from '../names/processes.ts';
import { Keyboard } from './keyboard.ts';
import { LocalTerminal, terminalSize } from './local-terminal.ts';
import { Socket } from './socket.ts';

interface How {
  /** First byte of the output. */
  offset: number;
  /** What is typed goes to the process. */
  input: boolean;
  /** Keys that leave it. */
  detachKeys: readonly number[];
}

type Left = { exitCode: number; message?: string };

const LAST_CALL_MS = 2000;
const CODES = { SIGHUP: EXIT.hangup, SIGTERM: EXIT.terminated } as const;

/** Shows the terminal of a process, and sends what is typed, until the process ends or the user leaves it. */
export async function interact(context: Context, target: Process, how: How): Promise<number> {
  const { api } = await context.paddock();
  const paddock = new Paddock({ ...api.settings, WebSocket: Socket as never });
  const session = new Interaction(context, new Process(paddock.api, target.info), how);
  const { exitCode, message } = await session.run();
  if (message) context.out.note(message);
  return exitCode;
}

/** One terminal, over one connection after the other. */
class Interaction {
  readonly #context: Context;
  readonly #target: Process;
  readonly #terminal = new LocalTerminal();
  readonly #keyboard: Keyboard | undefined;
  readonly #reconnect = new Reconnect();
  #attachment: Attachment | undefined;
  #offset: number;
  #started = false;
  #leave: (left: Left | Promise<never>) => void = () => undefined;
  readonly #left = new Promise<Left>((resolve) => {
    this.#leave = resolve;
  });

  constructor(context: Context, target: Process, { offset, input, detachKeys }: How) {
    this.#context = context;
    this.#target = target;
    this.#offset = offset;
    if (input) this.#keyboard = new Keyboard(detachKeys);
  }

  async run(): Promise<Left> {
    const release = this.#context.signals.take((signal) => this.#onSignal(signal));
    const onResize = () => this.#resize();
    process.stdout.on('resize', onResize);
    try {
      return await Promise.race([this.#connections(), this.#left]);
    } catch (error) {
      // What is said of it begins on a line of its own.
      this.#keyboard?.close();
      this.#terminal.restore();
      if (this.#started) this.#context.out.note('');
      throw error;
    } finally {
      process.stdout.off('resize', onResize);
      release();
      this.#keyboard?.close();
      this.#terminal.restore();
      this.#attachment?.close();
    }
  }

  async #connections(): Promise<Left> {
    for (;;) {
      try {
        this.#attachment = await this.#target.attach({ offset: this.#offset, takeover: this.#keyboard !== undefined });
        for await (const event of this.#attachment) {
          const left = await this.#on(event);
          if (left) return left;
        }
        throw new ConnectionFailedError({ message: 'the connection to the process was closed' });
      } catch (error) {
        this.#attachment = undefined;
        if (!(error instanceof ConnectionFailedError)) throw error;
        if (!this.#reconnect.isTried) this.#say('the connection was lost; trying again, ^C gives up');
        await this.#reconnect.wait(error);
      }
    }
  }

  async #on(event: AttachEvent): Promise<Left | undefined> {
    switch (event.type) {
      case 'connected':
        if (this.#reconnect.isTried) this.#say('connected again');
        this.#reconnect.reset();
        this.#started = true;
        this.#resize();
        this.#read();
        return;
      case 'gap':
        this.#offset += event.missing;
        return;
      case 'output':
        this.#offset += event.data.length;
        return this.#terminal.write(event.data) as Promise<undefined>;
      case 'exit': {
        const { exitCode, note } = endingOf({ reason: event.endReason, exitCode: event.exitCode });
        return { exitCode, ...(note && { message: `paddock: ${note}` }) };
      }
    }
  }

  /** From the first connection on: an error before it leaves the terminal as it is. */
  #read(): void {
    this.#keyboard?.open(this.#terminal, {
      detach: () =>
        this.#leave({ exitCode: 0, message: `\ndetached; "paddock attach ${refOf(this.#target)}" comes back` }),
      type: (bytes) => this.#type(bytes),
      unsent: () => this.#attachment?.unsent ?? 0,
    });
  }

  #type(bytes: Uint8Array): void {
    try {
      if (this.#attachment) {
        this.#attachment.write(bytes);
        return;
      }
    } catch (error) {
      // What is typed without a connection is dropped.
      if (!(error instanceof ConnectionFailedError)) throw error;
    }
    if (!bytes.includes(CONTROL_C)) return;
    const message = `the connection was lost; the process goes on: paddock attach ${refOf(this.#target)}`;
    this.#leave(Promise.reject(new CliError(message)));
  }

  #resize(): void {
    const { columns, rows } = terminalSize();
    try {
      // Who only watches leaves the size to the one who writes.
      if (this.#keyboard) this.#attachment?.resize(columns, rows);
    } catch {
      // The next connection begins with the size.
    }
  }

  #onSignal(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
    const options = { signal: AbortSignal.timeout(LAST_CALL_MS) };
    if (signal === 'SIGINT') {
      if (this.#keyboard) void this.#target.signal(signal, options).catch(() => undefined);
      else this.#leave({ exitCode: EXIT.interrupted });
      return;
    }
    // The terminal is gone, or is to be: as it tells a program itself.
    const hangUp = this.#keyboard ? this.#target.signal('SIGHUP', options).catch(() => undefined) : Promise.resolve();
    this.#keyboard?.close();
    this.#terminal.restore();
    void hangUp.then(() => this.#leave({ exitCode: CODES[signal] }));
  }

  /** In raw mode a line begins with a carriage return. */
  #say(text: string): void {
    this.#context.out.note(`\r\n[paddock: ${text}]\r`);
  }
}

const CONTROL_C = 3;

/** Refuses -i -t without a terminal, in the words of docker. */
export function requireTerminal(): void {
  if (!process.stdin.isTTY) throw new CliError('standard input is no terminal: leave out -t', { exitCode: 1 });
}
