import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { headOf, isSameHead, storedHead } from '../../../../lib/codebases/tree/stored-head.ts';
import { FormatError } from '../../../../lib/trees/format/format-error.ts';
import { TreeScratch } from './trees.ts';

let scratch: TreeScratch;
beforeEach(async () => {
  scratch = new TreeScratch();
  await scratch.put('d/a', 'contents');
});

const read = (value: unknown) => headOf(JSON.parse(JSON.stringify(value)) as never);
const stored = () => storedHead(scratch.codebase.head);

it('is read from JSON as it was stored', () => {
  expect(read(stored())).toEqual(scratch.codebase.head);
});

it('is the same head only if nothing of it differs', async () => {
  const before = stored();
  expect(isSameHead(before, stored())).toBe(true);
  await scratch.codebase.leaseNumbers(10);
  const leased = stored();
  await scratch.put('d/a', 'other');
  expect([isSameHead(before, leased), isSameHead(leased, stored())]).toEqual([false, false]);
});

describe('what is none', () => {
  it('is refused with the name of the field', () => {
    const fields: [string, unknown][] = [
      ['store', 7],
      ['store', '0'],
      ['store', '18446744073709551616'],
      ['number', 0],
      ['number', '1'],
      ['version', 'ab'],
      ['version', stored().version.toUpperCase()],
      ['root', ''],
      ['root', `${stored().root} `],
      ['root', 3],
      ['next_ino', -1],
      ['next_ino', 1.5],
    ];
    for (const [field, value] of fields)
      expect(() => read({ ...stored(), [field]: value })).toThrow(`${field} must be`);
  });

  it('is refused whatever it is', () => {
    for (const value of [null, 'head', 3, [], {}]) expect(() => read(value)).toThrow(FormatError);
  });

  it('is refused if a byte of the root is another one, unless that is a root, too', () => {
    const bytes = Buffer.from(stored().root, 'base64');
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), fc.nat(bytes.length), (at, by, end) => {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(at) ^ by, at);
        for (const root of [changed, bytes.subarray(0, end)]) {
          try {
            expect(storedHead(read({ ...stored(), root: root.toString('base64') })).root).toBe(root.toString('base64'));
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError);
          }
        }
      }),
    );
  });
});
