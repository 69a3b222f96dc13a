import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { bytesOf } from '../../../clients/typescript/src/local/glob.ts';
import { IgnoreFile } from '../../../clients/typescript/src/local/ignore.ts';
import { emptyDirectory } from '../../directory.ts';

interface Case {
  patterns: string[];
  ignored: string[];
  kept: string[];
}

const SPEC = resolve(import.meta.dirname, '../../../clients/spec/ignore.json');
const { cases } = JSON.parse(readFileSync(SPEC, 'utf8')) as { cases: Case[] };

const directory = emptyDirectory();
beforeEach(() => {
  execFileSync('git', ['init', '-q', directory]);
});

/** As a walk from the top does: what is in a directory that is left out is not looked at. */
function isIgnored(file: IgnoreFile, path: string): boolean {
  const names = path.replace(/\/$/, '').split('/');
  const decisions = names.map((_, at) => {
    const isDirectory = at < names.length - 1 || path.endsWith('/');
    return file.decides(names.slice(0, at + 1).join('/'), isDirectory) ?? false;
  });
  return decisions.includes(true);
}

/** What git itself ignores of these paths. */
function ignoredByGit(patterns: readonly string[], paths: readonly string[]): string[] {
  writeFileSync(join(directory, '.gitignore'), `${patterns.join('\n')}\n`);
  const input = paths.map((path) => `${path}\0`).join('');
  const args = ['-C', directory, 'check-ignore', '--no-index', '-z', '--stdin'];
  try {
    return execFileSync('git', args, { input, encoding: 'utf8' }).split('\0').filter(Boolean);
  } catch (error) {
    // Of none of them.
    if ((error as { status?: number }).status === 1) return [];
    throw error;
  }
}

const fileOf = (patterns: readonly string[]) => new IgnoreFile(bytesOf(patterns.join('\n')));

describe('the patterns of a .gitignore file', () => {
  it.each(cases)('mean what they mean for git: $patterns', ({ patterns, ignored, kept }) => {
    const file = fileOf(patterns);
    const all = [...ignored, ...kept];
    expect(all.filter((path) => isIgnored(file, path))).toEqual(ignored);
    const files = all.filter((path) => !path.endsWith('/'));
    expect(ignoredByGit(patterns, files)).toEqual(files.filter((path) => ignored.includes(path)));
    for (const path of all.filter((path) => path.endsWith('/'))) {
      mkdirSync(join(directory, path), { recursive: true });
      expect(ignoredByGit(patterns, [path.slice(0, -1)]).length === 1, path).toBe(ignored.includes(path));
    }
  });

  it('mean what they mean for git, whatever they are', () => {
    const piece = fc.constantFrom('a', 'b', '*', '**', '?', '/', '[ab]', '[!a]', '[', ']', '\\', '!', '-', ' ', 'ä');
    const pattern = fc.array(piece, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
    const name = fc.array(fc.constantFrom('a', 'b', 'ä', '-', '[', ']', ' '), { minLength: 1, maxLength: 4 });
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.map((n) => n.join('')).join('/'));
    const some = fc.array(path, { minLength: 20, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), some, (patterns, paths) => {
        const unique = [...new Set(paths)];
        const file = fileOf(patterns);
        expect(unique.filter((each) => isIgnored(file, each))).toEqual(ignoredByGit(patterns, unique));
      }),
      { numRuns: 300 },
    );
  });

  it('take a time that does not grow faster than path times pattern', () => {
    const names = ['a'.repeat(255), `${'a/'.repeat(2000)}b`];
    const patterns = [
      `${'*a'.repeat(100)}b`,
      `${'**/a/'.repeat(500)}c`,
      `*${'[ab]*'.repeat(200)}c`,
      `${' '.repeat(2 ** 17)}x`,
    ];
    const begun = performance.now();
    for (const path of names) expect(fileOf(patterns).decides(path, false)).toBeUndefined();
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});
