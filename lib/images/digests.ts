import { createHash } from 'node:crypto';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isDigest(text: unknown): text is string {
  return typeof text === 'string' && DIGEST.test(text);
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Passes bytes on; `digest` is that of all of them, at their end. */
export class Digesting {
  readonly #hash = createHash('sha256');

  async *through(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    for await (const bytes of source) {
      this.#hash.update(bytes);
      yield bytes;
    }
  }

  digest(): string {
    return `sha256:${this.#hash.digest('hex')}`;
  }
}
