import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../lib/log.ts';
import { leaveLayout, makeLayout } from '../../../lib/sandboxes/layout.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-layout-'));
  chmodSync(folder, 0o755);
});

afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;
const make = (path: string) => makeLayout(join(folder, path), silentLog, join(folder, 'runtime'));

describe('the layout', () => {
  it('lies under mount_path, passable where sandboxes go and closed where the deltas are', () => {
    const layout = make('a/mounts');
    const mounts = join(folder, 'a/mounts');
    expect(layout).toEqual({ fs: join(mounts, 'fs'), deltas: join(mounts, 'deltas'), run: join(mounts, 'run') });
    expect([mounts, layout.run, layout.deltas, join(folder, 'a')].map(modeOf)).toEqual([0o711, 0o711, 0o700, 0o711]);
    leaveLayout(layout);
    expect(existsSync(layout.run)).toBe(true);
  });

  it('is the same, whatever the umask', () => {
    const before = process.umask(0o077);
    try {
      expect([make('b').run].map(modeOf)).toEqual([0o711]);
    } finally {
      process.umask(before);
    }
  });

  it('has what sandboxes pass through in the runtime directory when a folder above is closed', () => {
    mkdirSync(join(folder, 'closed'), { mode: 0o700 });
    const layout = make('closed/mounts');
    expect(layout.deltas).toBe(join(folder, 'closed/mounts/deltas'));
    expect(layout.fs).toMatch(new RegExp(`^${folder}/runtime/[0-9a-f]{16}/fs$`));
    expect(modeOf(join(folder, 'runtime'))).toBe(0o711);
    expect(make('closed/mounts')).toEqual(layout);
    expect(make('closed/others').fs).not.toBe(layout.fs);
    leaveLayout(layout);
    expect(existsSync(layout.run)).toBe(false);
    expect(existsSync(layout.deltas)).toBe(true);
  });
});
