/** A file, directory or symlink of an archive. */
export interface Member {
  path: string;
  type: 'file' | 'directory' | 'symlink';
  mode: number;
  /** Milliseconds since 1970. */
  mtimeMs: number;
  /** Target of a symlink. */
  target: string;
  /** Bytes of the file. */
  size: number;
  /** Once, and before the next member. */
  content: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
/** Bytes of a pax header: more than the longest path and target need. */
const MAX_PAX = 1024 * 1024;
const TYPES: Readonly<Record<string, Member['type']>> = { '0': 'file', '': 'file', '2': 'symlink', '5': 'directory' };

/** A byte order mark at the beginning of a name belongs to the name. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The members of a tar archive as the server writes it (ustar and pax). Members of other types are left out. */
export async function* untar(archive: ReadableStream<Uint8Array>): AsyncGenerator<Member, void, void> {
  const input = new Input(archive.getReader());
  let pax: Record<string, string> = {};
  try {
    for (;;) {
      const header = await input.take(BLOCK);
      if (header.every((byte) => byte === 0)) return;
      const field = (at: number, length: number) => text(header.subarray(at, at + length));
      const type = field(156, 1);
      const size = sizeOf(pax.size ?? '', field(124, 12));
      const end = (BLOCK - (size % BLOCK)) % BLOCK;
      if (type === 'x') {
        if (size > MAX_PAX) throw new Error('a header of the archive is too large');
        pax = recordsOf(await input.take(size));
        await input.take(end);
        continue;
      }
      const prefix = field(345, 155);
      const path = (pax.path ?? (prefix ? `${prefix}/` : '') + field(0, 100)).replace(/\/+$/, '');
      const target = pax.linkpath ?? field(157, 100);
      const mode = Number.parseInt(field(100, 8), 8) & 0o777;
      const mtimeMs = 1000 * Number(pax.mtime ?? Number.parseInt(field(136, 12), 8)) || 0;
      const known = TYPES[type];
      pax = {};
      const content = input.pieces(size);
      if (known !== undefined) yield { path, type: known, mode, mtimeMs, target, size, content };
      // What the reader left.
      await content.drain();
      await input.take(end);
    }
  } finally {
    await input.cancel();
  }
}

function sizeOf(pax: string, field: string): number {
  const size = pax === '' ? Number.parseInt(field.trim() || '0', 8) : Number(pax);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error('a size in the archive is not a number');
  return size;
}

/** Up to the first NUL. Spaces belong to a name. */
const text = (bytes: Uint8Array): string => decoder.decode(bytes).replace(/\0.*$/s, '');

/** "LENGTH NAME=VALUE\n", where the length counts bytes. */
function recordsOf(data: Uint8Array): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < data.length; ) {
    const length = Number.parseInt(decoder.decode(data.subarray(at, at + 20)), 10);
    if (!(length > 0)) break;
    const record = decoder.decode(data.subarray(at, at + length - 1));
    const [, name = '', value = ''] = /^\d+ ([^=]+)=(.*)$/s.exec(record) ?? [];
    records[name] = value;
    at += length;
  }
  return records;
}

interface Pieces extends AsyncIterable<Uint8Array> {
  drain(): Promise<void>;
}

/** Bytes of a stream in pieces. Throws if the stream ends before. */
class Input {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  async take(size: number): Promise<Uint8Array> {
    const taken = new Uint8Array(size);
    for (let at = 0; at < size; ) {
      const part = await this.#some(size - at);
      taken.set(part, at);
      at += part.length;
    }
    return taken;
  }

  /** The next `size` bytes, as they come. */
  pieces(size: number): Pieces {
    let left = size;
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      if (left === 0) return { done: true, value: undefined };
      const value = await this.#some(left);
      left -= value.length;
      return { done: false, value };
    };
    const drain = async () => {
      while (!(await next()).done);
    };
    return { [Symbol.asyncIterator]: () => ({ next }), drain };
  }

  async #some(most: number): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) throw new Error('the archive ends early');
      this.#rest = value;
    }
    const part = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined);
  }
}
