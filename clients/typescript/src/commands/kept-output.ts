/** The beginning and the end of a stream of bytes, as Exec keeps them with `max_output`. */
export class KeptOutput {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  dropped = 0;

  /** `limit`: bytes to keep. `tail`: keep the end, too. */
  constructor(limit: number, tail: boolean) {
    this.#tailLimit = tail ? Math.floor(limit / 2) : 0;
    this.#headLimit = limit - this.#tailLimit;
  }

  append(data: Uint8Array): void {
    const room = this.#headLimit - this.#headBytes;
    if (room > 0) {
      const part = data.subarray(0, room);
      this.#head.push(part);
      this.#headBytes += part.length;
    }
    const rest = data.subarray(Math.max(room, 0));
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    while (this.#tailBytes > this.#tailLimit) {
      const first = this.#tail[0]!;
      const excess = Math.min(this.#tailBytes - this.#tailLimit, first.length);
      this.dropped += excess;
      this.#tailBytes -= excess;
      if (excess === first.length) this.#tail.shift();
      else this.#tail[0] = first.subarray(excess);
    }
  }

  /** Divided characters at the cut are left out. */
  text(): string {
    if (this.dropped === 0) return decode([...this.#head, ...this.#tail]);
    const head = decode(this.#head).replace(/\ufffd$/, '');
    const tail = decode(this.#tail).replace(/^\ufffd{1,3}/, '');
    return `${head}\n[${this.dropped} bytes left out]\n${tail}`;
  }
}

function decode(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
}
