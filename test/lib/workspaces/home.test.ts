import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import type { OwnerBytes } from '../../../lib/workspaces/delta/owner-bytes.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { InHome, withHome } from './in-home.ts';
import type { Programs } from './programs.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';
import { postponedBy, sliced } from './stepping.ts';

const opened = (more: Partial<WorkspaceSpec> = {}) => withHome(new Sandbox({ base: 'b' }), more);

/** As of an owner without a limit. */
const counted = (bytes = 0, homeBytes = 0): OwnerBytes => {
  const shared = (count: number) => new BigInt64Array(new SharedArrayBuffer(8 * count));
  const [owner, own] = [shared(2), shared(2)];
  own.set([BigInt(bytes), BigInt(homeBytes)]);
  return { owner, own };
};

describe('HOME', () => {
  it('is writable for its sandbox whatever the rules are, and for no other user', () => {
    const { s, home } = opened({ rules: [rule('/**', 'READ')] });
    home.mkdir('d');
    home.create('d/file', 'mine');
    expect(home.read('d/file')).toBe('mine');
    expect(home.stat('')).toMatchObject({ uid: s.spec.uid, mode: 0o40700 });
    expect(outcome(() => s.create('file'))).toBe('EACCES');
    s.caller = { ...s.caller, uid: s.caller.uid + 1 };
    expect(outcome(() => home.id('d'))).toBe('EACCES');
  });

  it('is not in the workspace, nor a change of it, and nothing is renamed or linked between them', () => {
    const { s, home } = opened();
    home.create('file', 'mine');
    expect(s.fs.changes(s.spec.id, ROOT_PATH, 10).changes).toEqual([]);
    expect(outcome(() => s.id('file'))).toBe('ENOENT');
    const [from, to] = [home.id(''), s.id('')];
    expect(outcome(() => s.fs.rename(s.caller, from, fromText('file'), to, fromText('file'), 0))).toBe('EACCES');
    expect(outcome(() => s.fs.link(s.caller, home.id('file'), to, fromText('linked')))).toBe('EACCES');
  });

  it('has numbers of inodes that no file of the workspace has', () => {
    const { s, home } = opened();
    const numbers = ['a', 'b', 'c'].flatMap((name) => [s.create(name).attr.ino, home.create(name).attr.ino]);
    s.restart();
    numbers.push(s.create('d').attr.ino, home.create('d').attr.ino);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('is the same after the workspace was detached, and after a kill', () => {
    const { s, home } = opened();
    home.create('file', 'mine');
    s.goOn(s.spec);
    expect(home.read('file')).toBe('mine');
    s.restart();
    expect(home.read('file')).toBe('mine');
    s.fs.detach(s.spec.id);
    expect(outcome(() => home.id('file'))).toBe('EACCES');
  });

  it('takes its place with the workspace, whose release removes both', () => {
    const s = new Sandbox();
    const place = 'f'.repeat(32);
    const base = join(s.home, 'empty');
    mkdirSync(base);
    s.fs.reserve(place, s.spec.uid);
    const inPlace = s.fs.lookup(s.caller, 1, fromText(`${place}.home`));
    const home = { delta: join(s.home, 'home'), base };
    s.goOn({ ...s.spec, place, home });
    const programs = new InHome(s);
    expect(programs.id('')).toBe(inPlace!.nodeid);
    programs.create('file', 'mine');
    expect(programs.read('file')).toBe('mine');
    const other = 'e'.repeat(32);
    s.fs.reserve(other, s.spec.uid);
    s.fs.release(other);
    for (const name of [other, `${other}.home`])
      expect(outcome(() => s.fs.lookup(s.caller, 1, fromText(name)))).toBe('EACCES');
  });
});

describe('the quota of a sandbox', () => {
  const put = (programs: Programs, path: string, bytes: number) =>
    outcome(() => programs.create(path, 'x'.repeat(bytes)));

  it('is for bytes and files of both directories, and statfs tells what is left', () => {
    const { s, home } = opened({ maxBytes: 40_960, maxFiles: 10 });
    home.create('a', 'x'.repeat(30_000));
    expect(put(s, 'b', 11_000)).toBe('EDQUOT');
    s.create('c', 'x'.repeat(4_000));
    expect(put(home, 'd', 7_000)).toBe('EDQUOT');
    for (const programs of [s, home]) {
      expect(s.fs.statfs(s.caller, programs.id(''))).toMatchObject({ blocks: 10, bfree: 1 });
    }
    const { ffree } = s.fs.statfs(s.caller, s.id(''));
    for (let left = ffree; left > 0; left--) (left % 2 ? s : home).create(`file${left}`);
    expect([put(s, 'e', 0), put(home, 'e', 0)]).toEqual(['EDQUOT', 'EDQUOT']);
  });

  it.each(['workspace', 'home'])('counts what is in the other directory before the first use of %s', (used) => {
    const { s, home } = opened({ maxBytes: 1000 });
    s.create('a', 'x'.repeat(400));
    home.create('a', 'x'.repeat(400));
    s.restart();
    expect(put(used === 'home' ? home : s, 'b', 300)).toBe('EDQUOT');
  });

  it('is not known before a large HOME was read, and requests wait for that', () => {
    const { s, started } = sliced();
    const { home } = withHome(s, { maxBytes: 100_000 });
    const finish = () => {
      for (let steps = started.shift(); steps; steps = started.shift()) complete(steps);
    };
    home.mkdir('d');
    for (let index = 0; index < 500; index++) home.create(`d/${index}`, 'x'.repeat(150));
    s.restart();
    expect(postponedBy(() => s.id(''))).not.toBe(0);
    finish();
    expect(put(s, 'b', 26_000)).toBe('EDQUOT');
  });

  it('and the owner’s count of each directory go on, while a damaged HOME fails only its own requests', () => {
    const ownerBytes = counted();
    const { s, home } = opened({ ownerBytes });
    s.create('a', 'x'.repeat(400));
    home.create('b', 'x'.repeat(300));
    expect([...ownerBytes.own, ownerBytes.owner[0]]).toEqual([400n, 300n, 700n]);
    s.fs.detach(s.spec.id);
    const journal = join(s.spec.home!.delta, 'journal');
    writeFileSync(
      journal,
      readFileSync(journal).map((byte, at) => (at === 60 ? byte ^ 4 : byte)),
    );
    const next = counted(400, 300);
    s.goOn({ ...s.spec, ownerBytes: next });
    expect(s.read('a')).toHaveLength(400);
    expect(outcome(() => home.id(''))).toBe('EIO');
    expect([...next.own]).toEqual([400n, 300n]);
  });

  it('does not make a folder for a HOME that nothing uses', () => {
    const { s } = opened();
    expect(existsSync(s.spec.home!.delta)).toBe(false);
  });
});
