import { describe, expect, it } from 'vitest';
import { exportFiles } from '../../handlers/files.ts';
import { call } from './call.ts';

describe('ExportFiles', () => {
  it('streams the bytes as messages of a size that clients accept, with their content type', async () => {
    const asked: unknown[] = [];
    const sandboxes = {
      exportFiles: async (request: object) => {
        asked.push(request);
        return {
          contentType: 'application/x-tar',
          async *[Symbol.asyncIterator]() {
            yield Buffer.alloc(600 * 1024);
          },
        };
      },
    };
    const event = { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: { format: 'tar', as: 'owner' } };
    const result = await call(exportFiles, event, { sandboxes });
    const sizes: number[] = [];
    for await (const { data } of result) sizes.push(data.length);
    expect(asked).toEqual([{ sandbox_id: 'sb_1', as: 'owner', path: '', format: 'tar' }]);
    expect([result.contentType, ...sizes]).toEqual(['application/x-tar', 262144, 262144, 90112]);
  });
});
