import { describe, expect, it } from 'vitest';
import { deleteFile } from '../../handlers/files.ts';
import { call, json, message } from './call.ts';

function fake() {
  const asked: unknown[] = [];
  const sandboxes = {
    deleteFile: async (request: object) => {
      asked.push(request);
      return { removed: 1 };
    },
  };
  return { asked, sandboxes };
}

describe('DeleteFile', () => {
  it('passes on the request of either protocol', async () => {
    const { asked, sandboxes } = fake();
    await call(
      deleteFile,
      { pathParameters: { sandbox_id: 'sb_1', path: 'a' }, queryStringParameters: { recursive: 'true' } },
      { sandboxes },
    );
    await call(deleteFile, message({ sandbox_id: 'sb_1', as: '', path: 'a', recursive: true }), { sandboxes });
    expect(asked).toEqual([
      { sandbox_id: 'sb_1', as: '', path: 'a', recursive: true },
      { sandbox_id: 'sb_1', as: '', path: 'a', recursive: true },
    ]);
  });

  it('refuses an unknown field', async () => {
    const { sandboxes } = fake();
    const event = json({ sandbox_id: 'sb_1', user: 'root' });
    await expect(call(deleteFile, event, { sandboxes })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
