import { execFileSync } from 'node:child_process';
import { beforeEach, describe, expect, it } from 'vitest';
import { tarEnd } from '../../../../lib/archive/tar.ts';
import { fromText, NO_BYTES } from '../../../../lib/byte-string.ts';
import { StagedMembers } from '../../../../lib/codebases/tree/archive/staged-members.ts';
import { revisionOf } from '../../../../lib/codebases/tree/head.ts';
import { Numbers } from '../../../../lib/codebases/tree/numbers.ts';
import { FOLDER } from '../../store/stores.ts';
import { archiveOf, type Members } from './archives.ts';
import { codeOf, START, TreeScratch } from './trees.ts';

let scratch: TreeScratch;
beforeEach(() => {
  scratch = new TreeScratch();
});

const imported = (members: Members, ...rest: [mode?: 'merge' | 'replace' | 'update', onlyAt?: string]) =>
  scratch.import(archiveOf(members), ...rest);
const infoOf = (path: string) =>
  scratch.codebase
    .list({ path: '', recursive: true, page_size: 1000, page_token: '' })
    .files.find((file) => file.path === path);
const numbered = (files: number): Members => Array.from({ length: files }, (_, n) => [`file-${n}`, `text ${n}`]);
const NOW = START / 1000;

describe('an import', () => {
  it('keeps modes, times, symlinks and hard links, without set-id bits', async () => {
    const members: Members = [
      ['src/', 'directory', 0o2700, 1e9],
      ['src/run.sh', '#!/bin/sh\n', 0o4755, 1e9],
      ['src/same.sh', { to: 'src/run.sh', hard: true }],
      ['link', { to: 'src/run.sh' }],
      ['old', 'x', 0o440, -1000],
    ];
    expect(await imported(members)).toMatchObject({ files: 3, directories: 1, symlinks: 1, size: 21 });
    expect(infoOf('src')).toMatchObject({ mode: 0o700, modified_at: 1e9 });
    expect(infoOf('old')).toMatchObject({ mode: 0o440, modified_at: -1000 });
    expect(infoOf('link')).toMatchObject({ symlink_target: 'src/run.sh', modified_at: 1 });
    const [run, same] = ['src/run.sh', 'src/same.sh'].map((path) => scratch.codebase.file(path));
    expect(run).toMatchObject({ mode: 0o755, mtime: 1e9, mtimeNs: 5, nlink: 2, ino: same!.ino });
    expect(same).toMatchObject({ nlink: 2, key: run!.key });
    expect(scratch.counted).toEqual([4, 21 + 'src/run.sh'.length]);
  });

  it('is refused with more names of one file than a file can have, whichever of them each is linked to', () => {
    const limits = { bytes: 1e9, entries: 1e9, ofDisk: false };
    const place = { source: scratch.store, writing: scratch.store.begin(), numbers: new Numbers(2), limits };
    const members = new StagedMembers({ ...place, time: { s: 1, ns: 0 } });
    const member = { mode: 0o644, mtime: { sec: 1, nsec: 0 }, size: 0 };
    const link = (path: string, to: string) =>
      members.begin({ ...member, path: fromText(path), type: 'link', target: fromText(to) });
    members.begin({ ...member, path: fromText('file'), type: 'file', target: NO_BYTES });
    members.end();
    for (let n = 0; n < 64_999; n++) link(`a${n}`, n % 2 === 0 ? 'file' : 'a0');
    expect(() => link('b', 'a1')).toThrow('hard link');
  });

  it('leaves no file behind if it is dropped', async () => {
    const left = () => ['packs', 'tmp'].map((folder) => scratch.disk.readdir(`${FOLDER}/${folder}`));
    const before = left();
    const importing = scratch.codebase.import();
    await importing.feed(archiveOf([['large', 'x'.repeat(100_000)], ...numbered(20)]).subarray(0, 110_000));
    expect(left()).not.toEqual(before);
    importing.drop();
    expect(left()).toEqual(before);
  });

  it('looks nothing up in the packs that are there', async () => {
    for (let packs = 0; packs < 20; packs++) {
      const [bulk, writing] = [scratch.store.bulk(), scratch.store.begin()];
      bulk.putContents(Buffer.from(`pack ${packs}`));
      bulk.sync();
      bulk.end();
      writing.adopt(bulk);
      writing.end();
    }
    let reads = 0;
    const pread = scratch.disk.pread.bind(scratch.disk);
    scratch.disk.pread = (...call) => {
      reads++;
      return pread(...call);
    };
    const importing = scratch.codebase.import();
    await importing.feed(archiveOf(numbered(1000)));
    expect(reads).toBeLessThan(100);
    importing.drop();
  });

  it('is one version', async () => {
    await scratch.put('a');
    await imported([
      ['a', 'new'],
      ['b/c', 'new'],
    ]);
    const { head } = scratch.codebase;
    expect([head.number, scratch.store.version(head.version).kind]).toEqual([3, 'import']);
  });

  it('merges with what is there, or replaces all of it', async () => {
    for (const path of ['kept', 'src/kept', 'src/run.sh', 'gone/a/b']) await scratch.put(path);
    const { ino } = scratch.codebase.file('src/kept');
    const members: Members = [
      ['src/run.sh', 'new'],
      ['src/deep/only', 'x'],
    ];
    await imported(members);
    expect(scratch.list()).toEqual([
      'gone',
      'gone/a',
      'gone/a/b',
      'kept',
      'src',
      'src/deep',
      'src/deep/only',
      'src/kept',
      'src/run.sh',
    ]);
    expect(scratch.codebase.file('src/kept').ino).toBe(ino);
    expect(scratch.text('src/run.sh')).toBe('new');
    await imported(members, 'replace');
    expect(scratch.list()).toEqual(['src', 'src/deep', 'src/deep/only', 'src/run.sh']);
    expect(scratch.counted).toEqual([2, 4]);
  });

  it('gives a directory that is there the mode and time of the archive if that names it, and else the time of the change', async () => {
    await scratch.put('named/x');
    await scratch.put('implied/x');
    await scratch.put('untouched/x');
    scratch.now += 9000;
    await imported([
      ['named/', 'directory', 0o700, 77],
      ['named/y', 'y'],
      ['implied/y', 'y'],
      ['untouched/', 'directory', 0o755, 78],
    ]);
    expect(infoOf('named')).toMatchObject({ mode: 0o700, modified_at: 77 });
    expect(infoOf('implied')).toMatchObject({ mode: 0o755, modified_at: NOW + 9 });
    expect(infoOf('untouched')).toMatchObject({ modified_at: 78 });
  });

  it('takes the last of several members of one name', async () => {
    const counts = await imported([
      ['a', 'one'],
      ['a', { to: 'elsewhere' }],
      ['a', 'three'],
      ['d', 'a file first'],
      ['d/', 'directory'],
      ['d/in', 'x'],
    ]);
    expect(counts).toMatchObject({ files: 2, directories: 1, symlinks: 0, size: 6 });
    expect(scratch.text('a')).toBe('three');
    expect(scratch.counted).toEqual([2, 6]);
  });

  it('counts the names of a hard link that are left', async () => {
    await imported([
      ['a', 'x'],
      ['b', { to: 'a', hard: true }],
      ['d/c', { to: 'b', hard: true }],
      ['b', 'another file'],
    ]);
    expect(['a', 'b', 'd/c'].map((path) => scratch.codebase.file(path).nlink)).toEqual([2, 1, 2]);
    await scratch.codebase.remove('d/c');
    expect(scratch.codebase.file('a').nlink).toBe(1);
  });

  it('refuses to merge a directory with another type, and changes nothing', async () => {
    await scratch.put('d/x');
    await scratch.put('f');
    await scratch.put('l', '', { symlinkTarget: 'd' });
    const { head } = scratch.codebase;
    for (const [path, message] of [
      ['d', '"d" is a directory, and the archive has another type there; nothing was imported'],
      ['f/x', '"f" is not a directory, and the archive has one there; nothing was imported'],
      [
        'l/x',
        '"l" is a symbolic link, which is not followed, and the archive has a directory there; nothing was imported',
      ],
    ] as const)
      await expect(
        imported([
          ['a', 'x'],
          [path, 'x'],
        ]),
      ).rejects.toMatchObject({ code: 'FAILED_PRECONDITION', message });
    expect(scratch.codebase.head).toBe(head);
    await imported(
      [
        ['d', 'x'],
        ['f/x', 'x'],
      ],
      'replace',
    );
    expect(scratch.list()).toEqual(['d', 'f', 'f/x']);
  });

  const refused: [string, Members, RegExp][] = [
    ['a member above the root', [['../x', 'x']], /"\.\.\/x" contains "\.\."/],
    ['an absolute path', [['/etc/x', 'x']], /"\/etc\/x" is an absolute path/],
    ['a name that is too long', [['n'.repeat(256), 'x']], /more than 255 bytes in one name/],
    [
      'a member below a symlink',
      [
        ['l', { to: '/tmp' }],
        ['l/x', 'x'],
      ],
      /"l\/x" is below "l", which is not a directory/,
    ],
    [
      'a member far below a symlink',
      [
        ['l', { to: '/tmp' }],
        ['l/d/x', 'x'],
      ],
      /not a directory/,
    ],
    [
      'a file at a directory',
      [
        ['d/x', 'x'],
        ['d', 'x'],
      ],
      /"d" is a directory and another type/,
    ],
    ['a hard link to an absent file', [['l', { to: 'none/x', hard: true }]], /not an earlier file/],
    [
      'a hard link to a symlink',
      [
        ['s', { to: '/etc/passwd' }],
        ['l', { to: 's', hard: true }],
      ],
      /not an earlier file/,
    ],
    [
      'a hard link through a symlink',
      [
        ['d/f', ''],
        ['s', { to: 'd' }],
        ['l', { to: 's/f', hard: true }],
      ],
      /not an earlier file/,
    ],
    ['a hard link above the root', [['l', { to: '../../x', hard: true }]], /contains "\.\."/],
    ['a hard link to itself', [['l', { to: 'l', hard: true }]], /not an earlier file/],
    ['a symlink to nothing', [['l', { to: '' }]], /a symbolic link whose target is empty/],
  ];
  it.each(refused)('refuses %s, and changes nothing', async (_, members, message) => {
    await scratch.put('kept');
    const { head } = scratch.codebase;
    await expect(imported([['first', 'x'], ...members], 'replace')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
    expect(scratch.codebase.head).toBe(head);
  });

  it('refuses what is cut off or no archive', async () => {
    const whole = archiveOf([['a', 'x'.repeat(5000)]]);
    for (const bytes of [whole.subarray(0, 1000), whole.subarray(0, 5632), Buffer.alloc(5000, 'x'), Buffer.alloc(0)])
      expect(await codeOf(() => scratch.import(bytes))).toBe('INVALID_ARGUMENT');
    expect(scratch.list()).toEqual([]);
    expect(scratch.disk.readdir('/store/tmp')).toEqual([]);
  });

  it('ends as soon as the archive has more than the codebase may hold', async () => {
    scratch.limits = { maxBytes: 100_000, maxFiles: 5 };
    scratch.open();
    await scratch.put('kept');
    const importing = scratch.codebase.import();
    const large = archiveOf([['large', 'x'.repeat(5_000_000)]]);
    await importing.feed(large.subarray(0, 60_000));
    expect(await codeOf(() => importing.feed(large.subarray(60_000, 120_000)))).toBe('RESOURCE_EXHAUSTED');
    importing.drop();
    const many: Members = [1, 2, 3, 4, 5].map((n) => [`f${n}`, 'x']);
    await expect(imported(many)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('storage.max_codebase_files'),
    });
    expect(scratch.list()).toEqual(['kept']);
    await imported(many, 'replace');
    expect(scratch.list()).toHaveLength(5);
  });

  it('has directories of many objects, in any order of the members', async () => {
    const names = Array.from({ length: 3000 }, (_, n) => `d/${(n * 7919) % 3000}`);
    await imported(names.map((name) => [name, name]));
    expect(scratch.list('d')).toEqual(names.sort());
    expect(scratch.text('d/2999')).toBe('d/2999');
  });
});

