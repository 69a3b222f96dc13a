import { describe, expect } from 'vitest';
import { listImages } from '../../handlers/images.ts';
import type { HandlerEvent } from '../../handlers/index.ts';
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
