import { expect, it } from 'vitest';
import { previewFile } from '../../handlers/files.ts';
import { call, message } from './call.ts';

it('PreviewFile passes on the request of either protocol, and refuses one as an agent', async () => {
  const asked: unknown[] = [];
  const sandboxes = {
    previewFile: async (request: object) => {
      asked.push(request);
      return {} as never;
    },
  };
  const rest = { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: { path: 'a' } };
  await call(previewFile, rest, { sandboxes });
  await call(previewFile, message({ sandbox_id: 'sb_1', path: 'a' }), { sandboxes });
  expect(asked).toEqual([1, 2].map(() => ({ sandbox_id: 'sb_1', path: 'a' })));
  const wrong = { ...rest, queryStringParameters: { path: 'a', as: 'agent' } };
  await expect(call(previewFile, wrong, { sandboxes })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});
