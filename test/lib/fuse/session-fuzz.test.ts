import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATTR, message, record } from './recorder.ts';

const NO_REPLY = new Set([2, 36, 41, 42]);

/** Checks that an answer is well formed: its own length, the request's unique, an errno or a body. */
function expectWellFormed(request: Buffer, reply: Buffer | undefined): void {
  if (!reply) return;
  expect(reply.readUInt32LE(0)).toBe(reply.length);
  expect(reply.subarray(8, 16)).toEqual(request.subarray(8, 16));
  const error = reply.readInt32LE(4);
  expect(error).toBeLessThanOrEqual(0);
  expect(error).toBeGreaterThan(-512);
  if (error !== 0) expect(reply.length).toBe(16);
}

describe('a FUSE session', () => {
  it('accepts arbitrary bytes as a request', () => {
    const { send } = record();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4096 }), (bytes) => {
        const request = Buffer.from(bytes);
        expectWellFormed(request, send(request));
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts an arbitrary body for any operation, and answers every operation that has a reply', () => {
    const { send, answers, events } = record();
    for (const name of ['lookup', 'create', 'mknod', 'mkdir', 'symlink', 'link'] as const)
      answers[name] = () => ({ nodeid: 9, attr: ATTR });
    for (const name of ['getattr', 'setattr'] as const) answers[name] = () => ATTR;
    answers.readlink = () => Buffer.from('x');
    answers.read = (_caller: unknown, _nodeid: unknown, _offset: unknown, into: Buffer) => into.length;
    answers.write = (_caller: unknown, _nodeid: unknown, _offset: unknown, data: Buffer) => data.length;
    answers.statfs = () => ({ blocks: 0, bfree: 0, bavail: 0, files: 0, ffree: 0, bsize: 0, namelen: 0 });
    const opcode = fc.integer({ min: 1, max: 64 }).filter((value) => value !== 26);
    fc.assert(
      fc.property(opcode, fc.uint8Array({ maxLength: 200 }), fc.boolean(), (code, bytes, terminated) => {
        const request = message(code, 77, Buffer.from(bytes), terminated ? 'a\0b\0' : '');
        const reply = send(request);
        expectWellFormed(request, reply);
        expect(reply === undefined).toBe(NO_REPLY.has(code));
      }),
      { numRuns: 3000 },
    );
    expect(events.filter((event) => event.startsWith('defect'))).toEqual([]);
  });

  it('answers EIO to a request whose length differs from the bytes read', () => {
    const { send } = record();
    const request = message(3, 77, Buffer.alloc(16));
    for (let length = 40; length < request.length; length++)
      expect(send(request.subarray(0, length))?.readInt32LE(4)).toBe(-5);
    expect(send(Buffer.concat([request, Buffer.alloc(1)]))?.readInt32LE(4)).toBe(-5);
    for (let length = 0; length < 40; length++) expect(send(request.subarray(0, length))).toBeUndefined();
  });

  it('does not read a name from the remains of an earlier request in the buffer', () => {
    const { send, calls } = record();
    send(message(1, 77, 'a-longer-name\0'));
    expect(send(message(1, 77, 'short'))?.readInt32LE(4)).toBe(-5);
    expect(calls).toHaveLength(1);
  });
});
