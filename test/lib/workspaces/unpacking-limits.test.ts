import { describe, expect, it, vi } from 'vitest';
import type { AttachedWorkspaces } from '../../../lib/workspaces/attached-workspaces.ts';
import { requireLayered } from '../../../lib/workspaces/layered-workspace.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { Sandbox } from './sandbox.ts';

const mtime = { sec: 1, nsec: 0 };
const COUNT = 200;

function archives(options: Partial<WorkspaceSpec>) {
  const s = new Sandbox({}, options);
  const begin = () => s.fs.files('sb_1', 'owner', 'beginUnpack', ['']) as number;
  const add = (handle: number, members: object[], data = Buffer.alloc(0)) =>
    s.fs.files('sb_1', 'owner', 'addMembers', [handle, members as never, data]);
  const drop = (handle: number) => s.fs.files('sb_1', 'owner', 'dropUnpack', [handle]);
  const end = (handle: number) => s.fs.files('sb_1', 'owner', 'unpack', [handle, '']);
  return { s, begin, add, drop, end };
}

const links = (prefix: string, target = 'x') =>
  Array.from({ length: COUNT }, (_, n) => ({ path: `${prefix}${n}`, type: 'symlink', target, mtime }));

describe('the members of archives that are being unpacked', () => {
  it('share the memory of their sandbox', () => {
    const { begin, add, drop } = archives({ maxIndexBytes: 1.5 * COUNT * 400 });
    const [one, two] = [begin(), begin()];
    add(one, links('a'));
    expect(() => add(two, links('b'))).toThrow(/exceeds the quota/);
    drop(one);
    add(two, links('b'));
  });

  it('count with the targets of symbolic links, and with files that later ones replace', () => {
    const { begin, add } = archives({ maxIndexBytes: 2 * COUNT * 400 });
    expect(() => add(begin(), links('a', 'x'.repeat(4000)))).toThrow(/exceeds the quota/);
    const file = { path: 'f', type: 'file', mode: 0o644, mtime, size: 1, at: 0 };
    const again = begin();
    const repeated = Array.from({ length: COUNT }, () => file);
    add(again, repeated, Buffer.from('x'));
    expect(() => {
      for (let n = 0; n < 3; n++) add(again, repeated, Buffer.from('x'));
    }).toThrow(/exceeds the quota/);
  });

  it('are refused as soon as files and symbolic links exceed the quota', () => {
    const { s, begin, add, drop, end } = archives({ maxFiles: COUNT + 1 });
    const refused = begin();
    expect(() => add(refused, [...links('a'), ...links('b')])).toThrow(/exceeds the quota/);
    drop(refused);
    const handle = begin();
    add(handle, [...links('same').slice(0, 9), ...links('same').slice(0, 9)]);
    expect(end(handle)).toMatchObject({ symlinks: 9 });
    expect(s.readlink('same8')).toBe('x');
  });

  it('keep their contents once they have names, even if the rest of the import fails', () => {
    const { s, begin, add, drop, end } = archives({});
    const handle = begin();
    add(handle, [{ path: 'f', type: 'file', mode: 0o644, mtime, size: 3, at: 0 }], Buffer.from('abc'));
    const { workspaces } = s.fs as unknown as { workspaces: AttachedWorkspaces };
    const { copyIn } = requireLayered(workspaces.find('sb_1')!).delta;
    vi.spyOn(copyIn, 'adopt').mockImplementationOnce(() => {
      throw new Error('disk');
    });
    expect(() => end(handle)).toThrow();
    drop(handle);
    s.create('other', 'xyz');
    s.restart();
    expect([s.read('f'), s.read('other')]).toEqual(['abc', 'xyz']);
  });
});
