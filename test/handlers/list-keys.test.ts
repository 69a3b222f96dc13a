import { describe, expect, it } from 'vitest';
import type { HandlerEvent } from '../../handlers/index.ts';
import { listKeys } from '../../handlers/keys.ts';
import type { Keys } from '../../lib/services.ts';
import { aKey } from '../adapters/fake-services.ts';
import { call } from './call.ts';
import { pages } from './lists.ts';

type Filter = Parameters<Keys['list']>[0];
const answer = { keys: [aKey], next_page_token: 'next' };

async function asked(event: Partial<HandlerEvent>): Promise<Filter> {
  const seen: Filter[] = [];
  const list = (filter: Filter) => {
    seen.push(filter);
    return answer;
  };
  expect(await call(listKeys, event, { keys: { list } })).toEqual(answer);
  return seen[0]!;
}

describe('ListKeys', () => {
  it('passes on the filter', async () => {
    expect(await asked({ queryStringParameters: { owner_id: 'me' } })).toMatchObject({ owner_id: 'me' });
  });

  pages(asked);
});
