import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fromLatin1, fromText } from '../../../lib/byte-string.ts';
import { complete, type Steps } from '../../../lib/fuse/connection/steps.ts';
import { Entries } from '../../../lib/workspaces/delta/index/entries.ts';
import { sorted } from '../../../lib/workspaces/sorted.ts';
import { largestKeysIn, longestArrayIn } from './longest-array.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';
import { count, postponedBy } from './stepping.ts';

const FILES = 3600;
const NAMES = Array.from({ length: FILES }, (_, n) => `${n}`.padEnd(60, '-'));
/** Most items of an array: a longer one is copied in one step when it grows. */
const LONGEST = 4096;
let base: string;

beforeAll(() => {
  base = mkdtempSync(`${tmpdir()}/large-directory-`);
  for (const dir of ['d', 'e']) {
    mkdirSync(`${base}/${dir}`);
    for (const name of NAMES) writeFileSync(`${base}/${dir}/${name}`, '');
  }
});
afterAll(() => rmSync(base, { recursive: true }));

/** A sandbox with large directories in its base. The test runs the steps of its long operations. */
function sliced(rules = [rule('/**', 'WRITE')]) {
  const started: Steps<unknown>[] = [];
  const s = new Sandbox({}, { rules, base }, { startSteps: (steps) => started.push(steps) });
  return { s, started };
}

describe('a directory with many names', () => {
  it('is listed a part at a time, while only its own sandbox waits', () => {
    const { s, started } = sliced();
    s.fs.attach({ ...s.spec, id: 'sb_2', delta: `${s.spec.delta}-2` });
    expect(s.stat('d').nlink).toBeGreaterThan(0);
    const cause = postponedBy(() => s.list('d'));
    expect(postponedBy(() => s.stat('d'))).toBe(cause);
    const root = s.fs.lookup(s.caller, 1, fromText('sb_2'))!.nodeid;
    s.fs.create(s.caller, root, fromText('meanwhile'), 0o644, 0);
    expect(count(started[0]!)).toBeGreaterThan(FILES / 64);
    expect(s.list('d').length).toBe(FILES);
    s.create('d/another');
    expect(s.list('d').length).toBe(FILES + 1);
    expect(started.length).toBe(1);
    s.fs.detach('sb_2');
  });

  it('is listed with changes that the codebase got meanwhile', () => {
    const { s, started } = sliced();
    const changed = [`d/${NAMES[0]!}`, 'd/new'];
    s.id('d');
    s.fs.baseChanging('cb_1', changed.map(fromText));
    postponedBy(() => s.list('d'));
    started[0]!.next();
    rmSync(`${s.spec.base}/${changed[0]!}`);
    writeFileSync(`${s.spec.base}/d/new`, '');
    postponedBy(() => s.fs.begin('baseChanged', ['cb_1', changed]));
    complete(started[0]!);
    complete(s.fs.begin('baseChanged', ['cb_1', changed])!);
    postponedBy(() => s.list('d'));
    complete(started[1]!);
    expect(new Set(s.list('d'))).toEqual(new Set([...NAMES.slice(1), 'new']));
    rmSync(`${base}/d/new`);
    writeFileSync(`${base}/${changed[0]!}`, '');
  });

  it('is listed although the kernel forgot it meanwhile', () => {
    const { s, started } = sliced();
    postponedBy(() => s.list('d'));
    s.forgetAll();
    complete(started[0]!);
    expect(s.list('d').length).toBe(FILES);
    expect(started.length).toBe(1);
  });

  it('is listed anew a part at a time, for a program that goes on', () => {
    const { s, started } = sliced();
    postponedBy(() => s.list('d'));
    complete(started[0]!);
    const dir = s.id('d');
    const names: string[] = [];
    const read = (cookie: number, most: number) => {
      let last = cookie;
      s.fs.readdir(s.caller, dir, cookie, false, (name, next) => {
        if (names.length === most) return false;
        names.push(name);
        last = next;
        return true;
      });
      return last;
    };
    const cookie = read(2, FILES / 2);
    s.set('d', { mode: 0o700 });
    complete(s.fs.begin('revert', ['sb_1', ['d']])!);
    postponedBy(() => read(cookie, FILES));
    expect(names.length).toBe(FILES / 2);
    expect(count(started[1]!)).toBeGreaterThan((3 * FILES) / 65);
    read(cookie, FILES);
    expect(names.sort()).toEqual([...NAMES].sort());
    expect(started.length).toBe(2);
  });

  it('is searched a part at a time for entries that prevent its removal or replacement', () => {
    const { s, started } = sliced([rule('/**', 'WRITE'), rule('/d/*', 'NONE', 1), rule('/e/*', 'NONE', 1)]);
    postponedBy(() => s.rmdir('d'));
    expect(count(started[0]!)).toBeGreaterThan(FILES / 64);
    expect(outcome(() => s.rmdir('d'))).toBe('EACCES');
    expect(started.length).toBe(1);
  });

  it('is renamed over another one after both were searched', () => {
    const { s, started } = sliced([rule('/**', 'WRITE'), rule('**/secret', 'NONE', 1)]);
    const results: string[] = [];
    for (let tries = 0; tries < 8 && results.at(-1) !== 'ENOTEMPTY'; tries++) {
      try {
        results.push(outcome(() => s.rename('d', 'e')));
      } catch {
        results.push('postponed');
      }
      for (const steps of started.splice(0)) complete(steps);
    }
    expect(results.at(-1)).toBe('ENOTEMPTY');
  });

  it('is listed and removed by the file API a step at a time', () => {
    const { s, started } = sliced();
    const list = s.fs.begin('files', ['sb_1', 'agent', 'list', ['d', false, '', 10]])!;
    list.next();
    postponedBy(() => s.stat('d'));
    expect(count(list)).toBeGreaterThan(FILES / 64);
    const remove = s.fs.begin('files', ['sb_1', 'agent', 'remove', ['d', true, false, 50]])!;
    expect(count(remove)).toBeGreaterThan(FILES / 64);
    postponedBy(() => s.list('d'));
    complete(started[0]!);
    expect(s.list('d').length).toBe(FILES - 50);
  });

  it('has its changes listed a step at a time', () => {
    const { s } = sliced();
    s.rename('d', 'f');
    const steps = s.fs.begin('changes', ['sb_1', '', 1])!;
    expect(count(steps)).toBeGreaterThan((4 * FILES) / 64);
  });
});

