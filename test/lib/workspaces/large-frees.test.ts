import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Postponed } from '../../../lib/fuse/filesystem.ts';
import {
  type BackgroundFree,
  BackgroundFrees,
  fileOf,
} from '../../../lib/workspaces/delta/contents/background-free.ts';
import { until } from '../runtime/bwrap/fixture.ts';
import { outcome, Sandbox } from './sandbox.ts';

const LARGE = 'x'.repeat(3 << 20);

/** A sandbox with a large file; the test frees the space in place of the other thread. */
function large() {
  const frees: BackgroundFree[] = [];
  const s = new Sandbox({}, {}, { startFree: (free) => void frees.push(free) });
  s.create('big', LARGE);
  s.fs.syncAll();
  const data = join(s.spec.delta, 'data');
  const onHost = () => readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => /\d$/.test(name));
  return { s, frees, onHost };
}

it('the worker does not remove a large file itself, and its number can be used again', () => {
  const { s, frees, onHost } = large();
  s.unlink('big');
  s.forgetAll();
  expect(frees).toHaveLength(1);
  const [free] = frees as [{ kind: 'remove'; path: string }];
  expect(statSync(free.path).size).toBe(LARGE.length);
  expect(s.fs.usage('sb_1').bytes).toBe(0);
  s.create('big', LARGE);
  unlinkSync(free.path);
  expect(s.stat('big').size).toBe(LARGE.length);
  expect(s.read('big').startsWith('xxx')).toBe(true);
  expect(onHost().filter((name) => name.includes('removed'))).toEqual([]);
});

it('a small file is removed at once', () => {
  const { s, frees } = large();
  s.create('small', 'x'.repeat(100_000));
  s.unlink('small');
  s.forgetAll();
  expect(frees).toEqual([]);
});

it('a large file whose removal a kill prevented is removed after the next start', () => {
  const { s, frees, onHost } = large();
  s.unlink('big');
  s.forgetAll();
  s.create('other', LARGE);
  s.restart();
  expect(s.stat('other').size).toBe(LARGE.length);
  expect(s.read('other').startsWith('xxx')).toBe(true);
  for (const free of frees) if (free.kind === 'remove') rmSync(free.path, { force: true });
  expect(onHost().filter((name) => name.includes('removed'))).toEqual([]);
  expect(s.stat('other').size).toBe(LARGE.length);
  expect(s.read('other').startsWith('xxx')).toBe(true);
});

it('a truncation that frees much space waits for the other thread, and others are served', () => {
  const { s, frees } = large();
  expect(() => s.set('big', { size: 10 })).toThrow(Postponed);
  expect(() => s.set('big', { size: 5 })).toThrow(Postponed);
  s.create('other', 'other');
  expect(frees).toHaveLength(1);
  const { id, fd, size } = frees[0] as { id: number; fd: number; size: number };
  truncateSync(`/proc/self/fd/${fd}`, size);
  s.fs.copied(id, 0);
  expect(() => fstatSync(fd), 'the descriptor is closed').toThrow('EBADF');
  s.set('big', { size: 10 });
  s.fs.requestEnded();
  expect(s.read('big')).toBe('x'.repeat(10));
  expect(s.fs.usage('sb_1').bytes).toBe(15);
  s.restart();
  expect(s.read('big')).toBe('x'.repeat(10));
});

it('a truncation that fails is an error, and leaves the file as it was', () => {
  const { s, frees } = large();
  expect(() => s.set('big', { size: 0 })).toThrow(Postponed);
  s.fs.copied((frees[0] as { id: number }).id, constants.errno.ENOSPC);
  expect(outcome(() => s.set('big', { size: 0 }))).toBe('ENOSPC');
  expect(s.stat('big').size).toBe(LARGE.length);
  expect(s.read('big').startsWith('xxx')).toBe(true);
});

it('the other thread removes files, and truncates open ones to the given size', async () => {
  const { s } = large();
  const [removed, truncated] = [join(s.home, 'removed'), join(s.home, 'truncated')];
  for (const path of [removed, truncated]) writeFileSync(path, 'contents');
  const answers: [id: number, errno: number][] = [];
  const thread = new BackgroundFrees((...answer) => answers.push(answer));
  thread.start({ kind: 'remove', path: join(s.home, 'absent') });
  thread.start({ kind: 'remove', path: removed });
  const fd = openSync(truncated, 'r+');
  const file = fileOf(fd);
  thread.start({ kind: 'truncate', id: 1, fd, file, size: 3 });
  // The number of a closed descriptor may be that of another file.
  thread.start({ kind: 'truncate', id: 2, fd, file: '1:2', size: 0 });
  closeSync(fd);
  thread.start({ kind: 'truncate', id: 3, fd, file, size: 0 });
  await until('all truncations have ended', () => answers.length === 3 && !existsSync(removed));
  expect(answers).toEqual([
    [1, 0],
    [2, constants.errno.EBADF],
    [3, constants.errno.ENOENT],
  ]);
  expect(readFileSync(truncated, 'utf8')).toBe('con');
});
