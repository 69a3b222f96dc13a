import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { type Duration, InvalidArgumentError, secondsOf } from '../../../clients/typescript/src/index.ts';

interface Case {
  duration: Duration;
  seconds: number | null;
}
const SPEC = resolve(import.meta.dirname, '../../../clients/spec/durations.json');
const { cases } = JSON.parse(readFileSync(SPEC, 'utf8')) as { cases: Case[] };

it.each(cases)('the duration $duration is $seconds seconds', ({ duration, seconds }) => {
  if (seconds === null) expect(() => secondsOf('timeout', duration)).toThrow(InvalidArgumentError);
  else expect(secondsOf('timeout', duration)).toBe(seconds);
});
