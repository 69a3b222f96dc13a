import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromLatin1, fromText } from '../../../lib/byte-string.ts';
import { PatternType } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { compileRules, explain } from '../../../lib/permissions/index.ts';
import { glob, matches } from './rules.ts';

const special = fc.constantFrom(
  '*',
  '?',
  '[',
  ']',
  '{',
  '}',
  ',',
  '\\',
  '/',
  '-',
  '!',
  '^',
  '**',
  '..',
  '.',
  'a',
  'é',
  '😀',
  '\ud800',
);
const text = fc.oneof(
  fc.array(special, { maxLength: 30 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
);
/** Byte strings that may be invalid UTF-8. */
const name = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }).map(fromText),
    fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  )
  .map((bytes) => bytes.replace(/[/\0]/g, '_'));

describe('a pattern of arbitrary text', () => {
  it('is refused with INVALID_ARGUMENT, or compiles and grants every name a level', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...PatternType), name, (pattern, type, path) => {
        let compiled: ReturnType<typeof compileRules>;
        try {
          compiled = compileRules([{ pattern, type, permission: 'PERMISSION_WRITE', priority: 0 }]);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
          expect(error).toMatchObject({
            code: 'INVALID_ARGUMENT',
            message: expect.stringContaining('permissions[0].'),
          });
          return;
        }
        const { level } = compiled.root.child(fromLatin1(path));
        expect([0, 5]).toContain(level);
        expect(explain(compiled, fromLatin1(path)).winner === undefined).toBe(level === 0);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('an arbitrary name', () => {
  const characters = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), {
    minLength: 1,
    maxLength: 12,
  });
  const usable = characters.filter((list) => {
    const joined = list.join('');
    return !/[/\0]|\p{Surrogate}/u.test(joined) && joined !== '.' && joined !== '..';
  });
  const escaped = (character: string) => (/[*?[\]{},\\!^-]/.test(character) ? `\\${character}` : character);

  it('is matched by a pattern of its characters, each literal or as ?, class or *', () => {
    const asPattern = fc.constantFrom(
      escaped,
      () => '?',
      (c: string) => `[${escaped(c)}]`,
      () => '*',
    );
    fc.assert(
      fc.property(usable, fc.array(asPattern, { minLength: 12, maxLength: 12 }), (list, ways) => {
        const pattern = list.map((character, i) => (ways[i] as (c: string) => string)(character)).join('');
        // Two adjacent stars have another meaning.
        fc.pre(!pattern.includes('**'));
        expect(matches(glob(pattern, 'READ'), list.join(''))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('is not matched by one ? more or fewer than its number of characters', () => {
    fc.assert(
      fc.property(usable, (list) => {
        const length = Array.from(list.join('')).length;
        expect(matches(glob('?'.repeat(length), 'READ'), list.join(''))).toBe(true);
        expect(matches(glob('?'.repeat(length + 1), 'READ'), list.join(''))).toBe(false);
        if (length > 1) expect(matches(glob('?'.repeat(length - 1), 'READ'), list.join(''))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('matches one byte with each ? if it is not UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes) => {
        const raw = `\xff${Buffer.from(bytes).toString('latin1').replace(/[/\0]/g, '_')}`;
        const compiled = compileRules([glob('?'.repeat(raw.length), 'READ')]);
        expect(compiled.root.child(fromLatin1(raw)).level).toBe(4);
      }),
    );
  });
});
