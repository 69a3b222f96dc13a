import { expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';

it('counts every operation whose REST form transfers content or streams as a stream', () => {
  const transfers = operations.filter(({ kind }) => kind !== 'unary');
  expect(transfers.filter(({ counts }) => !counts.includes('stream'))).toEqual([]);
});
