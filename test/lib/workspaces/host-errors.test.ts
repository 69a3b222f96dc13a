import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { outcome, Sandbox } from './sandbox.ts';

/** Creates a sandbox whose delta is on a disk of its own, of 512 KiB. */
function onSmallDisk(base: Record<string, string>): Sandbox {
  const s = new Sandbox(base);
  s.fs.detach('sb_1');
  mkdirSync(s.spec.delta, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', s.spec.delta]);
  onTestFinished(() => {
    s.detachAll();
    execFileSync('umount', [s.spec.delta]);
  });
  s.fs.attach(s.spec);
  return s;
}

describe('a full disk of the host', () => {
  it('is ENOSPC for the program, and nothing is lost or partially done', () => {
    const s = onSmallDisk({ large: 'L'.repeat(200_000), other: 'O'.repeat(400_000) });
    s.create('kept', 'kept');
    s.write('large', 'X');
    expect(outcome(() => s.write('other', 'X'))).toBe('ENOSPC');
    expect(s.stat('other').size).toBe(400_000);
    const { nodeid } = s.create('fill');
    let size = 0;
    let last = 'ok';
    for (; last === 'ok'; size += 4096) {
      last = outcome(() => s.fs.write(s.caller, nodeid, size, Buffer.alloc(4096, 'f'), false));
    }
    expect(last).toBe('ENOSPC');
    let made = 0;
    for (last = 'ok'; last === 'ok'; made++) last = outcome(() => s.mkdir(`directory-${made}`));
    expect(last).toBe('ENOSPC');
    const long = 'n'.repeat(250);
    while (outcome(() => s.symlink(long, `${long}-${made++}`)) === 'ok');
    expect(outcome(() => s.rename('kept', long))).toBe('ENOSPC');
    const before = s.tree();
    expect(before.kept).toBe('kept');
    s.restart();
    expect(s.tree()).toEqual(before);
    const free = statfsSync(s.spec.delta).bfree;
    expect(free).toBeLessThan(2);
    expect(outcome(() => s.unlink('kept'))).toBe('ok');
    s.restart();
    expect(s.exists('kept')).toBe(false);
    s.set('fill', { size: 0 });
    expect(outcome(() => s.mkdir('another'))).toBe('ok');
    s.restart();
    expect(s.exists('another')).toBe(true);
    expect(s.exists('kept')).toBe(false);
    expect(s.stat('other').size).toBe(400_000);
  });

  it('makes a freeze and a rollback fail, which then change nothing', () => {
    const s = onSmallDisk({});
    s.create('f', 'then');
    const { layer } = s.fs.freeze('sb_1');
    s.write('f', 'now!');
    const { nodeid } = s.create('fill');
    const fill = (step: number) => {
      for (let at = 0, last = 'ok'; last === 'ok'; at += step) {
        last = outcome(() => s.fs.write(s.caller, nodeid, at, Buffer.alloc(step, 'f'), false));
      }
    };
    fill(4096);
    for (let made = 0; outcome(() => s.symlink('n'.repeat(250), `link-${made}`)) === 'ok'; made++);
    const before = s.tree();
    const full = expect.objectContaining({ code: 'RESOURCE_EXHAUSTED' });
    const refused = (act: () => unknown) => {
      try {
        return act();
      } catch (error) {
        return error;
      }
    };
    expect(refused(() => s.fs.freeze('sb_1'))).toEqual(full);
    expect(refused(() => s.fs.rollback('sb_1', layer))).toEqual(full);
    expect(s.tree()).toEqual(before);
    s.restart();
    expect(s.tree()).toEqual(before);
    s.set('fill', { size: 0 });
    s.unlink('fill');
    s.forgetAll();
    const second = s.fs.freeze('sb_1').layer;
    s.fs.rollback('sb_1', layer);
    expect(s.tree()).toEqual({ f: 'then' });
    s.fs.rollback('sb_1', second);
    expect(s.read('f')).toBe('now!');
  });

  it('does not prevent the load of a delta whose journal is to be rewritten', () => {
    const s = onSmallDisk({});
    s.create('f', 'kept');
    for (let time = 0; time < 1100; time++) s.set('f', { mode: time % 2 ? 0o600 : 0o644 });
    const { nodeid } = s.create('fill');
    for (let size = 0; outcome(() => s.fs.write(s.caller, nodeid, size, Buffer.alloc(512), false)) === 'ok'; )
      size += 512;
    const before = s.tree();
    const size = () => statSync(join(s.spec.delta, 'journal')).size;
    const long = size();
    s.restart();
    expect(s.tree()).toEqual(before);
    expect(size()).toBeGreaterThanOrEqual(long);
    execFileSync('mount', ['-o', 'remount,size=2m', s.spec.delta]);
    s.restart();
    expect(s.tree()).toEqual(before);
    expect(size()).toBeLessThan(long);
  });

  it('allows removals and truncations of own and base files, which survive a restart', () => {
    const s = onSmallDisk({ 'd/b1': 'b', 'd/b2': 'b', 'd/sub/b3': 'b', shortened: 'b', kept: 'b' });
    s.create('own', 'own');
    s.create('other', 'other');
    s.mkdir('empty');
    s.create('fill', 'fill');
    fill(s, 'fill');
    const removals: (() => unknown)[] = [
      () => s.unlink('d/b1'),
      () => s.unlink('d/b2'),
      () => s.unlink('d/sub/b3'),
      () => s.rmdir('d/sub'),
      () => s.rmdir('d'),
      () => s.rmdir('empty'),
      () => s.unlink('own'),
      () => s.set('shortened', { size: 0, mtime: 'now' }),
      () => s.set('other', { size: 2 }),
    ];
    for (const [index, removal] of removals.entries()) {
      expect(outcome(removal), String(index)).toBe('ok');
      if (index % 3 === 1) s.restart();
    }
    const after = { fill: expect.any(String), kept: 'b', other: 'ot', shortened: '' };
    expect(s.tree()).toEqual(after);
    s.restart();
    expect(s.tree()).toEqual(after);
    s.set('fill', { size: 0 });
    s.create('again', 'again');
    s.restart();
    expect(s.tree()).toEqual({ ...after, fill: '', again: 'again' });
  });

  it('allows a discard, which frees space', () => {
    const s = onSmallDisk({ 'd/b': 'b', kept: 'b' });
    s.unlink('d/b');
    s.create('fill', 'fill');
    fill(s, 'fill');
    expect(s.fs.revert('sb_1', [ROOT_PATH])).toBeGreaterThan(0);
    expect(s.tree()).toEqual({ 'd/': '', 'd/b': 'b', kept: 'b' });
    s.forgetAll();
    s.create('new', 'new');
    expect(s.read('new')).toBe('new');
  });
});

function fill(s: Sandbox, path: string): void {
  const id = s.id(path);
  let last = 'ok';
  for (let at = 0; last === 'ok'; at += 4096) {
    last = outcome(() => s.fs.write(s.caller, id, at, Buffer.alloc(4096, 'f'), false));
  }
  let made = 0;
  while (outcome(() => s.symlink('n'.repeat(100), `link-${made++}`)) === 'ok');
  for (let n = 0; n < made - 1; n++) s.unlink(`link-${n}`);
}
