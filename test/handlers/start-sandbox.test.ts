import { expect, it } from 'vitest';
import { startSandbox } from '../../handlers/sandboxes.ts';
import { ServiceError } from '../../lib/errors.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, message } from './call.ts';

it('StartSandbox passes on the id and answers with the sandbox of the service', async () => {
  const ids: string[] = [];
  const start = (id: string) => {
    ids.push(id);
    return Promise.resolve(aSandbox);
  };
  const given = { sandboxes: { start } };
  expect(await call(startSandbox, { pathParameters: { sandbox_id: 'sb_1' } }, given)).toEqual(aSandbox);
  expect(await call(startSandbox, message({ sandbox_id: 'sb_1' }), given)).toEqual(aSandbox);
  expect(ids).toEqual(['sb_1', 'sb_1']);
});

it('StartSandbox passes on errors of the service', async () => {
  const error = new ServiceError('NOT_FOUND', 'there is no sb_1');
  const start = () => {
    throw error;
  };
  await expect(call(startSandbox, { pathParameters: { sandbox_id: 'sb_1' } }, { sandboxes: { start } })).rejects.toBe(
    error,
  );
});
