/** Creates the file trees of the benchmark, the same on every machine and in every run. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const MANY_FILES = 10_000;
export const BIG_MIB = 256;

/** Creates a codebase: `many/` (10,000 files of 4 KiB), `npm/` (like node_modules), `repo/` (a git repository of npm/), `big`. */
export function makeCodebase(directory) {
  mkdirSync(join(directory, 'many'), { recursive: true });
  const page = Buffer.alloc(4096, 'The quick brown fox jumps over the lazy dog.\n');
  for (let i = 0; i < MANY_FILES; i++) writeFileSync(join(directory, 'many', name(i)), page);
  makePackages(join(directory, 'npm'));
  makePackages(join(directory, 'repo'));
  const git = (...args) =>
    execFileSync('git', [
      '-c',
      'user.name=bench',
      '-c',
      'user.email=bench@localhost',
      '-C',
      join(directory, 'repo'),
      ...args,
    ]);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'All files');
  execFileSync('tar', ['-C', join(directory, 'npm'), '-cf', join(directory, 'npm.tar'), '.']);
  execFileSync('dd', ['if=/dev/urandom', `of=${join(directory, 'big')}`, 'bs=1M', `count=${BIG_MIB}`, 'status=none']);
}

export const name = (i) => `file-${String(i).padStart(5, '0')}.txt`;

/** Creates 110 packages with 2,400 entries, 20 MB, with sizes distributed as in real packages: many small, few large. */
function makePackages(directory) {
  const random = generator(20_251_121);
  for (let i = 0; i < 110; i++) {
    const root = join(directory, i % 10 === 0 ? `@scope-${i}/package-${i}` : `package-${i}`);
    write(join(root, 'package.json'), 900, random);
    write(join(root, 'README.md'), 4000, random);
    write(join(root, 'LICENSE'), 1080, random);
    for (let file = 0; file < 15; file++) {
      const folder = ['lib', 'lib/internal', 'dist'][Math.floor(random() * 3)];
      write(join(root, folder, `module-${file}.js`), Math.ceil(500 * 2 ** (random() * 7)), random);
    }
  }
}

function write(path, size, random) {
  mkdirSync(dirname(path), { recursive: true });
  let text = '';
  while (text.length < size) text += `export const v${Math.floor(random() * 1e9)} = ${Math.floor(random() * 1e9)};\n`;
  writeFileSync(path, text.slice(0, size));
}

/** mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
