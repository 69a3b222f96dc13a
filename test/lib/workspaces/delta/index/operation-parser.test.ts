import { describe, expect, it, onTestFinished } from 'vitest';
import { fromText } from '../../../../../lib/byte-string.ts';
import { OperationParser } from '../../../../../lib/workspaces/delta/index/operation-parser.ts';
import type { Op } from '../../../../../lib/workspaces/delta/index/records.ts';

const TEXTS = 30;
const NAMES = 500;

/** Texts of a directory's names; among them are names, targets and origins that look like operations. */
function textsOf(directoryOf: (text: number) => number): Op[][] {
  return Array.from({ length: TEXTS }, (_, text) => {
    const dir = directoryOf(text);
    const names = Array.from({ length: NAMES }, (_, n) => `f${text * NAMES + n}`);
    return [
      ...names.map((name, n): Op => ['link', dir, fromText(name), n]),
      ['hide', dir, fromText('hidden')],
      ['drop', dir, fromText(names[0]!)],
      ['link', dir, fromText('a'.repeat(200)), 7],
      ['link', dir, fromText('["link",1,"'), 7],
      ['link', dir + 1, fromText('other'), 7],
      ['new', 7, 1, 0o120777, 0, 0, [1, 2, 3, 4, 5, 6], fromText('["drop",1,"x"')],
      ['origin', 7, fromText('o')],
    ] as Op[];
  });
}

/** Returns the results, and the number of different short names in what the engine parsed. */
function parsed(texts: Op[][]) {
  const encoded = texts.map((text) => JSON.stringify(text));
  const short = new Set<string>();
  const { parse } = JSON;
  onTestFinished(() => void Object.assign(JSON, { parse }));
  Object.assign(JSON, {
    parse: (json: string) => {
      for (const [, name] of json.matchAll(/\["(?:link|hide|drop)",\d+,"([^"]{1,10})"/g)) short.add(name!);
      return parse(json);
    },
  });
  const parser = new OperationParser();
  const results = encoded.map((json) => parser.parse<Op>(json, (operation) => [operation]));
  Object.assign(JSON, { parse });
  return { results, short: short.size };
}

describe('the operations of a journal', () => {
  it('with many names in one directory are returned as they were written', () => {
    const texts = textsOf(() => 1000);
    expect(parsed(texts).results).toEqual(texts);
  });

  it('with many names in one directory are parsed with few short strings', () => {
    expect(parsed(textsOf(() => 1000)).short).toBeLessThan(NAMES * 9);
  });

  it('with many directories keep short names, which are often the same', () => {
    const texts = textsOf((text) => 1000 + 2 * (text % 20));
    const { results, short } = parsed(texts);
    expect(results).toEqual(texts);
    expect(short).toBeGreaterThan(TEXTS * NAMES);
  });
});
