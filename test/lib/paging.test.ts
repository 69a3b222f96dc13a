import { describe, expect, it } from 'vitest';
import { cursorOf, pageById, tokenOf } from '../../lib/paging.ts';

const items = ['b', 'd', 'a', 'c', 'e'].map((id) => ({ id }));
const refusal = expect.objectContaining({ code: 'INVALID_ARGUMENT' });

describe('a page', () => {
  it('continues the previous one without gap or repetition, in order of id', () => {
    const ids: string[] = [];
    let page_token = '';
    do {
      const page = pageById('letters', items, { page_size: 2, page_token });
      ids.push(...page.items.map(({ id }) => id));
      page_token = page.next_page_token;
    } while (page_token !== '');
    expect(ids).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('has no next page if it ends with the last item', () => {
    expect(pageById('letters', items, { page_size: 5, page_token: '' }).next_page_token).toBe('');
  });

  it('continues after a removed item', () => {
    const { next_page_token } = pageById('letters', items, { page_size: 2, page_token: '' });
    const left = items.filter(({ id }) => id !== 'b');
    expect(pageById('letters', left, { page_size: 2, page_token: next_page_token }).items).toEqual([
      { id: 'c' },
      { id: 'd' },
    ]);
  });
});

describe('a page token', () => {
  it('contains any cursor', () => {
    for (const cursor of ['a', 'é\n"', '', '\u00ff']) expect(cursorOf('x', tokenOf('x', cursor))).toBe(cursor);
    expect(cursorOf('x', '')).toBeUndefined();
  });

  it.each([
    ['of another listing', tokenOf('y', 'a')],
    ['that is invented', 'abc'],
    ['with additional characters', `${tokenOf('x', 'a')}=`],
    ['that does not contain a string', Buffer.from('["x",1]').toString('base64url')],
    ['that does not contain a list', Buffer.from('null').toString('base64url')],
    ['with another encoding of its contents', Buffer.from('["x", "a"]').toString('base64url')],
  ])('%s is refused', (_, token) => {
    expect(() => cursorOf('x', token)).toThrow(refusal);
  });
});
