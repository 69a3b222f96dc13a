import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createDeflate } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const LINE_BYTES = 52;
const ENOUGH = 64 * 1024;

/** The hash of a repository of git. */
export type ObjectFormat = 'sha1' | 'sha256';

/** The id of no object, as that of a file that does not exist. */
export const noBlob = (format: ObjectFormat): string => '0'.repeat(format === 'sha1' ? 40 : 64);

/** Returns git's object id of a blob with `size` bytes. */
export async function blobId(format: ObjectFormat, size: number, content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash(format).update(`blob ${size}\0`);
  for await (const bytes of content) hash.update(bytes);
  return hash.digest('hex');
}

/** Encodes the new content as a hunk of `GIT binary patch` (format: git's apply.c and base85.c). */
export async function* literal(size: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  yield Buffer.from(`literal ${size}\n`);
  const deflate = createDeflate();
  // Linked to the content: if the reader stops early, the content is closed.
  const feeding = pipeline(Readable.from(content), deflate);
  feeding.catch(() => undefined);
  let held = Buffer.alloc(0);
  for await (const bytes of deflate as AsyncIterable<Buffer>) {
    held = Buffer.concat([held, bytes]);
    if (held.length < ENOUGH) continue;
    const whole = held.length - (held.length % LINE_BYTES);
    yield lines(held.subarray(0, whole));
    held = held.subarray(whole);
  }
  await feeding;
  yield lines(held);
  yield Buffer.from('\n');
}

function lines(bytes: Buffer): Buffer {
  let text = '';
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const line = bytes.subarray(at, at + LINE_BYTES);
    text += String.fromCharCode(line.length <= 26 ? 64 + line.length : 96 + line.length - 26);
    for (let four = 0; four < line.length; four += 4) text += group(line, four);
    text += '\n';
  }
  return Buffer.from(text, 'latin1');
}

function group(bytes: Buffer, at: number): string {
  let value = 0;
  for (let index = 0; index < 4; index++) value = value * 256 + (bytes[at + index] ?? 0);
  let text = '';
  for (let digit = 0; digit < 5; digit++) {
    text = ALPHABET[value % 85] + text;
    value = Math.floor(value / 85);
  }
  return text;
}
