import { describe, expect, it } from 'vitest';
import { withSharedInput } from '../../../lib/text-tools/command-input.ts';

const LENGTH = 100_000;
const text = 'é'.repeat(LENGTH);
const base64 = Buffer.from(text).toString('base64');
const others = { sandbox_id: 'sb_1', argv: ['cat'] };

interface Read {
  stdin?: string;
  stdin_bytes?: Uint8Array;
}

describe('long input of a command', () => {
  it.each([
    ['text', { stdin: text }],
    ['text, with no bytes', { stdin: text, stdin_bytes: '' }],
    ['bytes', { stdin_bytes: base64 }],
    ['bytes, with no text', { stdin: '', stdin_bytes: base64 }],
  ])('is in memory that the threads share: %s', (_, input) => {
    const { stdin, stdin_bytes, ...rest } = withSharedInput({ ...others, ...input }) as Read;
    expect(rest).toEqual(others);
    expect(stdin ?? '').toBe('');
    expect(stdin_bytes?.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(Buffer.from(stdin_bytes!).toString() === text).toBe(true);
  });

  it.each([
    ['text without a form in UTF-8', { stdin: `${text}\ud800` }, 'stdin must be valid Unicode'],
    ['bytes that are not base64', { stdin_bytes: `${base64}!` }, 'stdin_bytes must be bytes in base64'],
    ['text and bytes', { stdin: text, stdin_bytes: 'eA==' }, 'stdin_bytes must be empty with stdin'],
    ['bytes and text', { stdin: 'x', stdin_bytes: base64 }, 'stdin_bytes must be empty with stdin'],
  ])('is refused where it is decoded: %s', (_, input, message) => {
    expect(() => withSharedInput(input)).toThrow(message);
  });
});

it.each([[null], ['text'], [[text]], [{}], [{ stdin: 'short' }], [{ stdin: 1, stdin_bytes: null }]])(
  'other requests stay as they are: %j',
  (request) => {
    expect(withSharedInput(request)).toBe(request);
  },
);
