import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StatusParser } from '../../../../lib/runtime/executor/status.ts';

const N = '0123456789abcdef';
const parse = (...chunks: string[]) => {
  const parser = new StatusParser();
  return chunks.flatMap((chunk) => parser.push(Buffer.from(chunk, 'latin1')));
};

describe('StatusParser', () => {
  it('reads complete lines from arbitrary chunks', () => {
    const line = `${N} x 137\n`;
    const expected = [{ nonce: N, kind: 'x', value: 137 }];
    expect(parse(line)).toEqual(expected);
    expect(parse(...line)).toEqual(expected);
    expect(parse(line + line)).toEqual([...expected, ...expected]);
  });

  it.each(['x\n', '\n', `${N} x\n`, `${N} z 1\n`, `${N} x -1\n`, `${N} x 1 \n`, ` ${N} x 1\n`, `${N} x 99999999999\n`])(
    'reports %j as garbage',
    (line) => {
      expect(parse(line)).toEqual([undefined]);
    },
  );

  it('does not buffer a line that never ends', () => {
    expect(parse('a'.repeat(65))).toEqual([undefined]);
    expect(parse('a'.repeat(100_000))).toEqual([undefined]);
  });

  it('returns lines or garbage for arbitrary bytes, and never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 5 }), (chunks) => {
        const parser = new StatusParser();
        for (const chunk of chunks)
          for (const line of parser.push(chunk)) expect(line?.nonce ?? N).toMatch(/^[0-9a-f]{16}$/);
      }),
    );
  });
});
