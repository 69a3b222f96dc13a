import { describe, expect, it } from 'vitest';
import { listCodebases } from '../../handlers/codebases.ts';
import type { HandlerEvent } from '../../handlers/index.ts';
import type { Codebases } from '../../lib/services.ts';
import { aCodebase } from '../adapters/fake-services.ts';
import { call } from './call.ts';
import { pages } from './lists.ts';

type Filter = Parameters<Codebases['list']>[0];
const answer = { codebases: [aCodebase], next_page_token: 'next' };

async function asked(event: Partial<HandlerEvent>): Promise<Filter> {
  const seen: Filter[] = [];
  const list = async (filter: Filter) => {
    seen.push(filter);
    return answer;
  };
  expect(await call(listCodebases, event, { codebases: { list } })).toEqual(answer);
  return seen[0]!;
}

describe('ListCodebases', () => {
  it('passes on the filter', async () => {
    expect(await asked({ queryStringParameters: { owner_id: 'me' } })).toMatchObject({ owner_id: 'me' });
  });

  pages(asked);
});
