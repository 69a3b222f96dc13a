import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { EACCES, ESTALE } from '../../../lib/linux/errno.ts';
import { Damage } from '../../../lib/workspaces/delta/damage.ts';
import { Delta } from '../../../lib/workspaces/delta/delta.ts';
import { Sandbox, UID } from './sandbox.ts';

const PLACE = '0123456789abcdef0123456789abcdef';
const name = fromText;
const OWN = { uid: UID, gid: UID, pid: 7 };
const OTHER = { uid: UID + 1, gid: UID + 1, pid: 8 };
const ROOT = { uid: 0, gid: 0, pid: 9 };

function reserved(base: Record<string, string> = {}) {
  const sandbox = new Sandbox(base);
  sandbox.fs.detach('sb_1');
  sandbox.fs.reserve(PLACE, UID);
  const { nodeid } = sandbox.fs.lookup(OWN, 1, name(PLACE))!;
  return { ...sandbox, sandbox, fs: sandbox.fs, nodeid, spec: { ...sandbox.spec, place: PLACE } };
}

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

it('a place shows its user and root an empty directory, others nothing, and refuses every other operation', () => {
  const { fs, nodeid } = reserved();
  for (const caller of [OWN, ROOT]) {
    expect(fs.getattr(caller, nodeid)).toMatchObject({ mode: 0o040700, uid: UID, gid: UID });
  }
  const refused = [
    () => fs.lookup(OTHER, 1, name(PLACE)),
    () => fs.getattr(OTHER, nodeid),
    () => fs.lookup(OWN, nodeid, name('a')),
    () => fs.mkdir(OWN, nodeid, name('a'), 0o755),
    () => fs.create(OWN, nodeid, name('a'), 0o644, 0),
    () => fs.readdir(OWN, nodeid, 0, false, () => true),
    () => fs.statfs(OWN, nodeid),
    () => fs.setattr(OWN, nodeid, { mode: 0o777 }),
  ];
  for (const act of refused) expect(thrown(act)).toBe(EACCES);
});

it('a workspace that takes the place appears in the directory that the kernel knows, whatever is asked first', () => {
  for (const first of ['getattr', 'lookup', 'forget'] as const) {
    const { fs, nodeid, spec, sandbox } = reserved({ 'a.txt': 'hello' });
    fs.attach(spec);
    expect(sandbox.notices.inodes).toContain(nodeid);
    if (first === 'forget') fs.forget(nodeid, 0);
    if (first === 'getattr') expect(fs.getattr(OWN, nodeid)).toMatchObject({ mode: 0o040750, uid: UID });
    expect(fs.lookup(OWN, nodeid, name('a.txt'))).toMatchObject({ attr: { size: 5 } });
    expect(fs.lookup(OWN, 1, name(PLACE))).toMatchObject({ nodeid });
    expect(thrown(() => fs.lookup(OTHER, nodeid, name('a.txt')))).toBe(EACCES);
    expect(thrown(() => fs.lookup(OTHER, 1, name(PLACE)))).toBe(EACCES);
    // Its id is no name of a directory.
    expect(fs.lookup(ROOT, 1, name('sb_1'))).toBeUndefined();
    fs.detach('sb_1');
    expect(thrown(() => fs.getattr(OWN, nodeid))).toBe(ESTALE);
    expect(fs.lookup(ROOT, 1, name(PLACE))).toBeUndefined();
  }
});

it('a workspace that is opened has read its delta, and tells whoever opens or uses it of damage', () => {
  const { fs, nodeid, spec } = reserved({ 'a.txt': 'hello' });
  fs.attach(spec);
  const load = vi.spyOn(Delta, 'load');
  fs.open('sb_1');
  expect(load).toHaveBeenCalledTimes(1);
  expect(fs.lookup(OWN, nodeid, name('a.txt'))).toMatchObject({ attr: { size: 5 } });
  expect(load).toHaveBeenCalledTimes(1);
  load.mockRestore();
  fs.detach('sb_1');
  // It had no HOME, whose place is still free.
  fs.release(PLACE);
  writeFileSync(join(spec.delta, 'journal'), 'no journal\n');
  fs.reserve(PLACE, UID);
  const place = fs.lookup(OWN, 1, name(PLACE))!.nodeid;
  fs.attach(spec);
  expect(() => fs.open('sb_1')).toThrow('the delta of the sandbox is damaged');
  expect(thrown(() => fs.lookup(OWN, place, name('a.txt')))).toBeInstanceOf(Damage);
  expect(() => fs.open('sb_2')).toThrow('not attached');
});

it('a place is taken once, by a workspace of its user', () => {
  const { fs, spec } = reserved();
  expect(() => fs.attach({ ...spec, uid: UID + 1 })).toThrow('not free');
  expect(() => fs.reserve(PLACE, UID)).toThrow('in use');
  expect(() => fs.reserve('sb_2', UID)).toThrow('random digits');
  fs.attach(spec);
  expect(() => fs.attach({ ...spec, id: 'sb_2' })).toThrow('not free');
  expect(() => fs.reserve(PLACE, UID)).toThrow('in use');
  fs.release(PLACE);
  expect(fs.lookup(OWN, 1, name(PLACE))).toBeDefined();
});

it('a place that is released is gone, and what the kernel knows of it is stale', () => {
  const { fs, nodeid, spec } = reserved();
  fs.release(PLACE);
  expect(thrown(() => fs.getattr(OWN, nodeid))).toBe(ESTALE);
  expect(fs.lookup(ROOT, 1, name(PLACE))).toBeUndefined();
  expect(() => fs.attach(spec)).toThrow('not free');
  fs.forget(nodeid, 1);
  fs.release(PLACE);
});

it('a workspace whose place was never used is detached, and forgotten with the last lookup', () => {
  const { fs, nodeid, spec } = reserved();
  fs.attach(spec);
  fs.forget(nodeid, 1);
  fs.detach('sb_1');
  expect(thrown(() => fs.getattr(OWN, nodeid))).toBe(ESTALE);
  fs.attach({ ...spec, place: undefined as never });
  expect(fs.files('sb_1', 'owner', 'stat', [ROOT_PATH])).toBeDefined();
});
