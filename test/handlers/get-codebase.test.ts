import { expect, it } from 'vitest';
import { getCodebase } from '../../handlers/codebases.ts';
import { ServiceError } from '../../lib/errors.ts';
import { aCodebase } from '../adapters/fake-services.ts';
import { call, message } from './call.ts';

it('GetCodebase passes on the id and answers with the codebase of the service', async () => {
  const ids: string[] = [];
  const get = (id: string) => {
    ids.push(id);
    return Promise.resolve(aCodebase);
  };
  const given = { codebases: { get } };
  expect(await call(getCodebase, { pathParameters: { codebase_id: 'cb_1' } }, given)).toEqual(aCodebase);
  expect(await call(getCodebase, message({ codebase_id: 'cb_1' }), given)).toEqual(aCodebase);
  expect(ids).toEqual(['cb_1', 'cb_1']);
});

it('GetCodebase passes on errors of the service', async () => {
  const error = new ServiceError('NOT_FOUND', 'there is no cb_1');
  const get = () => {
    throw error;
  };
  await expect(call(getCodebase, { pathParameters: { codebase_id: 'cb_1' } }, { codebases: { get } })).rejects.toBe(
    error,
  );
});
