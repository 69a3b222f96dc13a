import type { Process } from 'paddock-sandbox';

/** Characters of output that one answer has at most: the beginning and the end. */
const LIMIT = 1_000_000;

interface Outputs {
  output: string;
  stdout: string;
  stderr: string;
}

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
  async read(ms: number): Promise<Outputs & { seconds: number; exitCode?: number }> {
    const kept = { output: new Kept(), stdout: new Kept(), stderr: new Kept() };
    const patience = AbortSignal.timeout(ms);
    let ended = true;
    try {
      for await (const part of this.process.output({ offset: this.#next, signal: patience })) {
        this.#next = part.next;
        if (part.type === 'gap') kept.output.append(`\n[${part.bytes} bytes of output are no longer kept]\n`);
        else this.#append(kept, part.type, part.data);
      }
    } catch (error) {
      if (!patience.aborted) throw error;
      ended = false;
    }
    const exitCode = ended ? (await this.process.wait()).exitCode : undefined;
    if (ended) await this.process.delete();
    return {
      output: kept.output.text(),
      stdout: kept.stdout.text(),
      stderr: kept.stderr.text(),
      seconds: (Date.now() - this.#started) / 1000,
      ...(exitCode !== undefined && { exitCode }),
    };
  }

  #append(kept: Record<keyof Outputs, Kept>, type: 'stdout' | 'stderr' | 'terminal', data: Uint8Array): void {
    // A character that is divided between two calls comes with the second one.
    const decoder = this.#decoders.get(type) ?? new TextDecoder();
    this.#decoders.set(type, decoder);
    const text = decoder.decode(data, { stream: true });
    kept.output.append(text);
    kept[type === 'stderr' ? 'stderr' : 'stdout'].append(text);
  }
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

  text(): string {
    this.#cut();
    const gap = this.#dropped > 0 ? `\n[${this.#dropped} characters of output left out]\n` : '';
    return this.#head + gap + this.#tail;
  }
}
