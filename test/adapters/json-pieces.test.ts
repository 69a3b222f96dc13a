import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPieces } from '../../adapters/http/json-pieces.ts';

const longest = (pieces: readonly string[]) => Math.max(...pieces.map(({ length }) => length));

describe('jsonPieces', () => {
  const large = 'x"\n\0é\ud83d\ude00'.repeat(200_000);
  const messages: readonly [string, unknown][] = [
    ['one long text', { stdout: large, stderr: '', exit_code: 0 }],
    ['many entries', { files: Array.from({ length: 30_000 }, (_, index) => ({ path: `a/${index}`, size: index })) }],
    ['many names', Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`name${index}`, null]))],
    ['details of an error', { code: 4, message: 'm', details: [{ stdout: large, stderr: large }] }],
    ['absent fields', { a: undefined, b: large, c: [], d: {} }],
    ['unpaired surrogates', { a: `${'y'.repeat(16_383)}\ud83d\ude00${'\ud83d'.repeat(70_000)}` }],
  ];
  it.each(messages)('has pieces of bounded length that together equal JSON.stringify of %s', (_, message) => {
    const pieces = [...jsonPieces(message)];
    expect(pieces.join('') === JSON.stringify(message)).toBe(true);
    expect(pieces.length).toBeGreaterThan(1);
    // Every character may be escaped, and the pending text is added.
    expect(longest(pieces)).toBeLessThan(7 * 16_384);
  });

  it('has pieces that together equal JSON.stringify of any message', () => {
    const value = fc.object({ maxDepth: 4, values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)] });
    fc.assert(fc.property(value, (message) => [...jsonPieces(message)].join('') === JSON.stringify(message)));
  });
});
