import { expect, it } from 'vitest';
import { exportCodebaseFiles } from '../../handlers/codebase-files.ts';
import { call } from './call.ts';

it('ExportCodebaseFiles streams the archive of a directory, with its content type', async () => {
  const asked: unknown[] = [];
  const codebases = {
    exportArchive: async (id: string, path: string) => {
      asked.push(id, path);
      return {
        contentType: 'application/x-tar',
        async *[Symbol.asyncIterator]() {
          yield Buffer.alloc(300 * 1024);
        },
      };
    },
  };
  const event = { pathParameters: { codebase_id: 'cb_1' }, queryStringParameters: { format: 'tar', path: 'src' } };
  const result = await call(exportCodebaseFiles, event, { codebases });
  const sizes: number[] = [];
  for await (const { data } of result) sizes.push(data.length);
  expect(asked).toEqual(['cb_1', 'src']);
  expect([result.contentType, ...sizes]).toEqual(['application/x-tar', 262144, 45056]);
});
