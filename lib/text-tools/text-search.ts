import { isUtf8 } from 'node:buffer';
import type { Entry } from '../archive/tar-header.ts';
import type { ArchiveSink } from '../archive/tar-reader.ts';
import { TarReader } from '../archive/tar-reader.ts';
import { toText } from '../byte-string.ts';
import { invalidArgument } from '../errors.ts';
import { type PathPatterns, PathSearch } from './path-search.ts';

/** Bytes of a file that is searched. */
const MAX_FILE = 1024 * 1024;
/** Characters of a line that are shown. */
const MAX_LINE = 200;
/** Characters of all lines that are shown. */
const MAX_SHOWN = 20_000;
/** Of the number of a line, and what is around it. */
const NUMBER = 10;

export interface TextQuery {
  pattern: string;
  regex: boolean;
  /** Which files, by globs relative to the directory. */
  files: PathPatterns;
}

interface FoundLine {
  /** Relative to the directory. */
  path: string;
  number: number;
  text: string;
}

export interface FoundLines {
  lines: FoundLine[];
  /** There may be more. */
  isFull: boolean;
  /** Files that are longer than those that are searched. */
  long: number;
}

/** Searches in the lines of the text files of an archive. A regular expression may take for ever: only a thread's end ends it. */
export class TextSearch implements ArchiveSink {
  readonly #reader = new TarReader(this);
  readonly #files: PathSearch;
  readonly #matches: (line: string) => boolean;
  readonly #lines: FoundLine[] = [];
  #room = MAX_SHOWN;
  #long = 0;
  /** undefined: the file is not searched. */
  #parts: Buffer[] | undefined;
  #path = '';

  constructor({ pattern, regex, files }: TextQuery) {
    this.#files = new PathSearch(files);
    this.#matches = regex ? matcherOf(pattern) : (line) => line.includes(pattern);
  }

  feed(piece: Uint8Array): FoundLines {
    this.#reader.feed(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    return { lines: this.#lines, isFull: this.#room <= 0, long: this.#long };
  }

  begin({ path, type, size }: Entry): void {
    this.#path = toText(path);
    this.#parts = type === 'file' && this.#room > 0 && this.#files.finds(this.#path) ? [] : undefined;
    if (this.#parts === undefined || size <= MAX_FILE) return;
    this.#parts = undefined;
    this.#long++;
  }

  content(bytes: Buffer): void {
    this.#parts?.push(Buffer.from(bytes));
  }

  end(): void {
    const bytes = Buffer.concat(this.#parts ?? []);
    if (bytes.includes(0) || !isUtf8(bytes)) return;
    for (const [index, line] of bytes.toString().split('\n').entries()) {
      if (this.#room <= 0) return;
      if (!this.#matches(line)) continue;
      const found = { path: this.#path, number: index + 1, text: line.slice(0, MAX_LINE) };
      this.#room -= found.path.length + found.text.length + NUMBER;
      this.#lines.push(found);
    }
  }
}

function matcherOf(pattern: string): (line: string) => boolean {
  try {
    const expression = new RegExp(pattern);
    return (line) => expression.test(line);
  } catch {
    throw invalidArgument('pattern', 'must be a regular expression of JavaScript, or a literal without regex: true');
  }
}