describe('an update', () => {
  const update = (members: Members, onlyAt?: string) => imported(members, 'update', onlyAt);

  it('removes what the archive says, and keeps what it does not name', async () => {
    for (const path of ['a', 'kept', 'd/x', 'd/y', 'd/e/z', 'whole/b/c']) await scratch.put(path);
    await update([
      ['.wh.a', ''],
      ['d/.wh.x', ''],
      ['d/y', 'new'],
      ['d/.wh.e', ''],
      ['.wh.whole', ''],
      ['.wh.never', ''],
    ]);
    expect(scratch.list()).toEqual(['d', 'd/y', 'kept']);
    expect(scratch.counted).toEqual([2, 7]);
  });

  it('replaces a file by a directory, and a directory by a file or symlink', async () => {
    for (const path of ['f', 'd/x', 'l/x/y']) await scratch.put(path);
    await update([
      ['f/', 'directory', 0o755],
      ['f/in', 'in'],
      ['d', 'file'],
      ['l', { to: 'd' }],
    ]);
    expect(scratch.list()).toEqual(['d', 'f', 'f/in', 'l']);
    expect(scratch.counted).toEqual([3, 7]);
  });

  it('refuses a mark that is no empty file beside what it removes, and changes nothing', async () => {
    for (const path of ['a', 'd/x']) await scratch.put(path);
    const { head } = scratch.codebase;
    const wrong: Members[] = [
      [['.wh.a', 'content']],
      [['.wh..wh..opq', '']],
      [['.wh.', '']],
      [['.wh.a', 'directory']],
      [['new/.wh.a', '']],
      [['new/deep/.wh.a', '']],
      [
        ['.wh.a', ''],
        ['a', 'new'],
      ],
    ];
    for (const members of wrong) expect(await codeOf(() => update(members))).toBe('INVALID_ARGUMENT');
    expect(scratch.codebase.head).toBe(head);
    await update([['d/.wh.x', '']]);
    expect(scratch.list()).toEqual(['a', 'd']);
  });

  it('is made only at the revision that it names', async () => {
    await update([['a', '1']]);
    const first = revisionOf(scratch.codebase.head);
    await scratch.put('b');
    expect(await codeOf(() => update([['a', '2']], first))).toBe('ABORTED');
    expect(scratch.text('a')).toBe('1');
    await update([['a', '2']], revisionOf(scratch.codebase.head));
    expect(scratch.text('a')).toBe('2');
  });
});

