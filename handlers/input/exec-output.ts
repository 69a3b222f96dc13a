import type { OutputStream } from '../../lib/contract/messages.ts';
import type { ExecMemory } from '../../lib/exec-memory.ts';
import { OutputEnds } from './output-ends.ts';
import { CutText, type OutputText } from './output-text.ts';

/** How a request wants its output. */
export interface OutputOptions {
  /** Bytes; 0: the beginning of each stream. */
  max_output: number;
  merge: boolean;
}

/** Gathers the output of a command for the fields of its answer. */
export class ExecOutput {
  readonly #most: number;
  readonly #texts: Readonly<Record<OutputStream, OutputText>>;

  /** `limit`: bytes of each stream that the server keeps. */
  constructor({ max_output, merge }: OutputOptions, limit: number, memory: ExecMemory) {
    this.#most = Math.min(max_output, limit);
    const text = () => (max_output > 0 ? new OutputEnds(this.#most, memory) : new CutText(limit, memory));
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
      const { text, dropped } = STDOUT.text();
      return { ...NO_OUTPUT, output: text, output_truncated: dropped > 0, output_dropped_bytes: dropped };
    }
    const [forOut, forErr] = this.#most > 0 ? shares(this.#most, STDOUT.bytes, STDERR.bytes) : [];
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
