import { sentenceOf } from '../command-line/errors.ts';
import { Traces } from '../terminal/reset.ts';
import { type Paint, paint } from './paint.ts';
import { printableName } from './printable.ts';
import { Progress } from './progress.ts';

interface Stream {
  write(data: string | Uint8Array, done?: () => void): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a command writes. Results go to stdout, everything else to stderr. */
export class Output {
  readonly #streams: Streams;
  readonly #traces = new Traces();
  /** Whether results are JSON. */
  readonly json: boolean;
  /** Colours of stdout and of stderr: none in a pipe. */
  readonly paint: Paint;
  readonly paintError: Paint;

  constructor(streams: Streams, { json }: { json: boolean }) {
    this.#streams = streams;
    this.json = json;
    const colours = !streams.env.NO_COLOR && streams.env.TERM !== 'dumb';
    this.paint = paint(colours && !json && this.isTerminal);
    this.paintError = paint(colours && streams.stderr.isTTY === true);
  }

  /** Whether stdout is a terminal. */
  get isTerminal(): boolean {
    return this.#streams.stdout.isTTY === true;
  }

  get columns(): number {
    return this.#streams.stdout.columns ?? 80;
  }

  /** Bytes as they are, for files and pipes. */
  bytes(data: Uint8Array | string): void {
    this.#streams.stdout.write(data);
  }

  /** The same, at the pace of their reader. */
  async flow(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const piece of pieces) await new Promise<void>((done) => this.#streams.stdout.write(piece, done));
  }

  errorBytes(data: Uint8Array | string): void {
    this.#streams.stderr.write(data);
  }

  /** Output of a program was written to a standard stream. */
  traced(data: Uint8Array, stream: 'stdout' | 'stderr'): void {
    if (this.#streams[stream].isTTY) this.#traces.read(data);
  }

  /** Before anything of ours: the terminal as it was before that output. */
  resetTerminal(): void {
    const reset = this.#traces.reset(this.#streams.env.TERM);
    if (reset === '') return;
    const { stdout, stderr } = this.#streams;
    (stderr.isTTY ? stderr : stdout).write(reset);
  }

  /** A line of the result. The caller has made names printable. */
  line(text: string): void {
    this.#streams.stdout.write(`${text}\n`);
  }

  /** A line beside the result: what happens. */
  note(text: string): void {
    this.#streams.stderr.write(`${text}\n`);
  }

  /** A warning on stderr. */
  warn(message: string): void {
    this.note(`${this.paintError.yellow('warning:')} ${printableName(message)}`);
  }

  /** A failure of one of several, after which the command goes on. */
  error(error: unknown): void {
    this.note(`paddock: ${sentenceOf(error)}`);
  }

  /** The result of a command with --json. On a terminal everything that is not ASCII is escaped. */
  value(value: unknown): void {
    this.#json(JSON.stringify(value, null, 2));
  }

  /** One of any number of values, on a line. */
  record(value: unknown): void {
    this.#json(JSON.stringify(value));
  }

  #json(text: string): void {
    this.line(this.isTerminal ? text.replace(/[\x7f-\uffff]/g, unicodeEscape) : text);
  }

  /** The result: JSON or, without --json, text. */
  result(value: unknown, text: () => string): void {
    if (this.json) this.value(value);
    else this.line(text());
  }

  /** A list: JSON, only the names (`quiet`), or a table. */
  async list<T>(
    elements: AsyncIterable<T> | readonly T[],
    {
      heading,
      row,
      quiet,
    }: { heading: readonly string[]; row(each: T): string[]; quiet?: ((each: T) => string) | false | undefined },
  ): Promise<void> {
    const found: T[] = [];
    for await (const each of elements) found.push(each);
    if (this.json) this.value(found);
    else if (quiet) for (const each of found) this.line(quiet(each));
    else this.table(heading, found.map(row));
  }

  /** A table with a heading. Cells are made printable. */
  table(heading: readonly string[], rows: readonly (readonly string[])[]): void {
    const cells = [heading, ...rows.map((row) => row.map(printableName))];
    const widths = heading.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
    for (const [index, row] of cells.entries()) {
      const text = row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join('   ');
      this.line(index === 0 ? this.paint.bold(text) : text);
    }
  }

  /** A transfer: shown on stderr, if that is a terminal, once it takes long. */
  progress(what: string): Progress {
    const { stderr } = this.#streams;
    return new Progress(what, stderr.isTTY ? (text) => void stderr.write(text) : undefined);
  }
}

const unicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