describe('an export', () => {
  it('is what tar can unpack, hard links and times included, and can be imported again', async () => {
    await imported([
      ['src/', 'directory', 0o700, 1e9],
      ['src/run.sh', '#!/bin/sh\n', 0o755, 1e9],
      ['src/same.sh', { to: 'src/run.sh', hard: true }],
      ['src/large', 'x'.repeat(700_000)],
      ['link', { to: 'src/run.sh' }],
    ]);
    const archive = scratch.export();
    const listed = execFileSync('tar', ['-tvf', '-', '--full-time', '--utc'], { input: archive }).toString();
    expect(listed).toMatch(/-rwxr-xr-x .* 2001-09-09 01:46:40(\.\d+)? src\/run\.sh\n/);
    expect(listed).toContain('src/same.sh link to src/run.sh');
    expect(listed).toMatch(/drwx------ .* src\/\n/);
    expect(listed).toContain('link -> src/run.sh');
    await scratch.import(archive, 'replace');
    expect(scratch.export().equals(archive)).toBe(true);
    expect(execFileSync('tar', ['-tf', '-'], { input: scratch.export('src') }).toString()).toBe(
      'large\nrun.sh\nsame.sh\n',
    );
    expect(await codeOf(() => scratch.export('none'))).toBe('NOT_FOUND');
  });

  it('is of the moment at which it began', async () => {
    for (let n = 0; n < 20; n++) await scratch.put(`f${n}`, 'x'.repeat(50_000));
    const exporting = scratch.codebase.export('');
    const parts = [exporting.next()!];
    await imported([['other', '']], 'replace');
    for (let part = exporting.next(); part !== undefined; part = exporting.next()) parts.push(part);
    const names = execFileSync('tar', ['-tf', '-'], { input: Buffer.concat(parts) }).toString();
    expect(names.split('\n')).toHaveLength(21);
  });

  it('of an empty codebase is an empty archive', () => {
    expect(scratch.export().equals(tarEnd())).toBe(true);
  });
});
