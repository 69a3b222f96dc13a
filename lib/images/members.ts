import type { Entry } from '../archive/tar-header.ts';
import { TarReader } from '../archive/tar-reader.ts';

/** A member of a layer, which is unpacked before the next one is read. */
export interface Member extends Entry {
  /** To be consumed at most once, before the next member is requested; unread content is skipped. */
  content: AsyncIterable<Uint8Array>;
}

/** Writers pad archives to complete records. */
const MAX_PADDING = 1 << 20;
/** Devices and FIFOs. */
const SPECIAL = '346';

type Part = { entry: Entry } | { bytes: Buffer } | 'end';

/**
 * Yields the members of an archive one by one, without devices and FIFOs. Throws INVALID_ARGUMENT for data that is not an
 * archive or is truncated. Holds the parts of one piece of the source.
 */
export async function* membersOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member, void, void> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    const next = partsOf(pieces);
    for (let part = await next(); part !== undefined; part = await next()) {
      if (part === 'end' || 'bytes' in part) continue;
      const { entry } = part;
      const content = contentOf(next, entry.type === 'file');
      yield { ...entry, content };
      for (let rest = await content.next(); !rest.done; rest = await content.next());
    }
    for (let skipped = 0; skipped < MAX_PADDING; ) {
      const { value, done } = await pieces.next();
      if (done) break;
      skipped += value.length;
    }
  } finally {
    await pieces.return?.();
  }
}

/** A function that returns the next part; undefined: the end of the archive was read. */
function partsOf(pieces: AsyncIterator<Uint8Array>): () => Promise<Part | undefined> {
  let parts: Part[] = [];
  let at = 0;
  const sink = {
    begin: (entry: Entry) => void parts.push({ entry }),
    content: (bytes: Buffer) => void parts.push({ bytes }),
    end: () => void parts.push('end'),
  };
  const reader = new TarReader(sink, SPECIAL);
  return async () => {
    while (at === parts.length && !reader.isDone) {
      parts = [];
      at = 0;
      const { value, done } = await pieces.next();
      if (done) reader.finish();
      else reader.feed(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    }
    return parts[at++];
  };
}

async function* contentOf(
  next: () => Promise<Part | undefined>,
  isFile: boolean,
): AsyncGenerator<Uint8Array, void, void> {
  if (!isFile) return;
  for (let part = await next(); typeof part === 'object' && 'bytes' in part; part = await next()) yield part.bytes;
}
