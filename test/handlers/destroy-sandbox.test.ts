import { expect, it } from 'vitest';
import { destroySandbox } from '../../handlers/sandboxes.ts';
import { ServiceError } from '../../lib/errors.ts';
import { call, message } from './call.ts';

it('DestroySandbox passes on the id and discard and answers with an empty message', async () => {
  const seen: [string, boolean | undefined][] = [];
  const destroy = (id: string, discard?: boolean) => {
    seen.push([id, discard]);
    return Promise.resolve();
  };
  const given = { sandboxes: { destroy } };
  expect(await call(destroySandbox, { pathParameters: { sandbox_id: 'sb_1' } }, given)).toEqual({});
  expect(await call(destroySandbox, message({ sandbox_id: 'sb_1' }), given)).toEqual({});
  const asked = { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: { discard: 'true' } };
  expect(await call(destroySandbox, asked, given)).toEqual({});
  expect(seen).toEqual([
    ['sb_1', false],
    ['sb_1', false],
    ['sb_1', true],
  ]);
});

it('DestroySandbox passes on errors of the service', async () => {
  const error = new ServiceError('NOT_FOUND', 'there is no sb_1');
  const destroy = () => {
    throw error;
  };
  await expect(
    call(destroySandbox, { pathParameters: { sandbox_id: 'sb_1' } }, { sandboxes: { destroy } }),
  ).rejects.toBe(error);
});
