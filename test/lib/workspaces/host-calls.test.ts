import { describe, expect, it, vi } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import type { Base } from '../../../lib/workspaces/base/base.ts';
import { baseNames } from '../../../lib/workspaces/history/changed-names.ts';
import { type Source, sameContents } from '../../../lib/workspaces/history/same-contents.ts';

/** Contents, and the sizes of the reads. */
function contents(bytes: Buffer): { source: Source; reads: number[] } {
  const reads: number[] = [];
  const read = (offset: number, into: Buffer) => {
    reads.push(into.length);
    return bytes.copy(into, 0, offset);
  };
  return { source: () => ({ read, close: () => undefined }), reads };
}

describe('the comparison of a file with that of the codebase', () => {
  it.each([[1024], [65_536], [65_537], [200_000]])('of %i bytes reads each byte once and nothing else', (size) => {
    const one = contents(Buffer.alloc(size, 'a'));
    const other = contents(Buffer.alloc(size, 'a'));
    expect(complete(sameContents(one.source, other.source, size))).toBe(true);
    for (const { reads } of [one, other]) expect(reads.reduce((sum, each) => sum + each)).toBe(size);
  });

  it.each([[0], [65_535], [65_536], [199_999]])('finds the byte %i that differs', (at) => {
    const changed = Buffer.alloc(200_000, 'a');
    changed[at] = 98;
    const one = contents(Buffer.alloc(200_000, 'a'));
    expect(complete(sameContents(one.source, contents(changed).source, 200_000))).toBe(false);
  });

  it('finds that one has become shorter', () => {
    const one = contents(Buffer.alloc(1000, 'a'));
    expect(complete(sameContents(one.source, contents(Buffer.alloc(999, 'a')).source, 1000))).toBe(false);
  });

  it('looks each name up once for its two keys', () => {
    const lstatIn = vi.fn(() => undefined);
    const base = { lstatIn } as Partial<Base> as Base;
    const names = complete(baseNames(base, { path: fromText('d'), wasDirectory: true }, 2));
    for (const name of ['a', 'a', 'b', 'b']) names.stat(fromText(name));
    expect(lstatIn.mock.calls).toEqual([
      ['d', 'a'],
      ['d', 'b'],
    ]);
  });
});
