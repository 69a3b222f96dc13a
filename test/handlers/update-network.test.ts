import { describe, expect, it } from 'vitest';
import { updateNetwork } from '../../handlers/network.ts';
import type { UpdateNetworkRequest } from '../../lib/contract/messages.ts';
import { call, json } from './call.ts';

const update = async (body: object) => {
  const seen: UpdateNetworkRequest[] = [];
  const answer = { mode: 'none', rules: [], revision: 1, presets: [] };
  const networks = {
    update: async (request: UpdateNetworkRequest) => {
      seen.push(request);
      return answer;
    },
  };
  expect(await call(updateNetwork, { ...json(body), pathParameters: { sandbox_id: 'sb_1' } }, { networks })).toBe(
    answer,
  );
  return seen[0]!;
};

describe('UpdateNetwork', () => {
  it('passes on the policy, with the fields that a rule does not have', async () => {
    const rule = { host: 'a', cidr: '', ports: [443], action: '', methods: [], path_prefix: '', tls: '', preset: '' };
    expect(await update({ mode: 'allow_list', rules: [{ host: 'a', ports: [443] }], presets: ['npm'] })).toEqual({
      sandbox_id: 'sb_1',
      mode: 'allow_list',
      rules: [rule],
      presets: ['npm'],
      revision: 0,
    });
  });

  it('takes back the answer of GetNetwork', async () => {
    expect((await update({ mode: 'none', rules: [], revision: 7, presets: [] })).revision).toBe(7);
  });

  it.each([
    [{}, 'mode is required'],
    [{ mode: 'all' }, 'mode must be none, allow_list or open'],
    [{ mode: 'open', rules: [{ ports: [0] }] }, 'rules[0].ports[0] must be between 1 and 65535'],
    [{ mode: 'open', rules: [{ ports: Array(65).fill(1) }] }, 'rules[0].ports must have at most 64 entries, not 65'],
    [{ mode: 'open', rules: [{ action: 'drop' }] }, 'rules[0].action must be allow, deny or empty'],
    [
      { mode: 'open', rules: [{ methods: ['G T'] }] },
      'rules[0].methods[0] must be the method of an HTTP request, like GET',
    ],
    [{ mode: 'open', rules: [{ tls: 'break' }] }, 'rules[0].tls must be inspect or empty'],
    [{ mode: 'open', rules: [{ host: 'a'.repeat(1025) }] }, 'rules[0].host must have at most 1024 bytes'],
    [{ mode: 'open', rules: Array(257).fill({}) }, 'rules must have at most 256 entries, not 257'],
    [{ mode: 'open', presets: [''] }, 'presets[0] must not be empty'],
    [{ mode: 'open', revision: -1 }, 'revision must be at least 0'],
    [{ mode: 'open', rules: [{ hosts: [] }] }, 'rules[0].hosts is not a known field'],
  ])('refuses %j', async (body, problem) => {
    await expect(update(body)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem),
    });
  });
});
