import type { ServiceDefinition } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { framedParts } from '../../adapters/grpc/data-message.ts';
import { protos } from '../../adapters/grpc/protos.ts';

const { responseSerialize, responseDeserialize } = (protos['service.v1.SandboxService'] as ServiceDefinition)
  .ExecStream!;

/** Without the five bytes of its frame. */
function encoded(message: object): Buffer {
  const { before, data, after } = framedParts(message, responseSerialize)!;
  return Buffer.concat([before.subarray(5), data, after]);
}
const SIZES = [0, 1, 127, 128, 16_383, 16_384, 65_536, 2_097_152];

describe('a streamed message', () => {
  it.each(SIZES)('of %i bytes has the same encoding as by the general encoder', (size) => {
    const message = { data: Buffer.alloc(size, 7), stream: 'STDERR', duration_ms: 0 };
    expect(encoded(message).equals(responseSerialize(message))).toBe(true);
  });

  it('distinguishes an exit code of 0 from a missing one', () => {
    const last = { data: new Uint8Array(0), stream: 'STDOUT', exit_code: 0, duration_ms: 5 };
    expect(responseDeserialize(encoded(last))).toMatchObject({ exit_code: 0, duration_ms: 5 });
  });
});
