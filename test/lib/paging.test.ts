import { describe, expect, it } from 'vitest';
import { IdMap } from '../../lib/id-map.ts';
import { cursorOf, newestPage, pageById, scopeOf, tokenOf } from '../../lib/paging.ts';

const items = ['b', 'd', 'a', 'c', 'e'].map((id) => ({ id }));
const itself = <T>(item: T) => item;
const refusal = expect.objectContaining({ code: 'INVALID_ARGUMENT' });

describe('a page', () => {
  it('continues the previous one without gap or repetition, in order of id', () => {
    const ids: string[] = [];
    let page_token = '';
    do {
      const page = pageById('letters', items, { page_size: 2, page_token }, itself);
      ids.push(...page.items.map(({ id }) => id));
      page_token = page.next_page_token;
    } while (page_token !== '');
    expect(ids).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('has no next page if it ends with the last item', () => {
    expect(pageById('letters', items, { page_size: 5, page_token: '' }, itself).next_page_token).toBe('');
  });

  it('ends early with 1 MiB, and has at least one item', () => {
    const sizes = [300_000, 300_000, 300_000, 300_000, 3_000_000, 1].map((size, index) => ({ id: `${index}`, size }));
    const view = ({ id, size }: { id: string; size: number }) => ({ id, text: 'x'.repeat(size) });
    const pages: string[] = [];
    let page_token = '';
    do {
      const page = pageById('sizes', sizes, { page_size: 1000, page_token }, view);
      pages.push(page.items.map(({ id }) => id).join(''));
      page_token = page.next_page_token;
    } while (page_token !== '');
    expect(pages).toEqual(['012', '3', '4', '5']);
  });

  it('continues after a removed item', () => {
    const { next_page_token } = pageById('letters', items, { page_size: 2, page_token: '' }, itself);
    const left = items.filter(({ id }) => id !== 'b');
    expect(pageById('letters', left, { page_size: 2, page_token: next_page_token }, itself).items).toEqual([
      { id: 'c' },
      { id: 'd' },
    ]);
  });
});

describe('a page of the newest items', () => {
  it('ends early with 1 MiB, and has at least one item', () => {
    const ids = ['d', 'c', 'b', 'a'].map((id) => ({ id }));
    const after = (before?: string) => ids.filter(({ id }) => before === undefined || id < before);
    const view = ({ id }: { id: string }) => ({ id, text: 'x'.repeat(id === 'c' ? 2_000_000 : 400_000) });
    const pages: string[] = [];
    let page_token = '';
    do {
      const page = newestPage('sizes', after, () => true, { page_size: 1000, page_token }, view);
      pages.push(page.items.map(({ id }) => id).join(''));
      page_token = page.next_page_token;
    } while (page_token !== '');
    expect(pages).toEqual(['d', 'c', 'ba']);
  });

  const of = (ids: string) => {
    const map = new IdMap<{ id: string }>();
    for (const id of ids) map.set(id, { id });
    return map;
  };
  const letters = (map: IdMap<{ id: string }>, page_token: string, matches = (_: { id: string }) => true) => {
    const page = newestPage(
      'letters',
      (before) => map.newestFirst(before),
      matches,
      { page_size: 2, page_token },
      itself,
    );
    return [page.items.map(({ id }) => id).join(''), page.next_page_token] as const;
  };

  it('continues the previous one without gap or repetition, also if items come and go between pages', () => {
    const map = of('badfec');
    const [first, second] = letters(map, '');
    expect(first).toBe('fe');
    map.set('g', { id: 'g' });
    map.delete('e');
    map.delete('c');
    const [next, last] = letters(map, second);
    expect([next, last]).toEqual(['db', tokenOf('letters', 'b')]);
    expect(letters(map, last)).toEqual(['a', '']);
  });

  it('has only matching items, and no next page if none matches there', () => {
    const map = of('abcdef');
    const [vowels, next] = letters(map, '', ({ id }) => 'ae'.includes(id));
    expect([vowels, next]).toEqual(['ea', '']);
  });

  it('reads each item at most twice over all pages', () => {
    const map = of('abcdefghijklmnopqrst');
    let read = 0;
    let page_token = '';
    do {
      const matches = ({ id }: { id: string }) => ++read > 0 && id < 's';
      [, page_token] = letters(map, page_token, matches);
    } while (page_token !== '');
    expect(read).toBeLessThanOrEqual(2 * map.size);
  });
});

it('the scope of a listing depends on its name and filters, and has one length', () => {
  const scopes = [scopeOf('a', ['x']), scopeOf('b', ['x']), scopeOf('a', ['y'.repeat(10_000)])];
  expect(new Set(scopes).size).toBe(3);
  expect(new Set(scopes.map(({ length }) => length)).size).toBe(1);
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
