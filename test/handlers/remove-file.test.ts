import { expect, it } from 'vitest';
import { removeFile } from '../../handlers/codebase-files.ts';
import { call } from './call.ts';

it('RemoveFile removes the file and answers with an empty message', async () => {
  const seen: string[][] = [];
  const remove = async (...args: string[]) => void seen.push(args);
  const pathParameters = { codebase_id: 'cb_1', file_path: 'a/b' };
  expect(await call(removeFile, { pathParameters }, { codebases: { removeFile: remove } })).toEqual({});
  expect(seen).toEqual([['cb_1', 'a/b']]);
});
