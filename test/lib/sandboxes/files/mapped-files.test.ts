import { expect, it } from 'vitest';
import { MappedFiles } from '../../../../lib/sandboxes/files/mapped-files.ts';

it('what programs have mapped is unknown while a stopped sandbox is attached, and nothing afterwards', async () => {
  const files = new MappedFiles();
  expect(await files.of({ running: undefined, attached: true }, '0:1')).toBeUndefined();
  expect(await files.of({ running: undefined, attached: false }, '0:1')).toEqual(new Map());
  expect(await files.of(undefined, '0:1')).toEqual(new Map());
});
