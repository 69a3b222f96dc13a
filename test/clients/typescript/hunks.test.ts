import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FailedPreconditionError } from '../../../clients/typescript/src/errors.ts';
import { withHunks } from '../../../clients/typescript/src/local/hunks.ts';

interface Case {
  name: string;
  base: string;
  hunks: readonly (readonly [oldStart: number, oldLines: number, removed: string, added: string])[];
  indexes: readonly number[];
  text: string | null;
}

const SPEC = resolve(import.meta.dirname, '../../../clients/spec/hunks.json');
const { cases } = JSON.parse(readFileSync(SPEC, 'utf8')) as { cases: Case[] };

describe('a text with some hunks', () => {
  it.each(cases)('$name', ({ base, hunks: listed, indexes, text }) => {
    const hunks = listed.map(([oldStart, oldLines, removed, added]) => {
      return { oldStart, oldLines, newStart: 0, newLines: 0, before: '', removed, added, after: '' };
    });
    const made = () => withHunks(base, hunks, indexes);
    if (text === null) expect(made).toThrow(FailedPreconditionError);
    else expect(made()).toBe(text);
  });
});
