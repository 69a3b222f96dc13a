import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { outcome, Sandbox } from './sandbox.ts';

/** A sandbox whose delta is on a disk of its own, of 512 KiB. */
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
  it('is ENOSPC for the program, and nothing is lost or half done', () => {
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
    s.set('fill', { size: 0 });
    expect(outcome(() => s.unlink('kept'))).toBe('ok');
    s.restart();
    expect(s.exists('kept')).toBe(false);
    expect(s.stat('other').size).toBe(400_000);
  });
});
