/** A write that is in the page cache, by its order. `synced`: it survives; others may, or may in part. */
interface Change {
  readonly offset: number;
  /** undefined: the file was cut to `offset`. */
  readonly bytes: Buffer | undefined;
  state: 'pending' | 'synced' | 'doubtful';
}

/** Picks what survives a crash: a number below `n`. */
export type Choose = (n: number) => number;

/** Units in which a disk writes: a torn write has any subset of them. */
const SECTOR = 512;

/** The contents of a file: as programs see them, and what a crash may make of them. */
export class SimulatedFile {
  mode: number;
  names = 0;
  contents = Buffer.alloc(0);
  #size = 0;
  #durable = Buffer.alloc(0);
  #changes: Change[] = [];

  constructor(mode: number) {
    this.mode = mode;
  }

  get size(): number {
    return this.#size;
  }

  read(into: Uint8Array, offset: number): number {
    return this.contents.subarray(0, this.#size).copy(into, 0, Math.min(offset, this.#size));
  }

  write(bytes: Uint8Array, offset: number): void {
    if (bytes.length === 0) return;
    this.#apply(Buffer.from(bytes), offset);
    this.#changes.push({ offset, bytes: Buffer.from(bytes), state: 'pending' });
  }

  truncate(size: number): void {
    this.#apply(undefined, size);
    this.#changes.push({ offset: size, bytes: undefined, state: 'pending' });
  }

  sync(): void {
    for (const change of this.#changes) if (change.state === 'pending') change.state = 'synced';
    if (this.#changes.some(({ state }) => state !== 'synced')) return;
    this.#durable = Buffer.from(this.contents.subarray(0, this.#size));
    this.#changes = [];
  }

  /** As Linux does: the pages count as clean from now on, and no later sync writes them. */
  syncFailed(): void {
    for (const change of this.#changes) if (change.state === 'pending') change.state = 'doubtful';
  }

  /** The file after a loss of power. */
  crashed(choose: Choose): SimulatedFile {
    const file = new SimulatedFile(this.mode);
    file.#apply(this.#durable, 0);
    for (const { offset, bytes, state } of this.#changes) {
      if (state === 'synced') file.#apply(bytes, offset);
      else if (bytes === undefined) choose(2) && file.#apply(undefined, offset);
      else file.#applySome(bytes, offset, choose);
    }
    file.#durable = Buffer.from(file.contents.subarray(0, file.#size));
    return file;
  }

  /** 0: nothing; 1: all; 2: a beginning; 3: some sectors; 4: the size alone, what was there stays. */
  #applySome(bytes: Buffer, offset: number, choose: Choose): void {
    const how = choose(5);
    if (how === 1) this.#apply(bytes, offset);
    if (how === 2) this.#apply(bytes.subarray(0, choose(bytes.length + 1)), offset);
    if (how === 4) {
      const grown = offset + bytes.length - this.#size;
      if (grown > 0) this.#apply(Buffer.alloc(grown), this.#size);
    }
    if (how !== 3) return;
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + SECTOR - ((offset + at) % SECTOR));
      if (choose(2)) this.#apply(bytes.subarray(at, end), offset + at);
      at = end;
    }
  }

  /** `contents` is larger than the file, so that appending is cheap. */
  #apply(bytes: Buffer | undefined, offset: number): void {
    const end = bytes === undefined ? offset : Math.max(this.#size, offset + bytes.length);
    if (end > this.contents.length) {
      const larger = Buffer.alloc(Math.max(end, this.contents.length * 2));
      this.contents.copy(larger, 0, 0, this.#size);
      this.contents = larger;
    }
    if (bytes === undefined) this.contents.fill(0, Math.min(end, this.#size));
    else bytes.copy(this.contents, offset);
    this.#size = end;
  }
}
