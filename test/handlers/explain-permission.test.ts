import { describe, expect, it } from 'vitest';
import { explainPermission } from '../../handlers/permissions.ts';
import type { PermissionExplanation } from '../../lib/contract/messages.ts';
import { call } from './call.ts';

const answer: PermissionExplanation = {
  path: 'a/b',
  permission: 'PERMISSION_NONE',
  beaten: [],
  pass_through: false,
  reason: 'No rule matches, so the path is PERMISSION_NONE.',
};

describe('ExplainPermission', () => {
  it('passes on the sandbox, the path and the view', async () => {
    const seen: unknown[] = [];
    const explain = async (...args: unknown[]) => {
      seen.push(args);
      return answer;
    };
    const event = { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: { path: 'a/b', as: 'agent' } };
    expect(await call(explainPermission, event, { sandboxes: { explainPermission: explain } })).toEqual(answer);
    expect(seen).toEqual([['sb_1', 'a/b', 'agent']]);
  });
});
