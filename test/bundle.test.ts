import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { BUNDLE } from './contract/server.ts';

it('the bundle is ASCII, which takes half the memory in each thread', () => {
  const lines = readFileSync(BUNDLE, 'utf8').split('\n');
  expect(lines.filter((line) => /[^\0-\x7f]/.test(line))).toEqual([]);
});

it('a command starts without the modules of the others', () => {
  const main = readFileSync(resolve(import.meta.dirname, '../app/main.ts'), 'utf8');
  const modules = [...main.matchAll(/^import (?!type ).* from '(.+)';$/gm)].map(([, name]) => name);
  expect(modules).toEqual(['node:fs', '../lib/start-small.ts', './thread-script.ts']);
});
