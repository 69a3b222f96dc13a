import { describe, expect, it } from 'vitest';
import { statFile } from '../../handlers/files.ts';
import { call, json, message } from './call.ts';

function fake() {
  const asked: unknown[] = [];
  const sandboxes = {
    statFile: async (request: object) => {
      asked.push(request);
      return {} as never;
    },
  };
  return { asked, sandboxes };
}

describe('StatFile', () => {
  it('passes on the request of either protocol', async () => {
    const { asked, sandboxes } = fake();
    await call(
      statFile,
      { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: { path: 'a', as: 'owner' } },
      { sandboxes },
    );
    await call(statFile, message({ sandbox_id: 'sb_1', as: 'owner', path: 'a' }), { sandboxes });
    expect(asked).toEqual([
      { sandbox_id: 'sb_1', as: 'owner', path: 'a' },
      { sandbox_id: 'sb_1', as: 'owner', path: 'a' },
    ]);
  });

  it('refuses an unknown field', async () => {
    const { sandboxes } = fake();
    const event = json({ sandbox_id: 'sb_1', user: 'root' });
    await expect(call(statFile, event, { sandboxes })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
