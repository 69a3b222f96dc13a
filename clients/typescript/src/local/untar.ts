/** A file, directory or symlink of an archive. */
export interface Member {
  path: string;
  type: 'file' | 'directory' | 'symlink';
  mode: number;
  /** Target of a symlink. */
  target: string;
  data: Uint8Array;
}

const BLOCK = 512;
const TYPES: Readonly<Record<string, Member['type']>> = { '0': 'file', '\0': 'file', '2': 'symlink', '5': 'directory' };

const decoder = new TextDecoder();

/** The members of a tar archive as the server writes it (ustar and pax). Hard links are files with the same contents. */
export async function* untar(archive: ReadableStream<Uint8Array>): AsyncGenerator<Member, void, void> {
  const input = new Input(archive.getReader());
  const files = new Map<string, Member>();
  let pax: Record<string, string> = {};
  try {
    for (;;) {
      const header = await input.take(BLOCK);
      if (header === undefined || header.every((byte) => byte === 0)) return;
      const field = (at: number, length: number) => text(header.subarray(at, at + length));
      const type = field(156, 1) || '0';
      const size = pax.size === undefined ? Number.parseInt(field(124, 12), 8) || 0 : Number(pax.size);
      const data = (await input.take(size)) ?? new Uint8Array(0);
      await input.take((BLOCK - (size % BLOCK)) % BLOCK);
      if (type === 'x') {
        pax = recordsOf(data);
        continue;
      }
      const prefix = field(345, 155);
      const path = (pax.path ?? (prefix ? `${prefix}/` : '') + field(0, 100)).replace(/\/+$/, '');
      const target = pax.linkpath ?? field(157, 100);
      pax = {};
      const mode = Number.parseInt(field(100, 8), 8) & 0o777;
      const linked = type === '1' ? files.get(target) : undefined;
      if (TYPES[type] === undefined && linked === undefined) continue;
      const member = { path, type: TYPES[type] ?? 'file', mode, target, data: linked?.data ?? data };
      if (member.type === 'file') files.set(path, member);
      yield member;
    }
  } finally {
    await input.cancel();
  }
}

const text = (bytes: Uint8Array): string => decoder.decode(bytes).replace(/\0.*$/s, '').trim();

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

/** Bytes of a stream in pieces of the size that is asked for. */
class Input {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader;
  }

  /** undefined at the end of the stream. Throws if the stream ends before. */
  async take(size: number): Promise<Uint8Array | undefined> {
    const taken = new Uint8Array(size);
    for (let at = 0; at < size; ) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#reader.read();
        if (done && at === 0) return undefined;
        if (done) throw new Error('the archive ends early');
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, size - at);
      taken.set(part, at);
      at += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return taken;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined);
  }
}
