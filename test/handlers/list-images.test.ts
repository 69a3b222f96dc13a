import { describe, expect } from 'vitest';
import type { HandlerEvent } from '../../handlers/index.ts';
import { listImages } from '../../handlers/list-images.ts';
import type { Page } from '../../lib/paging.ts';
import { call } from './call.ts';
import { pages } from './lists.ts';

async function asked(event: Partial<HandlerEvent>): Promise<Page> {
  const seen: Page[] = [];
  const answer = { images: [], next_page_token: 'next' };
  const list = (page: Page) => {
    seen.push(page);
    return answer;
  };
  expect(await call(listImages, event, { images: { list } })).toEqual(answer);
  return seen[0]!;
}

describe('ListImages', () => {
  pages(asked);
});
