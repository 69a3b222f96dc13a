import { expect, it } from 'vitest';
import { withInputAsBytes } from '../../adapters/grpc/long-input.ts';
import { protos } from '../../adapters/grpc/protos.ts';

type Method = { requestSerialize(request: object): Buffer; requestDeserialize(bytes: Buffer): Record<string, unknown> };
const { Exec } = protos['service.v1.SandboxService'] as unknown as Record<string, Method>;
const text = 'é'.repeat(300_000);
const others = { sandbox_id: 'sb_1', env: { A: 'é' }, timeout: 2 ** 40, argv: ['cat', '-'], merge: true };

const read = (request: object) => {
  const bytes = Exec!.requestSerialize(request);
  const isValid = withInputAsBytes(bytes);
  const { stdin_bytes, ...rest } = Exec!.requestDeserialize(bytes);
  return { isValid, ...rest, stdin_bytes: Buffer.from(stdin_bytes as Uint8Array).toString() };
};

it('long text is the bytes of the input, and the other fields are what they were', () => {
  expect(read({ ...others, stdin: text })).toMatchObject({ isValid: true, ...others, stdin: '', stdin_bytes: text });
});

it.each([
  ['short text', { stdin: 'short', env: { LONG: text } }],
  ['text beside bytes', { stdin: text, stdin_bytes: 'x' }],
  ['bytes', { stdin: '', stdin_bytes: text }],
])('stays what it is: %s', (_, input) => {
  const bytes = Buffer.from('stdin_bytes' in input ? input.stdin_bytes : '');
  expect(read({ ...others, ...input, stdin_bytes: bytes })).toMatchObject({ isValid: true, ...others, ...input });
});

it.each([2, 600_000])('text that is not UTF-8 is told: of %i bytes', (size) => {
  const stdin = 'é'.repeat(size / 2);
  const bytes = Exec!.requestSerialize({ sandbox_id: 'sb_1', stdin });
  bytes[bytes.indexOf(stdin) + size / 2] = 0xff;
  expect(withInputAsBytes(bytes)).toBe(false);
});

/** Fields that a decoder would find in bytes that were counted as text. */
const HIDDEN = Buffer.alloc(600_000, Buffer.from([0x3a, 0]));
const lengthOf = (bytes: Buffer) => {
  const parts: number[] = [];
  let rest = bytes.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) parts.push((rest % 128) | 0x80);
  return Buffer.from([...parts, rest]);
};

it.each([
  ['a tag of two bytes', [0x9a, 0x00]],
  ['a group before it', [0x0b, 0x0c, 0x1a]],
  ['a tag beyond 32 bits', [0x9a, 0x80, 0x80, 0x80, 0x10]],
])('what is text to a decoder becomes no fields: %s', (_, tag) => {
  const request = Buffer.concat([Buffer.from(tag), lengthOf(HIDDEN), HIDDEN]);
  const before = Buffer.from(request);
  expect(withInputAsBytes(request)).toBe(true);
  expect(request.equals(before)).toBe(true);
});

it('of two long texts the last one counts, as for every decoder', () => {
  const one = Exec!.requestSerialize({ stdin: text });
  const request = Buffer.concat([one, Exec!.requestSerialize({ stdin: `${text}2` })]);
  expect(withInputAsBytes(request)).toBe(true);
  expect(Exec!.requestDeserialize(request)).toMatchObject({ stdin: `${text}2` });
});
