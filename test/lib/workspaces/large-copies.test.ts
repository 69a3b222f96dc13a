import { copyFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Postponed } from '../../../lib/fuse/filesystem.ts';
import type { BackgroundCopy } from '../../../lib/workspaces/delta/contents/background-copy.ts';
import { hostSizes } from './host-sizes.ts';
import { outcome, Sandbox } from './sandbox.ts';

const SIZE = 5 << 20;

/** A sandbox over a large file; the test performs its copies. */
function large(options: ConstructorParameters<typeof Sandbox>[1] = {}) {
  const copies: BackgroundCopy[] = [];
  const s = new Sandbox({ small: 'small' }, options, { startCopy: (copy) => void copies.push(copy) });
  writeFileSync(join(s.spec.base, 'big'), Buffer.alloc(SIZE, 'base'));
  const append = (text: string) => s.write('big', text, SIZE);
  const finish = (errno = 0) => {
    const { id, from, to } = copies.shift()!;
    if (errno === 0) copyFileSync(from, to);
    s.fs.copied(id, errno);
  };
  return { s, copies, append, finish };
}

function postponed(act: () => void): boolean {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Postponed) return true;
    throw thrown;
  }
  return false;
}

it('a large copy-up does not block others, and is complete when the request runs again', () => {
  const { s, append, finish } = large();
  expect(postponed(() => append('mine'))).toBe(true);
  expect(s.read('small')).toBe('small');
  s.create('other', 'other');
  expect(s.stat('big').size).toBe(SIZE);
  finish();
  append('mine');
  s.fs.requestEnded();
  s.restart();
  expect(s.stat('big').size).toBe(SIZE + 4);
  const into = Buffer.alloc(8);
  s.fs.read(s.caller, s.id('big'), SIZE - 4, into);
  expect(into.toString()).toBe('basemine');
});

it('all requests for the same file wait for one copy', () => {
  const { s, copies, append, finish } = large();
  expect(postponed(() => append('one'))).toBe(true);
  expect(postponed(() => s.set('big', { mode: 0o600 }))).toBe(true);
  expect(copies).toHaveLength(1);
  finish();
  append('one');
  s.set('big', { mode: 0o600 });
  s.fs.requestEnded();
  expect(s.stat('big')).toMatchObject({ size: SIZE + 3, mode: 0o100600 });
});

it('a copy for which the disk has no space fails the request, and leaves nothing', () => {
  const { s, append, finish } = large();
  expect(postponed(() => append('x'))).toBe(true);
  finish(constants.errno.ENOSPC);
  expect(outcome(() => append('x'))).toBe('ENOSPC');
  s.fs.requestEnded();
  expect(s.stat('big').size).toBe(SIZE);
  expect(hostSizes(s)).toEqual({});
});

it('a file that is removed during its copy stays removed, and the copy is deleted', () => {
  const { s, append, finish } = large();
  expect(postponed(() => append('x'))).toBe(true);
  s.unlink('big');
  finish();
  expect(outcome(() => append('x'))).toBe('ENOENT');
  s.fs.requestEnded();
  expect(hostSizes(s)).toEqual({});
});

it('a copy in progress counts against the quota', () => {
  const { s, append, finish } = large({ maxBytes: SIZE + 1000 });
  expect(postponed(() => append('x'))).toBe(true);
  expect(outcome(() => s.create('more', 'x'.repeat(2000)))).toBe('EDQUOT');
  finish();
  append('x');
  expect(s.fs.usage('sb_1').bytes).toBe(SIZE + 1);
});

it('an incomplete copy after a kill is removed', () => {
  const { s, copies, append } = large();
  expect(postponed(() => append('x'))).toBe(true);
  copyFileSync(copies[0]!.from, copies[0]!.to);
  truncateSync(copies[0]!.to, 100);
  s.create('journaled');
  s.restart();
  expect(s.stat('big').size).toBe(SIZE);
  expect(hostSizes(s)).toEqual({});
});

it('a copy is repeated if its delta was attached again meanwhile', () => {
  const { s, copies, append } = large();
  expect(postponed(() => append('x'))).toBe(true);
  const { id, from, to } = copies[0]!;
  copyFileSync(from, to);
  s.fs.detach('sb_1');
  s.fs.attach(s.spec);
  s.create('journaled');
  s.fs.copied(id, 0);
  if (postponed(() => append('y'))) {
    copyFileSync(copies[1]!.from, copies[1]!.to);
    s.fs.copied(copies[1]!.id, 0);
    append('y');
  }
  expect(s.stat('big').size).toBe(SIZE + 1);
  expect(statSync(join(s.spec.base, 'big')).size).toBe(SIZE);
});

it('a sandbox holds few files open for its copies, and all of them are made', () => {
  const { s, copies, append, finish } = large();
  const names = Array.from({ length: 20 }, (_, at) => `big${at}`);
  for (const name of names) writeFileSync(join(s.spec.base, name), Buffer.alloc(SIZE, name));
  const write = (name: string) => postponed(() => s.write(name, 'mine', SIZE));
  let waiting = names.filter(write);
  expect([waiting.length, copies.length]).toEqual([20, 8]);
  expect(postponed(() => append('x'))).toBe(true);
  while (waiting.length > 0) {
    expect(copies.length).toBeGreaterThan(0);
    while (copies.length > 0) finish();
    waiting = waiting.filter(write);
    s.fs.requestEnded();
  }
  expect(names.map((name) => s.stat(name).size)).toEqual(names.map(() => SIZE + 4));
});
