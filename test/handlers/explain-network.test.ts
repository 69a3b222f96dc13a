import { describe, expect, it } from 'vitest';
import { explainNetwork } from '../../handlers/network.ts';
import type { ExplainNetworkRequest } from '../../lib/contract/messages.ts';
import { call } from './call.ts';

const answer = { allowed: true, code: 'allowed', reason: '', beaten: [], inspect: false, host: 'a' };
const explain = async (query: Record<string, string>) => {
  const seen: ExplainNetworkRequest[] = [];
  const networks = {
    explain: (request: ExplainNetworkRequest) => {
      seen.push(request);
      return answer;
    },
  };
  const event = { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: query };
  expect(await call(explainNetwork, event, { networks })).toBe(answer);
  return seen[0];
};

describe('ExplainNetwork', () => {
  it('passes on the target; without a port it is 443', async () => {
    expect(await explain({ host: 'a' })).toEqual({ sandbox_id: 'sb_1', host: 'a', port: 443, method: '', path: '' });
    expect(await explain({ host: 'a', port: '80', method: 'GET', path: '/x' })).toMatchObject({ port: 80, path: '/x' });
  });

  it.each([
    [{}, 'host is required'],
    [{ host: 'a', port: '70000' }, 'port must be 0 or between 1 and 65535'],
    [{ host: 'a', method: 'a b' }, 'method must be the method of an HTTP request, like GET'],
  ])('refuses %j', async (query, problem) => {
    await expect(explain(query as Record<string, string>)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: problem,
    });
  });
});
