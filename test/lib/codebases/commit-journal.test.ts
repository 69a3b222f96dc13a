import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { type Commit, CommitJournal } from '../../../lib/codebases/commit-journal.ts';
import type { Step } from '../../../lib/codebases/commits/commit-steps.ts';
import { applySteps, commitThread } from './commit-thread.ts';

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
  ['unlink', fromText('a')],
  ['unlink', fromText('d/x')],
  ['unlink', fromText('d/sub/y')],
  ['rmdir', fromText('d/sub')],
  ['rmdir', fromText('d')],
  ['mkdir', fromText('a'), 0o750],
  ['mkdir', fromText('n'), 0o755],
  ['put', fromText('a/f'), fromText('0')],
  ['put', fromText('d'), fromText('1')],
  ['put', fromText('n/deep/er/g'), fromText('many/2')],
  ['put', fromText('link'), fromText('3')],
  ['chmod', fromText('b'), 0o600],
];

const commitOf = (...stages: Step[][]): Commit => ({
  id: 'c',
  sandboxId: 'sb',
  stages: stages.map((steps) => ({ steps, settled: [] })),
  givenUp: [],
});

const apply = async (steps: readonly Step[]) => applySteps(files, journal.staging, steps);

/** As the next server does. True: there was something to finish. */
async function recover(): Promise<boolean> {
  const next = new CommitJournal(home, files);
  const commit = await next.unfinished();
  if (commit === undefined) await next.abandon(join(home, 'aside'));
  else {
    const { remote, release } = await commitThread();
    await next.apply(commit, async () => {}, remote);
    await next.end(join(home, randomUUID()));
    await release();
  }
  return commit !== undefined;
}

async function prepare(): Promise<void> {
  await journal.begin();
  mkdirSync(join(journal.staging, 'many'));
  for (const name of ['0', '1', 'many/2']) writeFileSync(join(journal.staging, name), `new ${name.at(-1)}\n`);
  symlinkSync('b', join(journal.staging, '3'));
  await journal.prepare(commitOf(STEPS.slice(0, 5), STEPS.slice(5)), (await commitThread()).remote);
}

const tree = () =>
  execFileSync('sh', ['-c', 'find . -printf "%P %y %m %l\\n" -type f -exec cat {} \\; | sort'], {
    cwd: files,
  }).toString();

describe('a commit that a crash interrupted', () => {
  it('before it was prepared has changed nothing and leaves no staged files', async () => {
    const before = tree();
    await journal.begin();
    writeFileSync(join(journal.staging, '0'), 'half');
    writeFileSync(join(home, 'commit.json.new'), '[["unl');
    expect(await recover()).toBe(false);
    expect(tree()).toBe(before);
    expect([existsSync(journal.staging), existsSync(join(home, 'commit.json.new'))]).toEqual([false, false]);
  });

  it('with an idempotency key is known with its answer, before and after the crash', async () => {
    const known: unknown[] = [];
    const certain = async (intent: string, answer: unknown) => {
      known.push([intent, answer, existsSync(join(home, 'commit.json'))]);
    };
    journal = new CommitJournal(home, files, certain);
    await journal.begin();
    await journal.prepare({ ...commitOf(), intent: 'rq_1', answer: { count: 1 } });
    expect(known).toEqual([['rq_1', { count: 1 }, true]]);
    await new CommitJournal(home, files, certain).unfinished();
    expect(known).toEqual([known[0], known[0]]);
    await journal.end(join(home, 'aside'));
    await prepare();
    expect(known).toHaveLength(2);
  });

  it.each(STEPS.map((_, index) => index).concat(STEPS.length))('after step %i is finished', async (done) => {
    await prepare();
    await apply(STEPS.slice(0, done));
    expect(await recover()).toBe(true);
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
    expect(await recover()).toBe(false);
  });

  it('during its recovery is finished by the next recovery', async () => {
    await prepare();
    await apply(STEPS);
    const after = tree();
    await apply(STEPS);
    expect(tree()).toBe(after);
  });
});

describe('the journal of a commit', () => {
  it('of an older server, which is a list of steps, is finished', async () => {
    await prepare();
    writeFileSync(join(home, 'commit.json'), JSON.stringify(STEPS));
    expect(await recover()).toBe(true);
    expect(readFileSync(join(files, 'd'), 'utf8')).toBe('new 1\n');
  });

  it.each(['', '{', 'null', '7', '{"id":"c"}'])('that is damaged (%j) is DATA_LOSS', async (text) => {
    writeFileSync(join(home, 'commit.json'), text);
    await expect(recover()).rejects.toMatchObject({ code: 'DATA_LOSS', message: /commit journal/ });
  });

  it('reports each stage after its steps, and one more for the paths given up', async () => {
    await prepare();
    const told: [number, boolean][] = [];
    const commit = { ...commitOf(STEPS.slice(0, 5), STEPS.slice(5)), givenUp: [fromText('x')] };
    await journal.apply(
      commit,
      async (_, stage) => void told.push([stage, existsSync(join(files, 'link'))]),
      (await commitThread()).remote,
    );
    expect(told).toEqual([
      [0, false],
      [1, true],
      [2, true],
    ]);
  });
});

describe('the steps', () => {
  it('follow no symlink out of the codebase', async () => {
    const outside = join(home, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(files, 'out'));
    await journal.begin();
    writeFileSync(join(journal.staging, '0'), 'x');
    await journal.prepare(commitOf([['put', fromText('out/f'), fromText('0')]]));
    expect(await apply([['put', fromText('out/f'), fromText('0')]])).toEqual(['out/f']);
    await apply([['unlink', fromText('out/f')]]);
    expect(existsSync(join(outside, 'f'))).toBe(false);
  });

  it('skip a path that an entry of another type occupies, so that the commit ends', async () => {
    await journal.begin();
    for (const name of ['0', '1', '2']) writeFileSync(join(journal.staging, name), `new ${name}\n`);
    mkdirSync(join(journal.staging, 'whole-0'));
    const steps: Step[] = [
      ['rmdir', fromText('d')],
      ['mkdir', fromText('b'), 0o700],
      ['put', fromText('d'), fromText('0')],
      ['put', fromText('a/in'), fromText('1')],
      ['put', fromText('n'), fromText('2')],
      ['put', fromText('d/x'), fromText('whole-0')],
    ];
    const before = statSync(join(files, 'b')).mode;
    const commit = commitOf(steps);
    await journal.prepare(commit);
    expect(await journal.apply(commit, async () => {}, (await commitThread()).remote)).toEqual([
      'b',
      'd',
      'a/in',
      'd/x',
    ]);
    expect(await recover()).toBe(true);
    expect(await recover()).toBe(false);
    expect(statSync(join(files, 'b')).mode).toBe(before);
    const contents = ['a', 'b', 'd/x', 'd/sub/y', 'n'].map((path) => readFileSync(join(files, path), 'utf8'));
    expect(contents).toEqual(['old a\n', 'old b\n', 'old d/x\n', 'old d/sub/y\n', 'new 2\n']);
  });

  it('keep a directory that is not empty', async () => {
    await journal.begin();
    await apply([['rmdir', fromText('d')]]);
    expect(existsSync(join(files, 'd/x'))).toBe(true);
  });
});
