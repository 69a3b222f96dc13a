import { expect, it } from 'vitest';
import type { HandlerEvent } from '../../handlers/index.ts';

/** What page_size and page_token are for every list. `list` calls the handler and gives what the service was asked. */
export function pages(
  list: (handler: Partial<HandlerEvent>) => Promise<{ page_size: number; page_token: string }>,
): void {
  it('asks for 100 where nothing or 0 is asked', async () => {
    expect(await list({})).toMatchObject({ page_size: 100, page_token: '' });
    expect(await list({ queryStringParameters: { page_size: '0', page_token: 't' } })).toMatchObject({
      page_size: 100,
      page_token: 't',
    });
  });

  it('refuses a page_size that is negative or above 1000', async () => {
    expect(await list({ queryStringParameters: { page_size: '1000' } })).toMatchObject({ page_size: 1000 });
    for (const page_size of ['-1', '1001', 'x', '']) {
      await expect(list({ queryStringParameters: { page_size } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });
}
