import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { ALL_WRITE, itOfLayers, outcome, rule, Sandbox, UID } from './sandbox.ts';

const MIXED = [
  rule('/**', 'WRITE'),
  rule('/none/**', 'NONE', 1),
  rule('/view/**', 'VIEW', 1),
  rule('/read/**', 'READ', 1),
  rule('/read/own/**', 'WRITE', 2),
  rule('/hidden/**', 'NONE', 1),
  rule('/hidden/deep/shown', 'WRITE', 2),
];
const BASE = {
  'none/a': '1',
  'view/a': '2',
  'read/a': '3',
  'read/own/a': '4',
  'hidden/deep/shown': '5',
  'hidden/deep/secret': '6',
  'hidden/other': '7',
  'write/a': '8',
};

describe('the check of the caller’s uid', () => {
  it('rejects a caller whose uid is not the sandbox’s', () => {
    const s = new Sandbox({ a: '1' });
    const [root, file] = [s.id(''), s.id('a')];
    const stranger = { uid: UID + 1, gid: UID, pid: 5 };
    expect(outcome(() => s.fs.lookup(stranger, 1, fromText('sb_1')))).toBe('EACCES');
    expect(outcome(() => s.fs.lookup(stranger, 1, fromText('sb_unknown')))).toBe('EACCES');
    expect(outcome(() => s.fs.lookup(stranger, root, fromText('a')))).toBe('EACCES');
    expect(outcome(() => s.fs.getattr(stranger, file))).toBe('EACCES');
    expect(outcome(() => s.fs.read(stranger, file, 0, Buffer.alloc(1)))).toBe('EACCES');
    expect(outcome(() => s.fs.write(stranger, file, 0, Buffer.alloc(1), false))).toBe('EACCES');
    expect(outcome(() => s.fs.setattr(stranger, file, { size: 0 }))).toBe('EACCES');
    expect(outcome(() => s.fs.readdir(stranger, root, 0, true, () => true))).toBe('EACCES');
    expect(outcome(() => s.fs.statfs(stranger, root))).toBe('EACCES');
    expect(outcome(() => s.fs.create(stranger, root, fromText('x'), 0o644, 0))).toBe('EACCES');
    expect(outcome(() => s.fs.rename(stranger, root, fromText('a'), root, fromText('b'), 0))).toBe('EACCES');
  });

  it('lets root look up a workspace to bind-mount it, and nothing in it', () => {
    const s = new Sandbox({ a: '1' });
    const [root, file] = [s.id(''), s.id('a')];
    const host = { uid: 0, gid: 0, pid: 5 };
    expect(s.fs.lookup(host, 1, fromText('sb_1'))?.nodeid).toBe(root);
    expect(outcome(() => s.fs.getattr(host, root))).toBe('ok');
    expect(outcome(() => s.fs.lookup(host, root, fromText('a')))).toBe('EACCES');
    expect(outcome(() => s.fs.read(host, file, 0, Buffer.alloc(1)))).toBe('EACCES');
    expect(outcome(() => s.fs.readdir(host, root, 0, true, () => true))).toBe('EACCES');
  });

  it('lets the kernel read ahead and write back mapped pages, within the rules', () => {
    const s = new Sandbox({ a: '1', 'read/a': '2' }, { rules: MIXED });
    const kernel = { uid: 0, gid: 0, pid: 0 };
    const [file, readOnly] = [s.id('a'), s.id('read/a')];
    expect(outcome(() => s.fs.write(kernel, file, 0, Buffer.from('x'), false))).toBe('ok');
    expect(outcome(() => s.fs.write(kernel, readOnly, 0, Buffer.from('x'), false))).toBe('EACCES');
    expect(outcome(() => s.fs.lookup(kernel, s.id(''), fromText('a')))).toBe('EACCES');
  });

  it('does not list workspaces in the mount’s root, where nothing can be created', () => {
    const s = new Sandbox();
    const host = { uid: 0, gid: 0, pid: 5 };
    const names: string[] = [];
    s.fs.readdir(host, 1, 0, true, (name) => names.push(name) > 0);
    expect(names).toEqual(['.', '..']);
    expect(outcome(() => s.fs.mkdir(host, 1, fromText('x'), 0o755))).toBe('EACCES');
    expect(outcome(() => s.fs.rmdir(s.caller, 1, fromText('sb_1')))).toBe('EACCES');
  });

  it('isolates two sandboxes from each other', () => {
    const s = new Sandbox({ a: '1' });
    s.fs.attach({ ...s.spec, id: 'sb_2', delta: join(s.home, 'delta2') });
    const other = s.fs.lookup(s.caller, 1, fromText('sb_2'))!.nodeid;
    expect(outcome(() => s.fs.rename(s.caller, s.id(''), fromText('a'), other, fromText('a2'), 0))).toBe('EACCES');
    expect(outcome(() => s.fs.link(s.caller, s.id('a'), other, fromText('a2')))).toBe('EACCES');
  });
});

