import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { Step } from '../../../lib/codebases/commits/commit-steps.ts';
import { applySteps } from './commit-thread.ts';

/** Called before the real ones. */
const failing = vi.hoisted(() => ({}) as Record<string, (() => unknown) | undefined>);
vi.mock(import('node:fs'), async (original) => {
  const actual = await original();
  const wrapped = ['copyFileSync', 'fsyncSync', 'renameSync'].map((name) => {
    const call = actual[name as 'renameSync'];
    const checked = (...args: Parameters<typeof call>) => {
      failing[name]?.();
      return call(...args);
    };
    return [name, checked];
  });
  return { ...actual, ...Object.fromEntries(wrapped) };
});

let root: string;
const at = (name: string) => join(root, 'files', name);
const apply = async (...steps: Step[]) => applySteps(join(root, 'files'), join(root, 'staging'), steps);
const modeOf = (name: string) => statSync(at(name)).mode & 0o777;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'commit-steps-'));
  mkdirSync(at(''));
  mkdirSync(join(root, 'staging'));
  writeFileSync(at('one'), 'text', { mode: 0o644 });
  linkSync(at('one'), at('two'));
});
afterEach(() => {
  for (const name of Object.keys(failing)) delete failing[name];
  rmSync(root, { recursive: true });
});

describe('new permission bits of a file with several hard links', () => {
  it('are those of the named path only', async () => {
    const before = statSync(at('two'));
    expect(await apply(['chmod', fromText('one'), 0o755])).toEqual([]);
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o644]);
    expect(statSync(at('two')).ino).toBe(before.ino);
    expect(readFileSync(at('one'), 'utf8')).toBe('text');
    expect(Math.abs(statSync(at('one')).mtimeMs - before.mtimeMs)).toBeLessThan(1);
  });

  it('are set at each path that is named, also again after a crash', async () => {
    const steps: Step[] = [
      ['chmod', fromText('one'), 0o755],
      ['chmod', fromText('two'), 0o600],
    ];
    await apply(...steps);
    await apply(...steps);
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o600]);
  });

  it('are set on a full disk, too, where the file cannot get a copy', async () => {
    failing.copyFileSync = () => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    await apply(['chmod', fromText('one'), 0o755]);
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o755]);
    expect(readdirSync(join(root, 'staging'), { recursive: true })).toEqual([expect.stringMatching('removed-')]);
  });

  it('come with a copy that is on the disk before it takes the place of the file', async () => {
    const calls: string[] = [];
    failing.fsyncSync = () => calls.push('synced');
    failing.renameSync = () => calls.push('moved');
    await apply(['chmod', fromText('one'), 0o755]);
    expect(calls).toEqual(['synced', 'moved']);
  });
});

it('are made in the directories that they name, also after one far down is missing', async () => {
  const deep = Array.from({ length: 70 }, (_, depth) => `d${depth}`);
  mkdirSync(at(`a/${deep.join('/')}`), { recursive: true });
  writeFileSync(at('a/1'), '1');
  writeFileSync(at('a/z'), 'z');
  for (const depth of deep.keys()) writeFileSync(at(`a/${deep.slice(0, depth + 1).join('/')}/z`), 'kept');
  const missing = `a/${deep.join('/')}/gone/file`;
  await apply(['unlink', fromText('a/1')], ['unlink', fromText(missing)], ['unlink', fromText('a/z')]);
  expect(readdirSync(at('a'))).toEqual(['d0']);
  expect(readdirSync(at('a'), { recursive: true }).filter((path) => String(path).endsWith('/z'))).toHaveLength(70);
});

describe('what is replaced or removed', () => {
  const removed = () => {
    const [name] = readdirSync(join(root, 'staging')).filter((each) => each.startsWith('removed-'));
    return readdirSync(join(root, 'staging', name!)).map((each) =>
      readFileSync(join(root, 'staging', name!, each), 'utf8'),
    );
  };

  it('is freed later, with the staging directory', async () => {
    writeFileSync(join(root, 'staging/0'), 'new');
    await apply(['unlink', fromText('two')], ['put', fromText('one'), fromText('0')]);
    expect([readdirSync(at('')), readFileSync(at('one'), 'utf8')]).toEqual([['one'], 'new']);
    expect(removed()).toEqual(['text']);
  });

  it('is a file, and never a directory with what is in it', async () => {
    mkdirSync(at('d'));
    writeFileSync(at('d/in'), 'in');
    expect(await apply(['unlink', fromText('d')])).toEqual([]);
    expect([readFileSync(at('d/in'), 'utf8'), removed()]).toEqual(['in', []]);
  });

  it('is removed at once where it cannot be kept', async () => {
    failing.renameSync = () => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    await apply(['unlink', fromText('two')]);
    expect(readdirSync(at(''))).toEqual(['one']);
  });

  it('has no second link at any time, by which sandboxes would know it later', async () => {
    writeFileSync(join(root, 'staging/0'), 'new');
    rmSync(at('two'));
    const links: number[] = [];
    failing.renameSync = () => links.push(statSync(at('one')).nlink);
    await apply(['put', fromText('one'), fromText('0')], ['put', fromText('one'), fromText('0')]);
    expect([links, statSync(at('one')).nlink]).toEqual([[1, 1], 1]);
  });
});