it('the discard of a new directory with many names examines few of them in a step', () => {
  const { s } = sliced();
  s.mkdir('new');
  for (const name of NAMES) s.create(`new/${name}`);
  const keys = Entries.prototype.keys;
  let examined = 0;
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(Entries.prototype, 'keys').mockImplementation(function* (this: Entries<never>) {
    for (const name of keys.call(this)) {
      examined++;
      yield name;
    }
  });
  const steps = s.fs.begin('revert', ['sb_1', ['']])!;
  let most = 0;
  for (let done = false; !done; most = Math.max(most, examined)) {
    examined = 0;
    done = steps.next().done === true;
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(100);
  expect(s.list('')).not.toContain('new');
});

it('the names of a new directory with many of them are collected in parts', () => {
  const { s } = sliced();
  s.mkdir('new');
  for (let number = 0; number < 3 * LONGEST; number++) s.create(`new/${number}`);
  Object.assign(s.notices, { dropEntry: () => {}, invalEntry: () => {}, invalInode: () => {} });
  const operations: [Parameters<Sandbox['fs']['begin']>[0], ...unknown[]][] = [
    ['changes', 'sb_1', fromText(''), 10],
    ['files', 'sb_1', 'owner', 'list', ['new', false, '', 10]],
    ['revert', 'sb_1', ['']],
  ];
  for (const [operation, ...args] of operations) {
    const longest = longestArrayIn(() => complete(s.fs.begin(operation, args)!));
    expect([operation, longest > 10, longest <= LONGEST]).toEqual([operation, true, true]);
  }
  expect(s.list('')).not.toContain('new');
});

it('the nodes of a directory with many of them are added and removed in parts', () => {
  const { s } = sliced();
  Object.assign(s.notices, { dropEntry: () => {}, invalEntry: () => {}, invalInode: () => {} });
  const dir = s.mkdir('new').nodeid;
  const made = largestKeysIn(() => {
    for (let number = 0; number < 3 * LONGEST; number++) s.fs.create(s.caller, dir, fromLatin1(`${number}`), 0o644, 0);
  });
  expect(made).toBeLessThanOrEqual(LONGEST);
  const operations: [Parameters<Sandbox['fs']['begin']>[0], ...unknown[]][] = [
    ['setRules', 'sb_1', [rule('/**', 'WRITE'), rule('new/1', 'READ', 1)]],
    ['revert', 'sb_1', [''], { exclude: ['new/1'], scratch: true }],
  ];
  for (const [operation, ...args] of operations) {
    let longest = 0;
    const largest = largestKeysIn(() => {
      longest = longestArrayIn(() => complete(s.fs.begin(operation, args)!));
    });
    expect([operation, longest <= LONGEST, largest <= LONGEST]).toEqual([operation, true, true]);
  }
  expect(s.list('new')).toEqual(['1']);
});

it('the nodes of such a directory are detached in parts', () => {
  const { s } = sliced();
  Object.assign(s.notices, { dropEntry: () => {}, invalEntry: () => {}, invalInode: () => {} });
  const dir = s.mkdir('new').nodeid;
  for (let number = 0; number < 3 * LONGEST; number++) s.fs.create(s.caller, dir, fromLatin1(`${number}`), 0o644, 0);
  expect(longestArrayIn(() => complete(s.fs.begin('detach', ['sb_1'])!))).toBeLessThanOrEqual(LONGEST);
});

describe('the sort of names', () => {
  it('has the same result as the engine’s sort, a part at a time', () => {
    const names = Array.from({ length: 5000 }, (_, n) => `${(n * 7919) % 4001}/\xff`.slice(0, (n % 5) + 1));
    const steps = sorted(names.map(fromLatin1));
    for (let taken = 1; ; taken++) {
      const { done, value } = steps.next();
      if (!done) continue;
      expect(taken).toBeGreaterThan(16);
      expect([...value]).toEqual([...names].sort());
      return;
    }
  });
});
