import type { Command, Process, ProcessEnd, Sandbox, StartOptions } from 'paddock-sandbox';

/** Characters of output that one answer has at most: the beginning and the end. */
const LIMIT = 1_000_000;

interface Outputs {
  /** Both streams, in the order in which they were written. */
  output: string;
  stdout: string;
  stderr: string;
}

/** Called with output as it is written. */
type Listener = (type: 'stdout' | 'stderr', text: string) => void;

interface CommandOutput extends Outputs {
  /** Whether output was left out, which the texts say, too. */
  truncated: boolean;
  seconds: number;
  /** Absent if the command goes on. */
  end?: ProcessEnd;
}

/** Runs a command to its end, without a limit of time unless one is given. The signal kills it. */
export async function runToEnd(
  sandbox: Sandbox,
  command: Command,
  { signal, onText, ...options }: StartOptions & { onText?: Listener },
): Promise<CommandOutput & { end: ProcessEnd }> {
  // Not cut off by the signal: a process that was started must be known, to be killed.
  signal?.throwIfAborted();
  const process = await sandbox.start(command, options);
  try {
    const { end, ...output } = await new RunningCommand(process, false).read({ signal, onText });
    return { ...output, end: end! };
  } catch (error) {
    await process.delete().catch(() => undefined);
    throw error;
  }
}

/** The longest time that a timer can wait. */
const MAX_MS = 2 ** 31 - 1;

/** A command whose output is read piece by piece. */
export class RunningCommand {
  readonly process: Process;
  readonly takesInput: boolean;
  readonly #started = Date.now();
  readonly #decoders = new Map<string, TextDecoder>();
  #next = 0;

  constructor(process: Process, takesInput: boolean) {
    this.process = process;
    this.takesInput = takesInput;
  }

  /** The output since the last call, until the command ends, which is then forgotten, or for `ms`. */
  async read({ ms, signal, onText }: ReadOptions): Promise<CommandOutput> {
    const kept = { output: new Kept(), stdout: new Kept(), stderr: new Kept() };
    const keep = (type: string, text: string): void => {
      const stream = type === 'stderr' ? 'stderr' : 'stdout';
      for (const each of ['output', stream] as const) kept[each].append(text);
      if (text !== '') onText?.(stream, text);
    };
    const patience = ms === undefined ? undefined : AbortSignal.timeout(Math.min(ms, MAX_MS));
    let ended = true;
    let truncated = false;
    try {
      const either = AbortSignal.any([patience, signal].filter((each) => each !== undefined));
      for await (const part of this.process.output({ offset: this.#next, signal: either })) {
        this.#next = part.next;
        if (part.type !== 'gap') keep(part.type, this.#decoded(part.type, part.data));
        else {
          truncated = true;
          this.#rests(keep);
          // Of which stream they were is not known.
          for (const each of Object.values(kept))
            each.append(`\n[${part.missing} bytes of output are no longer kept]\n`);
        }
      }
      this.#rests(keep);
    } catch (error) {
      if (signal?.aborted || !patience?.aborted) throw error;
      ended = false;
    }
    const end = ended ? await this.process.wait({ signal }) : undefined;
    // The result is there; the server forgets the process by itself, too.
    if (ended) await this.process.delete().catch(() => undefined);
    return {
      output: kept.output.text(),
      stdout: kept.stdout.text(),
      stderr: kept.stderr.text(),
      truncated: truncated || kept.output.cut,
      seconds: (Date.now() - this.#started) / 1000,
      ...(end !== undefined && { end }),
    };
  }

  #decoded(type: string, data: Uint8Array): string {
    // A character that is divided between two calls comes with the second one.
    const decoder = this.#decoders.get(type) ?? new TextDecoder();
    this.#decoders.set(type, decoder);
    return decoder.decode(data, { stream: true });
  }

  /** The beginnings of characters that a gap or the end has cut. */
  #rests(keep: (type: string, text: string) => void): void {
    for (const [type, decoder] of this.#decoders) keep(type, decoder.decode());
  }
}

interface ReadOptions {
  ms?: number;
  signal?: AbortSignal | undefined;
  onText?: Listener | undefined;
}

/** The beginning and the end of a text. */
class Kept {
  #head = '';
  #tail = '';
  #dropped = 0;

  append(text: string): void {
    const room = LIMIT / 2 - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    // Cut seldom: each cut copies the rest.
    if (this.#tail.length > LIMIT) this.#cut();
  }

  #cut(): void {
    const excess = this.#tail.length - LIMIT / 2;
    if (excess <= 0) return;
    this.#dropped += excess;
    this.#tail = this.#tail.slice(excess);
  }

  get cut(): boolean {
    return this.#dropped > 0;
  }

  text(): string {
    this.#cut();
    const gap = this.#dropped > 0 ? `\n[${this.#dropped} characters of output left out]\n` : '';
    return this.#head + gap + this.#tail;
  }
}
