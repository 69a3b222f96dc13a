import { describe, expect, it } from 'vitest';
import { updatePermissions } from '../../handlers/permissions.ts';
import type { UpdatePermissionsRequest } from '../../lib/contract/messages.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, json, message } from './call.ts';

async function requestOf(event: Parameters<typeof call>[1]): Promise<UpdatePermissionsRequest> {
  const seen: UpdatePermissionsRequest[] = [];
  const update = async (request: UpdatePermissionsRequest) => {
    seen.push(request);
    return aSandbox;
  };
  expect(await call(updatePermissions, event, { sandboxes: { updatePermissions: update } })).toEqual(aSandbox);
  return seen[0]!;
}

describe('UpdatePermissions', () => {
  it('passes on the same request for JSON with a path and for a decoded message', async () => {
    const rule = { pattern: '/src/**', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 3 };
    const body = {
      permissions: [rule],
      preset: 'agent-safe',
      rules: { write: [], read: [], none: [], scratch: [], view: [], redacted: [], shown: [] },
    };
    const request = { sandbox_id: 'sb_1', ...body };
    expect(await requestOf({ ...json(body), pathParameters: { sandbox_id: 'sb_1' } })).toEqual(request);
    expect(await requestOf(message(request))).toEqual(request);
  });

  it('treats missing rules as an empty list', async () => {
    expect(await requestOf(message({ sandbox_id: 'sb_1' }))).toEqual({
      sandbox_id: 'sb_1',
      permissions: [],
      preset: '',
      rules: { write: [], read: [], none: [], scratch: [], view: [], redacted: [], shown: [] },
    });
  });

  it('refuses an unknown field of a rule by name', async () => {
    await expect(requestOf(json({ permissions: [{ patern: '/x' }] }))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('permissions[0].patern'),
    });
  });
});
