import { describe, expect, it } from 'vitest';
import { listChanges } from '../../handlers/changes.ts';
import type { HandlerEvent } from '../../handlers/index.ts';
import type { Page } from '../../lib/paging.ts';
import { call } from './call.ts';
import { pages } from './lists.ts';

const answer = { changes: [], next_page_token: 'n' };

async function asked(event: Partial<HandlerEvent>): Promise<Page & { id: string; as?: string | undefined }> {
  const seen: (Page & { id: string; as?: string | undefined })[] = [];
  const list = async (id: string, page: Page, as?: string) => {
    seen.push({ id, ...page, as });
    return answer;
  };
  expect(await call(listChanges, event, { sandboxes: { listChanges: list } })).toEqual(answer);
  return seen[0]!;
}

describe('ListChanges', () => {
  it('passes on the sandbox and the view', async () => {
    const event = { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: { as: 'agent' } };
    expect(await asked(event)).toMatchObject({ id: 'sb_1', as: 'agent' });
  });

  it('passes on which changes are asked for: each parameter of a list is an element', async () => {
    const list = async (...args: unknown[]) => {
      expect(args[3]).toEqual({
        paths: ['a', 'b'],
        exclude: ['*.log'],
        include_scratch: true,
        diff: true,
        local: false,
      });
      return answer;
    };
    const event = {
      pathParameters: { sandbox_id: 'sb_1' },
      queryStringParameters: { include_scratch: 'true', diff: 'true' },
      queryLists: { paths: ['a', 'b'], exclude: ['*.log'] },
    };
    expect(await call(listChanges, event, { sandboxes: { listChanges: list } })).toEqual(answer);
  });

  pages(asked);
});
