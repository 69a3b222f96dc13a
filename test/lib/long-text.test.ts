import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partsOf } from '../../adapters/grpc/large-message.ts';
import { statusOf } from '../../adapters/grpc/status.ts';
import { jsonPieces } from '../../adapters/http/json-pieces.ts';
import { isLarge } from '../../adapters/message-weight.ts';
import { ServiceError } from '../../lib/errors.ts';
import { LongText, TextBuffer } from '../../lib/long-text.ts';

const MIB = 1024 * 1024;

function buffered(pieces: readonly Uint8Array[]): TextBuffer {
  const text = new TextBuffer();
  for (const piece of pieces) text.append(Buffer.from(piece));
  return text;
}

describe('TextBuffer', () => {
  it('has the text of its bytes, however they were divided', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 }), (pieces) => {
        expect(buffered(pieces).text()).toBe(Buffer.concat(pieces).toString('utf8'));
      }),
    );
  });

  it('omits a partial character before the end, which has a line of its own', () => {
    const euro = Buffer.from('€');
    const cut = (...pieces: Buffer[]) => buffered(pieces).text('[cut]\n');
    expect(cut()).toBe('[cut]\n');
    expect(cut(euro.subarray(0, 2))).toBe('[cut]\n');
    expect(cut(Buffer.from('a\n'), euro.subarray(0, 2))).toBe('a\n[cut]\n');
    expect(cut(Buffer.from('a'), euro.subarray(0, 2))).toBe('a\n[cut]\n');
    expect(cut(euro.subarray(0, 1), euro.subarray(1))).toBe('€\n[cut]\n');
  });

  it('has a long text as pieces, none of which divides a character', () => {
    const whole = Buffer.from('é\u{fffd}\u{1f600}x"\n'.repeat(20_000));
    const text = buffered([whole.subarray(0, 100_001), whole.subarray(100_001)]).text() as LongText;
    expect(text).toBeInstanceOf(LongText);
    const pieces = [...text.pieces()];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(16_384);
    expect(pieces.join('') === whole.toString()).toBe(true);
    expect(pieces.every((piece) => (piece as string & { isWellFormed(): boolean }).isWellFormed())).toBe(true);
    expect(text.ending(12).endsWith('\u{1f600}x"\n')).toBe(true);
    expect(text.ending(whole.length + 1) === whole.toString()).toBe(true);
  });
});

describe('a long text in a message', () => {
  const chunks = [Buffer.from('"\u{1f600}\n'.repeat(2 * MIB))];
  const text = new LongText(chunks);

  it('is encoded in pieces of bounded length as JSON, equal to those of the string', () => {
    const message = { details: [{ stdout: text, stderr: '' }] };
    expect(isLarge(message)).toBe(true);
    const pieces = [...jsonPieces(message)];
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(7 * 16_384);
    expect(pieces.join('') === JSON.stringify({ details: [{ stdout: String(text), stderr: '' }] })).toBe(true);
  });

  it('is encoded in pieces of bounded length for gRPC, equal to the string', () => {
    const tag = Buffer.from([0x0a, 1, 0x78]);
    const parts = [...partsOf({ stdout: text }, (message) => ('stdout' in message ? tag : Buffer.alloc(0)))];
    expect(Math.max(...parts.map((part) => Buffer.byteLength(part)))).toBeLessThan(16_384 + 4);
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as Buffer)));
    // The tag, and the length as a varint of four bytes.
    expect(bytes.subarray(5).equals(chunks[0]!)).toBe(true);
  });

  it('has its end in the trailers of a gRPC error, as the string has', () => {
    const trailers = (stdout: unknown) =>
      statusOf(new ServiceError('DEADLINE_EXCEEDED', 'late', [{ stdout }])).metadata.get('grpc-status-details-bin');
    expect(trailers(text)).toEqual(trailers(String(text)));
    const cut = new LongText(chunks, '[cut]\n');
    expect(trailers(cut)).toEqual(trailers(String(cut)));
  });
});