describe('the attributes of a file', () => {
  it('show the kernel exactly the allowed operations as mode bits', () => {
    const s = new Sandbox(BASE, { rules: MIXED });
    const shown = (path: string) => {
      const { mode, uid, gid } = s.stat(path);
      return `${mode.toString(8)} ${uid === UID ? 'own' : uid} ${gid === UID ? 'own' : gid}`;
    };
    expect(
      Object.fromEntries(
        ['', 'view', 'view/a', 'read', 'read/a', 'read/own', 'read/own/a', 'hidden', 'hidden/deep', 'write/a'].map(
          (path) => [path, shown(path)],
        ),
      ),
    ).toEqual({
      '': '40750 own own',
      view: '40550 own own',
      'view/a': '100000 65534 own',
      read: '40750 own own',
      'read/a': '100440 65534 own',
      'read/own': '40755 own own',
      'read/own/a': '100644 own own',
      hidden: '40750 own own',
      'hidden/deep': '40750 own own',
      'write/a': '100644 own own',
    });
  });

  it('reveal as little as possible of hidden entries', () => {
    const s = new Sandbox(BASE, { rules: MIXED });
    expect(s.list('')).toEqual(['hidden', 'read', 'view', 'write']);
    expect(s.list('hidden')).toEqual(['deep']);
    expect(s.list('hidden/deep')).toEqual(['shown']);
    expect(s.stat('hidden')).toMatchObject({ nlink: 1, size: 4096, mtime: { sec: 0, nsec: 0 } });
  });

  it('include the execute bit for readers of a file', () => {
    const s = new Sandbox({ 'read/x': '' }, { rules: MIXED });
    s.fs.setRules('sb_1', ALL_WRITE);
    s.set('read/x', { mode: 0o711 });
    s.fs.setRules('sb_1', MIXED);
    expect(s.stat('read/x').mode).toBe(0o100550);
  });

  it('cannot be changed to another owner', () => {
    const s = new Sandbox({ a: '' });
    expect(outcome(() => s.set('a', { uid: 0 }))).toBe('EPERM');
    expect(outcome(() => s.set('a', { gid: 0 }))).toBe('EPERM');
    expect(outcome(() => s.set('a', { uid: UID, gid: UID }))).toBe('ok');
  });
});

