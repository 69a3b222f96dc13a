import { expect, it } from 'vitest';
import { holdHead, Refused } from '../../../../lib/network/inspection/checked.ts';
import { Shares } from '../../../../lib/shares.ts';

it('long heads in progress share a limited memory, short ones are not counted', () => {
  const refusals: string[] = [];
  const sandbox = { refused: (_: unknown, code: string) => void refusals.push(code) };
  const holding = { target: { host: 'a.test', port: 443, address: '' }, sandbox, heads: new Shares(1_000_000) };
  const hold = (bytes: number) => holdHead({ bytes } as never, holding as never);
  const release = hold(400_000);
  expect(() => hold(400_000)).toThrow(Refused);
  expect(refusals).toEqual(['request_too_long']);
  for (let count = 0; count < 100; count++) expect(hold(32_768)).toBeUndefined();
  release?.();
  expect(hold(400_000)).toBeDefined();
});
