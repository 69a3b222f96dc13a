import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputEnds } from '../../handlers/input/output-ends.ts';
import { ExecMemory } from '../../lib/exec-memory.ts';

/** Appends the bytes in pieces of `size`. */
function ends(bytes: Buffer, limit: number, size: number): OutputEnds {
  const output = new OutputEnds(limit, new ExecMemory(undefined, 'sb'));
  for (let at = 0; at < bytes.length; at += size) output.append(Buffer.from(bytes.subarray(at, at + size)));
  return output;
}

const marked = /^(.*?)\n?\[(\d+) bytes left out\]\n(.*)$/s;
const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '€', '😀'), maxLength: 80 });

it('has the beginning and the end, undivided characters, and the count of the rest', () => {
  fc.assert(
    fc.property(text, fc.nat(60), fc.nat(60), fc.integer({ min: 1, max: 20 }), (written, limit, less, size) => {
      const bytes = Buffer.from(written);
      const room = Math.max(0, limit - less);
      const { text: shown, dropped } = ends(bytes, limit, size).text(room);
      if (bytes.length <= room) {
        expect([String(shown), dropped]).toEqual([written, 0]);
        return;
      }
      const [, head, count, tail] = marked.exec(String(shown))!;
      expect(Number(count)).toBe(dropped);
      expect(`${head}${tail}`).not.toContain('\ufffd');
      expect(written.startsWith(head!)).toBe(true);
      expect(written.endsWith(tail!)).toBe(true);
      const kept = bytes.length - dropped;
      expect(kept).toBeLessThanOrEqual(room);
      expect(kept).toBeGreaterThan(room - 8);
    }),
  );
});

it('accepts bytes that are not UTF-8', () => {
  const { text: shown, dropped } = ends(Buffer.alloc(100, 0x80), 20, 7).text();
  expect(String(shown)).toBe(`${'\ufffd'.repeat(10)}\n[80 bytes left out]\n${'\ufffd'.repeat(10)}`);
  expect(dropped).toBe(80);
});

it('tells at the beginning what was gone before', () => {
  const output = ends(Buffer.from('abc'), 10, 10);
  output.skip(5);
  expect(output.text()).toEqual({ text: '[5 bytes left out]\nabc', dropped: 5 });
});
