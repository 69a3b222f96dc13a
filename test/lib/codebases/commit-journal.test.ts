import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommitJournal } from '../../../lib/codebases/commit-journal.ts';
import type { Step } from '../../../lib/codebases/commit-steps.ts';

let home: string;
let files: string;
let journal: CommitJournal;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'paddock-commit-'));
  files = join(home, 'files');
  mkdirSync(join(files, 'd/sub'), { recursive: true });
  for (const path of ['a', 'b', 'd/x', 'd/sub/y']) writeFileSync(join(files, path), `old ${path}\n`);
  journal = new CommitJournal(home, files);
});
afterEach(() => rmSync(home, { recursive: true }));

const STEPS: Step[] = [
  ['unlink', 'a'],
  ['unlink', 'd/x'],
  ['unlink', 'd/sub/y'],
  ['rmdir', 'd/sub'],
  ['rmdir', 'd'],
  ['mkdir', 'a', 0o750],
  ['mkdir', 'n', 0o755],
  ['put', 'a/f', '0'],
  ['put', 'd', '1'],
  ['put', 'n/deep/er/g', '2'],
  ['put', 'link', '3'],
  ['chmod', 'b', 0o600],
];

async function prepare(): Promise<void> {
  await journal.begin();
  for (const name of ['0', '1', '2']) writeFileSync(join(journal.staging, name), `new ${name}\n`);
  symlinkSync('b', join(journal.staging, '3'));
  await journal.prepare(STEPS);
}

const tree = () =>
  execFileSync('sh', ['-c', 'find . -printf "%P %y %m %l\\n" -type f -exec cat {} \\; | sort'], {
    cwd: files,
  }).toString();

describe('a commit that a crash ended', () => {
  it('before it was prepared has changed nothing, and leaves nothing', async () => {
    const before = tree();
    await journal.begin();
    writeFileSync(join(journal.staging, '0'), 'half');
    writeFileSync(join(home, 'commit.json.new'), '[["unl');
    expect(await new CommitJournal(home, files).recover()).toBe(false);
    expect(tree()).toBe(before);
    expect([existsSync(journal.staging), existsSync(join(home, 'commit.json.new'))]).toEqual([false, false]);
  });

  it.each(STEPS.map((_, index) => index).concat(STEPS.length))('after step %i is finished', async (done) => {
    await prepare();
    await journal.apply(STEPS.slice(0, done));
    expect(await new CommitJournal(home, files).recover()).toBe(true);
    expect(tree()).toBe(
      [
        ' d 755 ',
        'a d 750 ',
        'a/f f 644 ',
        'b f 600 ',
        'd f 644 ',
        'link l 777 b',
        'n d 755 ',
        'n/deep d 755 ',
        'n/deep/er d 755 ',
        'n/deep/er/g f 644 ',
        'new 0',
        'new 1',
        'new 2',
        'old b',
        '',
      ].join('\n'),
    );
    expect(existsSync(join(home, 'commit.json'))).toBe(false);
    expect(await journal.recover()).toBe(false);
  });

  it('in its recovery is finished by the next', async () => {
    await prepare();
    await journal.apply(STEPS);
    const after = tree();
    await journal.apply(STEPS);
    expect(tree()).toBe(after);
  });
});

describe('the steps', () => {
  it('follow no symlink out of the codebase', async () => {
    const outside = join(home, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(files, 'out'));
    await journal.begin();
    writeFileSync(join(journal.staging, '0'), 'x');
    await journal.prepare([['put', 'out/f', '0']]);
    await expect(journal.apply([['put', 'out/f', '0']])).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    await journal.apply([['unlink', 'out/f']]);
    expect(existsSync(join(outside, 'f'))).toBe(false);
  });

  it('keep a directory that still has something in it', async () => {
    await journal.begin();
    await journal.apply([['rmdir', 'd']]);
    expect(existsSync(join(files, 'd/x'))).toBe(true);
  });
});
