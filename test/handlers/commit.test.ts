import { describe, expect, it } from 'vitest';
import { commit } from '../../handlers/changes.ts';
import { call, json, message } from './call.ts';

describe('Commit', () => {
  it('passes on the same request for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const answer = { committed: true, count: 0, changes: [], conflicts: [] };
    const fake = async (request: unknown) => {
      seen.push(request);
      return answer;
    };
    const given = { sandboxes: { commit: fake } };
    const body = {
      paths: ['a'],
      on_conflict: 'ours',
      dry_run: true,
      exclude: ['*.log'],
      include_scratch: true,
      hunks: [{ path: 'b', base_sha256: '0'.repeat(64), sha256: '1'.repeat(64), indexes: [0] }],
    };
    expect(await call(commit, { ...json(body), pathParameters: { sandbox_id: 'sb_1' } }, given)).toEqual(answer);
    await call(commit, message({ sandbox_id: 'sb_1', ...body }), given);
    await call(commit, message({ sandbox_id: 'sb_1' }), given);
    expect(seen).toEqual([
      { sandbox_id: 'sb_1', ...body },
      { sandbox_id: 'sb_1', ...body },
      {
        sandbox_id: 'sb_1',
        paths: [],
        on_conflict: '',
        dry_run: false,
        exclude: [],
        include_scratch: false,
        hunks: [],
      },
    ]);
  });
});
