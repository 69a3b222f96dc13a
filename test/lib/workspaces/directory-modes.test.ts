import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { Sandbox } from './sandbox.ts';

/** Returns each change as its path, with `!` for a conflict. */
const changes = (s: Sandbox) =>
  s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes.map(({ path, conflict }) => `${conflict ? '!' : ''}${path}`);
const bits = (mode: number) => (mode & 0o777).toString(8);
const mode = (s: Sandbox, path: string) => bits(s.stat(path).mode);

/** A change of a path in the codebase by others. */
function inBase(s: Sandbox, path: string, change: (at: string) => void): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  change(join(s.spec.base, path));
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

function withDirectory(): Sandbox {
  const s = new Sandbox({ 'g/x': 'x', 'g/d/y': 'y' });
  for (const path of ['g', 'g/d']) chmodSync(join(s.spec.base, path), 0o755);
  return s;
}

describe('a directory of the codebase whose mode is changed there', () => {
  const CHANGES: Record<string, (s: Sandbox) => void> = {
    'removed a file': (s) => s.unlink('g/d/y'),
    'changed a file': (s) => s.write('g/d/y', '2'),
    'created a file': (s) => s.create('g/d/new'),
    'created a file and removed it': (s) => {
      s.create('g/d/new');
      s.unlink('g/d/new');
    },
  };

  it.each(Object.entries(CHANGES))('is told to the kernel if the sandbox %s in it', (_what, change) => {
    const s = withDirectory();
    change(s);
    const before = changes(s);
    for (const path of ['g/d', 'g']) {
      const id = s.id(path);
      expect(mode(s, path)).toBe('755');
      s.notices.inodes.length = 0;
      inBase(s, path, (at) => chmodSync(at, 0o700));
      expect(mode(s, path)).toBe('700');
      expect(s.notices.inodes).toContain(id);
    }
    expect(changes(s)).toEqual(before);
  });
});
