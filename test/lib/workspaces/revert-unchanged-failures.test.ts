import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { hostCalls } from '../runtime/faults/host-calls.ts';
import type { Sandbox } from './sandbox.ts';
import { begin, count, sliced, take } from './stepping.ts';

vi.mock('node:fs', async (original) => {
  const { hostCalls } = await import('../runtime/faults/host-calls.ts');
  return hostCalls.wrapWithWorker(await original<typeof import('node:fs')>());
});

/** Above the limit of slabs. */
const LARGE = 'large '.repeat(12_000);
const BASE = { 'd/touched': 'first', 'd/again': 'again', 'd/mine': 'base', large: LARGE };
const CHANGING = { paths: ['d/touched', 'd/again', 'large'].map(fromText), removed: [] };
/** What the sandbox shows, with its only change. */
const SHOWN = { 'd/': '', 'd/again': 'again', 'd/mine': 'mine', 'd/touched': 'first', large: 'as before' };
const MINE = [{ path: 'd/mine', conflict: false }];

function changed() {
  const { s, started } = sliced(BASE);
  s.set('d/touched', { mtime: { sec: 1, nsec: 0 } });
  s.unlink('d/again');
  s.create('d/again', 'again');
  s.write('large', LARGE.slice(0, 6));
  s.write('d/mine', 'mine');
  return { s, started };
}

const changes = (s: Sandbox) =>
  s.fs.changes('sb_1', ROOT_PATH, 100).changes.map(({ path, conflict }) => ({ path, conflict }));

function files(s: Sandbox): Record<string, string> {
  const tree = s.tree();
  return { ...tree, large: tree.large === LARGE ? 'as before' : 'changed' };
}

/** An upload of the three files, as the codebase makes it after `revertUnchanged`. */
function upload(s: Sandbox): void {
  s.fs.baseChanging('cb_1', CHANGING.paths);
  for (const path of CHANGING.paths) {
    writeFileSync(join(s.home, 'upload'), 'second');
    renameSync(join(s.home, 'upload'), join(s.spec.base, path));
  }
  s.fs.baseChanged('cb_1', CHANGING.paths);
}

it('a kill at any step of the revert of unchanged entries leaves the contents as they were, and it can be repeated', () => {
  const total = count(begin(changed().s, 'revertUnchanged', changed().s.spec, CHANGING, false));
  expect(total).toBeGreaterThan(5);
  for (let steps = 0; steps < total; steps++) {
    const { s } = changed();
    take(begin(s, 'revertUnchanged', s.spec, CHANGING, false), steps);
    s.restart();
    expect(files(s)).toEqual(SHOWN);
    expect(changes(s)).toEqual(MINE);
    s.fs.revertUnchanged(s.spec, CHANGING, false);
    upload(s);
    expect(s.read('d/touched') + s.read('d/again') + s.read('large')).toBe('secondsecondsecond');
    expect(changes(s)).toEqual(MINE);
    s.remove();
  }
});

it.each(['ENOSPC', 'EIO'] as const)(
  '%s at any host call of the revert changes no contents, and loses nothing',
  (errno) => {
    const first = changed();
    hostCalls.record();
    first.s.fs.revertUnchanged(first.s.spec, CHANGING, false);
    const calls = hostCalls.recorded();
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) {
      const { s } = changed();
      hostCalls.arm(call, errno);
      try {
        s.fs.revertUnchanged(s.spec, CHANGING, false);
      } catch {
        // The caller logs it, and the entries that were not reverted stay.
      }
      const fired = hostCalls.disarm();
      expect(files(s), fired).toEqual(SHOWN);
      s.restart();
      expect(files(s), fired).toEqual(SHOWN);
      expect(changes(s), fired).toEqual(MINE);
      expect(readFileSync(join(s.spec.base, 'd/mine'), 'utf8')).toBe('base');
      s.remove();
    }
  },
);
