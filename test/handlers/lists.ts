import { expect, it } from 'vitest';
import type { HandlerEvent } from '../../handlers/index.ts';

/** Tests page_size and page_token of a list. `list` calls the handler and returns the request that the service got. */
export function pages(
  list: (handler: Partial<HandlerEvent>) => Promise<{ page_size: number; page_token: string }>,
): void {
  it('requests 100 entries if page_size is missing or 0', async () => {
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
