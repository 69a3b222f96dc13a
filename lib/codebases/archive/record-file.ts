import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { type ByteString, fromLatin1 } from '../../byte-string.ts';

/** A path with what is to be done there; the meaning of the numbers depends on the kind. */
export interface PathRecord {
  kind: string;
  path: ByteString;
  a: number;
  b: number;
}

const BUFFER = 64 * 1024;

/** Writes records to a new file of the server, so that a million of them need no memory. */
export class RecordWriter {
  #fd: number | undefined;
  #held = '';

  constructor(path: string) {
    this.#fd = openSync(path, 'wx', 0o600);
  }

  add({ kind, path, a, b }: PathRecord): void {
    this.#held += `${kind}\0${path}\0${a}\0${b}\0`;
    if (this.#held.length > BUFFER) this.#flush();
  }

  /** Writes what is held and closes the file; does nothing the second time. `sync`: makes it durable. */
  end(sync = false): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    try {
      this.#flush();
      if (sync) fsyncSync(fd);
    } finally {
      this.#fd = undefined;
      closeSync(fd);
    }
  }

  #flush(): void {
    const bytes = Buffer.from(this.#held, 'latin1');
    this.#held = '';
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd!, bytes, done);
  }
}

/** Yields the records of a file in the order in which they were added. */
export function* readRecords(path: string): Generator<PathRecord, void, void> {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(BUFFER);
    let held = '';
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
      const fields = (held + buffer.toString('latin1', 0, read)).split('\0');
      const whole = fields.length - 1 - ((fields.length - 1) % 4);
      for (let at = 0; at < whole; at += 4) {
        yield {
          kind: fields[at]!,
          path: fromLatin1(fields[at + 1]!),
          a: Number(fields[at + 2]),
          b: Number(fields[at + 3]),
        };
      }
      held = fields.slice(whole).join('\0');
    }
  } finally {
    closeSync(fd);
  }
}
