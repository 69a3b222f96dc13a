import { expect, it } from 'vitest';
import { requireFitting } from '../../adapters/grpc/answer-size.ts';

it('an answer larger than the client receives is refused in words', () => {
  expect(() => requireFitting(300, 300)).not.toThrow();
  const message = expect.stringContaining('the answer has 301 bytes, more than the 300 that this client receives');
  expect(() => requireFitting(301, 300)).toThrow(expect.objectContaining({ code: 'RESOURCE_EXHAUSTED', message }));
});
