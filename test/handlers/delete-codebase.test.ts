import { expect, it } from 'vitest';
import { deleteCodebase } from '../../handlers/codebases.ts';
import { ServiceError } from '../../lib/errors.ts';
import { call, message } from './call.ts';

it('DeleteCodebase passes on the id and answers with an empty message', async () => {
  const ids: string[] = [];
  const remove = (id: string) => {
    ids.push(id);
    return Promise.resolve();
  };
  const given = { codebases: { delete: remove } };
  expect(await call(deleteCodebase, { pathParameters: { codebase_id: 'cb_1' } }, given)).toEqual({});
  expect(await call(deleteCodebase, message({ codebase_id: 'cb_1' }), given)).toEqual({});
  expect(ids).toEqual(['cb_1', 'cb_1']);
});

it('DeleteCodebase passes on errors of the service', async () => {
  const error = new ServiceError('NOT_FOUND', 'there is no cb_1');
  const remove = () => {
    throw error;
  };
  await expect(
    call(deleteCodebase, { pathParameters: { codebase_id: 'cb_1' } }, { codebases: { delete: remove } }),
  ).rejects.toBe(error);
});
