import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Needle } from '../../../../lib/network/inspection/needle.ts';
import { FoundError, Replacer } from '../../../../lib/network/inspection/replacer.ts';

const replacement = (from: string, to: string | undefined) => ({
  from: new Needle(from),
  to: to === undefined ? undefined : Buffer.from(to),
  name: from,
});

it('replaces like String.replaceAll, however the text is cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 });
  const needle = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(text, needle, fc.array(fc.nat(60), { maxLength: 6 }), (all, from, cuts) => {
      const replacer = new Replacer([replacement(from, 'X')]);
      const places = [0, ...cuts.filter((at) => at < all.length).sort((a, b) => a - b), all.length];
      const pieces = places.slice(1).map((end, index) => replacer.push(Buffer.from(all.slice(places[index], end))));
      expect(Buffer.concat([...pieces, replacer.end()]).toString()).toBe(all.replaceAll(from, 'X'));
    }),
  );
});

it('replaces the longest of texts that begin alike, however the text is cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });
  const needle = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 });
  const needles = fc.uniqueArray(needle, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(text, needles, fc.array(fc.nat(40), { maxLength: 6 }), (all, from, cuts) => {
      const longest = from.toSorted((a, b) => b.length - a.length);
      const replacer = new Replacer(longest.map((each, index) => replacement(each, `${index}`)));
      const places = [0, ...cuts.filter((at) => at < all.length).sort((a, b) => a - b), all.length];
      const pieces = places.slice(1).map((end, index) => replacer.push(Buffer.from(all.slice(places[index], end))));
      const expected = all.replaceAll(new RegExp(longest.join('|'), 'g'), (found) => `${longest.indexOf(found)}`);
      expect(Buffer.concat([...pieces, replacer.end()]).toString()).toBe(expected);
    }),
  );
});

it('holds back nothing but the beginning of what is replaced', () => {
  const replacer = new Replacer([replacement('secret', 'S'), replacement('crab', 'C')]);
  expect(replacer.push(Buffer.from('a line\n')).toString()).toBe('a line\n');
  expect(replacer.push(Buffer.from('a sec')).toString()).toBe('a ');
  expect(replacer.push(Buffer.from('rab, se')).toString()).toBe('seC, ');
  expect(replacer.end().toString()).toBe('se');
});

it('nothing of what must not pass is returned', () => {
  const replacer = new Replacer([replacement('secret', undefined)]);
  expect(replacer.push(Buffer.from('a se')).toString()).toBe('a ');
  expect(() => replacer.push(Buffer.from('cret b'))).toThrow(FoundError);
});

it('finds a long text that nearly occurs everywhere, one byte after the other', () => {
  const value = `b${'a'.repeat(60_000)}`;
  const replacer = new Replacer([replacement(value, 'V')]);
  const parts = ['a'.repeat(200_000), value.slice(0, 50_000), value.slice(50_000), 'a'.repeat(200_000)];
  const output = Buffer.concat([...parts.map((part) => replacer.push(Buffer.from(part))), replacer.end()]).toString();
  expect(output).toBe(`${'a'.repeat(200_000)}V${'a'.repeat(200_000)}`);
});
