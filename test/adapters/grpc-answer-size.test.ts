import { describe, expect, it } from 'vitest';
import { fitting } from '../../adapters/grpc/answer-size.ts';

const encode = async (message: object) => ({ parts: [], length: JSON.stringify(message).length });
const page = (items: readonly string[]) => ({ items, next_page_token: 'next' });

describe('an answer larger than the client receives', () => {
  it('is repeated with fewer items until it fits', async () => {
    const items = Array.from({ length: 100 }, (_, index) => (index < 10 ? 'x'.repeat(100) : ''));
    const sizes: number[] = [];
    const again = async (size: number) => {
      sizes.push(size);
      return page(items.slice(0, size));
    };
    const { length } = await fitting(page(items), { again, encode, limit: 300 });
    expect(length).toBeLessThanOrEqual(300);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(sizes.at(-1)).toBeGreaterThanOrEqual(1);
  });

  it.each([
    ['that is no page', { text: 'x'.repeat(400) }],
    ['of one item', page(['x'.repeat(400)])],
  ])('%s is refused in words', async (_what, message) => {
    const again = async () => expect.unreachable();
    await expect(fitting(message, { again, encode, limit: 300 })).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('more than the 300 that this client receives'),
    });
  });
});
