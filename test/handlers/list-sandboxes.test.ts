import { describe, expect, it } from 'vitest';
import type { HandlerEvent } from '../../handlers/index.ts';
import { listSandboxes } from '../../handlers/list-sandboxes.ts';
import type { Sandboxes } from '../../lib/services.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call } from './call.ts';
import { pages } from './lists.ts';

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
  it('passes on the filter', async () => {
    const filter = { codebase_id: 'cb_1', owner_id: 'me' };
    expect(await asked({ queryStringParameters: filter })).toMatchObject(filter);
  });

  pages(asked);
});
