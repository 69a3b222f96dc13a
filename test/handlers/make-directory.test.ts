import { describe, expect, it } from 'vitest';
import { makeDirectory } from '../../handlers/files.ts';
import { call, json, message } from './call.ts';

function fake() {
  const asked: unknown[] = [];
  const sandboxes = {
    makeDirectory: async (request: object) => {
      asked.push(request);
      return {} as never;
    },
  };
  return { asked, sandboxes };
}

describe('MakeDirectory', () => {
  it('passes on the request of either protocol', async () => {
    const { asked, sandboxes } = fake();
    await call(
      makeDirectory,
      { pathParameters: { sandbox_id: 'sb_1' }, ...json({ path: 'a', mode: 448, parents: true }) },
      { sandboxes },
    );
    await call(makeDirectory, message({ sandbox_id: 'sb_1', as: '', path: 'a', mode: 0o700, parents: true }), {
      sandboxes,
    });
    expect(asked).toEqual([
      { sandbox_id: 'sb_1', as: '', path: 'a', mode: 0o700, parents: true },
      { sandbox_id: 'sb_1', as: '', path: 'a', mode: 0o700, parents: true },
    ]);
  });

  it('refuses an unknown field', async () => {
    const { sandboxes } = fake();
    const event = json({ sandbox_id: 'sb_1', user: 'root' });
    await expect(call(makeDirectory, event, { sandboxes })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
