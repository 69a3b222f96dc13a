import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leaveLayout, makeLayout } from '../../../lib/sandboxes/host/layout.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-layout-'));
  chmodSync(folder, 0o755);
});

afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;
const make = (path: string) => makeLayout(join(folder, path), join(folder, 'runtime'));

describe('the layout', () => {
  it('is below mount_path, traversable for sandboxes, with closed deltas', () => {
    const layout = make('a/mounts');
    const mounts = join(folder, 'a/mounts');
    const names = ['fs', 'deltas', 'layers', 'homes', 'images', 'run', 'processes'];
    const [fs, deltas, layers, homes, images, run, processes] = names.map((name) => join(mounts, name));
    expect(layout).toEqual({ fs, deltas, layers, homes, images, run, processes });
    expect([mounts, images!, run!, join(folder, 'a')].map(modeOf)).toEqual([0o711, 0o711, 0o711, 0o711]);
    expect([deltas!, layers!, homes!, processes!].map(modeOf)).toEqual([0o700, 0o700, 0o700, 0o700]);
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

  it('has its mount point in the runtime directory if a parent directory is not traversable', () => {
    mkdirSync(join(folder, 'closed'), { mode: 0o700 });
    const layout = make('closed/mounts');
    expect([layout.deltas, layout.run].map(dirname)).toEqual([
      join(folder, 'closed/mounts'),
      join(folder, 'closed/mounts'),
    ]);
    expect(layout.fs).toMatch(new RegExp(`^${folder}/runtime/workspaces-[0-9a-f]{16}$`));
    expect(make('closed/mounts')).toEqual(layout);
    expect(make('closed/others').fs).not.toBe(layout.fs);
    mkdirSync(layout.fs, { recursive: true });
    leaveLayout(layout);
    expect(existsSync(layout.fs)).toBe(false);
    expect(existsSync(layout.deltas)).toBe(true);
  });
});
