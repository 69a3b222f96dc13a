import { expect, it } from 'vitest';
import { stopSandbox } from '../../handlers/sandboxes.ts';
import { ServiceError } from '../../lib/errors.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, message } from './call.ts';

it('StopSandbox passes on the id and answers with the sandbox of the service', async () => {
  const ids: string[] = [];
  const stop = (id: string) => {
    ids.push(id);
    return Promise.resolve(aSandbox);
  };
  const given = { sandboxes: { stop } };
  expect(await call(stopSandbox, { pathParameters: { sandbox_id: 'sb_1' } }, given)).toEqual(aSandbox);
  expect(await call(stopSandbox, message({ sandbox_id: 'sb_1' }), given)).toEqual(aSandbox);
  expect(ids).toEqual(['sb_1', 'sb_1']);
});

it('StopSandbox passes on errors of the service', async () => {
  const error = new ServiceError('NOT_FOUND', 'there is no sb_1');
  const stop = () => {
    throw error;
  };
  await expect(call(stopSandbox, { pathParameters: { sandbox_id: 'sb_1' } }, { sandboxes: { stop } })).rejects.toBe(
    error,
  );
});
