import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify, type ToStringOptions } from 'yaml';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import { Placeholders } from '../../../lib/redaction/placeholders.ts';
import { puttingBack } from '../../../lib/redaction/put-back.ts';
import { redacting } from '../../../lib/redaction/redacted-form.ts';

type Tree = string | number | boolean | null | Tree[] | Map;
type Map = { [key: string]: Tree };

const RUNS = Number(process.env.PADDOCK_MODEL_RUNS ?? 40);
const PLACEHOLDERS = new Placeholders(new Uint8Array(32).fill(7)).bound;

const shownOf = (text: string, redactor: 'json' | 'yaml' | 'tokens') =>
  complete(redacting(Buffer.from(text), redactor, PLACEHOLDERS)).bytes.toString();
const putBack = (written: string, base: string, redactor: 'json' | 'yaml' | 'tokens') =>
  complete(
    puttingBack(Buffer.from(written), { base: Buffer.from(base), redactor, placeholders: [PLACEHOLDERS] }),
  ).toString();

const key = fc.constantFrom('a', 'b', 'db', 'pass word', 'x-y', '1', '2', 'a.b');
const odd = 'two\nlines\n,x: y,# c,it\'s,"q", lead,trail ,true,5,|,- x,a\n\nb,a\n b\n,\ttab'.split(',');
const leaf: fc.Arbitrary<Tree> = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom(...odd, 'a, b', 'long '.repeat(30)),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(tie('tree'), { maxLength: 3 }),
  ),
}));
const file = fc.dictionary(key, tree, { minKeys: 1, maxKeys: 5, noNullPrototype: true });
const edits = fc.array(fc.record({ at: fc.nat(50), how: fc.nat(4), value: leaf }), { maxLength: 4 });

function mapsIn(at: Tree): Map[] {
  if (at === null || typeof at !== 'object' || Array.isArray(at)) return [];
  return [at, ...Object.values(at).flatMap(mapsIn)];
}

/** Edits what the agent sees (`text`), and what is expected of a commit. A placeholder at a new key stays one. */
function edit(text: Map, expected: Map, at: number, how: number, value: Tree): void {
  const [shown, all] = [mapsIn(text), mapsIn(expected)] as const;
  const [from, to] = [shown[at % shown.length]!, all[at % shown.length]!];
  const name = Object.keys(from)[at % (Object.keys(from).length || 1)] ?? 'new';
  const added = how === 0 ? name : how === 1 ? `new${at}` : `moved${at}`;
  if (how < 2) [from[added], to[added]] = [value, value];
  if (how === 2 && typeof from[name] === 'string') [from[added], to[added]] = [from[name], from[name]];
  if (how !== 3) return;
  delete from[name];
  delete to[name];
}

const YAML: readonly ToStringOptions[] = [
  {},
  { indent: 4, lineWidth: 0 },
  { defaultStringType: 'QUOTE_DOUBLE' },
  { defaultStringType: 'QUOTE_SINGLE' },
  { defaultStringType: 'BLOCK_LITERAL' },
  { collectionStyle: 'flow' },
];
const FORMATS = {
  json: {
    write: (value: Tree, style: number) => JSON.stringify(value, null, style),
    read: (text: string): Tree => JSON.parse(text),
  },
  yaml: {
    write: (value: Tree, style: number) => stringify(value, YAML[style]),
    read: (text: string): Tree => parse(text),
  },
};

describe.each(['json', 'yaml'] as const)('a text of %s', (redactor) => {
  const { write, read } = FORMATS[redactor];
  const style = fc.nat(YAML.length - 1);

  it('gets exactly the values of the keys that kept their placeholders, or none', { timeout: 400_000 }, () => {
    fc.assert(
      fc.property(file, edits, style, style, (base, all, before, after) => {
        const text = write(base, before);
        const shown = shownOf(text, redactor);
        expect(putBack(shown, text, redactor)).toBe(text);
        const [agents, expected] = [read(shown), read(text)] as [Map, Map];
        for (const { at, how, value } of all) edit(agents, expected, at, how, value);
        const written = write(agents, after);
        const result = putBack(written, text, redactor);
        if (redactor === 'json' || result !== written) expect(read(result), result).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a value', () => {
  it('keeps the line behind it, where the placeholder was a block of lines', () => {
    const base = 'a:\n  - 0\n  - null\n';
    const [placeholder] = /pdk\w+/.exec(shownOf(base, 'yaml'))!;
    const written = `a:\n  - |-\n    ${placeholder}\n  - null\n`;
    expect(putBack(written, base, 'yaml')).toBe(base);
  });

  it('stays away where it would be another one', () => {
    const base = 'a: |\n  two\n  lines\n';
    const written = `{a: ${/pdk\w+/.exec(shownOf(base, 'yaml'))![0]}}\n`;
    expect(putBack(written, base, 'yaml')).toBe(written);
  });

  it.each([
    ['{"1": "one", "2": "two"}', (text: string) => text.replace('"1"', '"3"')],
    ['{"a": {"b": "one"}}', (text: string) => `{"a.b": ${/"pdk\w+"/.exec(text)![0]}}`],
  ])('of %s is put at no other key', (base, move) => {
    const result = putBack(move(shownOf(base, 'json')), base, 'json');
    expect(Object.values(JSON.parse(result))).not.toContain('one');
  });

  it('that looks like a token is put at the name that it is assigned to only', () => {
    const base = '{"key": "sk_live_0123456789abcdef"}\nTOKEN=ghp_0123456789abcdefghij\n';
    const shown = shownOf(base, 'tokens');
    expect(shown).not.toMatch(/0123/);
    expect(putBack(`${shown}# more\n`, base, 'tokens')).toBe(`${base}# more\n`);
    for (const moved of [shown.replace('"key"', '"note"'), shown.replace('TOKEN', 'PUBLIC_ID')])
      expect(putBack(moved, base, 'tokens').match(/0123/g)).toHaveLength(1);
  });

  it('in a string of one line is put back', () => {
    const base = JSON.stringify({ key: `-----BEGIN KEY-----\n${'MHcCAQEEIBa1'.repeat(5)}\n-----END KEY-----\n` });
    expect(putBack(shownOf(base, 'tokens'), base, 'tokens')).toBe(base);
  });
});
