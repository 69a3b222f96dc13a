import type { ServiceDefinition } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { withDataFirst } from '../../adapters/grpc/data-message.ts';
import { protos } from '../../adapters/grpc/protos.ts';

const general = protos['service.v1.SandboxService'] as ServiceDefinition;
const fast = withDataFirst(general);
const SIZES = [0, 1, 127, 128, 16_383, 16_384, 65_536, 2_097_152];

describe('a streamed message', () => {
  it.each(SIZES)('of %i bytes has the same encoding as by the general encoder', (size) => {
    const message = { data: Buffer.alloc(size, 7), stream: 'STDERR', duration_ms: 0 };
    const bytes = fast.ExecStream!.responseSerialize(message);
    expect(bytes.equals(general.ExecStream!.responseSerialize(message))).toBe(true);
  });

  it('distinguishes an exit code of 0 from a missing one', () => {
    const last = { data: new Uint8Array(0), stream: 'STDOUT', exit_code: 0, duration_ms: 5 };
    const decoded = general.ExecStream!.responseDeserialize(fast.ExecStream!.responseSerialize(last));
    expect(decoded).toMatchObject({ exit_code: 0, duration_ms: 5 });
  });

  it('is distinguished from a unary answer, which the general encoder encodes', () => {
    expect(fast.Exec).toBe(general.Exec);
  });
});
