import type { Entry } from '../../../lib/archive/tar-header.ts';
import { TarReader } from '../../../lib/archive/tar-reader.ts';

/** The members of an archive, with their contents. */
export async function readMembers(
  archive: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<(Entry & { content: Buffer })[]> {
  const members: (Entry & { content: Buffer })[] = [];
  const parts: Buffer[] = [];
  const reader = new TarReader({
    begin: (entry) => void members.push({ ...entry, content: Buffer.alloc(0) }),
    content: (bytes) => void parts.push(Buffer.from(bytes)),
    end: () => {
      members.at(-1)!.content = Buffer.concat(parts.splice(0));
    },
  });
  for await (const piece of archive) reader.feed(Buffer.from(piece));
  reader.finish();
  return members;
}
