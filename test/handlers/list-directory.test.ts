import { describe, expect, it } from 'vitest';
import { listDirectory } from '../../handlers/files.ts';
import { call, json, message } from './call.ts';

function fake() {
  const asked: unknown[] = [];
  const sandboxes = {
    listDirectory: async (request: object) => {
      asked.push(request);
      return {} as never;
    },
  };
  return { asked, sandboxes };
}

describe('ListDirectory', () => {
  it('passes on the request of either protocol', async () => {
    const { asked, sandboxes } = fake();
    await call(
      listDirectory,
      {
        pathParameters: { sandbox_id: 'sb_1' },
        queryStringParameters: { path: 'a', recursive: 'true', page_size: '7' },
      },
      { sandboxes },
    );
    await call(
      listDirectory,
      message({ sandbox_id: 'sb_1', as: '', path: 'a', recursive: true, page_size: 7, page_token: '' }),
      { sandboxes },
    );
    expect(asked).toEqual([
      { sandbox_id: 'sb_1', as: '', path: 'a', recursive: true, page_size: 7, page_token: '' },
      { sandbox_id: 'sb_1', as: '', path: 'a', recursive: true, page_size: 7, page_token: '' },
    ]);
  });

  it('refuses an unknown field', async () => {
    const { sandboxes } = fake();
    const event = json({ sandbox_id: 'sb_1', user: 'root' });
    await expect(call(listDirectory, event, { sandboxes })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