describe('an attempt to bypass the rules', () => {
  it('fails to move or remove a directory with hidden or read-only entries', () => {
    for (const level of ['NONE', 'VIEW', 'READ'] as const) {
      const s = new Sandbox({ 'd/e/a': '1' }, { rules: [rule('/**', 'WRITE'), rule('/d/e/a', level, 1)] });
      expect(outcome(() => s.rename('d', 'n'))).toBe('EACCES');
      expect(outcome(() => s.rename('d/e', 'n'))).toBe('EACCES');
      expect(outcome(() => s.rmdir('d/e'))).toBe(level === 'NONE' ? 'EACCES' : 'ENOTEMPTY');
      s.mkdir('other');
      expect(outcome(() => s.rename('other', 'd/e'))).toBe(level === 'NONE' ? 'EACCES' : 'ENOTEMPTY');
      expect(outcome(() => s.rename('other', 'd', 2))).toBe('EACCES');
    }
  });

  it('fails to move a directory to a path where the level of an entry in it differs', () => {
    const rules = [rule('/**', 'WRITE'), rule('/to/**/key', 'NONE', 1), rule('/from/key', 'READ', 1)];
    const s = new Sandbox({ 'd/key': '1', 'to/': '', 'from/key': '2' }, { rules });
    expect(outcome(() => s.rename('d', 'to/d'))).toBe('EACCES');
    expect(outcome(() => s.rename('from', 'to/from'))).toBe('EACCES');
    expect(outcome(() => s.rename('d', 'elsewhere'))).toBe('ok');
  });

  it('fails to move a file from a stricter path by rename or link', () => {
    const s = new Sandbox(BASE, { rules: MIXED });
    for (const from of ['view/a', 'read/a']) {
      expect(outcome(() => s.rename(from, 'write/b'))).toBe('EACCES');
      expect(outcome(() => s.link(from, 'write/b'))).toBe('EACCES');
    }
    expect(outcome(() => s.rename('none/a', 'write/b'))).toBe('ENOENT');
    expect(outcome(() => s.rename('write/a', 'none/a'))).toBe('ENOENT');
    expect(outcome(() => s.rename('write/a', 'read/a'))).toBe('EACCES');
    expect(outcome(() => s.link('write/a', 'read/b'))).toBe('EACCES');
  });

  it('meets the strictest level of all names of a file', () => {
    const s = new Sandbox({ a: '1' });
    s.link('a', 'b');
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/b', 'READ', 1)]);
    expect(outcome(() => s.write('a', 'x'))).toBe('EACCES');
    expect(s.read('a')).toBe('1');
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/b', 'NONE', 1)]);
    expect(outcome(() => s.read('a'))).toBe('ENOENT');
    s.restart();
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/b', 'VIEW', 1)]);
    expect(outcome(() => s.read('a'))).toBe('EACCES');
  });

  it('takes no longer for a file with very many deep names', () => {
    const s = new Sandbox();
    s.create('a');
    const file = s.id('a');
    let dir = s.id('');
    for (let n = 0; n < 300; n++) {
      dir = s.fs.mkdir(s.caller, dir, fromText('d'), 0o755).nodeid;
      for (let m = 0; m < 10; m++) s.fs.link(s.caller, file, dir, fromText(`l${m}`));
    }
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/d/d/l3', 'READ', 1)]);
    for (let m = 0; m < 20; m++) expect(outcome(() => s.write('a', 'x'))).toBe('EACCES');
    s.restart();
    expect(outcome(() => s.write('a', 'x'))).toBe('ok');
  });

  it('fails in a tree of the maximum depth after new rules', () => {
    const s = new Sandbox();
    let dir = s.id('');
    for (let n = 0; n < 2000; n++) dir = s.fs.mkdir(s.caller, dir, fromText('d'), 0o755).nodeid;
    const file = s.fs.create(s.caller, dir, fromText('f'), 0o644, 0).nodeid;
    s.mkdir('e');
    s.rename('d', 'e/d');
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/e/**', 'READ', 1)]);
    expect(outcome(() => s.fs.write(s.caller, file, 0, Buffer.from('x'), false))).toBe('EACCES');
    expect(outcome(() => s.fs.read(s.caller, file, 0, Buffer.alloc(1)))).toBe('ok');
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/nothing/**/else', 'READ', 1)]);
    expect(outcome(() => s.rename('e', 'g'))).toBe('ok');
    s.fs.detach('sb_1');
    s.fs.attach(s.spec);
    expect(s.list('')).toEqual(['g']);
  });

  itOfLayers('sees base links of one file with different levels as different files', () => {
    const s = new Sandbox({ a: '1' }, { rules: [rule('/**', 'WRITE'), rule('/b', 'READ', 1)] });
    linkSync(join(s.spec.base, 'a'), join(s.spec.base, 'b'));
    s.write('a', 'X');
    expect(s.read('a')).toBe('X');
    expect(s.read('b')).toBe('1');
    expect(outcome(() => s.write('b', 'x'))).toBe('EACCES');
  });

  it('sees base links of one file with the same level as one file, also after copy-up', () => {
    const s = new Sandbox({ a: '1', 'd/': '' });
    linkSync(join(s.spec.base, 'a'), join(s.spec.base, 'b'));
    linkSync(join(s.spec.base, 'a'), join(s.spec.base, 'd/c'));
    expect(s.id('a')).toBe(s.id('b'));
    s.write('a', 'X');
    expect([s.read('b'), s.read('d/c')]).toEqual(['X', 'X']);
    expect(s.stat('d/c').nlink).toBe(3);
    s.unlink('b');
    s.restart();
    expect([s.read('a'), s.read('d/c')]).toEqual(['X', 'X']);
    expect(s.stat('a').nlink).toBe(2);
    s.rename('d/c', 'd/e');
    s.unlink('a');
    expect(s.stat('d/e')).toMatchObject({ nlink: 1 });
    expect(s.tree()).toEqual({ 'd/': '', 'd/e': 'X' });
  });

  it('meets the level of the former path of an unlinked open file', () => {
    const s = new Sandbox({ 'd/a': '1' });
    const open = s.id('d/a');
    s.unlink('d/a');
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/d/**', 'VIEW', 1)]);
    expect(outcome(() => s.readId(open))).toBe('EACCES');
    expect(outcome(() => s.fs.link(s.caller, open, s.id(''), fromText('back')))).toBe('EACCES');
  });

  it('learns nothing from a name above 255 bytes', () => {
    const s = new Sandbox({}, { rules: [] });
    expect(s.list('')).toEqual([]);
    expect(outcome(() => s.create('a'))).toBe('EACCES');
  });
});

describe('new rules', () => {
  it('invalidate at once the files whose contents the kernel may have cached', () => {
    const s = new Sandbox({ 'd/a': '1', 'd/b': '2', e: '3' });
    const [dir, a] = [s.id('d'), s.id('d/a')];
    s.read('d/a');
    s.notices.entries.length = 0;
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/d/a', 'NONE', 1)]);
    expect(s.notices.entries).toEqual([`${dir}/a`]);
    expect(s.notices.inodes).toContain(a);
    expect(s.list('d')).toEqual(['b']);
    expect(s.exists('d/a')).toBe(false);
    s.notices.entries.length = 0;
    s.fs.setRules('sb_1', ALL_WRITE);
    expect(s.notices.entries).toEqual([`${dir}/a`]);
    expect(s.id('d/a')).toBe(a);
  });

  it('invalidate other files before their directory can be traversed again', () => {
    const s = new Sandbox({ 'd/a': '1', 'd/b': '2', e: '3' });
    const [root, dir, a, b] = [s.id(''), s.id('d'), s.id('d/a'), s.id('d/b')];
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/d/a', 'NONE', 1), rule('/d/b', 'READ', 1)]);
    expect(s.notices.inodes).toEqual(expect.arrayContaining([root, dir]));
    expect(s.notices.inodes).not.toContain(a);
    expect(s.notices.attributes).toEqual([]);
    // A listing of the parent directory returns no attributes of this one, so it invalidates nothing.
    s.listId(root);
    expect(s.notices.attributes).toEqual([]);
    s.fs.getattr(s.caller, dir);
    expect(s.notices.attributes.sort()).toEqual([a, b].sort());
    expect(outcome(() => s.fs.getattr(s.caller, a))).toBe('ESTALE');
    expect(s.exists('d/a')).toBe(false);
    expect(outcome(() => s.fs.getattr(s.caller, a))).toBe('ENOENT');
    s.fs.getattr(s.caller, dir);
    expect(s.notices.attributes).toHaveLength(2);
  });

  it('invalidate at once a file that is read before its directory is traversed', () => {
    const s = new Sandbox({ 'd/a': '1' });
    const [dir, a] = [s.id('d'), s.id('d/a')];
    s.fs.setRules('sb_1', [rule('/**', 'READ')]);
    expect(s.notices.inodes).not.toContain(a);
    expect(s.readId(a)).toBe('1');
    expect(s.notices.inodes).toContain(a);
    s.fs.getattr(s.caller, dir);
    expect(s.notices.attributes).toEqual([]);
  });

  it('that are replaced before a directory is traversed invalidate once, with the last rules', () => {
    const s = new Sandbox({ 'd/a': '1' });
    const [dir, a] = [s.id('d'), s.id('d/a')];
    s.fs.setRules('sb_1', [rule('/**', 'NONE')]);
    s.fs.setRules('sb_1', [rule('/**', 'READ')]);
    s.fs.setRules('sb_1', ALL_WRITE);
    s.fs.getattr(s.caller, dir);
    expect(s.notices.attributes).toEqual([a]);
    expect(s.fs.getattr(s.caller, a).uid).toBe(UID);
  });

  it('invalidate all files of a very large directory at once', () => {
    const files = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`d/f${n}`, '']));
    const s = new Sandbox(files);
    const ids = Object.keys(files).map((path) => s.id(path));
    s.fs.setRules('sb_1', [rule('/**', 'READ')]);
    expect(s.notices.inodes).toEqual(expect.arrayContaining(ids));
    s.fs.getattr(s.caller, s.id('d'));
    expect(s.notices.attributes).toEqual([]);
  });

  it('show entries that the kernel never saw', () => {
    const s = new Sandbox({ 'd/a': '1' }, { rules: [rule('/**', 'WRITE'), rule('/d/**', 'NONE', 1)] });
    expect(s.exists('d')).toBe(false);
    const root = s.id('');
    s.notices.entries.length = 0;
    s.fs.setRules('sb_1', ALL_WRITE);
    expect(s.notices.entries).toEqual([`${root}/d`]);
  });

  it.each([3, 40])('show each of %i names that was looked up while it was hidden', (count) => {
    const names = Array.from({ length: count }, (_, n) => `f${n}`);
    const s = new Sandbox(Object.fromEntries(names.map((name) => [`d/${name}`, name])), {
      rules: [rule('/**', 'WRITE'), rule('/d/f*', 'NONE', 1)],
    });
    const dir = s.id('d');
    for (const name of names) expect(s.exists(`d/${name}`)).toBe(false);
    s.notices.entries.length = 0;
    s.fs.setRules('sb_1', ALL_WRITE);
    expect(s.notices.entries.sort()).toEqual(names.map((name) => `${dir}/${name}`).sort());
  });

  itOfLayers('separate links of one base file whose levels they make different, and no others', () => {
    const s = new Sandbox({ a: '1' });
    linkSync(join(s.spec.base, 'a'), join(s.spec.base, 'b'));
    linkSync(join(s.spec.base, 'a'), join(s.spec.base, 'c'));
    const a = s.id('a');
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), rule('/a', 'READ', 1), rule('/c', 'READ', 1)]);
    expect(s.id('b')).not.toBe(a);
    expect(s.id('c')).toBe(a);
    expect(outcome(() => s.write('b', 'x'))).toBe('ok');
    expect(s.read('a')).toBe('1');
  });

  it('that cannot be compiled leave the old ones in force', () => {
    const s = new Sandbox({ a: '1' }, { rules: [rule('/a', 'READ')] });
    expect(() => s.fs.setRules('sb_1', [rule('[', 'WRITE')])).toThrow(/permissions\[0\]/);
    expect(s.read('a')).toBe('1');
    expect(outcome(() => s.write('a', 'x'))).toBe('EACCES');
  });
});

describe('the set-id bits of a file', () => {
  it('are cleared by a write or a chown, and setgid is inherited from a directory', () => {
    const s = new Sandbox();
    s.create('a', 'x', 0o755);
    s.set('a', { mode: 0o6755 });
    s.fs.write(s.caller, s.id('a'), 0, Buffer.from('y'), true);
    expect(s.stat('a').mode).toBe(0o100755);
    s.set('a', { mode: 0o4755 });
    s.set('a', { uid: UID });
    expect(s.stat('a').mode).toBe(0o100755);
    s.mkdir('d');
    s.set('d', { mode: 0o2755 });
    s.mkdir('d/e');
    expect(s.stat('d/e').mode).toBe(0o042755);
  });
});
