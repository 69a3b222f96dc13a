import { expect, it } from 'vitest';
import { destroySandbox } from '../../handlers/destroy-sandbox.ts';
import { ServiceError } from '../../lib/errors.ts';
import { call, message } from './call.ts';

it('passes the id on and answers nothing', async () => {
  const ids: string[] = [];
  const destroy = (id: string) => {
    ids.push(id);
    return Promise.resolve();
  };
  const given = { sandboxes: { destroy } };
  expect(await call(destroySandbox, { pathParameters: { sandbox_id: 'sb_1' } }, given)).toEqual({});
  expect(await call(destroySandbox, message({ sandbox_id: 'sb_1' }), given)).toEqual({});
  expect(ids).toEqual(['sb_1', 'sb_1']);
});

it('throws what the service throws', async () => {
  const error = new ServiceError('NOT_FOUND', 'there is no sb_1');
  const destroy = () => {
    throw error;
  };
  await expect(
    call(destroySandbox, { pathParameters: { sandbox_id: 'sb_1' } }, { sandboxes: { destroy } }),
  ).rejects.toBe(error);
});
