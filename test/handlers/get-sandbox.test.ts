import { expect, it } from 'vitest';
import { getSandbox } from '../../handlers/sandboxes.ts';
import { ServiceError } from '../../lib/errors.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, message } from './call.ts';

it('GetSandbox passes on the id and the view, and answers with the sandbox of the service', async () => {
  const ids: string[] = [];
  const get = (id: string, as = '') => {
    ids.push(id + as);
    return aSandbox;
  };
  const given = { sandboxes: { get } };
  expect(await call(getSandbox, { pathParameters: { sandbox_id: 'sb_1' } }, given)).toEqual(aSandbox);
  expect(await call(getSandbox, message({ sandbox_id: 'sb_1', as: 'agent' }), given)).toEqual(aSandbox);
  expect(ids).toEqual(['sb_1', 'sb_1agent']);
});

it('GetSandbox passes on errors of the service', async () => {
  const error = new ServiceError('NOT_FOUND', 'there is no sb_1');
  const get = () => {
    throw error;
  };
  await expect(call(getSandbox, { pathParameters: { sandbox_id: 'sb_1' } }, { sandboxes: { get } })).rejects.toBe(
    error,
  );
});
