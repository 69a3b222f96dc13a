/** Milliseconds until a transfer is shown, and between two updates. */
const LATE_MS = 500;
const EVERY_MS = 100;

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A number of bytes for people. */
export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  for (; size >= 1000 && unit < UNITS.length - 1; unit++) size /= 1000;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

/** The progress of a transfer: one line that is written again. */
export class Progress {
  readonly #what: string;
  readonly #write: ((text: string) => void) | undefined;
  readonly #startedAt = performance.now();
  #shownAt = 0;
  #bytes = 0;
  #files = 0;
  #allFiles = 0;

  constructor(what: string, write: ((text: string) => void) | undefined) {
    this.#what = what;
    this.#write = write;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A file was read, of this many; 0: not known. */
  file(all = 0): void {
    this.#files++;
    this.#allFiles = all;
  }

  add(bytes: number, total?: number): void {
    this.#bytes += bytes;
    const now = performance.now();
    if (!this.#write || now - this.#startedAt < LATE_MS || now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    const rate = `${sizeText((this.#bytes / (now - this.#startedAt)) * 1000)}/s`;
    const done = total
      ? `${bar(this.#bytes / total)} ${sizeText(this.#bytes)} of ${sizeText(total)}`
      : sizeText(this.#bytes);
    const files =
      this.#files === 0 ? '' : `${this.#files}${this.#allFiles === 0 ? '' : ` of ${this.#allFiles}`} files, `;
    this.#write(`\r\x1b[K${this.#what}: ${files}${done}, ${rate}`);
  }

  /** Counts what passes. */
  async *count(pieces: AsyncIterable<Uint8Array>, total?: number): AsyncGenerator<Uint8Array, void, void> {
    try {
      for await (const piece of pieces) {
        this.add(piece.length, total);
        yield piece;
      }
    } finally {
      this.end();
    }
  }

  end(): void {
    if (this.#shownAt > 0) this.#write?.('\r\x1b[K');
    this.#shownAt = 0;
  }
}

const WIDTH = 20;

function bar(share: number): string {
  const full = Math.round(Math.min(share, 1) * WIDTH);
  return `[${'='.repeat(full)}${' '.repeat(WIDTH - full)}]`;
}
