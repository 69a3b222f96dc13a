import { describe, expect, it } from 'vitest';
import {
  ancestorsOf,
  type ByteString,
  baseNameOf,
  fromBuffer,
  fromLatin1,
  fromText,
  joinNames,
  joinPath,
  parentOf,
  quote,
  quoteText,
  ROOT_PATH,
  sliceOf,
  splitPath,
  toBuffer,
  toText,
  withSlash,
} from '../../lib/byte-string.ts';

const NOT_UTF8 = fromLatin1('a\xff\xfe');

describe('a byte string', () => {
  it('has one char for each byte of a text, and is decoded to the same text', () => {
    expect(fromText('é€')).toBe('\xc3\xa9\xe2\x82\xac');
    expect(toText(fromText('é€😀'))).toBe('é€😀');
  });

  it('keeps bytes that are not UTF-8 in a buffer, and loses them in a text', () => {
    expect(toBuffer(NOT_UTF8)).toEqual(Buffer.from([0x61, 0xff, 0xfe]));
    expect(fromBuffer(toBuffer(NOT_UTF8))).toBe(NOT_UTF8);
    expect(toText(NOT_UTF8)).toBe('a\ufffd\ufffd');
  });

  it('is a part of a buffer or of another byte string, counted in bytes', () => {
    expect(fromBuffer(Buffer.from('name\0rest'), 1, 4)).toBe('ame');
    expect(sliceOf(fromText('aé'), 1)).toBe('\xc3\xa9');
  });

  it('is no text, and a text is no byte string: the other does not compile', () => {
    const length = (bytes: ByteString): number => bytes.length;
    // @ts-expect-error: a text must be converted.
    expect(length('é')).toBe(1);
    // @ts-expect-error: so must a part of a byte string, which is a plain string.
    expect(length(fromText('é').slice(1))).toBe(1);
    expect(length(fromText('é'))).toBe(2);
  });
});

describe('a path', () => {
  it.each([
    ['', '', '', [], []],
    ['a', '', 'a', ['a'], []],
    ['a/b', 'a', 'b', ['a', 'b'], ['a']],
    ['a/b/c.d', 'a/b', 'c.d', ['a', 'b', 'c.d'], ['a', 'a/b']],
  ])('%j has its parent, base name, names and ancestors', (text, parent, baseName, names, ancestors) => {
    const path = fromText(text);
    expect(parentOf(path)).toBe(parent);
    expect(baseNameOf(path)).toBe(baseName);
    expect(splitPath(path)).toEqual(names);
    expect([...ancestorsOf(path)]).toEqual(ancestors);
    expect(joinNames(splitPath(path))).toBe(path);
    expect(joinPath(parentOf(path), baseNameOf(path))).toBe(path);
  });

  it('sorts before what is below it by its name and a slash', () => {
    const keys = [fromText('a.b'), withSlash(fromText('a')), fromText('a')];
    expect(keys.sort()).toEqual(['a', 'a.b', 'a/']);
    expect(joinPath(ROOT_PATH, fromText('a'))).toBe('a');
  });
});

describe('a quoted path', () => {
  it('is JSON text with at most 200 characters of the path, and shows that it is cut', () => {
    expect(quote(fromText('a"é'))).toBe('"a\\"é"');
    expect(quote(NOT_UTF8)).toBe('"a\ufffd\ufffd"');
    expect(quoteText('😀'.repeat(200))).toBe(`"${'😀'.repeat(200)}"`);
    expect(quoteText('😀'.repeat(201))).toBe(`"${'😀'.repeat(200)}…"`);
  });
});
