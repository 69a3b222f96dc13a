/** A ClientHello of a browser has about 2 KB with post-quantum keys. */
const MAX_HELLO_BYTES = 16_384;
const MAX_RECORD_BYTES = 16_384 + 256;
/** Each record is looked at again with each chunk that arrives. */
const MAX_RECORDS = 16;
const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** What is refused is told by its name. */
const NAME = /^[\x21-\x7e]{0,255}$/;

export type Hello =
  /** Not complete yet. */
  | 'more'
  /** Not a ClientHello, or too long. */
  | 'invalid'
  /** `serverName`: lower case; undefined: the extension is absent. */
  | { serverName: string | undefined };

/** Reads the server name of the ClientHello that `bytes` starts with; it may be in several records. */
export function readClientHello(bytes: Buffer): Hello {
  const message = handshakeMessage(bytes);
  if (!Buffer.isBuffer(message)) return message;
  try {
    const names = serverNames(new Reader(message));
    // A server could choose another one of two.
    if (names.length > 1 || !NAME.test(names[0] ?? '')) return 'invalid';
    return { serverName: names[0]?.toLowerCase() };
  } catch (error) {
    if (error instanceof RangeError) return 'invalid';
    throw error;
  }
}

/** The body of the first handshake message. */
function handshakeMessage(bytes: Buffer): Buffer | 'more' | 'invalid' {
  const parts: Buffer[] = [];
  let have = 0;
  let at = 0;
  while (parts.length < MAX_RECORDS) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return 'invalid';
    if (bytes.length < at + 5) return 'more';
    const length = bytes.readUInt16BE(at + 3);
    // An empty record brings nothing forward.
    if (bytes[at + 1] !== 3 || length === 0 || length > MAX_RECORD_BYTES) return 'invalid';
    const part = bytes.subarray(at + 5, at + 5 + length);
    parts.push(part);
    have += part.length;
    const want = wanted(parts, have);
    if (want === 'invalid') return 'invalid';
    if (want !== 'more' && have >= want) return Buffer.concat(parts).subarray(4, want);
    if (part.length < length) return 'more';
    at += 5 + length;
  }
  return 'invalid';
}

/** The length of the message with its header. */
function wanted(parts: readonly Buffer[], have: number): number | 'more' | 'invalid' {
  if (have < 4) return have > 0 && parts[0]![0] !== CLIENT_HELLO ? 'invalid' : 'more';
  const head = Buffer.concat(parts.map((part) => part.subarray(0, 4))).subarray(0, 4);
  const length = head.readUIntBE(1, 3) + 4;
  return head[0] !== CLIENT_HELLO || length > MAX_HELLO_BYTES ? 'invalid' : length;
}

function serverNames(hello: Reader): string[] {
  // Version and random.
  hello.take(34);
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.atEnd) return [];
  const names: string[] = [];
  const extensions = new Reader(hello.vector(2));
  while (!extensions.atEnd) {
    const type = extensions.number(2);
    const extension = extensions.vector(2);
    if (type !== SERVER_NAME) continue;
    const list = new Reader(new Reader(extension).vector(2));
    while (!list.atEnd) {
      const kind = list.number(1);
      const name = list.vector(2).toString('latin1');
      names.push(kind === HOST_NAME ? name : '');
    }
  }
  return names;
}

/** Throws a RangeError beyond the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }

  /** Bytes after their length, which has `size` bytes. */
  vector(size: number): Buffer {
    return this.take(this.number(size));
  }

  take(size: number): Buffer {
    if (this.#at + size > this.#bytes.length) throw new RangeError('cut off');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
