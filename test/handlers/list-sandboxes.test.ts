import { describe, expect, it } from 'vitest';
import type { HandlerEvent } from '../../handlers/index.ts';
import { listSandboxes } from '../../handlers/sandboxes.ts';
import type { Sandboxes } from '../../lib/services.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, message } from './call.ts';

type Filter = Parameters<Sandboxes['list']>[0];
const answer = { sandboxes: [aSandbox], next_page_token: 'next' };

async function asked(event: Partial<HandlerEvent>): Promise<Filter> {
  const seen: Filter[] = [];
  const list = (filter: Filter) => {
    seen.push(filter);
    return answer;
  };
  expect(await call(listSandboxes, event, { sandboxes: { list } })).toEqual(answer);
  return seen[0]!;
}

describe('ListSandboxes', () => {
  it('keeps labels of a query that are property names in JavaScript', async () => {
    const { labels } = await asked({ queryStringParameters: { 'labels.__proto__': 'a', 'labels.constructor': 'b' } });
    expect(Object.entries(labels ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('leaves out the status that is not in the request, also where that of number 0 is', async () => {
    expect('status' in (await asked({}))).toBe(false);
    expect((await asked(message({ status: 'SANDBOX_PENDING' }))).status).toBe('SANDBOX_PENDING');
  });

  it.each([
    [{ labels: 'a' }, 'labels is a map: in a query each entry is labels.<key>=<value>'],
    [{ 'labels.': 'a' }, 'a key of labels must not be empty'],
    [{ 'codebase_id.a': '' }, /^"codebase_id.a" is not a known query parameter; allowed are codebase_id, /],
    [{ 'constructor.a': '' }, /^"constructor.a" is not a known query parameter/],
    [{ status: 'RUNNING' }, /^status must be one of SANDBOX_PENDING, SANDBOX_RUNNING, SANDBOX_STOPPED, SANDBOX_ERROR$/],
  ])('refuses %j', async (queryStringParameters, text) => {
    await expect(
      asked({ queryStringParameters: queryStringParameters as Record<string, string> }),
    ).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(text),
    });
  });
});
