import { describe, expect, it } from 'vitest';
import { moveFile } from '../../handlers/files.ts';
import { call, json, message } from './call.ts';

function fake() {
  const asked: unknown[] = [];
  const sandboxes = {
    moveFile: async (request: object) => {
      asked.push(request);
      return {} as never;
    },
  };
  return { asked, sandboxes };
}

describe('MoveFile', () => {
  it('passes on the request of either protocol', async () => {
    const { asked, sandboxes } = fake();
    await call(
      moveFile,
      { pathParameters: { sandbox_id: 'sb_1' }, ...json({ from: 'a', to: 'b', replace: true }) },
      { sandboxes },
    );
    await call(moveFile, message({ sandbox_id: 'sb_1', as: '', from: 'a', to: 'b', replace: true }), { sandboxes });
    expect(asked).toEqual([
      { sandbox_id: 'sb_1', as: '', from: 'a', to: 'b', replace: true },
      { sandbox_id: 'sb_1', as: '', from: 'a', to: 'b', replace: true },
    ]);
  });

  it('refuses an unknown field', async () => {
    const { sandboxes } = fake();
    const event = json({ sandbox_id: 'sb_1', user: 'root' });
    await expect(call(moveFile, event, { sandboxes })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
