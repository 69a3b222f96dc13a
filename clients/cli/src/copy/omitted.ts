import type { FileStat } from 'paddock-sandbox';
import type { Refusal } from 'paddock-sandbox/local';
import type { Copy } from './copied.ts';

type LeftOut = { path: string } & Refusal;

const SPECIAL = 'it is neither a file, a directory nor a symlink';
const UNREADABLE = 'it is not readable, or not there any more';

/** What an archive of a directory does not have. */
export class Omitted {
  readonly #left: Map<string, FileStat['type']>;

  private constructor(left: Map<string, FileStat['type']>) {
    this.#left = left;
  }

  /** To be asked before the archive: what is made after that is not missed. */
  static async of(directory: string, { files, signal }: Pick<Copy, 'files' | 'signal'>): Promise<Omitted> {
    const left = new Map<string, FileStat['type']>();
    const start = directory === '' ? 0 : directory.length + 1;
    for await (const { path, type } of files.list(directory, { recursive: true, signal }))
      left.set(path.slice(start), type);
    return new Omitted(left);
  }

  /** The archive has it. */
  has(path: string): void {
    this.#left.delete(path);
  }

  all(): LeftOut[] {
    return [...this.#left].map(([path, type]) => ({ path, reason: type === 'other' ? SPECIAL : UNREADABLE }));
  }

  /** Sockets, FIFOs and devices. */
  special(): LeftOut[] {
    return this.all().filter(({ reason }) => reason === SPECIAL);
  }
}
