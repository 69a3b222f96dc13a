import { expect, it } from 'vitest';
import { memberHead, memberPadding, tarEnd } from '../../../../lib/archive/tar.ts';
import { TarReader } from '../../../../lib/archive/tar-reader.ts';
import { fromText } from '../../../../lib/byte-string.ts';
import { MemberBatch } from '../../../../lib/sandboxes/files/member-batch.ts';
import type { FileSession } from '../../../../lib/sandboxes/files/session.ts';
import type { ArchiveMember } from '../../../../lib/workspaces/workspace-files.ts';

/** A workspace that keeps the contents of small files, and the size of each call. */
class FakeFiles {
  readonly contents = new Map<string, Buffer>();
  readonly sizes: number[] = [];
  readonly large: Buffer[] = [];

  readonly session = {
    call: async (operation: string, ...args: unknown[]) => {
      if (operation === 'addMembers') this.#add(args[1] as ArchiveMember[], Buffer.from(args[2] as Uint8Array));
      if (operation === 'append') this.large.push(Buffer.from(args[1] as Uint8Array));
      return 7;
    },
  } as unknown as FileSession;

  #add(members: readonly ArchiveMember[], data: Buffer): void {
    this.sizes.push(data.length);
    for (const member of members) {
      if (member.type !== 'file' || member.handle !== undefined) continue;
      this.contents.set(String(member.path), data.subarray(member.at, member.at + member.size));
    }
  }
}

function archive(sizes: readonly number[]): { bytes: Buffer; contents: Buffer[] } {
  const contents = sizes.map((size, index) => Buffer.alloc(size, `content ${index} `));
  const members = contents.flatMap((content, index) => [
    memberHead({
      path: fromText(`f${index}`),
      type: 'file',
      mode: 0o644,
      mtime: { sec: 1, nsec: 0 },
      size: content.length,
    }),
    content,
    memberPadding(content.length),
  ]);
  return { bytes: Buffer.concat([...members, tarEnd()]), contents };
}

it('sends full batches also if each piece of the archive ends within a content', async () => {
  const files = new FakeFiles();
  const batch = new MemberBatch(files.session, 1);
  const reader = new TarReader(batch);
  // A head and a content have the size of a piece.
  const sizes = Array.from({ length: 40 }, (_, index) => (index === 20 ? 2 * 65_536 - 512 : 65_536 - 512));
  const { bytes, contents } = archive(sizes);
  for (let at = 0; at < bytes.length; ) {
    const next = at === 0 ? 1000 : at + 65_536;
    reader.feed(bytes.subarray(at, next));
    await batch.sendLarge();
    at = next;
  }
  expect(files.sizes.length).toBeGreaterThan(5);
  reader.finish();
  await batch.flush();
  expect(Math.max(...files.sizes)).toBeLessThanOrEqual(384 * 1024);
  for (const [index, content] of contents.entries()) {
    const stored = index === 20 ? Buffer.concat(files.large) : files.contents.get(`f${index}`);
    expect(stored?.equals(content)).toBe(true);
  }
});
