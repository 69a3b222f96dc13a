import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonBounds } from '../../adapters/http/json-bounds.ts';

/** Pushes the text in parts of the given lengths, the rest as one. */
function push(text: string, lengths: readonly number[] = []): void {
  const bytes = Buffer.from(text);
  const bounds = new JsonBounds();
  let at = 0;
  for (const length of lengths) {
    bounds.push(bytes.subarray(at, at + length));
    at += length;
  }
  bounds.push(bytes.subarray(at));
}

describe('JsonBounds', () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it('counts no bracket within a string, however the body is divided', () => {
    const texts = ['"', '\\', '[[[[', '{', 'é', ',,'];
    const strings = fc.array(
      fc.array(fc.constantFrom(...texts)).map((parts) => parts.join('')),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(strings, fc.array(fc.nat(7), { maxLength: 30 }), (values, lengths) => {
        push(JSON.stringify({ values, depth: { of: values } }), lengths);
        expect(() => push(`${JSON.stringify(values)}${deep(33)}`, lengths)).toThrow('nested at most 32 deep');
      }),
    );
  });

  it('refuses too many values at the part that has them', () => {
    const bounds = new JsonBounds();
    bounds.push(Buffer.from(`[${'1,'.repeat(65_000)}`));
    expect(() => bounds.push(Buffer.from('1,'.repeat(1000)))).toThrow('at most 65536 values');
  });
});
