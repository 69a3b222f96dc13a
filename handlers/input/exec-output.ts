import type { OutputStream } from '../../lib/contract/messages.ts';
import type { ExecMemory } from '../../lib/exec-memory.ts';
import { REPLACEMENT_BYTES } from './encoded-size.ts';
import { OutputEnds } from './output-ends.ts';
import { CutText, type OutputText } from './output-text.ts';

/** How a request wants its output. */
export interface OutputOptions {
  /** Bytes; 0: the beginning of each stream. */
  max_output: number;
  merge: boolean;
}

/** How much of the output the server keeps, and an answer can have. */
export interface OutputLimits {
  /** Bytes of each stream that the server keeps. */
  stream: number;
  /** Bytes of an answer that the caller can receive; absent: any number. */
  answer?: number | undefined;
}

/** Most bytes of the other fields of an answer: 50 refused hosts, and lines that report a cut. */
const OTHER_FIELDS = 65_536;

/** Gathers the output of a command for the fields of its answer. */
export class ExecOutput {
  readonly #most: number;
  readonly #answer: number;
  readonly #texts: Readonly<Record<OutputStream, OutputText>>;

  constructor({ max_output, merge }: OutputOptions, { stream, answer }: OutputLimits, memory: ExecMemory) {
    this.#most = Math.min(max_output, stream);
    this.#answer = (answer ?? Number.POSITIVE_INFINITY) - OTHER_FIELDS;
    const text = () => (max_output > 0 ? new OutputEnds(this.#most, memory) : new CutText(stream, memory));
    const STDOUT = text();
    this.#texts = { STDOUT, STDERR: merge ? STDOUT : text() };
  }

  /** Returns the number of bytes, of `data` or of earlier ones, that were dropped. */
  append(stream: OutputStream, data: Buffer): number {
    return this.#texts[stream].append(data);
  }

  /** Counts bytes that are no longer known. */
  skip(stream: OutputStream, bytes: number): void {
    this.#texts[stream].skip(bytes);
  }

  /** The fields of the answer that depend on the output. */
  fields() {
    const { STDOUT, STDERR } = this.#texts;
    if (STDOUT === STDERR) {
      const { text, dropped } = STDOUT.text(this.#room([STDOUT]));
      return { ...NO_OUTPUT, output: text, output_truncated: dropped > 0, output_dropped_bytes: dropped };
    }
    const room = this.#room([STDOUT, STDERR]);
    const [forOut, forErr] = room === undefined ? [] : shares(room, STDOUT.bytes, STDERR.bytes);
    const [out, err] = [STDOUT.text(forOut), STDERR.text(forErr)];
    return {
      ...NO_OUTPUT,
      stdout: out.text,
      stderr: err.text,
      output_truncated: out.dropped + err.dropped > 0,
      stdout_dropped_bytes: out.dropped,
      stderr_dropped_bytes: err.dropped,
    };
  }

  /** Bytes of output for all texts together; undefined: the limit of each stream is enough. */
  #room(texts: readonly OutputText[]): number | undefined {
    const most = this.#most > 0 ? this.#most : undefined;
    const kept = texts.reduce((sum, text) => sum + text.kept, 0);
    if (kept * REPLACEMENT_BYTES <= this.#answer) return most;
    const encoded = texts.reduce((sum, text) => sum + text.encoded(), 0);
    if (encoded <= this.#answer) return most;
    // What a part of the output has beyond its length is at most what all of it has, and at most twice its length.
    const room = Math.max(this.#answer - (encoded - kept), Math.floor(this.#answer / REPLACEMENT_BYTES));
    return Math.min(room, most ?? room);
  }
}

const NO_OUTPUT = {
  stdout: '',
  stderr: '',
  output: '',
  output_truncated: false,
  stdout_dropped_bytes: 0,
  stderr_dropped_bytes: 0,
  output_dropped_bytes: 0,
};

/** A stream that needs less than half leaves the rest to the other one. */
function shares(most: number, out: number, err: number): [forOut: number, forErr: number] {
  const forErr = Math.min(err, Math.max(Math.floor(most / 2), most - out));
  return [most - forErr, forErr];
}
